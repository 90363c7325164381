"""Measurements: the gradient check itself, Jacobians, norms, the direct path and τ."""

import numpy as np
import pytest
from engine import (
    activations,
    batches,
    blocks,
    drawn_block,
    drawn_network,
    gate_biases,
    networks,
    quick,
    read_only,
    seeds,
    thorough,
    widths,
)
from hypothesis import given
from hypothesis import strategies as st

from highway_lessons import Highway, NaiveResidual, Network, Plain, Residual, direct_path, sigmoid, signal_norms, tau
from highway_lessons.functions import cross_entropy
from highway_lessons.gradients import (
    block_jacobian,
    check_gradients,
    circle_test,
    effective_rank,
    end_to_end_jacobian,
    highway_jacobian_terms,
    mean_cosine,
    profiles,
    second_moment_recursion,
    spread,
)

# The gradient check.


@pytest.mark.parametrize("block", [Plain("tanh"), Highway(-1.0, "tanh"), Residual(0.7, False, "tanh")], ids=repr)
def test_the_gradient_check_passes_a_right_backward_and_names_everything(block):
    network = Network(block, depth=2, width=4, n_in=3, n_classes=3)
    params, x, labels = drawn_network(network, 5, 0)
    errors = check_gradients(network, params, x, labels)
    assert list(errors) == [name for name, _ in params.named()] + ["x"]
    assert max(errors.values()) < 1e-9
    assert {type(error) for error in errors.values()} == {float}


class Wrong(Highway):
    """A highway block with a gradient that is 1 % too large."""

    def __init__(self, wrong):
        super().__init__(-1.0, "tanh")
        object.__setattr__(self, "wrong", wrong)

    def backward(self, params, cache, dy):
        dx, grads = super().backward(params, cache, dy)
        if self.wrong == "dx":
            return dx * 1.01, grads
        return dx, grads | {self.wrong: grads[self.wrong] * 1.01}


@pytest.mark.parametrize("wrong", ["W_H", "W_T", "b_H", "b_T", "dx"])
def test_the_gradient_check_catches_one_per_cent(wrong):
    network = Network(Wrong(wrong), depth=1, width=4, n_in=3, n_classes=3)
    params, x, labels = drawn_network(network, 5, 0)
    errors = check_gradients(network, params, x, labels)
    where = "x" if wrong == "dx" else f"blocks.0.{wrong}"
    assert errors[where] > 1e-5
    assert errors["head.W"] < 1e-9


class NotANumber(Plain):
    """A plain block whose gradient of W_H, or whose output, has one NaN among right numbers."""

    def __init__(self, where):
        super().__init__("tanh")
        object.__setattr__(self, "where", where)

    def forward(self, params, x):
        y, cache = super().forward(params, x)
        if self.where == "y":
            y = np.where(np.arange(y.size).reshape(y.shape) == 1, np.nan, y)
        return y, cache

    def backward(self, params, cache, dy):
        dx, grads = super().backward(params, cache, dy)
        if self.where == "W_H":
            grads["W_H"][0, 1] = np.nan
        return dx, grads


@pytest.mark.parametrize(("where", "spoilt"), [("W_H", {"blocks.0.W_H"}), ("y", None)])
def test_the_gradient_check_tells_of_nan(where, spoilt):
    """Neither a gradient nor a loss that is NaN may pass for a small error."""
    network = Network(NotANumber(where), depth=1, width=4, n_in=3, n_classes=3)
    errors = check_gradients(network, *drawn_network(network, 5, 0))
    assert {name for name, error in errors.items() if np.isnan(error)} == (spoilt or set(errors))


def test_float32_parameters_are_raised_to_float64_unless_told_not_to():
    network = Network(Highway(-1.0, "tanh"), depth=2, width=4, n_in=3, n_classes=3)
    params, x, labels = drawn_network(network, 5, 0, np.float32)
    assert max(check_gradients(network, params, x, labels).values()) < 1e-9
    assert max(check_gradients(network, params, x, labels, dtype=np.float32).values()) > 1e-4


def test_a_wrong_step_spoils_the_check():
    """Too large: the curve is no longer straight. Too small: rounding."""
    network = Network(Highway(-1.0, "tanh"), depth=2, width=4, n_in=3, n_classes=3)
    params, x, labels = drawn_network(network, 5, 0)
    errors = {step: max(check_gradients(network, params, x, labels, step).values()) for step in (1e-1, 1e-6, 1e-13)}
    assert errors[1e-1] > 1e3 * errors[1e-6]
    assert errors[1e-13] > 1e3 * errors[1e-6]


def test_the_gradient_check_writes_to_nothing():
    network = Network(Plain("tanh"), depth=1, width=3, n_in=3, n_classes=2)
    params, x, labels = drawn_network(network, 4, 0)
    kept = params.flat.copy()
    check_gradients(network, params, read_only(x), read_only(labels))
    np.testing.assert_array_equal(params.flat, kept)


# Jacobians.


def differences(function, x, step=1e-6):
    """Row i: how the output of `function` changes with entry i of one example x."""
    moves = step * np.eye(len(x))
    return np.stack([(function(x + move) - function(x - move)) / (2 * step) for move in moves])


@thorough
@given(blocks(st.just("tanh")), widths, seeds)
def test_block_jacobian(block, width, seed):
    params, x, _ = drawn_block(block, width, 1, seed)
    expected = differences(lambda row: block.forward(params, row[None, :])[0][0], x[0])
    np.testing.assert_allclose(block_jacobian(block, params, x[0]), expected, atol=1e-7)


@thorough
@given(gate_biases, activations, widths, seeds)
def test_the_three_terms_add_up(gate_bias, activation, width, seed):
    block = Highway(gate_bias, activation)
    params, x, _ = drawn_block(block, width, 1, seed)
    terms = highway_jacobian_terms(block, params, x[0])
    assert list(terms) == ["transform", "carry", "gate"]
    np.testing.assert_allclose(sum(terms.values()), block_jacobian(block, params, x[0]), rtol=1e-10, atol=1e-13)


@quick
@given(gate_biases, widths, seeds)
def test_each_term_is_what_its_name_says(gate_bias, width, seed):
    """Hold the gate, or the transform, or both at their values and see what is left."""
    block = Highway(gate_bias, "tanh")
    params, x, _ = drawn_block(block, width, 1, seed)
    _, cache = block.forward(params, x)
    H, T = cache.H[0], cache.T[0]

    def transform(row):
        return np.tanh(row @ params["W_H"] + params["b_H"])

    def gate(row):
        return 1 / (1 + np.exp(-(row @ params["W_T"] + params["b_T"])))

    terms = highway_jacobian_terms(block, params, x[0])
    np.testing.assert_allclose(terms["transform"], differences(lambda row: transform(row) * T, x[0]), atol=1e-7)
    np.testing.assert_allclose(terms["carry"], differences(lambda row: row * (1 - T), x[0]), atol=1e-7)
    mixed = differences(lambda row: (H - x[0]) * gate(row), x[0])
    np.testing.assert_allclose(terms["gate"], mixed, atol=1e-7)


@quick
@given(networks, seeds)
def test_end_to_end_is_the_product_of_the_blocks(network, seed):
    params, x, _ = drawn_network(network, 1, seed)
    _, cache = network.forward(params, x)
    product = np.eye(network.width)
    for block_params, h in zip(params.blocks, cache.h[:-1], strict=True):
        product = product @ block_jacobian(network.block, block_params, h[0])
    np.testing.assert_allclose(end_to_end_jacobian(network, params, x[0]), product, rtol=1e-9, atol=1e-13)


def test_depth_0_carries_everything():
    network = Network(Highway(), depth=0, width=3, n_in=2)
    np.testing.assert_array_equal(end_to_end_jacobian(network, network.initialise(0), [1.0, 2.0]), np.eye(3))


@pytest.mark.parametrize(
    ("values", "rank"),
    [([1, 1, 1, 1], 4), ([5, 0, 0], 1), ([3], 1), ([2, 1], 25 / 17), ([1e-200, 1e-200], 2), ([1e200, 1e200, 0], 2)],
)
def test_effective_rank(values, rank):
    assert effective_rank(values) == pytest.approx(rank, rel=1e-14)
    assert type(effective_rank(values)) is float


@pytest.mark.parametrize("values", [[0, 0], [], [1, np.nan], [np.inf, 1], 3.0, [[1, 2]]], ids=repr)
def test_effective_rank_of_nothing(values):
    with pytest.raises(ValueError, match="singular_values"):
        effective_rank(values)


def test_circle_test_sends_a_circle_through():
    """Each point of the curve is as far out as the same point of the circle, sent through the Jacobian."""
    jacobian = np.random.default_rng(0).normal(size=(6, 6))
    curve, radii = circle_test(jacobian, rng=3, points=40)
    plane, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(6, 2)))
    angle = np.linspace(0, 2 * np.pi, 40)
    out = (np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T) @ jacobian
    np.testing.assert_allclose(np.linalg.norm(curve, axis=1), np.linalg.norm(out, axis=1), rtol=1e-10)
    lengths = np.linalg.norm(circle_test(jacobian, rng=3, points=20001)[0], axis=1)
    np.testing.assert_allclose(radii, [lengths.max(), lengths.min()], rtol=1e-5)
    np.testing.assert_allclose(circle_test(np.eye(4))[1], [1, 1])


# Norms per block.


@quick
@given(networks, batches, seeds)
def test_signal_norms(network, batch, seed):
    params, x, labels = drawn_network(network, batch, seed)
    norms = signal_norms(network, params, x, labels)
    logits, cache = network.forward(params, x)
    gradients, dh = network.backward(params, cache, cross_entropy(logits, labels)[1])
    assert norms.h.shape == norms.dh.shape == (network.depth + 1,)
    assert norms.dW.shape == (network.depth,)
    np.testing.assert_allclose(norms.h, [np.sqrt((h**2).sum()) for h in cache.h], rtol=1e-12)
    np.testing.assert_allclose(norms.dh, [np.sqrt((d**2).sum()) for d in dh], rtol=1e-12)
    name = "W_1" if isinstance(network.block, Residual) else "W_H"
    np.testing.assert_allclose(norms.dW, [np.sqrt((g[name] ** 2).sum()) for g in gradients.blocks], rtol=1e-12)
    if isinstance(network.block, Highway) and network.depth:
        np.testing.assert_allclose(norms.T, [c.T.mean() for c in cache.blocks], rtol=1e-12)
    else:
        assert norms.T is None


def test_norms_far_below_the_square_root_of_the_smallest_number():
    """At depth 500 the signal is about 1e-190, whose square is 0; its norm is not."""
    network = Network(Plain(), depth=500)
    params, x, labels = drawn_network(network, 4, 0)
    dh = signal_norms(network, params, x, labels).dh
    assert 0 < dh[0] < 1e-170
    rates = dh[1:] / dh[:-1]
    assert (rates > 1).all(), "no block may look as if nothing arrived"


@pytest.mark.parametrize("block", [Plain(), Highway(-2.0), NaiveResidual()], ids=repr)
def test_profiles_are_signal_norms_of_fresh_networks(block):
    measured = profiles(block, depths=[0, 2, 5], seeds=[3, 4], batch=8, width=6)
    for depth, seed, row in [(5, 3, 0), (5, 4, 1)]:
        rng = np.random.default_rng(seed)
        network = Network(block, depth, width=6, n_in=6)
        params = network.initialise(rng)
        norms = signal_norms(network, params, rng.normal(size=(8, 6)), rng.integers(0, 10, 8))
        for ours, expected in zip(measured[depth], norms, strict=True):
            assert (ours is None) == (expected is None)
            if expected is not None:
                np.testing.assert_allclose(ours[row], expected, rtol=1e-12)
    assert measured[2].h.shape == (2, 3)
    np.testing.assert_array_equal(measured[2].h, measured[5].h[:, :3])


# The direct path and τ.


@quick
@given(st.floats(0, 1), st.integers(0, 60))
def test_direct_path_is_a_product(gate, depth):
    share = 1.0
    for _ in range(depth):
        share *= 1 - gate
    assert direct_path(gate, depth) == pytest.approx(share, rel=1e-10, abs=1e-300)


@quick
@given(st.floats(-30, 5), st.integers(0, 100))
def test_tau_is_the_direct_path_in_one_number(gate_bias, depth):
    assert np.exp(-tau(gate_bias, depth)) == pytest.approx(direct_path(sigmoid(gate_bias), depth), rel=1e-9, abs=1e-290)


def test_tau_by_hand_and_at_its_extremes():
    """The numbers of the course: −2 at depth 50 is 6.3, 0 at 50 is 34.7; b = −ln L makes τ about 1."""
    assert [f"{tau(b, depth):.1f}" for b, depth in ((-2, 50), (-2, 100), (0, 50))] == ["6.3", "12.7", "34.7"]
    for depth in (1, 10, 100):
        assert tau(-np.log(depth), depth) == pytest.approx(depth * np.log(1 + 1 / depth), rel=1e-12)
    with np.errstate(all="raise", under="ignore"):
        assert tau([-1000, 0, 1000], 2).tolist() == [0, 2 * np.log(2), 2000]
    assert tau(-3, 0) == 0


@pytest.mark.parametrize(("gate_bias", "least", "most"), [(-2.0, 1.07, 1.15), (-3.0, 1.0, 1.03), (-5.0, 0.999, 1.003)])
def test_the_signal_from_above_follows_the_direct_path(gate_bias, least, most):
    """Fresh networks of depth 50, ten seeds: 8 to 14 % more than the product of 1 − T at bias −2, less below it."""
    norms = profiles(Highway(gate_bias), [50])[50]
    ratio = norms.dh[:, 0] / norms.dh[:, -1] / np.prod(1 - norms.T, axis=1)
    assert least < ratio.min() < ratio.max() < most


# Forward.


def test_second_moment_recursion():
    np.testing.assert_allclose(second_moment_recursion(2.0, 3, 0.5, 0.1), [2, 1.1, 0.65, 0.425])
    assert second_moment_recursion(2.0, 0, 0.5).tolist() == [2]


@quick
@given(st.integers(2, 6), widths, seeds)
def test_mean_cosine_and_spread_pair_by_pair(batch, width, seed):
    h = np.random.default_rng(seed).normal(size=(batch, width))
    pairs = [(a, b) for a in range(batch) for b in range(batch) if a != b]
    cosines = [h[a] @ h[b] / np.linalg.norm(h[a]) / np.linalg.norm(h[b]) for a, b in pairs]
    assert mean_cosine(h) == pytest.approx(np.mean(cosines), abs=1e-12)
    squares = [((row - h.mean(axis=0)) ** 2).sum() for row in h]
    assert spread(h) == pytest.approx(np.sqrt(np.mean(squares)), rel=1e-12)
