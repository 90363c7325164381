"""One highway layer."""

import numpy as np

from highway_lessons.figures.base import dashes, in_style, new_figure
from highway_lessons.palette import BLOCKS, lines


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
