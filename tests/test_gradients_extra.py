"""Measurements of chapter 3 that test_gradients.py leaves open: seeds, the recipe, real circles, and their errors."""

import numpy as np
import pytest

from highway_lessons import Highway, Network, Plain, Residual
from highway_lessons.gradients import (
    alignment,
    circle_test,
    end_to_end_jacobian,
    mean_cosine,
    over_seeds,
    profile,
    profiles,
)


def test_over_seeds_is_lowest_geometric_mean_and_highest():
    low, mid, high = over_seeds([[1.0, 2.0], [100.0, 8.0]])
    np.testing.assert_allclose([low, mid, high], [[1, 2], [10, 4], [100, 8]])


def test_over_seeds_of_equal_values_is_that_value():
    """Rounding must not put the mean above the highest: a band is drawn from low ≤ mid ≤ high."""
    values = np.random.default_rng(0).uniform(0, 3, 200)
    low, mid, high = over_seeds([values] * 5)
    assert (low <= mid).all()
    assert (mid <= high).all()


def test_over_seeds_of_numbers_whose_product_underflows():
    assert over_seeds([1e-200, 1e-200, 1e-206])[1] == pytest.approx(1e-202)


def test_a_zero_makes_the_geometric_mean_zero_without_a_warning():
    assert over_seeds([0.0, 1.0]) == (0, 0, 1)


@pytest.mark.parametrize(
    ("block", "first", "last"), [(Plain(), "4.28e-21", "8.99e-03"), (Highway(-2.0), "2.37e-05", "7.17e-04")]
)
def test_a_profile_of_seed_0_is_the_published_recipe(block, first, last):
    dW = profile(block, 50, seeds=[0]).dW
    assert dW.shape == (1, 50)
    assert (f"{dW[0, 0]:.2e}", f"{dW[0, -1]:.2e}") == (first, last)


def test_profiles_of_no_depth():
    with pytest.raises(ValueError, match="depths"):
        profiles(Plain(), [])


@pytest.mark.parametrize(
    ("block", "initialiser"),
    [(Plain(), "he"), (Highway(-2.0), "uniform"), (Highway(-5.0), "uniform"), (Residual(scale=0.3), "uniform")],
)
def test_a_real_circle_of_small_changes_becomes_that_ellipse(block, initialiser):
    """Each point of the circle is added to h_0 and really sent through the blocks; no derivative is used."""
    network = Network(block, depth=20)
    rng = np.random.default_rng(0)
    params = network.initialise(rng, initialiser)
    x = rng.normal(size=64)
    _, radii = circle_test(end_to_end_jacobian(network, params, x), rng=5)

    plane, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(64, 2)))
    angle = np.linspace(0, 2 * np.pi, 2001)
    h = network.forward(params, x[None])[1].h[0] + 1e-7 * np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
    centre = network.forward(params, x[None])[1].h[0]
    for block_params in params.blocks:
        h, centre = (network.block.forward(block_params, rows)[0] for rows in (h, centre))
    lengths = np.linalg.norm(h - centre, axis=1) / 1e-7
    np.testing.assert_allclose([lengths.max(), lengths.min()], radii, rtol=1e-3)


@pytest.mark.parametrize(
    ("h", "words"), [([[1.0, 2.0]], "at least two rows"), ([1.0, 2.0], "at least two rows"), (np.eye(3) * 0, "zeros")]
)
def test_mean_cosine_refuses_what_has_no_direction(h, words):
    with pytest.raises(ValueError, match=words):
        mean_cosine(h)


@pytest.mark.parametrize("h", [[[1.0, 2.0]], [1.0, 2.0], np.eye(3) * 0])
def test_alignment_refuses_what_has_no_direction(h):
    with pytest.raises(ValueError, match="rows "):
        alignment(h)


def test_alignment_does_not_ask_for_the_sign_and_survives_tiny_rows():
    rows = np.array([[3.0, 4.0], [-3.0, -4.0], [1e-200, 0.0]])
    assert alignment(rows[:2]) == pytest.approx(1)
    assert mean_cosine(rows[:2]) == pytest.approx(-1)
    assert alignment(rows) == pytest.approx((1 + 0.6 + 0.6) / 3)


def test_alignment_of_gradients_at_the_top_of_one_example_is_that_of_its_labels():
    """Without a block, ten labels of one example: the gradients are (p − e_k) W, whatever the engine does."""
    network = Network(Plain(), 0)
    params = network.initialise(0)
    x = np.tile(np.random.default_rng(1).normal(size=64), (10, 1))
    _, cache = network.forward(params, x)
    logits = cache.h[0] @ params.head["W"] + params.head["b"]
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    _, dh = network.backward(params, cache, (p - np.eye(10)) / 10)
    rows = (p - np.eye(10)) @ params.head["W"].T
    pairs = [(i, j) for i in range(10) for j in range(i)]
    cosines = [abs(rows[i] @ rows[j]) / np.linalg.norm(rows[i]) / np.linalg.norm(rows[j]) for i, j in pairs]
    assert alignment(dh[0]) == pytest.approx(np.mean(cosines))
