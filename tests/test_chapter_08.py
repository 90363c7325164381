"""Chapter 8 and its appendix page: each number in the text comes from the run; figures and checks do their part.

Trainings here are made in the cells, so they differ a little between processors: the text says roughly what holds
anywhere, and these tests allow for the rest.
"""

import re

import nbformat
import numpy as np
import pytest
import reading
import torch
from conftest import BOOK
from matplotlib.colors import to_hex
from nbclient import NotebookClient

from highway_lessons import Highway, Network, exercises, figures, published, sigmoid, tau
from highway_lessons import pytorch as pt
from highway_lessons.exercises import pytorch as checks
from highway_lessons.palette import OTHERS

CHAPTER = BOOK / "chapters" / "08-write-it-in-pytorch.ipynb"
APPENDIX = BOOK / "appendix" / "width-and-convolution.ipynb"
TEXT = reading.prose(CHAPTER).replace("−", "-")
APPENDIX_TEXT = reading.prose(APPENDIX).replace("−", "-")


@pytest.fixture(scope="module")
def page():
    return reading.run(APPENDIX)


def rows(shown):
    """The rows of a table as lists of text, without its header."""
    return [[entry.strip() for entry in line.strip("|").split("|")] for line in shown.data.splitlines()[2:]]


def said(number, text=TEXT):
    assert number in text, number
    return True


# Look first


def test_the_learning_curve_shows_a_lost_gate_bias_in_a_deep_stack_only(names):
    """Shallow: all three end alike. Deep: the lost bias is far behind, and the forgotten transpose still is not."""
    loss = {
        (mistake, depth): names["in_pytorch"](depth, mistake)[1][-1]
        for mistake in ("none", "matrices not transposed", "gate bias lost")
        for depth in (2, 20)
    }
    for depth in (2, 20):
        assert loss["none", depth] == pytest.approx(names["in_numpy"](depth)[2][-1], rel=0.02)
        assert loss["matrices not transposed", depth] < 1.3 * loss["none", depth]
    assert loss["gate bias lost", 2] < 1.3 * loss["none", 2]
    assert loss["gate bias lost", 20] > 2 * loss["none", 20]
    stuck = names["in_pytorch"](20, "gate bias lost")[1]
    assert all(value > 2.2 for value in stuck[:3])


def test_the_first_logits_show_every_mistake(names):
    """Less than a millionth for the right copy, more than a hundredth for each wrong one, at both depths."""
    for depth in (2, 20):
        assert names["in_pytorch"](depth, "none")[0] < 1e-6
        for mistake in ("matrices not transposed", "gate bias lost"):
            assert names["in_pytorch"](depth, mistake)[0] > 0.01
    said("by less than a millionth")
    said("by more than a hundredth")


def test_the_sentence_under_the_slider(run, names):
    says = run.shown["look-slider"].frame["says"]
    ours, theirs = re.findall(r"(?:NumPy|PyTorch) (\d\.\d\d)", says)
    assert ours == theirs == f"{names['in_numpy'](2)[2][-1]:.2f}"
    assert re.search(r"logits differ by up to \de-0\d\.", says)


def test_every_curve_is_within_the_sliders_axes(names):
    for mistake in ("none", "matrices not transposed", "gate bias lost"):
        for depth in (2, 20):
            for values in names["curves"](mistake, depth).values():
                assert len(values) == 6
                assert 0.1 < min(values) <= max(values) < 3


# The layer, and the home of its gate bias


def test_a_layer_has_the_published_numbers(run):
    printed = run.printed["layer-print"]
    for line in ("parameters: 8320", "of a plain layer: 4160", "every gate bias: {-2.0}", "width=64, gate_bias=-2"):
        assert line in printed
    said("8320 parameters, twice the 4160 of a plain layer, and 64 gate biases of -2")


def test_conventions_hold_in_the_cell(run):
    printed = run.printed["layer-conventions-code"]
    assert re.findall(r"(torch\.\w+) in and out: (torch\.\w+)", printed) == [
        (f"torch.{name}", f"torch.{name}") for name in ("float64", "float32", "bfloat16")
    ]
    assert "meta (2, 64)" in printed
    assert "equal after loading: True" in printed


def test_the_quiz_on_conventions_is_right():
    """A −2 made in `forward` fails on the meta device, and turns bfloat16 into float32."""
    gate = torch.nn.Linear(64, 64, device="meta")
    with pytest.raises((RuntimeError, NotImplementedError)):
        gate(torch.ones(2, 64, device="meta")) + torch.full((64,), -2.0)
    assert (torch.ones(2, 64, dtype=torch.bfloat16) + torch.full((64,), -2.0)).dtype == torch.float32


def test_only_the_usual_home_loses_the_gate_bias(run):
    usual, *others = rows(run.shown["bias-table"])
    assert (float(usual[1]), float(usual[2])) == (pytest.approx(0.12, abs=0.011), pytest.approx(0.5, abs=0.06))
    assert len(others) == 2
    for _, before, after in others:
        assert float(before) == pytest.approx(0.12, abs=0.021)
        assert float(after) == pytest.approx(0.12, abs=0.031)
    said("about a half instead of about 0.12")


def test_shares_that_cross_after_the_loss(run):
    found = re.findall(r"(\d+) blocks: direct path (\S+) at -2, (\S+) at 0", run.printed["bias-tau"])
    for depth, kept, left in found:
        assert float(kept) == pytest.approx((1 - sigmoid(-2.0)) ** int(depth), rel=0.05)
        assert float(left) == pytest.approx(0.5 ** int(depth), rel=0.05)
        assert np.exp(-tau(0.0, int(depth))) == pytest.approx(0.5 ** int(depth))
    assert [depth for depth, *_ in found] == ["2", "20", "50"]
    said("At 2 blocks a quarter of the signal still crosses; at 20 a millionth")
    said("the direct path is still 3 %")
    assert round(100 * 0.5**5) == 3


# The copy


def test_f9_is_the_published_figure(run):
    printed = run.printed["copy-f9"]
    for name in ("NumPy", "PyTorch"):
        (line,) = [line for line in printed.splitlines() if line.startswith(f"{name} ")]
        assert line.split()[1:] == ["-0.0732", "-0.1108", "0.1140", "-0.1583"]
    assert float(re.search(r"all logits: (\S+)", printed)[1]) <= 1e-15
    assert "to the last bit: True" in printed
    said("-0.0732, -0.1108, 0.1140 and -0.1583")
    said("NumPy and PyTorch differ by at most 1e-15")


def test_the_transpose_trap_in_the_cell(run):
    printed = run.printed["copy-trap"]
    assert float(re.search(r"x @ W.T differ by up to (\S+)", printed)[1]) == pytest.approx(2.3, abs=0.05)
    assert float(re.search(r"off by up to (\S+)", printed)[1]) == pytest.approx(0.5, abs=0.05)
    assert "the head, not transposed: The size of tensor a" in printed
    said("a product is off by about 2.3, the logits by about half")


def test_all_gradients_agree_and_none_of_a_wrong_copy(run, names):
    right, wrong = (list(names["found"][panel].values()) for panel in ("right copy", "not transposed"))
    assert len(right) == len(wrong) == 84 == 4 * 20 + 4
    said("all 84 arrays")
    assert max(right) < 1e-13
    said("to 13 digits")
    blocks = [gap for name, gap in names["found"]["not transposed"].items() if name.startswith("blocks.")]
    assert min(blocks) > 0.05
    assert np.median(blocks) > 0.4
    assert run.printed["copy-gradients-run"].count("84 arrays") == 2


def test_a_detached_carry_has_the_same_outputs_and_sends_nothing_back():
    """The quiz."""
    layer, x = pt.HighwayLayer(6, dtype=torch.float64), torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    H, T = torch.relu(layer.transform(x)), torch.sigmoid(layer.gate(x) + layer.b_T)
    wrong = H * T + x.detach() * (1 - T)
    assert torch.equal(wrong, layer(x))
    (ours,), (theirs,) = torch.autograd.grad(layer(x).sum(), x), torch.autograd.grad(wrong.sum(), x)
    torch.testing.assert_close(ours - theirs, (1 - T).detach())


# Both trained


def test_both_reach_the_published_accuracy(run, names):
    """F6, highway of 5 blocks."""
    (row,) = [
        row
        for row in published.ROWS
        if row.figure == "F6" and published.name(row.block) == "highway (−2)" and row.depth == 5
    ]
    lines = run.printed["train-both"].splitlines()
    assert [line.split()[0] for line in lines] == ["NumPy", "PyTorch"]
    for line in lines:
        accuracy, loss = map(float, re.findall(r"\d\.\d+", line))
        assert accuracy == pytest.approx(row.accuracy, abs=0.02)
        assert loss == pytest.approx(row.loss, abs=0.01)
    assert lines[0].split(maxsplit=1)[1] == lines[1].split(maxsplit=1)[1]


@pytest.fixture(scope="module")
def gaps(names):
    return [gap["NumPy and PyTorch"] for gap in names["between"].values()]


def test_how_long_the_two_stay_one(names, gaps):
    slow, fast, single = gaps
    assert names["loss_gap"](*names["both"]("float64", 1e-3), epochs=30).max() < 1e-14
    assert slow.max() < 1e-14
    said("the same to fourteen digits, in all 30 epochs, that is, after 600 updates")
    assert 30 * -(-1257 // 64) == 600
    assert fast[9] < 1e-11, "after ten epochs a dozen digits agree"
    assert 1e-12 < fast[19] < 1e-6, "after twenty about nine"
    growth = (fast[19] / fast[4]) ** (1 / 15)
    assert 1.7 < growth < 3.6, "a g between 2 and 3"
    assert 1e-9 < single[0] < 1e-6
    assert single[:9].max() < 1e-4


def test_the_control_parts_as_the_libraries_do(names, gaps):
    slow, fast, single = (control["NumPy, units reordered"] for control in names["control"].values())
    assert np.max(slow) < 1e-14
    for row in fast:
        assert abs(np.log10(row[19] / gaps[1][19])) < 2.5
    ends = [gap.max() for gap in (gaps[2], *single)]
    assert max(ends) > 1e-4, "somebody leaps"
    assert max(ends) / min(ends) > 10, "and not everybody"


def test_units_in_another_order_are_the_same_network(names):
    network = Network(Highway(-1.0), 3, 6, 4, 2)
    params, x = network.initialise(0), np.random.default_rng(1).normal(size=(5, 4))
    order = np.array([3, 0, 5, 1, 4, 2])
    twin = names["reordered"](params, order)
    (logits, cache), (again, other) = network.forward(params, x), network.forward(twin, x)
    np.testing.assert_allclose(again, logits, atol=1e-15)
    for h, reordered in zip(cache.h, other.h, strict=True):
        np.testing.assert_allclose(reordered, h[:, order], atol=1e-15)
    assert not np.array_equal(params.flat, twin.flat)


def test_the_table_of_gaps_is_the_run(run, names, gaps):
    for row, gap, (name, histories) in zip(
        rows(run.shown["train-gaps-table"]), gaps, names["RUNS"].items(), strict=True
    ):
        assert row[0] == name
        found = [f"{value:.0e}".replace("-", "−") for value in (gap[0], gap[9], gap[19], gap.max())]
        assert row[1:5] == found
        ends = [history["test_accuracy"][19] for history in histories]
        assert abs(ends[0] - ends[1]) < 0.01, "less than a point: no difference"
        assert row[6] == ", ".join(f"{100 * end:.1f}" for end in ends)


def test_the_chaotic_net_of_the_published_figures(names):
    nudged = published.record()["nudged"]
    said(f"between {min(nudged):.2f} and {max(nudged):.2f}")


def test_change_one_thing_prints_ten_gaps(run):
    first, second = run.printed["change-code"].splitlines()
    assert len(re.findall(r"\de[+-]\d\d", first)) == 10
    assert second.startswith("first above 1e-14: ")


# Figures


def test_gaps_are_drawn_on_a_logarithmic_axis_with_zeros_at_the_foot():
    panels = {"one": {"a": [0, 1e-3], "b": [1e-5, 1e-4]}, "two": {"a": [1, 1]}}
    controls = {"one": {"control": [[1e-6, 1e-6], [1e-7, 0]]}}
    figure = figures.gaps(panels, "epoch", "gap", (1e-8, 10), controls)
    one, two = figure.axes
    lines = {line.get_label(): line for line in one.lines}
    assert lines["a"].get_ydata().tolist() == [1e-8, 1e-3]
    assert lines["b"].get_xdata().tolist() == [1, 2]
    grey = [line.get_ydata().tolist() for line in one.lines if line.get_label().startswith("control")]
    assert grey == [[1e-6, 1e-6], [1e-7, 1e-8]]
    assert to_hex(lines["a"].get_color()) == OTHERS[0].light.lower() == to_hex(two.lines[0].get_color())
    assert lines["a"].get_linestyle() != lines["b"].get_linestyle()
    assert (one.get_yscale(), one.get_ylim(), two.get_xlabel(), one.texts[0].get_text()) == (
        "log", (1e-8, 10), "epoch", "one"
    )  # fmt: skip
    assert [text.get_text() for text in figure.legends[0].texts] == ["a", "b", "control"]


# Checks of the exercises


def groups(*, decay_gate=False, decay_matrices=True, leave_out=False):
    def answer(model):
        gate = [p for name, p in model.named_parameters() if name.endswith("b_T")]
        rest = [p for name, p in model.named_parameters() if not name.endswith("b_T")]
        found = [
            {"params": gate, "weight_decay": 0.01 if decay_gate else 0},
            {"params": rest, "weight_decay": 0.01 if decay_matrices else 0},
        ]
        return found[1:] if leave_out else found

    return answer


def convert(sign_weight=-1, sign_bias=-1, swap=False):
    def answer(weight, bias):
        (A_H, A_C), (b_H, b_C) = weight.chunk(2), bias.chunk(2)
        if swap:
            A_H, A_C, b_H, b_C = A_C, A_H, b_C, b_H
        return {
            "transform.weight": A_H,
            "transform.bias": b_H,
            "gate.weight": sign_weight * A_C,
            "b_T": sign_bias * b_C,
        }

    return answer


@pytest.mark.parametrize(
    ("check", "answer", "right", "word"),
    [
        ("float32_gap", 1e-7, True, "units in the last place"),
        ("float32_gap", np.float64(2e-8), True, ""),
        ("float32_gap", 1e-16, False, "24 binary digits"),
        ("float32_gap", 1e-3, False, "too large"),
        ("float32_gap", 1e-11, False, "too small"),
        ("float32_gap", -1e-7, False, "above 0"),
        ("float32_gap", None, False, "None"),
        ("decayed_gate", 0.324, True, ""),
        ("decayed_gate", -0.736, False, "the gate is its sigmoid"),
        ("decayed_gate", 0.119, False, "at the start"),
        ("decayed_gate", 0.368, False, "share of the gate bias"),
        ("decayed_gate", 0.0439, False, "not the gate"),
        ("decayed_gate", 0.5, False, "a good third"),
        ("decayed_gate", 0.9, False, "too large"),
        ("decayed_gate", None, False, "None"),
        ("groups", groups(), True, "every gate bias stays"),
        ("groups", groups(decay_gate=True), False, "blocks.0.b_T still decays"),
        ("groups", groups(decay_matrices=False), False, "does not decay, though it is a matrix"),
        ("groups", groups(leave_out=True), False, "2 parameters are in no group"),
        ("groups", lambda model: [], False, "AdamW does not take these groups"),
        ("groups", lambda model: model.nothing, False, "stopped with AttributeError"),
        ("groups", lambda model: None, False, "None"),
        ("groups", None, False, "a function groups(model) is expected"),
        ("from_carry_gate", convert(), True, "on six examples"),
        ("from_carry_gate", convert(1, 1), False, "the gate has the wrong sign"),
        ("from_carry_gate", convert(-1, 1), False, "its bias has not"),
        ("from_carry_gate", convert(1, -1), False, "its matrix has not"),
        ("from_carry_gate", convert(1, 1, swap=True), False, "the halves are exchanged"),
        ("from_carry_gate", convert(-1, -1, swap=True), False, "the halves are exchanged"),
        ("from_carry_gate", convert(2, 2), False, "differ by up to"),
        ("from_carry_gate", lambda weight, bias: {"b_T": bias}, False, "load_state_dict does not take it"),
        ("from_carry_gate", lambda weight, bias: None, False, "None"),
        ("from_carry_gate", 3, False, "a function convert(weight, bias) is expected"),
    ],
)
def test_checks_accept_what_is_right_and_explain_what_is_wrong(check, answer, right, word):
    verdict = getattr(exercises, f"check_{check}")(answer)
    assert bool(verdict) is right, verdict
    assert word in verdict.sentence
    assert "\n" not in verdict.sentence


def test_the_decay_is_that_of_pytorchs_adamw():
    """A hundred updates with gradients of 0, then the law that the exercise asks for."""
    b_T = torch.nn.Parameter(torch.full((1,), -2.0, dtype=torch.float64))
    optimiser = torch.optim.AdamW([b_T])
    assert (optimiser.defaults["lr"], optimiser.defaults["weight_decay"]) == (0.001, 0.01)
    for _ in range(100):
        b_T.grad = torch.zeros_like(b_T)
        optimiser.step()
    assert b_T.item() == pytest.approx(-2 * (1 - 1e-5) ** 100, rel=1e-12)


def test_the_gap_in_float32_is_measured():
    assert 1e-9 < checks.float32_gap() < 1e-6


# The appendix page


def test_resizing_as_the_page_prints_it(page):
    printed = page.printed["width-example"]
    assert "padded to ten:        1 2 3 4 5 6 7 8 0 0" in printed
    assert "sub-sampled to four:  1 3 5 7" in printed
    assert "sub-sampled to three: 1 3 6" in printed


def mean(entry):
    return float(entry.split(" ")[0])


def test_three_ways_to_change_the_width(page):
    table = {(row[0], row[1]): row[2:] for row in rows(page.shown["width-table"])}
    wider, padded = table["32 to 64", "plain layer"], table["32 to 64", "zero-padding"]
    narrower, sampled = table["64 to 32", "plain layer"], table["64 to 32", "sub-sampling"]
    assert [int(row[0]) for row in (wider, padded, narrower, sampled)] == [2112, 4224, 2080, 4160]
    carry = 1 - sigmoid(-2.0)
    for row, share, text in (
        (wider, (1 / 6) ** 0.5, "0.41"),
        (narrower, (1 / 6) ** 0.5, "0.41"),
        (padded, carry / 2**0.5, "0.62"),
        (sampled, carry, "0.88"),
    ):
        assert f"{share:.2f}" == text
        assert mean(row[1]) == pytest.approx(share, abs=0.02)
        said(f"passes on {text}" if text != "0.88" else "passes on just that, 0.88", APPENDIX_TEXT)
    for one, other in ((wider, padded), (narrower, sampled)):
        (low, high), (lowest, highest) = (map(float, re.findall(r"[\d.]+", row[2])[1:]) for row in (one, other))
        assert low < highest + 0.5, "the ranges over seeds overlap"
        assert lowest < high + 0.5


def test_only_the_right_convolutional_block_carries_its_input(page):
    right, wrong = page.printed["conv-check"].splitlines()
    assert right == "HighwayConv2d: shape (2, 8, 8, 8), y equals x: True"
    assert wrong == "CarriesTheConvolved: shape (2, 8, 8, 8), y equals x: False"


def test_the_convolutional_net_trains(page):
    none, four = rows(page.shown["conv-table"])
    assert [none[:2], four[:2]] == [["0", "5210"], ["4", "9882"]]
    assert mean(none[2]) == pytest.approx(94, abs=1)
    assert mean(four[2]) == pytest.approx(95.4, abs=1)
    said("it reaches about 95 % in ten epochs, without blocks about 94 %", APPENDIX_TEXT)


# Without PyTorch


@pytest.mark.parametrize("path", [CHAPTER, APPENDIX], ids=["chapter", "appendix"])
def test_without_pytorch_the_first_cell_says_one_sentence(path):
    missing = nbformat.v4.new_code_cell('import sys\n\nsys.modules["torch"] = None')
    first = next(cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    client = NotebookClient(nbformat.v4.new_notebook(cells=[missing, first]), timeout=120, allow_errors=True)
    client.execute()
    (error,) = first.outputs
    assert error["output_type"] == "error"
    (sentence,) = error["traceback"]
    assert re.fullmatch(r"This page needs PyTorch, .*: run  pip install torch .* then restart the kernel\.", sentence)
