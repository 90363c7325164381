"""Notebooks as they are committed: clean, valid, readable in plain Jupyter too."""

import itertools
import re
import warnings

import nbformat
import pytest
from conftest import BOOK, ROOT

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+(?:\([^()]*\)[^()\s]*)*)\)|<(?:img|a)\b[^>]*?(?:src|href)=\"([^\"]+)\"")
SOLUTION = {
    "jupyter": {"source_hidden": True, "outputs_hidden": True},
    "mystnb": {"code_prompt_show": "Show the solution", "code_prompt_hide": "Hide the solution"},
    "tags": ["hide-cell", "solution"],
}


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
            assert cell.outputs == [], cell.id
            assert cell.execution_count is None, cell.id


def test_asks_for_no_private_kernel(notebook):
    assert notebook.metadata == {"kernelspec": KERNEL}


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


def test_words_read_well_without_the_book(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            assert not re.search(r"^(:{3,}|`{3,}\{)", cell.source, flags=re.MULTILINE), f"{cell.id}: a MyST directive"


def test_cells_need_neither_the_book_nor_a_folder(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for word in ("myst_nb", "glue(", "sys.path", "../", "filterwarnings", "!pip", "%pip"):
                assert word not in cell.source, f"{cell.id}: {word}"


def test_a_missing_package_is_explained(notebook):
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert "except ModuleNotFoundError" in first.source
    assert "pip install" in first.source


def test_solutions_are_folded_everywhere(notebook):
    for cell in notebook.cells:
        if "solution" in cell.metadata.get("tags", []):
            assert cell.cell_type == "code", cell.id
            assert {key: cell.metadata.get(key) for key in SOLUTION} == SOLUTION, cell.id


def test_figures_have_a_caption_and_words_for_those_who_do_not_see(notebook):
    for cell in notebook.cells:
        settings = cell.metadata.get("mystnb", {})
        if "figure" in settings or "image" in settings:
            assert len(settings["figure"]["caption"].split()) >= 4, cell.id
            assert len(settings["image"]["alt"].split()) >= 8, cell.id


@pytest.mark.parametrize(
    "path", ["README.md", *sorted(p.relative_to(ROOT).as_posix() for p in BOOK.glob("appendix/*.md"))]
)
def test_links_of_plain_pages_lead_to_files(path):
    text = (ROOT / path).read_text(encoding="utf8")
    for match in LINK.finditer(text):
        target = (match[1] or match[2]).split("#")[0]
        if target and not re.match(r"[a-z]+:", target):
            assert ((ROOT / path).parent / target).exists(), target
