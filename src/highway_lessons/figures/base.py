"""What every figure begins with: the book's style, and lines in its colours."""

from pathlib import Path

import matplotlib.pyplot as plt

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
