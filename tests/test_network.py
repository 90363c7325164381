"""The network: gradients of everything, one flat vector, copies that share nothing, any depth."""

import copy
import math
import pickle

import joblib
import numpy as np
import pytest
from engine import (
    active,
    assert_slopes,
    batches,
    drawn_network,
    dtypes,
    finite_differences,
    global_randomness,
    initialisers,
    networks,
    odd_forms,
    quick,
    read_only,
    seeds,
    stirred_randomness,
    thorough,
)
from hypothesis import given

from highway_lessons import Highway, NaiveResidual, Network, Plain, Residual
from highway_lessons.functions import cross_entropy
from highway_lessons.network import Parameters


def loss_and_kinks(network, params, x, labels):
    """The loss, and the ReLUs that are on."""
    logits, cache = network.forward(params, x)
    kinks = [cache.h[0] > 0] if network.block.activation == "relu" else []
    for block_cache in cache.blocks:
        kinks += active(network.block, block_cache)
    return cross_entropy(logits, labels)[0], kinks


@thorough
@given(networks, batches, seeds, initialisers)
def test_gradients_of_every_parameter_and_of_the_input(network, batch, seed, initialiser):
    params, x, labels = drawn_network(network, batch, seed, initialiser=initialiser)
    params.flat[:] += np.random.default_rng(seed).normal(0, 0.1, params.flat.size)  # so that no unit sits on a kink
    logits, cache = network.forward(params, x)
    gradients, dh = network.backward(params, cache, cross_entropy(logits, labels)[1])

    def value():
        return loss_and_kinks(network, params, x, labels)

    assert_slopes(gradients.flat, finite_differences(value, params.flat), rtol=1e-5, atol=1e-7)
    f_slope = (cache.h[0] > 0) if network.block.activation == "relu" else 1 - cache.h[0] ** 2
    assert_slopes((dh[0] * f_slope) @ params.input["W"].T, finite_differences(value, x), rtol=1e-5, atol=1e-7)


@quick
@given(networks, batches, seeds)
def test_signal_from_above_at_every_height(network, batch, seed):
    """∂L/∂h_l for each l: change h_l and send it through the rest of the stack."""
    params, x, labels = drawn_network(network, batch, seed)
    logits, cache = network.forward(params, x)
    _, dh = network.backward(params, cache, cross_entropy(logits, labels)[1])
    assert len(dh) == len(cache.h) == network.depth + 1
    for height, h in enumerate(cache.h):

        def value(h=h, height=height):
            above, kinks = h, []
            for block_params in params.blocks[height:]:
                above, block_cache = network.block.forward(block_params, above)
                kinks += active(network.block, block_cache)
            return cross_entropy(above @ params.head["W"] + params.head["b"], labels)[0], kinks

        assert_slopes(dh[height], finite_differences(value, h), rtol=1e-5, atol=1e-7)


@quick
@given(networks, batches, seeds)
def test_float32_throughout(network, batch, seed):
    params, x, labels = drawn_network(network, batch, seed, np.float32)
    logits, cache = network.forward(params, x)
    loss, gradients = network.loss_and_gradients(params, x, labels)
    _, dh = network.backward(params, cache, cross_entropy(logits, labels)[1])
    assert {a.dtype for a in (logits, gradients.flat, *dh, *cache.h)} == {np.dtype(np.float32)}
    double = Parameters(network, params.flat.astype(np.float64))
    assert loss == pytest.approx(network.loss_and_gradients(double, x.astype(np.float32), labels)[0], rel=1e-4)


def test_number_of_parameters_and_their_names():
    network = Network(Highway(), depth=2, width=5, n_in=3, n_classes=4)
    params = network.initialise(0)
    assert network.n_parameters == params.flat.size == (3 * 5 + 5) + (5 * 4 + 4) + 2 * 2 * (5 * 5 + 5)
    shapes = {name: array.shape for name, array in params.named()}
    assert shapes == {
        "input.W": (3, 5), "input.b": (5,), "head.W": (5, 4), "head.b": (4,),
        "blocks.0.W_H": (5, 5), "blocks.0.W_T": (5, 5), "blocks.0.b_H": (5,), "blocks.0.b_T": (5,),
        "blocks.1.W_H": (5, 5), "blocks.1.W_T": (5, 5), "blocks.1.b_H": (5,), "blocks.1.b_T": (5,),
    }  # fmt: skip
    np.testing.assert_array_equal(np.concatenate([array.ravel(order="F") for _, array in params.named()]), params.flat)


def test_order_of_the_draws():
    """Input W and b, head W and b, then per block W_H, b_H, W_T and a bias that is thrown away."""
    params = Network(Highway(-3.0), depth=2, width=4, n_in=9, n_classes=3).initialise(5)
    rng = np.random.default_rng(5)

    def draw(n_in, n_out):
        bound = 1 / math.sqrt(n_in)
        return rng.uniform(-bound, bound, (n_in, n_out)), rng.uniform(-bound, bound, n_out)

    expected = [*draw(9, 4), *draw(4, 3)]
    layers = [params.input["W"], params.input["b"], params.head["W"], params.head["b"]]
    for views in params.blocks:
        expected += [*draw(4, 4), draw(4, 4)[0], np.full(4, -3.0)]
        layers += [views["W_H"], views["b_H"], views["W_T"], views["b_T"]]
    for ours, wanted in zip(layers, expected, strict=True):
        np.testing.assert_array_equal(ours, wanted)


@quick
@given(networks, seeds, initialisers)
def test_a_seed_and_its_generator_draw_the_same(network, seed, initialiser):
    first = network.initialise(seed, initialiser)
    second = network.initialise(np.random.default_rng(seed), initialiser)
    np.testing.assert_array_equal(first.flat, second.flat)
    single = network.initialise(seed, initialiser, "float32")
    np.testing.assert_array_equal(single.flat, first.flat.astype(np.float32))


def assert_named_arrays_are_views(params):
    """Write to the flat vector and read by name, then the other way round."""
    params.flat[:] = np.arange(params.flat.size)
    np.testing.assert_array_equal(np.concatenate([array.ravel(order="F") for _, array in params.named()]), params.flat)
    for _, array in params.named():
        array += 1
    np.testing.assert_array_equal(params.flat, np.arange(params.flat.size) + 1)


@quick
@given(networks, dtypes)
def test_named_arrays_are_views_of_the_flat_vector(network, dtype):
    """Every number once: so no two layers share memory either."""
    assert_named_arrays_are_views(network.zeros(dtype))


WAYS_TO_COPY = {
    "copy": Parameters.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda params: pickle.loads(pickle.dumps(params)),
    "deepcopy in a list": lambda params: copy.deepcopy([params])[0],
    "another process": lambda params: joblib.Parallel(2)(joblib.delayed(Parameters.copy)(p) for p in [params] * 2)[0],
}


@pytest.mark.parametrize("way", WAYS_TO_COPY)
def test_a_copy_shares_nothing_and_is_whole(way):
    network = Network(Highway(-2.0), depth=3, width=5, n_in=4, n_classes=3)
    params = network.initialise(0)
    copied = WAYS_TO_COPY[way](params)
    np.testing.assert_array_equal(copied.flat, params.flat)
    assert copied.network == network
    for _, array in copied.named():
        assert not np.shares_memory(array, params.flat)
    assert_named_arrays_are_views(copied)
    np.testing.assert_array_equal(params.flat, network.initialise(0).flat)


@pytest.mark.parametrize("block", [Plain("tanh"), Highway(-3.0), Residual(0.5, True), NaiveResidual()], ids=repr)
def test_networks_and_blocks_pickle(block):
    network = Network(block, depth=3)
    assert pickle.loads(pickle.dumps(network)) == network
    assert copy.deepcopy(block) == block


@quick
@given(networks, batches, seeds, dtypes)
def test_callers_arrays_are_never_written_to(network, batch, seed, dtype):
    params, x, labels = drawn_network(network, batch, seed, dtype)
    loss, gradients = network.loss_and_gradients(params, x, labels)
    before = stirred_randomness()
    locked = Parameters(network, read_only(params.flat))
    loss_locked, gradients_locked = network.loss_and_gradients(locked, read_only(x), read_only(labels))
    network.evaluate(locked, read_only(x), read_only(labels))
    assert loss_locked == loss
    np.testing.assert_array_equal(gradients_locked.flat, gradients.flat)
    assert global_randomness() == before


@quick
@given(networks, batches, seeds, seeds)
def test_two_forwards_then_the_first_ones_backward(network, batch, seed, other_seed):
    params, x, labels = drawn_network(network, batch, seed)
    _, expected = network.loss_and_gradients(params, x, labels)
    logits, cache = network.forward(params, x)
    network.forward(*drawn_network(network, batch + 2, other_seed)[:2])
    gradients, _ = network.backward(params, cache, cross_entropy(logits, labels)[1])
    np.testing.assert_array_equal(gradients.flat, expected.flat)


@quick
@given(networks, seeds)
def test_odd_forms_of_input_equal_the_plain_copy(network, seed):
    params, _, labels = drawn_network(network, 2, seed)
    x = np.tile(np.random.default_rng(seed).integers(-3, 4, network.n_in).astype(float), (2, 1))
    loss, gradients = network.loss_and_gradients(params, x, labels)
    for form, odd in odd_forms(x):
        loss_odd, gradients_odd = network.loss_and_gradients(params, odd, labels)
        assert loss_odd == pytest.approx(loss, rel=1e-12, abs=1e-15), form
        np.testing.assert_allclose(gradients_odd.flat, gradients.flat, rtol=1e-10, atol=1e-14, err_msg=form)


class LikeADataFrame:
    """An object that numpy can turn into an array, as pandas' are."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


def test_table_like_input_and_labels_in_a_list():
    network = Network(Plain(), depth=1, width=3, n_in=2, n_classes=2)
    params, x, labels = drawn_network(network, 4, 0)
    expected = network.evaluate(params, x, labels)
    assert network.evaluate(params, LikeADataFrame(x.tolist()), LikeADataFrame(labels)) == expected
    assert network.evaluate(params, x.tolist(), labels.tolist()) == expected
    assert [type(number) for number in expected] == [float, float]


@quick
@given(networks, batches, seeds)
def test_the_loss_is_a_mean_so_a_doubled_batch_changes_nothing(network, batch, seed):
    params, x, labels = drawn_network(network, batch, seed)
    loss, gradients = network.loss_and_gradients(params, x, labels)
    twice, gradients_twice = network.loss_and_gradients(params, np.tile(x, (2, 1)), np.tile(labels, 2))
    assert twice == pytest.approx(loss, rel=1e-12, abs=1e-15)
    np.testing.assert_allclose(gradients_twice.flat, gradients.flat, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("block", [Plain(), Plain("tanh"), Highway(), Residual()], ids=repr)
def test_depth_0_is_no_block_at_all(block):
    network = Network(block, depth=0, width=4, n_in=3, n_classes=2)
    params, x, _ = drawn_network(network, 5, 0)
    logits, cache = network.forward(params, x)
    f = np.tanh if block.activation == "tanh" else lambda z: np.maximum(z, 0)
    hidden = f(x @ params.input["W"] + params.input["b"])
    np.testing.assert_allclose(logits, hidden @ params.head["W"] + params.head["b"], rtol=1e-12)
    assert params.blocks == cache.blocks == []


@pytest.mark.parametrize("block", [Plain(), Highway(-8.0), Residual(0.01)], ids=repr)
def test_depth_2000_works(block):
    network = Network(block, depth=2000, width=4, n_in=4, n_classes=3)
    params, x, labels = drawn_network(network, 2, 0)
    loss, gradients = network.loss_and_gradients(params, x, labels)
    assert np.isfinite(loss)
    assert np.isfinite(gradients.flat).all()
    assert pickle.loads(pickle.dumps(params)).flat.size == network.n_parameters
    if not isinstance(block, Plain):
        assert all(views.any() for views in gradients.blocks[0].values())


def test_parameters_of_another_network_are_refused_but_those_of_a_twin_are_welcome():
    network, x = Network(Highway(-2.0), depth=2, width=3, n_in=3), np.ones((1, 3))
    twin = Network(Highway(-5.0), depth=2, width=3, n_in=3)
    network.forward(twin.initialise(0), x)
    for other in (Network(Highway(-2.0), 3, 3, 3), Network(Plain(), 2, 3, 3), Network(Highway(-2.0), 2, 4, 3)):
        with pytest.raises(ValueError, match="params must fit"):
            network.forward(other.initialise(0), x)
