"""The address of the book's pages, and what a notebook that has left them gets from there: the package's wheel.

`python -m highway_book.site ADDRESS NOTEBOOK…` writes the address into the set-up cells of notebooks, as `make tidy
SITE=ADDRESS` does.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from highway_book import repository

VARIABLE = "HIGHWAY_LESSONS_SITE"  # set it to the site's address, or to nothing to have none
NEED = re.compile(r'^need = f".*"$', re.MULTILINE)  # in every notebook's set-up cell
PACKAGE = ("pyproject.toml", "README.md", "LICENSE", "src")
INDEX = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Packages</title></head>
<body><main><h1>Packages</h1>
<p>The notebooks of this book find their package here; pip's option --find-links takes this page's address, too.</p>
<p><a href="{name}">{name}</a></p></main></body>
</html>
"""


def checked(address):
    """Return an address of pages without its last slash; nothing stays nothing."""
    address = address.strip().rstrip("/")
    if address and not re.fullmatch(r"https?://[\w.-]+(:\d+)?(/[\w.~%/-]*)?", address):
        raise ValueError(f"{VARIABLE} is {address!r}; expected an address such as https://OWNER.github.io/NAME.")
    return address


def find_address(folder):
    """Ask the environment, then the repository: GitHub's Pages have an address that follows from its own."""
    if VARIABLE in os.environ:
        return checked(os.environ[VARIABLE])
    match = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+)", repository.find_url(folder))
    if not match:
        return ""
    host, name = f"{match[1].lower()}.github.io", match[2]
    return f"https://{host}" if name.lower() == host else f"https://{host}/{name}"


def stamp(notebook, address):
    """Write into a notebook's set-up cell where its package comes from: from the site, else from the package index.

    A site's own wheel is asked for by its address. Else an index would be asked first, where a stranger might have
    taken the name.
    """
    need = "highway-lessons=={edition}"
    if address:
        need = f"highway-lessons@{address}/dist/highway_lessons-{{edition}}-py3-none-any.whl"
    if address.startswith("http:"):  # else pip takes packages from this computer only
        need += f" --trusted-host {urlsplit(address).netloc}"
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            source = NEED.sub(f'need = f"{need}"', "".join(cell["source"]))
            cell["source"] = source.splitlines(keepends=True)


def copy_package(project, folder):
    """Copy what the package is made of, without what running and building it leave beside the sources."""
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in PACKAGE:
        source, copy = Path(project, name), Path(folder, name)
        shutil.copytree(source, copy, ignore=ignore) if source.is_dir() else shutil.copy2(source, copy)


def build_wheel(app, error):
    """Put the package's wheel into the site's folder `dist`, with a page that lists it as pip reads it."""
    project, dist = Path(app.srcdir).parent, Path(app.outdir, "dist")
    if error or app.builder.name != "html" or not (project / "pyproject.toml").exists():
        return
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        copy_package(project, folder)
        options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", str(dist)]
        subprocess.run([sys.executable, "-m", "pip", "wheel", folder, *options], check=True)
    (wheel,) = dist.glob("*.whl")
    (dist / "index.html").write_text(INDEX.format(name=wheel.name), encoding="utf8")


def setup(app):
    app.connect("config-inited", lambda app, config: find_address(app.srcdir))  # a wrong one is said at once
    app.connect("build-finished", build_wheel)


if __name__ == "__main__":
    given, *paths = sys.argv[1:]
    for path in map(Path, paths):
        notebook = json.loads(path.read_text(encoding="utf8"))
        stamp(notebook, checked(given))
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf8")
