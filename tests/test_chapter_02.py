"""Chapter 2: each number in the text comes from the chapter's own cells; sliders, figures and checks do what they say.

The cells run here, in one namespace, as a reader would run them: the tests use the chapter's functions, not copies.
"""

import ast
import inspect
import re
import textwrap

import numpy as np
import pytest
from conftest import BOOK
from reading import prose, run

from highway_lessons import Adam, Highway, Network, check_gradients, exercises, figures, fit, sigmoid
from highway_lessons.functions import relu_derivative, sigmoid_derivative, tanh_derivative
from highway_lessons.gradients import block_jacobian, highway_jacobian_terms
from highway_lessons.notebook import BUILDING_BOOK
from highway_lessons.optimizers import Recorder

CHAPTER = BOOK / "chapters" / "02-backpropagate-through-a-gate.ipynb"
TEXT = prose(CHAPTER).replace("−", "-")
TERMS = ("transform", "carry", "gate")


@pytest.fixture(scope="module")
def chapter():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(BUILDING_BOOK, "1")  # no progress bars
        yield run(CHAPTER)


@pytest.fixture(scope="module")
def names(chapter):
    return chapter.names


def largest_gradient(activation):
    """The largest entry of the gradient of the small network that the checks use."""
    network, params, x, labels = exercises.small_network(Highway(-2.0, activation))
    return abs(network.loss_and_gradients(params, x, labels)[1].flat).max()


def relu_error(step):
    return max(check_gradients(*exercises.small_network(Highway(-2.0)), step=step).values())


# Numbers in the text

# Set by the text itself: gates, weights and steps to try, a learning rate, a quiz.
GIVEN = {"0.1", "0.5", "1.5", "-2.0", "0.001", "0.01", "0.003"}


def numbers_of_the_text(names):
    """Each decimal that a run gives, before training: as it stands in the text, and the value."""
    shut, low = sigmoid(-5.0), sigmoid(-2.0)
    blocks = names["per_block"](0)
    start = {measure: {n: rows[:, 0].mean() for n, rows in terms.items()} for measure, terms in names["sizes"].items()}
    norm, stretch = start["Frobenius norm"], start["largest singular value"]
    return [
        # the first slider
        ("0.86", crossing()), ("0.50", abs(names["routes"](-3.0, 1.0)["gate"].y).max()),
        ("0.11", abs(names["routes"](0.0, 1.0)["gate"].y).max()),
        *[
            (size, abs(names["routes"](sign * bias, 1.0)["gate"].y).max())
            for size, bias in (("0.39", 2.0), ("0.39", 4.0), ("0.21", 5.0), ("0.09", 6.0))
            for sign in (-1, 1)
        ],
        # the three factors
        ("0.119", low), ("0.881", 1 - low), ("0.88", 1 - low), ("0.12", 1 - sigmoid(2.0)),
        ("0.105", sigmoid_derivative(low)), ("0.25", sigmoid_derivative(0.5)),
        ("0.0067", shut), ("0.9933", 1 - shut), ("0.0066", sigmoid_derivative(shut)),
        # finite differences
        ("2.2", 1e16 * np.finfo(np.float64).eps), ("1.2", 1e7 * np.finfo(np.float32).eps),
        ("0.17", largest_gradient("relu")), ("0.2", names["errors"]["float32"][-1]),
        # Change one thing; the text writes these times powers of ten
        *[(str(e), e10 * relu_error(step)) for e, e10, step in ((6.5, 1e3, 0.1), (1.1, 1e3, 0.01))],
        *[("5.5", value) for value in (1e4 * names["errors"]["float64"][0], 1e6 * names["errors"]["float64"][1])],
        # the three terms at the start
        ("0.10", blocks["gate"].mid[0]), ("0.02", blocks["gate"].mid[-1]),
        ("0.4", norm["transform"]), ("7.0", norm["carry"]), ("0.05", norm["gate"]),
        ("0.1", stretch["transform"]), ("0.02", stretch["gate"]),
    ]  # fmt: skip


# After training: measure, term, lowest and highest of the three seeds as the text says them.
TRAINED = [
    ("Frobenius norm", "gate", "1.1", "1.4"),
    ("Frobenius norm", "transform", "1.6", "1.8"),
    ("Frobenius norm", "carry", "7.3", "7.3"),
    ("largest singular value", "gate", "0.8", "1.0"),
    ("largest singular value", "transform", "0.9", "1.0"),
    ("largest singular value", "carry", "1.0", "1.0"),
]


def crossing():
    """Where tanh(1.5 x) = x, above 0."""
    x = 1.0
    for _ in range(100):
        x = np.tanh(1.5 * x)
    return x


def as_written(value, text):
    """`value` with as many digits as `text` has."""
    return f"{value:.{len(text.partition('.')[2])}f}"


def test_each_number_of_the_text_is_what_the_run_gives(names):
    for text, value in numbers_of_the_text(names):
        assert as_written(value, text) == text


@pytest.mark.parametrize(("measure", "term", "low", "high"), TRAINED)
def test_trained_terms_are_as_large_as_the_text_says(names, measure, term, low, high):
    """To within 0.07: rounding in another linear algebra library moves a training a little."""
    rows = names["sizes"][measure][term][:, 1]
    assert len(rows) == 3
    assert rows.min() == pytest.approx(float(low), abs=0.07)
    assert rows.max() == pytest.approx(float(high), abs=0.07)


def test_no_number_of_the_text_is_unchecked(names):
    found = set(re.findall(r"-?\d+\.\d+", TEXT))
    trained = {number for *_, low, high in TRAINED for number in (low, high)}
    accuracy = {"0.92"}  # of both gradients, see Change one thing
    assert found == GIVEN | trained | accuracy | {text for text, _ in numbers_of_the_text(names)}


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("unit-code", "transform 0.20, carry 0.90, gate 0.09"),
        ("unit-code", "sum 1.19, measured with two runs 1.19"),
        ("unit-figure", "-2  0.1192  0.8808  0.1050"),
        ("unit-figure", "-5  0.0067  0.9933  0.0066"),
        ("prove-code", "largest entry of the gradient: 0.17"),
        ("exercise-1-solution", "W_H: 17.8 times smaller, W_T: 15.8 times smaller"),
    ],
)
def test_cells_print_what_the_text_says(chapter, cell, line):
    assert line in chapter.printed[cell]


# The table of mathematics beside code

ROWS = re.findall(r"^\| \$.*\$ \| `(.+)` \|$", TEXT, re.MULTILINE)


def test_the_table_has_each_line_that_computes_and_no_other():
    _, *lines, last = ast.parse(textwrap.dedent(inspect.getsource(Highway.backward))).body[0].body  # _: the docstring
    fetch, compute = lines[:2], lines[2:]
    assert all(isinstance(line.targets[0], ast.Tuple) for line in fetch)  # "the first two lines fetch"
    assert not re.search(r"np\.| [-+*/@]", "\n".join(map(ast.unparse, fetch)))  # and compute nothing
    assert isinstance(last, ast.Return)
    assert [ast.unparse(line) for line in compute] == ROWS  # without the comments
    assert len(ROWS) == 10  # "the other ten compute"


def test_each_line_of_the_table_computes_the_mathematics_beside_it():
    """The left column, written out, against what the lines of the right column leave behind, one after the other."""
    rng, block = np.random.default_rng(0), Highway(-1.0, "tanh")
    x, dy = rng.normal(size=(2, 4, 3))
    params = block.initialise(rng, width=3)
    _, (_, H, T) = block.forward(params, x)
    flat = np.concatenate([params[name].ravel(order="F") for name in block.shapes(3)])
    work = block.workspace(3, flat, np.empty_like(flat), batch=4)
    dz_H, dz_T = dy * T * (1 - H**2), dy * (H - x) * T * (1 - T)
    through_weights = dz_H @ params["W_H"].T + dz_T @ params["W_T"].T
    mathematics = [
        dy * T, dy * (1 - T), dz_H,
        H - x, dy * (H - x) * (1 - T), dz_T,
        through_weights, dy * (1 - T) + through_weights,
        np.hstack([x.T @ dz_H, x.T @ dz_T]), np.hstack([dz_H.sum(axis=0), dz_T.sum(axis=0)]),
    ]  # fmt: skip
    names = {"np": np, "work": work, "x": x, "H": H, "T": T, "dy": dy, "slope": tanh_derivative}
    for line, result in zip(ROWS, mathematics, strict=True):
        exec(line, names)
        written = re.match(r"(\w+) \*?\+?= ", line) or re.search(r"out=([\w.]+)", line)
        np.testing.assert_allclose(eval(written[1], names), result, rtol=1e-12, atol=1e-15, err_msg=line)


def test_the_first_unit_is_that_of_chapter_1(names):
    y, H, T = names["unit"](1.0)
    assert (y, H, T) == pytest.approx((1.1, 2.0, 0.1))


# What the text says in words


def test_the_gate_route_is_largest_at_plus_and_minus_3_and_closed_where_H_is_x(names):
    largest = {bias: abs(names["routes"](float(bias), 1.0)["gate"].y).max() for bias in range(-8, 9)}
    assert sorted(sorted(largest, key=largest.get)[-2:]) == [-3, 3]
    x = names["inputs"]
    for gate_bias in (-8.0, -2.0, 0.0, 5.0):  # positive where H is above x, negative where it is below
        gate = names["routes"](gate_bias, 2.0)["gate"].y
        np.testing.assert_array_equal(np.sign(gate[x >= 0]), np.sign(np.where(x < crossing(), x, -x)[x >= 0]))
    assert abs(names["routes"](-8.0, 1.0)["carry"].y - 1).max() < 0.01  # "within 1 % of 1 everywhere"
    assert abs(names["routes"](8.0, 1.0)["all three"].y - names["routes"](8.0, 1.0)["transform"].y).max() < 0.03


def test_only_the_gate_route_can_be_negative(names):
    frames = [names["routes"](float(b), w) for b in range(-8, 9, 2) for w in (-2.0, 1.0)]
    lowest = {name: min(frame[name].y.min() for frame in frames) for name in TERMS}
    assert lowest["gate"] < -0.5
    assert lowest["transform"] > 0
    assert lowest["carry"] > 0


def test_the_three_routes_add_up_to_the_slope_of_the_unit(names):
    frame = names["routes"](-2.0, 1.0)

    def y(x):
        T = sigmoid(x - 2)
        return np.tanh(1.5 * x) * T + x * (1 - T)

    x, step = frame["all three"].x, 1e-6
    np.testing.assert_allclose(frame["all three"].y, (y(x + step) - y(x - step)) / (2 * step), atol=1e-9)


def test_row_form_and_column_form_are_transposes_and_hold_both_limits():
    """The chapter's formulas, written out once more, against the package."""
    rng = np.random.default_rng(1)
    for gate_bias in (-800.0, -1.0, 0.0, 800.0):
        block = Highway(gate_bias, "tanh")
        params, x = block.initialise(rng, 5), rng.normal(size=5)
        _, (_, (H,), (T,)) = block.forward(params, x[None, :])
        J_H = np.diag(1 - H**2) @ params["W_H"].T
        column = np.diag(T) @ J_H + np.diag(1 - T) + np.diag(T * (1 - T) * (H - x)) @ params["W_T"].T
        np.testing.assert_allclose(block_jacobian(block, params, x), column.T, atol=1e-14)
        np.testing.assert_allclose(sum(highway_jacobian_terms(block, params, x).values()), column.T, atol=1e-14)
        if abs(gate_bias) == 800:
            np.testing.assert_allclose(column, J_H if gate_bias > 0 else np.eye(5), atol=1e-14)


def test_the_map_of_the_jacobian_looks_as_described(names):
    transform, carry, gate = (names["terms"][name] for name in TERMS)
    np.testing.assert_array_equal(carry, np.diag(carry.diagonal()))
    empty = (transform == 0).all(axis=0)
    assert 0 < empty.sum() < 6
    assert (gate != 0).all()
    assert abs(carry).max() > abs(transform).max() > abs(gate).max()


def test_f4_of_the_small_network(chapter):
    numbers = [float(n) for n in re.findall(r"(?:W_H|W_T|b_T|network) (\S+e-\d+)", chapter.printed["prove-code"])]
    assert len(numbers) == 6
    assert max(numbers) < 1e-9  # "of the order 1e-10"


def test_the_V_is_as_described(names):
    steps, errors = names["steps"], names["errors"]
    double, single, wrong = errors.values()
    at = {round(np.log10(step)): index for index, step in enumerate(steps)}
    assert steps[double.argmin()] == pytest.approx(1e-5)
    assert double[at[-5]] < 1e-10
    for power in (-1, -2):  # a tenth of the step, a hundredth of the error
        assert double[at[power]] / double[at[power - 1]] == pytest.approx(100, rel=0.1)
    assert 3e3 < double[at[-10]] / double[at[-6]] < 3e4  # "ten thousand times larger"
    assert steps[single.argmin()] == pytest.approx(1e-2)
    assert 3e-6 < single[at[-2]] < 3e-5  # "about 1e-5"
    assert single[at[-6]] > 0.01
    assert single[at[-10]] == pytest.approx(largest_gradient("tanh"), rel=1e-3)  # "the gradient itself"
    assert wrong.max() / wrong.min() < 1.5
    assert 1e-3 < wrong.min() < 3e-3


def test_change_one_thing_a_relu_has_a_kink(names):
    double = names["errors"]["float64"]
    assert relu_error(0.1) > 10 * double[0]
    assert relu_error(0.01) > 100 * double[1]
    assert relu_error(1e-3) < 3 * double[2]
    assert double[7] / 3 < relu_error(1e-8) < 3 * double[7]


def test_terms_grow_when_the_text_says(names):
    first, second, third, last = (
        {name: band.mid for name, band in names["per_block"](epoch).items()} for epoch in (0, 1, 3, 15)
    )
    assert (second["gate"] < 1.6 * first["gate"]).all()  # "in the first epoch little happens"
    before = {name: band.mid for name, band in names["per_block"](2).items()}
    for name in ("gate", "transform"):
        assert (third[name] > 1.5 * before[name]).all()  # "in the third, both jump in every block"
    assert (np.diff(first["gate"]) < 0.01).all()  # it falls from block to block, as the activations do
    _, cache = names["network"].forward(names["network"].initialise(0), names["data"].x_test)
    distances = [np.linalg.norm(c.H - c.x) for c in cache.blocks]
    assert distances[-1] < 0.5 * distances[0]
    assert np.linalg.norm(cache.h[-1]) < 0.5 * np.linalg.norm(cache.h[0])
    assert (last["gate"][-3:] > last["transform"][-3:]).all()  # "in the top three it is the larger one"
    assert 0.7 < (last["gate"] / last["transform"])[10:].mean() < 1.4  # "has caught up in the upper blocks"
    assert (abs(last["carry"] / first["carry"] - 1) < 0.12).all()  # "the carry hardly moves"
    norms = names["sizes"]["Frobenius norm"]["gate"]
    assert (norms[:, 1] > 20 * norms[:, 0]).all()  # "more than twentyfold"


def test_without_the_gate_term_the_signal_changes_a_little_at_first_and_greatly_after_training(chapter):
    numbers = [int(n) for n in re.findall(r"(\d+)%", chapter.printed["weigh-drop-numbers"])]
    assert numbers[:2] == [3, 4]
    assert 70 <= numbers[2] <= numbers[3] <= 85  # "about three quarters of its size"


def test_change_one_thing_accuracy_is_no_test_of_a_backward_pass(chapter, names):
    right = [float(a) for a in re.findall(r"accuracy (\S+)", chapter.printed["weigh-train"])]
    network = Network(names["WithoutGateTerm"](-2.0), depth=20)
    wrong = [fit(network, names["data"], epochs=15, rng=seed).history["test_accuracy"][-1] for seed in range(3)]
    assert "0.92 on average over the three seeds, and the right gradient gave 0.92, too" in TEXT
    assert np.mean(right) == pytest.approx(0.92, abs=0.02)  # rounding moves a training a little
    assert np.mean(wrong) == pytest.approx(0.92, abs=0.02)
    errors = check_gradients(*exercises.small_network(names["WithoutGateTerm"](-2.0)))
    assert max(errors.values()) > 1e-3  # "the gradient check sees it at once"


def test_recorder_keeps_each_epoch_and_changes_nothing(names):
    network, data = Network(Highway(-2.0), depth=2, width=8), names["data"]
    recorder = Recorder(Adam(), every=20)
    watched = fit(network, data, optimiser=recorder, epochs=2, rng=0).params
    assert len(recorder.kept) == 3
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(recorder.kept[0], network.initialise(rng).flat)
    for epochs in (1, 2):
        plain = fit(network, data, optimiser=Adam(), epochs=epochs, rng=0).params
        np.testing.assert_array_equal(recorder.kept[epochs], plain.flat)
    np.testing.assert_array_equal(recorder.kept[2], watched.flat)
    with pytest.raises(ValueError, match="every must be at least 1"):
        Recorder(Adam(), every=0)


# Sliders and figures


def test_status_sentences_name_every_term(chapter):
    first, second = (chapter.shown[cell].frame["says"] for cell in ("look-slider", "weigh-slider"))
    for name in (*TERMS, "all three"):
        assert f"{name} " in first
    assert "epoch 0" in second
    assert "ean over blocks and seeds: transform 0.391, carry 7.05, gate 0.0473" in second


def test_bands_hold_their_seeds(names):
    for epoch in (0, 15):
        for low, mid, high in names["per_block"](epoch).values():
            assert low.shape == (20,)
            assert (low <= mid).all()
            assert (mid <= high).all()


def test_term_sizes_are_norms_of_the_terms(names):
    flat = names["kept"][0][-1]
    params = names["Parameters"](names["network"], flat)
    _, cache = names["network"].forward(params, names["data"].x_test[:8])
    terms = [highway_jacobian_terms(Highway(-2.0), params.blocks[7], x) for x in cache.blocks[7].x]
    for name, size in names["term_sizes"](flat).items():
        assert size[7] == pytest.approx(np.mean([np.sqrt((term[name] ** 2).sum()) for term in terms]))
        assert size.shape == (20,)


def test_factors_of_the_figure():
    gate_bias = np.linspace(-8, 8, 17)
    axes = figures.gate_factors(gate_bias, sigmoid(gate_bias)).axes[0]
    drawn = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert list(drawn) == ["transform: T", "carry: 1 − T", "gate: T (1 − T)"]
    transform, carry, gate = drawn.values()
    np.testing.assert_allclose(transform + carry, 1)
    np.testing.assert_allclose(gate, transform * carry)


def test_maps_share_one_scale_centred_at_zero(names):
    maps = [axes.images[0] for axes in figures.jacobian_terms(names["terms"]).axes if axes.images]
    assert len({image.get_clim() for image in maps}) == 1
    low, high = maps[0].get_clim()
    assert low == -high
    np.testing.assert_allclose(sum(image.get_array() for image in maps[:3]), maps[3].get_array())


def test_guides_of_the_V_have_the_slopes_they_name(names):
    axes = figures.error_against_step(names["steps"], names["errors"]).axes[0]
    lines = [np.log10(np.array(line.get_data())) for line in axes.lines]
    slopes = [np.polyfit(x, y, 1)[0] for x, y in lines[len(names["errors"]) :]]
    np.testing.assert_allclose(slopes, [2, -1])
    assert [text.get_text() for text in axes.texts] == ["∝ step²", "∝ 1 / step"]


def test_one_line_per_seed_and_one_entry_per_term(names):
    panels = figures.term_changes(names["sizes"], ("start", "end")).axes
    assert [axes.get_ylabel() for axes in panels] == ["Frobenius norm", "largest singular value"]
    assert all(len(axes.lines) == 9 for axes in panels)
    assert [text.get_text() for text in panels[0].get_legend().get_texts()] == list(TERMS)


# Checks of the exercises


@pytest.mark.parametrize(
    ("times", "right", "word"),
    [
        ((17.8, 15.8), True, ""),
        ((17.81, 15.79), True, ""),
        ((None, None), False, "None"),
        ((17.8, None), False, "None"),
        ((15.8, 17.8), False, "exchanged"),
        ((17.8, 17.8), False, "exchanged"),
        ((20.1, 15.8), False, "odds"),
        ((2.5, 2.5), False, "biases"),
        ((0.056, 0.063), False, "share"),
        ((100, 15.8), False, "too large"),
        (("many", 15.8), False, "must be a number"),
    ],
)
def test_closing_the_gate(times, right, word):
    verdict = exercises.check_closing_the_gate(*times)
    assert bool(verdict) is right
    assert word in verdict.sentence


class ForgottenTranspose(Highway):
    def backward(self, params, cache, dy):
        dx, grads = super().backward(params, cache, dy)
        dz_H = dy * cache.T * relu_derivative(cache.H)
        return dx - dz_H @ params["W_H"].T + dz_H @ params["W_H"], grads


@pytest.mark.parametrize(
    ("layers", "right", "word"),
    [
        ({"head", "blocks.2"}, True, ""),
        (["blocks.2", "head"], True, ""),
        (set(), False, "put the names"),
        (None, False, "put the names"),
        ({"head"}, False, "blocks.2 is missing"),
        ({"head", "blocks.1"}, False, "blocks.2 is missing"),
        ({"head", "blocks.2", "blocks.1"}, False, "blocks.1 is wrong"),
        ({"blocks.2"}, False, "head is missing"),
        ({"blocks.7"}, False, "out of"),
        ("head", False, "out of"),
        (3, False, "out of"),
        ([["head"]], False, "out of"),
    ],
)
def test_untouched_layers(layers, right, word):
    verdict = exercises.check_untouched_layers(layers, ForgottenTranspose(-2.0))
    assert bool(verdict) is right
    assert word in verdict.sentence


def test_untouched_layers_of_a_right_block():
    names = {"input", "head", "blocks.0", "blocks.1", "blocks.2"}
    assert exercises.check_untouched_layers(names, Highway(-2.0))


def uncoupled(**changes):
    """The right answer of exercise 3, with some lines changed."""

    def backward(params, x, H, T, C, dy):
        lines = {
            "dz_H": "dy * T * (1 - H**2)",
            "dz_T": "dy * H * T * (1 - T)",
            "dz_C": "dy * x * C * (1 - C)",
            "dx": 'dy * C + dz_H @ params["W_H"].T + dz_T @ params["W_T"].T + dz_C @ params["W_C"].T',
        } | changes
        values = {"params": params, "x": x, "H": H, "T": T, "C": C, "dy": dy}
        for name, line in lines.items():
            values[name] = eval(line, {}, values)
        return tuple(values[name] for name in ("dx", "dz_H", "dz_T", "dz_C"))

    return backward


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"dz_H": "None", "dx": "None"}, "dz_H is still None"),
        ({"dz_H": "dy * T"}, "slope of tanh"),
        ({"dz_H": "dy * (1 - H**2)"}, "factor T"),
        ({"dz_T": "dy * (H - x) * T * (1 - T)"}, "coupled"),
        ({"dz_T": "dy * H"}, "slope of the sigmoid"),
        ({"dz_C": "-dy * x * C * (1 - C)"}, "sign"),
        ({"dz_C": "dy * x"}, "slope of the sigmoid"),
        ({"dz_C": "dy * x * T * (1 - T)"}, "its own"),
        ({"dz_C": "dy * x * C"}, "differs from finite differences"),
        ({"dx": "dy * C"}, "carry term alone"),
        ({"dx": 'dy * C + dz_H @ params["W_H"].T + dz_T @ params["W_T"].T'}, "gate C is missing"),
        ({"dx": 'dy * C + dz_H @ params["W_H"].T + dz_C @ params["W_C"].T'}, "gate T is missing"),
        ({"dx": 'dy * C + dz_T @ params["W_T"].T + dz_C @ params["W_C"].T'}, "transform is missing"),
        ({"dx": 'dz_H @ params["W_H"].T + dz_T @ params["W_T"].T + dz_C @ params["W_C"].T'}, "carry term is missing"),
        (
            {"dx": 'dy * (1 - T) + dz_H @ params["W_H"].T + dz_T @ params["W_T"].T + dz_C @ params["W_C"].T'},
            "nothing ties",
        ),
        ({"dx": 'dy * C + dz_H @ params["W_H"] + dz_T @ params["W_T"] + dz_C @ params["W_C"]'}, "transposed"),
        ({"dx": "dy.sum()"}, "shape"),
        ({"dx": "dy @ oops"}, "NameError"),
    ],
)
def test_uncoupled_backward_explains_wrong_answers(changes, word):
    verdict = exercises.check_uncoupled_backward(uncoupled(**changes))
    assert not verdict
    assert word in verdict.sentence


def test_uncoupled_backward_accepts_the_right_answer_and_refuses_no_function():
    assert exercises.check_uncoupled_backward(uncoupled())
    assert "function" in exercises.check_uncoupled_backward(None).sentence
    assert "four arrays" in exercises.check_uncoupled_backward(lambda *args: args[1]).sentence


@pytest.mark.parametrize(
    ("best_step", "right", "word"),
    [
        (lambda epsilon: (epsilon / 2) ** (1 / 3), True, ""),
        (lambda epsilon: np.cbrt(epsilon), True, ""),
        (lambda epsilon: None, False, "None"),
        (lambda epsilon: epsilon**0.5, False, "one-sided"),
        (lambda epsilon: epsilon, False, "rounding"),
        (lambda epsilon: epsilon**0.25, False, "0.25"),
        (lambda epsilon: 100 * epsilon ** (1 / 3), False, "factor in front"),
        (lambda epsilon: 1e-5, False, "power 0.00"),
        (lambda epsilon: -epsilon, False, "positive"),
        (lambda epsilon: epsilon.cbrt(), False, "AttributeError"),
        (1e-5, False, "function"),
    ],
)
def test_best_step(best_step, right, word):
    verdict = exercises.check_best_step(best_step)
    assert bool(verdict) is right
    assert word in verdict.sentence
