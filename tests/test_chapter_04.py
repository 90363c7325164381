"""Chapter 4: each number in the text comes from a record or from the chapter's own cells.

Phrases with numbers are built here from the records and must stand in the text; no other number with a decimal point
or a per cent sign may. The cells run in one namespace, as a reader would run them.
"""

import itertools
import re

import numpy as np
import pytest
import reading
from conftest import BOOK
from matplotlib.colors import to_hex

from highway_lessons import Data, Highway, NaiveResidual, Network, Plain, digits, exercises, figures, published, studies
from highway_lessons.exercises import training as checks
from highway_lessons.gradients import over_seeds, profile
from highway_lessons.palette import BLOCKS
from highway_lessons.sliders import number
from highway_lessons.studies.__main__ import main as studies_command
from highway_lessons.studies.recorded import GRID, recorded
from highway_lessons.studies.trainings import matched_width

CHAPTER = BOOK / "chapters" / "04-train-from-five-to-a-hundred-layers.ipynb"
TEXT = reading.prose(CHAPTER)
WORDS = dict(enumerate(["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]))


# What the records say


DIGITS, SPIRALS = studies.load("depth"), studies.load("depth_spirals")
KINDS = {
    "plain": {"block": "plain", "width": 64},
    "plain, matched": {"block": "plain", "width": "matched"},
    "highway, −2": {"block": "highway", "gate_bias": -2.0},
    "highway, −ln L": {"block": "highway", "gate_bias": "-ln depth"},
    "residual": {"block": "residual"},
    "zero start": {"block": "residual_zero_start"},
    "naive": {"block": "naive_residual"},
}


def seeds(kind, depth, start="uniform", measured="test_accuracy", dtype="float32"):
    """One result of the five seeds; accuracies in per cent."""
    points = DIGITS.select(**KINDS[kind], depth=depth, initialiser=start, dtype=dtype)
    values = points.array(measured)
    assert values.shape == (5,)
    return 100 * values if measured.endswith("accuracy") else values


def no_block(start="uniform", width=64, depth=0):
    """Test accuracies of the control in per cent, at the learning rate with the best validation accuracy."""
    points = DIGITS.select(block="none", initialiser=start, width=width, depth=depth)
    rates = points.values("learning_rate")
    validation = points.array("validation_accuracy", "learning_rate").mean(axis=1)
    return 100 * points.array("test_accuracy", "learning_rate")[validation.argmax()], rates[validation.argmax()]


def untuned_no_block():
    """Test accuracies of the control at the learning rate of all the other networks, in per cent."""
    points = DIGITS.select(block="none", width=64, learning_rate=1e-3, initialiser="uniform")
    return 100 * points.array("test_accuracy")


def last_epoch(kind, depth, start):
    """Training loss as the last epoch's mean over mini-batches, five seeds."""
    points = DIGITS.select(**KINDS[kind], depth=depth, initialiser=start, dtype="float32")
    return np.array([point["curves"]["train_loss"][-1] for point in points])


def spirals(block, turns, depth, width="matched", epochs=80, measured="test_accuracy"):
    """One result of the five seeds on the spirals, in per cent, at the rate with the best validation accuracy."""
    points = SPIRALS.select(block=block, turns=turns, depth=depth, width=width, epochs=epochs)
    best = points.array("validation_accuracy", "learning_rate").mean(axis=1).argmax()
    return 100 * points.array(measured, "learning_rate")[best]


def geometric(values):
    return float(np.exp(np.log(values).mean()))


def span(values, digits=0):
    return f"{values.min():.{digits}f} to {values.max():.{digits}f}"


def mean(values, digits=1):
    return f"{values.mean():.{digits}f}"


# Numbers in the text


def gaps():
    """Points between means of test accuracy: residual ahead of highway with −ln L for the two starts (He's up to 30
    blocks), highway below the control with He's (up to 30), and residual above the untuned control (from 20).
    """
    depths = DIGITS.select(block="plain").values("depth")
    mean = {
        (kind, start): np.array([seeds(kind, depth, start).mean() for depth in depths])
        for kind in ("residual", "highway, −ln L")
        for start in ("uniform", "he")
    }
    ahead, ahead_he = (mean["residual", start] - mean["highway, −ln L", start] for start in ("uniform", "he"))
    below = no_block("he")[0].mean() - mean["highway, −ln L", "he"]
    shallow, deep = np.array(depths) <= 30, np.array(depths) >= 20
    return ahead, ahead_he[shallow], below[shallow], mean["residual", "uniform"][deep] - untuned_no_block().mean()


def phrases():
    """What the text says in numbers of the digits, in its own words, with the numbers of the records."""
    fitted = {
        (kind, depth, start): span(seeds(kind, depth, start, "train_accuracy"))
        for kind, depth, start in [
            ("plain", 20, "he"), ("plain", 50, "he"), ("plain", 100, "he"), ("highway, −2", 30, "uniform"),
            ("highway, −2", 50, "uniform"), ("highway, −2", 100, "uniform"), ("highway, −ln L", 100, "uniform"),
        ]
    }  # fmt: skip
    nudged = published.record()["nudged"]
    chaotic, deep = (seeds(kind, depth, dtype="float64") for kind, depth in (("plain", 20), ("highway, −2", 50)))
    rows = {(row.figure, published.name(row.block), row.depth): row for row in published.ROWS}
    wide, _ = no_block(width="matched", depth=50)
    interval = 196 * np.sqrt(0.97 * 0.03 / 540)
    blown = [
        100 * max(point["curves"]["train_accuracy"])
        for kind in ("highway, −2", "highway, −ln L")
        for depth in (50, 75, 100)
        for point in DIGITS.select(**KINDS[kind], depth=depth, initialiser="he", dtype="float32")
        if point["train_loss"] > np.log(10)
    ]
    good = [best for best in blown if best > 90]
    ahead, ahead_he, below_he, above = gaps()
    growth = {s: 100 * (growth_of_activations(s) - 1) for s in ("uniform", "he")}
    return [
        f"with {len(studies.STUDIES['depth'].points()) + len(studies.STUDIES['depth_spirals'].points())} trainings",
        "at a learning rate of 1e-3",
        f"The level line is plain, at {np.log(10):.2f}.",
        f"takes the mean of the five down to {geometric(last_epoch('plain', 20, 'uniform')):.2f}.",
        f"ends at a loss of {geometric(last_epoch('highway, −2', 100, 'uniform')):.2g};",
        f"the plain network comes down to {geometric(last_epoch('plain', 20, 'he')):.2g}.",
        rf"\ln 10 = {np.log(10):.3f}",
        f"the most frequent class, {np.bincount(digits(0).y_test).max() / 540:.4f} in the published test set",
        "by about one part in 1e15",
        f"lands anywhere from {min(nudged):.2f} to {max(nudged):.2f} in {len(nudged)} runs of ours",
        "(and from 0.20 to 0.55 in the 60 runs published with the figure)",
        f"{rows['F6', 'plain', 20].accuracy:.4f} is one draw from it, and our {chaotic[0] / 100:.4f} another",
        f"the four others stay at {chaotic[1:].max() / 100:.2f}.",
        f"the highway row says {rows['F6', 'highway (−2)', 50].accuracy:.4f}, again and again",
        f"its five seeds range from {span(deep / 100, 3)}.",
        f"is {np.log(10):.2f}. What do you know?",
        f"Right. {np.log(10):.2f} is ln 10.",
        f"have a training loss of {np.log(10):.2f} and fit one training image in ten",
        f"fit {fitted['plain', 20, 'he']} % of the training images at 20 blocks",
        f"and {fitted['plain', 50, 'he']} % at 50, where the uniform start gives 10.",
        f"at 100 they range from {fitted['plain', 100, 'he']} %:",
        f"highway networks fit {fitted['highway, −2', 30, 'uniform']} % at 30 blocks, "
        f"{fitted['highway, −2', 50, 'uniform']} % at 50 and {fitted['highway, −2', 100, 'uniform']} % at 100,",
        rf"With $b = -\ln L$ it is {fitted['highway, −ln L', 100, 'uniform']} % at 100.",
        f"of thirty with 50 blocks or more, {WORDS[len(blown)]} end with a training loss *above* that of guessing, "
        f"{WORDS[len(good)]} of them after they had fitted {min(good):.0f} % of the training images",
        f"grow by {growth['uniform']:.0f} % per block",
        f"With He weights they grow by {growth['he']:.0f} %",
        f"on the test set they are at most {ahead.max():.1f} points ahead, with He weights less than "
        f"{WORDS[int(np.ceil(ahead_he.max()))]} up to 30 blocks",
        f"at most {below_he.max():.1f} points below the {mean(no_block('he')[0])} % of no blocks with He weights",
        f"Residual networks of 20 blocks or more lie {span(above, 1)} points above it",
        f"has {mean(seeds('plain', 50), 0)} % test accuracy, one of 5 blocks has {mean(seeds('plain', 5), 0)} %.",
        f"The training loss: at {np.log(10):.1f} there is nothing",
        f"Fifty highway blocks reach {mean(seeds('highway, −2', 50))} % on the test set with bias −2 and "
        rf"{mean(seeds('highway, −ln L', 50))} % with $-\ln L$",
        "at 1e-3 it is undertrained",
        "has a 95 % interval of",
        r"\pm 1.96 \sqrt",
        f"For $p = 0.97$ and $N = 540$ that is ±{interval:.1f} points.",
        "up to 16 % more than its share",
        f"the network without blocks has {mean(no_block()[0])} % on the test set; "
        f"spread over one layer of 5611 units, {mean(wide)} %.",
        f"At the common rate of 1e-3 the network without blocks has {mean(untuned_no_block())} %",
        "97 % is better than 96.5 %",
        f"540 images carries ±{interval:.1f} points",
        "A highway network of 50 blocks reaches 96 % on a data set",
        "it would not reach 96 %",
        "fit at least 90 % of its *training* images",
        f"Our 540 test images give ±{interval:.1f} points at an accuracy of 97 %.",
        "how many images it takes for ±0.5 points",
    ]


def spiral_phrases():
    """The same for the spirals."""

    def a(block, turns, depth, width="matched", epochs=80):
        return mean(spirals(block, turns, depth, width, epochs))

    def both(*point):
        values = spirals(*point)
        return mean(values), span(values, 1)

    (five, five_span), (ten, ten_span), (fifty, fifty_span) = (both("highway", 7, depth, 8) for depth in (5, 10, 50))
    narrow, narrow_span = both("highway", 7, 10)
    rounded = [mean(spirals("highway", 7, *rest), 0) for rest in ((1,), (10,), (1, "matched", 320))]
    return [
        f"draw a radius $r$ from {np.sqrt(0.02):.2f} to 1",
        f"hardly better than a coin: {a('none', 5, 0, 8)} % at 5 turns.",
        f"One highway block makes it {a('highway', 5, 1, 8)} %, two {a('highway', 5, 2, 8)} %, "
        f"five {a('highway', 5, 5, 8)} %, and then little is left to win: {a('highway', 5, 10, 8)} % with ten, "
        f"{a('highway', 5, 50, 8)} % with fifty.",
        f"the seeds spread: {five} % with five ({five_span}), {ten} % with ten ({ten_span}), "
        f"{fifty} % with fifty ({fifty_span}).",
        f"at 5 turns {a('plain', 5, 5, 8)} % with five, {a('plain', 5, 50, 8)} % with fifty.",
        f"at 5 turns they do not turn back: {a('residual', 5, 5, 8)} % with five, "
        f"{a('residual', 5, 50, 8)} % with fifty.",
        f"one wide highway block has {a('highway', 7, 1)} %, and ten narrow ones have {narrow} % ({narrow_span}).",
        f"Ten plain blocks have {a('plain', 7, 10)} %, ten residual ones {a('residual', 7, 10)} %.",
        f"all parameters in one wide layer, it is {a('none', 7, 0)} %:",
        f"one wide highway block has {a('highway', 5, 1)} % there and two wide plain ones have {a('plain', 5, 2)} %,",
        f"one block goes from {a('highway', 7, 1)} to {a('highway', 7, 1, epochs=320)} %, "
        f"ten go from {narrow} to {a('highway', 7, 10, epochs=320)} %.",
        f"one highway block reaches {rounded[0]} % at 7 turns and ten reach {rounded[1]} %.",
        f"With four times the epochs the one block reaches {rounded[2]} %.",
    ]


def places():
    """Every position of the panel's controls, and what was recorded there."""
    for place in itertools.product(*GRID.values()):
        setting = dict(zip(GRID, place, strict=True))
        yield setting, recorded(setting)


def where_curves_are():
    """The rates, optimisers and highway gate biases with curves; every block at every depth has them there."""
    drawn = [setting for setting, found in places() if found is not None and found.curves is not None]
    assert {(one["block"], one["depth"]) for one in drawn} == set(itertools.product(GRID["block"], GRID["depth"]))
    biases = {one["gate_bias"] for one in drawn if one["block"] == "highway"}
    (how,), (bias,) = {(one["optimiser"], one["learning_rate"]) for one in drawn}, biases
    return *how, bias


def panel_phrases():
    """What the text says of the settings that it asks the reader to train, from the studies themselves."""
    optimiser, rate, bias = where_curves_are()
    low = studies.load("gate_bias").select(gate_bias=-5.0, depth=100, optimiser="adam", dtype="float32")
    kinds = [seeds("highway, −2", 20), seeds("highway, −2", 100), 100 * low.array("test_accuracy"), seeds("plain", 20)]
    first, deep, closed, plain = (f"{mean(five)} % ({span(five, 1)})" for five in kinds)
    return [
        f"Curves were recorded with {optimiser} at {rate}, for highway at gate bias {number(bias)}; "
        "elsewhere only the ends, drawn as diamonds.",
        f"20 highway blocks with bias −2 reach {first}, the mean and the range of five seeds.",
        f"A hundred reach {deep}:",
        f"with bias −5 a hundred blocks reach {closed}.",
        f"Twenty plain blocks reach {plain}.",
        f"the other four stay near {seeds('plain', 20)[1:].mean():.0f} %.",
    ]


def rough_phrases():
    """What alternative texts say roughly: the phrase, the number in it, what the record says, the factor allowed."""
    deep = np.array(
        [seeds(kind, depth, "he", "train_loss") for kind in KINDS if "highway" in kind for depth in (50, 75, 100)]
    )
    highest, lowest = deep.max(), deep[deep > np.log(10)].min()
    uniform, he = (
        {
            kind: np.array([geometric(seeds(kind, depth, start, "train_loss")) for depth in (1, 5, 20, 100)])
            for kind in ("plain", "highway, −ln L", "residual")
        }
        for start in ("uniform", "he")
    )
    accuracy = {
        kind: np.array([seeds(kind, depth).mean() for depth in (1, 5, 20, 50, 100)])
        for kind in KINDS
        if kind != "zero start"
    }
    none = DIGITS.select(block="none", width=64, learning_rate=no_block()[1], initialiser="uniform").array("train_loss")
    return [
        *[("fall below 0.1", 0.1, geometric(last_epoch(k, 5, "uniform")), 3) for k in ("plain", "highway, −2")],
        ("near the dashed line of guessing, at 2.3", 2.3, geometric(last_epoch("plain", 50, "uniform")), 1.01),
        ("at guessing, 2.3, from 20", 2.3, uniform["plain"][2], 1.12),
        *[("highway with −ln L stays near 0.05", 0.05, value, 1.4) for value in uniform["highway, −ln L"]],
        ("residual falls to 0.00015", 0.00015, uniform["residual"][-1], 1.1),
        *[("losses of 3 to 170000", claim, value, 1.1) for claim, value in ((3, lowest), (170000, highest))],
        ("residual falls to 0.00005", 0.00005, he["residual"][-1], 1.1),
        ("a level line near 0.001", 0.001, geometric(none), 1.5),
        ("the second shows 92.5 to 99", 92.5, 92.5, 1),
        *[("with −ln L stays near 95.5 at all", 95.5, value, 1.006) for value in accuracy["highway, −ln L"]],
        *[("residual near 97.", 97, value, 1.01) for value in accuracy["residual"]],
        ("without blocks lie at 97.2 and 97.9", 97.2, no_block()[0].mean(), 1.0005),
        ("without blocks lie at 97.2 and 97.9", 97.9, no_block(width="matched", depth=50)[0].mean(), 1.0005),
    ]  # fmt: skip


NUMBER = r"\d+(?:\.\d+)?\s*%|\d+\.\d+|\d+e-?\d+"


def test_the_text_says_what_the_records_say():
    for phrase in [*phrases(), *spiral_phrases(), *panel_phrases()]:
        assert phrase in TEXT


def test_rough_numbers_have_the_size_that_the_records_give():
    for phrase, claim, value, factor in rough_phrases():
        assert phrase in TEXT, phrase
        assert claim / factor <= value <= claim * factor, (phrase, value)


def test_no_number_of_the_text_is_unchecked():
    rest = TEXT
    for phrase in sorted(
        {*phrases(), *spiral_phrases(), *panel_phrases(), *(phrase for phrase, *_ in rough_phrases())},
        key=len,
        reverse=True,
    ):
        rest = rest.replace(phrase, " ")
    assert re.findall(NUMBER, rest) == []


def growth_of_activations(start):
    """Factor per block, mean over ten seeds, in a hundred naive residual blocks."""
    h = profile(NaiveResidual(), 100, initialiser=start, batch=16).h
    return ((h[:, -1] / h[:, 0]) ** (1 / 100)).mean()


# Sentences without a number


def test_five_published_rows_come_out_and_the_sixth_is_chaotic(run):
    rows = [line.split(" | ") for line in run.shown["watch-table"].data.splitlines()[2:]]
    assert len(rows) == 6
    for name, accuracy, ours, _, loss, our_loss in rows:
        same = (accuracy, loss) == (ours, our_loss.removesuffix(" |"))
        assert same is ("plain, 20 blocks" not in name)
    for dtype in ("float64", "float32"):
        leaves = seeds("plain", 20, dtype=dtype) > 12
        np.testing.assert_array_equal(leaves, [True, False, False, False, False])


def test_the_first_slider_is_as_the_text_tells(names):
    frame = names["learning"](20, "uniform")
    assert (np.abs(frame["plain"].high - np.log(10)) < 0.01).all(), "level"
    lower = [frame[kind].mid[-1] for kind in ("highway, −2", "highway, −ln L")]
    assert frame["no block"][-1] < min(lower)
    deep = names["learning"](100, "uniform")
    assert deep["highway, −ln L"].mid[-1] < 2 * frame["highway, −ln L"].mid[-1]
    assert deep["residual"].mid[-1] < frame["residual"].mid[-1]
    rows = [
        p["curves"]["train_loss"] for p in DIGITS.select(**KINDS["plain"], depth=20, initialiser="he", dtype="float32")
    ]
    low, mid, high = over_seeds(rows)
    plain = names["learning"](20, "he")["plain"]
    np.testing.assert_array_equal([plain.low, plain.mid, plain.high], [low, mid, high])


def test_plain_networks_are_lost_from_30_blocks_on():
    for depth in (30, 50, 75, 100):
        assert (np.abs(seeds("plain", depth, measured="train_loss") - np.log(10)) < 0.01).all()
        assert (seeds("plain", depth, measured="train_accuracy") < 11).all()
    assert (np.abs(seeds("plain", 20, measured="train_loss") - np.log(10)) < 0.01).sum() == 4
    assert (seeds("plain, matched", 20, measured="train_accuracy") < 11).all()


def test_he_starts_as_the_text_tells():
    he = [geometric(seeds("plain", depth, "he", "train_loss")) for depth in (10, 20, 30, 50, 75, 100)]
    assert (np.diff(he) > 0).all(), "from 10 blocks on they get worse"
    for kind in ("plain", "residual", "highway, −2", "highway, −ln L"):
        for depth in (2, 5, 10, 20):
            losses = [geometric(seeds(kind, depth, start, "train_loss")) for start in ("uniform", "he")]
            assert losses[1] < losses[0], (kind, depth)
    assert not [point for point in DIGITS if point["stopped"]], "and none became NaN"


def test_slow_is_not_dead():
    for point in DIGITS.select(**KINDS["highway, −2"], depth=100, initialiser="uniform"):
        assert point["curves"]["train_loss"][-1] < 0.8 * np.log(10)


def test_residual_blocks_with_two_layers_train_at_100_and_naive_ones_do_not():
    for kind, start in (("residual", "uniform"), ("residual", "he"), ("zero start", "uniform")):
        assert seeds(kind, 100, start, "train_accuracy").min() > 99
    assert seeds("naive", 100, measured="train_accuracy").max() < 20
    first = [p["curves"]["train_loss"][0] for p in DIGITS.select(**KINDS["naive"], depth=100, initialiser="uniform")]
    assert 0.6e8 < min(first) < 1e8 < max(first) < 1.2e8, "near a hundred million"
    assert seeds("naive", 50, "he").max() < seeds("naive", 50).min(), "with He weights it fails earlier"
    assert 1e9 < growth_of_activations("uniform") ** 100 < 1e10
    ratio = geometric(seeds("highway, −ln L", 100, measured="train_loss"))
    assert ratio > 100 * geometric(seeds("residual", 100, measured="train_loss"))


def test_no_depth_beats_no_blocks_by_a_point():
    control, _ = no_block()
    depths = DIGITS.select(block="plain").values("depth")
    for kind, starts in (
        *[(kind, ("uniform", "he")) for kind in KINDS if kind != "zero start"], ("zero start", ("uniform",))
    ):  # fmt: skip
        for start in starts:
            for depth in depths:
                assert seeds(kind, depth, start).mean() < control.mean() + 1, (kind, start, depth)
    untuned = untuned_no_block()
    for depth in depths:
        below = control.mean() - seeds("highway, −ln L", depth).mean()
        assert 1 < below < 2.3
        assert abs(seeds("highway, −ln L", depth).mean() - untuned.mean()) < 1
        if depth >= 5:
            assert abs(control.mean() - seeds("residual", depth).mean()) < 0.5


def test_where_the_dots_lie_beside_the_line_without_blocks():
    """As the text alternative of the figure says."""
    assert "residual dots from 5 blocks on lie around the lower line, nearly all other dots below it" in TEXT
    line, _ = no_block()
    depths = DIGITS.select(block="plain").values("depth")
    around = np.array([seeds("residual", depth) for depth in depths if depth >= 5]) - line.mean()
    assert np.abs(around).max() < 1.2
    assert 0.4 < np.mean(around > 0) < 0.6
    for kind in ("plain", "plain, matched", "highway, −2", "highway, −ln L"):
        assert np.mean([seeds(kind, depth) > line.mean() for depth in depths]) < 0.07, kind


def test_what_the_text_says_beside_the_panel(run):
    """The defaults it speaks of, the seed it warns of, the late hundred blocks, the share of places with a record."""
    panel = run.shown["change-panel"]
    start = {"block": "highway", "depth": 20, "gate_bias": -2.0, "optimiser": "Adam", "learning_rate": 1e-3}
    assert panel.value == panel.start == start
    plain, rest = seeds("plain", 20)[0], seeds("plain", 20)[1:]
    assert plain > 2 * rest.max()
    assert rest.max() < 11
    deep = DIGITS.select(**KINDS["highway, −2"], depth=100, initialiser="uniform")
    curves = np.array([point["curves"]["test_accuracy"] for point in deep]).mean(axis=0)
    assert (np.diff(curves.reshape(6, 5).mean(axis=1)[1:]) > 0).all(), "still climbs"
    assert (np.diff(curves[-10:]) < 0).any(), "with setbacks"
    known = [found is not None for _, found in places()]
    assert 0.23 < np.mean(known) < 0.28, "about a quarter"


def test_slow_rise_at_bias_minus_two():
    losses = [geometric(seeds("highway, −2", depth, measured="train_loss")) for depth in (10, 20, 30, 50, 75, 100)]
    assert "gate bias −2 rises from 10 on, slowly at first" in TEXT
    assert (np.diff(losses) > 0).all()
    assert losses[1] < 2 * losses[0]


def test_the_command_of_the_text_measures_again(tmp_path, capsys):
    """Into the package's own record, which is whole, it would measure nothing."""
    command = re.search(r"`\.venv/bin/python -m highway_lessons.studies (run depth --records )again`", TEXT)[1].split()
    one = ["block=none", "depth=0", "initialiser=uniform", "learning_rate=0.01", "seed=0"]
    assert studies_command([*command, str(tmp_path / "again"), "--only", *one]) == 0
    assert "depth: 1 point measured" in capsys.readouterr().out


def test_widths_of_the_table_match_totals(run):
    rows = [line.strip("| ").split(" | ") for line in run.shown["none-code"].data.splitlines()[2:]]
    extras = {}
    for depth, highway, extra, plain, none in rows:
        depth, total = int(depth), Network(Highway(), int(depth)).n_parameters
        assert int(highway) == total
        extras[depth] = 100 * (Network(Plain(), depth, 91).n_parameters / total - 1)
        assert extra == f"+{extras[depth]:.1f}"
        for width, blocks in ((int(plain), depth), (int(none), 0)):
            assert width == matched_width(Plain(), blocks, total)
            distance = [abs(Network(Plain(), blocks, w).n_parameters - total) for w in (width - 1, width, width + 1)]
            assert distance[1] == min(distance)
    assert (rows[0][2], rows[1][2], rows[5][2], rows[5][4]) == ("+15.8", "+9.9", "+1.1", "5611")
    assert [row[3] for row in rows] == ["83", "86", "89", "90", "90", "90", "91"]
    assert 15 < max(extras.values()) < 16, "up to 16 % more"
    block = {"highway": Highway().shapes(64), "plain": Plain().shapes(91)}
    count = {kind: sum(int(np.prod(shape)) for shape in shapes.values()) for kind, shapes in block.items()}
    assert count["highway"] == 8320
    assert f"plain block of width 91 ({count['plain']})" in TEXT


def test_fifty_identity_blocks_change_nothing(run):
    shallow, deep = run.printed["add-code"].splitlines()
    assert shallow.split("blocks:")[1] == deep.split("blocks:")[1]
    assert "accuracy 1.0000" in deep


def test_live_training_is_the_recorded_one(run):
    recorded = seeds("highway, −2", 20)
    printed = run.printed["watch-code"]
    assert f"recorded with this seed {recorded[0]:.1f} %" in printed
    assert f"all five seeds: {span(recorded, 1)} %" in printed
    assert float(re.search(r"yours ([\d.]+)", printed)[1]) == pytest.approx(recorded[0], abs=1)


# Spirals


def test_on_the_spirals_blocks_pay():
    for turns, width in ((5, 8), (7, 8), (5, "matched"), (7, "matched")):
        highway = [spirals("highway", turns, depth, width).mean() for depth in (1, 2, 5)]
        assert (np.diff(highway) > 0).all()
        assert highway[-1] > spirals("none", turns, 0, width).mean() + 20
        assert spirals("highway", turns, 10, width).mean() > spirals("plain", turns, 10, width).mean() + 10
    for turns, depth, width in ((5, 0, 8), (7, 0, 8), (7, 0, "matched")):
        assert spirals("none", turns, depth, width).mean() < 56, "hardly better than a coin"


def test_where_the_gain_ends_and_who_turns_back():
    mean_of = {
        (block, turns): [spirals(block, turns, depth, 8).mean() for depth in (1, 2, 5, 10, 20, 50)]
        for block in ("highway", "plain", "residual")
        for turns in (5, 7)
    }
    assert max(np.abs(np.subtract(mean_of["highway", 5][3:], mean_of["highway", 5][2]))) < 2
    assert np.ptp(mean_of["highway", 7][2:5]) < 5, "the gain is over after about five"
    assert mean_of["highway", 7][5] < mean_of["highway", 7][3], "fifty are worse than ten"
    assert mean_of["highway", 7][5] < mean_of["highway", 7][2], "and than five"
    for turns in (5, 7):
        plain, residual = mean_of["plain", turns], mean_of["residual", turns]
        assert np.argmax(plain) in (1, 2), "plain networks gain from a few blocks"
        assert plain[-1] < max(plain) - 5, "and then lose"
        assert residual[1] < mean_of["highway", turns][1] - 10
        assert residual[2] < mean_of["highway", turns][2] - 5

    assert (np.diff(mean_of["residual", 5][1:]) > 0).all(), "at 5 turns residual networks do not turn back"


def test_alternative_texts_of_the_spirals_have_the_right_sizes():
    for phrase, value, claim in (
        ("highway climbs from about 65 with one block", spirals("highway", 5, 1, 8).mean(), 65),
        ("to nearly 100 with five, residual follows more slowly", spirals("highway", 5, 5, 8).mean(), 100),
        ("highway rises from about 90 with one block", spirals("highway", 5, 1).mean(), 90),
        ("comes to about 90 with two", spirals("residual", 5, 2).mean(), 90),
        ("residual starts near 60", spirals("residual", 5, 1).mean(), 60),
        ("falls to about 80 with ten", spirals("plain", 5, 10).mean(), 80),
        ("highway rises to about 93 with five blocks", spirals("highway", 7, 5).mean(), 93),
        ("residual to about 82 with ten", spirals("residual", 7, 10).mean(), 82),
        ("plain to about 71 with five and then falls", spirals("plain", 7, 5).mean(), 71),
    ):
        assert phrase in TEXT
        assert value == pytest.approx(claim, abs=2), phrase
    assert np.argmax([spirals("plain", 5, depth).mean() for depth in (1, 2, 5, 10)]) == 1, "plain peaks with two"


def test_four_times_the_epochs_help_the_one_block_most():
    gains = [spirals("highway", 7, d, epochs=320).mean() - spirals("highway", 7, d).mean() for d in (1, 10)]
    assert gains[0] > 10
    assert gains[0] > gains[1]
    assert spirals("highway", 7, 1, epochs=320).mean() == pytest.approx(spirals("highway", 7, 10).mean(), abs=1)


def test_live_spirals_are_the_recorded_ones(run):
    for line, depth in zip(run.printed["spirals-live-figure"].splitlines(), (1, 10), strict=True):
        yours, before = re.search(r"yours ([\d.]+) %, recorded with this seed ([\d.]+) %", line).groups()
        assert before == f"{spirals('highway', 7, depth)[0]:.1f}"
        five = spirals("highway", 7, depth)
        assert five.min() - 5 < float(yours) < five.max() + 5, "updates differ by rounding"


def test_parameters_of_the_matched_spiral_networks_are_in_the_range_of_the_text():
    low, high = re.search(r"these networks have (\d+) to (\d+) parameters", TEXT).groups()
    counts = {point["parameters"] for point in SPIRALS if point["width"] == "matched"}
    assert (int(low), int(high)) == (min(counts), max(counts))
    wide = {point["depth"]: point["actual_width"] for point in SPIRALS.select(block="highway", width="matched")}
    assert "one highway block is then 26 units wide, five are 11, ten are 8" in TEXT
    assert (wide[1], wide[5], wide[10]) == (26, 11, 8)
    assert "about nine times at 5 turns and twelve times at 7" in TEXT
    assert [round((1 - 0.02**0.5) * 2 * turns) for turns in (5, 7)] == [9, 12]
    assert "5040 updates" in TEXT
    assert 80 * -(-8000 // 128) == 5040


# Sliders and cells


def test_sentence_under_the_slider(run):
    says = run.shown["look-slider"].frame["says"]
    kinds = ("plain", "highway, −2", "highway, −ln L", "residual")
    ends = [f"{number(geometric(last_epoch(kind, 20, 'uniform')))} ({kind})" for kind in kinds]
    assert says.startswith(f"At depth 20 and initialiser uniform: training loss in the last epoch: {', '.join(ends)}, ")
    tuned = DIGITS.select(block="none", width=64, depth=0, initialiser="uniform", learning_rate=no_block()[1])
    curves = [point["curves"]["train_loss"][-1] for point in tuned]
    assert says.endswith(f", {number(geometric(curves))} (no block).")


def test_the_slider_has_every_recorded_depth_and_both_starts(run, names):
    sliders = {slider["name"]: slider["values"] for slider in run.shown["look-slider"].sliders}
    assert sliders == {"depth": [1, 2, 5, 10, 20, 30, 50, 75, 100], "initialiser": ["uniform", "he"]}
    for initialiser in sliders["initialiser"]:
        for depth in sliders["depth"]:
            frame = names["learning"](depth, initialiser)
            assert {len(band.mid) for band in frame.values() if hasattr(band, "mid")} == {30}
            assert len(frame["no block"]) == len(frame["guessing"]) == 30


def test_the_control_is_chosen_on_validation_data(names):
    for start in ("uniform", "he"):
        for width, depth in ((64, 0), ("matched", 10), ("matched", 50)):
            accuracy, rate = no_block(start, width, depth)
            control = names["control"](start, width, depth)
            assert control.values("learning_rate") == [rate]
            np.testing.assert_allclose(100 * control.array("test_accuracy"), accuracy)


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("watch-code", "guessing costs 2.303; first epoch 2.29"),
        ("watch-nudged", "weights nudged by 1e-15, 20 runs:\n   accuracy 0.23 to 0.47"),
        ("naive-code", "naive, uniform: activations grow by 25 % per block"),
        ("naive-code", "naive, he: activations grow by 69 % per block"),
        ("none-numbers", "no block, 1e-3             rate 0.001: 95.9 %"),
        ("exercise-1-solution", "0.693"),
        ("exercise-3-solution", "4472 images; with 540 the half width is 1.44 points"),
    ],
)
def test_cells_print_what_the_text_says(run, cell, line):
    assert line in run.printed[cell]


def test_solutions_are_right(run):
    for n in (1, 2, 3, 4):
        assert run.shown[f"exercise-{n}-solution"], n
        assert not run.shown[f"exercise-{n}-answer"], n


# Figures


def test_learning_curves_draw_every_seed_and_their_geometric_mean():
    rows = np.array([[2.0, 0.5, 0.1], [2.0, 0.02, 0.4]])
    figure = figures.learning_curves({"5 blocks": {"plain": rows}, "20 blocks": {"plain": rows[:1]}}, chance=2.3)
    above, below = figure.axes
    chance, first, second, middle = above.lines
    assert set(chance.get_ydata()) == {2.3}
    np.testing.assert_array_equal([first.get_ydata(), second.get_ydata()], rows)
    np.testing.assert_allclose(middle.get_xydata(), [(1, 2.0), (2, 0.1), (3, 0.2)])
    assert to_hex(middle.get_color()) == BLOCKS["plain"].light.lower()
    assert (above.get_yscale(), below.get_xlabel()) == ("log", "epoch")
    assert [axes.texts[0].get_text() for axes in figure.axes] == ["5 blocks", "20 blocks"]
    assert [text.get_text() for text in figure.legends[0].texts] == ["guessing", "plain"]


def test_learning_curves_on_a_linear_axis_have_the_plain_mean():
    rows = np.array([[10.0, 20.0], [20.0, 80.0]])
    (axes,) = figures.learning_curves({"": {"plain": rows}}, ylabel="accuracy, %", log=False).axes
    np.testing.assert_allclose(axes.lines[-1].get_ydata(), [15, 50])


def test_against_depth_draws_a_dot_per_seed_the_mean_and_the_controls():
    results = np.array([[90.0, 94.0], [10.0, 20.0]])
    panels = {"digits": {"plain": ([5, 20], results)}, "enlarged": {"plain": ([5, 20], results)}}
    controls = {"digits": {"no block": [97.0, 98.0], "no block, wide": [99.0]}, "enlarged": {"no block": [97.0, 98.0]}}
    figure = figures.against_depth(
        panels, "test accuracy, %", controls, chance={"digits": 10}, ylim={"digits": (0, 100), "enlarged": (80, 99)}
    )
    above, below = figure.axes
    control, wide, first, second, line, guess = above.lines
    assert [set(one.get_ydata()) for one in (control, wide, guess)] == [{97.5}, {99.0}, {10}]
    np.testing.assert_allclose(np.transpose([first.get_ydata(), second.get_ydata()]), results)
    assert first.get_linestyle() == "None"
    np.testing.assert_allclose(line.get_ydata(), [92, 15])
    np.testing.assert_allclose(line.get_xdata(), [5, 20], rtol=0.07)
    shaded = above.patches[0].get_extents().transformed(above.transData.inverted())
    np.testing.assert_allclose([shaded.y0, shaded.y1], [97, 98])
    assert (above.get_ylim(), below.get_ylim()) == ((0, 100), (80, 99))
    assert len(below.lines) == 4, "neither guessing nor the second control"
    assert (below.get_xscale(), below.get_xlabel()) == ("log", "blocks")
    assert [tick.get_text() for tick in below.get_xticklabels()] == ["5", "20"]
    legend = [text.get_text() for text in figure.legends[0].texts]
    assert legend == ["plain", "no block", "no block, wide", "guessing"]


def test_against_depth_on_a_logarithmic_axis_has_the_geometric_mean_and_moves_kinds_apart():
    losses = {"plain": ([1, 10], np.array([[1.0, 100.0], [2.0, 2.0]])), "residual": ([1], np.array([[1.0, 4.0]]))}
    (axes,) = figures.against_depth({"": losses}, "loss", {"": {"no block": [1.0, 9.0]}}, chance=2.3, log=True).axes
    by_label = {line.get_label(): line for line in axes.lines}
    np.testing.assert_allclose(by_label["plain"].get_ydata(), [10, 2])
    np.testing.assert_allclose(by_label["no block"].get_ydata(), 3)
    assert by_label["plain"].get_xdata()[0] < 1 < by_label["residual"].get_xdata()[0]


def test_arms_are_the_data_in_two_colours_and_two_markers():
    data = Data(np.array([[0.5, 0.0], [1.0, 1.0], [0.0, -1.0]]), np.array([0, 1, 1]))
    (axes,) = figures.spiral_arms({"5 turns": data}).axes
    first, second = axes.lines
    np.testing.assert_array_equal(first.get_xydata(), [(0.5, 0)])
    np.testing.assert_array_equal(second.get_xydata(), [(1, 1), (0, -1)])
    assert first.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()
    assert axes.get_aspect() == 1


def test_answers_are_drawn_with_the_lowest_row_at_the_bottom():
    picture = np.array([[0.0, 0.1], [0.9, 1.0]])
    figure = figures.answers_over_plane({"one": picture, "two": picture, "three": picture})
    *drawings, empty, bar = figure.axes
    assert [axes.texts[0].get_text() for axes in drawings] == ["one", "two", "three"]
    assert not empty.axison
    for axes in drawings:
        (image,) = axes.images
        np.testing.assert_array_equal(image.get_array(), picture)
        assert (image.origin, image.get_extent(), image.get_clim()) == ("lower", [-2, 2, -2, 2], (0, 1))
    assert bar.get_xlabel() == "probability of arm 1 (dots: above one half)"


# Checks of the exercises


@pytest.mark.parametrize(
    ("check", "answer", "right", "word"),
    [
        ("cost_of_guessing", np.log(2), True, "0.693"),
        ("cost_of_guessing", 0.69, True, ""),
        ("cost_of_guessing", -0.69, False, "positive"),
        ("cost_of_guessing", 2.303, False, "ten classes"),
        ("cost_of_guessing", 1, False, "base 2"),
        ("cost_of_guessing", 0.5, False, "accuracy"),
        ("cost_of_guessing", 0.3, False, "too small"),
        ("cost_of_guessing", None, False, "None"),
        ("test_images", 4472, True, "4472"),
        ("test_images", 4656, True, ""),
        ("test_images", 1118, False, "half the width takes four times the images"),
        ("test_images", 1164, False, "standard error"),
        ("test_images", 1555, False, "root"),
        ("test_images", 38416, False, "worst case"),
        ("test_images", 540, False, "too small"),
        ("test_images", "many", False, "number"),
        ("test_images", None, False, "None"),
    ],
)
def test_checks_of_one_number_explain_what_is_wrong(check, answer, right, word):
    verdict = getattr(exercises, f"check_{check}")(answer)
    assert bool(verdict) is right
    assert word in verdict.sentence


def deepest(start):
    """Largest depth where the worst of five seeds fits 90 % of its training images."""
    return max(d for d in DIGITS.values("depth") if d and seeds_at_least_90("plain", d, start))


def seeds_at_least_90(kind, depth, start):
    return seeds(kind, depth, start, "train_accuracy").min() >= 90


def test_check_of_the_deepest_plain_net_reads_the_record():
    uniform, he = deepest("uniform"), deepest("he")
    verdict = exercises.check_deepest_plain(uniform, he)
    assert verdict
    assert f"{uniform} blocks with the uniform start, {he} with He's" in verdict.sentence
    best = {d: seeds("plain", d, "he", "train_accuracy").max() for d in DIGITS.select(block="plain").values("depth")}
    lucky = max(d for d, accuracy in best.items() if accuracy >= 90)
    assert lucky > he, "one lucky seed goes deeper, so that the sentence about it can be seen"
    for answers, word in (
        ((None, None), "None"),
        ((uniform, None), "None"),
        ((he, uniform), f"uniform: at {he} blocks even the best of five seeds fits only"),
        ((uniform, lucky), "every seed is asked for"),
        ((1, he), "uniform: 1 blocks do it, but so do more"),
        ((uniform, 100), "He: at 100 blocks even the best"),
        ((uniform, "abc"), "the depth with He weights must be"),
        ((uniform, 40), "He: the recorded depths are 1, 2, 5,"),
        (("deep", he), "number"),
    ):
        verdict = exercises.check_deepest_plain(*answers)
        assert not verdict, answers
        assert word in verdict.sentence


@pytest.mark.parametrize(
    ("start", "right", "word"),
    [
        (lambda W_H, b_H, depth: (W_H / depth, b_H / depth), True, "are fitted"),
        (lambda W_H, b_H, depth: [W_H * 0.1, np.zeros(64)], True, "are fitted"),
        (lambda W_H, b_H, depth: (W_H, b_H), False, "where guessing costs 2.3"),
        (lambda W_H, b_H, depth: (W_H * 10, b_H), False, "the first loss is still"),
        (lambda W_H, b_H, depth: (W_H * 0, b_H * 0), False, "no block ever learns"),
        (lambda W_H, b_H, depth: (W_H / depth, b_H - 100), False, "no block ever learns"),
        (lambda W_H, b_H, depth: None, False, "None"),
        (lambda W_H, b_H, depth: W_H / depth, False, "two arrays"),
        (lambda W_H, b_H, depth: (W_H / depth, b_H[:5]), False, "in the shape (64,)"),
        (lambda W_H, b_H, depth: (W_H / 0 if depth < 0 else W_H * np.nan, b_H), False, "finite"),
        (lambda W_H, b_H, depth: ("small", b_H), False, "W_H must be an array"),
        (lambda W_H, b_H: (W_H, b_H), False, "TypeError"),
        (3, False, "but 3 came"),
        (None, False, "but None came"),
    ],
)
def test_check_of_the_naive_start_trains_a_hundred_blocks(start, right, word):
    verdict = exercises.check_naive_start(start)
    assert bool(verdict) is right
    assert word in verdict.sentence


def test_a_start_that_learns_too_slowly_is_told_so(monkeypatch):
    monkeypatch.setattr(checks, "Adam", lambda rate: studies.trainings.make_optimiser("adam", 1e-6))
    verdict = exercises.check_naive_start(lambda W_H, b_H, depth: (W_H / depth, b_H / depth))
    assert not verdict
    assert "after five epochs only" in verdict.sentence


def test_the_check_leaves_what_it_gives_alone_and_starts_uniform():
    """The learner's function is given copies of what the uniform recipe draws, block after block."""
    given = []

    def start(W_H, b_H, depth):
        given.append((W_H.copy(), b_H.copy(), depth))
        W_H *= 0.01
        return W_H, 0 * b_H

    assert exercises.check_naive_start(start)
    params = Network(NaiveResidual(), 100).initialise(0, dtype=np.float32)
    assert len(given) == 100
    for block, (W_H, b_H, depth) in zip(params.blocks, given, strict=True):
        np.testing.assert_array_equal(block["W_H"], W_H)
        np.testing.assert_array_equal(block["b_H"], b_H)
        assert depth == 100
