"""`explore(compute, gate_bias=[…], depth=[…], …)`: a figure with sliders, in a notebook and in the built book.

In a notebook it is an anywidget: a frame is computed when the sliders first stand there, and kept. While the book is
built, every frame is computed, no kernel is spoken to, and the output is HTML that needs nothing but itself, with a
PNG for print and for readers without JavaScript. The same `explore.js` draws in both, with `lines.js` for lines and
`image.js` for pictures.
"""

import base64
import itertools
import math
import numbers
import sys
from typing import NamedTuple

import numpy as np
import traitlets

from highway_lessons import _checks
from highway_lessons.palette import lines
from highway_lessons.sliders import frames, images
from highway_lessons.sliders.frames import Band, Curve, Dots, number
from highway_lessons.sliders.images import Colours
from highway_lessons.sliders.living import LivingNet, living_net
from highway_lessons.sliders.panel import TrainingPanel, training_panel
from highway_lessons.sliders.widget import OffTheGrid, Widget, close_earlier, read

__all__ = [
    "Band", "Colours", "Curve", "Dots", "Explore", "LivingNet", "TrainingPanel", "explore", "living_net", "number",
    "training_panel",
]  # fmt: skip


def explore(
    compute, *, start, xlabel, ylabel, caption, xlim=None, ylim=None, log=False, log_x=False, equal=False, first=1,
    say=None, colours=None, columns=None, rows=None, **sliders,
):  # fmt: skip
    """Draw what `compute` returns, with one slider for each of its arguments.

    Parameters
    ----------
    compute : callable
        ``compute(gate_bias=…, depth=…)`` returns ``{"series name": values}``: an array of shape (n,) over the blocks,
        a `Band`, a `Curve`, or `Dots`. Names and kinds of series stay the same wherever the sliders stand; lengths may
        differ. With `colours`, ``{"name": picture}``: arrays of shape (rows, columns), all of one shape. Several
        pictures stand side by side, each under its name. NaN is a cell without a value: hatched, and said.
        It is called at most once for each position of the sliders, so it must depend on its arguments alone.
    start : dict of str to number or str
        Where the sliders stand at first, and where Reset puts them: the values that the text speaks of.
    xlabel, ylabel : str
        A slider whose label is one of them, such as "gate bias", marks its column or row in a picture; two sliders
        mark a cell.
    xlim, ylim : pair of float
        The axes of lines, fixed, so that the eye sees what changes. Pictures take `columns` and `rows` instead.
    caption : str
        One sentence under the figure.
    log : bool
        Logarithmic y. A 0 is drawn at the floor of the axis, and the sentence says so.
    log_x : bool
        Logarithmic x, for curves alone, with x above 0.
    equal : bool
        One unit is as long in x as in y; in a picture, `columns` and `rows` are then evenly spaced.
    first : int
        x of the first entry of a series over the blocks: 1 for blocks, 0 for h_0 … h_L.
    say : callable, optional
        ``say(values, frame)`` returns one sentence that says in words what the figure shows: `values` is where the
        sliders stand, `frame` what `compute` returned there. After "At gate bias −2 and depth 50:" it is the status
        line and the text alternative; there it goes on with a small letter, unless with a word of a series' name.
    colours : Colours or dict of str to Colours, optional
        Draw pictures, and say what their colours stand for: ``Colours("gate", (0, 1), "transform gate")`` for all, or
        one for each name. The limits hold wherever the sliders stand, so that the eye sees what changes.
    columns, rows : list of numbers or str, optional
        What each column (along x) and each row (along y, the first at the bottom) of a picture stands for; without
        them they are counted, columns from `first` and rows from 1. On a page a cell weighs six bytes in each of its
        frames, unless two pictures are equal: keep all together below 60 000 cells.
    **sliders : list of numbers or str
        One slider per keyword: the values it can take. Its label is the keyword with spaces.

    Returns
    -------
    Explore
        The widget: as the last line of a cell it shows itself.

    Raises
    ------
    ValueError, TypeError
        One sentence: what came, what was expected. What `compute` itself raises is passed on.
    """
    for name, function in {"compute": compute, "say": say or str}.items():
        if not callable(function):
            raise TypeError(f"{name} must be a function, but {_checks.describe(function)} came.")
    for name, text in {"xlabel": xlabel, "ylabel": ylabel, "caption": caption}.items():
        _checks.text(name, text)
    axes = {
        "xlabel": xlabel,
        "ylabel": ylabel,
        "caption": caption,
        "log": _checks.flag("log", log),
        "log_x": _checks.flag("log_x", log_x),
        "equal": _checks.flag("equal", equal),
    }
    axes["first"] = _checks.integer("first", first, 0)
    if colours is None:
        _leave_out("for pictures, which need `colours`", columns=columns, rows=rows)
        axes |= {"xlim": frames.limits("xlim", xlim), "ylim": frames.limits("ylim", ylim)}
        if log and axes["ylim"][0] <= 0:
            raise ValueError(
                f"ylim must start above 0 when log=True, but {ylim[0]:g} came; give the floor of the axis."
            )
        if log_x and axes["xlim"][0] <= 0:
            raise ValueError(f"xlim must start above 0 when log_x=True, but {xlim[0]:g} came.")
        if (log or log_x) and equal:
            which = "log" if log else "log_x"
            raise ValueError(f"equal=True needs two linear axes, but {which}=True came with it; leave out one of them.")
    else:
        _leave_out(
            "for lines; pictures take columns and rows", xlim=xlim, ylim=ylim, log=log or None, log_x=log_x or None
        )
        axes |= {"colours": images.checked_colours(colours), "columns": columns, "rows": rows}
        for name in ("columns", "rows"):
            if axes[name] is not None:
                axes[name] = frames.checked_stops(name, axes[name], "the cells of a picture")
    if not sliders:
        raise ValueError("explore needs at least one slider, such as gate_bias=[-5, -2, 0], but none came.")
    sliders = [_slider(name, stops) for name, stops in sliders.items()]
    widget = Explore(compute, say, sliders, _on_grid("start", start, sliders), axes)
    close_earlier(widget)
    return widget


def _leave_out(why, **options):
    for name, option in options.items():
        if option is not None:
            raise ValueError(f"{name} is {why}, but {option!r} came; leave it out.")


class Explore(Widget):
    """What `explore` returns: sliders over a figure.

    Attributes
    ----------
    value : dict of str to number or str
        Where the sliders stand: read it, observe it, link it, set it. A name left out stays where it is, so
        ``w.value = {"depth": 50}`` moves one slider. A value that a slider cannot take raises a sentence. Assign a
        dict; what is written into this one, as in ``w.value["depth"] = 50``, moves nothing. With
        ``transform=(lambda value: value["depth"], lambda depth: {"depth": depth})``, `ipywidgets.link` ties one
        slider to another control.
    """

    _esm = read("elements.js", "lines.js", "explore.js", "image.js")
    _css = read("explore.css")
    sliders = traitlets.List().tag(sync=True)  # of {name, label, values, texts}
    start = traitlets.Dict().tag(sync=True)
    value = traitlets.Dict().tag(sync=True)
    axes = traitlets.Dict().tag(sync=True)  # labels, limits and ticks as they are drawn: log10 on a log axis
    looks = traitlets.List().tag(sync=True)  # of {name, kind, light, dark, dash, marker, width}, pictures {name, bar}
    frame = traitlets.Dict().tag(sync=True)  # {value, says, bytes, arrays, failed}: what is drawn at `value`

    def __init__(self, compute, say, sliders, start, axes):
        self._compute, self._say, self._axes = compute, say, axes
        self._kept = {}  # the frames visited so far
        self._last = start  # `value` as it was last accepted
        series = self._visit(start).series
        super().__init__(
            sliders=sliders,
            start=dict(start),
            value=dict(start),
            axes=_drawn_axes(self._axes, series),
            looks=_looks(self._axes, series),
            frame=self._message(start),
        )

    @traitlets.validate("value")
    def _accept(self, proposal):
        self._last = _on_grid("value", proposal.value, self.sliders, self._last)
        return dict(self._last)

    @traitlets.observe("value")
    def _follow(self, change):
        try:
            self.frame = self._message(change.new)
        except Exception as error:
            says = f"There is no figure {frames.place(change.new)}: {type(error).__name__}: {error}"
            self.frame = {"value": change.new, "says": says, "bytes": 4, "arrays": [], "failed": True}
            raise  # the notebook shows where it happened

    def _visit(self, value):
        """Return the frame at `value`, computed the first time only."""
        key = tuple(value.values())
        if key not in self._kept:
            kind = images if "colours" in self._axes else frames
            series = frames.checked(self._compute(**value), value, kind.checked_series, self._axes)
            if self._kept:
                _same_kinds(next(iter(self._kept.values())).series, series, value)
            elif kind is images:
                self._axes = images.axes(self._axes, series)
            if self._say:
                said = self._say(dict(value), dict(series))
            elif kind is images:
                said = images.sentence(series, self._axes, images.marked(value, self._axes))
            else:
                said = frames.sentence(series, self._axes)
            if not isinstance(said, str) or not said.strip():
                raise TypeError(f"say must return a sentence, but {_checks.describe(said)} came.")
            notes = kind.notes(series, self._axes)
            self._kept[key] = _Frame(series, frames.in_words(value, said, series, notes))
        return self._kept[key]

    def _message(self, value):
        """The frame at `value` as explore.js reads it."""
        frame = self._visit(value)
        arrays = [frames.drawn(series, self._axes) for series in frame.series.values()]
        dtype = frames.smallest_dtype(itertools.chain(*arrays))
        data = [[array.astype(dtype).tobytes() for array in series] for series in arrays]
        message = {"value": dict(value), "says": frame.says, "bytes": dtype.itemsize, "arrays": data}
        return message | self._mark(value)

    def _mark(self, value):
        """The column and the row of pictures that the sliders point at."""
        return {"mark": images.marked(value, self._axes)} if "bars" in self._axes else {}

    def _sentence(self):
        return self._visit(self._last).says

    def _words(self):
        return self.axes["caption"], frames.place(self._last)

    def _state(self):
        """What explore.js needs on a page: every frame."""
        grid = itertools.product(*(slider["values"] for slider in self.sliders))
        values = [dict(zip(self._last, stops, strict=True)) for stops in grid]
        visited = [self._visit(value) for value in values]
        arrays = [[frames.drawn(s, self._axes) for s in frame.series.values()] for frame in visited]
        dtype = frames.smallest_dtype(array for frame in arrays for series in frame for array in series)
        data, places = bytearray(), {}

        def place(array):  # equal arrays, such as a plain net's at every gate bias, travel once
            raw = array.astype(dtype).tobytes()
            if raw not in places:
                places[raw] = [len(data) // dtype.itemsize, array.size]
                data.extend(raw)
            return places[raw]

        placed = [[[place(array) for array in series] for series in frame] for frame in arrays]
        state = {name: getattr(self, name) for name in ("sliders", "start", "axes", "looks")} | {"value": self._last}
        state["frames"] = [
            [frame.says, series, *self._mark(value).values()]
            for frame, series, value in zip(visited, placed, values, strict=True)
        ]
        state |= {"bytes": dtype.itemsize, "data": base64.b64encode(data).decode()}
        return state

    def _figure(self):
        labels = {slider["name"]: slider["label"] for slider in self.sliders}
        where = ", ".join(f"{labels[name]} {frames.stop_text(stop)}" for name, stop in self._last.items())
        if "bars" in self._axes:
            return images.picture(self._last, self._visit(self._last).series, self._axes, where), False
        return self._lines(where), True

    def _lines(self, where):
        from highway_lessons.figures import new_figure

        axes = self._axes
        figure, plot = new_figure(figsize=(7, 4.2))
        handles, names = [], [look["name"] for look in self.looks]
        for name, look in lines(names).items():
            series = self._visit(self._last).series[name]
            x, y = frames.points(series, axes["first"])
            floor = axes["ylim"][0] if axes["log"] else -np.inf
            if isinstance(series, Band):
                low, high = np.maximum(series.low, floor), np.maximum(series.high, floor)
                plot.fill_between(x, low, high, color=look.light, alpha=0.22, linewidth=0)
            dots, many = isinstance(series, Dots), max(1, len(y) // 8)
            dashes = [float(n) / look.width for n in look.dash.split()]  # matplotlib counts them in line widths
            handles += plot.plot(
                x, np.where(y == 0, np.maximum(y, floor), y), color=look.light, linewidth=0.75 * look.width,
                linestyle="none" if dots else (0, dashes) if dashes else "-", marker=look.marker,
                markersize=8 if len(y) == 1 else 5, markevery=1 if dots else many,
            )  # fmt: skip
        xscale, yscale = ("log" if axes[name] else "linear" for name in ("log_x", "log"))
        plot.set(xscale=xscale, yscale=yscale, xlim=axes["xlim"], ylim=axes["ylim"])
        plot.set(xlabel=axes["xlabel"], ylabel=axes["ylabel"], aspect="equal" if axes["equal"] else "auto")
        for axis, ticks, log in ((plot.xaxis, "xticks", axes["log_x"]), (plot.yaxis, "yticks", axes["log"])):
            stops, texts = zip(*self.axes[ticks], strict=True)
            axis.set_ticks(10.0 ** np.array(stops) if log else stops, texts)
            axis.minorticks_off()
        shape = {"loc": "outside lower left", "ncols": min(4, len(names)), "alignment": "left", "frameon": False}
        figure.legend(handles, names, title=where, **shape)
        return figure


class _Frame(NamedTuple):
    series: dict
    says: str


def _looks(axes, series):
    """How each series is drawn: a line's colours, dash and marker; a picture's colour bar, its name in words."""
    if "bars" in axes:
        before = [f"{name}, " if len(series) > 1 else "" for name in series]
        looks = zip(series, before, axes["bar_of"], strict=True)
        return [{"name": name, "kind": "image", "before": text, "bar": bar} for name, text, bar in looks]
    return [
        look._asdict() | {"name": name, "kind": frames.kind(series[name]), "marker": frames.MARKERS[look.marker]}
        for name, look in lines(list(series)).items()
    ]


def _drawn_axes(axes, series):
    """Add ticks, and take log10 of what is drawn on a log axis. Blocks are whole numbers, so are their ticks."""
    if "bars" in axes:  # pictures: they have their ticks
        return {name: axes[name] for name in ("xlabel", "ylabel", "caption", "columns", "rows", "bars", "shape")}
    over_blocks = any(not isinstance(one, Curve) for one in series.values())
    drawn = {"xticks": frames.ticks(*axes["xlim"], axes["log_x"], whole=over_blocks)}
    drawn["yticks"] = frames.ticks(*axes["ylim"], axes["log"])
    for name, log in (("xlim", axes["log_x"]), ("ylim", axes["log"])):
        drawn[name] = [math.log10(end) for end in axes[name]] if log else axes[name]
    return axes | drawn


def _slider(name, stops):
    """Describe one slider for explore.js."""
    stops = frames.checked_stops(name, stops, "a slider")
    if len(set(stops)) < max(2, len(stops)):
        raise ValueError(f"{name} must hold at least two values, each once, but {stops!r} came.")
    label, texts = name.replace("_", " "), [frames.stop_text(stop) for stop in stops]
    return {"name": name, "label": label, "values": stops, "texts": texts}


def _on_grid(argument, value, sliders, otherwise=None):
    """Return `value` as a dict of grid values in the order of the sliders; names left out come from `otherwise`."""
    names = [slider["name"] for slider in sliders]
    if not isinstance(value, dict) or not set(value) <= set(names):
        wanted, came = ", ".join(map(repr, names)), _checks.describe(value)
        raise OffTheGrid(f"{argument} must be a dict with the sliders' names ({wanted}), but {came} came.")
    if otherwise is None and len(value) < len(names):
        missing = next(name for name in names if name not in value)
        raise OffTheGrid(f"{argument} must say where every slider stands, but {missing!r} is missing.")
    value = (otherwise or {}) | value
    return {slider["name"]: _nearest(argument, value[slider["name"]], slider) for slider in sliders}


def _nearest(argument, stop, slider):
    """The slider's own value for `stop`, forgiving rounding: 0.1 + 0.2 is 0.3, and −2 is −2.0."""
    real = isinstance(stop, numbers.Real) and not isinstance(stop, bool) and abs(stop) <= sys.float_info.max
    for own in slider["values"]:
        if isinstance(own, str):
            same = isinstance(stop, str) and stop == own
        else:
            same = real and math.isclose(stop, own, rel_tol=1e-9, abs_tol=1e-12)
        if same:
            return own
    wanted, came = ", ".join(slider["texts"]), _checks.describe(stop)
    raise OffTheGrid(f"{argument}[{slider['name']!r}] must be one of {wanted}, but {came} came.")


def _same_kinds(at_start, here, value):
    def described(series):
        return f"image of shape {series.shape}" if frames.kind(series) == "image" else frames.kind(series)

    kinds = [", ".join(f"{name!r} ({described(s)})" for name, s in frame.items()) for frame in (at_start, here)]
    if kinds[0] != kinds[1]:
        raise ValueError(
            f"compute must return the same series everywhere, but {frames.place(value)} it returned {kinds[1]} "
            f"and at the start {kinds[0]}."
        )
