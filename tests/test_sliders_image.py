"""`explore` with pictures: what travels to the page, and the page in a real browser, by pointer and by keyboard."""

import base64
import io
import itertools
import json
import os
import re

import matplotlib
import numpy as np
import pytest
from picture_grids import ACCURACY, BIASES, DEPTHS, PANELS, PLANE, SIDE, accuracy, panels, plane
from PIL import Image
from test_sliders_page import (
    HEAD,
    PHONE,
    assert_fits_a_phone,
    assert_picture,
    assert_quick,
    assert_readable,
    move_every_slider,
    open_figures,
    sentence,
    stops,
)

from highway_lessons import figures
from highway_lessons.notebook import BUILDING_BOOK
from highway_lessons.palette import MAPS, map_stops
from highway_lessons.sliders import Colours, explore, number

THREE = [(accuracy, ACCURACY), (plane, PLANE), (panels, PANELS)]
GATE = Colours("gate", (0, 1), "transform gate")
HINT = "Point at a cell, or use the arrow keys, to read it."


def one(picture, **options):
    """Explore one picture that no slider changes."""
    given = {"start": {"depth": 1}, "xlabel": "block", "ylabel": "unit", "caption": "A map.", "depth": [1, 2]}
    return explore(lambda depth: {"gate": np.array(picture)}, **given | {"colours": GATE} | options)


@pytest.fixture
def building(monkeypatch):
    monkeypatch.setenv(BUILDING_BOOK, "1")


def page_state(widget):
    markup = widget._repr_mimebundle_()[0]["text/html"]
    state = json.loads(re.search(r"^page\(document.getElementById\(\"[\w-]+\"\), (.*)\);$", markup, re.M)[1])
    return state, np.frombuffer(base64.b64decode(state["data"]), {4: "<f4", 8: "<f8"}[state["bytes"]]), markup


# Colours


@pytest.mark.parametrize("kind", MAPS)
def test_the_stops_are_matplotlibs_map(kind):
    """A page mixes what lies between two of its 33 stops: nowhere is it far from matplotlib's own 256 colours."""
    along = np.linspace(0, 1, 256)
    mixed = [np.interp(along, np.linspace(0, 1, 33), channel) for channel in np.transpose(map_stops(kind))]
    expected = matplotlib.colormaps[MAPS[kind]](along, bytes=True)[:, :3]
    assert abs(np.transpose(mixed) - expected).max() < 6


def lightness(kind):
    linear = (np.array(map_stops(kind)) / 255) ** 2.2
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("kind", ["gate", "activation", "accuracy"])
def test_more_is_lighter(kind):
    assert (np.diff(lightness(kind)) > 0).all()


def test_the_signed_map_is_palest_at_0():
    assert lightness("signed").argmax() == 16
    assert (np.diff(lightness("signed")[:17]) > 0).all()
    assert (np.diff(lightness("signed")[16:]) < 0).all()


# What travels


def test_pictures_travel_row_by_row_with_their_gaps(building):
    state, data, _ = page_state(explore(accuracy, **ACCURACY))
    assert state["bytes"] == 4
    assert len(state["frames"]) == len(BIASES) * len(DEPTHS) * 2
    [[start, count]] = state["frames"][0][1][0]
    np.testing.assert_allclose(data[start : start + count].reshape(7, 9), accuracy(0, 5, "Adam")["test accuracy"], 1e-6)
    assert np.isnan(data[start : start + count].reshape(7, 9)[[6, 0], [0, 8]]).all()
    assert data.size == 2 * 63  # where only the mark moves, nothing travels twice


def test_a_cell_weighs_less_than_six_bytes_in_the_page(building):
    widget = explore(plane, **PLANE)
    _, data, markup = page_state(widget)
    assert data.size == 6 * 10 * 625
    rest = len(widget._esm) + len(widget._css) + len(base64.b64encode(widget._png()))
    assert len(markup.encode()) - rest < 6 * data.size + 8000


def test_the_sliders_mark_a_cell_a_column_or_nothing(building):
    state, _, _ = page_state(explore(accuracy, **ACCURACY))
    assert state["frames"][0][2] == [0, 0]
    assert state["frames"][-1][2] == [8, 6]
    assert [frame[2] for frame in page_state(explore(panels, **PANELS))[0]["frames"][:3]] == [
        [0, -1],
        [9, -1],
        [29, -1],
    ]
    assert page_state(explore(plane, **PLANE))[0]["frames"][0][2] == [-1, -1]
    w = explore(accuracy, **ACCURACY)
    w.value = {"gate_bias": -10}
    assert w.frame["mark"] == [8, 4]


@pytest.mark.parametrize(
    ("options", "columns", "rows"),
    [
        ({}, "1 2 3", "1 2"),
        ({"first": 0}, "0 1 2", "1 2"),
        ({"columns": [0, -3, -10], "rows": ["Adam", "SGD"]}, "0 −3 −10", "Adam SGD"),
    ],
)
def test_few_cells_have_a_tick_each(options, columns, rows):
    axes = one(np.zeros((2, 3)), **options).axes
    assert " ".join(text for _, text in axes["columns"]["ticks"]) == columns
    assert " ".join(text for _, text in axes["rows"]["ticks"]) == rows
    assert [place for place, _ in axes["columns"]["ticks"]] == [0.5, 1.5, 2.5]


def test_many_evenly_spaced_cells_have_round_ticks():
    axes = explore(plane, **PLANE).axes
    assert axes["columns"]["texts"][0] == "−1.2"
    assert axes["columns"]["texts"][12] == "0"  # where linspace leaves 2e−16
    places, texts = zip(*axes["columns"]["ticks"], strict=True)
    assert texts == ("−1", "0", "1")
    np.testing.assert_allclose(places, np.interp([-1, 0, 1], SIDE, np.arange(25) + 0.5))
    assert [text for _, text in one(np.zeros((2, 50))).axes["columns"]["ticks"]] == ["10", "20", "30", "40", "50"]


def test_one_bar_for_all_that_share_its_colours():
    axes = explore(plane, **PLANE).axes
    assert [bar["label"] for bar in axes["bars"]] == ["transform gate"]
    w = explore(panels, **PANELS)
    labels = ["bias (gate biases)", "gate (mean gate, one example's gate)", "output (block outputs)"]
    assert [bar["label"] for bar in w.axes["bars"]] == labels
    assert [look["bar"] for look in w.looks] == [0, 1, 1, 2]
    assert [text for _, text in explore(accuracy, **ACCURACY).axes["bars"][0]["ticks"]][:2] == ["0 %", "20 %"]


# In words


def test_the_sentence_about_a_marked_cell_with_gaps_and_what_lies_beyond(building):
    w = explore(accuracy, **ACCURACY)
    here = number(100 * accuracy(-2, 50, "Adam")["test accuracy"][4, 2])
    assert w._repr_mimebundle_()[0]["text/plain"] == w.frame["says"]
    assert re.fullmatch(
        rf"At gate bias −2, depth 50 and optimiser Adam: test accuracy {here} % in the marked cell, [\d.]+ % to 102 % "
        r"in the picture\. Hatched: test accuracy, which has no value in 2 of 63 cells\. "
        r"Beyond the colours: test accuracy, in 1 of 63 cells\.",
        w.frame["says"],
    )
    w.value = {"gate_bias": 0, "depth": 100}
    assert "test accuracy without a value in the marked cell, " in w.frame["says"]


def test_the_sentence_about_a_few_and_about_many_pictures():
    w = explore(panels, **PANELS)
    assert w.frame["says"].startswith("At example 3 and block 10: gate biases from −4 to 1; mean gate from 0.018 to ")
    assert re.search(
        r": transform gate in 10 pictures from [\d.]+e−0\d to 0\.99\d\.$", explore(plane, **PLANE).frame["says"]
    )
    says = one(np.full((2, 3), np.inf)).frame["says"]
    assert says == "At depth 1: gate has no values. Hatched: gate, which has no value in 6 of 6 cells."


def test_say_is_given_the_pictures():
    w = explore(accuracy, say=lambda values, frame: f"{frame['test accuracy'].shape} cells.", **ACCURACY)
    assert w.frame["says"].startswith("At gate bias −2, depth 50 and optimiser Adam: (7, 9) cells.")


# The picture for print and for pages without scripts


def png(widget):
    bundle = widget._repr_mimebundle_()[0]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))).convert("RGB")).astype(int)


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0, np.nan])
def test_the_png_has_the_colours_of_the_map(building, value):
    pixels = png(one([[value, 0.6], [0.6, 0.6]]))
    colour = np.array(matplotlib.colormaps["viridis"](0.6 if np.isnan(value) else value, bytes=True)[:3])
    share = (abs(pixels - colour).max(axis=2) < 6).mean()
    per_cell = (abs(pixels - np.array(matplotlib.colormaps["viridis"](0.6, bytes=True)[:3])).max(axis=2) < 6).mean() / 3
    assert per_cell > 0.08
    assert share == pytest.approx(3 * per_cell if np.isnan(value) else per_cell, rel=0.1)


def test_the_png_puts_the_first_row_at_the_bottom_and_marks_the_cell(building):
    low = png(one([[1.0, 1.0], [0.0, 0.0]]))
    yellow = np.argwhere(abs(low - [253, 231, 36]).max(axis=2) < 6)
    purple = np.argwhere(abs(low - [68, 1, 84]).max(axis=2) < 6)
    assert np.median(yellow[:, 0]) > np.median(purple[:, 0])
    marked = one(np.full((2, 2), 0.5), columns=[1, 2], xlabel="depth")
    plain = one(np.full((2, 2), 0.5), columns=[1, 2])
    assert (png(marked) > 240).all(axis=2).sum() != (png(plain) > 240).all(axis=2).sum()


@pytest.mark.parametrize("equal", [False, True])
def test_the_png_holds_the_names_of_its_pictures(building, equal):
    def two(depth):
        return {"first": np.eye(20), "second": depth * np.eye(20)}

    colours = Colours("signed", (-1, 1), "how sure")
    widget = explore(
        two, start={"depth": 1}, xlabel="x", ylabel="y", caption="Two.", colours=colours, equal=equal, depth=[0.5, 1]
    )
    pixels = png(widget)
    dark = (pixels < 120).all(axis=2)  # letters and axes
    pale = (abs(pixels - 246) < 4).all(axis=2)  # 0 on the signed map, so nearly all of both pictures
    top = np.argmax(pale.mean(axis=1) > 0.5)
    assert top > 15
    assert dark[2 : top - 3].sum() > 50


# What a chapter's writer can get wrong

BOX = np.zeros((2, 3))
WRONG = [
    (BOX, {"colours": "gate"}, TypeError, "colours must be Colours"),
    (BOX, {"colours": Colours("loss", (0, 1), "loss")}, ValueError, "kind of colours must be one of 'gate', .*'loss'"),
    (BOX, {"colours": Colours("gate", (0, 2), "gate")}, ValueError, "must lie within 0 and 1 for a gate, but"),
    (BOX, {"colours": Colours("gate", 1, "gate")}, TypeError, "limits of colours must be a pair of numbers"),
    (BOX, {"colours": Colours("gate", (0, 1), "")}, TypeError, "label of colours must be a text that is not empty"),
    (BOX, {"colours": Colours("activation", (-1, 1), "x")}, ValueError, "must start at 0 for activations, but -1 came"),
    (BOX, {"colours": Colours("signed", (-1, 2), "x")}, ValueError, r"must be \(−a, a\) for signed values, but"),
    (BOX, {"colours": {"bias": GATE}}, ValueError, r"colours must have the series' names \(gate\), but bias came"),
    (BOX, {"xlim": (0, 1)}, ValueError, r"xlim is for lines; pictures take columns and rows, but \(0, 1\) came"),
    (BOX, {"log": True}, ValueError, "log is for lines; pictures take columns and rows, but True came"),
    (BOX, {"columns": [1, 2]}, ValueError, "columns must hold one value for each of 3 columns, but 2 came"),
    (BOX, {"rows": 2}, TypeError, "rows must be a list of values for the cells of a picture, but 2"),
    (BOX, {"columns": [1, 2, 4], "equal": True}, ValueError, "equal=True needs evenly spaced columns and rows"),
    (BOX[0], {}, ValueError, r"series 'gate' at depth 1 must be a picture of shape \(rows, columns\), but .* \(3,\)"),
    (np.zeros((0, 3)), {}, ValueError, r"must be a picture of shape \(rows, columns\), but it has shape \(0, 3\)"),
    (BOX, {"colours": None}, TypeError, "xlim must be a pair of numbers"),
    (BOX, {"colours": None, "rows": [1, 2]}, ValueError, "rows is for pictures, which need `colours`, but"),
    (
        BOX,
        {"colours": None, "xlim": (0, 1), "ylim": (0, 1)},
        ValueError,
        "give explore `colours` to draw it as a picture",
    ),
]


@pytest.mark.parametrize(("picture", "options", "error", "sentence"), WRONG)
def test_wrong_pictures_raise_a_sentence(picture, options, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        one(picture, **options)
    assert "\n" not in str(caught.value)


def test_pictures_have_one_shape_everywhere():
    options = {**PANELS, "colours": GATE}
    with pytest.raises(ValueError, match=r"all pictures must have one shape \(rows, columns\), but these came"):
        explore(lambda example, block: {"a": BOX, "b": BOX.T}, **options)
    w = explore(lambda example, block: {"a": BOX if example == 3 else BOX.T}, **options)
    with pytest.raises(ValueError, match=r"it returned 'a' \(image of shape \(3, 2\)\) and at the start"):
        w.value = {"example": 0}


# The page


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A page of three figures for each theme: a dict of addresses."""
    os.environ[BUILDING_BOOK] = "1"
    try:
        parts = [explore(f, **options)._repr_mimebundle_()[0]["text/html"] for f, options in THREE]
    finally:
        del os.environ[BUILDING_BOOK]
    folder = tmp_path_factory.mktemp("pictures")
    for theme in ("light", "dark"):
        (folder / f"{theme}.html").write_text(HEAD.format(theme=theme) + "".join(parts), encoding="utf-8")
    return {theme: (folder / f"{theme}.html").as_uri() for theme in ("light", "dark")}


def cell_line(figure):
    return figure.locator(".hl-below p").inner_text()


def heard(figure):
    return figure.locator("p[role=status]").text_content()


def canvases(figure):
    return figure.locator(".hl-cells canvas")


def pixels(canvas):
    """What a canvas holds, the first row at the bottom: an array of shape (rows, columns, 4)."""
    width, height, data = canvas.evaluate(
        "c => [c.width, c.height, [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]]"
    )
    return np.array(data).reshape(height, width, 4)[::-1]


def expected_colours(values, kind, low, high):
    return matplotlib.colormaps[MAPS[kind]](np.clip((values - low) / (high - low), 0, 1), bytes=True)[..., :3].astype(
        int
    )


def hover(page, canvas, across, up):
    """Move the pointer to a share of the canvas's width and height, counted from its lower left corner."""
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + across * box["width"], box["y"] + (1 - up) * box["height"])


def test_every_pixel_has_the_colour_of_its_cell(page, made):
    found = open_figures(page, made["light"])
    for figure, frame, options in zip(
        found, (accuracy(-2, 50, "Adam"), plane(-2, 0), panels(3, 10)), (ACCURACY, PLANE, PANELS), strict=True
    ):
        assert canvases(figure).count() == len(frame)
        for canvas, (name, values) in zip(canvases(figure).all(), frame.items(), strict=True):
            colours = options["colours"] if isinstance(options["colours"], Colours) else options["colours"][name]
            seen, there = pixels(canvas), np.isfinite(values)
            assert seen.shape[:2] == values.shape
            assert (seen[~there, 3] == 0).all()
            assert (seen[there, 3] == 255).all()
            off = abs(seen[there, :3] - expected_colours(values[there], colours.kind, *colours.limits))
            assert off.max() <= 8, name


def test_the_colour_bar_is_the_map_and_stays(page, made):
    figure = open_figures(page, made["light"])[0]
    bar = figure.locator(".hl-bar canvas")
    ramp = pixels(bar)
    assert abs(ramp[0, :, :3] - expected_colours(np.linspace(0, 1, 256), "accuracy", 0, 1)).max() <= 8
    ticks = figure.locator(".hl-bar span")
    assert ticks.all_inner_texts() == ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]
    box, middles = (
        bar.bounding_box(),
        ticks.evaluate_all("all => all.map(t => t.getBoundingClientRect()).map(b => b.x + b.width / 2)"),
    )
    np.testing.assert_allclose(middles, box["x"] + box["width"] * np.linspace(0, 1, 6), atol=1)
    figure.get_by_role("slider", name="optimiser").press("End")
    assert (pixels(bar) == ramp).all()


def test_ticks_stand_at_the_middle_of_their_cells(page, made):
    figure = open_figures(page, made["light"])[0]
    box = canvases(figure).bounding_box()
    middles = "all => all.map(t => t.getBoundingClientRect()).map(b => [b.x + b.width / 2, b.y + b.height / 2])"
    across = np.array(figure.locator(".hl-panel .hl-x-ticks span").evaluate_all(middles))[:, 0]
    up = np.array(figure.locator(".hl-y-ticks span").evaluate_all(middles))[:, 1]
    np.testing.assert_allclose(across, box["x"] + box["width"] * (np.arange(9) + 0.5) / 9, atol=1)
    np.testing.assert_allclose(up, box["y"] + box["height"] * (1 - (np.arange(7) + 0.5) / 7), atol=1)


def test_the_pointer_reads_a_cell(page, made):
    figure = open_figures(page, made["light"])[0]
    canvas = canvases(figure)
    assert cell_line(figure) == HINT
    values = accuracy(-2, 50, "Adam")["test accuracy"]
    hover(page, canvas, 2.5 / 9, 4.5 / 7)
    assert cell_line(figure) == f"gate bias −2, depth 50: {number(100 * values[4, 2])} %"
    cursor, box = figure.locator(".hl-cursor").bounding_box(), canvas.bounding_box()
    assert cursor["x"] == pytest.approx(box["x"] + box["width"] * 2 / 9, abs=1)
    assert cursor["y"] == pytest.approx(box["y"] + box["height"] * 2 / 7, abs=1)
    hover(page, canvas, 8.5 / 9, 0.5 / 7)
    assert cell_line(figure) == "gate bias −10, depth 5: no value"
    assert heard(figure) == ""  # a pointer says nothing aloud
    page.mouse.move(1, 1)
    assert cell_line(figure) == HINT
    assert figure.locator(".hl-cursor").count() == 0


def test_the_keyboard_reads_cells_and_says_them(page, made):
    figure = open_figures(page, made["light"])[0]
    values = accuracy(-2, 50, "Adam")["test accuracy"]
    figure.get_by_role("slider", name="optimiser").focus()
    page.keyboard.press("Tab")
    canvas = figure.get_by_role("application")
    assert canvas.evaluate("c => c === document.activeElement")
    assert canvas.evaluate("c => getComputedStyle(c).outlineStyle") != "none"
    assert canvas.get_attribute("aria-label") == "test accuracy: 9 by 7 cells, read with the arrow keys"
    assert cell_line(figure) == f"gate bias −2, depth 50: {number(100 * values[4, 2])} %"  # where the sliders point
    page.evaluate("scrollTo(0, 100)")
    scrolled = page.evaluate("scrollY")
    for key, place, value in (
        ("ArrowUp", "gate bias −2, depth 75", values[5, 2]),
        ("ArrowRight", "gate bias −3, depth 75", values[5, 3]),
        ("ArrowDown", "gate bias −3, depth 50", values[4, 3]),
        ("ArrowLeft", "gate bias −2, depth 50", values[4, 2]),
    ):
        page.keyboard.press(key)
        assert cell_line(figure) == heard(figure) == f"{place}: {number(100 * value)} %"
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowUp")
    assert heard(figure) == "gate bias 0, depth 100: no value"  # the corner holds
    page.keyboard.press("Alt+ArrowRight")  # the browser's own
    assert heard(figure) == "gate bias 0, depth 100: no value"
    assert page.evaluate("scrollY") == scrolled
    assert stops(figure) == ["−2", "50", "Adam"]
    page.keyboard.press("Tab")
    assert cell_line(figure) == HINT
    canvas.focus()
    assert cell_line(figure) == "gate bias 0, depth 100: no value"  # where the reader was


def test_a_cell_of_one_of_several_pictures_is_named(page, made):
    _, figure, four = open_figures(page, made["light"])
    hover(page, canvases(figure).nth(3), 12.5 / 25, 12.5 / 25)
    gate = number(plane(-2, 0)["block 4"][12, 12])
    assert cell_line(figure) == f"block 4, first input 0, second input 0: {gate}"
    canvases(four).nth(3).focus()
    value = panels(3, 10)["block outputs"][4, 9]
    assert heard(four) == f"block outputs, block 10, unit 5: {number(value)}"


def test_the_value_of_every_cell_is_right_to_three_digits(page, made):
    """What JavaScript writes, from float32, against what Python writes, from float64."""
    _, figure, _ = open_figures(page, made["light"])
    canvas = canvases(figure).first
    said = canvas.evaluate(
        """canvas => {
          const said = [], line = canvas.closest("figure").querySelector(".hl-below p");
          const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key }));
          canvas.focus();
          for (let i = 0; i < 25; i++) ["ArrowLeft", "ArrowDown"].forEach(press);
          for (let row = 0; row < 25; row++) {
            for (let column = 0; column < 25; column++) {
              said.push(line.textContent);
              press(row % 2 ? "ArrowLeft" : "ArrowRight");
            }
            press("ArrowUp");
          }
          return said;
        }"""
    )
    values = plane(-2, 0)["block 1"]
    walked = [row if i % 2 == 0 else row[::-1] for i, row in enumerate(values)]
    read = [float(text.rsplit(": ")[1].replace("−", "-")) for text in said]
    np.testing.assert_allclose(read, np.concatenate(walked), rtol=5.1e-3)
    assert max(len(text.rsplit(": ")[1].lstrip("0.")) for text in said) == 3


def test_sliders_move_the_pictures_and_the_mark(page, made, record_property):
    for figure in open_figures(page, made["light"]):
        assert_quick(page, record_property, lambda figure=figure: move_every_slider(page, figure))
    assert page.console_errors == []
    assert page.outside_requests == []


def test_the_mark_follows_the_sliders(page, made):
    figure, without, columns = open_figures(page, made["light"])
    figure.get_by_role("slider", name="depth").press("Home")
    figure.get_by_role("slider", name="gate bias").press("End")
    mark, box = figure.locator(".hl-mark").bounding_box(), canvases(figure).bounding_box()
    assert mark["x"] == pytest.approx(box["x"] + box["width"] * 8 / 9, abs=1)
    assert mark["y"] == pytest.approx(box["y"] + box["height"] * 6 / 7, abs=1)
    assert (mark["width"], mark["height"]) == pytest.approx((box["width"] / 9, box["height"] / 7), abs=1)
    assert not any(mark.is_visible() for mark in without.locator(".hl-mark").all())
    for mark, canvas in zip(columns.locator(".hl-mark").all(), canvases(columns).all(), strict=True):
        mark, box = mark.bounding_box(), canvas.bounding_box()
        assert mark["height"] == pytest.approx(box["height"], abs=1)
        assert mark["x"] == pytest.approx(box["x"] + box["width"] * 9 / 30, abs=1)


def test_a_cell_being_read_follows_the_sliders(page, made):
    figure = open_figures(page, made["light"])[0]
    hover(page, canvases(figure), 0.5 / 9, 0.5 / 7)
    before = cell_line(figure)
    figure.get_by_role("slider", name="optimiser").evaluate(
        "slider => { slider.value = 1; slider.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    after = number(100 * accuracy(-2, 50, "SGD")["test accuracy"][0, 0])
    assert cell_line(figure) == f"gate bias 0, depth 5: {after} %" != before
    assert sentence(figure).startswith("At gate bias −2, depth 50 and optimiser SGD:")


def test_the_pictures_as_a_whole_are_named_by_the_sentence(page, made):
    for figure in open_figures(page, made["light"]):
        assert figure.get_by_role("group", name=sentence(figure)).count() == 1
        assert canvases(figure).first.get_attribute("data-lm-suppress-shortcuts") == "true"


def test_square_cells_are_square_and_pictures_keep_their_size(page, made):
    _, figure, _ = open_figures(page, made["light"])
    for width, rows in ((1280, 2), (390, 5)):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(100)
        boxes = [canvas.bounding_box() for canvas in canvases(figure).all()]
        assert {round(box["width"]) for box in boxes} == {round(boxes[0]["width"])}
        assert all(box["height"] == pytest.approx(box["width"], abs=1) for box in boxes)
        tops = sorted(box["y"] for box in boxes)  # within a row they may differ by a fraction of a pixel
        assert 1 + sum(lower - upper > 1 for upper, lower in itertools.pairwise(tops)) == rows
        assert boxes[0]["width"] > 80


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_readable_on_a_phone(new_page, made, theme):
    page = new_page(viewport=PHONE)
    for figure in open_figures(page, made[theme]):
        assert_readable(figure)
        assert_fits_a_phone(page, figure)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_missing_cell_is_hatched(new_page, made, theme):
    """On the screen, not only in the canvas: neither the page's ground alone nor a colour of the map."""
    for options in ({}, {"forced_colors": "active", "color_scheme": theme}):
        page = new_page(**options)
        figure = open_figures(page, made[theme])[0]
        canvas = canvases(figure)
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        clip = {"x": box["x"] + 4, "y": box["y"] + 4, "width": box["width"] / 9 - 8, "height": box["height"] / 7 - 8}
        shot = np.asarray(Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")).astype(int)
        assert np.ptp(shot, axis=2).max() <= 12  # greys
        assert np.ptp(shot[..., 0]) > 80  # and more than one


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(page, made, theme):
    from axe_playwright_python.sync_playwright import Axe

    open_figures(page, made[theme])
    response = Axe().run(page).response
    assert [v["id"] for v in response["violations"] if v["impact"] in ("serious", "critical")] == []


def test_a_page_written_from_right_to_left_leaves_the_pictures_as_they_are(page, made):
    figure = open_figures(page, made["light"])[0]
    places = """plot => [...plot.querySelectorAll("span, canvas")]
      .map((element) => element.getBoundingClientRect().x - plot.getBoundingClientRect().x)"""
    before = figure.locator(".hl-pictures").evaluate(places)
    page.evaluate("document.documentElement.dir = 'rtl'")
    assert figure.locator(".hl-pictures").evaluate(places) == before


def test_without_scripts_the_picture_stays(new_page, made):
    page = new_page(java_script_enabled=False)
    page.goto(made["light"])
    for figure in page.locator("figure.hl-explore").all():
        assert_picture(figure)
        assert figure.locator("img").get_attribute("alt").startswith("At ")


def test_print_leaves_pictures_and_words(page, made):
    figure = open_figures(page, made["dark"])[0]
    page.emulate_media(media="print")
    assert canvases(figure).is_visible()
    assert canvases(figure).evaluate("c => getComputedStyle(c).printColorAdjust") == "exact"  # the hatching prints
    assert not figure.locator(".hl-below p").is_visible()
    assert not figure.get_by_role("button").is_visible()
    assert figure.locator(".hl-says").is_visible()
    colour = figure.locator(".hl-x-ticks span").first.evaluate("text => getComputedStyle(text).color")
    assert colour == "rgb(0, 0, 0)"


def test_a_frame_that_failed_shows_no_values(page, made):
    """What the kernel sends when `compute` raises: no arrays, and no place that the sliders point at."""
    open_figures(page, made["light"])
    widget = explore(accuracy, **ACCURACY)
    names = ("sliders", "start", "value", "axes", "looks")
    state = json.loads(json.dumps({name: getattr(widget, name) for name in names}))
    page.evaluate(
        """async ([source, state]) => {
          const script = new Blob([source], { type: "text/javascript" });
          const { default: widget } = await import(URL.createObjectURL(script));
          state.frame = { value: state.value, says: "There is no figure.", bytes: 4, arrays: [], failed: true };
          const model = { get: (name) => state[name], set() {}, on() {}, off() {}, save_changes() {} };
          widget.render({ model, el: document.querySelector("main") });
        }""",
        [widget._esm, state],
    )
    figure = page.locator("figure.hl-explore").first
    assert sentence(figure) == "There is no figure."
    assert (pixels(canvases(figure))[..., 3] == 0).all()
    canvases(figure).focus()
    assert cell_line(figure) == "gate bias −4, depth 30: no value"
    assert not figure.locator(".hl-mark").is_visible()


def test_the_static_figure_of_jacobians_takes_the_same_map():
    figure = figures.jacobian_terms({"a": np.eye(2), "b": -np.eye(2), "c": np.ones((2, 2))})
    assert {image.get_cmap().name for axes in figure.axes for image in axes.images} == {MAPS["signed"]}
