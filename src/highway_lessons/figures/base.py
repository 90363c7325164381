"""What every figure begins with: the book's style, and lines in its colours."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from highway_lessons.palette import lines

STYLE = Path(__file__).parents[1] / "style.mplstyle"
in_style = plt.style.context(STYLE)  # stands above every function that draws: legends and labels follow the style too


@in_style
def new_figure(columns=1, rows=1, **options):
    """Return a Figure in the book's style and its axes; `options` go to ``plt.subplots``.

    The figure is closed at once for pyplot, so that a notebook shows it once and keeps none open.
    """
    figure, axes = plt.subplots(rows, columns, **options)
    plt.close(figure)
    return figure, axes


def dashes(pattern):
    """Turn an SVG dash pattern ("" is solid) into a matplotlib line style."""
    return (0, tuple(float(n) for n in pattern.split())) if pattern else "-"


@in_style
def draw_lines(axes, series, x=None):
    """Draw named 1-D arrays over x (default 1, 2, …) in the book's colour code, with a legend.

    Parameters
    ----------
    axes : matplotlib Axes
    series : dict of str to array of shape (n,)
        The names decide the looks, see `highway_lessons.palette.lines`.
    x : array of shape (n,), optional
    """
    for name, look in lines(list(series)).items():
        values = series[name]
        positions = range(1, len(values) + 1) if x is None else x
        axes.plot(
            positions, values, color=look.light, linestyle=dashes(look.dash), linewidth=look.width,
            marker=look.marker, markevery=max(1, len(values) // 8), markersize=5, label=name,
        )  # fmt: skip
    axes.legend()


def mark_cells(image, chosen, every=1):
    """Put a dot into chosen cells of a map: a difference that can be seen without colours.

    Parameters
    ----------
    image : matplotlib AxesImage
    chosen : array of bool, shape (rows, columns)
        As the image's own values.
    every : int
        Look at every so many rows and columns only, where there are too many for a dot each.
    """
    left, right, low, high = image.get_extent()
    ends = (low, high) if image.origin == "lower" else (high, low)  # row 0 first
    rows, columns = np.nonzero(chosen[every // 2 :: every, every // 2 :: every])
    x, y = (
        start + (stop - start) * (every // 2 + every * index + 0.5) / n
        for (start, stop), index, n in zip(((left, right), ends), (columns, rows), chosen.shape[::-1], strict=True)
    )
    image.axes.plot(x, y, "o", color="black", markersize=2.4, markeredgecolor="white", markeredgewidth=0.4)
