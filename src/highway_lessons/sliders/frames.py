"""One frame of a slider figure: the series at one place of the sliders, checked, in words, as numbers to draw."""

import math
import re
import sys
from typing import NamedTuple

import numpy as np

from highway_lessons import _checks

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Band(NamedTuple):
    """A series with its spread, for example over seeds: three arrays of shape (n,), low ≤ mid ≤ high."""

    low: np.ndarray
    mid: np.ndarray
    high: np.ndarray


class Curve(NamedTuple):
    """A line in the plane through the points (x, y): two arrays of shape (n,). A single point is drawn as a dot."""

    x: np.ndarray
    y: np.ndarray


class Dots(Curve):
    """Points (x, y) in the plane that no line joins: two arrays of shape (n,)."""


def kind(series):
    """The name under which explore.js and image.js know how to draw `series`."""
    return {Band: "band", Curve: "curve", Dots: "dots"}.get(type(series), "image" if np.ndim(series) == 2 else "line")


def points(series, first):
    """Where the line of a series runs: its x and its y, each of shape (n,)."""
    if isinstance(series, Curve):
        return series
    y = series.mid if isinstance(series, Band) else series
    return first + np.arange(len(y)), y


def number(value):
    """Write a number as the sentences under the figures do: 0.119, −2, 2.4e−05."""
    size = abs(value)
    if size == 0 or 0.01 <= size < 999.5:
        text = f"{value + 0.0:.3g}"  # + 0.0 makes a 0 of −0
    else:
        text = f"{value:.0f}" if 999.5 <= size < 99_999.5 else f"{value:.1e}"
    return text.replace("-", "−")


def stop_text(value, digits=4):
    """Write one stop of a slider or an axis: a text as it is, a number with a real minus sign."""
    if isinstance(value, str):
        return value
    return f"{value:.{digits if abs(value) < 1e4 else max(6, digits)}g}".replace("-", "−")


def checked_stops(name, stops, purpose):
    """Return the stops of a slider or the cells along an axis as a list of numbers and texts, each once.

    What rounding left of a 0, such as np.arange(-1, 1.1, 0.1) does, is 0.
    """
    if isinstance(stops, str) or not np.iterable(stops):
        raise TypeError(f"{name} must be a list of values for {purpose}, but {_checks.describe(stops)} came.")
    stops = [stop.item() if isinstance(stop, np.generic) else stop for stop in stops]
    for i, stop in enumerate(stops):
        if not isinstance(stop, str):
            real = _checks.real(f"each value of {name}", stop)
            stops[i] = stop if isinstance(stop, int) else real
    rounding = len(stops) * sys.float_info.epsilon * max((abs(s) for s in stops if not isinstance(s, str)), default=0)
    return [0.0 if isinstance(stop, float) and abs(stop) <= rounding else stop for stop in stops]


def limits(name, pair):
    """Return the ends of an axis or a colour bar as [low, high]."""
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a pair of numbers (low, high), but {pair!r} came.") from None
    low, high = _checks.real(name, low), _checks.real(name, high)
    if not low < high:
        raise ValueError(f"{name} must be (low, high) with low < high, but {pair!r} came.")
    if not 1e-300 < high - low < 1e300:
        raise ValueError(f"{name} must be between 1e-300 and 1e300 long, but {pair!r} came.")
    return [low, high]


def place(values):
    """Say where the sliders stand: at gate bias −2 and depth 50."""
    *most, last = [f"{name.replace('_', ' ')} {stop_text(value)}" for name, value in values.items()]
    return "at " + (", ".join(most) + " and " + last if most else last)


def checked(returned, values, check, axes):
    """Return what `compute` returned as a dict of series, each one by way of `check(what, series, axes)`."""
    here = place(values)
    if not isinstance(returned, dict):
        raise TypeError(f"compute must return a dict of named series, but {here} {_checks.describe(returned)} came.")
    if not returned or not all(isinstance(name, str) and name for name in returned):
        raise TypeError(f"compute must return a dict of named series, but {here} the names {list(returned)} came.")
    return {name: check(f"series {name!r} {here}", series, axes) for name, series in returned.items()}


def checked_series(what, series, axes):
    """Return one series as a float array, a `Band` or a `Curve`; refuse anything else."""
    if isinstance(series, Band | Curve):
        arrays = [_one_row(f"{field} of {what}", array) for field, array in series._asdict().items()]
        if len({array.size for array in arrays}) > 1:
            sizes = ", ".join(f"{field} {array.size}" for field, array in zip(series._fields, arrays, strict=True))
            raise ValueError(f"{what} must hold arrays of one length, but these came: {sizes}.")
        series = type(series)(*arrays)
        if isinstance(series, Band) and ((series.low > series.mid) | (series.mid > series.high)).any():
            raise ValueError(f"{what} must have low ≤ mid ≤ high, but it has not everywhere; check the order.")
        rows = series if isinstance(series, Band) else [series.y]
    else:
        series = _one_row(what, series)
        rows = [series]
    if axes["log_x"] and not isinstance(series, Curve):
        raise TypeError(f"{what} must be a Curve, since log_x=True came.")
    if axes["log_x"] and (series.x <= 0).any():
        raise ValueError(f"{what} holds an x of 0 or less, which a logarithmic axis cannot show; use log_x=False.")
    if axes["log"] and any((row < 0).any() for row in rows):
        raise ValueError(f"{what} holds a negative number, which a logarithmic axis cannot show; use log=False.")
    return series


def _one_row(what, array):
    array = _checks.floats(what, array).astype(np.float64)
    if array.ndim != 1:
        raise ValueError(
            f"{what} must be a 1-D array, but it has shape {array.shape}; "
            "flatten it, choose a row, or give explore `colours` to draw it as a picture."
        )
    return array


def sentence(frame, axes):
    """Say in words what a figure shows: the two ends of a series over the blocks, the extent of a curve."""
    parts = []
    for name, series in frame.items():
        x, y = points(series, axes["first"])
        there = np.isfinite(x) & np.isfinite(y)
        x, y = x[there], y[there]
        if not y.size:
            parts.append(f"{name} has no values")
        elif len(y) == 1 and isinstance(series, Curve):
            parts.append(f"{name} at {axes['xlabel']} {number(x[0])} and {axes['ylabel']} {number(y[0])}")
        elif isinstance(series, Curve):
            across, up = (f"{number(side.min())} to {number(side.max())}" for side in (x, y))
            parts.append(f"{name} from {across} across and from {up} up")
        else:
            ends = [f"{number(y[i])} at {axes['xlabel']} {x[i]}" for i in sorted({0, len(y) - 1})]
            parts.append(f"{name} {' and '.join(ends)}")
    return f"{'; '.join(parts)}."


def notes(frame, axes):
    """Say what the eye cannot see in the figure: zeros on a log axis, gaps, and points beyond the fixed axes."""
    for name, series in frame.items():
        x, y = points(series, axes["first"])
        rows = np.array(series if isinstance(series, Band) else [y])
        who = f"{name} or its band" if isinstance(series, Band) else name
        gaps = ~(np.isfinite(x) & np.isfinite(rows).all(axis=0))
        zeros = (rows == 0) if axes["log"] else np.zeros(rows.shape, bool)
        up, ylim = rows, axes["ylim"]
        if axes["log"]:
            up, ylim = np.log10(np.where(rows > 0, rows, 1)), np.log10(ylim)
        beyond = ~gaps & (~zeros & (outside(x, *axes["xlim"]) | outside(up, *ylim))).any(axis=0)
        for which, said in (
            (zeros.any(axis=0), f"On the floor of the axis: {who}, which is 0 at"),
            (gaps, f"A gap: {who}, which is not a finite number at"),
            (beyond, f"Beyond the axes: {who}, at"),
        ):
            if which.any():
                yield f"{said} {which.sum()} of {len(y)} points."


def outside(values, low, high):
    slack = 1e-9 * (high - low)  # rounding is no reason to say so
    return (values < low - slack) | (values > high + slack)


def in_words(values, said, frame, notes):
    """Put together the status line: where the sliders stand, what was said of the frame, what the eye cannot see."""
    here, said, names = place(values), said.strip(), re.findall(r"\w+", " ".join(frame))
    if said[1:2].islower() and re.match(r"\w*", said)[0] not in names:  # the sentence goes on after a colon
        said = said[0].lower() + said[1:]
    return " ".join([f"{here[0].upper()}{here[1:]}: {said}", *notes])


def drawn(series, axes):
    """Return the arrays that are drawn, gaps as NaN; on a log axis log10, so that 1e-41 fits a float32, 0 as −inf."""
    arrays = series if isinstance(series, tuple) else [series]
    arrays = [np.where(np.isfinite(array), array, np.nan) for array in arrays]
    with np.errstate(divide="ignore"):
        for i, array in enumerate(arrays):
            if axes["log_x" if i == 0 and isinstance(series, Curve) else "log"]:
                arrays[i] = np.log10(array)
    return arrays


def smallest_dtype(arrays):
    """float32 where it holds all numbers, float64 where one would under- or overflow."""
    limits = np.finfo(np.float32)
    for array in arrays:
        size = np.abs(array[np.isfinite(array) & (array != 0)])
        if ((size < limits.tiny) | (size > limits.max)).any():
            return np.dtype("<f8")
    return np.dtype("<f4")


def ticks(low, high, log=False, whole=False, most=7):
    """Round positions on an axis, at most seven of them and whole numbers on request: a list of [position, text]."""
    if log and high / low < 100:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        stops = [m * 10.0**d for d in decades for m in (1, 2, 5) if low <= m * 10.0**d <= high] or [low, high]
        return [[math.log10(stop), stop_text(stop)] for stop in stops]
    if log:
        low, high = math.log10(low), math.log10(high)
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(m * power for m in (1, 2, 5, 10) if (high - low) / (m * power) <= most)
    step = max(1, step) if log or whole else step
    stops = [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)] or [low, high]
    if log:
        return [[stop, "10" + f"{stop:.0f}".translate(SUPERSCRIPT)] for stop in stops]
    digits = 1 + math.floor(math.log10(max(abs(low), abs(high)))) - math.floor(math.log10(step) + 1e-9)
    return [[stop, stop_text(stop, max(4, digits))] for stop in stops]


# The palette's markers as SVG paths around (0, 0).
MARKERS = {
    "o": "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "s": "M-3.5,-3.5h7v7h-7Z",
    "^": "M0,-4.5L4.5,3.5H-4.5Z",
    "v": "M0,4.5L4.5,-3.5H-4.5Z",
    "D": "M0,-5L5,0L0,5L-5,0Z",
    "x": "M-3.5,-3.5L3.5,3.5M3.5,-3.5L-3.5,3.5",
    "P": "M-4.5,0H4.5M0,-4.5V4.5",
    "*": "M-4,-3L4,3M4,-3L-4,3M0,-5V5",
}
