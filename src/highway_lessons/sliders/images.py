"""Series that are pictures: 2-D arrays, checked, in words, and as a matplotlib Figure. `image.js` draws them live."""

import math
from typing import NamedTuple

import numpy as np

from highway_lessons import _checks
from highway_lessons.palette import MAPS, map_stops
from highway_lessons.sliders import frames
from highway_lessons.sliders.frames import number, stop_text

HATCHING = "#777777"  # of the cells without a value; explore.css has it too


class Colours(NamedTuple):
    """What the colours of a picture stand for, at every place of the sliders.

    Parameters
    ----------
    kind : str
        "gate" for gates; "activation" for what is never negative, from 0 up; "signed" for what has a sign, 0 in the
        middle; "accuracy" for shares, 0 … 1, written in per cent.
    limits : pair of float
        The values at the two ends of the colour bar. What lies beyond takes the colour of that end, and is said.
    label : str
        What the colour bar shows, such as "transform gate".
    """

    kind: str
    limits: tuple
    label: str


def checked_colours(colours, what="colours"):
    """Return `colours` with limits that are two finite numbers and fit its kind; refuse anything else."""
    if isinstance(colours, dict) and what == "colours":
        return {name: checked_colours(one, f"colours[{name!r}]") for name, one in colours.items()}
    if not isinstance(colours, Colours):
        raise TypeError(f'{what} must be Colours("gate", (0, 1), "transform gate") or the like, but {colours!r} came.')
    _checks.choice(f"kind of {what}", colours.kind, MAPS)
    _checks.text(f"label of {what}", colours.label)
    low, high = limits = tuple(frames.limits(f"limits of {what}", colours.limits))
    if colours.kind == "activation" and low != 0:
        raise ValueError(f"limits of {what} must start at 0 for activations, but {low:g} came.")
    if colours.kind == "signed" and low != -high:
        raise ValueError(f"limits of {what} must be (−a, a) for signed values, but {limits} came.")
    if colours.kind in ("gate", "accuracy") and not 0 <= low < high <= 1:
        raise ValueError(f"limits of {what} must lie within 0 and 1 for a {colours.kind}, but {limits} came.")
    return colours._replace(limits=limits)


def checked_series(what, values, axes):
    """Return one picture as a float array of the shape that the pictures before it had; refuse anything else."""
    values = _checks.floats(what, values).astype(np.float64)
    if values.ndim != 2 or not values.size:
        raise ValueError(
            f"{what} must be a picture of shape (rows, columns), but it has shape {values.shape}; "
            "without `colours`, explore draws lines."
        )
    return values


def axes(given, series):
    """Complete what `explore` was given about pictures, once the first ones have come.

    Parameters
    ----------
    given : dict
        Axes with "columns" and "rows" (lists or None) and "colours" (`Colours`, or a dict of them by series name).
    series : dict of str to array of shape (rows, columns)

    Returns
    -------
    dict
        The axes as image.js reads them: "columns" and "rows" are {texts, ticks}, "bars" a list of {label, limits,
        ticks, stops, scale, unit}, "bar_of" the colour bar's index for each series, "shape" for explore.css, and
        "ratio", a picture's height over its width.
    """
    shapes = {name: values.shape for name, values in series.items()}
    if len(set(shapes.values())) > 1:
        raise ValueError(f"all pictures must have one shape (rows, columns), but these came: {shapes}.")
    [(n_rows, n_columns)] = set(shapes.values())
    colours = given["colours"]
    if isinstance(colours, Colours):
        colours = dict.fromkeys(series, colours)
    if set(colours) != set(series):
        raise ValueError(f"colours must have the series' names ({', '.join(series)}), but {', '.join(colours)} came.")
    kinds = list(dict.fromkeys(colours[name] for name in series))
    alone = len(series) == 1
    columns, width = _cells("columns", given["columns"], n_columns, given["first"], 270 if alone else 100)
    rows, height = _cells("rows", given["rows"], n_rows, 1, 200 if alone else 96)
    if given["equal"] and not (width and height):
        raise ValueError("equal=True needs evenly spaced columns and rows, but they are not; leave it out.")
    bars = [_bar(kind, [name for name in series if colours[name] == kind], len(kinds)) for kind in kinds]
    ratio = height / width if given["equal"] else 0.4 if alone else 0.8
    least = "13rem" if alone and not given["equal"] else "0"
    shape = f"--ratio:{ratio:.4g};--least:{least};--y:{max(len(text) for _, text in rows['ticks'])}ch"
    described = {"columns": columns, "rows": rows, "bars": bars, "ratio": ratio, "shape": shape}
    return given | described | {"colours": colours, "bar_of": [kinds.index(colours[name]) for name in series]}


def _cells(argument, values, count, first, room):
    """Describe the cells along one axis, and say how long it is where they are evenly spaced, else 0.

    Ticks are [place, text], where cell i reaches from place i to i + 1: one for each cell where they are few or have
    no even spacing, round numbers otherwise, and no more than fit into `room` pixels on a phone.
    """
    values = list(range(first, first + count)) if values is None else values
    if len(values) != count:
        raise ValueError(f"{argument} must hold one value for each of {count} {argument}, but {len(values)} came.")
    texts = [stop_text(value) for value in values]
    step = 0
    if count > 1 and not any(isinstance(value, str) for value in values):
        steps = np.diff(values)
        step = float(steps[0]) if np.allclose(steps, steps[0], rtol=1e-6, atol=0) else 0
    if step and count > 12:
        low, high = sorted((values[0] - step / 2, values[-1] + step / 2))
        round_ones = frames.ticks(low, high, whole=all(isinstance(value, int) for value in values), most=room // 30)
        ticks = [[(stop - values[0]) / step + 0.5, text] for stop, text in round_ones]
    else:  # a character is about 7 pixels wide, a line 16 high
        size = 16 if argument == "rows" else 7 * max(map(len, texts)) + 7
        every = math.ceil(count * size / room)
        ticks = [[i + 0.5, texts[i]] for i in range(0, count, every)]
    return {"texts": texts, "ticks": ticks}, abs(step) * count


def _bar(colours, names, kinds):
    """Describe a colour bar; one of several names its pictures."""
    scale, unit = _unit(colours)
    ticks = frames.ticks(*(scale * limit for limit in colours.limits))
    return {
        "label": colours.label + (f" ({', '.join(names)})" if kinds > 1 else ""),
        "limits": colours.limits,
        "ticks": [[stop / scale, text + unit] for stop, text in ticks],
        "stops": map_stops(colours.kind),
        "scale": scale,
        "unit": unit,
    }


def _unit(colours):
    """What a value is multiplied with before it is written, and what is written behind it."""
    return (100, " %") if colours.kind == "accuracy" else (1, "")


def marked(values, axes):
    """Return the column and the row that the sliders named like an axis point at, -1 where they point at none."""
    found = []
    for label, cells in ((axes["xlabel"], axes["columns"]), (axes["ylabel"], axes["rows"])):
        texts = [stop_text(value) for name, value in values.items() if name.replace("_", " ") == label]
        found.append(cells["texts"].index(texts[0]) if texts and texts[0] in cells["texts"] else -1)
    return found


def sentence(frame, axes, mark):
    """Say in words what the pictures show: the lowest and the highest value of each, and the value in a marked cell.

    More than four pictures are taken together, all that share a colour bar.
    """
    column, row = mark
    parts, groups = [], {name: [values] for name, values in frame.items()}
    if len(frame) > 4:
        groups = {}
        for name, values in frame.items():
            groups.setdefault(axes["colours"][name], []).append(values)
    for name, pictures in groups.items():
        colours = axes["colours"].get(name, name)
        scale, unit = _unit(colours)
        who, there = name, np.concatenate([values[np.isfinite(values)] for values in pictures])
        if name is colours:
            who = f"{colours.label} in {len(pictures)} pictures"
        if not there.size:
            parts.append(f"{who} has no values")
            continue
        low, high = (f"{number(scale * value)}{unit}" for value in (there.min(), there.max()))
        if -1 in mark or len(frame) > 4:
            parts.append(f"{who} from {low} to {high}")
        else:
            here = pictures[0][row, column]
            here = f"{number(scale * here)}{unit}" if np.isfinite(here) else "without a value"
            parts.append(f"{who} {here} in the marked cell, {low} to {high} in the picture")
    return f"{'; '.join(parts)}."


def notes(frame, axes):
    """Say what the colours cannot: cells without a value, and values beyond the colour bar."""
    for name, values in frame.items():
        low, high = axes["colours"][name].limits
        gaps = ~np.isfinite(values)
        for which, said in (
            (gaps, f"Hatched: {name}, which has no value in"),
            (~gaps & frames.outside(values, low, high), f"Beyond the colours: {name}, in"),
        ):
            if which.any():
                yield f"{said} {which.sum()} of {values.size} cells."


def picture(values, frame, axes, where):
    """Draw the pictures of a frame as image.js draws them: a matplotlib Figure that says `where` the sliders stand."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    from highway_lessons.figures import new_figure

    n, (n_rows, n_columns), bars = len(frame), next(iter(frame.values())).shape, axes["bars"]
    down = math.ceil(n / 5)
    across = math.ceil(n / down)
    height = min(6 / across * axes["ratio"], 5)
    size = (7, down * (height + 0.35) + 0.6 + 0.75 * len(bars))
    figure, grid = new_figure(across, down, figsize=size, squeeze=False)
    column, row = marked(values, axes)
    left, wide = (0, n_columns) if column < 0 else (column, 1)
    bottom, high = (0, n_rows) if row < 0 else (row, 1)
    aspect = axes["ratio"] * n_columns / n_rows if axes["equal"] else "auto"
    drawn = {}
    for k, (name, cells) in enumerate(frame.items()):
        plot, bar = grid.flat[k], axes["bar_of"][k]
        colours = LinearSegmentedColormap.from_list(name, np.array(bars[bar]["stops"]) / 255)
        vmin, vmax = bars[bar]["limits"]
        drawn[bar] = plot.imshow(
            np.ma.masked_invalid(cells), cmap=colours, vmin=vmin, vmax=vmax, aspect=aspect,
            extent=(0, n_columns, 0, n_rows), origin="lower", interpolation="nearest",
        )  # fmt: skip
        plot.patch.set(hatch="////", edgecolor=HATCHING, facecolor="white")
        if (column, row) != (-1, -1):
            for colour, line in (("white", 2.4), ("black", 1)):
                edge = {"fill": False, "edgecolor": colour, "linewidth": line, "clip_on": False, "zorder": 3}
                plot.add_patch(Rectangle((left, bottom), wide, high, **edge))
        plot.set_title(name if n > 1 else "", fontsize=10)
        plot.set_xticks(*zip(*axes["columns"]["ticks"], strict=True))
        plot.set_yticks(*zip(*axes["rows"]["ticks"], strict=True))
        plot.tick_params(length=2, labelsize=9)
        plot.grid(False)
    for plot in grid.flat[n:]:
        plot.set_axis_off()
    grid[-1][(across - 1) // 2].set_xlabel(axes["xlabel"])
    grid[(down - 1) // 2][0].set_ylabel(axes["ylabel"])
    for bar, described in reversed(list(enumerate(bars))):  # the lowest first
        scale = figure.colorbar(drawn[bar], ax=grid, location="bottom", aspect=40, label=described["label"])
        scale.set_ticks([stop for stop, _ in described["ticks"]], labels=[text for _, text in described["ticks"]])
    figure.legend([], [], title=where, loc="outside lower left", alignment="left", frameon=False)
    figure.draw_without_rendering()  # a first layout puts the names of pictures with a fixed aspect outside
    return figure
