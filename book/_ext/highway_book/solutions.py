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


def wanted():
    """Ask the environment whether the book holds its solutions."""
    given = os.environ.get(VARIABLE, "")
    if given not in ("", "0", "1"):
        raise ValueError(f"{VARIABLE} is {given!r}; expected 0 to leave the solutions out, or 1.")
    return given != "0"


def setup(app):
    # "env": a change of this value reads every page again
    app.add_config_value("solutions", wanted(), "env")
    app.connect("source-read", strip_page)
