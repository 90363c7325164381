"""Colour is never the only signal: every figure and slider that the notebooks make, looked at without its colours.

What holds here for every figure, `faults` says for one; it is tried on figures with a fault as well.
"""

import re
import warnings
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
import reading
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import highway_lessons
from highway_lessons.figures import jacobian_terms, learning_curves, mark_cells, new_figure
from highway_lessons.notebook import BUILDING_BOOK
from highway_lessons.palette import MAPS
from highway_lessons.sliders import Explore

PACKAGE = str(Path(highway_lessons.__file__).parent)
TOO_DENSE = 1000  # a map of more cells has no room for a dot in each; the text beside it says what there is to see


def looks(axes):
    """What is drawn in some axes, as (dash, marker and width; colour; name or None)."""
    for line in axes.lines:
        dash = None if line.get_linestyle() in ("None", "") else str(line._unscaled_dash_pattern)  # no public name
        named = None if line.get_label().startswith("_") else line.get_label()
        yield (
            (dash, str(line.get_marker()), "thin" if line.get_linewidth() < 1 else "thick"),
            to_hex(line.get_color()),
            named,
        )
    for dots in axes.collections:
        if type(dots).__name__ == "PathCollection":
            shape = np.round(dots.get_paths()[0].vertices, 3).tobytes()
            for colour in {to_hex(c) for c in dots.get_facecolors()}:
                yield (None, shape), colour, None
    for patch in axes.patches:
        yield ("patch", patch.get_hatch()), to_hex(patch.get_facecolor()), None


def faults(figure):
    """What a reader who sees no colours, or who reads on a dark page, could not make out."""
    found = []
    for axes in figure.axes:
        colours, names = defaultdict(set), defaultdict(set)
        for look, colour, name in looks(axes):
            colours[look].add(colour)
            names[look] |= {name} - {None}
        beside = axes.get_shared_y_axes().get_siblings(axes)
        rows = [label.get_text() for one in beside for label in one.get_yticklabels()]
        if any(re.search(r"[^\W\d]{3}", row) for row in rows):
            continue  # each row has its name beside it: the colours say nothing more
        found += [f"{sorted(several)} are all drawn as {look}" for look, several in colours.items() if len(several) > 1]
        found += [f"{sorted(several)} look the same" for several in names.values() if len(several) > 1]
        for image in axes.images:
            found += list(map_faults(figure, axes, image))
    if figure.get_facecolor()[3] < 1 or any(axes.get_facecolor()[3] < 1 for axes in figure.axes):
        found.append("the ground is transparent")
    return found


def map_faults(figure, axes, image):
    """A map has one of the book's colour ranges, a bar with words, and, if its two ends look alike in grey, dots."""
    if image.get_cmap().name not in MAPS.values():
        yield f"a colour map of its own: {image.get_cmap().name}"
    bars = [i.colorbar for a in figure.axes for i in a.images if i.colorbar and same_colours(i, image)]
    if not any(bar.ax.get_xlabel() or bar.ax.get_ylabel() for bar in bars):
        yield "a map without a colour bar that says what its colours stand for"
    values = image.get_array()
    if image.get_cmap().name == MAPS["signed"] and values.size <= TOO_DENSE:
        middle = sum(image.get_clim()) / 2
        dots = sum(len(line.get_xdata()) for line in axes.lines)
        if dots not in ((values < middle).sum(), (values > middle).sum()):
            yield "a map whose two ends look alike in grey, without a dot in each cell on one side of its middle"


def same_colours(one, other):
    return (one.get_cmap().name, one.get_clim()) == (other.get_cmap().name, other.get_clim())


def test_nothing_in_a_notebook_is_told_by_colour_alone(notebook_path, monkeypatch):
    """No two series look alike without their colours. Besides: no figure stays open, and our code warns of nothing."""
    monkeypatch.setenv(BUILDING_BOOK, "1")
    plt.close("all")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        shown = reading.run(notebook_path).shown
    pictures = {cell: thing for cell, thing in shown.items() if isinstance(thing, Figure | Explore)}
    for cell, figure in pictures.items():
        if isinstance(figure, Figure):
            assert faults(figure) == [], cell
        else:
            lines = [(look["dash"], look["marker"]) for look in figure.looks if "dash" in look]
            assert len(set(lines)) == len(lines), cell
            assert lines or figure.axes["bars"], cell  # pictures have a colour bar; each cell can be read by keyboard
    dressed = {
        c.id for c in nbformat.read(notebook_path, as_version=4).cells if "image" in c.metadata.get("mystnb", {})
    }
    assert {cell for cell, thing in pictures.items() if isinstance(thing, Figure)} == dressed
    assert plt.get_fignums() == []
    ours = [str(w) for w in said if w.filename.startswith(PACKAGE) or "/" not in w.filename]  # a cell has no file
    assert ours == []


def two_lines(**second):
    figure, axes = new_figure()
    axes.plot([0, 1], [0, 1], color="tab:blue", label="one")
    axes.plot([0, 1], [1, 0], **({"color": "tab:red", "label": "two"} | second))
    return figure


def a_map(dots=False, bar=True, cmap=MAPS["signed"]):
    figure, axes = new_figure()
    values = np.array([[-1.0, 0.5, -0.2], [1.0, -0.5, 0.2]])
    image = axes.imshow(values, cmap=cmap, vmin=-1, vmax=1)
    if bar:
        figure.colorbar(image, label="change")
    if dots:
        mark_cells(image, values < 0)
    return figure


def two_bars(hatch):
    figure, axes = new_figure()
    axes.bar([0], [1], color="tab:blue")
    axes.bar([1], [1], color="tab:red", hatch=hatch)
    return figure


def see_through():
    figure = two_lines(linestyle="--")
    figure.set_facecolor("none")
    return figure


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (two_lines, "are all drawn as"),
        (lambda: two_lines(color="tab:blue"), "look the same"),
        (lambda: two_bars(None), "are all drawn as"),
        (a_map, "without a dot"),
        (lambda: a_map(dots=True, bar=False), "without a colour bar"),
        (lambda: a_map(dots=True, cmap="jet"), "a colour map of its own"),
        (see_through, "transparent"),
    ],
)
def test_a_figure_with_a_fault_is_caught(figure, words):
    assert any(words in fault for fault in faults(figure()))


@pytest.mark.parametrize(
    "figure",
    [
        lambda: two_lines(linestyle="--"),
        lambda: two_lines(marker="o"),
        lambda: two_bars("//"),
        lambda: a_map(dots=True),
        lambda: jacobian_terms({name: np.diag([0.9, -0.8]) for name in ("transform", "carry", "gate")}),
        lambda: learning_curves({"": {"plain": np.ones((3, 4)), "highway": np.ones((3, 4))}}),
    ],
)
def test_a_figure_without_a_fault_passes(figure):
    assert faults(figure()) == []


@pytest.mark.parametrize(("origin", "every"), [("upper", 1), ("upper", 3), ("lower", 1), ("lower", 3)])
def test_dots_lie_in_their_cells(origin, every):
    values = np.random.default_rng(0).normal(size=(12, 9))
    axes = new_figure()[1]
    extent = (-2.0, 2.0, -3.0, 5.0)
    image = axes.imshow(values, origin=origin, extent=extent)
    mark_cells(image, values > 0, every=every)
    x, y = axes.lines[0].get_data()
    looked_at = np.zeros_like(values, dtype=bool)
    looked_at[every // 2 :: every, every // 2 :: every] = True
    rows = (y - extent[2]) / (extent[3] - extent[2]) * len(values)
    rows, columns = np.floor(rows).astype(int), np.floor((x - extent[0]) / 4 * 9).astype(int)
    marked = np.zeros_like(looked_at)
    marked[rows if origin == "lower" else len(values) - 1 - rows, columns] = True
    np.testing.assert_array_equal(marked, looked_at & (values > 0))
