"""MathJax from the book's own folder: the few files of an installed copy that the pages ask for."""

import importlib.util
import shutil
from pathlib import Path

FILES = ("tex-mml-chtml.js", "input/tex/extensions", "output/chtml/fonts")


def copy_to(folder):
    """Copy MathJax 3 out of the pip package `django-static-mathjax` and return the folder that now holds it."""
    installed = Path(importlib.util.find_spec("mathjax").origin).parent / "static" / "mathjax"
    target = Path(folder) / "mathjax"
    if not target.exists():
        half_done = target.with_name("mathjax.part")  # an interrupted copy is never taken for a whole one
        shutil.rmtree(half_done, ignore_errors=True)
        for name in FILES:
            source, copy = installed / "es5" / name, half_done / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, copy)
        shutil.copy2(installed / "LICENSE", half_done)
        half_done.rename(target)
    return str(folder)
