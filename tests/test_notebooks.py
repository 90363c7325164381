"""Notebooks as they are committed: clean, valid, with links that lead somewhere. What runs is in other files."""

import itertools
import re
import warnings

import nbformat
import pytest
from conftest import BOOK, ROOT

KERNEL = {"name": "python3", "language": "python"}
SHOWN_AS = ("Python 3", "Python 3 (ipykernel)")  # the second is what JupyterLab writes
TIDY = "run  make tidy  before you commit"
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+(?:\([^()]*\)[^()\s]*)*)\)|<(?:img|a)\b[^>]*?(?:src|href)=\"([^\"]+)\"")


@pytest.fixture
def notebook(notebook_path):
    return nbformat.read(notebook_path, as_version=4)


def words(notebook):
    """The text of the Markdown cells, without fenced code."""
    return [re.sub(r"```.*?```", "", c.source, flags=re.DOTALL) for c in notebook.cells if c.cell_type == "markdown"]


def test_is_valid_with_readable_cell_ids(notebook_path, notebook):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nbformat.validate(nbformat.read(notebook_path, as_version=nbformat.NO_CONVERT))
    assert (notebook.nbformat, notebook.nbformat_minor) >= (4, 5)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert [i for i in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", i) or re.fullmatch(r"[0-9a-f]{8}", i)] == []


def test_is_committed_without_outputs(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [], f"{cell.id} holds outputs: {TIDY}"
            assert cell.execution_count is None, f"{cell.id} has been run: {TIDY}"


def test_asks_for_no_private_kernel(notebook):
    assert list(notebook.metadata) == ["kernelspec"], TIDY
    kernel = dict(notebook.metadata.kernelspec)
    assert kernel.pop("display_name") in SHOWN_AS, "choose the kernel Python 3 (ipykernel), not one of your own"
    assert kernel == KERNEL, "choose the kernel Python 3 (ipykernel), not one of your own"


def test_headings_begin_with_one_title_and_never_jump(notebook):
    levels = [len(h) for text in words(notebook) for h in re.findall(r"^(#+) ", text, flags=re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_relative_links_lead_to_files(notebook_path, notebook):
    for text in words(notebook):
        for match in LINK.finditer(text):
            target = (match[1] or match[2]).split("#")[0]
            if target and not re.match(r"[a-z]+:", target):
                assert (notebook_path.parent / target).exists(), target


def test_cells_need_neither_the_book_nor_a_folder(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for word in ("myst_nb", "glue(", "sys.path", "../", "filterwarnings"):
                assert word not in cell.source, f"{cell.id}: {word}"
            assert not re.search(r"^\s*[!%]pip", cell.source, re.MULTILINE), cell.id  # the set-up cell says it only


@pytest.mark.parametrize(
    "path", ["README.md", *sorted(p.relative_to(ROOT).as_posix() for p in BOOK.glob("appendix/*.md"))]
)
def test_links_of_plain_pages_lead_to_files(path):
    text = (ROOT / path).read_text(encoding="utf8")
    for match in LINK.finditer(text):
        target = (match[1] or match[2]).split("#")[0]
        if target and not re.match(r"[a-z]+:", target):
            assert ((ROOT / path).parent / target).exists(), target
