"""Trained gates, and blocks switched off."""

import numpy as np

from highway_lessons.figures.base import dashes, draw_lines, in_style, new_figure
from highway_lessons.palette import BLOCKS, MAPS, lines


def count_blocks(*axes):
    """Number an axis, such as `axes.xaxis`, by whole blocks or units."""
    for axis in axes:
        axis.get_major_locator().set_params(integer=True)


@in_style
def gate_profile(series, start, last=1.0):
    """Draw the mean transform gate of each block, with the gate at the start of training as a thin line.

    Parameters
    ----------
    series : dict of str to array of shape (depth,)
        Mean gates, one line each.
    start : float
        Transform gate before training, σ(gate bias).
    last : float
        Upper end of the axis.

    Returns
    -------
    matplotlib Figure
    """
    figure, axes = new_figure(figsize=(5, 3.3))
    draw_lines(axes, series)
    axes.axhline(start, color=BLOCKS["no block"].light, linewidth=1.2, label=f"before training, {start:.3f}")
    axes.set(xlabel="block", ylabel="mean transform gate", ylim=(0, last))
    axes.legend(loc="upper right")
    count_blocks(axes.xaxis)
    return figure


@in_style
def trained_network(bias_change, mean_gates, gates, outputs):
    """Draw a trained network as four maps, blocks down and units across, each with a colour bar that names it.

    Parameters
    ----------
    bias_change : array_like of shape (depth, width)
        Gate biases after training less those before.
    mean_gates, gates : array_like of shape (depth, width)
        Transform gates: means over many examples, and those of one example.
    outputs : array_like of shape (depth, width)
        What leaves each block for the same example.

    Returns
    -------
    matplotlib Figure
    """
    signed = np.min(outputs) < 0
    panels = [
        ("change of the gate bias", bias_change, "signed"),
        ("mean transform gate", mean_gates, "gate"),
        ("gate for one example", gates, "gate"),
        ("block output for it", outputs, "signed" if signed else "activation"),
    ]
    figure, grid = new_figure(2, 2, figsize=(5.2, 6.6), sharex=True, sharey=True)
    for axes, (name, values, kind) in zip(grid.flat, panels, strict=True):
        depth, width = np.shape(values)
        largest = 1.0 if kind == "gate" else np.abs(values).max() or 1.0
        colours = axes.imshow(
            values, cmap=MAPS[kind], vmin=-largest if kind == "signed" else 0, vmax=largest, aspect="auto",
            interpolation="nearest", extent=(0.5, width + 0.5, depth + 0.5, 0.5),
        )  # fmt: skip
        axes.grid(False)
        axes.spines[:].set_visible(False)
        count_blocks(axes.xaxis, axes.yaxis)
        figure.colorbar(colours, ax=axes, location="top", label=name, aspect=18)
    for axes in grid[:, 0]:
        axes.set(ylabel="block")
    for axes in grid[-1]:
        axes.set(xlabel="unit")
    return figure


@in_style
def gates_over_plane(pictures, reach=2.0, columns=4):
    """Draw gates as pictures over the plane of the data, one for each block, in reading order.

    Parameters
    ----------
    pictures : array_like of shape (depth, n, n)
        From `highway_lessons.gates.plane_gates`, one unit or the mean over units; row 0 is the lowest.
    reach : float
        Largest coordinate, as there.
    columns : int
        Pictures in a row.

    Returns
    -------
    matplotlib Figure
    """
    rows = -(-len(pictures) // columns)
    figure, grid = new_figure(columns, rows, figsize=(5.2, 5.2 / columns * rows * 1.15 + 0.6), squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    for number, (axes, picture) in enumerate(zip(grid.flat, pictures, strict=False), 1):
        extent = (-reach, reach, -reach, reach)
        colours = axes.imshow(picture, cmap=MAPS["gate"], vmin=0, vmax=1, origin="lower", extent=extent)
        axes.text(0.5, -0.04, f"block {number}", transform=axes.transAxes, ha="center", va="top")
    figure.colorbar(colours, ax=grid, location="bottom", shrink=0.7, aspect=30, label="transform gate T")
    return figure


@in_style
def class_gates(differences, columns=5):
    """Draw how the mean gates of each class differ from the mean over all examples, blocks down and units across.

    Parameters
    ----------
    differences : array_like of shape (n_classes, depth, width)
        Class mean minus overall mean; colours are centred at 0.
    columns : int
        Maps in a row.

    Returns
    -------
    matplotlib Figure
    """
    n, depth, width = np.shape(differences)
    rows = -(-n // columns)
    figure, grid = new_figure(columns, rows, figsize=(5.2, 1.9 * rows + 0.9), squeeze=False, sharex=True, sharey=True)
    largest = np.abs(differences).max() or 1.0
    for axes in grid.flat[n:]:
        axes.set_axis_off()
    for number, (axes, values) in enumerate(zip(grid.flat, differences, strict=False)):
        colours = axes.imshow(
            values, cmap=MAPS["signed"], vmin=-largest, vmax=largest, aspect="auto", interpolation="nearest",
            extent=(0.5, width + 0.5, depth + 0.5, 0.5),
        )  # fmt: skip
        axes.grid(False)
        axes.text(0.5, 1.03, f"class {number}", transform=axes.transAxes, ha="center", va="bottom")
        count_blocks(axes.xaxis, axes.yaxis)
    for axes in grid[:, 0]:
        axes.set(ylabel="block")
    grid[-1, (columns - 1) // 2].set(xlabel="unit")
    label = "mean gate of the class − mean gate of all"
    bar = figure.colorbar(colours, ax=grid, location="bottom", shrink=0.7, aspect=30, label=label)
    bar.locator.set_params(nbins=5)
    return figure


@in_style
def stripe_reach(series, carry):
    """Draw how far the values of units reach through a stack: correlations of block outputs against their distance.

    Parameters
    ----------
    series : dict of str to array of shape (n,) or (n_seeds, n)
        Correlations over units, from distance 0 on: means over seeds, and their range as a band.
    carry : float
        1 − T before training; (1 − T)^k is a thin black line.

    Returns
    -------
    matplotlib Figure
    """
    figure, axes = new_figure(figsize=(5, 3.9))
    rows = {name: np.atleast_2d(values) for name, values in series.items()}
    distances = np.arange(next(iter(rows.values())).shape[1])
    for name, look in lines(list(rows)).items():
        if len(rows[name]) > 1:
            low, high = rows[name].min(axis=0), rows[name].max(axis=0)
            axes.fill_between(distances, low, high, color=look.light, alpha=0.18, linewidth=0)
    draw_lines(axes, {name: values.mean(axis=0) for name, values in rows.items()}, distances)
    axes.plot(distances, carry**distances, color="black", linewidth=1, label=f"carry, {carry:.3f}^k")
    axes.set(xlabel="blocks apart, k", ylabel="correlation over units", ylim=(-0.05, 1.02), xlim=(0, distances[-1]))
    axes.get_legend().remove()
    figure.legend(handles=axes.get_legend_handles_labels()[0], loc="outside lower center", ncols=2)
    count_blocks(axes.xaxis)
    return figure


@in_style
def accuracy_dots(panels, chance):
    """Draw accuracies under several conditions: a dot for each seed, a short line at their mean.

    Parameters
    ----------
    panels : dict of str to dict of str to array of shape (n_seeds,)
        For each panel the accuracies, 0 … 1, by condition, the first on top. The first panel has all the conditions; a
        panel whose name begins with a kind of block has its colour, others that of highway blocks.
    chance : dict of str to float
        Accuracy of guessing, for each panel.

    Returns
    -------
    matplotlib Figure
    """
    conditions = list(next(iter(panels.values())))
    height = (0.23 * len(conditions) + 0.4) * len(panels) + 0.7
    figure, column = new_figure(rows=len(panels), figsize=(5.2, height), sharex=True, sharey=True, squeeze=False)
    grey = BLOCKS["no block"].light
    for axes, (name, series) in zip(column.flat, panels.items(), strict=True):
        colour = BLOCKS[next((kind for kind in BLOCKS if name.startswith(kind)), "highway")].light
        for condition, accuracies in series.items():
            y, values = conditions.index(condition), 100 * np.asarray(accuracies)
            axes.plot(values, np.full(len(values), y), "o", color=colour, alpha=0.5, markersize=6, markeredgewidth=0)
            axes.plot([values.mean()] * 2, [y - 0.32, y + 0.32], color="black", linewidth=1.6)
        axes.axvline(100 * chance[name], color=grey, linewidth=1.2, linestyle=dashes("4 3"))
        axes.text(0, 1.02, name, transform=axes.transAxes, va="bottom")
        axes.set_yticks(range(len(conditions)), conditions)
        axes.set(xlim=(-2, 102), ylim=(len(conditions) - 0.4, -0.6))
    axes.set(xlabel="accuracy, % (dashed: guessing)")
    return figure


@in_style
def lesion_bars(panels, chance=None):
    """Draw the accuracy that is left with each block switched off alone, beside that of the whole network.

    Parameters
    ----------
    panels : dict of str to pair of arrays
        For each panel, accuracies (0 … 1) with one block off, of shape (n_seeds, depth), and of the whole networks,
        of shape (n_seeds,). Bars are means over seeds, thin lines their range. The name begins with the kind of block.
    chance : dict of str to float, optional
        Accuracy of guessing, for each panel.

    Returns
    -------
    matplotlib Figure
    """
    figure, column = new_figure(rows=len(panels), figsize=(5, 2.3 * len(panels) + 0.5), squeeze=False)
    grey = BLOCKS["no block"].light
    for axes, (name, (lesions, whole)) in zip(column.flat, panels.items(), strict=True):
        lesions, colour = 100 * np.atleast_2d(lesions), lines([name])[name].light
        x, mean = np.arange(1, lesions.shape[1] + 1), lesions.mean(axis=0)
        axes.bar(x, mean, 0.75, color=colour, alpha=0.75, label="one block off")
        if len(lesions) > 1:
            axes.vlines(x, lesions.min(axis=0), lesions.max(axis=0), color="black", linewidth=0.8)
        axes.axhline(100 * np.mean(whole), color="black", linewidth=1.5, label="whole network")
        if chance:
            axes.axhline(100 * chance[name], color=grey, linewidth=1.2, linestyle=dashes("4 3"), label="guessing")
        axes.text(0, 1.03, name, transform=axes.transAxes, va="bottom")
        axes.set(ylabel="accuracy, %", ylim=(0, 102), xlim=(0.3, len(x) + 0.7))
        axes.grid(False, axis="x")
        count_blocks(axes.xaxis)
    axes.set(xlabel="block switched off")
    figure.legend(handles=axes.get_legend_handles_labels()[0], loc="outside lower center", ncols=3)
    return figure


@in_style
def accuracy_lines(series, xlabel, first=0, control=None, chance=None):
    """Draw accuracies against a count of blocks: means over draws or seeds, and their range as a band.

    Parameters
    ----------
    series : dict of str to array of shape (n,) or (n_draws, n)
        Accuracies, 0 … 1.
    xlabel : str
        Such as "blocks switched off", or "blocks passed before the answer is read".
    first : int
        x of the first entry.
    control : float, optional
        Accuracy of a network trained without any block.
    chance : float, optional
        Accuracy of guessing.

    Returns
    -------
    matplotlib Figure
    """
    figure, axes = new_figure(figsize=(5, 3.9))
    rows = {name: 100 * np.atleast_2d(values) for name, values in series.items()}
    x = np.arange(first, first + next(iter(rows.values())).shape[1])
    for name, look in lines(list(rows)).items():
        if len(rows[name]) > 1:
            low, high = rows[name].min(axis=0), rows[name].max(axis=0)
            axes.fill_between(x, low, high, color=look.light, alpha=0.18, linewidth=0)
    draw_lines(axes, {name: values.mean(axis=0) for name, values in rows.items()}, x)
    grey = BLOCKS["no block"].light
    if control is not None:
        axes.axhline(100 * control, color=grey, linewidth=1.2, label="no block, trained so")
    if chance is not None:
        axes.axhline(100 * chance, color=grey, linewidth=1.2, linestyle=dashes("4 3"), label="guessing")
    axes.set(xlabel=xlabel, ylabel="accuracy, %", ylim=(0, 102), xlim=(x[0], x[-1]))
    count_blocks(axes.xaxis)
    axes.get_legend().remove()
    figure.legend(handles=axes.get_legend_handles_labels()[0], loc="outside lower center", ncols=2)
    return figure
