"""Wrong layers: how wide their gates open on average, and what each of them costs."""

import numpy as np

from highway_lessons.figures.base import dashes, in_style, new_figure
from highway_lessons.palette import BLOCKS, OTHERS, lines

GREY = BLOCKS["no block"].light


@in_style
def mean_gate_against_spread(spreads, series, formula, fine):
    """Draw the mean gate against the spread of its pre-activation: measured dots on the line that is expected.

    Parameters
    ----------
    spreads : array_like of shape (n,)
        Standard deviations of the pre-activation where it was measured.
    series : dict of str to pair
        For each gate bias, the expected mean over `fine`, (m,), and the measured means, (n,).
    formula : dict of str to array of shape (m,)
        The same means by the formula for a small spread: thin lines.
    fine : array_like of shape (m,)

    Returns
    -------
    matplotlib Figure
    """
    figure, axes = new_figure(figsize=(5, 3.6))
    for name, look in lines(list(series)).items():
        expected, measured = series[name]
        axes.plot(fine, expected, color=look.light, linestyle=dashes(look.dash), linewidth=look.width)
        axes.plot(fine, formula[name], color="black", linewidth=0.8)  # as in the legend
        axes.plot(spreads, measured, look.marker, color=look.light, markersize=5)
        axes.plot([], [], look.marker, color=look.light, linestyle=dashes(look.dash), markersize=5, label=name)
    axes.plot([], [], color="black", linewidth=0.8, label="formula for a small spread")
    axes.set(xlabel="spread of the pre-activation, s", ylabel="mean transform gate", ylim=(0, 0.6))
    axes.set_xlim(0, np.max(fine))
    figure.legend(loc="outside lower center", ncols=2)
    return figure


@in_style
def layer_costs(panels, control, chance=0.1):
    """Draw the test accuracy of many layers, one row for each, a panel for each depth, and a dot for every seed.

    Parameters
    ----------
    panels : dict of str to dict of str to array of shape (n_seeds,)
        For each panel, the accuracies (0 … 1) of each layer, in one order; NaN where a training diverged: a cross at
        the left. The first layer is the right one, in the colour of highway blocks.
    control : array_like of shape (n_seeds,)
        Accuracies without blocks: a thin line at their mean.
    chance : float
        Accuracy of guessing: a thin dashed line.

    Returns
    -------
    matplotlib Figure
    """
    names = list(next(iter(panels.values())))
    rows, other = range(len(names)), OTHERS[3]
    size = {"figsize": (5.4, 0.26 * len(names) + 1.5), "sharey": True, "squeeze": False}
    figure, grid = new_figure(len(panels), 1, **size)
    for axes, (panel, accuracies) in zip(grid.flat, panels.items(), strict=True):
        none = axes.axvline(100 * np.mean(control), color=GREY, linewidth=1.2, label="no block, mean")
        guessing = axes.axvline(100 * chance, color=GREY, linewidth=1.2, linestyle=dashes("4 3"), label="guessing")
        for row, name in zip(rows, names, strict=True):
            look = other if row else BLOCKS["highway"]
            values = 100 * np.asarray(accuracies[name], float)
            axes.plot(values, np.full(len(values), row), "o", color=look.light, markersize=3.2, alpha=0.8)
            gone = np.isnan(values)
            if gone.any():
                axes.plot(np.full(gone.sum(), 3), np.full(gone.sum(), row), "x", color=look.light, markersize=5)
        axes.set(xlim=(0, 103), xticks=[0, 50, 100], yticks=rows, yticklabels=names)
        axes.text(0, 1.02, panel, transform=axes.transAxes, va="bottom")
    grid[0, 0].set_ylim(len(names) - 0.5, -0.5)
    grid[0, len(panels) // 2].set_xlabel("test accuracy, %")
    (diverged,) = axes.plot([], [], "x", color=other.light, markersize=5, label="diverged")
    figure.legend(handles=[none, guessing, diverged], loc="outside lower center", ncols=3)
    return figure
