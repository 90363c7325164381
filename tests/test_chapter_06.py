"""Chapter 6: each number in the text comes from the record or the chapter's own cells; sliders, figures, checks.

The cells run here, in one namespace, as a reader would run them: the tests use the chapter's functions, not copies.
Numbers of the record, of untrained networks and of exact mathematics are checked to the printed digit. Networks that
the cells train differ a little between processors, which round differently: of them the text speaks roughly, and so
do the tests.
"""

import contextlib
import inspect
import io
import math
import re
from functools import cache

import nbformat
import numpy as np
import pytest
import reading
from conftest import BOOK
from matplotlib.colors import to_hex

from highway_lessons import (
    SGD,
    Adam,
    Data,
    Highway,
    Network,
    digits,
    exercises,
    figures,
    fit,
    gates,
    published,
    sigmoid,
    studies,
    tau,
)
from highway_lessons.palette import BLOCKS
from highway_lessons.studies import trained_gates

CHAPTER = BOOK / "chapters" / "06-look-inside-trained-gates.ipynb"
TEXT = reading.prose(CHAPTER).replace("−", "-")
NUMBER = r"\d+\.\d+|\d+ %"


# Numbers in the text


def range_of(values):
    return values.mean(), values.min(), values.max()


def phrases(names):
    """Each phrase of the text that holds a measured number, and what a run or the record puts there."""
    kinds = {name.replace("−", "-"): points for name, points in names["KINDS"].items()}
    stripes = {name.replace("−", "-"): rows.mean(axis=0) for name, rows in names["stripes"].items()}

    def percent(kind, name):
        return 100 * kinds[kind].array(name)

    def mean(kind, name):
        return kinds[kind].array(name).mean()

    def five_apart(kind):
        return (curves(kinds[kind], name)[:, five].mean() for name in ("stripes_start", "stripes"))

    adam, adam5, sgd = "digits, Adam, -2", "digits, Adam, -5", "digits, SGD, -5"
    fell, spiral_fell = percent(adam, "biases_fell"), percent("spirals", "biases_fell")
    spread, share = kinds["spirals"].array("gate_spread"), kinds[adam].array("class_share")
    profiles = np.array([p["curves"]["mean_gate"] for p in kinds["digits, 20 blocks"]])
    way = first_steps(kinds[adam])
    five, ten = 5, 10  # blocks apart
    return [
        ("every gate is about $\\sigma(b) = {:.2f}$", sigmoid(-math.log(9))),
        ("$-\\ln 9 \\approx {:.1f}$", -math.log(9)),
        ("$-\\ln L$, which would give {:.1f}", -math.log(10)),
        ("spread grows from {:.3f} to", mean("spirals", "gate_spread_start")),
        ("to {:.3f} ({:.3f} to {:.3f}, five seeds)", *range_of(spread)),
        # biases
        ("yes: {:.0f} % of them ({:.0f} to {:.0f}) at -2 and 50 blocks", *range_of(fell)),
        ("{:.3f} on average. On the spirals", -mean(adam, "bias_change")),
        ("no: only {:.0f} % fall ({:.0f} to {:.0f})", *range_of(spiral_fell)),
        ("the mean *rises* by {:.3f}", mean("spirals", "bias_change")),
        ("With -5 and Adam {:.0f} % of the biases fall", percent(adam5, "biases_fell").mean()),
        ("rises twelvefold, from {:.3f} to {:.3f}", mean(adam5, "mean_gate_start"), mean(adam5, "mean_gate")),
        ("With tanh {:.0f} % fall", percent("digits, tanh, -2", "biases_fell").mean()),
        ("rises from {:.3f} to {:.3f}", *(mean("digits, tanh, -2", name) for name in ("mean_gate_start", "mean_gate"))),
        ("one half or more (the highest is {:.2f})", max(curves(p, "mean_gate").max() for p in kinds.values())),
        ("five seeds differ by up to {:.2f} in one block", np.ptp(profiles, axis=0).max()),
        ("{:.0f} % of the biases fell while the mean gate rose twelvefold", percent(adam5, "biases_fell").mean()),
        # choosing
        ("{:.1f} % of the gates are active for an example ({:.1f} to {:.1f})", *range_of(percent(adam, "active"))),
        ("{:.1f} % for at least one", percent(adam, "ever_active").mean()),
        ("({:.1f} to {:.1f}), {:.1f} % on average and", *range_of(percent(adam, "active"))[1:],
         percent(adam, "active_on_average").mean()),
        ("With tanh ({:.1f}, {:.1f} and {:.1f} %)", *(percent("digits, tanh, -2", name).mean() for name in ACTIVE)),
        ("on spirals ({:.1f}, {:.1f} and {:.1f} %)", *(percent("spirals", name).mean() for name in ACTIVE)),
        ("η² is {:.2f} ({:.2f} to {:.2f})", *range_of(share)),
        ("{:.2f} before training, {:.2f} for the bare pixels", mean(adam, "class_share_start"), pixel_share()),
        ("{:.3f} for random labels", mean(adam, "class_share_chance")),
        ("explain next to nothing, {:.2f}", mean("spirals", "class_share")),
        # exchange
        ("digits network at -2 is right {:.0f} % of the time", percent(adam, "gates_of_others").mean()),
        ("{:.0f} % of the time ({:.0f} to {:.0f}) it gives the class", *range_of(percent(adam, "answer_of_giver"))),
        ("are enough for {:.0f} % ({:.0f} to {:.0f})", *range_of(percent(adam, "one_input"))),
        ("from {:.0f} to {:.0f} %, for", *(percent(adam, name).mean() for name in ("test_accuracy", "gates_of_class"))),
        ("class-specific too (η² = {:.2f})", mean(sgd, "class_share")),
        ("hardly move (spread {:.3f})", mean(sgd, "gate_spread")),
        ("the accuracy is {:.0f} % with anybody's gates", percent(sgd, "gates_of_others").mean()),
        ("and {:.0f} % when nothing but the gates is left", percent(sgd, "one_input").mean()),
        ("{:.0f} % against {:.0f} %", *(percent(adam5, n).mean() for n in ("answer_of_giver", "gates_of_others"))),
        ("together: {:.0f} % with another's gates", percent("digits, tanh, -2", "gates_of_others").mean()),
        ("no more often, {:.0f} %", percent("digits, tanh, -2", "answer_of_giver").mean()),
        ("a coin toss, {:.0f} %", percent("spirals", "gates_of_others").mean()),
        ("the giver's arm comes out {:.0f} % of the time", percent("spirals", "answer_of_giver").mean()),
        ("The gates' class share is {:.2f}, so", mean(sgd, "class_share")),
        ("<summary>{:.2f} is too low", mean(sgd, "class_share")),
        ("Even the pixels have {:.2f}", pixel_share()),
        ("where gates vary by {:.3f}", mean(sgd, "gate_spread")),
        ("They give {:.3f} here", mean(sgd, "class_share_chance")),
        ("almost {:.0f} % right for the giver", round(percent(adam, "answer_of_giver").mean(), -1)),
        ("always {:.0f} %, but", percent(sgd, "test_accuracy").mean()),
        ("{:.0f} % for the giver and", percent(sgd, "answer_of_giver").mean()),
        ("near {:.0f} % with gates of any class", round(percent(adam, "gates_of_others").mean(), -1)),
        ("Spirals: {:.0f} % with own gates", percent("spirals", "test_accuracy").mean()),
        ("{:.0f} % with any others", percent("spirals", "gates_of_others").mean()),
        ("about {:.0f} % within a class", round(percent("spirals", "gates_of_class").mean(), -1)),
        # stripes
        ("{:.2f} per block at -2", 1 - sigmoid(-2.0)),
        ("$1/\\ln(1 + e^{{-2}}) = {:.1f}$ blocks", 1 / tau(-2.0, 1)),
        ("makes stripes of {:.1f} blocks", 1 / tau(-2.0, 1)),
        ("correlation {:.2f} at five blocks apart and {:.2f} at ten", *stripes["before, blocks 21 to 50"][[five, ten]]),
        ("where {:.2f} and {:.2f} were predicted", *(1 - sigmoid(-2.0)) ** np.array([five, ten])),
        ("Over all blocks it is {:.2f} and {:.2f}", *stripes["before training"][[five, ten]]),
        ("and after training {:.2f} and {:.2f}", *stripes["trained"][[five, ten]]),
        ("with correlation {:.2f}", stripes["before, gate bias -5"][20]),
        ("more than the carry, which is {:.2f} at ten apart", (1 - sigmoid(-5.0)) ** ten),
        ("*shortens* them, from {:.2f} to {:.2f} at five blocks apart", *five_apart("spirals")),
        ("in 20 blocks on the digits, too, from {:.2f} to {:.2f}", *five_apart("digits, 20 blocks")),
        ("*slightly* open, at {:.3f}", sigmoid(-2.0)),
        ("the thin line of the carry, {:.3f} to the power k", 1 - sigmoid(-2.0)),
        ("to {:.1f} at 10.", stripes["before, blocks 21 to 50"][ten]),
        ("about {:.1f} and {:.1f} at 10 blocks", stripes["trained"][ten], stripes["before training"][ten]),
        # profile, in the text alternative
        ("jagged between {:.2f} and {:.2f}", profiles[0].min(), profiles[0].max()),
        ("falls from {:.2f} at block 1 to {:.2f} at block 20", *profiles.mean(axis=0)[[0, 19]]),
        ("marks {:.3f}, the gate before training", sigmoid(-2.0)),
        # beside the paper
        ("digits {:.0f} %; spirals only {:.0f} %", fell.mean(), spiral_fell.mean()),
        ("digits {:.1f} % of gates; spirals {:.1f} %", *(percent(kind, "active").mean() for kind in (adam, "spirals"))),
        ("η² {:.2f}, but {:.2f} before training; spirals: {:.2f}", share.mean(), mean(adam, "class_share_start"),
         mean("spirals", "class_share")),
        ("blocks 1 to 15 make {:.0f} to {:.0f} % of the way", 100 * way.min(), 100 * way.max()),
        # exercise 3, on paper
        ("its mean, {:.3f}, is far below ½", 0.1 * 0.9 + 0.9 * 0.05),
    ]  # fmt: skip


def rough_phrases(names):
    """Each phrase of the text about a network that a cell trains: what the run gives, and what the phrase allows."""
    T, h = spiral_state(names)
    change, active = np.abs(np.diff(h, axis=0)), T > 0.5
    tanh = changed("adam", -2.0, "tanh")[1]
    return [
        ("5 to 20 % of the active gates move their unit by less than 0.1", (change[active] < 0.1).mean(), 0.05, 0.2),
        ("Of the others about three quarters move theirs no further", (change[~active] < 0.1).mean(), 0.65, 0.85),
        ("gates *below* ½ make 15 to 35 % of all change", change[~active].sum() / change.sum(), 0.15, 0.35),
        ("after SGD at -2 the network is right about nine times in ten", changed("sgd", -2.0)[0], 0.85, 0.96),
        ("after Adam at -5 only about six times", changed("adam", -5.0)[0], 0.5, 0.7),
        ("with tanh, on the very same digits, only about a third fall", tanh.share_fell, 0.25, 0.41),
        ("and their mean rises a little", tanh.mean, 0.01, 0.06),
    ]


ACTIVE = ("active", "active_on_average", "ever_active")
GIVEN = {"0.1", "0.3", "30 %", "0.7", "0.8", "0.9", "0.05", "5.0"}  # chosen, not measured: such as a gate in a question


def curves(points, name):
    return np.array([point["curves"][name] for point in points])


def first_steps(points):
    """Share of the way from h_0 to h_50 that the first 15 blocks make."""
    steps = curves(points, "step")
    return steps[:, :15].sum(axis=1) / steps.sum(axis=1)


@cache
def changed(optimiser, gate_bias, activation="relu"):
    """Change the cell "change-code" as the text asks: accuracy with foreign gates, and how the biases moved."""
    cell = next(c.source for c in nbformat.read(CHAPTER, as_version=4).cells if c.id == "change-code")
    source = cell.replace("gate_bias=-2.0", f"gate_bias={gate_bias}").replace('"relu"', repr(activation))
    if optimiser == "sgd":
        source = source.replace("optimiser = Adam(1e-3)", "optimiser = SGD(0.1, momentum=0.9)")
    assert source != cell
    names = {"np": np, "gates": gates, "sigmoid": sigmoid}
    names |= {thing.__name__: thing for thing in (Adam, SGD, Data, Highway, Network, digits, fit)}
    exec(source, names)
    return (names["foreign"] == names["y"]).mean(), names["moved"]


def pixel_share():
    data = digits()
    return gates.class_share(data.x_test[None], data.y_test, 10).measured[0]


def spiral_state(names):
    spiral, end, x = names["spiral"], names["spiral_end"], names["arms"].x_test
    return gates.transform_gates(spiral, end, x), np.array(gates.forward_with(spiral, end, x)[1])


def test_each_number_of_the_text_is_what_was_measured(names):
    for phrase, *values in phrases(names):
        assert phrase.format(*values) in TEXT


def test_no_number_of_the_text_is_unchecked(names):
    said = {n for phrase, *values in phrases(names) for n in re.findall(NUMBER, phrase.format(*values))}
    said |= {n for phrase, *_ in rough_phrases(names) for n in re.findall(NUMBER, phrase)}
    assert set(re.findall(NUMBER, TEXT)) <= said | GIVEN


def test_what_the_text_says_roughly_is_true_of_the_networks_trained_here(names):
    for phrase, value, lowest, highest in rough_phrases(names):
        assert phrase in TEXT
        assert lowest < value < highest, phrase


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("profile-figure", "seed 0 and the published profile: at most 0.005 apart"),
        ("class-code", "random labels   0.017 (0.016 to 0.018)"),
        ("stripe-figure", "the carry at −2          1, 5, 10 blocks apart: 0.88 0.53 0.28"),
        ("stripe-figure", "the carry at −5          1, 5, 10 blocks apart: 0.99 0.97 0.94"),
        ("stripe-figure", "digits, 20 blocks, stripes_start, 5 blocks apart: 0.94"),
        ("stripe-figure", "digits, 20 blocks, stripes, 5 blocks apart: 0.62"),
        ("exercise-1-solution", "expected 0.0167, measured on noise 0.0165"),
        ("exercise-3-solution", "on paper 0.255, measured 0.255"),
    ],
)
def test_cells_print_what_the_text_says(run, cell, line):
    assert line in run[1][cell]


def test_the_table_of_biases_is_the_record(run):
    rows = run[2]["bias-code"].data.splitlines()
    assert "| digits, Adam, −2 | 78 (74 to 81) | -0.033 (-0.036 to -0.029) | 0.119 | 0.083 (0.078 to 0.090) |" in rows
    assert "| spirals | 40 (35 to 48) | +0.197 (+0.123 to +0.245) | 0.102 | 0.267 (0.256 to 0.274) |" in rows


# What the text says in words


def test_kinds_are_six_with_five_seeds(names):
    assert [len(points) for points in names["KINDS"].values()] == [5] * 6
    assert sum(map(len, names["KINDS"].values())) == len(names["record"]) == 30


LIVE = [
    ("train-deep", "deep", "digits, Adam, −2", "fit(deep, training,", "fit(deep, training, epochs=1,"),
    ("train-spiral", "spiral", "spirals", "epochs=80", "epochs=1"),
]


@pytest.mark.parametrize(("cell", "name", "kind", "old", "new"), LIVE)
def test_the_recipes_of_the_chapter_are_those_of_the_record(names, monkeypatch, cell, name, kind, old, new):
    """A single epoch, so that rounding has no time to grow: the study's training gives the same network."""
    point, trained = names["KINDS"][kind].points[0], []
    epochs = int(old.partition("epochs=")[2] or inspect.signature(fit).parameters["epochs"].default)
    assert (point["seed"], point["epochs"]) == (0, epochs)

    def train_an_epoch(*arguments, epochs, **options):
        trained.append(train(*arguments, epochs=1, **options))
        return trained[-1]

    train = trained_gates.train
    monkeypatch.setattr(trained_gates, "train", train_an_epoch)
    monkeypatch.setattr(trained_gates, "look", lambda *_: ({}, {}))
    trained_gates.trained_gates(**{axis: point[axis] for axis in names["record"].axes})
    source = next(c.source for c in nbformat.read(CHAPTER, as_version=4).cells if c.id == cell)
    assert source.count(old) == 1
    chapter = dict(names)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(source.replace(old, new), chapter)
    ((_, run),) = trained
    np.testing.assert_allclose(chapter[f"{name}_end"].flat, run.params.flat, atol=1e-5)


def test_the_networks_of_the_chapter_are_like_those_of_the_record(names):
    """What is seen live lies within two fifths of the mean of the five seeds, whatever the processor."""
    for network, end, start, data, kind in (
        ("deep", "deep_end", "deep_start", names["images"], "digits, Adam, −2"),
        ("spiral", "spiral_end", "spiral_start", trained_gates.spirals(5, 0)[0], "spirals"),
    ):
        points, live = names["KINDS"][kind], trained_gates.look(names[network], names[start], names[end], data)[0]
        for name in ("biases_fell", "bias_change", "mean_gate", "gate_spread", "active", "ever_active"):
            assert live[name] == pytest.approx(points.array(name).mean(), rel=0.4), (kind, name)
        assert live["class_share_start"] == pytest.approx(points.points[0]["class_share_start"], abs=1e-4)


def percentages(text):
    return [float(number) for number in re.findall(r"(\d+(?:\.\d+)?) ?%", text)]


def test_the_networks_of_the_chapter_show_what_the_text_explains(run):
    spiral, deep = (percentages(run.printed[cell])[0] for cell in ("train-spiral", "train-deep"))
    assert spiral > 98
    assert deep > 85
    right, of_giver, alone = percentages(run.printed["exchange-code"])
    assert right < 25 < 70 < of_giver, "with foreign gates the giver's class comes out"
    assert alone > 75, "the pattern of gates carries the answer"
    own, of_class = percentages(run.printed["exercise-2-solution"])
    assert abs(own - deep) < 1
    assert of_class > own - 2, "within a class, gates can be exchanged"
    giver, own = np.reshape(percentages(run.printed["exercise-4-solution"]), (10, 2)).T
    assert giver[0] > own[0], "with n = 1 the giver's class wins"
    assert own[-1] > giver[-1] + 50, "from block 46 on hardly anything is foreign"


def test_published_profile_of_mean_gates(names):
    """F8: within 0.02, block by block."""
    ours = names["KINDS"]["digits, 20 blocks"].points[0]["curves"]["mean_gate"]
    np.testing.assert_allclose(ours, published.MEAN_GATES, atol=0.02)


def test_biases_rise_on_spirals_and_fall_on_digits_for_every_seed(names):
    for kind, points in names["KINDS"].items():
        change = points.array("bias_change")
        assert (change > 0).all() if kind == "spirals" else (change < 0).all(), kind


def test_trends_are_as_described(names):
    def signs(kind, name):
        return [np.sign(np.corrcoef(range(len(c)), c)[0, 1]) for c in curves(names["KINDS"][kind], name)]

    for kind, bias, gate in (("digits, 20 blocks", -1, -1), ("spirals", 1, 1), ("digits, tanh, −2", -1, 1)):
        assert signs(kind, "bias_change") == [bias] * 5, kind
        assert signs(kind, "mean_gate") == [gate] * 5, kind
    assert signs("digits, Adam, −2", "bias_change") == [1] * 5
    assert sum(signs("digits, Adam, −2", "mean_gate")) == -3, "four of five seeds"


def test_no_block_of_the_thirty_networks_is_half_open(names):
    assert max(curves(points, "mean_gate").max() for points in names["KINDS"].values()) < 0.5


def test_stripes_on_twenty_blocks_of_digits_are_shortened_in_every_seed(names):
    for kind in ("spirals", "digits, 20 blocks"):
        before, after = (curves(names["KINDS"][kind], name)[:, 5] for name in ("stripes_start", "stripes"))
        assert (after < before).all(), kind


def test_mean_gate_rises_twelvefold_with_adam_at_minus_5(names):
    points = names["KINDS"]["digits, Adam, −5"]
    assert points.array("mean_gate").mean() / points.array("mean_gate_start").mean() == pytest.approx(12, abs=0.5)


def test_untrained_gates_share_no_more_with_the_classes_than_pixels_do(names):
    for kind in ("digits, Adam, −2", "digits, SGD, −5", "digits, 20 blocks"):
        assert abs(names["KINDS"][kind].array("class_share_start").mean() - pixel_share()) < 0.03


def test_exchanges_have_the_pattern_of_the_text(names):
    def low(kind, name):
        return names["KINDS"][kind].array(name).min()

    def high(kind, name):
        return names["KINDS"][kind].array(name).max()

    assert low("digits, Adam, −2", "answer_of_giver") > 5 * high("digits, Adam, −2", "gates_of_others")
    assert low("digits, SGD, −5", "accuracy_shuffled") > 0.95
    assert high("digits, SGD, −5", "one_input") < 0.11
    for name in ("gates_of_others", "accuracy_shuffled", "accuracy_frozen"):
        assert abs(names["KINDS"]["spirals"].array(name) - 0.5).max() < 0.05
    every = names["KINDS"]["digits, Adam, −2"]
    assert every.array("gates_of_class").mean() > every.array("test_accuracy").mean()


def test_gates_bend_from_an_edge_to_a_spiral(names):
    """Along the way out from the origin, a gate of block 1 crosses ½ at most once; one of block 10 several times."""
    spiral, end = names["spiral"], names["spiral_end"]
    way = np.linspace(0, 2, 400)[:, None]
    crossings = []
    for angle in np.linspace(0, 2 * np.pi, 12, endpoint=False):
        T = gates.transform_gates(spiral, end, way * [np.cos(angle), np.sin(angle)])
        crossings.append((np.diff(T > 0.5, axis=1) != 0).sum(axis=1))
    most = np.max(crossings, axis=(0, 2))  # of each block
    assert most[0] <= 1
    assert most[9] >= 4
    assert most[:4].max() < most[6:].max()


def test_the_spread_grows_most_in_the_upper_blocks(names):
    spread = curves(names["KINDS"]["spirals"], "gate_spread").mean(axis=0)
    assert spread[8:].min() > spread[:8].max()


# Sliders


def test_plane_slider_shows_the_gates(names):
    maps = gates.plane_gates(names["spiral"], names["spiral_end"], n=names["N"])
    np.testing.assert_array_equal(names["gate_picture"](4, 3)["transform gate"], maps[3, :, :, 2])
    np.testing.assert_array_equal(names["gate_picture"](10, "mean")["transform gate"], maps[9].mean(axis=-1))
    corner = gates.transform_gates(names["spiral"], names["spiral_end"], [[-2.0, 2.0]])
    assert names["gate_picture"](1, 1)["transform gate"][-1, 0] == pytest.approx(corner[0, 0, 0], abs=1e-6)
    assert (names["AXIS"][0], names["AXIS"][-1]) == (-2, 2)


def test_panel_slider_shows_the_trained_network(names):
    deep, end, x = names["deep"], names["deep_end"], names["images"].x_test
    labels = [int(re.search(r"\d", name)[0]) for name in names["EXAMPLES"]]
    chosen = list(names["EXAMPLES"].values())
    assert names["images"].y_test[chosen].tolist() == labels
    assert len(set(chosen)) == 5
    frame = names["panels"]("3b", 1)
    assert {values.shape for values in frame.values()} == {(64, 50)}
    T, h = gates.transform_gates(deep, end, x), np.array(gates.forward_with(deep, end, x)[1])
    i = names["EXAMPLES"]["3b"]
    np.testing.assert_allclose(frame["gate"], T[:, i].T, atol=1e-4)
    np.testing.assert_allclose(frame["output"], h[1:, i].T, atol=1e-3)
    np.testing.assert_allclose(frame["mean gate"], T.mean(axis=1).T, atol=1e-5)
    other = names["panels"]("0", 50)
    for name, alike in {"bias": True, "mean gate": True, "gate": False, "output": False}.items():
        assert np.array_equal(frame[name], other[name]) is alike, name


def test_two_threes_share_most_of_their_gates_and_a_zero_fewer_but_one_and_seven_share_most_too(names):
    active = {name: names["panels"](name, 1)["gate"] > 0.5 for name in names["EXAMPLES"]}

    def shared(one, other):
        return (active[one] & active[other]).sum() / max(active[one].sum(), active[other].sum())

    assert shared("3a", "3b") > 0.5 < shared("1", "7")
    assert shared("3a", "0") < shared("3a", "3b") - 0.1


def test_much_of_what_is_open_for_one_example_is_open_for_most(names):
    deep, end, x = names["deep"], names["deep_end"], names["images"].x_test
    active = (gates.transform_gates(deep, end, x) > 0.5).mean(axis=1)  # (block, unit): for which share of the examples
    assert "much of what is open for one example is open for most, and the rest chooses" in TEXT
    assert 0.35 < active[active > 0.5].sum() / active.sum() < 0.8


def test_hardly_anything_lies_beyond_the_colours(names, run):
    """Nothing where the sliders start; elsewhere a few outputs may, by another processor's rounding, and are named."""
    for cell in ("look-slider", "panels-slider"):
        assert "Beyond the colours" not in run[2][cell].frame["says"]
    for example in names["EXAMPLES"]:
        frame = names["panels"](example, 1)
        assert frame["output"].min() >= 0
        assert (frame["output"] <= 35).mean() > 0.97
        assert np.abs(frame["bias"]).max() <= 0.25


def test_sentences_under_the_sliders(names, run):
    look, panels = (run[2][cell].frame["says"] for cell in ("look-slider", "panels-slider"))
    T = gates.plane_gates(names["spiral"], names["spiral_end"], n=36)[0, :, :, 0]
    said = f"the gate is {T.mean():.2f} on average, and above ½ on {100 * np.mean(T > 0.5):.0f} % of the picture."
    assert look == f"At block 1 and unit 1: {said}"
    three = list(names["EXAMPLES"]).index("3a")
    T, h = names["T_shown"][39, three], names["h_shown"][39, three]
    assert panels.endswith(f"{np.sum(T > 0.5)} of 64 gates are active; the largest output is {np.max(h):.1f}.")


# Stripes


def test_stripes_by_hand():
    h = np.random.default_rng(0).normal(size=(4, 3, 6))
    expected = np.zeros(4)
    for k in range(4):
        pairs = [(block, i) for block in range(4 - k) for i in range(3)]
        expected[k] = np.mean([np.corrcoef(h[block, i], h[block + k, i])[0, 1] for block, i in pairs])
    np.testing.assert_allclose(gates.stripes(h), expected, atol=1e-12)


def test_stripes_know_their_limits():
    h = np.random.default_rng(0).normal(size=(1, 5, 64))
    np.testing.assert_allclose(gates.stripes(h.repeat(4, axis=0)), 1)  # blocks that only carry
    assert abs(gates.stripes(np.random.default_rng(1).normal(size=(6, 50, 64)))[1:]).max() < 0.05
    assert gates.stripes(np.ones((3, 2, 4))).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match=r"h must have shape \(depth, batch, width\)"):
        gates.stripes(np.ones((3, 4)))


def test_stripes_of_a_carry_that_is_topped_up_follow_the_formula():
    """An average of noise that keeps 0.88 of itself per block, as the text supposes."""
    rng, carry, h = np.random.default_rng(0), 1 - sigmoid(-2.0), [np.random.default_rng(1).normal(size=(40, 64))]
    for _ in range(60):
        h.append(carry * h[-1] + np.sqrt(1 - carry**2) * rng.normal(size=(40, 64)))
    np.testing.assert_allclose(gates.stripes(h)[:11], carry ** np.arange(11), atol=0.04)


def test_fresh_networks_have_the_stripes_of_their_carry(names):
    rows = names["fresh"](-2.0, first=21, reach=11)
    assert rows.shape == (5, 11)
    network = Network(Highway(-2.0), depth=50)
    _, h = gates.forward_with(network, network.initialise(3), digits(3).x_test)
    np.testing.assert_allclose(rows[3], gates.stripes(h[21:])[:11])
    np.testing.assert_allclose(rows.mean(axis=0), (1 - sigmoid(-2.0)) ** np.arange(11), atol=0.05)


# Figures


def test_figure_of_stripes():
    rows = np.array([[1.0, 0.8, 0.6], [1.0, 0.4, 0.2]])
    axes = figures.stripe_reach({"trained": rows}, 0.9).axes[0]
    line, carry = axes.lines
    np.testing.assert_allclose(line.get_xydata(), [(0, 1), (1, 0.6), (2, 0.4)])
    np.testing.assert_allclose(carry.get_ydata(), [1, 0.9, 0.81])
    band = axes.collections[0].get_paths()[0].get_extents()
    assert (band.y0, band.y1) == (0.2, 1)


def test_figure_of_class_gates():
    differences = np.random.default_rng(0).normal(size=(7, 5, 4))
    figure = figures.class_gates(differences, columns=5)
    drawn = [axes for axes in figure.axes if axes.images]
    largest = np.abs(differences).max()
    for number, (axes, values) in enumerate(zip(drawn, differences, strict=True)):
        np.testing.assert_array_equal(axes.images[0].get_array(), values)
        assert axes.images[0].get_clim() == (-largest, largest)
        assert list(axes.images[0].get_extent()) == [0.5, 4.5, 5.5, 0.5]  # block 1 above
        assert [text.get_text() for text in axes.texts] == [f"class {number}"]


def test_figure_of_accuracies():
    rows = {"own": np.array([0.9, 1.0]), "others": np.array([0.1, 0.3])}
    figure = figures.accuracy_dots({"a": rows, "b": rows}, {"a": 0.1, "b": 0.5})
    for axes, chance in zip(figure.axes, (10, 50), strict=True):
        own, own_mean, others, others_mean, guess = axes.lines
        np.testing.assert_allclose(own.get_xydata(), [(90, 0), (100, 0)])
        np.testing.assert_allclose(others.get_xydata(), [(10, 1), (30, 1)])
        assert (own_mean.get_xdata()[0], others_mean.get_xdata()[0]) == pytest.approx((95, 20))
        assert guess.get_xdata()[0] == pytest.approx(chance)
        assert to_hex(own.get_color()) == BLOCKS["highway"].light.lower()
        bottom, top = axes.get_ylim()
        assert bottom > top, "the first condition stands on top"
        assert [text.get_text() for text in axes.get_yticklabels()] == ["own", "others"]


# Checks of the exercises


@pytest.mark.parametrize(
    ("check", "answer", "right", "word"),
    [
        ("chance_share", 9 / 539, True, "0.0167"),
        ("chance_share", 0.0167, True, ""),
        ("chance_share", 0, False, "random groups"),
        ("chance_share", 0.1, False, "how often a random label"),
        ("chance_share", 0.5, False, "too large"),
        ("chance_share", None, False, "None"),
        ("chance_share", "small", False, "number"),
        ("selective_spread", 0.255, True, "0.255"),
        ("selective_spread", 0.065, False, "variance"),
        ("selective_spread", 0.85, False, "apart"),
        ("selective_spread", 0.135, False, "mean gate"),
        ("selective_spread", 0.4, False, "too large"),
        ("selective_spread", None, False, "None"),
    ],
)
def test_checks_accept_what_is_right_and_explain_what_is_wrong(check, answer, right, word):
    verdict = getattr(exercises, f"check_{check}")(answer)
    assert bool(verdict) is right
    assert word in verdict.sentence


def within(y, rng):
    order = np.arange(len(y))
    for c in np.unique(y):
        order[y == c] = rng.permutation(order[y == c])
    return order


def once(function):
    """The function, for one call; then it fails."""
    calls = []

    def called(*arguments):
        if calls:
            raise RuntimeError("no more")
        calls.append(arguments)
        return function(*arguments)

    return called


@pytest.mark.parametrize(
    ("order", "right", "word"),
    [
        (within, True, "its own class"),
        (lambda y, rng: within(y, rng).tolist(), True, ""),
        (lambda y, rng: rng.permutation(len(y)), False, "another class"),
        (lambda y, rng: np.arange(len(y)), False, "keep their own gates"),
        (lambda y, rng: np.argsort(y), False, "another class"),
        (lambda y, rng: within(y, np.random.default_rng(5)), False, "another generator gave the same"),
        (lambda y, rng: np.zeros(len(y), int), False, "once, for 100 labels"),
        (lambda y, rng: within(y, rng)[:-1], False, "once, for 100 labels"),
        (lambda y, rng: within(y, rng).astype(float), True, ""),
        (lambda y, rng: within(y, rng).astype(complex), False, "real numbers"),
        (lambda y, rng: [None] * len(y), False, "real numbers"),
        (lambda y, rng: [[0], [1, 2]], False, "the order must"),
        (once(within), False, "stopped with RuntimeError"),
        (lambda y, rng: None, False, "None"),
        (lambda y: y, False, "TypeError"),
        (None, False, "a function order(y, rng)"),
    ],
)
def test_check_of_an_order_within_classes(order, right, word):
    verdict = exercises.check_within_classes(order)
    assert bool(verdict) is right
    assert word in verdict.sentence


@pytest.fixture(scope="module")
def flip(names):
    """The last of blocks 1, 6, 11, … of the network trained here from which on foreign gates win, counted by hand."""
    x, y = names["images"].x_test, names["images"].y_test
    T = gates.transform_gates(names["deep"], names["deep_end"], x)
    order, wins = np.random.default_rng(0).permutation(len(x)), []
    for first in range(1, 51, 5):
        mixed = np.where(np.arange(1, 51)[:, None, None] < first, T, T[:, order])
        answers = gates.forward_with(names["deep"], names["deep_end"], x, gates=mixed)[0].argmax(axis=1)
        wins += [first] * int(np.sum(answers == y[order]) > np.sum(answers == y))
    assert 1 < max(wins) < 46, "the exercise asks for a place in between"
    return max(wins)


@pytest.mark.parametrize(
    ("answer", "right", "word"),
    [
        (lambda flip: flip, True, "begun later"),
        (np.int64, True, ""),
        (lambda flip: 1, False, "go on upwards"),
        (lambda flip: flip + 5, False, "begin further down"),
        (lambda flip: flip - 1, False, "one of the blocks 1, 6, 11"),
        (lambda flip: None, False, "None"),
        ("block {}".format, False, "number"),
    ],
)
def test_check_of_the_block_where_foreign_gates_win(names, flip, answer, right, word):
    data = names["images"]
    verdict = exercises.check_flip_block(answer(flip), names["deep"], names["deep_end"], data.x_test, data.y_test)
    assert bool(verdict) is right
    assert word in verdict.sentence


def test_where_foreign_gates_never_win_the_check_says_so(names):
    data = names["images"]
    verdict = exercises.check_flip_block(1, names["deep"], names["deep_start"], data.x_test, data.y_test)
    assert not verdict
    assert "never win" in verdict.sentence


# The study


def test_exchanges_of_the_study_by_hand():
    network = Network(Highway(-1.0), depth=2, width=5, n_in=3, n_classes=2)
    rng = np.random.default_rng(0)
    params, x, y = network.initialise(rng), rng.normal(size=(30, 3)), np.arange(30) % 2
    T = gates.transform_gates(network, params, x)
    measured = trained_gates.with_other_gates(network, params, x, y, T)
    orders = [np.random.default_rng(draw).permutation(30) for draw in range(trained_gates.DRAWS)]
    scores = [gates.score(network, params, x, y[order], gates=T[:, order]).accuracy for order in orders]
    assert measured["answer_of_giver"] == pytest.approx(np.mean(scores))
    assert measured["accuracy_frozen"] == gates.score(network, params, x, y, gates=gates.frozen(T)).accuracy
    same = np.tile(x.mean(axis=0), (30, 1))
    assert measured["one_input"] == gates.score(network, params, same, y, gates=T).accuracy
    constant = np.full_like(T, 0.3)  # gates that are all alike: whose they are makes no difference
    alike = trained_gates.with_other_gates(network, params, x, y, constant)
    own = gates.score(network, params, x, y, gates=constant).accuracy
    for name in ("gates_of_others", "gates_of_class", "accuracy_shuffled", "accuracy_frozen"):
        assert alike[name] == pytest.approx(own), name


def test_the_study_is_complete_and_nothing_diverged():
    record = studies.load("trained_gates")
    assert {point["stopped"] for point in record} == {None}
    for point in record:
        assert [len(point["curves"][name]) for name in ("mean_gate", "size")] == [point["depth"], point["depth"] + 1]
