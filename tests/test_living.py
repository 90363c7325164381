"""The living net in Python: its record, what NumPy computes for the page to agree with, and what travels to it."""

import itertools
import json
import re

import numpy as np
import pytest

from highway_lessons import Highway, Network, gates, sigmoid, studies
from highway_lessons.notebook import BUILDING_BOOK
from highway_lessons.sliders import LivingNet, living_net
from highway_lessons.studies import living

RECORD = studies.load("living")
SEEDS = [0, 1, 2]


def twins():
    return studies.load("lesions").select(data="digits", block="highway", optimiser="sgd").points


@pytest.fixture
def widget():
    return living_net([living.net(seed) for seed in SEEDS], twin=twins(), caption="A network to take apart.")


@pytest.fixture
def building(monkeypatch):
    monkeypatch.setenv(BUILDING_BOOK, "1")


# The record


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4])
def test_the_record_is_what_its_weights_give(seed):
    (point,), net = RECORD.select(seed=seed).points, living.net(seed)
    here, curves = (net.network, net.params, net.x, net.y), point["curves"]
    assert net.network.n_parameters == len(curves["weights"]) == 1482
    assert len(net.y) == living.POINTS == 2000
    assert gates.score(*here).accuracy == pytest.approx(point["test_accuracy"], abs=1e-6)
    assert point["test_accuracy"] > 0.998
    np.testing.assert_allclose(gates.single_lesions(*here).accuracy, curves["single_test"], atol=1e-5)
    np.testing.assert_allclose(gates.head_after(*here).accuracy, curves["head_test"], atol=1e-5)
    assert gates.score(*here, gates=net.frozen_gates).accuracy == pytest.approx(point["frozen_test"], abs=0.001)
    offsets = [
        (living.answer(net, net.x, gate_bias_offset=by).logits.argmax(axis=1) == net.y).mean() for by in living.OFFSETS
    ]
    np.testing.assert_allclose(offsets, curves["offset_test"], atol=1e-5)
    probed = [(living.answer(net, net.x, read_after=n, probe=True).logits.argmax(1) == net.y).mean() for n in range(11)]
    np.testing.assert_allclose(probed, curves["probe_test"], atol=0.001)  # the recorded probes are rounded


def test_every_pair_of_blocks_was_tried():
    net, curves = living.net(1), RECORD.select(seed=1).points[0]["curves"]
    pairs = [
        gates.score(net.network, net.params, net.x, net.y, gates.without(net.network, pair)).accuracy
        for pair in itertools.combinations(range(10), 2)
    ]
    assert len(pairs) == 45
    measured = [curves[f"{name}_off_test"][2] for name in ("best", "mean", "worst")]
    np.testing.assert_allclose([max(pairs), np.mean(pairs), min(pairs)], measured, atol=1e-5)


def test_all_lesions_are_those_of_the_chapter():
    network = Network(Highway(-1.0), 4, 5, 2, 2)
    params, x = network.initialise(3), np.random.default_rng(0).normal(size=(1300, 2))
    y = (x[:, 0] > 0).astype(int)
    left = living.all_lesions(network, params, x, y)
    assert left.shape == (16,)
    for n in range(16):
        off = [block for block in range(4) if n >> block & 1]
        assert left[n] == pytest.approx(gates.score(network, params, x, y, gates.without(network, off)).accuracy)


def test_probes_are_least_squares_on_the_training_points():
    net = living.net(0)
    data = studies.living.datasets.spirals(rng=0)
    fitted = gates.fit_probes(net.network, net.params, data.x_train, data.y_train)
    np.testing.assert_allclose(net.probes, fitted, rtol=1e-5, atol=1e-6)
    _, h = gates.forward_with(net.network, net.params, data.x_train)
    rest = np.eye(2)[data.y_train] - h[9] @ fitted[9][:-1] - fitted[9][-1]
    assert abs(h[9].T @ rest).max() < 1e-6 * len(rest), "what a least-squares fit leaves is at right angles to h"
    assert abs(rest.sum(axis=0)).max() < 1e-6 * len(rest)


# What the page has to agree with


def test_the_answer_is_the_networks_own():
    net = living.net(0)
    x = gates.plane(n=9)
    logits, T = living.answer(net, x)
    np.testing.assert_allclose(logits, net.network.forward(net.params, x)[0])
    np.testing.assert_allclose(T, gates.transform_gates(net.network, net.params, x))


def test_blocks_off_hand_on_what_they_receive():
    net, x = living.net(1), gates.plane(n=9)
    logits, T = living.answer(net, x, blocks_off=[2, 7])
    expected, h = gates.forward_with(net.network, net.params, x, [0, 2, 3, 4, 5, 7, 8, 9])
    np.testing.assert_allclose(logits, expected)
    assert not T[[1, 6]].any()
    np.testing.assert_allclose(T[2], sigmoid(h[1] @ net.params.blocks[2]["W_T"] + net.params.blocks[2]["b_T"]))
    assert (
        living.answer(net, x, blocks_off=[7], read_after=6).logits == living.answer(net, x, read_after=6).logits
    ).all()


def test_frozen_gates_do_not_depend_on_the_input():
    net = living.net(2)
    data = studies.living.datasets.spirals(rng=2)
    means = gates.frozen(gates.transform_gates(net.network, net.params, data.x_train))
    np.testing.assert_allclose(net.frozen_gates, means, rtol=1e-5)
    _, T = living.answer(net, gates.plane(n=9), gates_frozen=True)
    np.testing.assert_allclose(T, np.broadcast_to(net.frozen_gates, T.shape))
    _, moved = living.answer(net, gates.plane(n=9), gates_frozen=True, gate_bias_offset=0.5)
    np.testing.assert_allclose(living.log_odds(moved) - living.log_odds(T), 0.5)


def test_an_offset_moves_every_gate_bias_and_nothing_else():
    net = living.net(0)
    moved = living.moved(net.params, -0.3)
    for (name, before), (_, after) in zip(net.params.named(), moved.named(), strict=True):
        np.testing.assert_allclose(after - before, -0.3 if name.endswith("b_T") else 0, atol=1e-12)


# The widget


def test_the_script_is_short_and_alone():
    sources = {name: (studies.record.RECORDS.parents[1] / "sliders" / name) for name in ("living.js", "controls.js")}
    lines = {name: path.read_text(encoding="utf8").splitlines() for name, path in sources.items()}
    assert len(lines["living.js"]) <= 150
    assert len(lines["controls.js"]) <= 60
    assert max(len(line) for text in lines.values() for line in text) <= 120
    assert not re.search(r"\bimport\b|https?:(?!//www\.w3\.org)|\bfetch\b", LivingNet._esm)
    forward = "\n".join(lines["living.js"]).split("function forward")[1].split("\n}")[0]
    assert forward.count("\n") < 20, "the forward pass of a block is one screenful"


def test_value_takes_a_part_and_keeps_the_rest(widget):
    assert widget.value == widget.start
    widget.value = {"blocks_off": [7, 3, 3]}
    widget.value = {"gate_bias_offset": 0.3, "seed": 1}
    assert widget.value == widget.start | {"blocks_off": [3, 7], "gate_bias_offset": 0.3, "seed": 1}
    assert widget._sentence().startswith("Seed 1, blocks 3 and 7 off, gate biases +0.3: right on ")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"blocks_off": [0]}, r"blocks_off'\] must be a list of blocks, 1 … 10, but \[0\] came"),
        ({"blocks_off": 3}, r"blocks_off'\] must be a list of blocks, 1 … 10, but 3 came"),
        ({"blocks_off": [True]}, "must be a list of blocks"),
        ({"gates_frozen": 1}, r"gates_frozen'\] must be one of False, True, but 1 came"),
        ({"read_after": 11}, r"read_after'\] must be one of 0, 1, .*, 10, but 11 came"),
        ({"seed": 3}, r"seed'\] must be one of 0, 1, 2, but 3 came"),
        ({"off": [1]}, "value must be a dict with some of the names 'blocks_off', "),
    ],
)
def test_a_value_that_no_control_can_take_is_told(widget, value, words):
    before = dict(widget.value)
    with pytest.raises(ValueError, match=words):
        widget.value = value
    assert widget.value == before


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"nets": []}, TypeError, r"nets must be a list such as \[studies.living.net\(0\)\]"),
        ({"nets": [3]}, TypeError, "nets must be a list such as"),
        ({"twin": []}, ValueError, r"twin must hold the seeds of nets, \[0\], but it holds \[\]"),
        ({"caption": " "}, TypeError, "caption must be a text that is not empty"),
        ({"small": 1}, TypeError, "small must be True or False"),
    ],
)
def test_wrong_arguments_are_told(arguments, error, words):
    with pytest.raises(error, match=words):
        living_net(**{"nets": [living.net()], "caption": "A network."} | arguments)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "Seed 0, all blocks on: right on 100.0 % of 2000 test points, all of them."),
        ({"blocks_off": [1]}, "Seed 0, block 1 off: right on 65.7 % of 2000 test points, better than a coin's toss."),
        ({"blocks_off": [1, 2, 3]}, "Seed 0, blocks 1, 2 and 3 off: right on "),
        ({"blocks_off": list(range(1, 11))}, "all blocks off: right on 52.8 % of 2000 test points, a coin's toss."),
        ({"gates_frozen": True}, "gates frozen at their means: right on 48.9 % of 2000 test points, a coin's toss."),
        ({"read_after": 8}, "read after block 8 by the network's own head: right on 43.2 % of 2000 test points, worse"),
        (
            {"read_after": 8, "probe": True},
            "read after block 8 by a probe fitted to the whole network: right on 75.9 %",
        ),
        ({"gate_bias_offset": -0.5}, "gate biases −0.5: right on 66.5 %"),
        ({"read_after": 6}, "right on 58.3 % of 2000 test points"),  # of 58.25, as JavaScript rounds
        ({"tab": 1}, "Seed 0, digits, all blocks on: right on "),
        ({"tab": 1, "twin_number": 50}, "digits, the first 50 of 50 blocks off: right on "),
        ({"tab": 1, "twin_order": "one", "twin_number": 7}, "digits, block 7 of 50 off: right on "),
    ],
)
def test_the_sentence_says_what_was_done_and_what_is_left(widget, value, words):
    widget.value = value
    assert words in widget._sentence()


def test_the_twins_numbers_are_the_records(widget):
    shown = widget.made["twin"]
    for point in [p for p in twins() if p["seed"] in SEEDS]:
        accuracy, curves = shown["accuracy"][str(point["seed"])], point["curves"]
        for order in ("first", "last", "one"):
            assert len(accuracy[order]) == 51
            assert accuracy[order][0] == pytest.approx(point["test_accuracy"], abs=1e-5)
        for order in ("first", "last"):
            assert accuracy[order][50] == pytest.approx(point["all_off_test"], abs=1e-5)
            assert abs(accuracy[order][50] - point["test_accuracy"]) < 0.02, "all fifty can go and nothing happens"
        assert accuracy["last"][3] == curves["head_test"][47]
        assert accuracy["one"][8] == curves["single_test"][7]
    assert shown["off"]["first"][2] == [1, 2]
    assert shown["off"]["last"][2] == [49, 50]
    assert shown["off"]["one"][2] == [2]
    assert [shown["off"][order][0] for order in shown["off"]] == [[], [], []]


def test_in_the_book_it_needs_nothing_but_itself(building, widget):
    bundle, _ = widget._repr_mimebundle_()
    markup = bundle["text/html"]
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert bundle["text/plain"] == widget._sentence()
    assert not re.search(r"(src|href)=\"(?!data:)|url\(|@import", markup)
    assert len(markup.encode()) < 500e3
    state = json.loads(re.search(r"^page\(document.getElementById\(\"[\w-]+\"\), (.*)\);$", markup, re.M)[1])
    net, sent = living.net(1), state["made"]["nets"]["1"]
    flat = [*sent["input"]["W"], *sent["input"]["b"], *sent["head"]["W"], *sent["head"]["b"]]
    flat += [number for block in sent["blocks"] for name in ("W_H", "W_T", "b_H", "b_T") for number in block[name]]
    np.testing.assert_array_equal(flat, net.params.flat)  # digit for digit
    np.testing.assert_array_equal(np.reshape(sent["x"], (-1, 2)), net.x)


def test_in_a_kernel_it_is_a_widget(widget):
    bundle, _ = widget._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == widget._sentence()


def test_the_small_form_has_the_plane_the_blocks_and_one_slider():
    small = living_net([living.net()], small=True, caption="A network.").made
    assert [slider["name"] for slider in small["sliders"]] == ["gate_bias_offset"]
    assert (small["ticks"], small["choices"], small["twin"]) == ([], [], None)
    assert len(small["nets"]) == 1


def test_the_points_of_the_arms_lie_on_the_lines():
    lines = [np.array(list(map(float, re.findall(r"-?[\d.]+", d)))).reshape(-1, 2) for d in _made_arms()]
    net = living.net(0)
    for arm, line in enumerate(lines):
        points = net.x[net.y == arm][:200] * [1, -1]  # y goes down in SVG
        apart = np.linalg.norm(points[:, None] - line, axis=2).min(axis=1)
        assert apart.max() < 0.15
        assert np.linalg.norm(points[:, None] - lines[1 - arm], axis=2).min(axis=1).mean() > 2 * apart.mean()


def _made_arms():
    return living_net([living.net()], small=True, caption="A network.").made["arms"]
