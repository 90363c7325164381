"""Chapter 7: each number in the text comes from the record or the run; sliders, figures and checks do what they say.

The cells run here, in one namespace, as a reader would run them: the tests use the chapter's functions, not copies.
"""

import re

import numpy as np
import pytest
import reading
from conftest import BOOK

from highway_lessons import SGD, Adam, Highway, Network, exercises, gates, sigmoid, studies
from highway_lessons.studies import living
from highway_lessons.studies.lesions import train_and_lesion, trained
from highway_lessons.studies.living import TOSS

CHAPTER = BOOK / "chapters" / "07-switch-blocks-off.ipynb"
TEXT = reading.prose(CHAPTER).replace("−", "-")
DIGITS = ["highway, SGD −5", "highway, Adam −5", "highway, Adam −2", "residual, digits"]


@pytest.fixture(scope="module")
def measured(names):
    return names["measured"]


def flat(values):
    return np.concatenate([np.ravel(v) for v in values])


# Numbers in the text


@pytest.fixture(scope="module")
def facts(names, measured):
    """Each number with a decimal point or per cent, as it stands in the text, and what the record gives."""

    def percent(net, name):
        return 100 * measured(net, name)

    def costs(net, part="test"):
        return percent(net, f"{part}_accuracy")[:, None] - percent(net, f"single_{part}")

    def off(net, part="test"):
        return percent(net, f"{part}_accuracy") - percent(net, f"all_off_{part}")

    spirals, sgd, adam5, adam2, residual = "highway, spirals", *DIGITS
    record, none = names["record"], names["NONE"]
    plain = record.select(data="spirals", block="plain").points
    plain_costs = 100 * np.array([p["test_accuracy"] - np.array(p["curves"]["single_test"]) for p in plain])
    tuned, slow = (
        100 * record.select(data="digits", block="none", optimiser="adam", learning_rate=rate).array("test_accuracy")
        for rate in (3e-3, 1e-3)
    )
    by_thirds = np.array_split(abs(costs(adam2, "train")) > 0.5, [17, 34], axis=1)
    trained_gates = studies.load("trained_gates").select(data="digits", gate_bias=-5.0)
    spiral_gates = studies.load("trained_gates").select(data="spirals")
    adam_gates, sgd_gates = (trained_gates.select(optimiser=o) for o in ("adam", "sgd"))
    living = studies.load("living")
    left = {
        name: 100 * np.array([p["curves"][f"{name}_test"] for p in living])
        for name in ("best_off", "mean_off", "offset", "head", "probe")
    }
    turns = {block: right_by_turn(block) for block in (1, 8)}
    return [
        # look first
        ("between 42 and 95 % right", "42", percent(spirals, "single_test").min()),
        ("between 42 and 95 % right", "95", percent(spirals, "single_test").max()),
        ("53 to 57 % is left on average", "53", left["mean_off"][:, 2].min()),
        ("53 to 57 % is left on average", "57", left["mean_off"][:, 2].max()),
        ("sets of three 51 to 53 %", "51", left["mean_off"][:, 3].min()),
        ("sets of three 51 to 53 %", "53", left["mean_off"][:, 3].max()),
        ("the best two off leave 62 to 78 %", "62", left["best_off"][:, 2].min()),
        ("the best two off leave 62 to 78 %", "78", left["best_off"][:, 2].max()),
        ("the best four 59 to 61 %", "59", left["best_off"][:, 4].min()),
        ("the best four 59 to 61 %", "61", left["best_off"][:, 4].max()),
        ("at their mean, and 46 to 53 %", "46", 100 * living.array("frozen_test", "depth").min()),
        ("at their mean, and 46 to 53 %", "53", 100 * living.array("frozen_test", "depth").max()),
        ("up or down, and 53 to 77 %", "53", left["offset"][:, [0, -1]].min()),
        ("up or down, and 53 to 77 %", "77", left["offset"][:, [0, -1]].max()),
        ("is right on 59 % at most", "59", left["head"][:, :7].max()),
        ("after block 9 on 61 to 95 %", "61", left["head"][:, 9].min()),
        ("after block 9 on 61 to 95 %", "95", left["head"][:, 9].max()),
        ("right on 85 to 99 % there", "85", left["probe"][:, 9].min()),
        ("right on 85 to 99 % there", "99", left["probe"][:, 9].max()),
        ("all of them: 95 to 98 % stays", "95", percent(sgd, "all_off_test").min()),
        ("all of them: 95 to 98 % stays", "98", percent(sgd, "single_test").max()),
        ("(96 % right)", "96", turns[8][4]),
        ("the three inside it (27 to 42 %)", "27", min(turns[8][1:4])),
        ("the three inside it (27 to 42 %)", "42", max(turns[8][1:4])),
        ("the outermost one (49 %)", "49", turns[1][4]),
        ("(We call 45 to 55 % right a coin's toss.)", "45", 100 * (0.5 - TOSS)),
        ("(We call 45 to 55 % right a coin's toss.)", "55", 100 * (0.5 + TOSS)),
        ("the own head reads 90 and 95 % already", "90", sorted(left["head"][:, 9])[-2]),
        ("the own head reads 90 and 95 % already", "95", sorted(left["head"][:, 9])[-1]),
        # one off
        ("between 4.9 and 57.6 points", "4.9", costs(spirals).min()),
        ("between 4.9 and 57.6 points", "57.6", costs(spirals).max()),
        ("49 or 50 of fifty", "49", min(measured(sgd, "idle_train").min(), measured(sgd, "idle_test").min())),
        ("at least 48 of its fifty", "48", min(measured(residual, f"idle_{p}").min() for p in ("train", "test"))),
        ("for 10.8 points or more", "10.8", costs("residual, spirals").min()),
        ("on average 36 blocks are idle", "36", measured(adam5, "idle_test").mean()),
        ("only 17 (6 to 32)", "17", measured(adam2, "idle_test").mean()),
        ("only 17 (6 to 32)", "6", measured(adam2, "idle_test").min()),
        ("only 17 (6 to 32)", "32", measured(adam2, "idle_test").max()),
        ("can cost 30 points", "30", costs(adam2).max()),
        ("45 idle blocks by its training", "45", measured(adam5, "idle_train")[2]),
        ("29 by its test images", "29", measured(adam5, "idle_test")[2]),
        ("rises by up to 3 points", "3", -min(costs(net).min() for net in names["NETS"])),
        ("68 % when whole", "68", 100 * np.mean([p["test_accuracy"] for p in plain])),
        ("lesion costs 5 to 34 points", "5", plain_costs.min()),
        ("lesion costs 5 to 34 points", "34", plain_costs.max()),
        # many off
        ("0.6 to 0.9 points on the test", "0.6", off(sgd).min()),
        ("0.6 to 0.9 points on the test", "0.9", off(sgd).max()),
        ("0.0 to 2.1 on the training", "0.0", off(sgd, "train").min()),
        ("0.0 to 2.1 on the training", "2.1", off(sgd, "train").max()),
        ("add up to -1.1 points", "-1.1", costs(residual).sum(axis=1).mean()),
        ("costs 24.3 to 47.4", "24.3", off(residual).min()),
        ("costs 24.3 to 47.4", "47.4", off(residual).max()),
        ("costs 36 points on average, all ten together 46", "36", costs(spirals).mean()),
        ("costs 36 points on average, all ten together 46", "46", off(spirals).mean()),
        ("at random 92 % is left", "92", percent(residual, "random_test")[:, 25].mean()),
        ("without the *last* half 96 %", "96", percent(residual, "head_test")[:, 25].mean()),
        ("without the *first* half 71 %", "71", percent(residual, "first_test")[:, 25].mean()),
        ("first half is right on 20 %", "20", percent(adam2, "first_test")[:, 25].mean()),
        ("without any block on 36 %", "36", percent(adam2, "all_off_test").mean()),
        ("cost 24 points or more", "24", off(residual).min()),
        # order and gates
        ("49 to 51 % with the blocks in random order", "49", percent(spirals, "order_test").min()),
        ("49 to 51 % with the blocks in random order", "51", percent(spirals, "order_test").max()),
        ("46 to 53 % with frozen", "46", percent(spirals, "frozen_test").min()),
        ("46 to 53 % with frozen", "53", percent(spirals, "frozen_test").max()),
        ("49 to 51 % with shuffled", "49", percent(spirals, "shuffled_test").min()),
        ("49 to 51 % with shuffled", "51", percent(spirals, "shuffled_test").max()),
        ("its own gates leave 68 %, as", "68", 100 * spiral_gates.array("one_input").mean()),
        ("frozen gates leave 20 %", "20", percent(adam2, "frozen_test").mean()),
        ("shuffled ones 18 %", "18", percent(adam2, "shuffled_test").mean()),
        ("a random order 27 %", "27", percent(adam2, "order_test").mean()),
        ("moved: -5.01 and -5.02", "-5.01", -5 + sgd_gates.array("bias_change").mean()),
        ("moved: -5.01 and -5.02", "-5.02", -5 + adam_gates.array("bias_change").mean()),
        ("from 0.0067 to 0.080, twelvefold", "0.0067", sigmoid(-5.0)),
        ("from 0.0067 to 0.080, twelvefold", "0.0067", sgd_gates.array("mean_gate").mean()),
        ("from 0.0067 to 0.080, twelvefold", "0.080", adam_gates.array("mean_gate").mean()),
        ("network on the digits 94 %", "94", percent(residual, "order_test").mean()),
        ("on spirals 52 %. Greff", "52", percent("residual, spirals", "order_test").mean()),
        ("frozen gates at 69 %", "69", percent(adam5, "frozen_test").mean()),
        ("the other 26 points", "26", (percent(adam5, "test_accuracy") - percent(adam5, "frozen_test")).mean()),
        ("shut at 0.7 %", "0.7", 100 * sigmoid(-5.0)),
        ("off costs 22 to 57 points", "22", off(adam5).min()),
        ("off costs 22 to 57 points", "57", off(adam5).max()),
        # what it proves
        ("reaches 97 % on the digits", "97", 100 * np.mean([p["test_accuracy"] for p in none["SGD"]])),
        ("reaches 97 % on the digits", "97", tuned.mean()),
        ("deep networks, 95.9 %", "95.9", slow.mean()),
        ("A new head reads 95 %", "95", percent(adam5, "probe_test")[:, 0].mean()),
        ("reads 93.8 % (93.0 to 94.3)", "93.8", np.mean(names["right"])),
        ("reads 93.8 % (93.0 to 94.3)", "93.0", min(names["right"])),
        ("reads 93.8 % (93.0 to 94.3)", "94.3", max(names["right"])),
        ("own head reads 58 %", "58", percent(adam5, "head_test")[:, 0].mean()),
        ("blocks off leaves 54 %", "54", percent(spirals, "all_off_test").mean()),
        ("without blocks reaches 53 %", "53", 100 * np.mean([p["test_accuracy"] for p in none["spirals"]])),
        ("training set 12 to 20 of fifty", "12", measured(adam2, "idle_train").min()),
        ("training set 12 to 20 of fifty", "20", measured(adam2, "idle_train").max()),
        ("31 % on average", "31", 2 * measured(adam2, "idle_train").mean()),
        ("first third (82 %)", "82", 100 * by_thirds[0].mean()),
        ("in the last (56 %)", "56", 100 * by_thirds[2].mean()),
        # change one thing
        ("have 22 to 43 idle blocks", "22", measured(adam5, "idle_test").min()),
        ("have 22 to 43 idle blocks", "43", measured(adam5, "idle_test").max()),
        ("keep 40 to 74 % with all off", "40", percent(adam5, "all_off_test").min()),
        ("keep 40 to 74 % with all off", "74", percent(adam5, "all_off_test").max()),
    ]


def test_each_number_of_the_text_is_what_was_measured(facts):
    for place, text, value in facts:
        assert place in TEXT, place
        assert text in place, (text, place)
        assert f"{value + 0.0:.{len(text.partition('.')[2])}f}".replace("-0.0", "0.0") == text, (place, value)


def test_no_number_of_the_text_is_unchecked(facts):
    """Every number with a decimal point, and every percentage, of the words (captions and alt texts have a test)."""
    cells = [cell for cell in reading.nbformat.read(CHAPTER, as_version=4).cells if cell.cell_type == "markdown"]
    words = "\n".join(cell.source for cell in cells).replace("−", "-")
    checked = {text for _, text, _ in facts}
    decimals = set(re.findall(r"(?<![\d.])-?\d+\.\d+", words))
    percentages = set(re.findall(r"(\d+(?:\.\d+)?) %", words))
    papers_and_chance = {"60", "50", "1"}
    assert decimals <= checked, decimals - checked
    assert percentages <= checked | papers_and_chance, percentages - checked


def test_rough_statements(names, measured):
    sums = 100 * (measured("highway, spirals", "test_accuracy")[:, None] - measured("highway, spirals", "single_test"))
    assert "add up to more than 300 points" in TEXT
    assert sums.sum(axis=1).min() > 300
    ratio = studies.load("trained_gates").select(data="digits", gate_bias=-5.0, optimiser="adam").array("mean_gate")
    assert ratio.mean() / sigmoid(-5.0) == pytest.approx(12, abs=0.5)
    assert "now and then the last block costs little" in TEXT
    seeds, blocks = np.nonzero(sums < 10)
    assert len(seeds) == 2
    assert set(blocks + 1) == {10}
    assert "half a point" in TEXT
    assert "that is two images" in TEXT
    assert len(names["TWINS"]["digits"][2].y_test) == 540
    assert 2 / 540 <= 0.005 < 3 / 540


def test_no_deep_network_beats_the_control_by_a_point(names, measured):
    assert "as good as any of the deep ones" in TEXT
    for net in DIGITS:
        assert measured(net, "test_accuracy").mean() < names["trained_without"](net, "test") + 0.01


def test_what_the_text_says_of_both_sets_and_of_every_network(measured):
    for part in ("train", "test"):
        assert not measured("highway, spirals", f"idle_{part}").any()
        assert not measured("residual, spirals", f"idle_{part}").any()
        assert measured("highway, SGD −5", f"idle_{part}").min() >= 49
    for name in ("order_test", "frozen_test", "shuffled_test", "all_off_test"):
        assert abs(measured("highway, SGD −5", name) - measured("highway, SGD −5", "test_accuracy")).max() < 0.01
        lost = measured("highway, Adam −5", "test_accuracy") - measured("highway, Adam −5", name)
        assert lost.min() > 0.015, "something happens in all of them"
        assert measured("highway, Adam −2", name).mean() < measured("highway, Adam −5", name).mean(), "from −2 more"


def test_what_the_alt_texts_say(names, measured):
    bars = 100 * measured("highway, spirals", "single_test").mean(axis=0)
    assert ((bars > 50) & (bars < 80)).all()
    assert abs(100 * measured("highway, SGD −5", "single_test").mean(axis=0) - 97).max() < 1
    random = {net: 100 * measured(net, "random_test").mean(axis=0) for net in DIGITS}
    assert abs(random["highway, SGD −5"] - 97).max() < 1.5
    assert random["residual, digits"][:26].min() > 90
    assert [round(random[net][50]) for net in ("residual, digits", "highway, Adam −5")] == [61, 58]
    assert round(random["highway, Adam −2"][25]) == 40
    adam5 = [100 * measured("highway, Adam −5", n) for n in ("order_test", "frozen_test", "shuffled_test")]
    adam5 = flat([*adam5, 100 * measured("highway, Adam −5", "all_off_test")])
    assert (round(adam5.min()), round(adam5.max())) == (28, 91)
    for net in ("highway, SGD −5", "highway, Adam −5"):
        assert abs(100 * measured(net, "probe_test").mean(axis=0) - 96).max() < 1.2
    own = 100 * measured("highway, Adam −5", "head_test").mean(axis=0)
    assert (round(own[0]), round(own[-1])) == (58, 95)
    assert own[40] < 85 < own[-2]


# The record


@pytest.mark.parametrize("part", ["train", "test"])
def test_the_record_agrees_with_itself(names, measured, part):
    for net, points in names["NETS"].items():
        whole, single = measured(net, f"{part}_accuracy"), measured(net, f"single_{part}")
        idle = (abs(single - whole[:, None]) <= 0.005 + 1e-5).sum(axis=1)  # the lists are rounded
        np.testing.assert_array_equal(measured(net, f"idle_{part}"), idle)
        for name in ("head", "first", "random"):
            lines = measured(net, f"{name}_{part}")[:, :: -1 if name == "head" else 1]
            np.testing.assert_allclose(lines[:, 0], whole, atol=1e-5)
            np.testing.assert_allclose(lines[:, -1], measured(net, f"all_off_{part}"), atol=1e-5)
        assert [p["seed"] for p in points] == [0, 1, 2, 3, 4]


def test_a_point_of_the_study_is_measured_as_it_says():
    """A small training, and each number again by hand."""
    point = {"data": "spirals", "block": "highway", "depth": 3, "gate_bias": -1.0, "seed": 1, "epochs": 2}
    point |= {"optimiser": "adam", "learning_rate": 0.01}
    result = train_and_lesion(draws=2, curves=True, **point)
    network, data, _, run = trained(**point)
    x, y = data.x_test, data.y_test

    def accuracy(**changed):
        return gates.score(network, run.params, x, y, **changed).accuracy

    T, T_train = (gates.transform_gates(network, run.params, part) for part in (x, data.x_train))
    rng = np.random.default_rng(0)
    orders = [rng.permutation(3) for _ in range(2)]
    expected = {
        "test_accuracy": accuracy(),
        "all_off_test": accuracy(blocks=[]),
        "frozen_test": accuracy(gates=np.broadcast_to(T_train.mean(axis=1, keepdims=True), T.shape)),
        "shuffled_test": np.mean([accuracy(gates=gates.shuffled(T, draw)) for draw in range(2)]),
        "order_test": np.mean([accuracy(blocks=order) for order in orders]),
    }
    assert {name: result[name] for name in expected} == pytest.approx(expected, abs=2e-4)
    curves = {
        "single_test": [accuracy(blocks=blocks) for blocks in ([1, 2], [0, 2], [0, 1])],
        "first_test": [accuracy(blocks=range(k, 3)) for k in range(4)],
        "head_test": [accuracy(blocks=range(k)) for k in range(4)],
    }
    for name, values in curves.items():
        assert result["curves"][name] == pytest.approx(values, abs=2e-4), name
    assert result["idle_test"] == sum(abs(one - expected["test_accuracy"]) <= 0.005 for one in curves["single_test"])


# The run


def test_the_live_twins_are_those_of_the_record(names):
    """Seed 0 of both kinds; another computer's arithmetic may move a point or two."""
    for name, net in (("digits", "highway, SGD −5"), ("spirals", "highway, spirals")):
        network, params, data = names["TWINS"][name]
        accuracy = gates.score(network, params, data.x_test, data.y_test).accuracy
        assert accuracy == pytest.approx(names["NETS"][net][0]["test_accuracy"], abs=0.02)
    assert names["NETS"][net][0]["seed"] == 0


@pytest.mark.parametrize(
    ("point", "name"),
    [
        (("digits", "highway", 50, -5.0, "sgd", 0.1, 0), "digits"),
        (("spirals", "highway", 10, "-ln(depth - 1)", "adam", 0.01, 0), "spirals"),
    ],
)
def test_the_recipe_of_the_chapter_is_that_of_the_study(names, point, name):
    """A single epoch, so that rounding has no time to grow: the same network, the same data, the same start."""
    network, data, _, _ = trained(*point, epochs=1)
    ours, _, our_data = names["TWINS"][name]
    assert network == ours
    np.testing.assert_array_equal(data.x_train, our_data.x_train)
    optimiser = SGD(0.1, momentum=0.9) if name == "digits" else Adam(0.01, cosine_decay=5040)
    assert ours.block == (Highway(-5.0) if name == "digits" else Highway(-np.log(9), "tanh"))
    assert optimiser == (SGD(0.1, 0.9) if name == "digits" else Adam(0.01, cosine_decay=80 * -(-8000 // 128)))


def test_three_ways_to_switch_a_block_off_agree(run):
    for line in run.printed["single-three"].splitlines():
        assert len(set(re.findall(r"\d+\.\d+ %", line))) == 1, line


def test_the_loop_is_the_equation(names):
    network, params, data = names["TWINS"]["spirals"]
    x = data.x_test[:50]
    for off in ([], [0], [2, 9], range(10)):
        logits, h = gates.forward_with(network, params, x, gates.without(network, list(off)))
        np.testing.assert_array_equal(names["answers_without"](network, params, x, off), logits.argmax(axis=1))
        assert len(h) == 11 - len(off)


def test_cells_print_what_the_record_holds(run, measured):
    table = run.printed["proves-table"]
    assert "idle alone               49.6 (49.0 to 50.0)   35.6 (22.0 to 43.0)" in table
    assert "all blocks off, %        96.0 (95.2 to 97.0)   58.3 (39.8 to 73.5)" in table
    assert "no block, trained so, %  97.1 (96.1 to 98.5)   97.0 (96.5 to 97.6)" in table
    assert "pixels: 93.8 % (93.0 to 94.3)" in run.printed["proves-pixels"]
    assert "highway, spirals test   361.6 (305.1 to 381.8)   46.1 ( 44.6 to  47.0)" in run.printed["many-code"]
    assert "residual, digits test    -1.1 ( -5.0 to   3.5)   36.6 ( 24.3 to  47.4)" in run.printed["many-code"]
    assert "after sgd : mean gate 0.0067 (0.0066 to 0.0068), mean gate bias -5.01" in run.printed["gates-bias"]
    assert "idle by the training loss: [0, 1, 0, 0, 0], mean 0.2" in run.printed["exercise-2-solution"]
    assert "bias -5: no block 0.715, one block 0.241, two or more 0.044" in run.printed["exercise-3-solution"]
    assert "bias -2: no block 0.002, one block 0.012, two or more 0.986" in run.printed["exercise-3-solution"]


def test_the_live_twins_behave_as_the_text_says(names, run):
    rows = dict(re.split(r" {2,}", line, maxsplit=1) for line in run.printed["single-table"].splitlines()[1:])
    for part in ("train", "test"):
        assert rows[f"spirals, {part}"].endswith("0 of 10")
        assert int(re.search(r"(\d+) of 50", rows[f"digits, {part}"])[1]) >= 48
    spirals, digits = (re.findall(r"\d+\.\d", line) for line in run.printed["gates-code"].splitlines())
    assert all(abs(float(value) - 50) < 6 for value in spirals)
    assert all(float(value) > 94 for value in digits)
    network, params, data = names["TWINS"]["spirals"]
    left = gates.single_lesions(network, params, data.x_test, data.y_test).accuracy
    assert (left > 0.9).sum() <= 2, "it falls apart, nearly whichever block you take"
    swaps = [re.findall(r"\d+\.\d", line) for line in run.printed["exercise-4-solution"].splitlines()]
    assert float(swaps[0][0]) > 3
    assert float(swaps[1][1]) < 1


def test_change_one_thing(names):
    """SGD from −2 stays at chance, and then every block is idle; Adam from −5 is another network altogether."""
    network, params, data = names["digits_network"](-2.0, SGD(0.1, momentum=0.9))
    whole = gates.score(network, params, data.x_test, data.y_test).accuracy
    single = gates.single_lesions(network, params, data.x_test, data.y_test).accuracy
    assert whole < 0.15
    assert (abs(single - whole) <= 0.005).all()
    network, params, data = names["digits_network"](-5.0, Adam())
    whole, off = (gates.score(network, params, data.x_test, data.y_test, blocks).accuracy for blocks in (None, []))
    assert whole > 0.85
    assert off < whole - 0.1, "in the record at least 22 points"


# Sliders


def test_the_living_net_is_the_recipe_of_the_chapter_and_the_page_says_what_python_says(names, run):
    """The recorded networks have the live one's block, data and updates; the cell's numbers are the figure's."""
    network, _, data = names["TWINS"]["spirals"]
    widget = run.shown["look-slider"]
    assert [net.seed for net in names["three"]] == [0, 1, 2]
    for net in names["three"]:
        assert net.network == network
    np.testing.assert_allclose(names["three"][0].x, data.x_test[:2000], atol=1e-5)
    np.testing.assert_array_equal(names["three"][0].y, data.y_test[:2000])
    assert f"ten blocks of eight units, {network.n_parameters} numbers in all" in TEXT
    offs = ([], [4], [9, 10], list(range(1, 11)))
    lines = [
        f"seed 0, off {off}: right on {100 * widget.accuracy(blocks_off=off):.1f} % of 2000 points" for off in offs
    ]
    assert run.printed["look-agree"].splitlines() == lines
    try:
        widget.value = {"blocks_off": [4]}
        assert "block 4 off: right on 62.0 % of 2000 test points" in widget._sentence()
    finally:
        widget.value = widget.start


def right_by_turn(block):
    """Test accuracy in per cent, turn by turn from inside, of the living net of seed 0 without this block."""
    net = living.net()
    right = living.answer(net, net.x, blocks_off=[block]).logits.argmax(axis=1) == net.y
    turn = np.minimum((2.5 * np.linalg.norm(net.x, axis=1)).astype(int), 4)  # the radius goes to 2, in five turns
    return [100 * right[turn == k].mean() for k in range(5)]


def test_one_block_badly_chosen_is_enough_and_the_best_choice_takes_eight_to_ten():
    single, best = (
        np.array([p["curves"][name] for p in studies.load("living")]) for name in ("single_test", "best_off_test")
    )
    assert "each of the five networks has a block that is enough" in TEXT
    assert (abs(single - 0.5) <= living.TOSS).any(axis=1).all()
    assert "**Eight to ten**" in TEXT
    assert set((abs(best - 0.5) <= living.TOSS).argmax(axis=1)) == {8, 10}
    assert "block 8 off leaves the outermost turn as it was" in TEXT
    assert right_by_turn(8)[4] > 95


def test_in_three_of_five_the_probe_reads_far_more_than_the_own_head():
    assert "In three of the five networks it reads far more than the own head" in TEXT
    head, probe = (
        np.array([p["curves"][f"{name}_test"][9] for p in studies.load("living")]) for name in ("head", "probe")
    )
    assert ((probe - head) > 0.15).sum() == 3
    assert set(head[probe - head <= 0.15].round(2)) == {0.90, 0.95}


def test_two_or_three_blocks_until_a_coins_toss(facts):
    """As the text counts: a mean within five points of one half; after one block no network is there."""
    assert "(We call 45 to 55 % right a coin's toss.)" in TEXT
    assert living.TOSS == 0.05
    assert "**Two**, or three, if you take what comes" in TEXT
    means = np.array([p["curves"]["mean_off_test"] for p in studies.load("living")])
    first = (abs(means - 0.5) <= living.TOSS).argmax(axis=1)
    assert set(first) == {2, 3}
    assert (first == 2).sum() >= 3, "two, or three: more often two"


def test_mostly_the_network_stays_as_sure(names):
    assert "And mostly the network does not notice: it stays nearly as sure as before" in TEXT
    widget, plane = names["w"], gates.plane(n=64)
    for seed in (0, 1, 2):
        logits = [widget.answer(plane, seed=seed, blocks_off=[block]).logits for block in range(1, 11)]
        sure = [np.abs(np.tanh((one[:, 1] - one[:, 0]) / 2)).mean() for one in logits]
        assert sum(one > 0.9 for one in sure) >= 6, sure


def test_sentences_under_the_sliders(run):
    says = run.shown["look-slider"]._sentence()
    assert says == "Seed 0, all blocks on: right on 100.0 % of 2000 test points, all of them."
    says = run.shown["single-slider"].frame["says"]
    assert says == "At network highway, SGD −5 and data test: 49.6 of 50 blocks are idle (49 to 50)."
    assert (
        "in %: drawn at random 92, first blocks first 71, last blocks first 96."
        in (run.shown["many-slider"].frame["says"])
    )


@pytest.mark.parametrize("part", ["train", "test"])
def test_frames_are_the_record(names, measured, part):
    for net, points in names["NETS"].items():
        depth = points[0]["depth"]
        frame = names["one_off"](net, part)
        single = np.array([p["curves"][f"single_{part}"] for p in points])
        np.testing.assert_allclose(frame["one block off"], 100 * np.array(
            [single.min(axis=0), single.mean(axis=0), single.max(axis=0)]
        ))  # fmt: skip
        assert set(frame["whole network"]) == {100 * np.mean([p[f"{part}_accuracy"] for p in points])}
        lines = names["more_and_more"](net, part)
        for name in ("drawn at random", "first blocks first", "last blocks first"):
            ends = 100 * np.mean([[p[f"{part}_accuracy"], p[f"all_off_{part}"]] for p in points], axis=0)
            np.testing.assert_allclose(lines[name].mid[[0, -1]], ends, atol=0.01)
            assert len(lines[name].mid) == depth + 1
        assert lines["no block"][0] == frame["no block"][0] == 100 * names["trained_without"](net, part)


def test_each_network_has_the_control_of_its_kind(names):
    for net in names["NETS"]:
        control = 100 * names["trained_without"](net, "test")
        assert 52 < control < 54 if "spirals" in net else 97 <= round(control, 1) < 97.2


def test_last_blocks_first_is_the_head_read_early():
    network = Network(Highway(-1.0), 4, 5, 3, 2)
    params, x, y = network.initialise(0), np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    last = gates.cumulative_lesions(network, params, x, y, order=range(3, -1, -1))
    np.testing.assert_allclose(gates.head_after(network, params, x, y).loss[::-1], last.loss)


# Figures


def test_figures_show_the_record(run, measured):
    above, below = run.shown["single-figure"].axes
    bars = [bar.get_height() for bar in above.patches]
    np.testing.assert_allclose(bars, 100 * measured("highway, spirals", "single_test").mean(axis=0))
    assert len(below.patches) == 50
    lines = {line.get_label(): line.get_ydata() for line in run.shown["many-figure"].axes[0].lines}
    np.testing.assert_allclose(lines["residual"], 100 * measured("residual, digits", "random_test").mean(axis=0))
    assert set(lines) >= {"SGD, gate bias −5", "no block, trained so", "guessing"}
    panels = run.shown["gates-figure"].axes
    assert [axes.texts[0].get_text() for axes in panels] == ["highway, spirals", *DIGITS[:2], DIGITS[3]]
    dots = panels[2].lines[4].get_xdata()
    np.testing.assert_allclose(dots, 100 * measured("highway, Adam −5", "frozen_test"))
    assert len(panels[0].lines) == 2 * 5 + 1
    assert len(panels[3].lines) == 2 * 3 + 1, "a residual network has no gates to freeze"
    heads = {line.get_label(): line.get_ydata() for line in run.shown["proves-figure"].axes[0].lines}
    np.testing.assert_allclose(heads["Adam −5, own head"], 100 * measured("highway, Adam −5", "head_test").mean(axis=0))


# Checks of the exercises


@pytest.mark.parametrize(
    ("check", "answer", "right", "word"),
    [
        ("all_off_on_spirals", 50, True, "53"),
        ("all_off_on_spirals", 53.5, True, ""),
        ("all_off_on_spirals", 10, False, "two arms"),
        ("all_off_on_spirals", 0, False, "always wrong"),
        ("all_off_on_spirals", 99.9, False, "whole network"),
        ("all_off_on_spirals", 75, False, "too large"),
        ("all_off_on_spirals", None, False, "None"),
        ("idle_by_loss", 0.2, True, "0.2"),
        ("idle_by_loss", 49.8, False, "by accuracy"),
        ("idle_by_loss", 1, False, "sum over five"),
        ("idle_by_loss", 30, False, "too large"),
        ("idle_by_loss", None, False, "None"),
        ("two_or_more", 0.044, True, "0.044"),
        ("two_or_more", 0.715, False, "no block transforms"),
        ("two_or_more", 0.285, False, "at least one"),
        ("two_or_more", 0.241, False, "exactly one"),
        ("two_or_more", 0.956, False, "the others"),
        ("two_or_more", 0.28, False, "count them all"),
        ("two_or_more", 0.0397, False, "exactly two"),
        ("two_or_more", 0.5, False, "too large"),
        ("two_or_more", None, False, "None"),
    ],
)
def test_checks_accept_what_is_right_and_explain_what_is_wrong(check, answer, right, word):
    verdict = getattr(exercises, f"check_{check}")(answer)
    assert bool(verdict) is right
    assert word in verdict.sentence


def exchanged(depth, n):
    return [*range(n), n + 1, n, *range(n + 2, depth)]


@pytest.mark.parametrize(
    ("swapped", "right", "word"),
    [
        (exchanged, True, "changed places"),
        (lambda depth, n: np.array(exchanged(depth, n)), True, ""),
        (lambda depth, n: None, False, "in place of None"),
        (lambda depth, n: list(range(depth)), False, "nothing is exchanged"),
        (lambda depth, n: [*range(n), n + 1, *range(n + 1, depth)], False, "belongs there once"),
        (lambda depth, n: exchanged(depth, max(n - 1, 0)), False, "counted from 0"),
        (lambda depth, n: 3, False, "a list of whole numbers"),
        (lambda depth, n: [float("inf")] * depth, False, "a list of whole numbers"),
        (lambda depth, n: [block + 0.5 for block in exchanged(depth, n)], False, "a list of whole numbers"),
        (lambda depth, n: "".join(map(str, exchanged(depth, n))), False, "a list of whole numbers"),
        (lambda depth, n: [7] * 10_000, False, "[7, 7, 7, 7, 7, 7, ...] came"),
        (lambda depth, n: 1 / 0, False, "ZeroDivisionError"),
        ([1, 0], False, "a function swapped(depth, n)"),
    ],
)
def test_the_check_of_exchanged_neighbours(swapped, right, word):
    verdict = exercises.check_swapped(swapped)
    assert bool(verdict) is right
    assert word in verdict.sentence


def test_right_answers_are_right(names, measured):
    """The checks against their definitions, not against themselves."""
    T = sigmoid(-5.0)
    passed = np.random.default_rng(0).random((200_000, 50)) < T  # paths drawn with their weights
    assert (passed.sum(axis=1) >= 2).mean() == pytest.approx(0.044, abs=0.002)
    ratio = measured("residual, digits", "single_loss_train") / measured("residual, digits", "train_loss")[:, None]
    assert (abs(ratio - 1) <= 0.01).sum(axis=1).mean() == pytest.approx(0.2)
    network, params, data = names["TWINS"]["spirals"]
    off = 100 * gates.score(network, params, data.x_test, data.y_test, blocks=[]).accuracy
    assert exercises.check_all_off_on_spirals(off)
