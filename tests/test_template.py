"""The template chapter: a real one, so its numbers are measured; and a style guide, so each part has its note."""

import math
import re

import nbformat
import numpy as np
import pytest
from conftest import BOOK
from reading import prose, run

from highway_lessons import direct_path, exercises, sigmoid, tau

TEMPLATE = BOOK / "_template.ipynb"
TEXT = prose(TEMPLATE)


@pytest.fixture(scope="module")
def template():
    return run(TEMPLATE)


def test_every_part_says_what_belongs_there():
    for cell in nbformat.read(TEMPLATE, as_version=4).cells:
        heading = re.match(r"##? (.+)", cell.source)
        if cell.cell_type == "markdown" and heading and heading[1] not in ("Recap", "Put depth and bias on one axis"):
            follow_up = TEXT[TEXT.index(cell.source) :]
            assert re.search(r"> \*Template: .+?\*$", follow_up, re.DOTALL | re.MULTILINE), heading[1]
    assert TEXT.count("> *Template: ") >= 11


def test_no_chapter_keeps_a_note_of_the_template():
    for path in BOOK.glob("chapters/*.ipynb"):
        assert "*Template:" not in prose(path), path.stem


def test_look_first(template):
    keeps = 1 - sigmoid(-2)
    assert f"keeps {100 * keeps:.0f} %" in TEXT
    assert direct_path(sigmoid(-2), 5) > 0.5 > direct_path(sigmoid(-2), 6)
    assert f"${keeps:.3f}^6 \\approx {keeps**6:.2f}$" in TEXT
    left = template.names["share_left"](-4.25)["direct path"]
    assert left[0] == 1
    assert left[50] == pytest.approx(0.5, abs=0.01)
    assert "about −4.25" in TEXT


def test_shares_of_the_first_section(template):
    printed = template.printed["section-1-code"]
    for share in ("0.00515", "8.88e-16"):
        assert share in printed
        assert share in TEXT
    assert f"{1.5**50 / 1e8:.1f}" == "6.4"
    assert "1.5^{50} \\approx 6.4 \\times 10^8" in TEXT


def test_measured_shares_of_the_second_section(template):
    taus, off = template.names["taus"], template.names["off"]
    assert len(taus) == 75
    assert "right to within 3 %" in TEXT
    assert np.abs(off[taus < 5] - 1).max() < 0.035
    assert f"up to {100 * (off.max() - 1):.0f} % more" in TEXT
    assert f"(τ = {taus.max():.1f})" in TEXT


def test_answers_of_the_second_question():
    assert f"about {sigmoid(-4) / sigmoid(-8):.0f} times smaller" in TEXT
    assert tau(-4.7, 100) == pytest.approx(tau(-4.0, 50), rel=0.01)
    assert f"from {tau(-4.0, 50):.1f} to {tau(-2.0, 100):.1f}" in TEXT


def test_the_change_does_what_the_text_says(template):
    taus, shares = template.names["measured_shares"](initialiser="normal")
    off = shares / np.exp(-taus)
    assert (np.abs(off[taus < 2] - 1) < 0.15).all()
    assert (off[taus > 12] > 10).all()
    assert "more than ten times" in TEXT


def test_the_rule_of_thumb():
    assert f"between {tau(0.0, 1):.2f} and 1" in TEXT
    values = [tau(-math.log(depth), depth) for depth in range(1, 2000)]
    assert min(values) == pytest.approx(0.693, abs=1e-3)
    assert max(values) < 1


@pytest.mark.parametrize(
    ("check", "right", "wrong", "explanation"),
    [
        (exercises.check_half_life, 5.46, 25, "do not simply add up"),
        (exercises.check_half_life, 5.4, 8, "too large"),
        (exercises.check_half_bias, -4.27, 4.27, "wrong sign"),
        (exercises.check_half_bias, -4.27, 0.0138, "log-odds"),
        (exercises.check_bias_for_tau_one, lambda depth: np.log(np.expm1(1 / depth)), lambda depth: -1, "at depth 1"),
        (exercises.check_share_under_he, 6.15, 0.0108, "divide it by"),
    ],
)
def test_checks_tell_right_from_wrong_and_say_why(check, right, wrong, explanation):
    assert check(right)
    assert not check(wrong)
    assert explanation in check(wrong).sentence


@pytest.mark.parametrize("answer", [None, "six", [6], True, float("nan")])
def test_a_check_meets_any_answer_with_a_sentence(answer):
    verdict = exercises.check_half_life(answer)
    assert not verdict
    assert repr(verdict).startswith("Not yet: ")
