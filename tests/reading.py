"""Read a notebook as a reader does: its words, and what its cells compute, print and show."""

import ast
import contextlib
import io
import json
import re
from typing import NamedTuple

import nbformat


class Run(NamedTuple):
    """After all cells ran in one namespace: the names, and by cell id what was printed and what the last line gave."""

    names: dict
    printed: dict
    shown: dict


def prose(path):
    """The text of a notebook's Markdown cells, and the captions and text alternatives of its figures."""
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(
        cell.source if cell.cell_type == "markdown" else json.dumps(cell.metadata, ensure_ascii=False) for cell in cells
    )


def run(path):
    """Run a notebook's cells in one namespace of this process, so that a test can call the functions they define."""
    names, printed, shown = {}, {}, {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            tree, text = ast.parse(cell.source), io.StringIO()
            last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
            with contextlib.redirect_stdout(text):
                exec(compile(tree, cell.id, "exec"), names)
                shown[cell.id] = eval(compile(last, cell.id, "eval"), names) if last else None
            printed[cell.id] = text.getvalue()
    return Run(names, printed, shown)


def reading_time(path):
    """What a notebook says of itself: (minutes to read, seconds to run), or None if it says nothing."""
    stated = re.search(
        r"^(\d+) minutes to read, (?:about |less than )?(\d+) seconds to run\.", prose(path), re.MULTILINE
    )
    return tuple(map(int, stated.groups())) if stated else None
