"""Notebooks as they are committed: clean, valid, with links that lead somewhere. What runs is in other files."""

import itertools
import re
import warnings

import nbformat
import pytest
from conftest import ROOT

KERNEL = {"name": "python3", "language": "python"}
SHOWN_AS = ("Python 3", "Python 3 (ipykernel)")  # the second is what JupyterLab writes
TIDY = "run  make tidy  before you commit"
CLEAN = dict.fromkeys(("tags", "mystnb", "jupyter"))  # what a cell's metadata may hold
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


def test_cells_carry_no_marks_of_a_program(notebook):
    for cell in notebook.cells:
        assert cell.metadata.keys() <= CLEAN.keys(), f"{cell.id}: {TIDY}"


def test_what_the_book_folds_away_is_folded_in_jupyter_too(notebook):
    folded = {"source_hidden": True, "outputs_hidden": True}
    for cell in notebook.cells:
        if {"hide-cell", "solution"} & set(cell.metadata.get("tags", [])):
            assert cell.metadata.get("jupyter") == folded, cell.id


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


def test_links_lead_somewhere(notebook_path, notebook):
    assert list(lead_nowhere("\n\n".join(words(notebook)), notebook_path)) == []


def test_cells_need_neither_the_book_nor_a_folder(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for word in ("myst_nb", "glue(", "sys.path", "../", "filterwarnings"):
                assert word not in cell.source, f"{cell.id}: {word}"
            assert not re.search(r"^\s*[%!]", cell.source, flags=re.MULTILINE), f"{cell.id}: a magic or a command"


def lead_nowhere(text, path):
    """The links in a text that lead neither to a file beside it nor to a place in it nor to a whole address."""
    headings = {slug(h) for h in re.findall(r"^#+ +(.+)$", text, flags=re.MULTILINE)}
    for match in LINK.finditer(re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)):
        target, _, place = (match[1] or match[2]).partition("#")
        if re.match(r"[a-z]+:", target):
            if not re.match(r"https://[\w.-]+\.[a-z]+(/|$)|mailto:", target):
                yield target
        elif target and not (path.parent / target).exists():
            yield target
        elif place and (not target or target.endswith(".md")):
            there = (path.parent / target).read_text(encoding="utf8") if target else text
            named = re.findall(r'^\(([\w-]+)\)=$|(?:id|name)="([^"]+)"', there, flags=re.MULTILINE)
            known = {slug(h) for h in re.findall(r"^#+ +(.+)$", there, flags=re.MULTILINE)} if target else headings
            if place not in known | {name for pair in named for name in pair}:
                yield f"{target}#{place}"


def slug(heading):
    """The anchor that GitHub, and MyST, give to a heading."""
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def plain_pages():
    """Every Markdown file of the repository."""
    made = {"_build", "build", "dist", "node_modules"}
    folders = [f for f in ROOT.iterdir() if f.is_dir() and (f.name == ".github" or f.name[0] != ".")]
    found = [*ROOT.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))]
    return sorted(page for page in found if not made & set(page.relative_to(ROOT).parts))


@pytest.mark.parametrize("path", plain_pages(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_of_plain_pages_lead_somewhere(path):
    assert list(lead_nowhere(path.read_text(encoding="utf8"), path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "[x](nowhere.md)", '<img src="nowhere.png" alt="x">', "[x](#nowhere)", "[x](book/appendix/glossary.md#nowhere)",
        "[x](http://example.org)", "[x](https://nowhere)",
    ],
)  # fmt: skip
def test_a_link_that_leads_nowhere_is_caught(text):
    assert list(lead_nowhere(f"# A page\n\n## A part of it\n\n{text}\n", ROOT / "README.md"))


def test_links_that_lead_somewhere_pass():
    links = "[a](#a-part-of-it) [b](LICENSE) [c](https://arxiv.org/abs/1505.00387) `[d](e)`"
    text = f"# A page\n\n## A part: of it\n\n{links}\n"
    assert list(lead_nowhere(text, ROOT / "README.md")) == []
