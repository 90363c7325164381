"""What chapters 9 and 9b draw and check: figures from numbers, and checks that tell a learner what is wrong."""

import re

import numpy as np
import pytest

from highway_lessons import exercises, figures
from highway_lessons.comparison import against
from highway_lessons.exercises import comparison as checks
from highway_lessons.variants import BatchNorm

FOUR = ["plain, He", "highway", "residual", "no block"]
RNG = np.random.default_rng(0)


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def dots(axes, n):
    return [line for line in axes.lines if len(line.get_xdata()) == n and line.get_linestyle() == "None"]


def test_every_trial_is_a_dot_and_failures_are_counted_in_median_and_words():
    values = {name: 10 ** RNG.normal(-3, 0.5, 20) for name in FOUR}
    values["highway"][:12] = np.nan
    values["residual"][:2] = 1e21
    figure = figures.trial_dots({"digits": values}, "training loss", chance={"digits": 2.3})
    (axes,) = figure.axes
    drawn = [line for line in axes.lines if line.get_linestyle() == "None"]
    assert [len(line.get_xdata()) for line in drawn] == [20, 8, 18, 20]
    assert {"12 failed", "2 failed"} <= set(texts(figure))
    bars = [line for line in axes.lines if len(set(line.get_ydata())) == 2 and len(line.get_xdata()) == 2]
    medians = [line.get_xdata()[0] for line in bars if line.get_linewidth() == 1.8]
    assert medians[0] == pytest.approx(np.median(values["plain, He"]))
    assert medians[1] == pytest.approx(axes.get_xlim()[1]), "most of them diverged, so the median is at the edge"
    assert [label.get_text() for label in axes.get_yticklabels()] == FOUR


def test_the_best_of_trials_falls_from_the_mean_to_the_best():
    values = 10 ** RNG.normal(-2, 1, 20)
    figure = figures.best_of_trials({"digits": {"highway": values}}, "training loss")
    (line,) = figure.axes[0].lines
    curve = line.get_ydata()
    assert (curve[0], curve[-1]) == (pytest.approx(values.mean()), values.min())
    assert (np.diff(curve) < 0).all()


def test_paired_differences_have_a_dot_per_seed_a_mean_and_an_interval():
    d = RNG.normal(1, 1, 10)
    found = against(np.zeros(10), {"residual": d})["residual"]
    figure = figures.paired_differences({"digits": {"residual": (d, found)}}, "points", nothing=1.0)
    (axes,) = figure.axes
    (ten,) = dots(axes, 10)
    np.testing.assert_allclose(ten.get_xdata(), d)
    spans = [line.get_xdata() for line in axes.lines]
    assert any(list(span) == [found.low, found.high] for span in spans)
    assert any(list(span) == [d.mean()] for span in spans)
    assert len(axes.patches) == 1, "the band of no difference"


def test_gated_rows_count_what_diverged_as_guessing():
    errors = np.full((2, 5), np.nan)
    errors[1] = 0.1
    rows = {"residual, identity": (None, np.full(5, 0.05)), "highway block": ([0, -2], errors)}
    figure = figures.gating_rows({"digits": rows}, {"digits": 0.9})
    line = next(line for line in figure.axes[0].lines if len(line.get_xdata()) == 2 and line.get_marker() == "o")
    np.testing.assert_allclose(line.get_ydata(), [90, 10])


@pytest.mark.parametrize(
    ("check", "right"),
    [
        (exercises.check_best_of_two, 0.4 / 3),
        (exercises.check_seeds_for_holm, 9),
        (exercises.check_halved_shortcut, 2.0**-50),
        (exercises.check_paper_bias, -3),
        (exercises.check_fold, lambda W, gamma, beta, mean, s: (W * gamma * s, beta - mean * gamma * s)),
    ],
)
def test_right_answers_and_none(check, right):
    assert check(right)
    assert "None" in check(None).sentence


@pytest.mark.parametrize(
    ("verdict", "hint"),
    [
        (lambda: exercises.check_best_of_two(0.3), "a single trial"),
        (lambda: exercises.check_best_of_two(0.1), "best of all three"),
        (lambda: exercises.check_best_of_two(0.189), "putting back"),
        (lambda: exercises.check_best_of_two(1.4 / 3), "higher loss"),
        (lambda: exercises.check_best_of_two("low"), "must be a number"),
        (lambda: exercises.check_seeds_for_holm(8), "just above 0.05"),
        (lambda: exercises.check_seeds_for_holm(6), "single comparison"),
        (lambda: exercises.check_seeds_for_holm(12), "more than you need"),
        (lambda: exercises.check_seeds_for_holm(3), "too few"),
        (lambda: exercises.check_halved_shortcut(0.01), "shares multiply"),
        (lambda: exercises.check_paper_bias(-2), "close the gates further"),
        (lambda: exercises.check_paper_bias(-4), "below 3.8, too"),
        (lambda: exercises.check_paper_bias(-2.5), "whole number"),
        (lambda: exercises.check_fold(lambda W, g, b, m, s: (W * g * s, b - m)), "the mean is scaled"),
        (lambda: exercises.check_fold(lambda W, g, b, m, s: (W * g * s, b + m * g * s)), "where x = 0"),
        (lambda: exercises.check_fold(lambda W, g, b, m, s: ((g * s)[:, None] * W, b - m * g * s)), "columns of W"),
        (lambda: exercises.check_fold(lambda W, g, b, m, s: (W, b)), "multiply out"),
        (lambda: exercises.check_fold(lambda W, g, b, m, s: W), "shapes|two arrays"),
        (lambda: exercises.check_fold(3), "a function fold"),
    ],
)
def test_wrong_answers_are_explained(verdict, hint):
    found = verdict()
    assert not found
    assert re.search(hint, found.sentence), found


def test_the_smallest_p_that_ten_pairs_can_give():
    """What the exercise rests on: SciPy's test is exact there."""
    from scipy.stats import wilcoxon

    for n in (5, 8, 9, 10):
        assert wilcoxon(np.arange(1.0, n + 1)).pvalue == pytest.approx(2 / 2**n)


def test_fold_check_agrees_with_the_block():
    block, x = BatchNorm(activation="tanh"), RNG.normal(size=(30, 4))
    params = {"W_H": RNG.normal(size=(4, 4)), "gamma": RNG.normal(size=4), "beta": RNG.normal(size=4)}
    mean, s = checks.statistics(x @ params["W_H"])
    W, b = params["W_H"] * params["gamma"] * s, params["beta"] - mean * params["gamma"] * s
    np.testing.assert_allclose(np.tanh(x @ W + b), block.forward(params, x)[0])
