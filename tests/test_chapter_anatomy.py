"""The anatomy of a chapter, as `book/_template.ipynb` shows it: every chapter, and the template, has these parts.

Hygiene that holds for every notebook (no outputs, the kernel, ids, headings, links) is in test_notebooks.py. Here: the
order of the parts, goals and recap, sections with their question, exercises with check and solution, cells that read
well in plain Jupyter, and cells that can be run alone and twice.
"""

import ast
import builtins
import json
import os
import re
from functools import cache

import nbformat
import pytest
from conftest import BOOK, notebook_paths
from markdown_it import MarkdownIt
from nbclient import NotebookClient

CHAPTERS = [p for p in notebook_paths() if p.parent.name == "chapters" or p.name == "_template.ipynb"]
PAGES = notebook_paths()
MARKDOWN = MarkdownIt("commonmark").enable("table")
BEFORE = ["What you will learn", "Before you start", "Look first"]
AFTER = ["Change one thing", "Exercises", "In practice", "Recap", "Read next"]
SOLUTION = {
    "tags": ["hide-cell", "solution"],
    "jupyter": {"source_hidden": True, "outputs_hidden": True},
    "mystnb": {"code_prompt_show": "Show the solution", "code_prompt_hide": "Hide the solution"},
}

chapters = pytest.mark.parametrize("path", CHAPTERS, ids=[p.stem for p in CHAPTERS])
pages = pytest.mark.parametrize("path", PAGES, ids=[p.stem for p in PAGES])


@cache
def read(path):
    return nbformat.read(path, as_version=4)


@cache
def headings(path):
    """Every heading as (level, text, index of its cell)."""
    found = []
    for index, cell in enumerate(read(path).cells):
        if cell.cell_type == "markdown":
            tokens = MARKDOWN.parse(cell.source)
            found += [
                (int(token.tag[1]), tokens[i + 1].content, index)
                for i, token in enumerate(tokens)
                if token.type == "heading_open"
            ]
    return found


@cache
def parts(path):
    """The cells under each heading of level 2, by its text."""
    starts = [(text, index) for level, text, index in headings(path) if level == 2]
    ends = [index for _, index in starts[1:]] + [len(read(path).cells)]
    return {text: read(path).cells[start:end] for (text, start), end in zip(starts, ends, strict=True)}


def sections(path):
    """The chapter's own sections, between "Look first" and "Change one thing"."""
    return {text: cells for text, cells in parts(path).items() if text not in BEFORE + AFTER}


def words(cells):
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def code(cells):
    return [cell for cell in cells if cell.cell_type == "code"]


def lines(cell):
    """A cell's lines of code: neither blank nor a comment."""
    return [line for line in cell.source.splitlines() if line.strip() and not line.strip().startswith("#")]


def set_up(path):
    """The set-up cell: the guard for a missing package (test_lone_notebook.py has it act), and what follows it."""
    first = code(read(path).cells)[0].source
    guard, _, rest = first.partition("    raise PackageMissing(")
    rest = rest.partition("\n")[2]
    return guard, [line for line in rest.splitlines() if line.strip()]


# The order of things


@chapters
def test_parts_in_order(path):
    order = [text for level, text, _ in headings(path) if level == 2]
    own = order[len(BEFORE) : -len(AFTER)]
    assert order == BEFORE + own + AFTER
    assert 2 <= len(own) <= 4
    starts = [index for level, _, index in headings(path) if level == 2]
    assert len(set(starts)) == len(starts), "a cell holds two parts: give each heading of level 2 a cell of its own"


@chapters
def test_title_is_followed_by_a_promise_of_one_sentence(path):
    tokens = MARKDOWN.parse(read(path).cells[0].source)
    assert [token.type for token in tokens[:5]] == [
        "heading_open", "inline", "heading_close", "paragraph_open", "inline"
    ]  # fmt: skip
    promise = tokens[4].content
    assert promise.endswith(".")
    assert len(re.findall(r"[.!?](?=\s|$)", promise)) == 1, promise
    assert len(promise.split()) <= 40


def goals(path, part):
    """The items of the list in a part."""
    tokens = MARKDOWN.parse(words(parts(path)[part]))
    return [
        tokens[i + 2].content for i, token in enumerate(tokens) if token.type == "list_item_open" and token.level == 1
    ]


@chapters
def test_goals_return_as_the_recap_word_for_word(path):
    assert 3 <= len(goals(path, "What you will learn")) <= 5
    assert goals(path, "Recap") == goals(path, "What you will learn")


@chapters
def test_prerequisites_are_a_table_with_minutes(path):
    before = words(parts(path)["Before you start"])
    assert "<table>" in MARKDOWN.render(before)
    assert re.search(r"\bneeded\b", before)
    assert re.search(r"\d+ (to \d+ )?minutes", before)


@pages
def test_set_up_is_the_templates_guard_and_at_most_six_lines(path):
    guard, rest = set_up(path)
    assert guard == set_up(BOOK / "_template.ipynb")[0]
    assert 1 <= len(rest) <= 6


@chapters
def test_look_first_is_a_question_and_a_slider(path):
    cells = parts(path)["Look first"]
    slider = next(i for i, cell in enumerate(cells) if re.search(r"\b(explore|living_net)\(", cell.source))
    assert "?" in words(cells[:slider])


# Sections


@chapters
def test_each_section_has_equation_code_and_both_readings_of_its_figure(path):
    for title, cells in sections(path).items():
        text = words(cells)
        assert re.search(r"^\$\$ \(eq-[\w-]+\)$", text, re.MULTILINE), f"{title}: no numbered equation"
        assert code(cells), title
        assert "What to see" in text, title
        assert re.search("[Ww]hat not to conclude", text), title


@chapters
def test_one_question_per_section_whose_answers_explain_themselves(path):
    for title, cells in sections(path).items():
        text = words(cells)
        assert text.count("**Question.**") == 1, title
        answers = re.findall(r"<details>\n<summary>(.+?)</summary>\n\n(.+?)\n\n</details>", text, re.DOTALL)
        assert len(answers) == text.count("<details>") >= 3, f"{title}: blank lines around each explanation"
        assert sum(explanation.startswith("Right") for _, explanation in answers) == 1, title
        for answer, explanation in answers:
            assert len(explanation.split()) >= 8, (title, answer)


@chapters
def test_code_cells_are_short(path):
    for cell in code(read(path).cells)[1:]:
        if "explore(" not in cell.source:
            assert len(lines(cell)) <= 15, cell.id


# Exercises


def exercises(path):
    """Each exercise as (title, its cells)."""
    cells = parts(path)["Exercises"]
    start = read(path).cells.index(cells[0])
    titles = [(text, index - start) for level, text, index in headings(path) if level == 3]
    titles = [(text, i) for text, i in titles if 0 <= i < len(cells)]
    ends = [i for _, i in titles[1:]] + [len(cells)]
    return [(text, cells[i:end]) for (text, i), end in zip(titles, ends, strict=True)]


@chapters
def test_three_or_four_exercises_each_with_check_and_solution(path):
    assert 3 <= len(exercises(path)) <= 4
    for title, (question, answer, solution) in exercises(path):
        assert re.match(r"\d\. (Predict|Change|Derive|Extend): ", title), title
        assert question.cell_type == "markdown"
        check = re.findall(r"exercises\.(check_\w+)\(", answer.source)
        assert len(check) == 1, f"{title}: the answer's cell calls one check"
        assert f"exercises.{check[0]}(" in solution.source, title
        assert solution.metadata == SOLUTION, title
        assert "solution" not in answer.metadata.get("tags", [])


@chapters
def test_solutions_are_nowhere_else(path):
    tagged = [cell.id for cell in code(read(path).cells) if "solution" in cell.metadata.get("tags", [])]
    assert tagged == [cells[2].id for _, cells in exercises(path)]


# Cells that read well without MyST


@pages
def test_markdown_reads_well_in_plain_jupyter(path):
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            shown = re.sub(r"\{(cite:[pt]|term|eq)\}", "", MARKDOWN.render(cell.source))
            assert not re.search(r":::|\{[a-z:-]+\}<code>|```\{|\{(note|figure|admonition|tip|warning)", shown), cell.id


@pages
def test_equations_have_blank_lines_around(path):
    """Else the label shows as text, or the formula is swallowed by the paragraph."""
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            text = ["", *cell.source.splitlines(), ""]
            fences = [i for i, line in enumerate(text) if line.startswith("$$")]
            assert all(re.fullmatch(r"\$\$( \(eq-[\w-]+\))?", text[i]) for i in fences), cell.id
            for opening, closing in zip(fences[::2], fences[1::2], strict=True):
                assert text[opening] == "$$", cell.id
                assert text[opening - 1] == text[closing + 1] == "", cell.id


# Cells that run: alone after the set-up, in order, and twice


def names(source):
    """Names that a cell defines at its top level or anywhere inside, and names that it uses."""
    defined, used = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            defined |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            defined.add(node.name)
    return defined, used


@pages
def test_each_cell_needs_the_set_up_alone_or_names_what_it_continues_with(path):
    first, *later = code(read(path).cells)
    known = names(first.source)[0] | set(dir(builtins))
    for cell in later:
        said = re.match(r"# continues from above: (.+)", cell.source)
        carried = set(said[1].split(", ")) if said else set()
        defined, used = names(cell.source)
        assert used <= known | defined | carried, f"{cell.id} uses {used - known - defined - carried}"


@cache
def run_twice(path):
    """Run a notebook twice in one kernel, as the book runs it, and return the outputs by cell of each run."""
    notebook = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=300, coalesce_streams=True, resources=folder)
    runs = []
    with client.setup_kernel(env=os.environ | {"HIGHWAY_LESSONS_BOOK": "1"}):
        for _ in range(2):
            for index, cell in enumerate(notebook.cells):
                if cell.cell_type == "code":
                    client.execute_cell(cell, index)
            runs.append({cell.id: cell.outputs for cell in code(notebook.cells)})
    return runs


def shown(output):
    """What a reader sees of an output and what must not change from run to run: text and pictures."""
    data = output.get("data", {})
    return output.get("text"), data.get("text/plain"), data.get("image/png")


@pages
def test_second_run_in_the_same_kernel_shows_the_same(path):
    first, second = run_twice(path)
    for cell_id in first:
        assert [shown(o) for o in first[cell_id]] == [shown(o) for o in second[cell_id]], cell_id


@pages
def test_no_noise_in_the_outputs(path):
    for cell_id, outputs in run_twice(path)[0].items():
        for output in outputs:
            assert output.get("name") != "stderr", (cell_id, output)
            assert "np.float64(" not in json.dumps(output), cell_id


@pages
def test_each_figure_has_alt_text_and_caption_and_is_shown_once(path):
    by_id = {cell.id: cell for cell in code(read(path).cells)}
    for cell_id, outputs in run_twice(path)[0].items():
        pictures = [output for output in outputs if "image/png" in output.get("data", {})]
        dressed = by_id[cell_id].metadata.get("mystnb", {})
        if any("text/html" in picture["data"] for picture in pictures):  # a slider carries its own
            assert "caption=" in by_id[cell_id].source, cell_id
        elif pictures:
            assert len(pictures) == 1, cell_id
            assert len(dressed["image"]["alt"].split()) >= 12, cell_id
            assert 4 <= len(dressed["figure"]["caption"].split()) <= 14, dressed["figure"]["caption"]
            assert dressed["figure"]["name"].startswith("fig-"), cell_id
        else:
            assert "image" not in dressed, f"{cell_id}: alt text, and no figure"


@chapters
def test_checks_answer_none_kindly_and_solutions_are_right(path):
    first = run_twice(path)[0]
    for title, (_, answer, solution) in exercises(path):
        assert first[answer.id][-1]["data"]["text/plain"].startswith("Not yet: "), title
        assert first[solution.id][-1]["data"]["text/plain"].startswith("Right: "), title
