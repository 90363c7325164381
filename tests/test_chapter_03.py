"""Chapter 3: each number in the text comes from the chapter's own cells; sliders, figures and checks do what they say.

The cells run here, in one namespace, as a reader would run them: the tests use the chapter's functions, not copies.
"""

import re

import numpy as np
import pytest
import reading
from conftest import BOOK
from matplotlib.colors import to_hex

from highway_lessons import (
    Adam,
    Highway,
    NaiveResidual,
    Network,
    Plain,
    Residual,
    direct_path,
    exercises,
    figures,
    sigmoid,
    tau,
)
from highway_lessons.gradients import circle_test, effective_rank, end_to_end_jacobian, over_seeds, profile
from highway_lessons.palette import BLOCKS

CHAPTER = BOOK / "chapters" / "03-measure-the-gradient.ipynb"
TEXT = reading.prose(CHAPTER).replace("−", "-")


def mean(rows):
    """Geometric mean over seeds."""
    return over_seeds(rows)[1]


# Numbers in the text


def numbers_of_the_text(names):
    """Each number with a decimal point or exponent, as it stands in the text, and what a run gives, rounded alike."""
    measure, moments, cosines, spectra = (names[name] for name in ("measure", "moments", "cosines", "spectra"))
    highway, shut = measure(Highway(-2.0), 50), measure(Highway(-5.0), 50)
    uniform, no_bias, he = (measure(Plain(), 50, initialiser=s) for s in ("uniform", "uniform_zero_bias", "he"))
    share, weights = highway.dh[:, 0] / highway.dh[:, 50], highway.dW[:, 0] / highway.dW[:, -1]
    no_bias_ratio, he_ratio = no_bias.dW[:, 0] / no_bias.dW[:, -1], he.dW[:, 0] / he.dW[:, -1]
    spreads = {b: names["likeness"](Highway(b))[1].mean(axis=0) for b in (-2.0, -5.0)}
    ranks = {name: np.mean([effective_rank(row) for row in s]) for name, s in spectra.items()}
    gate_0 = direct_path(0.5, 50)
    open_gates, slider = names["from_above"](2, 50), {b: names["three_norms"](b, 50) for b in (-2, -5)}
    slider = {b: [band.mid[0] / band.mid[-1] for band in frame.values()] for b, frame in slider.items()}
    labels, examples = (1, np.arange(10)), (10, np.zeros(10, int))
    he_labels = names["alike_gradients"](Plain(), "he", *labels).mean(axis=0)
    he_examples = names["alike_gradients"](Plain(), "he", *examples).mean(axis=0)
    long, short = names["ellipses"](-2, 100)["plain, He"][1]
    return [
        # forward
        ("0.0031", 1 / (5 * 64)), ("0.0031", mean(moments["plain, uniform"])[50]), ("0.003", 1 / (5 * 64)),
        ("0.03", moments["plain, He"][:, 50].min()), ("3.7", moments["plain, He"][:, 50].max()),
        ("1.0", names["predicted"]["plain, He"][50]),
        ("0.32", cosines["plain, He"][:, 0].mean()), ("0.3", cosines["plain, He"][:, 0].mean()),
        ("0.993", cosines["plain, He"][:, 50].mean()), ("0.9997", cosines["highway, −2"][:, 50].mean()),
        ("0.39", cosines["highway, −5"][:, 50].mean()), ("0.36", cosines["residual"][:, 50].mean()),
        ("0.4", max(cosines["highway, −5"][:, 50].max(), cosines["residual"].max())),
        ("2.7", spreads[-2.0][0]), ("0.0052", spreads[-2.0][50]), ("1.9", spreads[-5.0][50]),
        # backward
        ("0.0019", mean(share)), ("0.19", 100 * mean(share)), ("0.026", mean(weights)),
        ("0.021", weights.min()), ("0.033", weights.max()), ("0.033", weights[0]),
        ("0.03", mean(measure(Plain(), 0).dh)[0]), ("4.4", mean(highway.h)[50]),
        ("5e-19", mean(uniform.dW[:, 0] / uniform.dW[:, -1])), ("5e-21", mean(uniform.dW)[0]),
        ("0.01", mean(uniform.dW)[-1]), ("1.4", mean(no_bias_ratio)), ("0.72", no_bias_ratio.min()),
        ("3.2", no_bias_ratio.max()), ("0.73", mean(he_ratio)), ("0.33", he_ratio.min()), ("1.7", he_ratio.max()),
        ("3.5e-20", 6.0**-25), ("0.408", 6**-0.5), ("0.404", mean(uniform.dh[:, 0] / uniform.dh[:, 50]) ** (1 / 50)),
        ("5.7e-22", open_gates["highway"].mid[0] / open_gates["highway"].mid[-1]),
        ("2.4e-20", open_gates["plain"].mid[0] / open_gates["plain"].mid[-1]),
        ("0.027", slider[-2][2]), ("0.97", slider[-5][2]), ("0.0022", slider[-2][1]), ("0.72", slider[-5][1]),
        ("1.3", slider[-5][0]),
        # the direct path
        ("0.00173", mean(np.prod(1 - highway.T, axis=1))), ("0.00175", np.exp(-tau(-2.0, 50))),
        ("0.1194", highway.T.mean()), ("0.1192", sigmoid(-2.0)),
        ("1.2", names["crossing"](-2, 100)[1] / np.exp(-tau(-2, 100))),
        ("0.0017", mean(np.prod(1 - highway.T, axis=1))), ("0.71", mean(shut.dh[:, 0] / shut.dh[:, 50])),
        ("0.5", sigmoid(0.0)), ("8.9e-16", gate_0), ("9e-16", gate_0), ("34.7", tau(0.0, 50)),
        ("3.4", names["crossing"](-1, 100)[1] / np.exp(-tau(-1, 100))),
        # directions
        ("1.3", ranks["plain, He"]), ("2.4", np.sqrt((2 / 64) / (1 / (3 * 64)))),
        ("1.1", ranks["He, highway −2"]),
        ("1.2", np.mean([effective_rank(row) for row in names["singular_values"](names["NoGateWeights"](-2.0), "he")])),
        ("0.74", he_labels[0]), ("0.15", he_labels[1]), ("0.19", he_examples[0]), ("1.00", he_examples[1]),
        ("1.5", long), ("0.0043", short),
        ("0.00094", spectra["highway, −2"].min()), ("0.004", spectra["highway, −2"].max()),
        ("0.001", spectra["highway, −2"].min()), ("0.7", spectra["highway, −5"].min()),
        ("3.8", condition(spectra["highway, −2"])), ("1.1", condition(spectra["highway, −5"])),
        ("49.9", np.mean([effective_rank(row) for row in names["singular_values"](Highway(-5.0), "he")])),
    ]  # fmt: skip


def condition(s):
    return mean(s[:, 0]) / mean(s[:, -1])


def orders_of_magnitude(names):
    """Each number that the text gives roughly, what a run gives, and the factor between the two that we allow."""
    measure, moments, spectra = (names[name] for name in ("measure", "moments", "spectra"))
    _, no_bias, normal, orthogonal, he = names["controls"].values()
    plain, highway = measure(Plain(), 50), measure(Highway(-2.0), 50)
    weights = highway.dW[:, 0] / highway.dW[:, -1]
    circles = names["images"]
    return [
        ("1e-16", mean(moments["N(0, 1/n)"])[50], 2), ("1e-40", mean(moments["same, biases 0"])[50], 2),
        ("1e-20", mean(plain.dh[:, 0] / plain.dh[:, 50]), 3), ("1e20", mean(plain.dh[:, 50] / plain.dh[:, 0]), 3),
        ("1e18", mean(plain.dW[:, -1] / plain.dW[:, 0]), 3), ("1e-19", mean(spectra["plain, uniform"])[0], 2),
        *[("5e-21", value, 1.5) for value in mean(no_bias.dW)[[0, -1]]],
        *[("5e-9", value, 1.7) for m in (normal, orthogonal) for value in mean(m.dW)[[0, -1]]],
        *[("0.5", value, 2.5) for value in mean(he.dW)],
        ("factor of 500", mean(highway.dh[:, 50] / highway.dh[:, 0]), 1.1),
        ("factor of 40", mean(highway.dW[:, -1] / highway.dW[:, 0]), 1.1),
        ("12-fold", mean(highway.h[:, 0] / highway.h[:, 49]), 1.02),
        ("from 52", mean(highway.h)[0], 1.02), ("to 7, residual", mean(plain.h)[50], 1.1),
        ("a thousand times fainter", mean(spectra["plain, He"])[0] / mean(spectra["highway, −2"])[0] / 1000, 1.1),
        ("six times as long as wide", mean([a / b for _, (a, b) in circles["plain, He"]]) / 6, 1.1),
        ("even 49 times", names["crossing"](0, 50)[1] / np.exp(-tau(0, 50)), 1.01),
        ("starts at about 4", mean(spectra["plain, He"])[0], 1.2),
        ("down from 12", np.divide(*names["three_norms"](-2, 50)["from below, ‖h‖"].mid[[0, -1]]), 1.02),
        ("fifteen times *more*", mean(weights) / direct_path(highway.T.mean(), 50) / 15, 1.03),
        ("about 4-fold", np.divide(*mean(profile(Residual(scale=1.0), 50, batch=16).dh)[[0, -1]]), 1.05),
        ("2e4", np.divide(*mean(measure(NaiveResidual(), 50).dh)[[0, -1]]), 1.1),
        ("1e-8", Adam().epsilon, 1),
    ]  # fmt: skip


def as_written(value, text):
    """`value` with as many digits as `text` has."""
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return f"{value:.{len(mantissa.partition('.')[2])}f}"
    digits, power = f"{value:.{len(mantissa.partition('.')[2])}e}".split("e")
    return f"{digits}e{int(power)}"


def test_each_number_of_the_text_is_what_the_run_gives(names):
    for text, value in numbers_of_the_text(names):
        assert as_written(value, text) == text


def test_rough_numbers_of_the_text_have_the_size_that_the_run_gives(names):
    for text, value, factor in orders_of_magnitude(names):
        assert text in TEXT
        digits = re.search(r"\d+(\.\d+)?(e-?\d+)?", text)
        claim = float(digits[0]) if digits else 1.0
        assert claim / factor <= value <= claim * factor, (text, value)


def test_no_number_of_the_text_is_unchecked(names):
    found = set(re.findall(r"-?\d+\.\d+(?:e-?\d+)?|\d+e-?\d+", TEXT))
    exact, rough = numbers_of_the_text(names), orders_of_magnitude(names)
    assert found <= {text for text, _ in exact} | {text for text, *_ in rough}
    assert {text for text, _ in exact} <= found


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        # F5, as published
        ("down-table", "Plain    10 blocks: first 2.36e-05, last 1.65e-02, ratio 1.43e-03"),
        ("down-table", "Highway  10 blocks: first 3.36e-03, last 4.28e-03, ratio 7.84e-01"),
        ("down-table", "Plain    50 blocks: first 4.28e-21, last 8.99e-03, ratio 4.76e-19"),
        ("down-table", "Highway  50 blocks: first 2.37e-05, last 7.17e-04, ratio 3.31e-02"),
        # F3, as published
        ("cross-table", "0.02       0.817       0.545       0.364"),
        ("cross-table", "0.10       0.349      0.0424     0.00515"),
        ("cross-table", "0.50    0.000977    9.31e-10    8.88e-16"),
        ("cross-table", "0.8^50 = 1.4e-05"),
        # what the text says of ten seeds
        ("down-ratios", "predicted 3.5e-20, measured 2.2e-20; per block 0.408 and 0.404"),
        ("down-ratios", "above, |dL/dh_0| / |dL/dh_50|  0.0019 (0.0019 to 0.002)"),
        ("down-ratios", "weight gradient, first / last  0.026 (0.021 to 0.033), seed 0: 0.0331"),
        ("controls-code", "1.4 (0.72 to 3.2)"),
        ("controls-code", "0.73 (0.33 to 1.7)"),
        ("cross-code", "share / product     1.106  (1.081 to 1.136)"),
        ("cross-code", "product of (1 - T)  0.001732"),
        ("cross-code", "mean gate 0.1194, sigmoid(-2) = 0.1192"),
        ("cross-code", "gate bias -2:  tau 6.3, exp(-tau) = 0.00175"),
        ("cross-code", "gate bias  0:  tau 34.7, exp(-tau) = 8.88e-16"),
        ("cross-figure", "gate bias -2, depth 100: 1.2 times exp(-tau)"),
        ("directions-table", "highway, −2     3.7e-03   3.8         45.3"),
        ("directions-table", "highway, −5     7.5e-01   1.1         63.9"),
        ("directions-range", "largest 3.5 (1.7 to 17)"),
        ("directions-range", "all 640 between 0.00094 and 0.004"),
        ("directions-gate", "W_T = 0: effective rank 1.2 (1.1 to 1.2)"),
        ("labels-table", "plain, He    one example, ten labels:  bottom 0.74 (0.51 to 0.95), top 0.15"),
        ("labels-table", "plain, He    ten examples, one label:  bottom 0.19 (0.15 to 0.23), top 1.00"),
        ("labels-table", "highway, −2  one example, ten labels:  bottom 0.15 (0.14 to 0.17), top 0.13"),
        ("exercise-2-solution", "1.8e+04 in all (6.3e+03 to 3.9e+04), 1.217 per block"),
        ("exercise-2-solution", "Residual(scale=1.0): 4.0 in all"),
        ("exercise-4-solution", "bias -4: effective rank 37"),
    ],
)
def test_cells_print_what_the_text_says(run, cell, line):
    assert line in run[1][cell]


def test_the_share_exceeds_the_direct_path_by_8_to_14_per_cent(names):
    assert "8 to 14 % more" in TEXT
    m = names["measure"](Highway(-2.0), 50)
    more = 100 * (m.dh[:, 0] / m.dh[:, 50] / np.prod(1 - m.T, axis=1) - 1)
    assert f"{more.min():.0f} to {more.max():.0f}" == "8 to 14"


def test_one_line_for_all_depths_while_the_bias_is_at_most_minus_2(names):
    for name, points in names["shares"].items():
        if name != "highway, gate bias 0":
            ratios = points[1][:-1] * np.exp(points[0][:-1])  # without −1, the last bias
            assert ((ratios > 0.98) & (ratios < 1.25)).all(), name
    ratios = names["shares"]["highway, gate bias 0"][1] * np.exp(names["shares"]["highway, gate bias 0"][0])
    assert (np.diff(ratios) > 0).all(), "the open circles leave the line, the more the deeper"


def test_the_recursion_holds_nearly_for_orthogonal_weights():
    q = profile(Plain(), 50, initialiser="orthogonal").h ** 2
    assert 2**-50 / 2 < q[:, 50].mean() / q[:, 0].mean() < 2 * 2**-50


def test_he_weights_in_the_gate_alone_do_not_squeeze(names):
    """The text blames those of W_H: with W_T = 0 the rank stays low, and with W_H as it was it stays high."""
    ranks = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        network = Network(Highway(-2.0), 50)
        params, x = network.initialise(rng), rng.normal(size=64)
        for block in params.blocks:
            block["W_T"][:] = rng.normal(0, np.sqrt(2 / 64), (64, 64))
        s = np.linalg.svd(end_to_end_jacobian(network, params, x), compute_uv=False)
        ranks.append(effective_rank(s))
    assert min(ranks) > 30


def test_the_published_seed_is_the_highest_of_ten(names):
    m = names["measure"](Highway(-2.0), 50)
    assert (m.dW[:, 0] / m.dW[:, -1]).argmax() == 0


def test_without_biases_every_weight_is_the_same(names):
    uniform, zero = (Network(Plain(), 3).initialise(0, start) for start in ("uniform", "uniform_zero_bias"))
    for ours, theirs in zip(uniform.blocks, zero.blocks, strict=True):
        np.testing.assert_array_equal(ours["W_H"], theirs["W_H"])
        assert not theirs["b_H"].any()


def test_weight_gradients_obey_the_bound_of_the_text(names):
    """‖∂L/∂W‖ ≤ ‖h_{l−1}‖ · ‖δ_l‖, and ‖δ_l‖ ≤ ‖∂L/∂h_l‖ as neither the ReLU's slope nor T exceeds 1."""
    for block in (Plain(), Highway(-2.0)):
        m = names["measure"](block, 50)
        assert (m.dW <= m.h[:, :-1] * m.dh[:, 1:]).all()


def test_bias_2_behaves_like_a_plain_stack(names):
    """The text says so of an open gate: per block, the two lose about as much."""
    nets = names["networks"](2, 50)
    per_block = {kind: mean(m.dh[:, 0] / m.dh[:, 50]) ** (1 / 50) for kind, m in nets.items()}
    assert per_block["highway"] == pytest.approx(per_block["plain"], rel=0.1)


# Sliders


def test_sliders_know_the_shallow_and_the_open_end(names):
    biases, depths = names["BIASES"], names["DEPTHS"]
    assert (min(biases), max(biases), min(depths), max(depths)) == (-10, 2, 1, 100)


def test_closing_the_gates_lifts_the_highway_line_and_leaves_the_others(names):
    frames = [names["from_above"](gate_bias, 20) for gate_bias in (2, 0, -2, -5, -10)]
    assert (np.diff([frame["highway"].mid[0] for frame in frames]) > 0).all()
    for kind in ("plain", "residual"):
        assert len({tuple(frame[kind].mid) for frame in frames}) == 1
    for frame in frames:
        assert (frame["highway"].low <= frame["highway"].mid).all()
        assert (frame["highway"].mid <= frame["highway"].high).all()
        assert len(frame["no block"]) == len(frame["highway"].mid) == 21


def test_a_frame_of_the_slider_is_ten_networks_measured(names):
    frame = names["from_above"](-2, 50)["highway"]
    dh = profile(Highway(-2.0), 50, range(10), batch=16).dh
    np.testing.assert_array_equal([frame.low, frame.high], [dh.min(axis=0), dh.max(axis=0)])


def test_sentences_under_the_sliders(run):
    assert "this share: plain 2.4e−20, highway 1.9e−03, residual 1.03." in run[2]["look-slider"].frame["says"]
    assert "over last block: from below 11.9, from above 2.2e−03, weight" in run[2]["down-slider"].frame["says"]
    assert "plain, He 0.444 and 0.0525; highway 2.0e−03 and 1.8e−03" in run[2]["circle-slider"].frame["says"]


def test_three_norms_belong_to_the_same_block(names):
    below, above, weights = names["three_norms"](-2, 5).values()
    m = profile(Highway(-2.0), 5, range(10), batch=16)
    np.testing.assert_allclose([below.mid, above.mid, weights.mid], [mean(m.h)[:5], mean(m.dh)[1:], mean(m.dW)])


def test_circles_to_scale_and_enlarged(names):
    to_scale, enlarged = (names["circles"](-2, 50, drawn) for drawn in ("to scale", "enlarged"))
    for name, curve in enlarged.items():
        assert np.hypot(*curve).max() == pytest.approx(1, abs=0.01), name
        small, large = np.hypot(*to_scale[name]), np.hypot(*curve)
        np.testing.assert_allclose(small / small.max(), large / large.max(), rtol=1e-9)
    assert np.hypot(*to_scale["highway"]).max() < 0.003
    a, b = names["ellipses"](-2, 100)["plain, He"][1]
    assert a / b > 100, "at depth 100 the slider shows a line"


# Figures


def test_seed_bands_draw_the_geometric_mean_and_the_whole_range():
    rows = np.array([[1.0, 10.0, 100.0], [100.0, 10.0, 1.0]])
    figure = figures.seed_bands({"norm": {"highway": rows}}, "block", first=1, predicted={"norm": {"": rows[0]}})
    axes = figure.axes[0]
    line, prediction = axes.lines
    np.testing.assert_allclose(line.get_xydata(), [(1, 10), (2, 10), (3, 10)])
    np.testing.assert_allclose(prediction.get_ydata(), rows[0])
    assert to_hex(line.get_color()) == BLOCKS["highway"].light.lower()
    band = axes.collections[0].get_paths()[0].get_extents()
    assert (band.y0, band.y1) == (1, 100)
    assert (axes.get_yscale(), axes.get_xlabel(), axes.get_ylabel()) == ("log", "block", "norm")


def test_seed_bands_of_several_panels_share_one_legend():
    ones = np.ones((1, 4))
    panels = {"a": {"plain": ones, "no block": ones}, "b": {"plain": ones}}
    figure = figures.seed_bands(panels, "block", first={"a": 0, "b": 1}, linear=["b"], ylim={"b": (0, 3)})
    above, below = figure.axes
    assert (above.get_yscale(), below.get_yscale()) == ("log", "linear")
    assert below.get_ylim() == (0, 3)
    assert (above.lines[0].get_xdata()[0], below.lines[0].get_xdata()[0]) == (0, 1)
    assert [text.get_text() for text in figure.legends[0].texts] == ["plain", "no block"]
    assert not above.collections, "one row has no band"


def test_each_panel_has_its_own_legend_where_they_draw_different_kinds():
    ones = np.ones((1, 4))
    figure = figures.seed_bands({"a": {"plain": ones}, "b": {"highway": ones}}, "block")
    assert not figure.legends
    for axes, kind in zip(figure.axes, ("plain", "highway"), strict=True):
        assert [text.get_text() for text in axes.get_legend().texts] == [kind]


def test_shares_stand_over_the_formula():
    measured = {"10 blocks": (np.array([1.0, 2.0, 9.0]), np.array([0.4, 0.1, 1e-4]))}
    near, far = figures.shares_against_tau(measured).axes
    assert (near.get_yscale(), far.get_yscale()) == ("linear", "log")
    for axes, points_there in ((near, [(1, 0.4), (2, 0.1)]), (far, [(1, 0.4), (2, 0.1), (9, 1e-4)])):
        formula, points, no_block = axes.lines
        np.testing.assert_allclose(formula.get_ydata(), np.exp(-formula.get_xdata()))
        np.testing.assert_allclose(points.get_xydata(), points_there)
        assert (no_block.get_xdata()[0], no_block.get_ydata()[0]) == (0, 1)


def test_ellipses_are_enlarged_to_one_length_and_say_their_radii():
    figure = figures.ellipses({"plain": [circle_test(np.diag([4.0, 0.5]))] * 2, "highway": [circle_test(np.eye(2))]})
    plain, highway = figure.axes[:2]
    for axes, height in ((plain, 0.125), (highway, 1)):
        x, y = axes.lines[0].get_data()
        assert np.abs(x).max() == pytest.approx(1, abs=0.01)
        assert np.abs(y).max() == pytest.approx(height, abs=0.01)
    assert len(plain.lines) == 2
    assert plain.texts[0].get_text() == "plain\n4 by 0.5"


# Checks of the exercises


@pytest.mark.parametrize(
    ("check", "answer", "right", "word"),
    [
        ("blocks_to_a_millionth", 20, True, ""),
        ("blocks_to_a_millionth", 19.93, True, ""),
        ("blocks_to_a_millionth", 40, False, "length"),
        ("blocks_to_a_millionth", 7.7, False, "uniform"),
        ("blocks_to_a_millionth", 13, False, "too small"),
        ("blocks_to_a_millionth", None, False, "None"),
        ("growth_per_block", 1.22, True, ""),
        ("growth_per_block", 0.82, False, "travels down"),
        ("growth_per_block", 1.5, False, "too large"),
        ("growth_per_block", None, False, "None"),
        ("zero_bias_exponent", -24.5, True, ""),
        ("zero_bias_exponent", 24.5, False, "negative"),
        ("zero_bias_exponent", -49, False, "square"),
        ("zero_bias_exponent", -25, False, "49 blocks"),
        ("zero_bias_exponent", -50, False, "49 others"),
        ("zero_bias_exponent", 0, False, "too large"),
        ("bias_for_he", -4, True, "37.1"),
        ("bias_for_he", np.int64(-4), True, ""),
        ("bias_for_he", -3, False, "below 32"),
        ("bias_for_he", -5, False, "go on upwards"),
        ("bias_for_he", -4.5, False, "whole number"),
        ("bias_for_he", True, False, "number"),
        ("bias_for_he", 400, False, "range"),
        ("bias_for_he", "no", False, "number"),
        ("bias_for_he", None, False, "None"),
    ],
)
def test_checks_accept_what_is_right_and_explain_what_is_wrong(check, answer, right, word):
    verdict = getattr(exercises, f"check_{check}")(answer)
    assert bool(verdict) is right
    assert word in verdict.sentence


def test_the_growth_over_fifty_blocks_is_not_the_growth_per_block():
    dh = profile(NaiveResidual(), 50).dh
    verdict = exercises.check_growth_per_block(mean(dh[:, 0] / dh[:, -1]))
    assert not verdict
    assert "over all 50 blocks" in verdict.sentence


def test_right_answers_are_right(names):
    """The checks against their definitions, not against themselves."""
    assert 0.5**20 < 1e-6 < 0.5**19
    m = names["measure"](Plain(), 50, initialiser="uniform_zero_bias")
    one = names["measure"](Plain(), 1, initialiser="uniform_zero_bias")
    assert np.log(mean(m.dW / one.dW)).mean() / np.log(6) == pytest.approx(-24.5, abs=0.5)


def test_effective_rank_of_the_check_is_that_of_the_chapter(names):
    chapter = np.mean([effective_rank(row) for row in names["singular_values"](Highway(-3.0), "he")])
    verdict = exercises.check_bias_for_he(-3)
    assert f"{chapter:.1f}" in verdict.sentence


def test_jacobians_of_the_chapter_are_kept_and_right(names):
    jacobian = names["jacobian"](Plain(), "he", 5, 3)
    assert names["jacobian"](Plain(), "he", 5, 3) is jacobian
    rng = np.random.default_rng(3)
    network = Network(Plain(), 5)
    params = network.initialise(rng, "he")
    np.testing.assert_array_equal(jacobian, end_to_end_jacobian(network, params, rng.normal(size=64)))
