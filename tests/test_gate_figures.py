"""The figures of trained gates and lesions draw the numbers that they are given."""

import numpy as np
import pytest

from highway_lessons import figures

RNG = np.random.default_rng(0)


def test_gate_profile():
    axes = figures.gate_profile({"highway": [0.2, 0.1, 0.3]}, 0.119, 0.5).axes[0]
    line, start = axes.lines
    assert [list(line.get_xdata()), list(line.get_ydata())] == [[1, 2, 3], [0.2, 0.1, 0.3]]
    assert set(start.get_ydata()) == {0.119}
    assert "before training, 0.119" in [text.get_text() for text in axes.get_legend().get_texts()]
    assert axes.get_ylim() == (0, 0.5)


@pytest.mark.parametrize("lowest", [0.0, -0.5])
def test_trained_network(lowest):
    change, means, gates, outputs = (
        RNG.normal(size=(6, 4)),
        *RNG.uniform(size=(2, 6, 4)),
        RNG.uniform(lowest, 3, (6, 4)),
    )
    outputs[0, 0], outputs[5, 3] = lowest, 3
    figure = figures.trained_network(change, means, gates, outputs)
    maps = [axes.images[0] for axes in figure.axes if axes.images]
    for drawn, values in zip(maps, (change, means, gates, outputs), strict=True):
        np.testing.assert_array_equal(drawn.get_array(), values)
        left, right, bottom, top = drawn.get_extent()
        assert (left, right, bottom, top) == (0.5, 4.5, 6.5, 0.5)  # block 1 above, unit 1 on the left
    largest = np.abs(change).max()
    limits = [(-largest, largest), (0, 1), (0, 1), (-3 if lowest else 0, 3)]
    assert [drawn.get_clim() for drawn in maps] == limits
    assert [drawn.get_cmap().name for drawn in maps][:3] == ["PuOr", "viridis", "viridis"]
    assert maps[3].get_cmap().name == ("PuOr" if lowest else "magma")
    labels = {axes.get_xlabel() for axes in figure.axes}
    assert {"change of the gate bias", "mean transform gate", "gate for one example", "block output for it"} < labels


def test_trained_network_that_did_not_move():
    figure = figures.trained_network(*np.zeros((4, 3, 2)))
    assert [axes.images[0].get_clim() for axes in figure.axes if axes.images] == [(-1, 1), (0, 1), (0, 1), (0, 1)]


def test_gates_over_plane():
    pictures = RNG.uniform(size=(6, 5, 5))
    figure = figures.gates_over_plane(pictures, reach=1.5, columns=4)
    drawn = [axes for axes in figure.axes if axes.images]
    assert len(drawn) == 6
    for number, (axes, picture) in enumerate(zip(drawn, pictures, strict=True), 1):
        np.testing.assert_array_equal(axes.images[0].get_array(), picture)
        assert axes.images[0].origin == "lower"
        assert axes.images[0].get_clim() == (0, 1)
        assert list(axes.images[0].get_extent()) == [-1.5, 1.5, -1.5, 1.5]
        assert [text.get_text() for text in axes.texts] == [f"block {number}"]


def test_lesion_bars():
    lesions, whole = RNG.uniform(size=(3, 7)), np.array([0.9, 0.92, 0.94])
    panels = {"highway, spirals": (lesions, whole), "residual, spirals": (lesions[0], whole[0])}
    first, second = figures.lesion_bars(panels, {"highway, spirals": 0.5, "residual, spirals": 0.5}).axes
    np.testing.assert_allclose([bar.get_height() for bar in first.patches], 100 * lesions.mean(axis=0))
    np.testing.assert_allclose([bar.get_height() for bar in second.patches], 100 * lesions[0])
    assert [bar.get_x() + bar.get_width() / 2 for bar in first.patches] == pytest.approx(range(1, 8))
    ranges = [segment[:, 1] for segment in first.collections[0].get_segments()]
    np.testing.assert_allclose(ranges, 100 * np.array([lesions.min(axis=0), lesions.max(axis=0)]).T)
    assert not second.collections
    levels = [line.get_ydata()[0] for line in first.lines]
    assert levels == pytest.approx([92, 50])
    assert first.patches[0].get_facecolor() != second.patches[0].get_facecolor()


def test_accuracy_lines():
    series = {"first block first": [0.9, 0.6, 0.5], "random order": RNG.uniform(size=(4, 3))}
    axes = figures.accuracy_lines(series, "blocks switched off", control=0.8, chance=0.1).axes[0]
    one, mean, control, chance = axes.lines
    np.testing.assert_allclose(one.get_ydata(), [90, 60, 50])
    np.testing.assert_allclose(mean.get_ydata(), 100 * series["random order"].mean(axis=0))
    assert list(one.get_xdata()) == [0, 1, 2]
    assert (set(control.get_ydata()), set(chance.get_ydata())) == ({80}, {10})
    (band,) = axes.collections
    edges = band.get_paths()[0].vertices
    for x in range(3):
        there = edges[edges[:, 0] == x, 1]
        column = 100 * series["random order"][:, x]
        assert (there.min(), there.max()) == pytest.approx((column.min(), column.max()))
