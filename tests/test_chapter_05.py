"""Chapter 5: each number in the text comes from the chapter's own cells or from a record; sliders, figures and checks.

The cells run here, in one namespace, as a reader would run them: the tests use the chapter's functions, not copies.
"""

import re

import numpy as np
import pytest
import reading
from conftest import BOOK
from matplotlib.colors import to_hex

from highway_lessons import SGD, Adam, Highway, Plain, digits, direct_path, exercises, figures, sigmoid, studies, tau
from highway_lessons.exercises import bias as checks
from highway_lessons.exercises.signals import mean_effective_rank
from highway_lessons.gradients import over_seeds
from highway_lessons.network import Network
from highway_lessons.palette import BLOCKS
from highway_lessons.studies.trainings import train_on_digits

CHAPTER = BOOK / "chapters" / "05-choose-the-gate-bias.ipynb"
TEXT = reading.prose(CHAPTER).replace("−", "-")


def table(run, cell):
    """The rows of a table that a cell shows, as lists of texts."""
    lines = run[2][cell].data.replace("−", "-").splitlines()[2:]
    return [[text.strip() for text in line.strip("|").split("|")] for line in lines]


# Numbers in the text


def percent(five):
    """Mean and range over the seeds in per cent, as the text gives them; what diverged counts as guessing."""
    five = 100 * np.nan_to_num(five, nan=0.1)
    return f"{five.mean():.1f} ({five.min():.1f} to {five.max():.1f}) %"


def mean(five):
    return f"{100 * np.nan_to_num(five, nan=0.1).mean():.1f}"


def edge(names, optimiser):
    """The record along τ: the last τ before a failure, how many points up to there, and the τ from which all guess."""
    t = np.array([[tau(b, depth) for depth in names["DEPTHS"]] for b in names["BIASES"]])
    accuracy = np.nan_to_num(names["recorded"](optimiser), nan=0.1)
    failure, guesses = t[(accuracy < 0.9).any(axis=-1)].min(), (accuracy < 0.15).all(axis=-1)
    return t[t < failure].max(), (t < failure).sum(), t[t > t[~guesses].max()].min()


def means_below(names, optimiser, limit):
    """The smallest and the largest mean of five seeds, in per cent, of all recorded points with τ below the limit."""
    t = np.array([[tau(b, depth) for depth in names["DEPTHS"]] for b in names["BIASES"]])
    means = 100 * np.nan_to_num(names["recorded"](optimiser), nan=0.1).mean(axis=-1)[t < limit]
    return means.min(), means.max()


def depth_runs(**chosen):
    runs = studies.load("depth").select(block="highway", initialiser="uniform", dtype="float32", **chosen)
    return runs.array("test_accuracy", "depth")


def sentences(run):
    """Pieces of the text with the numbers in them, made from records and cells by another way than the text's."""
    names = run[0]
    at, sgd, fast, adam = names["five_at"], "SGD 0.1", "SGD 0.3", "Adam 0.001"
    f7 = studies.load("gate_bias").select(dtype="float64", gate_bias=-2.0).array("test_accuracy")
    f7_shut = studies.load("gate_bias").select(dtype="float64", gate_bias=-5.0).array("test_accuracy")
    assert 100 * abs(f7_shut.mean() - f7.mean()) < 1
    depths = list(studies.load("depth").select(block="highway").values("depth"))
    by_rule = 100 * depth_runs(gate_bias="-ln depth").mean(axis=-1)
    at_75, at_100 = (depth_runs(gate_bias=-2.0)[depths.index(depth)] for depth in (75, 100))
    safe, count, dead = edge(names, sgd)
    safe_fast, _, dead_fast = edge(names, fast)
    epsilon = {
        (block, gate_bias): studies.load("epsilon").select(block=block, gate_bias=gate_bias).array(
            "test_accuracy", "epsilon"
        )
        for block, gate_bias in (("highway", 0.0), ("highway", -2.0), ("plain", None))
    }  # fmt: skip
    zero, two, plain = epsilon.values()
    short, gain, less = (100 * (five.mean() - zero[0].mean()) for five in (two[0], zero[2], zero[3]))
    low, high = means_below(names, adam, 3)
    none = names["no_block"]()
    at_5 = [percent(studies.load("same_tau").select(depth=depth).array("test_accuracy")) for depth in (10, 20)]
    return [
        "10 blocks still train, to {}, 20 blocks hardly, with {}".format(*at_5),
        f"B guesses: {percent(at(-2, 50, sgd))}",
        f"20 blocks at -1: {percent(at(-1, 20, sgd))}",
        f"the means are {mean(f7_shut)} and {mean(f7)} %: no difference",
        f"B reaches {percent(at(-2, 50, adam))}",
        f"Up to τ = {safe:.2f}, each of the {count} recorded",
        f"from τ = {dead:.2f} on, each one guesses",
        f"(100 blocks at -3, τ = 4.86: {percent(at(-3, 100, sgd))})",
        f"All train up to τ = {safe_fast:.2f}, and from τ = {dead_fast:.2f} on all guess",
        f"10 blocks at 0 reach {percent(at(0, 10, fast))}, 20 at -1 {percent(at(-1, 20, fast))}",
        f"50 at -2 {percent(at(-2, 50, fast))}.",
        f"({percent(none)})",
        f"mean of {mean(f7)} %, in float32 {mean(at(-2, 50, adam))} %",
        f"between {by_rule.min():.1f} and {by_rule.max():.1f} %",
        f"{percent(at_75)} at 75 blocks and {percent(at_100)} at 100",
        f"At τ = 6.3, 20 and 50 blocks reach {mean(at(-1, 20, adam))} and {mean(at(-2, 50, adam))} %",
        f"20 blocks still reach {mean(at(0, 20, adam))} %, 50 blocks {mean(at(-1, 50, adam))} %"
        f" and 100 blocks {mean(at(-2, 100, adam))} %",
        f"(means of {low:.1f} to {high:.1f} % with Adam)",
        # ε
        f"guesses: {mean(zero[0])} %",
        f"reaches {mean(zero[2])} % ({100 * zero[2].min():.1f} to {100 * zero[2].max():.1f} %)",
        f"to {mean(plain[3])} % ({100 * plain[3].min():.1f} to {100 * plain[3].max():.1f} %)",
        f"{min(map(mean, two))} to {max(map(mean, two))} %",
        f"of the {short:.0f} points between bias 0 and bias -2, ε alone gives {less:.0f} to {gain:.0f} back",
        f"{mean(zero[2])} % is {short - gain:.0f} points short of {mean(two[0])} %",
        f"has {mean(zero[3])} % ({100 * zero[3].min():.1f} to {100 * zero[3].max():.1f} %)",
        f"({percent(at(0, 50, sgd))} at 0.1)",
        # a low bias
        "fifty blocks reach {} at -3, {} at -5 and {} at -10 with SGD at 0.1".format(
            *(percent(at(b, 50, sgd)) for b in (-3, -5, -10))
        ),
        "{}, {} and {} with Adam".format(*(percent(at(b, 50, adam)) for b in (-3, -5, -10))),
        f"by more than a point: {percent(at(-10, 100, adam))} against {percent(at(-5, 100, adam))}",
        f"without any block reaches {mean(none)} %",
        *rates(),
        *starts(),
    ]


NETS = {
    "-2": ("highway", -2.0), "-5": ("highway", -5.0), "plain": ("plain", None), "residual": ("residual", None),
}  # fmt: skip


def over_rates(net, depth, optimiser, epochs=30):
    """The record of learning rates: for one network, accuracies of shape (seeds,) by learning rate."""
    block, gate_bias = NETS[net]
    chosen = {"block": block, "gate_bias": gate_bias, "depth": depth, "optimiser": optimiser, "epochs": epochs}
    runs = studies.load("learning_rate").select(**chosen)
    return dict(zip(runs.values("learning_rate"), runs.array("test_accuracy", "learning_rate"), strict=True))


def rates_that_train(net, depth, optimiser):
    """The recorded learning rates with which all five seeds reach 90 %."""
    return [rate for rate, five in over_rates(net, depth, optimiser).items() if (five >= 0.9).all()]


def ends(values):
    return f"{min(values):g} to {max(values):g}"


def of_180(net, failed):
    found = [
        failed(five).sum() for depth in (20, 50) for o in ("adam", "sgd") for five in over_rates(net, depth, o).values()
    ]
    assert len(found) == 36
    return sum(found)


def rates():
    """Pieces of the text about learning rates, from the record."""
    residual, low, high = (rates_that_train(net, 50, "adam") for net in ("residual", "-5", "-2"))
    plain, two, five = (over_rates(net, 50, "adam") for net in ("plain", "-2", "-5"))
    best = max(plain, key=lambda rate: np.nan_to_num(plain[rate], nan=0.1).mean())
    late = over_rates("-2", 50, "sgd", epochs=150)
    four = 100 * late[0.3][np.isfinite(late[0.3])]
    assert len(four) == 4, "four of the five, and the fifth diverges"
    fast = [over_rates(net, depth, o)[1.0] for net in NETS for depth in (20, 50) for o in ("adam", "sgd")]
    failed = sum((np.isnan(five) | (five < 0.15)).sum() for five in fast)
    return [
        f"two powers of ten or more ({min(residual)}, the smallest tried, to {max(residual)})",
        f"-5 one ({ends(low)}) and -2 half of one ({ends(high)})",
        f"its best is {percent(plain[best])} at {best:g}",
        f"At 0.003 it reaches {percent(two[0.003])}, where it had {percent(two[0.001])} at 0.001",
        f"no difference from -5, with {percent(five[0.003])}",
        f"all {failed} trainings diverge or end below 15 %",
        f"four of the five reach between {four.min():.1f} and {four.max():.1f} %",
        f"have left guessing, with {percent(late[0.1])}",
    ]


def test_what_the_text_says_of_learning_rates_in_words():
    counts = {
        net: np.log10(max(good) / min(good))
        for net in ("residual", "-5", "-2")
        if (good := rates_that_train(net, 50, "adam"))
    }
    assert [round(2 * counts[net]) for net in ("residual", "-5", "-2")] == [4, 2, 1], "two powers of ten, one, and half"
    for net in NETS:
        for depth in (20, 50):
            for optimiser in ("adam", "sgd"):
                every, good = list(over_rates(net, depth, optimiser)), rates_that_train(net, depth, optimiser)
                assert [rate for rate in every if good and min(good) <= rate <= max(good)] == good, "one range"
                assert len(over_rates(net, depth, optimiser)[1.0]) == 5, "80 trainings at 1"
    assert rates_that_train("plain", 50, "adam") == [], "plain with He forgives nothing"
    two, five = (over_rates(net, 50, "adam")[0.003].mean() for net in ("-2", "-5"))
    assert abs(two - five) < 0.01, "no difference"
    assert rates_that_train("-2", 50, "sgd") == [], "−2 trains at none of the nine rates"
    for net in ("-5", "residual"):
        assert max(rates_that_train(net, 50, "sgd")) == 0.3
    assert min(rates_that_train("residual", 50, "adam")) == min(over_rates("residual", 50, "adam")), (
        "the smallest tried"
    )
    missed = 0.9 * 540 - 540 * over_rates("-2", 50, "adam")[0.001]
    assert missed.round()[missed > 0] == [3], "a single seed misses 90 % by three images"
    late = over_rates("-2", 50, "sgd", epochs=150)
    assert late[0.1].min() > 0.2, "have left guessing"
    assert late[0.03].max() < 0.15, "still guess"
    assert np.isnan(late[1.0]).all(), "all diverge"
    assert 0.03 in rates_that_train("-2", 20, "adam")
    assert 0.03 not in rates_that_train("-5", 20, "adam")


def started(**chosen):
    """Test accuracies of the record of initialisations, all blocks and weights as chosen: of shape (seeds,)."""
    return studies.load("initialisation").select(**chosen).array("test_accuracy")


def gate_starts(gate_bias, W_H, depth=50):
    """Accuracies of highway stacks with W_T at 0, uniform and He's, for one start of W_H: three arrays."""
    chosen = {"block": "highway", "gate_bias": gate_bias, "initialiser": W_H, "depth": depth}
    return [started(**chosen, gate_initialiser=W_T) for W_T in ("zero", "uniform", "he")]


def starts():
    """Pieces of the text about starting weights, from the record."""
    uniform, he, rule = gate_starts(-2.0, "uniform"), gate_starts(-2.0, "he"), gate_starts("-ln depth", "he")
    rule_uniform = gate_starts("-ln depth", "uniform")[1]
    at_20 = [
        float(mean(five)) for b in (-2.0, "-ln depth") for W_H in ("uniform", "he") for five in gate_starts(b, W_H, 20)
    ]

    def whole(block, depth, initialiser):
        return started(block=block, depth=depth, initialiser=initialiser, gate_initialiser=None)

    residual = [float(mean(whole("residual", 50, i))) for i in ("uniform", "normal", "orthogonal", "he")]
    highway = [percent(whole("highway", 50, i)) for i in ("uniform", "normal", "orthogonal", "he")]
    again = studies.load("depth").select(
        block="highway", gate_bias="-ln depth", depth=50, initialiser="he", dtype="float32"
    )
    return [
        "{}, {} and {} % with 0, uniform and He's".format(*map(mean, uniform)),
        f"comes to {mean(he[0])} % on average",
        "{} with $W_T = 0$, {} with uniform and {} with He's gate weights".format(*map(percent, he)),
        f"cost something, {mean(rule[0])}, {mean(rule[1])} and {percent(rule[2])}",
        f"At 20 blocks all means lie between {min(at_20)} and {max(at_20)} %",
        "{} against {} at 20 blocks".format(*(percent(whole("plain", 20, i)) for i in ("he", "uniform"))),
        "{} against {} at 50".format(*(percent(whole("plain", 50, i)) for i in ("he", "uniform"))),
        f"at 50 blocks lie between {min(residual)} and {max(residual)} %",
        f"{highway[0]} (with other draws",
        "{} with N(0, 1/n), {} with orthogonal and {} with He's".format(*highway[1:]),
        f"$-\\ln L$ they reach {mean(rule[0])} % at 50 blocks, against {mean(rule_uniform)} %",
        f"and there it is {percent(again.array('test_accuracy'))}",
    ]


def test_what_the_text_says_of_starts_in_words():
    ranges = [(five.min(), five.max()) for five in gate_starts(-2.0, "uniform")]
    assert max(low for low, _ in ranges) < min(high for _, high in ranges), "the ranges overlap"
    rows = [gate_starts(b, W_H, 20) for b in (-2.0, "-ln depth") for W_H in ("uniform", "he")]
    means = np.array(rows).mean(axis=-1)
    assert np.ptp(means, axis=1).max() < 0.02, "at 20 blocks the means of a row differ by less than two points"
    assert (means.argmax(axis=1) > 0).any(), "and not always in favour of W_T = 0"
    zero, uniform, he = gate_starts(-2.0, "he")
    assert (zero > uniform).all(), "in each of the five seeds, W_T = 0 is the best"
    assert (zero > he).all()
    for depth in (5, 10, 20):
        one, other = (
            started(block="highway", depth=depth, initialiser=i, gate_initialiser=None) for i in ("he", "uniform")
        )
        assert one.mean() > other.mean(), "at up to 20 blocks He's are the better ones at −2"
    at_50 = [
        [started(block=block, depth=50, initialiser=i, gate_initialiser=None).mean() for i in ("he", "uniform")]
        for block in ("plain", "highway", "residual")
    ]
    gains = [he - uniform for he, uniform in at_50]
    assert gains[0] > 0.5, "the plain network gains most"
    assert gains[1] < -0.2, "the highway one loses"
    assert abs(gains[2]) < 0.01, "the residual one does not care"


def trained_now(run):
    """Numbers of trainings that the chapter does itself, roughly, since another processor rounds otherwise.

    For each, a piece of the text, what the cell printed, and the largest distance in points.
    """

    def printed(line):
        return [float(number) for number in re.findall(r"\d+\.\d", line.split(": ")[1])]

    stack = printed(run[1]["look-live-code"].splitlines()[0])
    rule, five, ten, none = map(printed, run[1]["cost-spirals-code"].splitlines())
    return [
        ("about 22 %", stack[0], 6), ("is at 29 %", stack[2], 10),
        ("about 98 % at $-\\ln 10$", rule[0], 2), ("about 65 % at -5", five[0], 5), ("(57 to 79 %)", five[1], 6),
        ("about 59 % at -10", ten[0], 4), ("(55 to 66 %)", ten[1], 4),
        ("about 58 %", none[0], 3), ("(54 to 60 %)", none[1], 4),
    ]  # fmt: skip


def test_trainings_of_the_chapter_come_out_as_the_text_says(run):
    for text, value, distance in trained_now(run):
        assert text in TEXT
        assert abs(float(re.search(r"\d+", text)[0]) - value) <= distance, (text, value)


def test_the_text_says_what_was_measured(run):
    missing = [sentence for sentence in sentences(run) if sentence not in TEXT]
    assert not missing, missing


# What stands in the text as part of a recipe or a question, of an axis, or as code
GIVEN = {"0.001", "0.9", "0.1", "-0.2", "0.3", "0.01", "0.0003", "0.0001", "0.003", "0.03", "0.5"} | {
    "0.0", "-1.3", "3.5", "90", "1e-3", "1e-8", "1e-12", "1e-16", "1e-30"
}  # fmt: skip


def numbers_of_the_text(run):
    """Each other number with a decimal point, an exponent or a per cent sign, and what a run gives, rounded alike."""
    names = run[0]
    g = {b: over_seeds(names["sizes"](Highway(float(b))))[1] for b in (0, -2, -5)}
    plain = (
        over_seeds(names["nets"]["plain"])[1] if "plain" in names["nets"] else over_seeds(names["sizes"](Plain()))[1]
    )
    zero, two = (
        100 * studies.load("epsilon").select(block="highway", gate_bias=b).array("test_accuracy", "epsilon")
        for b in (0.0, -2.0)
    )
    dark = 100 * studies.load("epsilon").select(block="plain").array("test_accuracy", "epsilon")
    found = names["found"]
    W_H, W_T = over_seeds(found[-2] / found[-5])[1]
    T = {b: sigmoid(float(b)) for b in (-2, -5)}
    small = over_seeds(found[-10])[1][0]
    (_, _, (gate, t), *_), (*_, (opened, more)) = [
        [re.findall(r"[\d.]+", cell) for cell in row] for row in table(run, "start-table")[:2]
    ]
    return [
        ("97", 100 * names["no_block"]().mean()), ("1.4", 196 * np.sqrt(0.97 * 0.03 / 540)),
        ("0.45", sigmoid(-0.2)), ("0.12", sigmoid(-2.0)), ("0.7", np.log(2)),
        ("6.3", tau(-2, 50)), ("6.3", tau(-1, 20)), ("12.7", tau(-2, 100)), ("4.8", tau(-1.3, 20)),
        ("3.1", tau(-1, 10)), ("2.5", tau(-2, 20)), ("1.5", tau(-3, 30)),
        ("37", 100 / np.e), ("1.8", tau(-4, 100)), ("4.9", tau(-3, 100)), ("4.86", tau(-3, 100)),
        ("-1.8", np.log(np.expm1(tau(-1, 20) / 40))),
        ("2e-5", g[-2][-1]), ("4e-7", g[-2][0]), ("9e-5", g[0][-1]), ("6e-17", g[0][0]), ("2e-4", plain[-1]),
        ("8e-23", plain[0]), ("6e-9", g[0][0] / (g[0][0] + 1e-8)), ("1e-19", np.sqrt(np.finfo("float32").tiny)),
        ("95", two.max()), ("78", zero[2:].max()), ("54", dark[3].max()),
        ("17.8", T[-2] / T[-5]), ("15.8", T[-2] * (1 - T[-2]) / T[-5] / (1 - T[-5])), ("17.8", W_H), ("15.7", W_T),
        ("12", 100 * (1 - small / (small + 1e-8))),
        ("7.6e-6", g[-5][0]), ("4.1e-7", g[-2][0]),
        ("3.8", edge(names, "SGD 0.1")[0]),
        ("6.3", edge(names, "SGD 0.1")[2]), ("0.6", 196 * np.sqrt(0.97 * 0.03 / 540 / 5)),
        ("0.119", float(gate)), ("0.122", float(opened)), ("6.35", float(t)), ("6.52", float(more)),
        ("-2.3", -np.log(10)), ("-3.9", -np.log(50)), ("-4.6", -np.log(100)),
    ]  # fmt: skip


def as_written(value, text):
    """`value` with as many digits as `text` has."""
    mantissa, _, exponent = text.partition("e")
    digits = len(mantissa.partition(".")[2])
    if not exponent:
        return f"{value:.{digits}f}"
    mantissa, power = f"{value:.{digits}e}".split("e")
    return f"{mantissa}e{int(power)}"


def test_each_number_of_the_text_is_what_the_run_gives(run):
    wrong = [(text, value) for text, value in numbers_of_the_text(run) if as_written(value, text) != text]
    assert not wrong, wrong


def test_no_number_of_the_text_is_unchecked(run):
    rest = TEXT
    for sentence in sorted([*sentences(run), *(text for text, *_ in trained_now(run))], key=len, reverse=True):
        rest = rest.replace(sentence, "")
    found = set(re.findall(r"-?\d+\.\d+(?:e-?\d+)?|\d+e-?\d+|\d+(?= %)", rest))
    known = {text for text, _ in numbers_of_the_text(run)}
    assert found <= known | GIVEN, found - known - GIVEN
    assert known <= set(re.findall(r"-?\d+\.\d+(?:e-?\d+)?|\d+e-?\d+|\d+(?= %)", TEXT))


def test_what_the_text_says_in_words(names):
    """Comparisons without a number of their own."""
    at = names["five_at"]
    by_rule = 100 * depth_runs(gate_bias="-ln depth").mean(axis=-1)
    assert by_rule.max() - by_rule.min() < 1, "less than a point apart"
    two = (
        studies.load("epsilon").select(block="highway", gate_bias=-2.0).array("test_accuracy", "epsilon").mean(axis=-1)
    )
    assert 100 * (two.max() - two.min()) < 1, "ε changes nothing"
    zero = studies.load("epsilon").select(block="highway", gate_bias=0.0).array("test_accuracy", "epsilon")
    assert zero[2].min() < zero[3].max(), "the two ranges overlap"
    assert (at(-4, 100, "SGD 0.1") > 0.9).all(), "100 blocks: trains at −4"
    assert (at(-3, 100, "SGD 0.1") < 0.9).all(), "and no longer at −3"
    t = {(b, depth): tau(b, depth) for b in names["BIASES"] for depth in names["DEPTHS"]}
    safe, _, dead = edge(names, "SGD 0.1")
    assert [point for point, value in t.items() if safe < value < dead] == [(-3, 100)], "a single recorded point"
    assert safe < tau(-0.2, 10) < dead < tau(-2, 50), "A stands at the far end of this edge, B beyond it"
    for gate_bias, depth in ((-1, 10), (-2, 20), (-3, 30)):
        assert tau(gate_bias, depth) < safe, "all three below the edge of SGD"
    for gate_bias, depth in ((0, 20), (-1, 50), (-2, 100)):
        assert tau(gate_bias, depth) >= 2 * tau(-1, 20), "at twice that τ and more"
    assert (at(-1, 10, "SGD 0.1") > 0.9).all(), "down to bias −1 at 10 blocks"
    assert (at(0, 10, "SGD 0.1") < 0.15).all()
    assert (at(-2, 100, "Adam 0.001") > 0.15).all(), "Adam's border lies further to the right"
    behind = [
        depth for depth in names["DEPTHS"] if (at(-5, depth, "Adam 0.001") - at(-10, depth, "Adam 0.001")).mean() > 0.01
    ]
    assert behind == [100], "only at 100 blocks, with Adam"
    for optimiser in ("SGD 0.1", "Adam 0.001"):
        means = [at(b, 50, optimiser).mean() for b in (-3, -5, -10)]
        assert max(means) - min(means) < 0.01, "the record says no"
    assert direct_path(sigmoid(0.0), 1) == 0.5, "one half crosses a single block"
    assert direct_path(sigmoid(-np.log(10**6)), 10**6) > 1 / np.e, "and never less than 37 %"
    assert names["no_block"]().mean() > max(
        np.nan_to_num(names["recorded"](optimiser)).mean(axis=-1).max() - 0.01 for optimiser in names["OPTIMISERS"]
    )


# What cells print, against something independent of them


def test_published_rows_stand_beside_ours(run):
    rows = table(run, "look-published")
    assert [row[:3] for row in rows] == [
        ["0", "10.00", "10.00"], ["-2", "94.26", "94.26"], ["-5", "96.11", "96.11"]
    ]  # fmt: skip
    seed_0 = studies.load("gate_bias").select(dtype="float64", seed=0).array("test_accuracy", "gate_bias")
    np.testing.assert_allclose(100 * seed_0.ravel(), [float(row[2]) for row in rows], atol=0.005)


def test_the_live_training_is_the_recorded_one(names):
    """The chapter's recipe is the study's: a point that both have comes out the same, but for the order of sums."""
    live = names["trained"](-3, 5, SGD(0.1), seeds=[0])
    assert live == pytest.approx(names["five_at"](-3, 5, "SGD 0.1")[:1], abs=0.02)
    assert train_on_digits("highway", 5, 0, gate_bias=-3.0, optimiser="sgd", learning_rate=0.1)[
        "test_accuracy"
    ] == pytest.approx(live[0], abs=1e-6)


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("axis-code", " 10 blocks at -0.2: tau  5.98, direct path 0.0025, exp(-tau) 0.0025"),
        ("axis-code", " 50 blocks at -2.0: tau  6.35, direct path 0.0018, exp(-tau) 0.0018"),
        ("axis-code", "100 blocks at -2.0: tau 12.69, direct path 3.1e-06, exp(-tau) 3.1e-06"),
        ("axis-code", " 50 blocks at  0.0: tau 34.66, direct path 8.9e-16, exp(-tau) 8.9e-16"),
        ("epsilon-counts", "gate bias −2: bottom 4e-07, top 2e-05"),
        ("epsilon-counts", "gate bias 0: bottom 6e-17, top 9e-05\n    at the bottom 6e-09 of a full step"),
        ("epsilon-counts", "of 50 blocks: 15 above 1e-08, 30 above 1e-12, 46 above 1e-16"),
        ("epsilon-counts", "plain: bottom 8e-23, top 2e-04"),
        ("cost-code", "bias  -2: W_H 1.9e-04, W_T 5.2e-05; first step: SGD 1.9e-05, Adam 1.0e-03"),
        ("cost-code", "SGD 7.2e-09, Adam 8.8e-04"),
        ("rule-code", "papers, 10 blocks at -1: tau 3.1"),
        ("rule-code", "papers, 20 blocks at -2: tau 2.5"),
        ("rule-code", "papers, 30 blocks at -3: tau 1.5"),
        ("cost-ratios", "one block, W_H, times smaller at -5: 17.8 (17.6 to 17.8)"),
        ("cost-ratios", "one block, W_T, times smaller at -5: 15.7 (15.4 to 15.9)"),
        ("cost-ratios", "fifty blocks at -2, W_H: bottom 4.1e-07, top 1.8e-05"),
        ("cost-ratios", "fifty blocks at -5, W_H: bottom 7.6e-06, top 7.8e-06"),
    ],
)
def test_cells_print_what_the_text_says(run, cell, line):
    assert line in run[1][cell]


def test_the_live_stack_prints_what_it_reached(run, names):
    """Three stacks of nearly one τ: A trained in the cell, two from the record, in this order."""
    lines = run[1]["look-live-code"].splitlines()
    assert [re.search(r"tau (\d\.\d)", line)[1] for line in lines] == ["6.0", "6.3", "6.3"]
    for line, (gate_bias, depth) in zip(lines[1:], ((-2, 50), (-1, 20)), strict=True):
        assert percent(names["five_at"](gate_bias, depth, "SGD 0.1")) in line


def test_the_table_along_adams_slope_is_the_record(run, names):
    points = [(-1, 20), (-2, 50), (-2, 100), (0, 20), (-1, 50)]
    for row, (gate_bias, depth) in zip(table(run, "axis-table"), points, strict=True):
        five = studies.load("gate_bias").select(dtype="float32", optimiser="adam", gate_bias=gate_bias, depth=depth)
        t = depth * np.log1p(np.exp(gate_bias))
        expected = [f"{t:.1f}", str(depth), str(gate_bias), percent(five.array("test_accuracy"))[:-2]]
        assert row == expected


def test_inside_the_edge_depth_counts(run):
    """Three stacks of τ = 5 in the record: all seeds of the shallow one train, the deep one guesses."""
    runs = studies.load("same_tau")
    shallow, middle, deep = (runs.select(depth=depth).array("test_accuracy") for depth in (10, 20, 50))
    lines = run[1]["axis-edge"].splitlines()
    for line, five, depth in zip(lines, (shallow, middle, deep), (10, 20, 50), strict=True):
        assert line.startswith(f"{depth} blocks")
        assert "tau 5.00" in line
        assert line.endswith(percent(five))
    assert "and 50 blocks guess" in TEXT
    assert deep.max() < 0.15


def test_the_rule_stands_beside_minus_2(run):
    rows, depths = table(run, "rule-code"), [1, 2, 5, 10, 20, 30, 50, 75, 100]
    assert [int(row[0]) for row in rows] == depths
    for row, depth in zip(rows, depths, strict=True):
        assert float(row[1]) == pytest.approx(-np.log(depth), abs=0.051)
        assert float(row[3]) == pytest.approx(depth * np.log1p(np.exp(-2)), abs=0.051)
    for column, gate_bias in ((2, "-ln depth"), (4, -2.0)):
        found = [percent(five)[:-2].replace(" to ", "–") for five in depth_runs(gate_bias=gate_bias)]
        assert [row[column] for row in rows] == found


def test_the_table_of_epsilon_is_the_record(run):
    record = studies.load("epsilon")
    for row, (block, gate_bias) in zip(
        table(run, "epsilon-table"), (("highway", -2.0), ("highway", 0.0), ("plain", None)), strict=True
    ):
        for cell, epsilon in zip(row[1:], (1e-8, 1e-12, 1e-16, 1e-30), strict=True):
            five = record.select(block=block, gate_bias=gate_bias, epsilon=epsilon).array("test_accuracy")
            assert cell == percent(five)[:-2].replace(" to ", "–")


def test_accuracy_at_minus_2_and_100_blocks_is_slow_not_stuck(run):
    """The curve of 100 blocks still rises in the last ten epochs, and by more than that of 50."""
    found = {}
    for depth, line in zip((20, 50, 100), run[1]["map-slow-code"].splitlines(), strict=True):
        found[depth] = [int(n) for n in re.findall(r": (\d+)", line)]
    assert found[100][3] > found[100][2] + 5
    assert found[100][3] - found[100][2] > found[50][3] - found[50][2]


def test_epsilon_is_all_that_the_study_changes():
    study = studies.STUDIES["epsilon"]
    assert study.axes == ["block", "gate_bias", "epsilon", "seed"]
    assert study.settings["epochs"] == 30
    assert len(studies.load("epsilon").values("seed")) == 5


def test_the_formula_for_one_step_of_adam():
    """A gradient that stays the same makes a step of η |g| / (|g| + ε), from the first update on."""
    for g in (1e-3, 1e-8, 1e-12):
        optimiser, flat = Adam(1e-3), np.zeros(1)
        state = optimiser.start(flat)
        for _ in range(3):
            before = flat.copy()
            optimiser.update(flat, np.array([g]), state)
            assert before - flat == pytest.approx(1e-3 * g / (g + 1e-8), rel=1e-6)


def test_bias_0_keeps_few_directions():
    """Chapter 3's effective rank at 50 blocks, of 64."""
    assert "about 4 of 64 there, against 45 at -2" in TEXT
    assert round(mean_effective_rank(Highway(0.0))) == 4
    assert round(mean_effective_rank(Highway(-2.0))) == 45


def test_a_larger_loss_is_a_smaller_epsilon():
    """The quiz: gradients 1000 times as large, ε as before, make the steps of ε / 1000."""
    steps = []
    for scale, epsilon in ((1000.0, 1e-8), (1.0, 1e-11)):
        flat = np.zeros(3)
        optimiser = Adam(epsilon=epsilon)
        optimiser.update(flat, scale * np.array([1e-12, 1e-9, 1e-6]), optimiser.start(flat))
        steps.append(flat)
    np.testing.assert_allclose(*steps, rtol=1e-9)


def test_sizes_are_root_mean_squares_of_the_gradient(names):
    network = Network(Highway(0.0), 3)
    data, params = digits(0), network.initialise(0)
    _, grads = network.loss_and_gradients(params, data.x_train[:64], data.y_train[:64])
    rms = [np.sqrt(np.mean(block["W_H"] ** 2)) for block in grads.blocks]
    np.testing.assert_allclose(names["sizes"](Highway(0.0), 3)[0], rms)


def test_tau_is_the_logarithm_of_the_direct_path():
    for gate_bias, depth in ((-0.2, 10), (-1.0, 20), (-2.0, 50)):
        assert np.exp(-tau(gate_bias, depth)) == pytest.approx(direct_path(sigmoid(gate_bias), depth), rel=1e-9)


def test_spirals_have_32_batches_per_epoch():
    assert -(-4000 // 128) == 32


# Sliders


def test_the_dot_lies_on_its_line_at_its_tau(names):
    for optimiser in names["OPTIMISERS"]:
        for gate_bias, depth in ((-2, 50), (0, 5), (-10, 100)):
            frame = names["one_axis"](gate_bias, depth, optimiser)
            (x,), (y,) = frame["highway, here"]
            assert x == pytest.approx(tau(gate_bias, depth))
            assert y == pytest.approx(
                100 * np.nan_to_num(names["five_at"](gate_bias, depth, optimiser), nan=0.1).mean()
            )
            line = frame["highway, this depth"]
            assert (x, y) in list(zip(*line, strict=True))
            assert len(line.x) == len(names["BIASES"])


def test_every_recorded_point_is_within_the_sliders_axes(run, names):
    axes = run[2]["look-slider"].axes
    taus = [tau(b, depth) for b in names["BIASES"] for depth in names["DEPTHS"]]
    assert axes["xlim"][0] < np.log10(min(taus))
    assert np.log10(max(taus)) < axes["xlim"][1]
    assert axes["log_x"]


def test_sliders_hold_the_whole_record(names):
    gate_bias = studies.load("gate_bias").select(dtype="float32")
    assert sorted(gate_bias.values("gate_bias")) == names["BIASES"]
    assert gate_bias.values("depth") == names["DEPTHS"]
    assert len(gate_bias) == 5 * len(names["BIASES"]) * len(names["DEPTHS"]) * len(names["OPTIMISERS"])


def test_a_training_that_diverged_is_told_and_counted(names, monkeypatch):
    monkeypatch.setitem(names, "recorded", lambda optimiser: np.full((9, 7, 5), np.nan))
    at = {"gate_bias": -2, "depth": 50, "optimiser": "SGD 0.1"}
    frame = names["one_axis"](**at)
    assert frame["highway, here"].y == [10]
    for say in ("say_dot", "say_cell"):
        assert "5 of five diverged" in names[say](at, frame)
        assert "10.0 (10.0 to 10.0) %" in names[say](at, frame)


def test_the_map_has_bias_across_and_depth_up(names):
    picture = names["accuracy_map"](-2, 50, "Adam 0.001")["test accuracy"]
    assert picture.shape == (len(names["DEPTHS"]), len(names["BIASES"]))
    five = names["five_at"](-1, 20, "Adam 0.001")
    assert picture[names["DEPTHS"].index(20), names["BIASES"].index(-1)] == pytest.approx(five.mean())


def test_sentences_under_the_sliders(run, names):
    adam = percent(names["five_at"](-2, 50, "Adam 0.001"))
    assert f"τ is 6.35, and five seeds reach {adam}." in run[2]["look-slider"].frame["says"]
    assert f"{adam} with τ = 6.35." in run[2]["map-slider"].frame["says"]


# Learning rates


def test_the_table_of_learning_rates_is_the_record(run):
    rows = table(run, "rates-table")
    groups = [(depth, optimiser) for optimiser in ("adam", "sgd") for depth in (20, 50)]
    for row, group in zip(rows[:4], groups, strict=True):
        found = [rates_that_train(net, *group) for net in NETS]
        assert row[1:] == [ends(good) if good else "none" for good in found]
    assert rows[4][1:] == [str(of_180(net, np.isnan)) for net in NETS]
    assert rows[5][1:] == [str(of_180(net, lambda five: five < 0.15)) for net in NETS]


def test_late_trainings_are_printed_one_by_one(run):
    lines = iter(run[1]["rates-late"].splitlines())
    for rate in (0.03, 0.1, 0.3, 1.0):
        for epochs in (30, 150):
            five = over_rates("-2", 50, "sgd", epochs)[rate]
            shown = ", ".join("nan" if np.isnan(a) else f"{100 * a:.0f}" for a in five)
            assert next(lines) == f"SGD {rate}, {epochs} epochs, five seeds, %: {shown}"


def test_the_slider_of_learning_rates_holds_the_record(names):
    for depth in (20, 50):
        for optimiser in ("Adam", "SGD"):
            frame = names["over_rates"](depth=depth, optimiser=optimiser)
            said = names["say_rates"]({"depth": depth, "optimiser": optimiser}, frame)
            for series, net in zip(names["NETS"], NETS, strict=True):
                recorded = over_rates(net, depth, optimiser.lower())
                means = [100 * np.nan_to_num(five, nan=0.1).mean() for five in recorded.values()]
                np.testing.assert_allclose(frame[series], [list(recorded), means])
                rate, five = list(recorded.items())[int(np.argmax(means))]
                assert f"{series} {percent(five)[:-2]} at {rate:g}" in said


# Starting weights


def test_the_table_of_starts_is_the_record(run):
    rows = iter(table(run, "start-runs"))
    for gate_bias, shown in ((-2.0, "-2"), ("-ln depth", "-ln L")):
        for depth in (20, 50):
            for W_H in ("uniform", "he"):
                five = [percent(five)[:-2].replace(" to ", "–") for five in gate_starts(gate_bias, W_H, depth)]
                assert next(rows) == [shown, str(depth), W_H.replace("he", "He"), *five]
    assert next(rows, None) is None


def test_gates_with_no_weights_are_what_the_formula_says(names):
    for gate_bias in (-2.0, -np.log(50)):
        for W_H in ("uniform", "he"):
            mean_gate, t = names["measured_tau"](gate_bias, W_H, "zero")
            assert mean_gate == pytest.approx(sigmoid(gate_bias))
            assert t == pytest.approx(tau(gate_bias, 50))
            opened = [names["measured_tau"](gate_bias, W_H, W_T)[0] for W_T in ("zero", "uniform", "he")]
            assert opened == sorted(opened), "W_T raises the mean gate"
    more = names["measured_tau"](-2.0, "he", "he")[1] - tau(-2.0, 50)
    assert 0 < more < tau(-2.0, 2), "no more than two blocks would add"


def test_the_spread_of_gates_is_the_formulas():
    rng = np.random.default_rng(0)
    x, variance = rng.normal(size=(200, 64)), 2 / 64
    z = x @ rng.normal(scale=np.sqrt(variance), size=(64, 2000))
    assert z.std() == pytest.approx(np.sqrt(64 * variance * np.mean(x**2)), rel=0.02)
    assert sigmoid(-2 + z).mean() > sigmoid(-2.0) + 0.02
    network = Network(Highway(), 1)
    uniform, he = (network.initialise(0, start).blocks[0]["W_T"].var() for start in ("uniform", "he"))
    assert he / uniform == pytest.approx(6, rel=0.1), "six times the variance"


def test_the_gates_weights_may_start_at_0():
    """The quiz: at W_T = 0 the gradient of W_T is there, and differs from unit to unit."""
    network, data = Network(Highway(), 3), digits(0)
    params = network.initialise(0)
    for views in params.blocks:
        views["W_T"][:] = 0
    _, g = network.loss_and_gradients(params, data.x_train[:64], data.y_train[:64])
    for views in g.blocks:
        columns = views["W_T"].T[np.abs(views["W_T"]).sum(axis=0) > 0]
        assert len(columns) > 32
        assert len(np.unique(columns.round(12), axis=0)) == len(columns)


def test_the_slider_of_starts_holds_the_record(names):
    names_in_record = {"uniform": "uniform", "N(0, 1/n)": "normal", "orthogonal": "orthogonal", "He": "he"}
    assert list(names["STARTS"]) == list(names_in_record)
    for shown, initialiser in names_in_record.items():
        frame = names["over_depth"](initialisation=shown)
        for kind in ("plain", "highway", "residual"):
            for depth, y in zip(*frame[kind], strict=True):
                five = started(block=kind, depth=int(depth), initialiser=initialiser, gate_initialiser=None)
                assert y == pytest.approx(100 * np.nan_to_num(five, nan=0.1).mean())
        said = names["say_at_50"]({"initialisation": shown}, frame)
        for kind in ("plain", "highway", "residual"):
            at_50 = started(block=kind, depth=50, initialiser=initialiser, gate_initialiser=None)
            assert f"{kind} {percent(at_50)[:-2]}" in said


# Figures


def test_accuracies_are_drawn_as_means_with_their_range():
    rows = np.array([[0.5, 0.7, 0.9], [0.2, 0.2, 0.2]])
    figure = figures.accuracy_against({"panel": {"highway": ([0.1, 10], rows)}}, "τ", control=[0.96, 0.98])
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.lines}
    np.testing.assert_allclose(lines["highway"].get_xydata(), [(0.1, 70), (10, 20)])
    assert to_hex(lines["highway"].get_color()) == BLOCKS["highway"].light.lower()
    assert list(lines["no block"].get_ydata()) == [97, 97]
    assert list(lines["guessing"].get_ydata()) == [10, 10]
    (bars,) = [c for c in axes.collections if len(c.get_paths()) == 2]
    ends = sorted(tuple(path.vertices[:, 1]) for path in bars.get_paths())
    np.testing.assert_allclose(ends, [(20, 20), (50, 90)])
    assert (axes.get_xscale(), axes.get_xlabel(), axes.texts[0].get_text()) == ("log", "τ", "panel")
    assert [text.get_text() for text in figure.legends[0].texts] == ["highway", "no block", "guessing"]


def test_diverged_trainings_count_as_guessing_and_are_marked():
    rows = np.array([[0.9, np.nan], [0.8, 0.6], [np.nan, np.nan]])
    figure = figures.accuracy_against({"": {"plain, He": ([1, 0.1, 10], rows)}}, "learning rate")
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.lines}
    np.testing.assert_allclose(lines["plain, He"].get_xydata(), [(0.1, 70), (1, 50), (10, 10)])
    crosses = next(line for line in axes.lines if line.get_marker() == "x" and len(line.get_xdata()))
    assert sorted(crosses.get_xdata()) == [1, 10]
    assert "some diverged" in [text.get_text() for text in figure.legends[0].texts]
    assert not axes.texts, "a panel without a name"


def test_gradients_stand_over_lines_of_epsilon():
    rows = np.array([[1e-10, 1e-4], [1e-6, 1e-4]])
    (axes,) = figures.sizes_against_epsilon({"highway": rows}, [1e-8, 1e-16]).axes
    *levels, line = axes.lines
    assert [level.get_ydata()[0] for level in levels] == [1e-8, 1e-16]
    np.testing.assert_allclose(line.get_xydata(), [(1, 1e-8), (2, 1e-4)])
    assert [text.get_text() for text in axes.texts] == ["ε = 10$^{−8}$", "ε = 10$^{−16}$"]
    band = axes.collections[0].get_paths()[0].get_extents()
    assert (band.y0, band.y1) == pytest.approx((1e-10, 1e-4))


# Checks of the exercises


@pytest.mark.parametrize(
    ("check", "answer", "right", "word"),
    [
        ("largest_bias_with_sgd", -2, True, "τ = 2.5"),
        ("largest_bias_with_sgd", np.int64(-2), True, ""),
        ("largest_bias_with_sgd", -1, False, "close the gates further"),
        ("largest_bias_with_sgd", -3, False, "not the largest"),
        ("largest_bias_with_sgd", -2.5, False, "was not recorded"),
        ("largest_bias_with_sgd", 2, False, "was not recorded"),
        ("largest_bias_with_sgd", None, False, "None"),
        ("blocks_above_epsilon", 28, True, "28 of 50"),
        ("blocks_above_epsilon", 22, False, "*below* epsilon"),
        ("blocks_above_epsilon", 15, False, "that is the count at gate bias 0"),
        ("blocks_above_epsilon", 50, False, "too many"),
        ("blocks_above_epsilon", 3, False, "too few"),
        ("blocks_above_epsilon", None, False, "None"),
        ("bias_for_tau", lambda t, depth: np.log(np.exp(t / depth) - 1), True, ""),
        ("bias_for_tau", lambda t, depth: np.log(t / depth), False, "closed gates only"),
        ("bias_for_tau", lambda t, depth: -np.log(np.exp(t / depth) - 1), False, "which gives τ = "),
        ("bias_for_tau", lambda t, depth: t * depth * 1e6, False, "far outside"),
        ("bias_for_tau", lambda t, depth: None, False, "None"),
        ("bias_for_tau", None, False, "None came"),
        ("safe_tau", None, False, "None"),
        ("safe_tau", 69.3, False, "failures below it"),
        ("safe_tau", 0.01, False, "further points above it"),
    ],
)
def test_checks_accept_what_is_right_and_explain_what_is_wrong(check, answer, right, word):
    verdict = getattr(exercises, f"check_{check}")(answer)
    assert bool(verdict) is right, verdict
    assert word in verdict.sentence


def test_the_safe_tau_is_that_of_the_record(names):
    safe, _, _ = edge(names, "SGD 0.1")
    assert exercises.check_safe_tau(safe)
    assert exercises.check_safe_tau(round(safe, 2))
    t, failure, _ = names["safe_tau"]("SGD 0.1")
    assert t == safe
    verdict = exercises.check_safe_tau(failure)
    assert not verdict
    assert "the first τ with a failure" in verdict.sentence


def test_a_lucky_tau_is_no_safe_tau(monkeypatch):
    """A point that trains beyond the first failure is a known mistake."""
    accuracy = np.full((2, 2, 5), 0.95)
    accuracy[1, 0] = 0.1
    monkeypatch.setattr(checks, "sgd_runs", lambda: ([-2.0, -1.0], [10, 50], accuracy))
    assert exercises.check_safe_tau(tau(-2.0, 10))
    assert "some points with a smaller τ do not" in exercises.check_safe_tau(tau(-1.0, 50)).sentence


def test_the_largest_bias_is_the_records(names):
    reached = {b: names["five_at"](b, 20, "SGD 0.1") for b in names["BIASES"]}
    assert max(b for b, five in reached.items() if (five >= 0.9).all()) == -2


def test_a_training_that_diverged_is_no_training(monkeypatch):
    accuracy = np.full((2, 1, 5), 0.95)
    accuracy[1, 0, 2] = np.nan
    monkeypatch.setattr(checks, "sgd_runs", lambda: ([-2.0, -1.0], [20], accuracy))
    assert exercises.check_largest_bias_with_sgd(-2)
    assert not exercises.check_largest_bias_with_sgd(-1)


def test_blocks_above_epsilon_are_counted_on_the_chapters_sizes(names):
    g = over_seeds(names["sizes"](Highway(-1.0)))[1]
    assert (g > 1e-8).sum() == 28
    assert (over_seeds(names["sizes"](Highway(0.0)))[1] > 1e-8).sum() == 15
