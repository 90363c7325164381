"""A small book in a folder of its own, built with the real settings and the real extension."""

import json
import os
import re
import shutil
import subprocess
import sys

from conftest import BOOK, ROOT

sys.path.insert(0, str(BOOK / "_ext"))
from highway_book import site

JUPYTER_BOOK = (sys.executable, "-c", "from jupyter_book.cli.main import main; main()")
BUILD = (*JUPYTER_BOOK, "build", "book", "-W", "-n", "--keep-going")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("HIGHWAY_LESSONS")}
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def notebook(*cells):
    """A notebook's JSON: a title, then each cell as ("code", source) or ("markdown", source), or a dict of its own."""
    made = [{"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# A page"}]
    for i, cell in enumerate(cells):
        kind, source, *tags = cell
        made.append({"cell_type": kind, "id": f"cell-{i}", "metadata": {"tags": tags}, "source": source})
        if kind == "code":
            made[-1] |= {"outputs": [], "execution_count": None}
    return json.dumps({"cells": made, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5})


def copy_package(folder):
    """Copy what the package is made of, as it is committed."""
    site.copy_package(ROOT, folder)


class Scratch:
    """A small book in a folder of its own, and the command that builds it."""

    def __init__(self, folder):
        self.folder, self.book = folder, folder / "book"
        shutil.copytree(BOOK / "_ext", self.book / "_ext", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(BOOK / "_extra", self.book / "_extra")
        for name in ("_config.yml", "references.bib"):
            shutil.copy2(BOOK / name, self.book)
        self.write("_toc.yml", "format: jb-book\nroot: first\n")

    def write(self, name, text):
        path = self.book / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8")

    def build(self, **environment):
        """Build, and return the exit status, what was printed and the names of the notebooks that were run."""
        done = subprocess.run(
            BUILD, cwd=self.folder, env=CLEAN | environment, capture_output=True, text=True, check=False
        )
        output = re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)
        return done.returncode, output, re.findall(r"running notebooks\.\.\. \[.*\] .*?(\w+)\.ipynb", output)

    def page(self, name):
        return (self.book / "_build" / "html" / f"{name}.html").read_text(encoding="utf8")
