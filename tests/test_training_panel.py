"""The training panel in Python: what starts and ends a training, what is said, and what a page shows instead."""

import json
import re
import threading
import time

import numpy as np
import pytest
from ipywidgets.widgets.widget import _instances
from traitlets import TraitError
from waiting import until

from highway_lessons import Adam, Highway, Network, digits, fit, studies
from highway_lessons.notebook import BUILDING_BOOK
from highway_lessons.sliders import Explore, training_panel
from highway_lessons.sliders import panel as module
from highway_lessons.sliders.frames import MARKERS
from highway_lessons.studies.recorded import GRID, nearest, optimisers, recorded
from highway_lessons.training import Fit

CAPTION = "Test accuracy on the digits, epoch by epoch."
QUICK = {"depth": 5}
START = {"block": "highway", "depth": 20, "gate_bias": -2.0, "optimiser": "Adam", "learning_rate": 1e-3}


@pytest.fixture
def panel():
    panel = training_panel(caption=CAPTION)
    yield panel
    panel.stop()
    panel.wait(10)
    panel.close()


def press(panel, what, **value):
    """Send what a button of the panel sends."""
    panel._handle_custom_msg({"do": what, "value": json.loads(json.dumps({**panel.value, **value}))}, [])


def says(panel):
    return panel.shown["says"]


def trained(panel, **value):
    panel.value = value
    panel.train()
    panel.wait(120)
    return says(panel)


# A training from beginning to end


def test_nothing_starts_by_itself(panel):
    before = threading.active_count()
    for depth in GRID["depth"] * 5:
        panel.value = {"depth": depth}
    assert panel._thread is None
    assert threading.active_count() == before
    assert panel.shown == {
        "says": module.IDLE, "running": False, "done": 0, "total": 1, "series": [], "looks": []
    }  # fmt: skip


def test_the_training_is_the_recipe_of_the_record(panel):
    said = trained(panel, **QUICK)
    live = fit(Network(Highway(-2.0), 5), digits(0), optimiser=Adam(1e-3), epochs=30, rng=0, dtype="float32")
    (x, y), _ = panel.shown["series"]
    assert x == list(range(1, 31))
    assert np.allclose(y, 100 * np.array(live.history["test_accuracy"]), atol=1e-9)
    # Read here from the study itself, not by way of `recorded`
    five = 100 * studies.load("gate_bias").select(
        gate_bias=-2.0, depth=5, optimiser="adam", learning_rate=1e-3, dtype="float32"
    ).array("test_accuracy")  # fmt: skip
    assert said.startswith(f"Highway, 5 blocks, gate bias −2, Adam at 0.001: reached {y[-1]:.1f} % after 30 epochs in ")
    assert said.endswith(
        f" s (seed 0). Recorded: this seed {five[0]:.1f} %, "
        f"five seeds {five.mean():.1f} ({five.min():.1f} to {five.max():.1f}) % after 30 epochs."
    )
    assert abs(y[-1] - five[0]) < 4, "one seed, perhaps another processor"


def test_every_training_starts_anew(panel):
    first = trained(panel, **QUICK).split(" in ")[0]
    curve = panel.shown["series"][0]
    assert trained(panel).split(" in ")[0] == first
    assert panel.shown["series"][0] == curve
    names = [look["name"] for look in panel.shown["looks"]]
    recorded = "highway, five seeds recorded: mean and range"
    assert names == ["highway, yours", recorded, "your training before, highway"]
    assert panel.shown["series"][2] == curve
    assert len({(look["dash"], look["marker"]) for look in panel.shown["looks"]}) == 3


def test_the_curve_grows_and_the_bar_fills(panel, monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0.0)
    seen = []
    panel.observe(lambda change: seen.append(change.new), "shown")
    trained(panel, **QUICK)
    lengths = [len(shown["series"][0][0]) for shown in seen]
    assert set(lengths) == set(range(31))
    assert lengths == sorted(lengths)
    done = [shown["done"] / shown["total"] for shown in seen]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 1)
    assert [shown["running"] for shown in seen] == [True] * (len(seen) - 1) + [False]


def test_few_messages(panel):
    seen = []
    panel.observe(lambda change: seen.append(change.new["says"]), "shown")
    started = time.perf_counter()
    trained(panel, **QUICK)
    pauses = (time.perf_counter() - started) / module.PAUSE
    looks = [says for says in seen if "training, epoch" in says]
    assert 1 <= len(looks) <= 1 + pauses  # a pause lies between two looks
    assert len(seen) - len(looks) == 4  # data load, training begins, it has ended, what was recorded


def test_one_training_at_a_time(panel):
    press(panel, "train", depth=100)
    until(lambda: panel.shown["done"])
    thread = panel._thread
    press(panel, "train", depth=5)
    assert panel._thread is thread
    assert panel.value["depth"] == 100
    assert sum(t.is_alive() for t in threading.enumerate() if t.name == thread.name) == 1
    press(panel, "stop")
    panel.wait(10)
    assert not thread.is_alive()


def test_stop_acts_within_half_a_second_at_the_deepest(panel, record_property):
    seconds = []
    for block in ("residual", "highway", "highway", "residual"):  # a busy computer is slow now and then
        press(panel, "train", block=block, depth=100)
        until(lambda: "epoch" in says(panel) and panel.shown["done"] > 2)
        started = time.perf_counter()
        press(panel, "stop")
        until(lambda: "stopped on request" in says(panel))
        seconds.append(time.perf_counter() - started)
        panel.wait(30)
        assert not panel._thread.is_alive()
        assert panel.shown["running"] is False
        if min(seconds) < 0.5 and len(seconds) > 1:
            break
    record_property("stop to the sentence, s", f"{min(seconds):.2f}")
    assert min(seconds) < 0.5, seconds


def test_stopped_at_once_there_is_nothing_to_keep(panel):
    panel.train()
    panel.stop()
    panel.wait(30)
    assert says(panel).endswith(": stopped before the first mini-batch.")
    assert panel.shown["running"] is False
    trained(panel, **QUICK)
    assert len(panel.shown["looks"]) == 2


def test_stop_while_the_data_load_is_heard_at_once_and_another_training_can_begin(panel, monkeypatch):
    """The first time in a kernel, loading takes seconds: the import of what holds the digits."""
    loaded = threading.Event()

    def slow(seed):
        loaded.wait(30)
        return digits(seed)

    monkeypatch.setattr(module, "digits", slow)
    panel.value = QUICK
    press(panel, "train")
    given_up = panel._thread
    assert says(panel).endswith(": loading the digits.")
    panel.value = {"depth": 50}
    started = time.perf_counter()
    press(panel, "stop")
    assert says(panel) == "Highway, 5 blocks, gate bias −2, Adam at 0.001: stopped before the first mini-batch."
    panel.value = QUICK
    assert time.perf_counter() - started < 0.5
    assert panel.shown["running"] is False
    monkeypatch.undo()
    press(panel, "train")
    until(lambda: panel.shown["done"] > 2)
    loaded.set()
    given_up.join(30)
    assert not given_up.is_alive()
    assert panel.shown["running"] is True
    panel.wait(120)
    assert "reached" in says(panel)


def test_a_record_that_cannot_be_read_costs_no_result(panel, monkeypatch):
    def broken(setting):
        raise RuntimeError("it holds 3 of 5 points.")

    monkeypatch.setattr(module, "recorded", broken)
    said = trained(panel, **QUICK)
    assert re.search(r"reached \d+\.\d % after 30 epochs .* The record cannot be read: it holds 3 of 5 points\.$", said)
    assert len(panel.shown["series"][0][0]) == 30


def test_a_thread_that_cannot_start_leaves_the_panel_usable(panel, monkeypatch):
    def full(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", full)
        with pytest.raises(RuntimeError):
            panel.train()
    assert "reached" in trained(panel, **QUICK)


# Errors


def test_a_training_that_diverges_says_so(panel):
    said = trained(panel, block="residual", depth=50, optimiser="SGD", learning_rate=1.0)
    assert said.startswith("Residual, 50 blocks, SGD at 1: the loss became ")
    assert said.endswith("lower the learning rate. Recorded: all five seeds diverged; counted as guessing.")
    _, ends, diverged = panel.shown["series"]
    assert [ends, diverged] == [[[], []], [[30] * 5, [10] * 5]]
    assert [look["name"] for look in panel.shown["looks"]][1:] == [module.ENDS, module.DIVERGED]
    assert "reached" in trained(panel, depth=5, optimiser="Adam", learning_rate=1e-3)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("x_train holds a NaN."), "there is no result. x_train holds a NaN."),
        (MemoryError("no room"), "there is no result. MemoryError: no room"),
    ],
)
def test_an_error_is_a_sentence_and_the_panel_goes_on(panel, monkeypatch, capfd, error, sentence):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr(module, "fit", broken)
    assert trained(panel, **QUICK) == f"Highway, 5 blocks, gate bias −2, Adam at 0.001: {sentence}"
    monkeypatch.undo()
    assert "reached" in trained(panel)
    assert capfd.readouterr().err == ""


def test_an_interrupted_training_says_so(panel, monkeypatch):
    def interrupted(*_, **__):
        return Fit(None, {"test_accuracy": [0.5], "seconds": [1.0]}, "Interrupted by the keyboard after 20 updates.")

    monkeypatch.setattr(module, "fit", interrupted)
    said = trained(panel, **QUICK)
    assert "interrupted by the keyboard after 20 updates. Test accuracy after 1 epoch: 50.0 %. Recorded: " in said
    assert panel.shown["running"] is False


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"depth": 7}, "value['depth'] must be one of 5, 10, 20, 50, 100, but 7 came."),
        ({"block": "dense"}, "value['block'] must be one of plain, highway, residual, but 'dense' came."),
        ({"width": 7}, "value must be a dict with some of the names 'block'"),
        (5, "dict"),
        ({"gate_bias": False}, "value['gate_bias'] must be one of 0, −1"),
    ],
)
def test_a_value_that_no_control_can_take_is_refused(panel, value, sentence):
    with pytest.raises(TraitError, match=re.escape(sentence)):
        panel.value = value
    assert panel.value == START


def test_numbers_from_the_page_keep_their_kind(panel):
    panel.value = {"gate_bias": -5}
    assert repr(panel.value["gate_bias"]) == "-5.0"
    assert list(panel.value) == list(GRID)


@pytest.mark.parametrize("caption", [None, "", 3])
def test_a_caption_must_be_a_text(caption):
    with pytest.raises(TypeError, match="caption must be a text"):
        training_panel(caption=caption)


# Running the cell again


def test_running_the_cell_again_leaves_one_panel_and_no_thread(monkeypatch):
    class Shell:
        run = 0

        def get_parent(self):
            return {"metadata": {"cellId": "panel-again"}, "header": {"msg_id": self.run}}

    shell = Shell()
    monkeypatch.setattr("highway_lessons.sliders.widget.get_ipython", lambda: shell)
    counts, panels = [], []
    for shell.run in range(20):
        panels.append(training_panel(caption=CAPTION))
        counts.append(len(_instances))
        if shell.run % 10 == 0:
            panels[-1].value = {"depth": 100}
            panels[-1].train()
            until(lambda: panels[-1].shown["done"])
    assert len(set(counts)) == 1
    for panel in panels:
        panel.wait(30)
        assert panel._thread is None or not panel._thread.is_alive()
    assert "stopped on request" in says(panels[0])
    assert len(panels[-1]._msg_callbacks.callbacks) == 1
    panels[-1].close()


# What was recorded


def by_hand(name, **wanted):
    return 100 * np.nan_to_num(studies.load(name).select(**wanted).array("test_accuracy"), nan=0.1)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"block": "plain"}, lambda: by_hand(
            "depth", block="plain", depth=20, width=64, initialiser="uniform", dtype="float32")),
        ({"block": "residual", "depth": 100}, lambda: by_hand(
            "depth", block="residual", depth=100, initialiser="uniform", dtype="float32")),
        ({"optimiser": "SGD", "learning_rate": 0.3, "gate_bias": -10.0}, lambda: by_hand(
            "gate_bias", gate_bias=-10.0, depth=20, optimiser="sgd", learning_rate=0.3)),
        ({"learning_rate": 0.03, "gate_bias": -5.0}, lambda: by_hand(
            "learning_rate", block="highway", gate_bias=-5.0, depth=20, optimiser="adam", learning_rate=0.03,
            epochs=30)),
        ({"block": "residual", "optimiser": "SGD", "learning_rate": 1.0}, lambda: by_hand(
            "learning_rate", block="residual", depth=20, optimiser="sgd", learning_rate=1.0, epochs=30)),
    ],
)  # fmt: skip
def test_what_was_recorded_is_what_the_studies_hold(setting, expected):
    assert np.array_equal(recorded(START | setting).final, expected())


def test_every_recorded_setting_holds_five_seeds():
    """The study of learning rates has longer trainings of the same settings, which do not count."""
    found = [seeds for seeds in map(recorded, settings()) if seeds is not None]
    assert {len(seeds.final) for seeds in found} == {5}
    assert any(point["epochs"] != 30 for point in studies.load("learning_rate"))


def test_curves_are_those_of_the_study_of_depth():
    points = studies.load("depth").select(
        block="highway", gate_bias=-2.0, depth=20, initialiser="uniform", dtype="float32"
    )
    curves = [point["curves"]["test_accuracy"] for point in points]
    assert np.array_equal(recorded(START).curves, 100 * np.array(curves))
    assert recorded(START | {"gate_bias": -5.0}).curves is None


def test_without_gates_the_bias_says_nothing():
    plain = START | {"block": "plain"}
    assert recorded(plain) is recorded(plain | {"gate_bias": 0.0})


def test_where_nothing_was_recorded_the_nearest_is_named(panel, monkeypatch):
    unrecorded = START | {"depth": 5, "learning_rate": 3e-3}
    assert recorded(unrecorded) is None
    near = START | {"depth": 5}
    assert nearest(unrecorded) == near
    assert nearest(START | {"block": "plain", "optimiser": "SGD"})["optimiser"] == "Adam"
    assert nearest(START | {"optimiser": "SGD"}) == START | {"optimiser": "SGD"}, "recorded, so its own nearest"
    said = trained(panel, **unrecorded)
    five = by_hand("gate_bias", gate_bias=-2.0, depth=5, optimiser="adam", learning_rate=1e-3, dtype="float32")
    assert said.endswith(
        "This setting was not recorded. "
        "The nearest setting with a record is highway, 5 blocks, gate bias −2, Adam at 0.001: "
        f"five seeds {five.mean():.1f} ({five.min():.1f} to {five.max():.1f}) % after 30 epochs."
    )
    assert [look["name"] for look in panel.shown["looks"]] == ["highway, yours"]


def test_some_that_diverged_are_counted():
    some = [s for s in map(recorded, settings()) if s is not None and 0 < s.diverged.sum() < 5]
    for seeds in some:
        assert (seeds.final[seeds.diverged] == 10).all()
        assert re.search(r"% after 30 epochs; (one|two|three|four) diverged, counted as guessing$", seeds.in_words())
    assert some


def settings():
    grids = np.stack(np.meshgrid(*[range(len(values)) for values in GRID.values()], indexing="ij"), -1)
    for stops in grids.reshape(-1, len(GRID)):
        yield {name: values[stop] for stop, (name, values) in zip(stops, GRID.items(), strict=True)}


# The page


@pytest.fixture(scope="module")
def page():
    """What the same call gives while the book is built."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(BUILDING_BOOK, "1")
        widget = training_panel(caption=CAPTION)
        return widget, widget._repr_mimebundle_()[0]


def test_on_a_page_the_same_controls_look_up_the_record(page):
    widget, bundle = page
    assert isinstance(widget, Explore)
    assert [slider["name"] for slider in widget.sliders] == list(GRID)
    assert widget.value == START
    five = by_hand("depth", block="highway", gate_bias=-2.0, depth=20, initialiser="uniform", dtype="float32")
    text = f"five seeds {five.mean():.1f} ({five.min():.1f} to {five.max():.1f}) % after 30 epochs."
    assert bundle["text/plain"].endswith(text)
    assert len(bundle["image/png"]) > 5000
    assert "this place is a panel that trains" in bundle["text/html"].split("<script")[0]
    assert len(bundle["text/html"]) < 600_000, "chapter 4 has other figures"


def test_a_place_without_a_record_says_so_and_draws_nothing(page):
    widget, _ = page
    widget.value = START | {"block": "plain", "optimiser": "SGD"}
    assert (
        ": not recorded: plain was recorded with Adam only. "
        "The nearest setting with a record is plain, 20 blocks, Adam at 0.001: five seeds " in widget.frame["says"]
    )
    widget.value = START | {"depth": 5, "learning_rate": 3e-3}
    assert ": not recorded. The nearest setting with a record is highway," in widget.frame["says"]
    assert sum(len(array) for series in widget.frame["arrays"] for array in series) == 0
    widget.value = START | {"gate_bias": -5.0}
    assert widget.frame["says"].endswith("% after 30 epochs. Only the end was recorded.")
    widget.value = START


def test_a_page_explains_its_signs_and_draws_ends_as_dots_alone(page):
    widget, _ = page
    words = "Line and shade: mean and range of five seeds; diamonds: the same five after the last epoch."
    assert words in widget.axes["caption"]
    ends, diverged = widget.looks[-2:]
    assert (ends["marker"], ends["kind"], diverged["kind"]) == (MARKERS["D"], "dots", "dots")
    assert diverged["marker"] not in [look["marker"] for look in widget.looks[:-1]]


def test_a_page_says_of_blocks_without_gates_that_the_bias_changes_nothing(page):
    widget, _ = page
    for setting in settings():
        if setting["learning_rate"] in (1e-3, 1.0):
            widget.value = setting
            said, gates = widget.frame["says"], setting["block"] == "highway"
            assert said.endswith(" Without gates the gate bias changes nothing.") is not gates
            assert gates or said.count("gate bias") == 2, "where the slider stands and that it changes nothing"
    widget.value = START


def test_a_page_counts_what_diverged_as_guessing_and_draws_it_apart(page):
    widget, _ = page
    seen = set()
    for setting in settings():
        seeds = recorded(setting)
        if seeds is None or not seeds.diverged.any():
            continue
        widget.value = setting
        says, (ends, diverged) = widget.frame["says"], list(widget._visit(setting).series.values())[-2:]
        assert len(diverged.y) == seeds.diverged.sum() == 5 - len(ends.y)
        assert set(diverged.y) == {10}
        assert np.array_equal(ends.y, seeds.final[~seeds.diverged])
        seen.add(len(diverged.y))
        if len(diverged.y) == 5:
            assert ": all five seeds diverged; counted as guessing." in says
            assert "epochs" not in says
        else:
            assert "% after 30 epochs; three diverged, counted as guessing. Only the end was recorded." in says
    assert seen == {3, 5}
    widget.value = START


def test_optimisers_of_a_block_are_those_of_its_record():
    for block in GRID["block"]:
        known = {s["optimiser"] for s in settings() if s["block"] == block and recorded(s) is not None}
        assert set(optimisers(block)) == known
    assert optimisers("plain") == ["Adam"]
    assert optimisers("residual") == ["Adam", "SGD"]
