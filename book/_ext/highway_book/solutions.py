"""HIGHWAY_LESSONS_SOLUTIONS=0 builds the book for a class: cells tagged `solution` are left out everywhere."""

import json
import os
from pathlib import Path

VARIABLE = "HIGHWAY_LESSONS_SOLUTIONS"


def without_solutions(text):
    """Return a notebook's JSON text without the cells tagged `solution`."""
    notebook = json.loads(text)
    notebook["cells"] = [c for c in notebook["cells"] if "solution" not in c["metadata"].get("tags", [])]
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def strip_page(app, docname, source):
    if not app.config.solutions and app.env.doc2path(docname).endswith(".ipynb"):
        source[0] = without_solutions(source[0])


def strip_downloads(app, error):
    """The notebooks that a page offers for download are copies of the files: take the solutions out of those too."""
    if error or app.config.solutions:
        return
    for path in Path(app.outdir, "_sources").rglob("*.ipynb"):
        path.write_text(without_solutions(path.read_text(encoding="utf8")), encoding="utf8")


def setup(app):
    # "env": a change of this value reads every page again
    app.add_config_value("solutions", os.environ.get(VARIABLE, "1") != "0", "env")
    app.connect("source-read", strip_page)
    app.connect("build-finished", strip_downloads)
