"""Signals, gradients and directions in fresh networks."""

import numpy as np

from highway_lessons.figures.base import dashes, in_style, new_figure
from highway_lessons.gradients import over_seeds
from highway_lessons.palette import BLOCKS, lines


@in_style
def seed_bands(panels, xlabel, first=0, ylim=None, linear=(), predicted=None):
    """Draw one panel per quantity: for each named series the geometric mean over seeds and, shaded, its whole range.

    The first panel's legend serves all panels that draw nothing else; otherwise each panel has its own above it.

    Parameters
    ----------
    panels : dict of str to dict of str to array of shape (n_seeds, n)
        For each y label, the rows of each series; a series of shape (1, n) is a line without a band.
    xlabel : str
    first : int or dict of str to int
        x of the first entry, for all panels or for the y labels where it is not 0.
    ylim : dict of str to pair of float, optional
        Limits of the y axis, for the y labels that need them.
    linear : sequence of str
        The y labels whose axis is not logarithmic.
    predicted : dict of str to dict of str to array of shape (n,), optional
        For each y label, lines to draw thin and black over the measured ones.

    Returns
    -------
    matplotlib Figure
    """
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    looks, shared = lines(names), set(names) == set(next(iter(panels.values())))
    height = 2.4 if shared else 3  # one panel below the other, so that the text stays readable on a phone
    figure, column = new_figure(rows=len(panels), figsize=(4.6, height * len(panels) + 0.9), sharex=True, squeeze=False)
    for axes, (ylabel, series) in zip(column.flat, panels.items(), strict=True):
        start = first.get(ylabel, 0) if isinstance(first, dict) else first
        for name, values in series.items():
            low, mid, high = over_seeds(values)
            x, look = np.arange(start, start + len(mid)), looks[name]
            if len(values) > 1:
                axes.fill_between(x, low, high, color=look.light, alpha=0.18, linewidth=0)
            axes.plot(
                x, mid, color=look.light, linestyle=dashes(look.dash), linewidth=look.width,
                marker=look.marker, markevery=max(1, len(mid) // 6), markersize=4.5, label=name,
            )  # fmt: skip
        for values in (predicted or {}).get(ylabel, {}).values():
            axes.plot(np.arange(start, start + len(values)), values, color="black", linewidth=0.8)
        axes.set(ylabel=ylabel, yscale="linear" if ylabel in linear else "log", ylim=(ylim or {}).get(ylabel))
        if not shared:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=2)
    axes.set(xlabel=xlabel)
    if shared:
        figure.legend(handles=column[0, 0].get_legend_handles_labels()[0], loc="outside lower center", ncols=2)
    return figure


@in_style
def shares_against_tau(measured, near=4):
    """Draw measured shares over the line e^(−τ): near no block at all on a linear axis, then all on a logarithmic one.

    Parameters
    ----------
    measured : dict of str to pair of arrays
        For each series τ and the share that crosses, both of shape (n,).
    near : float
        Largest τ of the upper panel, where most points lie.

    Returns
    -------
    matplotlib Figure
    """
    figure, panels = new_figure(rows=2, figsize=(4.6, 5.6))
    grey = BLOCKS["no block"].light
    end = max(np.max(tau) for tau, _ in measured.values())
    for axes, last in zip(panels, (near, end), strict=True):
        axis = np.linspace(0, last, 200)
        axes.plot(axis, np.exp(-axis), color="black", linewidth=1, label="direct path, exp(−τ)")
        for name, look in lines(list(measured)).items():
            tau, share = np.asarray(measured[name])
            axes.plot(
                tau[tau <= last], share[tau <= last], look.marker, color=look.light, markersize=7, markeredgewidth=0,
                label=name,
            )  # fmt: skip
        axes.plot(0, 1, "x", color=grey, markersize=9, markeredgewidth=2)
        axes.set(ylabel="share that crosses")
    panels[0].annotate("no block", (0, 1), (12, 0), textcoords="offset points", color=grey, va="center")
    panels[0].set(ylim=(0, 1.05))
    panels[1].set(xlabel="τ = L ln(1 + exp(b))", yscale="log")
    panels[0].legend(loc="upper right")
    return figure


@in_style
def ellipses(images):
    """Draw what becomes of a circle in several networks of each kind, all enlarged to the same length.

    Parameters
    ----------
    images : dict of str to list of (array of shape (points, 2), array of shape (2,))
        For each kind the curves and their two radii, from `circle_test`. Below each drawing stand the radii,
        as geometric means.

    Returns
    -------
    matplotlib Figure
    """
    columns = min(3, len(images))
    rows = -(-len(images) // columns)
    figure, grid = new_figure(columns, rows, figsize=(1.6 * columns, 2.1 * rows), squeeze=False)
    looks = lines(list(images))
    for axes in grid.flat:
        axes.set_axis_off()
    for axes, (name, ellipses) in zip(grid.flat, images.items(), strict=False):
        for curve, radii in ellipses:
            x, y = curve.T / radii[0]
            axes.plot(x, y, color=looks[name].light, linewidth=1)
        longest, shortest = over_seeds([radii for _, radii in ellipses])[1]
        axes.text(0, -1.15, f"{name}\n{longest:.2g} by {shortest:.2g}", ha="center", va="top")
        axes.set(xlim=(-1.1, 1.1), ylim=(-1.9, 1.1), aspect="equal")
    return figure
