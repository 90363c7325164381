"""Starting values: variance, range, orthogonality, biases, what a ReLU layer does to the second moment."""

import numpy as np
import pytest
from engine import global_randomness, quick, seeds, stirred_randomness
from hypothesis import given
from hypothesis import strategies as st

from highway_lessons.initialisation import INITIALISERS, he, normal, orthogonal, uniform, uniform_zero_bias
from highway_lessons.network import Network

sizes = st.integers(1, 30)


@pytest.mark.parametrize("n_in", [1, 16, 300])
@pytest.mark.parametrize(
    ("initialiser", "variance_times_n_in"),
    [(uniform, 1 / 3), (uniform_zero_bias, 1 / 3), (he, 2), (normal, 1), (orthogonal, 1)],
)
def test_variance_of_a_weight(initialiser, variance_times_n_in, n_in):
    rng = np.random.default_rng(0)
    n_out = n_in if initialiser is orthogonal else 50
    draws = np.concatenate([initialiser(rng, n_in, n_out)[0].ravel() for _ in range(1 + 20000 // (n_in * n_out))])
    assert draws.mean() == pytest.approx(0, abs=4 * np.sqrt(variance_times_n_in / n_in / draws.size))
    assert draws.var() * n_in == pytest.approx(variance_times_n_in, rel=0.05)


@quick
@given(seeds, sizes, sizes)
def test_uniform_stays_in_its_range_biases_too(seed, n_in, n_out):
    W, b = uniform(np.random.default_rng(seed), n_in, n_out)
    assert W.shape == (n_in, n_out)
    assert b.shape == (n_out,)
    assert max(np.abs(W).max(), np.abs(b).max()) <= 1 / np.sqrt(n_in)
    assert b.any()


@quick
@given(seeds, sizes, sizes)
def test_the_others_have_no_biases(seed, n_in, n_out):
    for name, initialiser in INITIALISERS.items():
        W, b = initialiser(np.random.default_rng(seed), n_in, n_out)
        assert W.shape == (n_in, n_out)
        assert b.shape == (n_out,)
        assert name == "uniform" or not b.any()
    zero_bias = uniform_zero_bias(np.random.default_rng(seed), n_in, n_out)[0]
    np.testing.assert_array_equal(zero_bias, uniform(np.random.default_rng(seed), n_in, n_out)[0])


@quick
@given(seeds, sizes, sizes)
def test_orthogonal_keeps_lengths(seed, n_in, n_out):
    W, _ = orthogonal(np.random.default_rng(seed), n_in, n_out)
    short = W.T @ W if n_in >= n_out else W @ W.T
    np.testing.assert_allclose(short, np.eye(min(n_in, n_out)), atol=1e-13)


def test_orthogonal_draws_both_signs():
    """Without the correction of signs, the first entry of a 1 × 1 draw would always be the same."""
    rng = np.random.default_rng(0)
    assert {float(orthogonal(rng, 1, 1)[0][0, 0]) for _ in range(20)} == {-1.0, 1.0}


@pytest.mark.parametrize("initialiser", INITIALISERS.values(), ids=INITIALISERS)
def test_weights_are_drawn_before_biases_and_from_the_generator_alone(initialiser):
    before = stirred_randomness()
    first = initialiser(np.random.default_rng(3), 5, 4)
    second = initialiser(np.random.default_rng(3), 5, 4)
    for ours, again in zip(first, second, strict=True):
        np.testing.assert_array_equal(ours, again)
    assert global_randomness() == before
    rng = np.random.default_rng(3)
    if initialiser is uniform:
        bound = 1 / np.sqrt(5)
        np.testing.assert_array_equal(first[0], rng.uniform(-bound, bound, (5, 4)))
        np.testing.assert_array_equal(first[1], rng.uniform(-bound, bound, 4))


@pytest.mark.parametrize(
    ("name", "gain"), [("uniform_zero_bias", 1 / 6), ("normal", 1 / 2), ("he", 1), ("orthogonal", 1 / 2)]
)
def test_what_a_relu_layer_does_to_the_second_moment(name, gain):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 500))
    W, b = INITIALISERS[name](rng, 500, 500)
    y = np.maximum(x @ W + b, 0)
    assert (y**2).mean() / (x**2).mean() == pytest.approx(gain, rel=0.03)


@pytest.mark.parametrize("name", ["he", "normal", "orthogonal"])
def test_all_layers_of_a_network_take_part(name):
    """Input, head, W_H and W_T alike; every bias but the gate's is 0."""
    network = Network(depth=2, width=40, n_in=30, n_classes=20)
    params = network.initialise(0, name)
    for label, array in params.named():
        if array.ndim == 1:
            assert (array == (-2 if label.endswith("b_T") else 0)).all(), label
        elif name == "orthogonal":
            assert np.linalg.norm(array, 2) == pytest.approx(1), label
        else:
            expected = {"he": 2, "normal": 1}[name] / len(array)
            assert array.var() == pytest.approx(expected, rel=0.15), label
