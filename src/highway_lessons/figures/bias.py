"""What the gate bias and Adam's epsilon do to the accuracy, every seed counted."""

import numpy as np

from highway_lessons.figures.base import dashes, in_style, new_figure
from highway_lessons.gradients import over_seeds
from highway_lessons.palette import BLOCKS, lines

GREY = BLOCKS["no block"].light


@in_style
def accuracy_against(panels, xlabel, control=None, chance=0.1):
    """Draw the test accuracy against a number on a logarithmic axis: means over seeds, and their range as a bar.

    A training that diverged counts as guessing, and a cross at the foot of the panel says that there is one.

    Parameters
    ----------
    panels : dict of str to dict of str to pair
        For each panel and series, x of shape (n,), and accuracies (0 … 1, NaN where a training diverged) of shape
        (n, n_seeds).
    xlabel : str
    control : array_like of shape (n_seeds,), optional
        Accuracies of a network without blocks: a thin line at their mean, shaded over their range.
    chance : float
        Accuracy of guessing: a thin dashed line.

    Returns
    -------
    matplotlib Figure
    """
    size = {"figsize": (5, 2.2 * len(panels) + 1.1), "sharex": True, "sharey": True, "squeeze": False}
    figure, grid = new_figure(1, len(panels), **size)
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    looks, handles = lines(names), {}
    for axes, (panel, series) in zip(grid.flat, panels.items(), strict=True):
        if control is not None:
            axes.axhspan(100 * np.min(control), 100 * np.max(control), color=GREY, alpha=0.2, linewidth=0)
            handles["no block"] = axes.axhline(100 * np.mean(control), color=GREY, linewidth=1.2, label="no block")
        handles["guessing"] = axes.axhline(
            100 * chance, color=GREY, linewidth=1.2, linestyle=dashes("4 3"), label="guessing"
        )
        for place, (name, (x, accuracy)) in enumerate(series.items()):
            look, x, accuracy = looks[name], np.asarray(x, float), np.asarray(accuracy, float)
            order, diverged = np.argsort(x), np.isnan(accuracy).any(axis=1)
            counted = 100 * np.where(np.isnan(accuracy), chance, accuracy)
            axes.vlines(x, counted.min(axis=1), counted.max(axis=1), color=look.light, linewidth=1)
            (handles[name],) = axes.plot(
                x[order], counted.mean(axis=1)[order], color=look.light, marker=look.marker, markersize=4.5,
                linestyle=dashes(look.dash), linewidth=0.7 * look.width, label=name,
            )  # fmt: skip
            if diverged.any():
                axes.plot(x[diverged], np.full(diverged.sum(), 2 + 4.5 * place), "x", color=look.light, markersize=5)
                handles["diverged"] = axes.plot([], [], "x", color="black", markersize=5, label="some diverged")[0]
        axes.set_xscale("log")
        axes.set_xticks([], minor=True)
        axes.set_ylim(0, 103)
        if panel:
            axes.text(0, 1.03, panel, transform=axes.transAxes, va="bottom")
        axes.set_ylabel("test accuracy, %")
    axes.set_xlabel(xlabel)
    order = [name for name in (*names, "no block", "guessing", "diverged") if name in handles]
    figure.legend(handles=[handles[name] for name in order], loc="outside lower center", ncols=3)
    return figure


@in_style
def sizes_against_epsilon(sizes, epsilons):
    """Draw the size of gradients block by block over level lines, one for each epsilon of Adam.

    Parameters
    ----------
    sizes : dict of str to array of shape (n_seeds, depth)
        For each network, root mean squares over the entries of a block's weight gradient.
    epsilons : sequence of float

    Returns
    -------
    matplotlib Figure
    """
    figure, axes = new_figure(figsize=(5, 4.3))
    for epsilon in epsilons:
        axes.axhline(epsilon, color="black", linewidth=0.8)
        power = f"{np.log10(epsilon):.0f}".replace("-", "−")
        axes.annotate(
            f"ε = 10$^{{{power}}}$", (1, epsilon), (4, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", va="center",
        )  # fmt: skip
    for name, look in lines(list(sizes)).items():
        low, mid, high = over_seeds(sizes[name])
        x = np.arange(1, len(mid) + 1)
        axes.fill_between(x, low, high, color=look.light, alpha=0.18, linewidth=0)
        axes.plot(
            x, mid, color=look.light, linestyle=dashes(look.dash), linewidth=look.width, marker=look.marker,
            markevery=8, markersize=4.5, label=name,
        )  # fmt: skip
    axes.set(xlabel="block", ylabel="weight gradient, root mean square", yscale="log")
    figure.legend(handles=axes.get_legend_handles_labels()[0], loc="outside lower center", ncols=2)
    return figure
