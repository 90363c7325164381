"""The arrays that a training run makes once: same results as without them, nothing kept that should not be."""

import re

import numpy as np
import pytest
from engine import batches, drawn_network, dtypes, networks, quick, seeds
from hypothesis import given

from highway_lessons import SGD, Data, Highway, Network, Plain, Residual, fit
from highway_lessons.functions import cross_entropy, sigmoid
from highway_lessons.network import Workspace


def signals(network, params, x, labels):
    logits, cache = network.forward(params, x)
    gradients, dh = network.backward(params, cache, cross_entropy(logits, labels)[1])
    return logits.copy(), gradients.flat.copy(), dh[0].copy()


@quick
@given(networks, batches, seeds, dtypes)
def test_a_workspace_gives_what_plain_parameters_give_again_and_again(network, batch, seed, dtype):
    params, x, labels = drawn_network(network, batch, seed, dtype)
    work = Workspace(params, network.zeros(dtype), batch)
    for _ in range(2):
        for with_arrays, without in zip(
            signals(network, work, x, labels), signals(network, params, x, labels), strict=True
        ):
            np.testing.assert_array_equal(with_arrays, without)
        params.flat *= dtype(0.9)  # the workspace sees every update, since its arrays are views
        x = -x


def test_gradients_are_written_where_they_are_wanted():
    network = Network(Highway(), depth=3, width=4, n_in=2, n_classes=3)
    params, wanted = network.initialise(0), network.zeros()
    work = Workspace(params, wanted, batch=5)
    signals(network, work, np.ones((5, 2)), np.zeros(5, int))
    assert all(np.abs(array).max() > 0 for _, array in wanted.named())
    assert all(np.shares_memory(block["W_T"], params.flat) for block in work.blocks)


def test_without_a_workspace_nothing_is_kept():
    """What one call returned is not touched by the next, neither by forward nor by backward."""
    rng, block = np.random.default_rng(0), Highway(-1.0, "tanh")
    params, x, dy = block.initialise(rng, 4), rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    y, cache = block.forward(params, x)
    dx, grads = block.backward(params, cache, dy)
    kept = [array.copy() for array in (y, *cache, dx, dy, *grads.values(), *params.values())]
    block.backward(params, block.forward(params, 2 * x)[1], 3 * dy)
    for before, after in zip(kept, (y, *cache, dx, dy, *grads.values(), *params.values()), strict=True):
        np.testing.assert_array_equal(before, after)


def test_parameters_are_read_not_kept():
    """A dictionary of the reader's own: what stands in it at the time of the call counts."""
    rng, block = np.random.default_rng(0), Highway()
    params, x = block.initialise(rng, 4), rng.normal(size=(3, 4))
    before, _ = block.forward(params, x)
    params["W_T"] = params["W_T"] + 1
    after, _ = block.forward(params, x)
    assert np.abs(after - before).max() > 0.01


class Negated(Highway):
    """A block that overrides a pass, as exercises do."""

    def backward(self, params, cache, dy):
        dx, grads = super().backward(params, cache, dy)
        return dx, {name: -array for name, array in grads.items()}


class Skipping(Highway):
    """A block that reads dy after the pass that it overrides, and changes dx in place."""

    def backward(self, params, cache, dy):
        dx, grads = super().backward(params, cache, dy)
        dx += 0.5 * dy
        return dx, grads


def test_a_block_may_read_dy_after_the_pass_that_it_overrides():
    network = Network(Skipping(-1.0), depth=4, width=5, n_in=3, n_classes=2)
    params, x, labels = drawn_network(network, batch=6, seed=0)
    work = Workspace(params, network.zeros(), 6)
    for with_arrays, without in zip(
        signals(network, work, x, labels), signals(network, params, x, labels), strict=True
    ):
        np.testing.assert_array_equal(with_arrays, without)


def test_a_block_that_overrides_a_pass_is_obeyed_in_training():
    rng = np.random.default_rng(0)
    data = Data(rng.normal(size=(12, 3)), rng.integers(0, 2, 12))
    runs = {}
    for block in (Highway(), Negated()):
        network = Network(block, depth=1, width=4, n_in=3, n_classes=2)
        start = network.initialise(0)
        runs[type(block)] = fit(network, data, params=start, optimiser=SGD(0.1, 0), epochs=1, batch_size=12).params
    step = {kind: run.blocks[0]["W_H"] - start.blocks[0]["W_H"] for kind, run in runs.items()}
    np.testing.assert_allclose(step[Negated], -step[Highway], rtol=1e-9, atol=1e-15)
    assert np.abs(step[Highway]).max() > 0


@pytest.mark.parametrize("block", [Plain(), Residual(), Highway()], ids=repr)
def test_a_workspace_of_another_size_says_so(block):
    network = Network(block, depth=2, width=4, n_in=3, n_classes=2)
    work = Workspace(network.initialise(0), network.zeros(), batch=5)
    with pytest.raises(ValueError, match=re.escape("x must have shape (5, 3), but it has shape (4, 3).")):
        network.forward(work, np.ones((4, 3)))


@pytest.mark.parametrize(("dtype", "low", "error"), [(np.float32, -85, 1e-6), (np.float64, -700, 1e-13)])
def test_the_gate_is_right_to_its_own_precision_in_place_or_not(dtype, low, error):
    """No formula with less precision in float32: the error is relative, also for a gate that is almost shut."""
    z = np.linspace(low, 30, 4001).astype(dtype)
    exact = np.exp(-np.logaddexp(0, -z.astype(np.longdouble)))
    for value in (sigmoid(z), sigmoid(z.copy(), out=np.empty_like(z))):
        assert value.dtype == dtype
        assert float(np.max(np.abs(value - exact) / exact)) < error
    in_place = z.copy()
    assert sigmoid(in_place, out=in_place) is in_place
    np.testing.assert_array_equal(in_place, sigmoid(z))
