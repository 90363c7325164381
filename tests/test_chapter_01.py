"""Chapter 1: each number in the text comes from the chapter's own cells; sliders, figures and checks do what they say.

The cells run here, in one namespace, as a reader would run them: the tests use the chapter's functions, not copies.
"""

import ast
import inspect
import re
import textwrap

import nbformat
import numpy as np
import pytest
import reading
from conftest import BOOK

from highway_lessons import Highway, Plain, direct_path, exercises, figures, sigmoid
from highway_lessons.functions import relu, softmax

CHAPTER = BOOK / "chapters" / "01-one-highway-layer.ipynb"
TEXT = reading.prose(CHAPTER)


def distance(a, b):
    return np.linalg.norm(np.subtract(a, b))


def four(names, gate_bias):
    """x, H and y of the first slider, first input unshifted."""
    return names["four_units"](gate_bias=gate_bias, first_input_shift=0.0).values()


def gates(names, gate_bias, scale=1.0):
    return names["gates_of_four"](gate_bias=gate_bias, input_scale=scale)["gate T"]


# Numbers in the text


def numbers_of_the_text(names):
    """Each decimal of the text, as it stands there, and the value that a run gives."""
    layer, many, W_T = names["layer"], names["many"], names["W_T"]
    pre = many @ W_T.T
    x0, H, at_minus_2 = four(names, -2.0)
    share = names["share_carried"]
    sharp = sigmoid(10 * pre - 2)
    T_six = layer(-2.0, many[:6])[1].T
    default = names["b"]  # of a fresh linear layer, width 64
    return [
        # given by the text itself
        ("-0.5", names["x_hand"][1]), ("0.1", names["T_hand"][0]), ("0.8", names["T_hand"][1]),
        ("1.00", names["x_hand"][0]), ("-0.50", names["x_hand"][1]), ("2.00", names["H_hand"][0]),
        ("0.00", names["H_hand"][1]), ("0.9", 1 - names["T_hand"][0]), ("0.2", 1 - names["T_hand"][1]), ("0.5", 0.5),
        ("0.05", T_six.min()), ("0.95", 0.95), ("0.01", 0.01),
        # F2 by hand
        ("1.10", names["y_hand"][0]), ("-0.10", names["y_hand"][1]),
        # the first slider
        ("0.083", distance(at_minus_2, x0)), ("0.691", distance(at_minus_2, H)),
        ("0.002", distance(list(four(names, 6.0))[2], H)),
        ("0.592", gates(names, 0.0)[1]), ("0.428", gates(names, 0.0)[2]),
        # the gate bias
        ("0.119", sigmoid(-2.0)), ("0.88", 1 - sigmoid(-2.0)), ("0.12", 1 - sigmoid(2.0)),
        ("7.4", np.exp(2.0)), ("2.72", np.e), ("0.128", gates(names, -2.0).mean()),
        ("0.007", gates(names, -5.0).mean()), ("0.005", distance(list(four(names, -5.0))[2], x0)),
        ("0.137", layer(-2.0, many)[1].T.mean()), ("8.8e-27", sigmoid(-60.0)),
        ("0.155", mean_gate(1.0)), ("0.132", mean_gate(3**-0.5)),  # n weights of U(±1/√n) have variance 1/3 in all
        # softplus
        ("0.127", np.log1p(np.exp(-2.0))), ("0.0018", share(-2.0)["highway: share"][50]),
        ("8.9e-16", share(0.0)["highway: share"][50]), ("0.71", share(-5.0)["highway: share"][50]),
        # one gate per unit and example
        ("0.092", gates(names, -2.0).min()), ("0.164", gates(names, -2.0).max()),
        ("0.007", gates(names, -2.0, 10.0).min()), ("0.847", gates(names, -2.0, 10.0).max()), ("0.24", T_six.max()),
        # no gates
        ("0.250", softmax(pre - 2).mean()), ("-4.1", np.log((1 / 64) / (1 - 1 / 64))),
        ("2.866", relu(pre).max()), ("-1.866", 1 - relu(pre).max()),
        ("2.7", beyond(names, relu, 0.0)), ("63.2", beyond(names, relu, 2.0)),
        # the figure of product and sum
        ("1.0", 1.0),
        # Change one thing
        ("67", 100 * ((sharp < 0.05) | (sharp > 0.95)).mean()), ("0.385", sharp.mean()),
        # In practice
        ("0.47", sigmoid(default).min()), ("0.53", sigmoid(default).max()),
        # parameters
        ("4160", parameters(Plain())), ("8320", parameters(Highway())),
    ]  # fmt: skip


def beyond(names, gate, gate_bias):
    """Per cent of outputs beyond the bound of the convex mix, if `gate` makes the gate."""
    x = names["many"]
    H, T = np.tanh(x @ names["W_H"].T), gate(x @ names["W_T"].T + gate_bias)
    return 100 * (np.abs(H * T + x * (1 - T)) > np.maximum(np.abs(x), np.abs(H)) + 1e-12).mean()


def mean_gate(standard_deviation):
    """Mean of σ(z) for z from N(−2, …), by quadrature."""
    z, weights = np.polynomial.hermite_e.hermegauss(60)
    return weights @ sigmoid(-2 + standard_deviation * z) / weights.sum()


def parameters(block):
    return sum(np.prod(shape) for shape in block.shapes(64).values())


def as_written(value, text):
    """`value` with as many digits as `text` has."""
    if "e" in text:
        return f"{value:.{len(text.split('e')[0]) - 2}e}"
    return f"{value:.{len(text.partition('.')[2])}f}"


def test_each_number_of_the_text_is_what_the_run_gives(names):
    for text, value in numbers_of_the_text(names):
        assert as_written(value, text) == text


def test_no_number_of_the_text_is_unchecked(names):
    found = set(
        re.findall(r"-?\d+\.\d+(?:e-\d+)?|\d{4}(?= parameters| one 4160)|4160|67(?= %)", TEXT.replace("−", "-"))
    )
    assert found == {text for text, _ in numbers_of_the_text(names)}


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("mix-code", "y = 1.10, -0.10"),
        ("bound-code", "0 of 40000 outputs lie outside"),
        ("bias-code", "gate bias  0.0: sigmoid 0.500, mean T 0.513, |y - x| 0.360"),
        ("bias-code", "gate bias -2.0: sigmoid 0.119, mean T 0.128, |y - x| 0.083"),
        ("bias-code", "gate bias -5.0: sigmoid 0.007, mean T 0.007, |y - x| 0.005"),
        ("bias-code", "drawn from N(-2, 1): mean T 0.155"),
        ("bias-code", "a fresh layer of width 64: mean T 0.132"),
        ("limits", "bias -1000: y equals x exactly: True"),
        ("limits", "bias +1000: y equals H(x): True"),
        ("limits", "sigmoid(-1000) is 0"),
        ("product-figure", "gate 0.1: slopes 0.1 and 1.0"),
        ("uncouple-code", "T = 0.5, C = 0.5: y = (1.50, -0.25)"),
        ("uncouple-code", "T = 1.0, C = 1.0: y = (3.00, -0.50)"),
        ("practice-code", "x has 3 columns, but 4 were expected"),
    ],
)
def test_cells_print_what_the_text_says(run, cell, line):
    assert line in run[1][cell]


def test_the_source_of_the_layer_reads_as_the_text_says():
    cells = {cell.id: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    text = cells["source-text"] + cells["source-see"]
    source = textwrap.dedent(inspect.getsource(Highway.forward))
    assert [code for code in re.findall(r"`([^`]+)`", text) if code not in source] == []
    lines = [ast.unparse(line) for line in ast.parse(source).body[0].body]
    product = next(i for i, line in enumerate(lines) if line.startswith("np.matmul"))
    starts = [line.split()[0] for line in lines[product + 1 :]]
    assert starts == ["work.z", "H", "T", "y", "y", "y", "return"]  # "two lines turn them into H and T", "three lines"
    # "first 1 − T, then times x, then plus H · T"
    assert re.search(r"1, T.*\n.*\*= x\n.*\+= .*H, T", "\n".join(lines[product + 4 :]))


# Sliders


def test_y_lies_between_x_and_H_and_comes_closer_to_H_with_the_bias(names):
    biases = np.arange(-10, 6.5, 0.5)
    for shift in (-1.5, 0.0, 1.5):
        frames = [names["four_units"](gate_bias=b, first_input_shift=shift) for b in biases]
        x, H, y = (np.array([frame[name] for frame in frames]) for name in frames[0])
        assert (np.minimum(x, H) - 1e-15 <= y).all()
        assert (y <= np.maximum(x, H) + 1e-15).all()
        assert (np.diff(np.abs(y - H).sum(axis=1)) < 0).all()


def test_one_shifted_input_moves_every_transform_and_every_gate(names):
    layer, x = names["layer"], names["x"]
    before, after = (layer(-2.0, np.add(x, [shift, 0, 0, 0]))[1] for shift in (0, 1))
    assert (before.x[0] != after.x[0]).sum() == 1
    assert (before.H != after.H).all()
    assert (before.T != after.T).all()


def test_the_sentence_under_the_first_slider(run):
    sentence = run[2]["look-slider"].frame["says"]
    assert "0.140, 0.164, 0.092, 0.114" in sentence
    assert "0.083 from x and 0.691 from H(x)" in sentence


def test_carries_multiply(names):
    for gate_bias in (-8.0, -2.0, 0.0):
        expected = [direct_path(sigmoid(gate_bias), layers) for layers in range(51)]
        np.testing.assert_allclose(names["share_carried"](gate_bias)["highway: share"], expected, rtol=1e-12)


def test_gates_agree_where_the_input_is_zero(names):
    np.testing.assert_array_equal(gates(names, -3.0, 0.0), sigmoid(np.full(4, -3.0)))


def test_without_gate_weights_the_gate_is_constant(names):
    """What "Change one thing" promises for sharpness = 0."""
    T = sigmoid(names["many"] @ (0 * names["W_T"].T) - 2.0)
    assert as_written(T.min(), "0.119") == as_written(T.max(), "0.119") == "0.119"


def test_softmax_is_deaf_to_the_bias_and_relu_has_no_ceiling(names):
    pre = names["many"] @ names["W_T"].T
    np.testing.assert_allclose(softmax(pre - 2), softmax(pre), rtol=1e-12)
    assert relu(pre).max() > 1
    assert all(beyond(names, gate, b) == 0 for gate in (sigmoid, softmax) for b in (-2.0, 0.0, 2.0))


# Figures


def test_motorway_lanes_are_as_wide_as_their_gates(run):
    axes = run[2]["mix-figure"].axes[0]
    lanes = [c.get_paths()[0].get_extents() for c in axes.collections]
    for unit, T in enumerate(run[0]["T_hand"]):
        arrival, carry, _ = lanes[3 * unit : 3 * unit + 3]
        transform = axes.collections[3 * unit + 2].get_paths()[0].vertices
        middle = transform[np.isclose(transform[:, 0], 4.9, atol=0.02), 1]
        assert carry.height / arrival.height == pytest.approx(1 - T)
        assert np.ptp(middle) / arrival.height == pytest.approx(T)
    words = [text.get_text() for text in axes.texts]
    assert {"y = 1.10", "y = −0.10", "transform lane: T = 0.8", "carry lane: 1 − T = 0.9"} <= set(words)


def test_gate_map_writes_each_gate():
    T = np.array([[0.1, 0.9], [0.5, 0.25]])
    axes = figures.gate_map(T).axes[0]
    assert [text.get_text() for text in axes.texts] == ["0.10", "0.90", "0.50", "0.25"]
    np.testing.assert_array_equal(axes.images[0].get_array(), T)
    assert axes.images[0].get_clim() == (0, 1)


def test_a_factor_turns_the_line_and_a_summand_shifts_it():
    left, right = figures.product_and_sum(1.0, [-2, 2], [0.1, 0.5, 0.9]).axes
    slopes = [[np.diff(line.get_ydata())[0] / 4 for line in axes.lines] for axes in (left, right)]
    np.testing.assert_allclose(slopes, [[0.1, 0.5, 0.9], [1, 1, 1]])


def test_only_the_residual_corner_lies_off_the_diagonal():
    axes = figures.gate_square().axes[0]
    diagonal, *points = axes.lines
    labels = {text.get_text(): text for text in axes.texts}
    assert labels.pop("highway: C = 1 − T").get_rotation() == 315  # along the line
    np.testing.assert_allclose(np.add(*diagonal.get_data()), 1)
    off = [
        label for point, label in zip(points, labels, strict=True) if point.get_xdata()[0] + point.get_ydata()[0] != 1
    ]
    assert off == ["residual: y = x + H"]


# Checks of the exercises


@pytest.mark.parametrize(
    ("check", "answer", "right", "word"),
    [
        ("carry_bias", 2, True, ""),
        ("carry_bias", -2.0, False, "sign"),
        ("carry_bias", 0, False, "0.881"),
        ("carry_bias", None, False, "None"),
        ("carry_bias", "two", False, "number"),
        ("start_bias", -4.6, True, ""),
        ("start_bias", np.float64(-4.595), True, ""),
        ("start_bias", 4.595, False, "sign"),
        ("start_bias", np.log(0.01), False, "1 − T"),
        ("start_bias", -1.996, False, "base 10"),
        ("start_bias", 0.0101, False, "odds"),
        ("start_bias", -3, False, "too large"),
        ("stack_bias", -3.902, True, "-3.902."),
        ("stack_bias", -np.log(50), False, "rule of thumb"),
        ("stack_bias", 3.902, False, "sign"),
        ("stack_bias", 0.0202, False, "logarithm"),
        ("stack_bias", -5.0, False, "too small"),
        ("uncoupled", lambda x, H, T, C: H * T + x * C, True, "x + H"),
        ("uncoupled", lambda x, H, T, C: H * T + x * (1 - T), False, "never uses C"),
        ("uncoupled", lambda x, H, T, C: H * C + x * T, False, "exchanged"),
        ("uncoupled", lambda x, H, T, C: H * T + x, False, "multiply x by C"),
        ("uncoupled", lambda x, H, T, C: H + x * C, False, "multiply H by T"),
        ("uncoupled", lambda x, H, T, C: H * (1 - C) + x * C, False, "never uses T"),
        ("uncoupled", lambda x, H, T, C: x + H, False, "1.25"),
        ("uncoupled", lambda x, H, T, C: (H * T + x * C).sum(), False, "shape ()"),
        ("uncoupled", lambda x, H, T, C: None, False, "None"),
        ("uncoupled", lambda x, H: H, False, "TypeError"),
        ("uncoupled", lambda x, H, T, C: np.multiply(H, T, out=H) + x * C, False, "writes into"),
        ("uncoupled", 3, False, "function"),
    ],
)
def test_checks_accept_what_is_right_and_explain_what_is_wrong(check, answer, right, word):
    verdict = getattr(exercises, f"check_{check}")(answer)
    assert bool(verdict) is right
    assert word in verdict.sentence


def test_right_answers_are_right():
    """The checks against their definitions, not against themselves."""
    assert sigmoid(2.0) == pytest.approx(1 - sigmoid(-2.0))
    assert sigmoid(-4.595) == pytest.approx(0.01, abs=1e-5)
    assert (1 - sigmoid(-3.902)) ** 50 == pytest.approx(np.exp(-1), abs=2e-4)
