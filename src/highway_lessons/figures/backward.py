"""Backpropagation through a gate."""

import numpy as np

from highway_lessons.figures.base import dashes, draw_lines, in_style, mark_cells, new_figure
from highway_lessons.palette import BLOCKS, MAPS, lines


@in_style
def gate_factors(gate_bias, T):
    """Draw the factor in front of each of the three terms of the gradient, against the gate bias.

    Parameters
    ----------
    gate_bias, T : array_like of shape (n,)
        The biases, and the transform gates they give at x = 0.

    Returns
    -------
    matplotlib Figure
    """
    figure, axes = new_figure(figsize=(5, 3.3))
    factors = {"transform: T": T, "carry: 1 − T": 1 - T, "gate: T (1 − T)": T * (1 - T)}
    draw_lines(axes, factors, gate_bias)
    axes.set(xlabel="gate bias", ylabel="factor", xlim=(min(gate_bias), max(gate_bias)), ylim=(0, 1.02))
    axes.legend(loc="center right")
    return figure


@in_style
def jacobian_terms(terms):
    """Draw the terms of one block's Jacobian and their sum as maps with one colour scale; a dot marks an entry below 0.

    Parameters
    ----------
    terms : dict of str to array of shape (width, width)
        From `highway_lessons.gradients.highway_jacobian_terms`, in row form: entry [i, j] is a part of ∂y_j / ∂x_i.

    Returns
    -------
    matplotlib Figure
    """
    maps = terms | {"all three": sum(terms.values())}
    largest = max(abs(values).max() for values in maps.values())
    figure, grid = new_figure(2, rows=2, figsize=(5, 4.7))
    for axes, (name, values) in zip(grid.flat, maps.items(), strict=True):
        colours = axes.imshow(values, cmap=MAPS["signed"], vmin=-largest, vmax=largest)
        mark_cells(colours, values < 0)
        units = range(len(values))
        axes.set(xticks=units, yticks=units, xticklabels=[n + 1 for n in units], yticklabels=[n + 1 for n in units])
        axes.set(xlabel=f"{name}: output unit j", ylabel="input unit i")
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
    figure.colorbar(colours, ax=grid, shrink=0.7, label="part of ∂y_j / ∂x_i (dot: below 0)")
    return figure


@in_style
def error_against_step(steps, errors):
    """Draw the error of a gradient check against its step, both logarithmic, with the two slopes that theory expects.

    Parameters
    ----------
    steps : array_like of shape (n,)
        The steps of the central differences, decreasing or increasing.
    errors : dict of str to array of shape (n,)
        The largest error at each step, one line each.

    Returns
    -------
    matplotlib Figure
    """
    steps = np.asarray(steps)
    figure, axes = new_figure(figsize=(5, 4))
    draw_lines(axes, errors, steps)
    for power, anchor in ((2, steps.max()), (-1, steps.min())):
        errors_there = next(iter(errors.values()))[np.argmax(steps == anchor)]
        guide = 4 * errors_there * (steps / anchor) ** float(power)  # a little above the line, so that both show
        keep = guide > 1e-10
        axes.plot(steps[keep], guide[keep], color=BLOCKS["no block"].light, linewidth=0.9, zorder=1)
        where = np.argsort(abs(np.log(steps / anchor)))[2]
        label = "∝ step²" if power == 2 else "∝ 1 / step"
        side = "right" if power == 2 else "left"
        axes.annotate(label, (steps[where], guide[where]), (0, 6), textcoords="offset points", ha=side, fontsize=10)
    axes.set(xlabel="step", ylabel="largest error", xscale="log", yscale="log", ylim=(1e-12, 1))
    axes.get_legend().remove()
    figure.legend(loc="outside upper left", ncols=3)
    return figure


@in_style
def term_changes(sizes, moments):
    """Draw how large the three terms are at two moments, in two measures: one panel per measure, one line per seed.

    Parameters
    ----------
    sizes : dict of str to dict of str to array of shape (n_seeds, 2)
        For each measure ("Frobenius norm", …) and each term, its size at the first and at the second moment.
    moments : pair of str
        What to call the two moments on the axis.

    Returns
    -------
    matplotlib Figure
    """
    figure, panels = new_figure(len(sizes), figsize=(5, 3.7), sharey=True)
    for axes, (measure, terms) in zip(panels, sizes.items(), strict=True):
        for name, look in lines(list(terms)).items():
            for rows in terms[name]:
                axes.plot(
                    [0, 1], rows, color=look.light, linestyle=dashes(look.dash), linewidth=1.2, marker=look.marker,
                    markersize=6, label=name,
                )  # fmt: skip
                name = "_again"  # one entry in the legend, not one per seed
        axes.set(ylabel=measure, yscale="log", xlim=(-0.35, 1.35), ylim=(0.01, 15), xticks=[0, 1], xticklabels=moments)
        axes.yaxis.set_tick_params(labelleft=True)
    panels[0].legend(loc="lower right")
    return figure
