"""How far two programs that should compute the same are apart."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from highway_lessons.figures.base import dashes, in_style, new_figure
from highway_lessons.palette import OTHERS


@in_style
def gaps(panels, xlabel, ylabel, ylim, controls=None):
    """Draw differences along blocks or epochs on a logarithmic axis; a 0 is drawn at the foot of the axis.

    Parameters
    ----------
    panels : dict of str to dict of str to array of shape (n,)
        For each panel, the differences of each series, at least 0.
    xlabel, ylabel : str
    ylim : pair of float
        The axis, the same for every panel.
    controls : dict of str to dict of str to array of shape (n,) or (n_controls, n), optional
        For each panel, what a series is to be compared with: thin grey lines.

    Returns
    -------
    matplotlib Figure
    """
    size = {"figsize": (5, 2.1 * len(panels) + 1.1), "sharex": True, "squeeze": False}
    figure, column = new_figure(rows=len(panels), **size)
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    looks, handles = dict(zip(names, OTHERS, strict=False)), {}
    for axes, (panel, series) in zip(column.flat, panels.items(), strict=True):
        for name, values in (controls or {}).get(panel, {}).items():
            y = np.maximum(np.atleast_2d(values).T, ylim[0])
            x = np.arange(1, len(y) + 1)
            handles[name] = axes.plot(x, y, color="#666666", linewidth=1, linestyle=dashes("2 2"), label=name)[0]
        for name, values in series.items():
            look, x, y = looks[name], np.arange(1, len(values) + 1), np.maximum(values, ylim[0])
            (handles[name],) = axes.plot(
                x, y, color=look.light, linewidth=look.width * 0.8, linestyle=dashes(look.dash), marker=look.marker,
                markersize=4.5, label=name, clip_on=False,
            )  # fmt: skip
        axes.set(ylabel=ylabel, yscale="log", ylim=ylim)
        if panel:
            axes.text(0, 1.03, panel, transform=axes.transAxes, va="bottom")
    axes.set_xlabel(xlabel)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    order = [name for name in [*names, *handles] if name in handles]
    figure.legend(handles=[handles[name] for name in dict.fromkeys(order)], loc="outside lower center", ncols=2)
    return figure
