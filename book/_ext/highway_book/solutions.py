"""HIGHWAY_LESSONS_SOLUTIONS=0 builds the book for a class: cells tagged `solution` are left out everywhere."""

import json
import os

VARIABLE = "HIGHWAY_LESSONS_SOLUTIONS"


def take_out(notebook):
    """Remove the cells tagged `solution` from a notebook's JSON."""
    notebook["cells"] = [c for c in notebook["cells"] if "solution" not in c["metadata"].get("tags", [])]


def strip_page(app, docname, source):
    if not app.config.solutions and app.env.doc2path(docname).endswith(".ipynb"):
        notebook = json.loads(source[0])
        take_out(notebook)
        source[0] = json.dumps(notebook)


def setup(app):
    # "env": a change of this value reads every page again
    app.add_config_value("solutions", os.environ.get(VARIABLE, "1") != "0", "env")
    app.connect("source-read", strip_page)
