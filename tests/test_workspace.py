"""The arrays that a training run makes once: same results as without them, nothing kept that should not be."""

import copy
import inspect
import pickle
import re
import tracemalloc
import warnings

import numpy as np
import pytest
from engine import batches, drawn_network, dtypes, networks, quick, seeds
from hypothesis import given

from highway_lessons import SGD, Data, Highway, Network, Plain, Residual, check_gradients, fit
from highway_lessons.functions import cross_entropy, sigmoid
from highway_lessons.network import Parameters, Workspace


def signals(network, params, x, labels):
    logits, cache = network.forward(params, x)
    gradients, dh = network.backward(params, cache, cross_entropy(logits, labels)[1])
    assert (dh is None) == isinstance(params, Workspace)
    return logits.copy(), gradients.flat.copy()


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


def test_arrays_are_made_once():
    """After the first step, a step makes little more than the logits; without a workspace, megabytes."""
    network = Network(Highway(), depth=10)
    params, x, labels = drawn_network(network, batch=64, seed=0, dtype=np.float32)
    made = {}
    for way in (Workspace(params, network.zeros(np.float32), 64), params):
        for _ in range(2):
            tracemalloc.start()
            logits, cache = network.forward(way, x)
            network.backward(way, cache, cross_entropy(logits, labels)[1])
            made[type(way)] = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    assert made[Workspace] < 150_000 < 1_000_000 < made[Parameters]


def test_halves_are_in_one_piece():
    work = Workspace(Network().initialise(0), Network().zeros(), 5).blocks[0]
    for half in (work.z_H, work.z_T, work.dz_H, work.dz_T, work["W_H"], work["W_T"]):
        assert half.flags.f_contiguous


# Blocks and networks of the reader's own are obeyed, also in training


class Frozen(Highway):
    """Replaces a gradient."""

    def backward(self, params, cache, dy):
        dx, grads = super().backward(params, cache, dy)
        grads["W_T"] = np.zeros_like(grads["W_T"])
        return dx, grads


class Skipping(Highway):
    """Reads dy after the pass that it overrides, and changes dx in place."""

    def backward(self, params, cache, dy):
        dx, grads = super().backward(params, cache, dy)
        dx += 0.5 * dy
        return dx, grads


class Twice(Highway):
    """Uses the same weights for two layers."""

    def forward(self, params, x):
        y, first = super().forward(params, x)
        z, second = super().forward(params, y)
        return z, (first, second)

    def backward(self, params, cache, dy):
        dy, upper = super().backward(params, cache[1], dy)
        dx, lower = super().backward(params, cache[0], dy)
        return dx, {name: upper[name] + lower[name] for name in upper}


class Reordered(Highway):
    """Has its parameters in another order."""

    def shapes(self, width):
        return {"W_H": (width, width), "b_H": (width,), "W_T": (width, width), "b_T": (width,)}


class Unbiased(Highway):
    """Has fewer parameters."""

    def shapes(self, width):
        return {"W_H": (width, width), "W_T": (width, width)}

    def initialise(self, rng, width, initialiser):
        return {name: super(Unbiased, self).initialise(rng, width, initialiser)[name] for name in self.shapes(width)}

    def forward(self, params, x):
        return Highway().forward(self._all(params), x)

    def backward(self, params, cache, dy):
        dx, grads = Highway().backward(self._all(params), cache, dy)
        return dx, {name: grads[name] for name in params}

    def _all(self, params):
        width = len(params["W_H"])
        return dict(params) | {"b_H": np.zeros(width), "b_T": np.full(width, self.gate_bias)}


@pytest.mark.parametrize("block", [Highway, Frozen, Skipping, Twice, Reordered, Unbiased])
def test_training_takes_the_step_that_the_gradients_say(block):
    network = Network(block(-1.0, "tanh"), depth=3, width=4, n_in=3, n_classes=2)
    params, x, labels = drawn_network(network, batch=6, seed=0)
    _, gradients = network.loss_and_gradients(params, x, labels)
    run = fit(network, Data(x, labels), params=params, optimiser=SGD(0.1, 0), epochs=1, batch_size=6, rng=0)
    np.testing.assert_allclose(run.params.flat, params.flat - 0.1 * gradients.flat, rtol=1e-9, atol=1e-12)
    frozen = (run.params.blocks[1]["W_T"] == params.blocks[1]["W_T"]).all()
    assert frozen == (block is Frozen)


@pytest.mark.parametrize("block", [Skipping, Twice, Reordered, Unbiased])
def test_the_gradients_of_such_blocks_are_their_own(block):
    network = Network(block(-1.0, "tanh"), depth=2, width=4, n_in=3, n_classes=2)
    params, x, labels = drawn_network(network, batch=5, seed=1)
    wrong = max(check_gradients(network, params, x, labels).values())
    assert wrong < 1e-7 if block is not Skipping else wrong > 1e-3  # it adds half of dy, on purpose


def test_the_order_of_the_names_does_not_matter():
    rng = np.random.default_rng(0)
    params = Highway().initialise(rng, 4) | {"b_H": rng.normal(size=4)}
    x = rng.normal(size=(5, 4))
    np.testing.assert_array_equal(Reordered().forward(params, x)[0], Highway().forward(params, x)[0])


class Stubborn(Network):
    """Returns gradients of its own making."""

    def backward(self, params, cache, dlogits):
        gradients, dh = super().backward(params, cache, dlogits)
        return Parameters(self, 0 * gradients.flat), dh


def test_a_network_that_returns_other_gradients_is_obeyed():
    network = Stubborn(Highway(), depth=2, width=4, n_in=3, n_classes=2)
    params, x, labels = drawn_network(network, batch=6, seed=0)
    run = fit(network, Data(x, labels), params=params, optimiser=SGD(0.1, 0), epochs=2)
    np.testing.assert_array_equal(run.params.flat, params.flat)


@pytest.mark.parametrize("block", [Plain(), Highway()], ids=repr)
def test_arguments_may_be_named(block):
    params, x = block.initialise(0, 4), np.ones((5, 4))
    y, cache = block.forward(params=params, x=x)
    dx, _ = block.backward(params=params, cache=cache, dy=x)
    np.testing.assert_array_equal(y, block.forward(params, x)[0])
    np.testing.assert_array_equal(dx, block.backward(params, cache, x)[0])
    assert list(inspect.signature(type(block).backward).parameters) == ["self", "params", "cache", "dy"]
    with pytest.raises(TypeError, match=r"missing .*'x'"):
        block.forward(params)


def test_a_copy_of_a_workspace_is_plain_parameters():
    network = Network(Highway(), depth=2, width=4, n_in=3, n_classes=2)
    params, x, _ = drawn_network(network, batch=5, seed=0)
    work = Workspace(params, network.zeros(), 5)
    logits, _ = network.forward(params, x)
    for again in (copy.deepcopy(work), pickle.loads(pickle.dumps(work)), work.copy()):
        assert type(again) is Parameters
        np.testing.assert_array_equal(network.forward(again, x)[0], logits)
    block = copy.deepcopy(work.blocks[0])
    np.testing.assert_array_equal(network.block.forward(block, x @ np.ones((3, 4)))[1].x, x @ np.ones((3, 4)))
    assert type(block) is dict
    assert not np.shares_memory(block["W_H"], params.flat)


# What does not fit is said


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda n, p: Workspace(p, n.zeros(), 0), "batch must be at least 1, but 0 came."),
        (lambda n, p: Workspace(p, n.zeros(np.float32), 5), "gradients must be float64 like params"),
        (lambda n, p: Workspace(p, Network(n.block, 3, 4, 3, 2).zeros(), 5), "params must fit"),
        (lambda n, p: n.block.backward(p.blocks[0], n.block.forward(p.blocks[0], np.ones((5, 4)))[1], np.ones((2, 4))),
         "dy must have shape (5, 4), but it has shape (2, 4)."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(make, says):
    network = Network(Highway(), depth=2, width=4, n_in=3, n_classes=2)
    with pytest.raises(ValueError, match=re.escape(says)):
        make(network, network.initialise(0))


def test_a_shut_or_open_gate_warns_of_nothing():
    block, x = Highway(-2000.0), np.ones((2, 3))
    with warnings.catch_warnings(), np.errstate(over="raise"):
        warnings.simplefilter("error")
        y, cache = block.forward(block.initialise(0, 3), x)
        block.backward(block.initialise(0, 3), cache, x)
        fit(Network(block, 2, 4, 3, 2), Data(np.ones((4, 3)), np.zeros(4, int)), epochs=1, dtype=np.float32)
    np.testing.assert_array_equal(y, x)


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
