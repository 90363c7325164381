"""The blocks: limits, gradients, explicit caches, and what they must leave alone."""

import dataclasses
import math

import numpy as np
import pytest
from engine import (
    activations,
    active,
    assert_slopes,
    batches,
    blocks,
    drawn_block,
    dtypes,
    finite_differences,
    gate_biases,
    initialisers,
    odd_forms,
    quick,
    read_only,
    seeds,
    thorough,
    widths,
)
from hypothesis import given
from hypothesis import strategies as st

from highway_lessons import Highway, NaiveResidual, Plain, Residual
from highway_lessons.initialisation import INITIALISERS

EACH = [Plain(), Plain("tanh"), Highway(-2.0), Highway(1.0, "tanh"), Residual(0.5), Residual(1.0, True, "tanh")]
EACH += [NaiveResidual(), NaiveResidual("tanh")]
ACTIVATION = {"relu": lambda z: np.where(z > 0, z, 0), "tanh": np.tanh}


def transform(block, params, x):
    """H(x), written anew."""
    return ACTIVATION[block.activation](x @ params["W_H"] + params["b_H"])


@thorough
@given(blocks(), widths, batches, seeds)
def test_gradients_of_every_parameter_and_of_the_input(block, width, batch, seed):
    params, x, dy = drawn_block(block, width, batch, seed)
    _, cache = block.forward(params, x)
    dx, grads = block.backward(params, cache, dy)
    assert grads.keys() == params.keys()

    def value():
        y, cache = block.forward(params, x)
        return (y * dy).sum(), active(block, cache)

    for name, array in params.items():
        assert_slopes(grads[name], finite_differences(value, array))
    assert_slopes(dx, finite_differences(value, x))


@thorough
@given(blocks(), widths, batches, seeds)
def test_float32_gradients_are_those_of_float64_rounded(block, width, batch, seed):
    params, x, dy = drawn_block(block, width, batch, seed, np.float32)
    y, cache = block.forward(params, x)
    dx, grads = block.backward(params, cache, dy)
    double = {name: array.astype(np.float64) for name, array in params.items()}
    y64, cache64 = block.forward(double, x.astype(np.float64))
    dx64, grads64 = block.backward(double, cache64, dy.astype(np.float64))
    assert y.dtype == dx.dtype == np.float32
    np.testing.assert_allclose(y, y64, rtol=1e-4, atol=1e-5)
    if all(np.array_equal(a, b) for a, b in zip(active(block, cache), active(block, cache64), strict=True)):
        np.testing.assert_allclose(dx, dx64, rtol=1e-4, atol=1e-5)
        for name, array in grads.items():
            assert array.dtype == np.float32
            np.testing.assert_allclose(array, grads64[name], rtol=1e-4, atol=1e-4)


@thorough
@given(activations, widths, batches, seeds)
def test_gate_shut_gives_x_exactly(activation, width, batch, seed):
    block = Highway(-1000.0, activation)
    params, x, dy = drawn_block(block, width, batch, seed)
    y, cache = block.forward(params, x)
    assert (cache.T == 0).all()
    np.testing.assert_array_equal(y, x)
    dx, grads = block.backward(params, cache, dy)
    np.testing.assert_array_equal(dx, dy)
    assert not any(array.any() for array in grads.values())


@thorough
@given(activations, st.integers(1, 40), st.integers(1, 40), seeds)
def test_gate_open_gives_the_transform(activation, width, batch, seed):
    block = Highway(1000.0, activation)
    params, x, _ = drawn_block(block, width, batch, seed)
    y, cache = block.forward(params, x)
    assert (cache.T == 1).all()
    np.testing.assert_allclose(y, transform(block, params, x), rtol=1e-12, atol=0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gate_open_keeps_a_small_transform_beside_a_large_input(dtype):
    """y = x + T · (H − x), the same mix in fewer steps, would lose H in the rounding of x."""
    params = {"W_H": np.zeros((1, 1)), "W_T": np.zeros((1, 1)), "b_H": np.array([1e-12]), "b_T": np.array([1000.0])}
    params = {name: array.astype(dtype) for name, array in params.items()}
    y, _ = Highway().forward(params, np.array([[1e6]], dtype))
    assert y[0, 0] == dtype(1e-12)


@thorough
@given(blocks().filter(lambda block: isinstance(block, Highway)), widths, batches, seeds)
def test_highway_is_the_papers_formula_unit_by_unit(block, width, batch, seed):
    params, x, _ = drawn_block(block, width, batch, seed)
    y, _ = block.forward(params, x)
    for i in range(batch):
        for j in range(width):
            z_H = sum(x[i, k] * params["W_H"][k, j] for k in range(width)) + params["b_H"][j]
            z_T = sum(x[i, k] * params["W_T"][k, j] for k in range(width)) + params["b_T"][j]
            H = max(z_H, 0.0) if block.activation == "relu" else math.tanh(z_H)
            T = 1 / (1 + math.exp(-z_T))
            assert y[i, j] == pytest.approx(H * T + x[i, j] * (1 - T), rel=1e-9, abs=1e-12)


@quick
@given(gate_biases, widths, seeds)
def test_at_x_0_the_gate_is_sigma_of_the_bias(gate_bias, width, seed):
    block = Highway(gate_bias)
    params = block.initialise(np.random.default_rng(seed), width)
    _, cache = block.forward(params, np.zeros((3, width)))
    np.testing.assert_allclose(cache.T, 1 / (1 + math.exp(-gate_bias)), rtol=1e-14)


@quick
@given(gate_biases, st.integers(32, 128), seeds)
def test_mean_gate_at_the_start_is_within_0_03_of_it(gate_bias, width, seed):
    rng = np.random.default_rng(seed)
    block = Highway(gate_bias)
    params = block.initialise(rng, width)
    _, cache = block.forward(params, rng.normal(size=(512, width)))
    assert cache.T.mean() == pytest.approx(1 / (1 + math.exp(-gate_bias)), abs=0.03)


@pytest.mark.parametrize(("gate_bias", "gate"), [(-2, "0.1192"), (-3, "0.0474"), (0, "0.5000")])
def test_known_gates(gate_bias, gate):
    block = Highway(gate_bias)
    params = block.initialise(np.random.default_rng(0), 5)
    assert params["b_T"].shape == (5,)
    _, cache = block.forward(params, np.zeros((1, 5)))
    assert {f"{value:.4f}" for value in cache.T[0]} == {gate}


@thorough
@given(blocks(), widths, batches, seeds)
def test_plain_and_residual_formulas(block, width, batch, seed):
    params, x, _ = drawn_block(block, width, batch, seed)
    y, _ = block.forward(params, x)
    if isinstance(block, Residual):
        hidden = ACTIVATION[block.activation](x @ params["W_1"] + params["b_1"])
        expected = x + block.scale * (hidden @ params["W_2"] + params["b_2"])
    elif isinstance(block, Highway):
        T = 1 / (1 + np.exp(-(x @ params["W_T"] + params["b_T"])))
        expected = T * transform(block, params, x) + (1 - T) * x
    else:
        expected = transform(block, params, x) + (x if isinstance(block, NaiveResidual) else 0)
    np.testing.assert_allclose(y, expected, rtol=1e-10, atol=1e-12)


@thorough
@given(blocks(), widths, batches, seeds, seeds)
def test_a_second_forward_does_not_disturb_the_first_ones_backward(block, width, batch, seed, other_seed):
    params, x, dy = drawn_block(block, width, batch, seed)
    _, cache = block.forward(params, x)
    dx, grads = block.backward(params, cache, dy)
    _, cache = block.forward(params, x)
    block.forward(*drawn_block(block, width, batch + 1, other_seed)[:2])
    again, grads_again = block.backward(params, cache, dy)
    np.testing.assert_array_equal(again, dx)
    for name, array in grads.items():
        np.testing.assert_array_equal(grads_again[name], array)


@thorough
@given(blocks(), widths, batches, seeds, dtypes)
def test_callers_arrays_are_never_written_to(block, width, batch, seed, dtype):
    params, x, dy = drawn_block(block, width, batch, seed, dtype)
    y, cache = block.forward(params, x)
    dx, _ = block.backward(params, cache, dy)
    locked = {name: read_only(array) for name, array in params.items()}
    y_locked, cache = block.forward(locked, read_only(x))
    dx_locked, _ = block.backward(locked, cache, read_only(dy))
    np.testing.assert_array_equal(y_locked, y)
    np.testing.assert_array_equal(dx_locked, dx)


@quick
@given(blocks(), widths, seeds)
def test_odd_forms_of_input_equal_the_plain_copy(block, width, seed):
    params, _, dy = drawn_block(block, width, 2, seed)
    x = np.tile(np.random.default_rng(seed).integers(-3, 4, width).astype(float), (2, 1))
    y, cache = block.forward(params, x)
    dx, grads = block.backward(params, cache, dy)
    for form, odd in odd_forms(x):
        y_odd, cache = block.forward(params, odd)
        dx_odd, grads_odd = block.backward(params, cache, dy)
        assert y_odd.dtype == np.float64, form
        np.testing.assert_allclose(y_odd, y, rtol=1e-12, atol=1e-14, err_msg=form)
        np.testing.assert_allclose(dx_odd, dx, rtol=1e-12, atol=1e-14, err_msg=form)
        for name, array in grads.items():
            np.testing.assert_allclose(grads_odd[name], array, rtol=1e-12, atol=1e-13, err_msg=f"{form}: {name}")


@quick
@given(blocks(), widths, seeds)
def test_whole_number_weights_work(block, width, seed):
    rng = np.random.default_rng(seed)
    whole = {name: rng.integers(-2, 3, shape) for name, shape in block.shapes(width).items()}
    x, dy = rng.normal(size=(2, 3, width))
    y, cache = block.forward(whole, x)
    dx, _ = block.backward(whole, cache, dy)
    floating = {name: array.astype(float) for name, array in whole.items()}
    y_floating, cache = block.forward(floating, x)
    np.testing.assert_allclose(y, y_floating, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(dx, block.backward(floating, cache, dy)[0], rtol=1e-12, atol=1e-14)


@quick
@given(blocks(), widths, seeds)
def test_an_example_does_not_depend_on_the_rest_of_its_batch(block, width, seed):
    params, x, _ = drawn_block(block, width, 5, seed)
    y, _ = block.forward(params, x)
    for i in range(5):
        np.testing.assert_allclose(block.forward(params, x[i : i + 1])[0][0], y[i], rtol=1e-12, atol=1e-14)


@quick
@given(blocks(), widths, seeds, initialisers)
def test_starting_values_have_the_promised_names_and_shapes(block, width, seed, initialiser):
    values = block.initialise(np.random.default_rng(seed), width, INITIALISERS[initialiser])
    assert {name: array.shape for name, array in values.items()} == block.shapes(width)
    if isinstance(block, Highway):
        np.testing.assert_array_equal(values["b_T"], np.full(width, block.gate_bias))
    for name, array in values.items():
        if initialiser != "uniform" and name.startswith("b") and name != "b_T":
            assert not array.any()


def test_order_of_the_draws():
    """W_H, b_H, W_T, and a bias that is thrown away."""
    rng, bound = np.random.default_rng(7), 1 / 2
    W_H, b_H, W_T = (
        rng.uniform(-bound, bound, (4, 4)),
        rng.uniform(-bound, bound, 4),
        rng.uniform(-bound, bound, (4, 4)),
    )
    rng.uniform(-bound, bound, 4)
    after = rng.random()
    rng = np.random.default_rng(7)
    params = Highway(-2.0).initialise(rng, 4)
    np.testing.assert_array_equal(params["W_H"], W_H)
    np.testing.assert_array_equal(params["b_H"], b_H)
    np.testing.assert_array_equal(params["W_T"], W_T)
    assert rng.random() == after


def test_residual_has_as_many_parameters_as_highway_and_may_start_as_the_identity():
    rng = np.random.default_rng(0)
    sizes = [sum(math.prod(shape) for shape in block.shapes(64).values()) for block in (Residual(), Highway())]
    assert sizes == [8320, 8320]
    x = rng.normal(size=(3, 8))
    block = Residual(zero_start=True)
    np.testing.assert_array_equal(block.forward(block.initialise(rng, 8), x)[0], x)
    block = Residual()
    assert (block.forward(block.initialise(rng, 8), x)[0] != x).any()


def test_a_scale_from_numpy_keeps_float32():
    """1 / np.sqrt(depth) is a numpy float64, which would raise float32 activations to float64."""
    block = Residual(scale=1 / np.sqrt(50))
    params, x, dy = drawn_block(block, 4, 3, 0, np.float32)
    y, cache = block.forward(params, x)
    assert y.dtype == block.backward(params, cache, dy)[0].dtype == np.float32
    assert repr(block) == "Residual(scale=0.1414213562373095, zero_start=False, activation='relu')"
    assert repr(Highway(np.float64(-2))) == "Highway(gate_bias=-2.0, activation='relu')"


def test_naive_residual_only_adds_with_relu():
    block = NaiveResidual()
    params, x, _ = drawn_block(block, 6, 20, 0)
    assert (block.forward(params, x)[0] >= x).all()


@pytest.mark.parametrize("block", EACH, ids=repr)
def test_blocks_are_immutable_values(block):
    with pytest.raises(dataclasses.FrozenInstanceError):
        block.activation = "tanh"
    assert dataclasses.replace(block) == block
    assert hash(dataclasses.replace(block)) == hash(block)
