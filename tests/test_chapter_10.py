"""Chapter 10: each number in the text comes from the record or the run; sliders, figures and checks do what they say.

The cells run here, in one namespace, as a reader would run them: the tests use the chapter's functions, not copies.
"""

import builtins
import re
import types

import nbformat
import numpy as np
import pytest
import reading
from conftest import BOOK

from highway_lessons import Data, Highway, Network, Plain, clinic, digits, exercises, fit, sigmoid, studies
from highway_lessons.clinic import LAYERS
from highway_lessons.studies.clinic import train_patient

CHAPTER = BOOK / "chapters" / "10-the-bug-clinic.ipynb"
TEXT = reading.prose(CHAPTER).replace("−", "-")
RECORD = studies.load("clinic")
WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight"]
CHANCE = ["gate bias forgotten", "gate bias +1", "bias on the transform"]
CHANCE += ["halves swapped", "T and C exchanged", "affine carry", "carry behind the weights"]
LATE = ["bias on the transform", "halves swapped"]  # they look well at ten blocks
NOTHING = ["ReLU gate", "activations exchanged", "activation of x"]


def accuracies(block, depth, gate_bias=-2.0):
    """In per cent, one for each seed; a training that diverged guesses."""
    points = [p for p in RECORD if (p["block"], p["depth"], p["gate_bias"]) == (block, depth, gate_bias)]
    assert [p["seed"] for p in points] == [0, 1, 2, 3, 4]
    return np.array([10.0 if p["test_accuracy"] is None else 100 * p["test_accuracy"] for p in points])


def mean(*which):
    return accuracies(*which).mean()


def means(depth):
    return {name: mean(name, depth) for name in LAYERS}


NONE = accuracies("none", 0, None)
TWO, TEN, FIFTY = means(2), means(10), means(50)


# The run: sections 1 to 3


def test_all_pass_the_shape_test(run):
    assert run.printed["look-shapes"] == "14 of 14 pass the shape test\n"


def test_one_patient_is_right_and_thirteen_are_wrong(names):
    assert sorted(names["PATIENTS"].values()) == sorted(LAYERS)
    assert "".join(names["PATIENTS"]) == "ABCDEFGHIJKLMN"
    assert LAYERS["right"] is Highway
    assert sum(layer is not Highway for layer in LAYERS.values()) == 13
    assert "Thirteen of them have a bug; one is right." in TEXT


def test_the_limits_by_hand(run):
    lines = {
        line[:14].strip(): re.findall(r"off by (\S+?)[,\n]", line + "\n") for line in lines_of(run, "outside-code")
    }
    assert lines["right"] == lines["gate bias +1"] == ["0", "0"]
    assert lines["affine carry"][1] == "0" != lines["affine carry"][0]
    assert lines["ReLU gate"][0] == "0"
    assert float(lines["ReLU gate"][1]) > 100


def lines_of(run, cell):
    return run.printed[cell].splitlines()


def test_gates_in_floating_point():
    for dtype in (np.float32, np.float64):
        gate = sigmoid(np.array([-1000, 1000], dtype))
        assert gate.tolist() == [0.0, 1.0]


def test_turning_the_gate_bias(names):
    turns, shares = names["TURNS"], names["shares"]
    right = shares("right")
    assert abs(right - sigmoid(turns)).max() < 0.03, "along the curve of the sigmoid"
    np.testing.assert_allclose(shares("T and C exchanged"), right[::-1], atol=0.03)
    assert np.ptp(shares("softmax gate")) < 1e-12
    assert shares("ReLU gate")[-1] > 8
    assert shares("affine carry")[-1] == pytest.approx(1, abs=1e-3)
    assert shares("affine carry")[0] > 0.3
    for name in ("gate bias forgotten", "gate bias +1"):
        np.testing.assert_allclose(shares(name), right, rtol=1e-12)
    for name in LAYERS:
        frame = names["turning"](name)
        assert frame["this layer"].y.min() >= -0.5
        np.testing.assert_array_equal(frame["highway, right"].y, right)


def test_the_share_is_a_mean_of_gates(names):
    """Weighted by (H − x)²."""
    block = Highway(-2.0)
    params = block.initialise(0, 64)
    x = np.random.default_rng(1).normal(size=(64, 64))
    params["b_T"][:] = names["TURNS"][10]
    _, cache = block.forward(params, x)
    expected = np.average(cache.T, weights=(cache.H - x) ** 2)
    assert names["shares"]("right")[10] == pytest.approx(expected)


def test_mean_gates(run, names):
    uniform, he = lines_of(run, "mean-code")
    assert re.findall(r"\d\.\d+", uniform) == ["0.119", "0.132", "0.133", "0.132"]
    assert re.findall(r"\d\.\d+", he) == ["0.119", "0.183", "0.199", "0.184"]
    assert "has a mean gate of 0.132, not 0.119; under He's it has 0.184" in TEXT
    for gate_bias in (0.0, -1.0, -2.0, -4.0):
        for spread in np.linspace(0.1, 2.9, 8):
            exact = clinic.expected_mean_gate(gate_bias, spread)
            assert names["mean_gate"](gate_bias, spread) == pytest.approx(exact, abs=0.015)
            if spread <= 1:
                assert names["small_spread"](gate_bias, spread) == pytest.approx(exact, abs=0.01)
    assert abs(names["small_spread"](-2.0, 2.0) - clinic.expected_mean_gate(-2.0, 2.0)) > 0.03
    assert clinic.expected_mean_gate(-2.0, 2.9) == pytest.approx(0.28, abs=0.005), "the alt text"


def test_the_spread_is_that_of_the_initialisations():
    """s² is n times the variance of a weight, for inputs of variance 1."""
    rng = np.random.default_rng(0)
    for initialiser, expected in (("uniform", 1 / 3), ("he", 2.0)):
        params = Network(Highway(), 1, 400).initialise(rng, initialiser)
        z = rng.normal(size=(300, 400)) @ params.blocks[0]["W_T"]
        assert z.var() == pytest.approx(expected, rel=0.02)


def test_the_colleagues_tolerances():
    """0.02 fails a right layer; 0.1 lets 1/50 and a gate bias of −1.5 pass."""
    wanted, spread = sigmoid(-2.0), np.sqrt(2)
    assert abs(clinic.expected_mean_gate(-2.0, spread) - wanted) > 0.02
    assert abs(1 / 50 - wanted) < 0.1 < abs(0.5 - wanted)
    assert abs(clinic.expected_mean_gate(-1.5, 3**-0.5) - wanted) < 0.1


def test_the_table_of_tests(run):
    rows = [line.strip("| ").split(" | ") for line in run.shown["tests-table"].data.splitlines()]
    assert rows[0][1:] == ["layer", "shape", "shut", "open", "start", "gradient"] or rows[0] == [
        "layer", "shape", "shut", "open", "start", "gradient"
    ]  # fmt: skip
    found = {row[1]: [mark == "caught" for mark in row[2:]] for row in rows[2:]}
    assert list(found) == list(LAYERS)
    assert not any(caught[0] for caught in found.values()), "the shape test catches nobody"
    wrong = {name: caught[1:] for name, caught in found.items() if name != "right"}
    assert "Twelve of the thirteen wrong layers are caught by at least one of the four" in TEXT
    assert [name for name, caught in wrong.items() if not any(caught)] == ["bias on both"]
    assert not any(found["right"])
    assert {caught.index(True) for caught in wrong.values() if any(caught)} == {0, 1, 2, 3}, "each sees some bug first"
    assert wrong["gate bias forgotten"] == [False, False, True, False]
    assert wrong["affine carry"][0]
    assert wrong["activation of x"][:2] == [False, True]
    assert wrong["slope of the value"] == [False, False, False, True]


def test_one_report_in_the_text(run):
    assert "a gate looks like 0.731; σ(-2) is 0.119" in repr(run.shown["tests-one"])
    assert run.shown["tests-one"].caught == ["start"]


def test_every_layer_of_the_gallery_is_in_the_table_of_sources():
    for name in LAYERS:
        assert name == "right" or f"| {name} | " in TEXT, name
    assert "$b_T = -1$" in TEXT
    for said in ("Keras 1.2.2 and the legacy layer of Keras 2 (it was right in 1.1.1)", "tflearn 0.5.0"):
        assert said in TEXT


def test_the_pytorch_layer(run, names):
    as_it_is, mended = run.printed["tests-torch-examine"].split("with one line more")
    assert re.findall(r"^\w+", as_it_is, re.MULTILINE)[1:] == ["passed", "passed", "FAILED", "not"]
    assert "FAILED    start" in as_it_is
    assert "FAILED" not in mended
    assert names["ask"](names["mended"], 64)


def test_without_pytorch_the_chapter_says_what_to_do(monkeypatch, capsys):
    """The cells that use it say one sentence or nothing."""
    cells = {cell.id: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    real = builtins.__import__

    def without_torch(name, *rest):
        if name == "torch":
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_torch)
    space = {"clinic": clinic}
    for cell in ("tests-torch", "tests-torch-examine"):
        exec(cells[cell], space)
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert "pip install torch" in printed
    assert isinstance(space["ask"], types.FunctionType)


def test_the_transforms_of_the_one_that_walks_out():
    """On the digits, in fresh stacks: nearly all are 0."""
    assert "so that the ReLU of nearly every transform is 0 in a fresh stack" in TEXT
    network, x = Network(LAYERS["bias on both"](-2.0), 10), digits(0).x_train
    for seed in range(5):
        _, cache = network.forward(network.initialise(seed), x)
        assert np.mean([(block.H > 0).mean() for block in cache.blocks]) < 0.01


# Section 4: the record


def test_the_layer_that_does_nothing(names):
    """Fresh or trained: a stack of it hands h_0 on."""
    network, data = Network(LAYERS["activation of x"](-2.0), 50), digits(0)
    run = fit(network, Data(data.x_train, data.y_train), epochs=1, dtype="float32")
    _, cache = network.forward(run.params, data.x_test)
    np.testing.assert_allclose(cache.h[-1], cache.h[0], rtol=1e-4, atol=1e-5)
    for depth in (2, 10, 50):
        assert abs(NONE.mean() - mean("activation of x", depth)) < 1.0, "as no blocks do"


def test_a_point_of_the_study_is_measured_as_it_says():
    """One epoch, by hand, in the recipe that the other studies use."""
    for data, block, depth, n in (("digits", "softmax gate", 2, 64), ("digits", "none", 0, 64)):
        result = train_patient(data, block, depth, -2.0, 3, epochs=1, curves=True)
        network = Network(Plain() if block == "none" else LAYERS[block](-2.0), depth, n)
        run = fit(network, digits(3), epochs=1, rng=3, dtype="float32")
        assert result["test_accuracy"] == pytest.approx(run.history["test_accuracy"][-1], abs=1e-5)
        assert result["curves"]["test_accuracy"] == pytest.approx(run.history["test_accuracy"], abs=1e-4)


def test_what_is_asked_for_as_a_64th():
    assert sigmoid(-np.log(63)) == pytest.approx(1 / 64)
    assert -np.log(63) == pytest.approx(-4.14, abs=0.005)


def test_the_table_of_costs_is_the_record(run):
    rows = [line.strip("| ").split(" | ") for line in run.shown["costs-code"].data.splitlines()]
    found = {row[0]: row[1:] for row in rows[2:]}
    for name in LAYERS:
        for depth, cell in zip((2, 10, 50), found[name], strict=True):
            assert cell.split()[0] == f"{mean(name, depth):.1f}"
            gone = sum(
                p["test_accuracy"] is None
                for p in RECORD
                if (p["block"], p["depth"], p["gate_bias"]) == (name, depth, -2.0)
            )
            assert ("diverged" in cell) == (gone > 0)
            assert not gone or f"({gone} of 5 diverged)" in cell
    assert found["no block at all"] == [f"{NONE.mean():.1f}"] * 3
    assert found["right, bias −4.14"][-1] == f"{mean('right', 50, '-ln 63'):.1f}"


# Sliders and figures


def test_the_frames_are_the_record(names):
    for depth in (2, 10, 50):
        for patient, name in names["PATIENTS"].items():
            frame = names["waiting_room"](patient, depth)
            low, mid, high = (part[-1] for part in frame["patient"])
            rows = accuracies(name, depth)
            assert (low, mid, high) == pytest.approx((rows.min(), rows.mean(), rows.max()), abs=0.02)
            assert frame["no block"][-1] == pytest.approx(NONE.mean(), abs=0.02)
            beside = names["beside_the_right_one"](name, depth)
            np.testing.assert_array_equal(beside["this layer"], frame["patient"])
            assert beside["highway, right"].mid[-1] == pytest.approx(mean("right", depth), abs=0.02)
            assert len(frame["no block"]) == len(frame["patient"].mid) == 30


def test_sentences_under_the_sliders(run):
    says = run.shown["look-slider"].frame["says"]
    assert says.startswith(f"At patient A and blocks 2: the last accuracy is {mean('ReLU gate', 2):.1f} % on average")
    says = run.shown["outside-slider"].frame["says"]
    assert says == "At layer T and C exchanged: at gate bias −10 the share is 1.00, at 10 it is 0.00."
    this, right = mean("softmax gate", 50), mean("right", 50)
    says = run.shown["costs-slider"].frame["says"]
    assert says.endswith(f"this layer is at {this:.1f} %, the right one at {right:.1f} %.")


def test_figures_show_the_record(run):
    panels = run.shown["costs-figure"].axes
    assert [axes.texts[0].get_text() for axes in panels] == ["2 blocks", "10 blocks", "50 blocks"]
    for axes, depth in zip(panels, (2, 10, 50), strict=True):
        dots = [line for line in axes.lines if line.get_marker() == "o"]
        assert len(dots) == len(LAYERS)
        for line, name in zip(dots, LAYERS, strict=True):
            drawn, recorded = line.get_xdata(), accuracies(name, depth)
            there = ~np.isnan(drawn)
            np.testing.assert_allclose(drawn[there], recorded[there])
        gone = sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == "x")
        assert gone == sum(np.isnan(line.get_xdata()).sum() for line in dots)
    axes = run.shown["mean-figure"].axes[0]
    labels = {line.get_label() for line in axes.lines}
    assert {"gate bias 0", "gate bias −1", "gate bias −2", "gate bias −4", "formula for a small spread"} <= labels


def test_change_one_thing(run):
    assert run.shown["change-code"].caught == ["start"]

    class Double(clinic.Textbook):
        def gate(self, z):
            return 2 * sigmoid(z)

        def gate_back(self, T, dT):
            return dT * T * (1 - T / 2)

    assert clinic.examine(Double(-2.0)).caught == ["open", "start"]


# Checks of the exercises


@pytest.mark.parametrize(
    ("check", "answer", "right", "word"),
    [
        ("lost_factor", ["open"], True, "H + x"),
        ("lost_factor", "open", True, ""),
        ("lost_factor", ("open",), True, ""),
        ("lost_factor", [], False, "T = 1"),
        ("lost_factor", ["shut"], False, "T = 0"),
        ("lost_factor", ["shut", "open"], False, "T = 0"),
        ("lost_factor", ["start"], False, "a list of the names"),
        ("lost_factor", 3, False, "a list of the names"),
        ("lost_factor", None, False, "None"),
        ("mean_gate_under_he", 0.0914, True, "0.0914"),
        ("mean_gate_under_he", 0.047, False, "at x = 0"),
        ("mean_gate_under_he", 0.13, False, "variance for the spread"),
        ("mean_gate_under_he", 0.0683, False, "variance 1/n"),
        ("mean_gate_under_he", 0.5, False, "too large"),
        ("mean_gate_under_he", None, False, "None"),
        ("softmax_width", 8.39, True, "8.39"),
        ("softmax_width", 8, True, ""),
        ("softmax_width", 7.39, False, "not 1 / e²"),
        ("softmax_width", 0.119, False, "number of units"),
        ("softmax_width", 64, False, "far below"),
        ("softmax_width", None, False, "None"),
    ],
)
def test_checks_accept_what_is_right_and_explain_what_is_wrong(check, answer, right, word):
    verdict = getattr(exercises, f"check_{check}")(answer)
    assert bool(verdict) is right
    assert word in verdict.sentence, verdict


def bias_of_transform(block):
    return abs(block.initialise(0, 64)["b_H"].mean()) < 0.2


@pytest.mark.parametrize(
    ("fifth", "right", "word"),
    [
        (bias_of_transform, True, "lets right layers pass"),
        (lambda block: True, False, "lets it pass"),
        (lambda block: False, False, "your test fails it"),
        (lambda block: None, False, "in place of None"),
        (lambda block: 0.5, False, "True or False"),
        (lambda block: bool(clinic.examine(block)), False, "fails it"),
        (lambda block: 1 / 0, False, "ZeroDivisionError"),
        (3, False, "a function fifth(block)"),
    ],
)
def test_the_check_of_the_fifth_test(fifth, right, word):
    verdict = exercises.check_fifth_test(fifth)
    assert bool(verdict) is right
    assert word in verdict.sentence, verdict


def test_right_answers_are_right(names):
    """The checks against measurements, not against themselves."""
    rng = np.random.default_rng(0)
    W_T = rng.normal(0, np.sqrt(2 / 256), (256, 256))
    mean_gate = sigmoid(rng.normal(size=(4000, 256)) @ W_T - 3.0).mean()
    assert exercises.check_mean_gate_under_he(mean_gate)
    gates = {n: np.exp(np.zeros(n))[0] / n for n in (7, 8, 9)}
    assert min(gates, key=lambda n: abs(gates[n] - sigmoid(-2.0))) == 8
    x = rng.normal(size=(5, 8))
    params = Highway().initialise(0, 8)
    params["b_T"][:] = -1000
    y, _ = names["LostFactor"](-2.0).forward(params, x)
    np.testing.assert_array_equal(y, x)
    params["b_T"][:] = 1000
    y, _ = names["LostFactor"](-2.0).forward(params, x)
    np.testing.assert_allclose(y, x + np.maximum(x @ params["W_H"] + params["b_H"], 0))


# Numbers of the record in the text


def one(value):
    return f"{value:.1f}"


def gone(name, depth=50):
    """The trainings that diverged."""
    points = [p for p in RECORD if (p["block"], p["depth"], p["gate_bias"]) == (name, depth, -2.0)]
    return [p for p in points if p["test_accuracy"] is None]


def after_five_epochs(name):
    points = [p for p in RECORD if (p["block"], p["depth"], p["gate_bias"]) == (name, 50, -2.0)]
    return 100 * np.mean([p["curves"]["test_accuracy"][4] for p in points])


@pytest.fixture(scope="module")
def sentences():
    """Each sentence with a number of the record, put together from the record."""
    well = [TWO[name] for name in LAYERS if name != "slope of the value"]
    two = f"{one(min(well))} and {one(max(well))} %"
    limping = [TEN[name] for name in CHANCE if name not in LATE]
    spirals = studies.load("lesions").select(data="spirals")
    right, none = (100 * np.mean([p["test_accuracy"] for p in spirals.select(block=b)]) for b in ("highway", "none"))
    broken = gone("ReLU gate")
    before = [100 * p["curves"]["test_accuracy"][-1] for p in broken]
    soft, plain = (after_five_epochs(name) for name in ("softmax gate", "right"))
    slope = 100 * max(max(p["curves"]["test_accuracy"]) for p in gone("slope of the value"))
    return [
        f"thirteen end between {two} on average",
        f"Only one limps, at {one(TWO['slope of the value'])} %. With ten blocks six limp",
        f"thirteen layers have means between {two}",
        f"Only the slope of the value shows, at {one(TWO['slope of the value'])} %",
        f"five of those have fallen to {one(min(limping))} … {one(max(limping))} %, while the right layer is at "
        f"{one(TEN['right'])} %",
        f"still look well, at {one(TEN[LATE[0]])} and {one(TEN[LATE[1]])} %",
        f"does so in {WORDS[len(broken)]} of five trainings",
        f"in epoch {min(p['epochs_done'] for p in broken) + 1} at the earliest",
        f"these networks were {one(min(before))} to {one(max(before))} % right",
        f"does so in all five, and never gets above {one(slope)} %",
        f"do *better* than the right layer, which reaches {one(FIFTY['right'])} %",
        f"The softmax gate reaches {one(FIFTY['softmax gate'])} %",
        f"after five epochs it is at {one(soft)} %, the right layer at {one(plain)} %",
        f"$b = \\ln(1/63) = -4.14$: {one(mean('right', 50, '-ln 63'))} %",
        f"reach {one(FIFTY['activation of x'])} and {one(FIFTY['activations exchanged'])} %, "
        f"networks without blocks {one(NONE.mean())} %",
        f"The bias on both reaches {one(FIFTY['bias on both'])} %",
        f"ten right blocks reach {one(right)} % and no blocks {one(none)} %",
    ]


def test_each_number_of_the_text_is_what_was_measured(sentences):
    for sentence in sentences:
        assert sentence in TEXT, sentence


def test_no_number_of_the_text_is_unchecked(sentences):
    """Every number with a decimal point, and every percentage, of the words (captions and alt texts have a test)."""
    cells = [cell for cell in nbformat.read(CHAPTER, as_version=4).cells if cell.cell_type == "markdown"]
    words = "\n".join(cell.source for cell in cells).replace("−", "-")
    words = re.sub(r"Keras 1\.2\.2|in 1\.1\.1|tflearn 0\.5\.0", "", words)
    checked = {number for sentence in sentences for number in re.findall(r"-?\d+\.\d+", sentence)}
    checked |= {"0.132", "0.119", "0.184"}  # test_mean_gates
    checked |= {"0.02", "0.1", "-1.5"}  # test_the_colleagues_tolerances
    checked |= {"0.12", "0.88"}  # test_what_is_carried_at_the_start
    decimals = set(re.findall(r"(?<![\d.])-?\d+\.\d+", words))
    assert decimals <= checked, decimals - checked
    assert not re.findall(r"(?<!\d)(?<!\.)\b\d+ %", words)


def test_what_the_text_says_of_all():
    assert len(CHANCE) == 7
    assert max(FIFTY[name] for name in CHANCE) < 12, "seven at chance"
    well = [TWO[name] for name in LAYERS if name != "slope of the value"]
    assert max(well) - min(well) < 1.5, "all but one look well"
    assert min(well) < NONE.mean() < max(well), "and no blocks are no better or worse"
    assert TWO["slope of the value"] < min(well) - 5
    limping = [name for name in LAYERS if TEN[name] < TEN["right"] - 2]
    assert limping == [name for name in LAYERS if name in (*CHANCE, "slope of the value") and name not in LATE]
    assert len(limping) == 6
    assert {name for name in LAYERS if gone(name)} == {"ReLU gate", "slope of the value"}
    assert len(gone("slope of the value")) == 5
    assert not any(gone(name, depth) for name in LAYERS for depth in (2, 10))
    better = ["bias on both", "softmax gate", "activations exchanged", "activation of x"]
    assert sorted(better + CHANCE + ["right", "ReLU gate", "slope of the value"]) == sorted(LAYERS)
    assert "the four wrong ones end *above* it, by more than three points" in TEXT
    for name in better:
        assert FIFTY[name] > FIFTY["right"] + 3, name
    assert abs(FIFTY["softmax gate"] - mean("right", 50, "-ln 63")) < 1.5, "the control reaches the same"
    for name in ("activations exchanged", "activation of x"):
        assert abs(FIFTY[name] - NONE.mean()) < 1.5, name


def test_the_study_wants_the_bias_of_chapter_five():
    """Fifty blocks want a bias below −2."""
    bias = studies.load("gate_bias").select(depth=50, optimiser="adam", dtype="float32")
    by_bias = bias.array("test_accuracy", "gate_bias").mean(axis=1)
    values = bias.values("gate_bias")
    assert by_bias[values.index(-4.0)] > by_bias[values.index(-2.0)] + 0.02


def test_what_is_carried_at_the_start():
    assert round(float(sigmoid(-2.0)), 2) == 0.12
    assert round(1 - float(sigmoid(-2.0)), 2) == 0.88


def test_fresh_stacks_that_are_no_blocks():
    """Gates at exactly 0, and transforms at exactly 0, on every image of the training set."""
    x = digits(0).x_train
    for seed in range(3):
        for name in LAYERS:
            network = Network(LAYERS[name](-2.0), 50)
            _, cache = network.forward(network.initialise(seed), x)
            same = np.allclose(cache.h[-1], cache.h[0], rtol=1e-12, atol=1e-14)
            assert same == (name in NOTHING), name
            if name in NOTHING[:2]:
                assert all((block.T == 0).all() for block in cache.blocks)
            if name == "bias on both":
                assert all((block.H == 0).all() for block in cache.blocks)
