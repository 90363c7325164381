"""The appendix: what it says of the code is what the code does, and what it records can be had again."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import BOOK, ROOT
from pybtex.database import parse_string
from reading import prose, run

from highway_lessons import Highway, published, sigmoid
from highway_lessons.functions import relu

APPENDIX = BOOK / "appendix"


def page(name):
    return (APPENDIX / f"{name}.md").read_text(encoding="utf8")


# Published figures


@pytest.fixture(scope="module")
def reproduction():
    return run(APPENDIX / "reproduction.ipynb")


def rows(markdown):
    """The rows of a table as lists of text, without its header."""
    return [[entry.strip() for entry in line.strip("|").split("|")] for line in markdown.data.splitlines()[2:]]


@pytest.mark.parametrize("table", ["f1-table", "f2-table", "f3-table", "f5-table", "f6-live", "f9-table"])
def test_each_row_computed_on_the_page_is_the_published_one(reproduction, table):
    assert len(rows(reproduction.shown[table])) >= 2
    for what, theirs, ours, same in rows(reproduction.shown[table]):
        assert (theirs, same) == (ours, "yes"), what


def test_gradient_errors_are_of_the_published_order(reproduction):
    assert all(1e-12 < float(error) < 1e-9 for _, error in rows(reproduction.shown["f4-table"]))


def test_only_the_chaotic_row_differs_and_the_page_says_why(reproduction):
    table = rows(reproduction.shown["f6-table"])
    assert len(table) == len(published.ROWS) + sum(row.loss is not None for row in published.ROWS)
    for what, _, _, same in table:
        assert same == ("no" if "plain, depth 20" in what else "yes"), what
    text, nudged = prose(APPENDIX / "reproduction.ipynb"), published.record()["nudged"]
    assert f"in {len(nudged)} such runs" in text
    assert f"between {min(nudged):.2f} and {max(nudged):.2f}" in text
    assert min(nudged) < 0.3593 < max(nudged)
    by_kind = {(row["block"], row["depth"]): row["accuracy"] for row in published.record()["rows"]}
    assert max(nudged) < by_kind["plain", 5]
    assert max(nudged) < by_kind["highway (−2)", 20]


def numbers(entry):
    """The numbers of a table's entry: the mean, and where there are three, the lowest and the highest."""
    return [float(number) for number in re.findall(r"\d[\d.]*(?:e-?\d+)?", entry.replace("$h_0$", ""))]


def f10(reproduction, table):
    return {what: entries for what, *entries in rows(reproduction.shown[f"f10-{table}"])}


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("norms", "signal from above, bottom over top"),
        ("norms", "product of all 1 − T"),
        ("norms", "activations, norm of $h_0$ over $h_{49}$"),
        ("norms", "gradient of $W_H$, first over last block"),
        ("plain", "biases 0"),
        ("plain", "He"),
        ("inputs", "plain, He: mean cosine at the top"),
        ("inputs", "highway −2: mean cosine at the top"),
        ("inputs", "highway −2: spread at the bottom"),
        ("inputs", "highway −5: mean cosine at the top"),
    ],
)
def test_f10_agrees_as_ranges(reproduction, table, what):
    """The earlier mean lies within our range, and ours within theirs where they gave one."""
    earlier, ours = map(numbers, f10(reproduction, table)[what])
    assert ours[1] * 0.99 <= earlier[0] <= ours[2] * 1.01
    if len(earlier) == 3:
        assert earlier[1] * 0.99 <= ours[0] <= earlier[2] * 1.01


def test_f10_measured_in_the_same_way_is_the_same(reproduction):
    table = f10(reproduction, "directions")
    for what, tolerance in (("plain, He: largest", 0.1), ("plain, He: effective rank of 64", 0.05)):
        earlier, same_way, _ = (numbers(entry)[0] for entry in table[what])
        assert same_way == pytest.approx(earlier, abs=tolerance + 1e-9)
    for what in ("highway −2: largest over smallest", "highway −5: largest over smallest"):
        assert len(set(table[what])) == 1
    for entry in table["highway −2: all of them"]:
        assert numbers(entry) == pytest.approx([9.5e-4, 3.7e-3], rel=0.1)


def test_f10_gates_and_terms(reproduction):
    assert 0.119 <= numbers(f10(reproduction, "norms")["mean gate of block 1"][1])[0] <= 0.149
    for earlier, ours in f10(reproduction, "terms").values():
        assert float(ours) == pytest.approx(float(earlier), rel=0.2)


def test_the_reasons_for_the_differences_of_f10(reproduction):
    text = prose(APPENDIX / "reproduction.ipynb")
    he = [f10(reproduction, "plain")[row][1] for row in ("He", "He, seeds 10 to 19", "He, seeds 20 to 29")]
    first, second, third = (entry.split(" ")[0] for entry in he)
    assert f"ours are {first}, {second} and {third}, the earlier one 0.86" in text
    _, same_way, one_input = f10(reproduction, "directions")["plain, He: largest"]
    assert f"ours is {same_way} beside 4.6; with one input for each of ten nets it is {one_input}" in text
    _, ours = f10(reproduction, "inputs")["highway −2: spread at the top"]
    assert numbers(ours)[2] < 0.0055  # no seed of ours would print as 0.006
    assert "0.006 earlier, lies outside our range" in text
    chapter = prose(BOOK / "chapters" / "02-backpropagate-through-a-gate.ipynb")
    assert "to between 1.1 and 1.4" in chapter
    assert "lie between 1.1 and 1.4 after 15 epochs" in text


def test_the_uncertainty_of_540_images():
    assert f"±{196 * math.sqrt(0.97 * 0.03 / 540):.1f} points" in prose(APPENDIX / "reproduction.ipynb")


def test_the_record_says_where_it_comes_from():
    record = published.record()
    assert set(record["versions"]) == {"python", "numpy", "scikit-learn"}
    assert record["seed"] == 0
    assert record["seconds"] > 0
    assert [(r["figure"], r["block"], r["depth"]) for r in record["rows"]] == [
        (row.figure, published.name(row.block), row.depth) for row in published.ROWS
    ]


def test_a_recorded_training_can_be_had_again():
    """The cheap rows, here; test_published_figures.py trains all of them."""
    for row, recorded in zip(published.ROWS[:2], published.record()["rows"], strict=False):
        again = published.train(row.block, row.depth)
        assert again["accuracy"] == pytest.approx(recorded["accuracy"], abs=0.02)
        assert again["loss"] == pytest.approx(recorded["loss"], abs=0.01)


def test_running_the_record_again_writes_what_is_read(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(published, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(published, "ROWS", published.ROWS[:1])
    monkeypatch.setattr(published, "NUDGES", 0)
    published.main()
    (row,) = published.record()["rows"]
    assert row["accuracy"] == pytest.approx(0.9481, abs=0.02)
    assert row["seconds"] > 0
    assert "plain 5" in capsys.readouterr().out


def test_asking_how_to_train_the_published_figures_trains_nothing():
    command = [sys.executable, "-m", "highway_lessons.published", "--help"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert "usage: python -m highway_lessons.published" in answer.stdout


# Notation


def test_the_three_ways_to_write_a_layer_agree():
    """The last column of the table is code: run it, and compare with one unit's sums and with the package."""
    code = re.findall(r"\| `(\w = [^`]+)` \|$", page("notation"), re.MULTILINE)
    assert [line[0] for line in code] == ["H", "T", "y"]
    rng = np.random.default_rng(0)
    x, W_H, W_T = rng.normal(size=(5, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    b_H, b_T = rng.normal(size=3), np.full(3, -2.0)
    names = {"x": x, "W_H": W_H, "W_T": W_T, "b_H": b_H, "b_T": b_T, "f": relu, "sigmoid": sigmoid}
    exec("\n".join(code), names)
    y, _ = Highway(-2.0).forward({"W_H": W_H, "W_T": W_T, "b_H": b_H, "b_T": b_T}, x)
    np.testing.assert_allclose(names["y"], y, rtol=1e-13)
    for i in range(3):  # one unit of one example, W_ij leading from unit j to unit i
        H = max(0, sum(W_H.T[i, j] * x[0, j] for j in range(3)) + b_H[i])
        T = 1 / (1 + math.exp(-sum(W_T.T[i, j] * x[0, j] for j in range(3)) - b_T[i]))
        assert y[0, i] == pytest.approx(H * T + x[0, i] * (1 - T), rel=1e-12)


# Glossary, papers, references


def test_the_glossary_is_in_order_and_names_each_thing_once():
    terms = re.findall(r"^(\S.*)$", page("glossary").split("```{glossary}\n")[1].split("```")[0], re.MULTILINE)
    assert len(terms) >= 40
    assert terms == sorted(set(terms), key=lambda term: term.lower().replace("-", " "))


def test_numbers_of_the_glossary():
    text = page("glossary")
    assert f"\\sigma(-2) = {sigmoid(-2):.3f}" in text
    assert f"1 to {math.exp(2):.1f}" in text
    assert f"\\ln 10 \\approx {math.log(10):.3f}" in text


def test_numbers_of_the_paper_card_that_are_arithmetic():
    text = page("paper-card")
    assert f"{2 * (50 * 50 + 50)} against {71 * 71 + 71} parameters" in text


def test_references_are_complete_and_their_addresses_match():
    bibliography = (BOOK / "references.bib").read_text(encoding="utf8")
    parse_string(bibliography, "bibtex")  # raises where a brace is missing
    entries = re.split(r"^@\w+\{", bibliography, flags=re.MULTILINE)[1:]
    assert len(entries) >= 20
    for entry in entries:
        key = entry.split(",")[0]
        for field in ("author", "title", "year"):
            assert re.search(rf"^  {field} = \{{.+\}},$", entry, re.MULTILINE), f"{key}: {field}"
        ids = set(re.findall(r"arXiv:(\d{4}\.\d{5})", entry)) | set(re.findall(r"arxiv\.org/abs/([\d.]+)", entry))
        assert len(ids) <= 1, key


def test_arxiv_numbers_on_the_paper_card_are_those_of_the_references():
    known = set(re.findall(r"arXiv:(\d{4}\.\d{5})", (BOOK / "references.bib").read_text(encoding="utf8")))
    numbers = set(re.findall(r"arXiv (\d{4}\.\d{5})", page("paper-card")))
    assert len(numbers) >= 4
    assert numbers <= known


# How the book is built, and the package


def test_files_and_commands_that_the_page_names_exist():
    text = page("how-built")
    for name in re.findall(r"`((?:book|src|tests)/[\w./-]+)`", text):
        if "NN" not in name and "_build" not in name:
            assert (ROOT / name).exists(), name
    for name in re.findall(r"`(\w+\.py)`", text):
        assert (ROOT / "src" / "highway_lessons" / name).exists(), name
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    commands = set(re.findall(r"`make (\w+)`", text))
    assert {"book", "test", "lab"} <= commands
    for command in commands:
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
    extension = "".join(path.read_text(encoding="utf8") for path in (BOOK / "_ext" / "highway_book").glob("*.py"))
    for variable in re.findall(r"`(HIGHWAY_\w+)", text):
        assert variable in extension, variable


def test_every_module_is_on_the_page_of_the_package():
    modules = {path.stem for path in (ROOT / "src" / "highway_lessons").glob("[a-z]*.py")}
    listed = set(re.findall(r"highway_lessons\.(\w+)", page("api")))
    assert modules <= listed, modules - listed
