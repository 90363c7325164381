"""`explore` from Python's side: the grid, what is computed when, what travels to the page, and the sentences."""

import base64
import io
import itertools
import json
import re

import ipywidgets
import numpy as np
import pytest
import traitlets
from PIL import Image
from slider_grids import BIASES, CIRCLE, DECAY, DEPTHS, HOLES, circle, decay, holes, largest

import highway_lessons.sliders as sliders
from highway_lessons.notebook import BUILDING_BOOK
from highway_lessons.palette import lines
from highway_lessons.sliders import Band, Curve, Dots, explore, frames, number

PLAIN = np.ones(3)
LEGEND = {name: option for name, option in DECAY.items() if name != "gate_bias"} | {"start": {"depth": 50}}


@pytest.fixture
def building(monkeypatch):
    monkeypatch.setenv(BUILDING_BOOK, "1")


class Counted:
    """A function that remembers where it was called."""

    def __init__(self, function):
        self.function, self.calls = function, []

    def __call__(self, **values):
        self.calls.append(tuple(values.values()))
        return self.function(**values)


def page_state(markup):
    """What the page's script is given: the second JSON in its script element, and the numbers decoded."""
    state = json.loads(re.search(r"^page\(document.getElementById\(\"[\w-]+\"\), (.*)\);$", markup, re.M)[1])
    data = np.frombuffer(base64.b64decode(state["data"]), {4: "<f4", 8: "<f8"}[state["bytes"]])
    return state, data


# The grid and what is computed when


def test_a_frame_is_computed_when_first_visited_and_kept():
    compute = Counted(decay)
    w = explore(compute, **DECAY)
    assert compute.calls == [(-2.0, 50)]
    for depth in (20, 50, 20, 100, 50):
        w.value = {"depth": depth}
    assert compute.calls == [(-2.0, 50), (-2.0, 20), (-2.0, 100)]


def test_the_book_computes_every_point_once(building):
    compute = Counted(decay)
    w = explore(compute, **DECAY)
    w._repr_mimebundle_()
    w._repr_mimebundle_()
    assert sorted(compute.calls) == sorted(itertools.product(BIASES, DEPTHS))


def test_value_is_completed_and_put_on_the_grid():
    w = explore(decay, **DECAY)
    w.value = {"gate_bias": -4}  # as JavaScript sends it: no decimal point
    assert w.value == {"gate_bias": -4.0, "depth": 50}
    assert isinstance(w.value["gate_bias"], float)
    w.value = {"depth": 100}
    assert list(w.value.items()) == [("gate_bias", -4.0), ("depth", 100)]
    tenths = {**DECAY, "start": {"gate_bias": 0.3, "depth": 50}, "gate_bias": np.arange(5) / 10}
    assert explore(decay, **tenths).value["gate_bias"] == 0.3


def test_a_zero_that_rounding_missed_is_0():
    for stops in (np.arange(-1, 1.1, 0.1), np.arange(-100, 100.1, 0.1)):
        assert 0 < abs(stops).min() < 1e-9
        options = {**DECAY, "start": {"gate_bias": 0, "depth": 50}, "gate_bias": stops}
        [slider, _] = explore(decay, **options).sliders
        assert slider["texts"][slider["values"].index(0)] == "0"
    options = {**DECAY, "start": {"gate_bias": -1, "depth": 50}, "gate_bias": [-1.0, -0.0, 1e-12, 1e-6]}
    assert explore(decay, **options).sliders[0]["texts"] == ["−1", "0", "1e−12", "1e−06"]  # small on purpose


def test_writing_into_value_moves_nothing():
    start = {"gate_bias": -2.0, "depth": 50}
    w = explore(decay, **{**DECAY, "start": start})
    w.value["gate_bias"] = start["gate_bias"] = 99
    assert w.start == w.frame["value"] == {"gate_bias": -2.0, "depth": 50}
    assert w._repr_mimebundle_()[0]["text/plain"].startswith("At gate bias −2 and depth 50:")
    w.value = {"depth": 20}
    assert w.value == {"gate_bias": -2.0, "depth": 20}


def test_a_frame_from_the_front_end_follows_as_from_python():
    w = explore(decay, **DECAY)
    w.set_state({"value": {"gate_bias": -3, "depth": 20}})
    assert w.value == {"gate_bias": -3.0, "depth": 20}
    assert w.frame["value"] == w.value
    with pytest.raises(traitlets.TraitError, match="must be one of"):
        w.set_state({"value": {"gate_bias": -3, "depth": 21}})
    assert w.value == {"gate_bias": -3.0, "depth": 20}


@pytest.mark.parametrize("connect", [ipywidgets.link, traitlets.link])
def test_value_can_be_linked_both_ways(connect):
    w = explore(decay, **DECAY)
    control = ipywidgets.SelectionSlider(options=DEPTHS)
    connect((w, "value"), (control, "value"), transform=(lambda value: value["depth"], lambda d: {"depth": d}))
    assert control.value == 50
    w.value = {"depth": 20}
    assert control.value == 20
    control.value = 80
    assert w.value == {"gate_bias": -2.0, "depth": 80}
    assert w.frame["value"] == w.value


def test_value_can_be_linked_one_way():
    w = explore(decay, **DECAY)
    label = ipywidgets.Label()
    ipywidgets.dlink((w, "value"), (label, "value"), lambda value: f"{value['depth']} blocks")
    w.value = {"depth": 90}
    assert label.value == "90 blocks"


def test_a_failing_compute_says_so_in_the_figure_raises_and_is_asked_again():
    broken = True

    def compute(gate_bias, depth):
        if broken and depth == 20:
            raise ZeroDivisionError("no blocks to divide by")
        return decay(gate_bias, depth)

    w = explore(compute, **DECAY)
    with pytest.raises(ZeroDivisionError):
        w.value = {"depth": 20}
    assert w.frame["failed"]
    assert w.frame["says"] == (
        "There is no figure at gate bias −2 and depth 20: ZeroDivisionError: no blocks to divide by"
    )
    broken = False
    w.value = {"depth": 50}
    w.value = {"depth": 20}
    assert "failed" not in w.frame
    assert w.frame["says"].startswith("At gate bias −2 and depth 20: plain")


def test_running_a_cell_again_leaves_no_widgets_behind(monkeypatch):
    class Shell:
        run = 0

        def get_parent(self):
            return {"metadata": {"cellId": "look-slider"}, "header": {"msg_id": f"run {self.run}"}}

    shell = Shell()
    monkeypatch.setattr(sliders.widget, "get_ipython", lambda: shell)
    monkeypatch.setattr(sliders.widget, "_MADE", {})
    count = lambda: len(ipywidgets.widgets.widget._instances)  # noqa: E731
    explore(decay, **DECAY), explore(circle, **CIRCLE)  # two figures in one cell live side by side
    before = count()
    for shell.run in range(1, 21):
        w, _ = explore(decay, **DECAY), explore(circle, **CIRCLE)
    assert count() == before
    assert w.comm is not None


# What the page gets


def test_no_comm_is_opened_while_the_book_is_built(building, monkeypatch):
    import comm

    opened = []
    monkeypatch.setattr(comm, "create_comm", lambda *args, **options: opened.append(options) or comm.DummyComm())
    w = explore(decay, **DECAY)
    w._repr_mimebundle_()
    w.value = {"depth": 20}
    assert opened == []
    monkeypatch.delenv(BUILDING_BOOK)
    explore(decay, **DECAY)
    assert [options["target_name"] for options in opened] == ["jupyter.widget"] * 2  # the widget and its layout


def test_mimebundle_in_the_book(building):
    bundle, _ = explore(circle, **CIRCLE)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["text/plain"].startswith("At gate bias −5 and depth 10: before from −1 to 1 across")
    markup = bundle["text/html"]
    assert f'alt="{bundle["text/plain"]}"' in markup
    assert "<figcaption>A circle of small perturbations after some blocks.</figcaption>" in markup
    assert [markup.count(tag) for tag in ("<div", "<style", '<script type="module"')] == [1, 1, 1]
    assert not re.search(r"(src|href)=\"(?!data:)|url\(|@import", markup)


def test_mimebundle_in_a_kernel():
    bundle, _ = explore(circle, **CIRCLE)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "text/html" not in bundle
    assert bundle["text/plain"].startswith("At gate bias −5 and depth 10")


def picture(widget):
    """The pixels of a widget's PNG, an array of shape (height, width, 3), from 0 (dark) to 1."""
    png = widget._repr_mimebundle_()[0]["image/png"]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")) / 255


@pytest.mark.parametrize(
    ("options", "band", "shares"),
    [
        ({"log": False, "ylim": (0, 1)}, (0.1, 0.3, 0.6), (0.1, 0.6)),
        ({"log": True, "ylim": (1e-4, 1)}, (1e-3, 1e-2, 1e-1), (0.25, 0.75)),
        ({"log": True, "ylim": (1e-4, 1)}, (0, 1e-2, 1e-1), (0, 0.75)),
    ],
)
def test_the_picture_shows_a_band_from_low_to_high(building, options, band, shares):
    """How far up the axis the tint reaches, measured in pixels against a band that fills the axes."""

    def tinted(low, mid, high):  # rows of the middle column that have the tint of the band
        series = {"highway": Band(*(np.full(101, value) for value in (low, mid, high)))}
        pixels = picture(explore(lambda depth: series, **axes))
        return np.flatnonzero(abs(pixels[:, pixels.shape[1] // 2] - tint).max(axis=1) < 0.03)

    axes = {**DECAY, **options, "xlim": (0, 100), "first": 0, "start": {"depth": 50}}
    del axes["gate_bias"]
    blue = np.array([0x00, 0x72, 0xB2]) / 255
    tint = 0.22 * blue + 0.78
    top, *_, floor = tinted(options["ylim"][0], band[1], options["ylim"][1])
    high, *_, low = tinted(*band)
    assert floor - top > 200
    np.testing.assert_allclose((floor - np.array([low, high])) / (floor - top), shares, atol=0.02)


def test_the_picture_names_every_series_in_its_legend(building, recwarn):
    with_name = {name: picture(explore(lambda depth, n=name: {n: PLAIN}, **LEGEND)) for name in ("x", "_x")}
    assert (with_name["x"] < 0.5).sum() < (with_name["_x"] < 0.5).sum()  # the same and a stroke more
    assert [str(warning.message) for warning in recwarn] == []


def test_text_from_a_chapter_cannot_end_the_script(building):
    nasty = '</script><script>alert("&")</script>'
    options = {**CIRCLE, "caption": nasty, "xlabel": nasty}
    markup = explore(circle, **options)._repr_mimebundle_()[0]["text/html"]
    assert markup.count("</script>") == 1
    assert page_state(markup)[0]["axes"]["caption"] == nasty


def test_the_page_holds_the_frames_in_the_order_in_which_the_script_counts(building):
    state, data = page_state(explore(decay, **DECAY)._repr_mimebundle_()[0]["text/html"])
    assert len(state["frames"]) == 210
    for i, place in enumerate(itertools.product(BIASES, DEPTHS)):
        for [(start, count)], series in zip(state["frames"][i][1], decay(*place).values(), strict=True):
            np.testing.assert_allclose(10 ** data[start : start + count].astype(float), series, rtol=1e-5)


def test_1e_minus_41_survives_the_journey(building):
    state, data = page_state(explore(decay, **DECAY)._repr_mimebundle_()[0]["text/html"])
    assert state["bytes"] == 4
    assert 10.0 ** float(data.min()) == pytest.approx(decay(-2.0, 100)["plain"][0], rel=1e-5)
    assert 10.0 ** float(data.min()) < 1e-40


@pytest.mark.parametrize(("numbers", "dtype"), [([1, 2e-37], "<f4"), ([0, 1e-41], "<f8"), ([1, 3e39], "<f8")])
def test_a_linear_axis_takes_float64_only_where_float32_fails(numbers, dtype):
    w = explore(
        lambda depth: {"plain": np.array(numbers) * (depth - 1)},
        start={"depth": 2}, xlabel="block", ylabel="norm", xlim=(0, 2), ylim=(0, 1), caption="Tiny.", depth=[2, 1],
    )  # fmt: skip
    [[raw]] = w.frame["arrays"]
    assert w.frame["bytes"] == np.dtype(dtype).itemsize
    np.testing.assert_allclose(np.frombuffer(raw, dtype), numbers, rtol=1e-6)


def test_equal_arrays_travel_once(building):
    _, data = page_state(explore(decay, **DECAY)._repr_mimebundle_()[0]["text/html"])
    plain, highway = sum(DEPTHS), 21 * sum(DEPTHS)
    assert data.size == plain + highway + 1


def test_the_largest_grid_weighs_less_than_a_page_may(building):
    options = {**DECAY, "start": {"gate_bias": -2.0, "depth": 100}}
    bundle, _ = explore(largest, **options)._repr_mimebundle_()
    _, data = page_state(bundle["text/html"])
    assert data.size == 210 * 100 * 9
    assert len(bundle["text/html"].encode()) < 1.3e6  # of 1.5 MB: the rest of a page has 0.2 MB


def test_the_script_stays_short_and_alone():
    """At most 120 lines for lines, 200 with image."""
    script = sliders.Explore._esm
    assert len(script.splitlines()) <= 200
    assert max(map(len, script.splitlines())) <= 120
    assert not re.search(r"\bimport\b|https?:(?!//www\.w3\.org)|\bfetch\b", script)


# The sentences


def test_default_sentence_over_blocks():
    w = explore(decay, **DECAY)
    assert w.frame["says"] == (
        "At gate bias −2 and depth 50: plain 8.1e−21 at block 1 and 1 at block 50; "
        "highway 2.0e−03 at block 1 and 1 at block 50; no block 0.5 at block 1."
    )


def test_default_sentence_of_bands_and_curves():
    band = Band(np.array([1.0, 2]), np.array([2.0, 3]), np.array([4.0, 5]))
    axes = {"xlabel": "block", "ylabel": "norm", "first": 0}
    assert frames.sentence({"plain": band}, axes) == "plain 2 at block 0 and 3 at block 1."
    dot, empty = Curve(np.array([0.5]), np.array([-2.0])), np.array([])
    assert frames.sentence({"here": dot, "dW": empty}, axes) == ("here at block 0.5 and norm −2; dW has no values.")


def test_dots_have_no_line_in_the_picture_and_each_its_marker():
    series = {"ends": Dots(np.full(20, 30.0), np.linspace(0.1, 0.9, 20)), "line": Curve([0, 1], [0, 1])}
    w = explore(lambda depth: series, start={"depth": 5}, xlabel="epoch", ylabel="accuracy", xlim=(0, 31),
                ylim=(0, 1), caption="Ends.", depth=[5, 10])  # fmt: skip
    assert [look["kind"] for look in w.looks] == ["dots", "curve"]
    figure, _ = w._figure()
    dots, line = figure.axes[0].lines
    assert (dots.get_linestyle(), dots.get_markevery()) == ("None", 1)
    assert line.get_linestyle() != "None"
    legend, _ = figure.legends[0].get_lines()
    assert legend.get_linestyle() == "None"


def test_the_default_sentence_speaks_of_numbers_only():
    axes = {"xlabel": "block", "ylabel": "norm", "first": 1}
    assert frames.sentence({"h": np.array([np.nan, 1, 2, np.inf])}, axes) == "h 1 at block 2 and 2 at block 3."
    curve = Curve(np.array([0, 1, np.nan, 3]), np.array([-1, np.inf, 7, 5]))
    assert frames.sentence({"h": curve}, axes) == "h from 0 to 3 across and from −1 to 5 up."


def test_a_band_that_the_eye_cannot_see_is_said():
    mid = np.full(4, 0.1)
    band = Band(np.array([0, 0.1, 0.01, 0.1]), mid, np.array([0.1, 50, 20, np.nan]))
    w = explore(lambda gate_bias, depth: {"plain": band}, **{**DECAY, "ylim": (0.02, 10)})
    assert w.frame["says"].endswith(
        "On the floor of the axis: plain or its band, which is 0 at 1 of 4 points. A gap: plain or its band, which is "
        "not a finite number at 1 of 4 points. Beyond the axes: plain or its band, at 2 of 4 points."
    )


def test_what_the_eye_cannot_see_is_said():
    w = explore(holes, **{**HOLES, "ylim": (2e-3, 1)})
    assert w.frame["says"].endswith(
        "On the floor of the axis: plain, which is 0 at 4 of 20 points. Beyond the axes: plain, at 16 of 20 points. "
        "A gap: residual, which is not a finite number at 2 of 20 points."
    )
    [[plain], [residual]] = ([np.frombuffer(raw, "<f4") for raw in series] for series in w.frame["arrays"])
    assert (plain[:4] == -np.inf).all()
    assert np.flatnonzero(np.isnan(residual)).tolist() == [5, 6]


def test_rounding_at_the_edge_of_the_axes_is_not_said():
    w = explore(decay, **{**DECAY, "ylim": (decay(-2.0, 50)["plain"].min() * (1 + 1e-12), 1 - 1e-12)})
    assert "Beyond" not in w.frame["says"]


def test_names_keep_their_case():
    options = {**DECAY, "ylim": (2, 10)}
    w = explore(lambda gate_bias, depth: {"σ(bias)": np.ones(3), "He": np.ones(3)}, **options)
    assert w.frame["says"] == (
        "At gate bias −2 and depth 50: σ(bias) 1 at block 1 and 1 at block 3; He 1 at block 1 and 1 at block 3. "
        "Beyond the axes: σ(bias), at 3 of 3 points. Beyond the axes: He, at 3 of 3 points."
    )
    w = explore(lambda gate_bias, depth: {"He": np.ones(3)}, say=lambda values, frame: "He leads.", **options)
    assert w.frame["says"].startswith("At gate bias −2 and depth 50: He leads.")
    he = explore(lambda gate_bias, depth: {"plain, He": PLAIN}, say=lambda values, frame: "He nets stay.", **options)
    assert he.frame["says"].startswith("At gate bias −2 and depth 50: He nets stay.")


def test_say_is_given_the_values_and_what_compute_returned():
    def say(values, frame):
        return f"The {values['depth']} blocks end at {frame['highway'][-1]:.0f}."

    w = explore(decay, say=say, **DECAY)
    assert w.frame["says"] == "At gate bias −2 and depth 50: the 50 blocks end at 1."
    w.value = {"depth": 20}
    assert w.frame["says"] == "At gate bias −2 and depth 20: the 20 blocks end at 1."


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (-2.0, "−2"),
        (0.11920, "0.119"),
        (2.37e-05, "2.4e−05"),
        (999.4, "999"),
        (999.5, "1000"),
        (-999.9, "−1000"),
        (1482, "1482"),
        (99_999.4, "99999"),
        (99_999.6, "1.0e+05"),
        (-3e21, "−3.0e+21"),
    ],
)
def test_numbers_in_words(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("limits", "log", "texts"),
    [
        ((0, 100), False, "0 20 40 60 80 100"),
        ((-1.5, 1.5), False, "−1.5 −1 −0.5 0 0.5 1 1.5"),
        ((0.8, 4.2), False, "1 1.5 2 2.5 3 3.5 4"),
        ((1e-45, 1e3), True, "10⁻⁴⁰ 10⁻³⁰ 10⁻²⁰ 10⁻¹⁰ 10⁰"),
        ((0.2, 6), True, "0.2 0.5 1 2 5"),
        ((2.1, 4.9), True, "2.1 4.9"),
        ((0, 60_000), False, "0 10000 20000 30000 40000 50000 60000"),
        ((1e6, 1e6 + 1), False, "1000000 1000000.2 1000000.4 1000000.6 1000000.8 1000001"),
        ((-1e-9, 1e-9), False, "−1e−09 −5e−10 0 5e−10 1e−09"),
    ],
)
def test_ticks_are_round(limits, log, texts):
    found = frames.ticks(*limits, log)
    assert " ".join(text for _, text in found) == texts
    low, high = np.log10(limits) if log else limits
    assert all(low - 1e-9 <= stop <= high + 1e-9 for stop, _ in found)


def test_ticks_over_blocks_are_whole():
    ticks = explore(decay, **{**DECAY, "xlim": (0.8, 4.2)}).axes["xticks"]
    assert [text for _, text in ticks] == ["1", "2", "3", "4"]


# The looks


def test_no_two_series_look_alike():
    names = [f"{kind}{n}" for kind in ("highway", "plain", "residual", "no block", "") for n in "123"]
    looks = lines([*names, "4", "5", "6"])
    assert len({(look.light, look.dash, look.marker) for look in looks.values()}) == len(looks)
    assert lines(["highway 1", "highway 2"])["highway 1"] == lines(["highway"])["highway"]


# What a chapter's writer can get wrong: one sentence each

WRONG_OPTIONS = [
    ({"gate_bias": -2.0}, ValueError, "start must say where every slider stands, but 'depth' is missing."),
    ({"gate_bias": -2.0, "depth": 55}, ValueError, r"start\['depth'\] must be one of 10, 20, .*, but 55 \(int\) came."),
    ({"gate_bias": -2.0, "width": 50}, ValueError, r"the sliders' names \('gate_bias', 'depth'\), but .* came."),
    ((-2.0, 50), ValueError, r"start must be a dict .*, but \(-2.0, 50\) \(tuple\) came."),
    ({"xlim": (0, "far")}, TypeError, "xlim must be a number, but 'far'"),
    ({"xlim": 100}, TypeError, "xlim must be a pair of numbers"),
    ({"xlim": (5, 5)}, ValueError, r"xlim must be \(low, high\) with low < high, but \(5, 5\) came."),
    ({"ylim": (0, 1)}, ValueError, "ylim must start above 0 when log=True, but 0 came; give the floor of the axis."),
    ({"ylim": (1, np.nan)}, ValueError, "ylim must be finite"),
    ({"ylim": (-1e308, 1e308), "log": False}, ValueError, "ylim must be between 1e-300 and 1e300 long, but"),
    ({"ylim": (0, 5e-324), "log": False}, ValueError, "ylim must be between 1e-300 and 1e300 long, but"),
    ({"log": "no"}, TypeError, r"log must be True or False, but 'no' \(str\) came."),
    ({"equal": 1}, TypeError, r"equal must be True or False, but 1 \(int\) came."),
    ({"equal": True}, ValueError, "equal=True needs two linear axes"),
    ({"log_x": True}, ValueError, "xlim must start above 0 when log_x=True, but 0 came."),
    ({"log_x": True, "xlim": (1, 100)}, TypeError, "series 'plain' .* must be a Curve, since log_x=True came."),
    ({"log_x": True, "log": False, "xlim": (1, 9), "equal": True}, ValueError, "linear axes, but log_x=True came"),
    ({"caption": ""}, TypeError, "caption must be a text that is not empty, but '' came."),
    ({"first": -1}, ValueError, "first must be at least 0, but -1 came."),
    ({"say": "a sentence"}, TypeError, "say must be a function, but 'a sentence'"),
    ({"depth": []}, ValueError, "depth must hold at least two values, each once"),
    ({"depth": [50, 50]}, ValueError, "depth must hold at least two values, each once"),
    ({"depth": 50}, TypeError, "depth must be a list of values for a slider, but 50"),
    ({"depth": [50, None]}, TypeError, "each value of depth must be a number, but None"),
    ({"depth": [50, True]}, TypeError, r"each value of depth must be a number, but True \(bool\) came."),
]


@pytest.mark.parametrize(("wrong", "error", "sentence"), WRONG_OPTIONS)
def test_wrong_options_raise_a_sentence(wrong, error, sentence):
    is_start = not isinstance(wrong, dict) or set(wrong) & {"gate_bias"}
    options = {**DECAY, **({"start": wrong} if is_start else wrong)}
    with pytest.raises(error, match=sentence) as caught:
        explore(decay, **options)
    assert "\n" not in str(caught.value)


def test_without_a_slider_there_is_nothing_to_explore():
    options = {name: option for name, option in DECAY.items() if name not in ("gate_bias", "depth")}
    with pytest.raises(ValueError, match="explore needs at least one slider, such as"):
        explore(decay, **options)
    with pytest.raises(TypeError, match="compute must be a function, but"):
        explore(decay(-2, 50), **DECAY)


WRONG_FRAMES = [
    (
        PLAIN,
        TypeError,
        "compute must return a dict of named series, but at gate bias −2 and depth 50 an array of shape",
    ),
    ({}, TypeError, r"compute must return a dict of named series, but .* the names \[\] came."),
    ({1: PLAIN}, TypeError, r"compute must return a dict of named series, but .* the names \[1\] came."),
    ({"plain": np.ones((3, 2))}, ValueError, r"series 'plain' at .* must be a 1-D array, but it has shape \(3, 2\)"),
    ({"plain": [1, "two"]}, TypeError, "series 'plain' .* must be an array of real numbers"),
    ({"plain": -PLAIN}, ValueError, "series 'plain' .* holds a negative number, which a logarithmic axis cannot show"),
    ({"plain": Band(PLAIN, PLAIN, [1])}, ValueError, "arrays of one length, but these came: low 3, mid 3, high 1."),
    ({"plain": Band(3 * PLAIN, PLAIN, PLAIN)}, ValueError, "series 'plain' .* must have low ≤ mid ≤ high"),
    ({"plain": Curve([1, 2], [1])}, ValueError, "arrays of one length, but these came: x 2, y 1."),
]


@pytest.mark.parametrize(("returned", "error", "sentence"), WRONG_FRAMES)
def test_wrong_frames_raise_a_sentence(returned, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        explore(lambda gate_bias, depth: returned, **DECAY)
    assert "\n" not in str(caught.value)


LOG_X = {
    "start": {"depth": 1},
    "xlabel": "τ",
    "ylabel": "accuracy",
    "xlim": (0.01, 100),
    "ylim": (0, 1),
    "depth": [1, 2],
}


def test_a_logarithmic_x_travels_as_its_logarithm_and_is_told_as_it_is(building):
    w = explore(
        lambda depth: {"highway": Curve([0.1, 10.0 * depth], [0.5, 0.25])}, log_x=True, caption="Over τ.", **LOG_X
    )
    [[x, y]] = [[np.frombuffer(raw, "<f4") for raw in series] for series in w.frame["arrays"]]
    np.testing.assert_allclose([x, y], [[-1, 1], [0.5, 0.25]])
    assert w.axes["xlim"] == [-2, 2]
    assert w.axes["ylim"] == [0, 1]
    assert w.axes["xticks"] == [[-2, "10⁻²"], [-1, "10⁻¹"], [0, "10⁰"], [1, "10¹"], [2, "10²"]]
    assert "from 0.1 to 10 across" in w.frame["says"]
    assert picture(w).std() > 0
    with pytest.raises(ValueError, match="an x of 0 or less, which a logarithmic axis cannot show; use log_x=False"):
        explore(lambda depth: {"highway": Curve([0, 1], [1, 1])}, log_x=True, caption="Over τ.", **LOG_X)


def test_series_must_be_the_same_everywhere():
    def compute(gate_bias, depth):
        return {"plain": PLAIN} if depth == 50 else {"plain": Curve(PLAIN, PLAIN)}

    w = explore(compute, **DECAY)
    with pytest.raises(
        ValueError, match=r"at gate bias −2 and depth 20 it returned 'plain' \(curve\) and at the start"
    ):
        w.value = {"depth": 20}


@pytest.mark.parametrize("said", [None, "", " "])
def test_say_must_return_a_sentence(said):
    with pytest.raises(TypeError, match=f"say must return a sentence, but {said!r}"):
        explore(decay, say=lambda values, frame: said, **DECAY)


def test_say_cannot_empty_the_frame():
    w = explore(decay, say=lambda values, frame: frame.clear() or "Gone.", **DECAY)
    assert len(w.frame["arrays"]) == 3


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"depth": 17}, r"value\['depth'\] must be one of 10, 20, .*, but 17 \(int\) came."),
        ({"depth": "50"}, r"value\['depth'\] must be one of .*, but '50' \(str\) came."),
        ({"depth": None}, r"value\['depth'\] must be one of .*, but None \(NoneType\) came."),
        ({"depth": [50]}, r"value\['depth'\] must be one of .*, but \[50\] \(list\) came."),
        (
            {"depth": np.array([[50, 60], [70, 80]])},
            r"value\['depth'\] must be one of .*, but an array of shape \(2, 2\)",
        ),
        ({"depth": 10**400}, r"value\['depth'\] must be one of .*, but 1000.* \(int\) came."),
        ({"gate_bias": np.nan}, r"value\['gate_bias'\] must be one of .*, but nan \(float\) came."),
        ({"width": 17}, r"value must be a dict with the sliders' names \('gate_bias', 'depth'\), but .* came."),
    ],
)
def test_a_wrong_value_raises_a_sentence_and_changes_nothing(value, sentence):
    w = explore(decay, **DECAY)
    with pytest.raises(ValueError, match=sentence):
        w.value = value
    assert w.value == DECAY["start"]


def test_true_is_not_1_and_a_number_is_not_a_text():
    options = {**DECAY, "start": {"depth": 1, "kind": "2"}, "depth": [0, 1, 2], "kind": ["1", "2"]}
    del options["gate_bias"]
    w = explore(lambda depth, kind: {"plain": np.ones(3)}, **options)
    w.value = {"depth": np.int64(2)}
    for wrong in ({"depth": True}, {"kind": 1}):
        with pytest.raises(ValueError, match="must be one of"):
            w.value = wrong
    assert w.value == {"depth": 2, "kind": "2"}
