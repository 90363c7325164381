"""Training: learning curves, results against depth with every seed and every control, and the spirals."""

import numpy as np

from highway_lessons.figures.base import dashes, in_style, mark_cells, new_figure
from highway_lessons.palette import BLOCKS, MAPS, lines

ARMS = ("#B35806", "#542788")  # the two ends of the signed map


def panel_names(column, panels):
    """Write each panel's name above it, at the left."""
    for axes, name in zip(column.flat, panels, strict=True):
        axes.text(0, 1.03, name, transform=axes.transAxes, va="bottom")


@in_style
def learning_curves(panels, ylabel="training loss", chance=None, ylim=None, log=True):
    """Draw a measurement after each epoch, one thin line per seed, and their mean as a thick one.

    Parameters
    ----------
    panels : dict of str to dict of str to array of shape (n_seeds, epochs)
        For each panel, the rows of each series. The mean is geometric where the axis is logarithmic.
    ylabel : str
    chance : float, optional
        What guessing gives: a thin dashed line.
    ylim : pair of float, optional
    log : bool

    Returns
    -------
    matplotlib Figure
    """
    figure, column = new_figure(rows=len(panels), figsize=(5, 2 * len(panels) + 0.8), sharex=True, squeeze=False)
    looks = lines(list(dict.fromkeys(name for series in panels.values() for name in series)))
    for axes, series in zip(column.flat, panels.values(), strict=True):
        if chance is not None:
            axes.axhline(
                chance, color=BLOCKS["no block"].light, linewidth=1.2, linestyle=dashes("4 3"), label="guessing"
            )
        for name, rows in series.items():
            look, epochs = looks[name], np.arange(1, np.shape(rows)[1] + 1)
            axes.plot(
                epochs, np.transpose(rows), color=look.light, linestyle=dashes(look.dash), linewidth=0.7, alpha=0.5
            )
            axes.plot(
                epochs, mean(rows, log), color=look.light, linestyle=dashes(look.dash), linewidth=look.width,
                marker=look.marker, markevery=5, markersize=4.5, label=name,
            )  # fmt: skip
        axes.set(ylabel=ylabel, yscale="log" if log else "linear", ylim=ylim)
    axes.set(xlabel="epoch")
    panel_names(column, panels)
    figure.legend(handles=column[0, 0].get_legend_handles_labels()[0], loc="outside lower center", ncols=3)
    return figure


def mean(rows, log):
    """Mean over the seeds, the first axis; the geometric one for a logarithmic axis."""
    rows = np.asarray(rows)
    return np.exp(np.log(rows).mean(axis=0)) if log else rows.mean(axis=0)


@in_style
def against_depth(panels, ylabel, controls=None, chance=None, log=False, ylim=None):
    """Draw results against depth: a dot for every seed, a line through their means, and the controls as level lines.

    Depth runs along a logarithmic axis, so a network without blocks has no place on it: it is a control.

    Parameters
    ----------
    panels : dict of str to dict of str to pair
        For each panel and series, the depths, of shape (n,), and the results, of shape (n, n_seeds). The mean is
        geometric where the results' axis is logarithmic.
    ylabel : str
    controls : dict of str to dict of str to array of shape (n_seeds,), optional
        For each panel, results that do not depend on depth: a thin line at their mean, shaded over their range.
    chance : float or dict of str to float, optional
        What guessing gives, for all panels or for each: a thin dashed line.
    log : bool
        Logarithmic results.
    ylim : pair of float or dict of str to pair of float, optional
        For all panels or for each; what lies outside is not drawn.

    Returns
    -------
    matplotlib Figure
    """
    figure, column = new_figure(rows=len(panels), figsize=(5, 2.7 * len(panels) + 1.1), sharex=True, squeeze=False)
    names = dict.fromkeys(name for series in panels.values() for name in series)
    held = dict.fromkeys(name for control in (controls or {}).values() for name in control)
    looks, handles = lines([*names, *held]), {}
    shift = dict(zip(names, np.linspace(-0.06, 0.06, len(names)), strict=True))  # so that dots do not hide each other
    ticks = sorted({int(depth) for series in panels.values() for depths, _ in series.values() for depth in depths})
    for axes, (panel, series) in zip(column.flat, panels.items(), strict=True):
        for name, values in (controls or {}).get(panel, {}).items():
            values, look = np.reshape(values, (-1, 1)), looks[name]
            axes.axhspan(values.min(), values.max(), color=look.light, alpha=0.18, linewidth=0)
            handles[name] = axes.axhline(
                mean(values, log)[0], color=look.light, linewidth=1.4, linestyle=dashes(look.dash), label=name
            )
        for name, (depths, results) in series.items():
            look, x, y = looks[name], np.asarray(depths) * (1 + shift[name]), np.transpose(results)
            axes.plot(x, y.T, look.marker, color=look.light, markersize=3.5, markeredgewidth=0.6, alpha=0.6)
            (handles[name],) = axes.plot(
                x, mean(y, log), color=look.light, linestyle=dashes(look.dash), linewidth=look.width,
                marker=look.marker, markersize=3.5, label=name,
            )  # fmt: skip
        guess = chance.get(panel) if isinstance(chance, dict) else chance
        if guess is not None:
            handles["guessing"] = axes.axhline(
                guess, color="black", linewidth=0.9, linestyle=dashes("2 3"), label="guessing"
            )
        axes.set(ylabel=ylabel, yscale="log" if log else "linear", ylim=ylim[panel] if isinstance(ylim, dict) else ylim)
    axes.set(xlabel="blocks", xscale="log", xlim=(0.87 * ticks[0], 1.15 * ticks[-1]))
    axes.set_xticks(ticks, [str(tick) if tick != 75 else "" for tick in ticks])
    axes.set_xticks([], minor=True)
    panel_names(column, panels)
    order = [name for name in (*names, *held, "guessing") if name in handles]
    figure.legend(handles=[handles[name] for name in order], loc="outside lower center", ncols=2, handlelength=3)
    return figure


@in_style
def spiral_arms(tasks, points=1500):
    """Draw the first training points of two-armed spirals, side by side.

    Parameters
    ----------
    tasks : dict of str to Data
        For each drawing its name and the data, from `highway_lessons.datasets.spirals`.
    points : int
        How many to draw.

    Returns
    -------
    matplotlib Figure
    """
    figure, row = new_figure(len(tasks), figsize=(2.6 * len(tasks), 3.1), squeeze=False)
    for axes, data in zip(row.flat, tasks.values(), strict=True):
        x, y = data.x_train[:points], data.y_train[:points]
        for arm, marker in ((0, "o"), (1, "x")):
            axes.plot(
                *x[y == arm].T, marker, color=ARMS[arm], markersize=2.2, markeredgewidth=0.7, label=f"arm {arm}"
            )  # fmt: skip
        axes.set(aspect="equal", xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), xticks=[-2, 0, 2], yticks=[-2, 0, 2])
        axes.grid(False)
    panel_names(row, tasks)
    figure.legend(
        handles=row[0, 0].get_legend_handles_labels()[0], loc="outside lower center", ncols=2, markerscale=2.5
    )
    return figure


@in_style
def answers_over_plane(answers, reach=2.0, columns=2):
    """Draw what networks answer at each point of the plane: the probability that they give to arm 1.

    Dots cover the points where it is above one half, so that the two sides differ without their colours.

    Parameters
    ----------
    answers : dict of str to array of shape (n, n)
        For each drawing, probabilities; row 0 is the lowest.
    reach : float
        Largest coordinate.
    columns : int
        Drawings in a row.

    Returns
    -------
    matplotlib Figure
    """
    columns = min(columns, len(answers))
    rows = -(-len(answers) // columns)
    figure, grid = new_figure(columns, rows, figsize=(2.5 * columns, 2.7 * rows + 0.7), squeeze=False)
    for axes in grid.flat[len(answers) :]:
        axes.set_axis_off()
    for axes, (name, picture) in zip(grid.flat, answers.items(), strict=False):
        colours = axes.imshow(
            picture, cmap=MAPS["signed"], vmin=0, vmax=1, origin="lower", extent=(-reach, reach, -reach, reach)
        )
        mark_cells(colours, picture > 0.5, every=max(1, len(picture) // 20))
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.set(xticks=[-2, 0, 2], yticks=[-2, 0, 2])
        axes.text(0, 1.03, name, transform=axes.transAxes, va="bottom")
    figure.colorbar(
        colours, ax=grid, location="bottom", shrink=0.8, aspect=30, label="probability of arm 1 (dots: above one half)"
    )
    return figure
