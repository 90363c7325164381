"""Numbers in, a matplotlib Figure out. Nothing here calls plt.show(): the last line of a cell shows the figure once."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from highway_lessons.gradients import over_seeds
from highway_lessons.palette import BLOCKS, MAPS, lines

STYLE = Path(__file__).with_name("style.mplstyle")
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


# --- Chapter 1: one highway layer ---------------------------------------------------------------------------------


@in_style
def motorway(x, H, T):
    """Draw each unit as a road: the carry lane goes straight on, the transform lane past H, as wide as their gates.

    Parameters
    ----------
    x, H, T : array_like of shape (width,)
        Input, transform and transform gate (0 … 1) of one example; one road per unit.

    Returns
    -------
    matplotlib Figure
    """
    grey, orange, blue = (BLOCKS[kind].light for kind in ("no block", "plain", "highway"))
    figure, axes = new_figure(figsize=(4.8, 2.2 * len(x)))
    road, between = 0.8, 3.0  # width of a road, and from one road to the next
    along = np.linspace(2.2, 7.6, 200)  # where the transform lane is away from the road
    ramp = np.clip(np.minimum(along - 2.2, 7.6 - along) / 1.4, 0, 1)
    away = -1.2 * ramp**2 * (3 - 2 * ramp)
    for unit, (x_j, H_j, T_j) in enumerate(zip(x, H, T, strict=True)):
        top = -between * unit
        line, bottom, middle = top - road * (1 - T_j), top - road, top - road / 2
        axes.fill_between([0, 2.2], top, bottom, color=grey, linewidth=0)
        axes.fill_between([2.2, 7.6], top, line, color=grey, linewidth=0)
        axes.fill_between(along, line + away, bottom + away, color=orange, linewidth=0)
        axes.fill([7.6, 9.6, 10, 9.6, 7.6], [top, top, middle, bottom, bottom], color=blue, linewidth=0)
        axes.plot([0, 2.2], [line, line], color="white", linewidth=1.5, dashes=(5, 4))
        y_j = H_j * T_j + x_j * (1 - T_j)
        for place, name, value in ((0.15, "x", x_j), (7.75, "y", y_j)):
            text = f"{name} = {value:.2f}".replace("-", "−")
            axes.text(place, middle + 0.02, text, color="white", va="center", weight="bold")
        axes.text(4.9, top + 0.12, f"carry lane: 1 − T = {1 - T_j:.1f}", color=grey, ha="center", va="bottom")
        axes.text(4.9, bottom - 1.36, f"transform lane: T = {T_j:.1f}", color=orange, ha="center", va="top")
        axes.text(
            4.9, (line + bottom) / 2 - 1.2, f"H = {H_j:.2f}".replace("-", "−"), color=orange, ha="center", va="center",
            bbox={"facecolor": "white", "edgecolor": orange, "boxstyle": "round,pad=0.3", "linewidth": 1.5},
        )  # fmt: skip
    axes.set(xlim=(0, 10), ylim=(-between * len(x) + 0.4, 0.6))
    axes.set_axis_off()
    return figure


@in_style
def gate_map(T):
    """Draw the transform gates of a few examples (rows) and units (columns), number and colour.

    Parameters
    ----------
    T : array_like of shape (batch, width)
        Transform gates, 0 … 1.

    Returns
    -------
    matplotlib Figure
    """
    T = np.asarray(T)
    figure, axes = new_figure(figsize=(4.8, 3.4))
    colours = axes.imshow(T, vmin=0, vmax=1, aspect="auto")
    for (example, unit), gate in np.ndenumerate(T):
        ink = "white" if gate < 0.6 else "black"
        axes.text(unit, example, f"{gate:.2f}", color=ink, ha="center", va="center")
    batch, width = T.shape
    axes.set(xlabel="unit", ylabel="example", xticks=range(width), yticks=range(batch))
    axes.set(xticklabels=range(1, width + 1), yticklabels=range(1, batch + 1))
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    figure.colorbar(colours, label="transform gate T")
    return figure


@in_style
def product_and_sum(x, H, gates):
    """Draw what a gate does to the line y(H) when it multiplies (left) and when it is added (right).

    Parameters
    ----------
    x : float
        Input of the unit.
    H : array_like of shape (n,)
        Transforms to draw y for.
    gates : list of three floats
        Values of the gate, one line each.

    Returns
    -------
    matplotlib Figure
    """
    H = np.asarray(H)
    figure, (left, right) = new_figure(2, figsize=(5.2, 3.1), sharey=True)
    looks = lines([f"gate {gate:g}" for gate in gates])
    for (name, look), gate in zip(looks.items(), gates, strict=True):
        style = {"color": look.light, "linestyle": dashes(look.dash), "linewidth": look.width, "label": name}
        left.plot(H, H * gate + x * (1 - gate), **style)
        right.plot(H, H + x + gate, **style)
    left.set(xlabel="transform H", ylabel="output y")
    right.set(xlabel="transform H")
    left.legend(title="multiplied", loc="upper left")
    right.legend(title="added", loc="lower right")
    return figure


@in_style
def gate_square():
    """Draw all pairs of a transform gate T and a carry gate C: coupled gates live on one diagonal.

    Returns
    -------
    matplotlib Figure
    """
    figure, axes = new_figure(figsize=(4.6, 4.2))
    highway, plain, residual, no_block = (BLOCKS[kind] for kind in ("highway", "plain", "residual", "no block"))
    axes.plot([0, 1], [1, 0], color=highway.light)
    corners = [
        (0, 1, no_block, "no block: y = x", (-2, 10), "left"),
        (1, 0, plain, "plain: y = H", (-34, 7), "right"),
        (0.5, 0.5, highway, "half and half:\ny = ½ (x + H)", (12, 2), "left"),
        (1, 1, residual, "residual: y = x + H", (8, 10), "right"),
    ]
    for T, C, look, text, offset, side in corners:
        axes.plot(T, C, color=look.light, marker=look.marker, markersize=10, clip_on=False, zorder=3)
        axes.annotate(text, (T, C), offset, textcoords="offset points", color=look.light, ha=side)
    axes.text(0.2, 0.7, "highway: C = 1 − T", color=highway.light, ha="center", va="center", rotation=-45)
    axes.set(xlabel="transform gate T", ylabel="carry gate C", xlim=(0, 1), ylim=(0, 1.12), aspect="equal")
    return figure


# --- Chapter 3: measure the gradient ------------------------------------------------------------------------------


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


# --- Chapter 2: backpropagate through a gate ----------------------------------------------------------------------


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
    """Draw the terms of one block's Jacobian, and their sum, as maps with one colour scale.

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
        units = range(len(values))
        axes.set(xticks=units, yticks=units, xticklabels=[n + 1 for n in units], yticklabels=[n + 1 for n in units])
        axes.set(xlabel=f"{name}: output unit j", ylabel="input unit i")
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
    figure.colorbar(colours, ax=grid, shrink=0.7, label="part of ∂y_j / ∂x_i")
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


# --- Chapters 6 and 7: trained gates, and blocks switched off -----------------------------------------------------


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
