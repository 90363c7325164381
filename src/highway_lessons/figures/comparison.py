"""Comparisons: every trial as a dot, what the best of a few is worth, and paired differences with their intervals."""

import numpy as np
from matplotlib.ticker import LogLocator

from highway_lessons.comparison import expected_best
from highway_lessons.figures.base import dashes, in_style, new_figure
from highway_lessons.figures.training import panel_names
from highway_lessons.palette import BLOCKS, lines

FAILED = 3  # a loss above so many times that of guessing is counted, not drawn: some are beyond 1e20


@in_style
def trial_dots(panels, xlabel, chance):
    """Draw every loss as a dot on a logarithmic axis, a row for each contestant, with a bar at the median.

    Parameters
    ----------
    panels : dict of str to dict of str to array of shape (n_trials,)
        For each panel the losses by contestant, positive; NaN where a training diverged. That trial, and one that ends
        above `FAILED` times the loss of guessing, is counted in words at the right, and in the median as the worst.
    xlabel : str
    chance : dict of str to float
        Loss of guessing, for each panel: a thin dashed line.

    Returns
    -------
    matplotlib Figure
    """
    names = list(next(iter(panels.values())))
    height = (0.34 * len(names) + 0.5) * len(panels) + 0.8
    figure, column = new_figure(rows=len(panels), figsize=(5.2, height), squeeze=False, sharex=True)
    found = np.concatenate([np.asarray(values, float) for series in panels.values() for values in series.values()])
    low, high = np.nanmin(found) / 1.6, 40 * FAILED * max(chance.values())  # room for the words
    looks = lines(names)
    for axes, (panel, series) in zip(column.flat, panels.items(), strict=True):
        axes.axvline(chance[panel], color=BLOCKS["no block"].light, linewidth=1.2, linestyle=dashes("4 3"))
        for row, name in enumerate(names):
            values, look = np.asarray(series[name], float), looks[name]
            failed = ~(values <= FAILED * chance[panel])
            axes.plot(
                values[~failed], np.full((~failed).sum(), row), look.marker, color=look.light, alpha=0.5,
                markersize=5.5, markeredgewidth=1 if look.marker == "x" else 0,
            )  # fmt: skip
            if failed.any():
                axes.text(high / 1.2, row, f"{failed.sum()} failed", ha="right", va="center", fontsize="small")
            median = np.median(np.where(failed, np.inf, values))
            axes.plot([min(median, high)] * 2, [row - 0.36, row + 0.36], color="black", linewidth=1.8)
        axes.set_yticks(range(len(names)), names)
        axes.set(xscale="log", xlim=(low, high), ylim=(len(names) - 0.4, -0.6))
        axes.xaxis.set_major_locator(LogLocator(numticks=8))
        axes.set_xticks([], minor=True)
    axes.set(xlabel=xlabel)
    panel_names(column, panels)
    return figure


@in_style
def best_of_trials(panels, ylabel):
    """Draw the expected best of k random trials against k, as `expected_best` gives it for losses.

    Parameters
    ----------
    panels : dict of str to dict of str to array of shape (n_trials,)
        For each panel the losses by contestant, finite.
    ylabel : str

    Returns
    -------
    matplotlib Figure
    """
    figure, column = new_figure(rows=len(panels), figsize=(5, 2.3 * len(panels) + 0.7), squeeze=False, sharex=True)
    looks = lines(list(next(iter(panels.values()))))
    for axes, series in zip(column.flat, panels.values(), strict=True):
        for name, values in series.items():
            k, look = np.arange(1, len(values) + 1), looks[name]
            axes.plot(
                k, [expected_best(values, int(i)) for i in k], color=look.light, linestyle=dashes(look.dash),
                linewidth=look.width, marker=look.marker, markevery=3, markersize=4.5, label=name,
            )  # fmt: skip
        axes.set(ylabel=ylabel, yscale="log")
    axes.set(xlabel="trials")
    axes.set_xticks([1, 5, 10, 15, 20])
    panel_names(column, panels)
    figure.legend(handles=column[0, 0].get_legend_handles_labels()[0], loc="outside lower center", ncols=2)
    return figure


@in_style
def paired_differences(panels, xlabel, nothing=None):
    """Draw paired differences: a dot for each seed, and their mean with its interval.

    Parameters
    ----------
    panels : dict of str to dict of str to (array of shape (n_seeds,), Difference)
        For each panel and contestant the differences from the reference, and what `against` says of them.
    xlabel : str
    nothing : float, optional
        Differences up to this size are called none: a grey band around 0.

    Returns
    -------
    matplotlib Figure
    """
    names = list(next(iter(panels.values())))
    height = (0.42 * len(names) + 0.5) * len(panels) + 0.8
    figure, column = new_figure(rows=len(panels), figsize=(5.2, height), squeeze=False)
    looks = lines(names)
    for axes, series in zip(column.flat, panels.values(), strict=True):
        if nothing is not None:
            axes.axvspan(-nothing, nothing, color=BLOCKS["no block"].light, alpha=0.2, linewidth=0)
        axes.axvline(0, color="black", linewidth=0.8)
        for row, (name, (differences, found)) in enumerate(series.items()):
            look = looks[name]
            axes.plot(
                differences, np.full(len(differences), row - 0.14), look.marker, color=look.light, alpha=0.55,
                markersize=5.5, markeredgewidth=1 if look.marker == "x" else 0,
            )  # fmt: skip
            axes.plot([found.low, found.high], [row + 0.2] * 2, color="black", linewidth=1.8)
            axes.plot([found.mean], [row + 0.2], "|", color="black", markersize=11, markeredgewidth=1.8)
        axes.set_yticks(range(len(names)), names)
        axes.set(ylim=(len(names) - 0.4, -0.6))
    axes.set(xlabel=xlabel)
    panel_names(column, panels)
    return figure


@in_style
def gating_rows(panels, chance):
    """Draw test errors against the gate bias: gated rows as lines over the biases, constant ones as level lines.

    Parameters
    ----------
    panels : dict of str to dict of str to (sequence of float or None, array of shape (n_biases, n_seeds))
        For each panel and row its gate biases (None: it has none) and the errors in 0 … 1; NaN counts as guessing.
    chance : dict of str to float
        Error of guessing, for each panel.

    Returns
    -------
    matplotlib Figure
    """
    figure, column = new_figure(rows=len(panels), figsize=(5.2, 2.8 * len(panels) + 0.8), squeeze=False, sharex=True)
    looks = lines(list(next(iter(panels.values()))))
    for axes, (panel, series) in zip(column.flat, panels.items(), strict=True):
        for name, (biases, errors) in series.items():
            look, errors = looks[name], 100 * np.nan_to_num(np.atleast_2d(errors), nan=chance[panel])
            options = {"color": look.light, "linestyle": dashes(look.dash), "linewidth": look.width, "label": name}
            if biases is None:
                axes.axhline(errors.mean(), **options)
                continue
            axes.vlines(biases, errors.min(axis=1), errors.max(axis=1), color=look.light, linewidth=1)
            axes.plot(biases, errors.mean(axis=1), marker=look.marker, markersize=5, **options)
        axes.axhline(100 * chance[panel], color="black", linewidth=0.8, linestyle=dashes("4 3"))
        axes.set(ylabel="test error, %", yscale="log")
        axes.set_yticks([2, 5, 10, 20, 50, 90], ["2", "5", "10", "20", "50", "90"])
        axes.set_yticks([], minor=True)
    axes.set(xlabel="gate bias (dashed: guessing)")
    panel_names(column, panels)
    figure.legend(handles=column[0, 0].get_legend_handles_labels()[0], loc="outside lower center", ncols=2)
    return figure
