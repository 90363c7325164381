"""The variants: gradients, the limits in which they are blocks we know, and batch normalisation folded away."""

import numpy as np
import pytest
from engine import activations, assert_slopes, batches, finite_differences, gate_biases, quick, seeds, widths
from hypothesis import given
from hypothesis import strategies as st

from highway_lessons import Highway, Network, Plain, Residual, check_gradients, digits, fit, signal_norms, variants
from highway_lessons.functions import sigmoid
from highway_lessons.initialisation import INITIALISERS
from highway_lessons.variants import (
    BatchNorm,
    FixedGate,
    GatedResidual,
    InputIndependentGate,
    ScalarGate,
    ScaledResidual,
    Uncoupled,
    fold_batch_norm,
)

GATED = [ScalarGate, InputIndependentGate, Uncoupled, GatedResidual]
EACH = [kind(-1.0, activation=f) for kind in GATED for f in ("relu", "tanh")]
EACH += [GatedResidual(-1.0, exclusive=False), FixedGate(0.3), FixedGate(0.3, "tanh"), BatchNorm(0.7)]
EACH += [BatchNorm(1.0, "tanh"), ScaledResidual(0.5, 0.5), ScaledResidual(0.5, 1.0, "tanh")]
each = pytest.mark.parametrize("block", EACH, ids=str)


def drawn(block, width, batch, seed, dtype=np.float64):
    """Parameters without zeros, a batch and a signal from above."""
    rng = np.random.default_rng(seed)
    params = {name: rng.normal(0, 0.7, shape).astype(dtype) for name, shape in block.shapes(width).items()}
    x, dy = rng.normal(size=(2, batch, width)).astype(dtype)
    return params, x, dy


def switched_on(cache):
    """The ReLUs that are on, whatever the block calls what leaves them; empty for values that have no kink."""
    return [getattr(cache, name) > 0 for name in ("H", "h", "y") if hasattr(cache, name)]


@each
@quick
@given(widths, st.integers(2, 5), seeds)
def test_gradients_of_every_parameter_and_of_the_input(block, width, batch, seed):
    params, x, dy = drawn(block, width, batch, seed)
    _, cache = block.forward(params, x)
    dx, grads = block.backward(params, cache, dy)
    assert grads.keys() == params.keys()

    def value():
        y, cache = block.forward(params, x)
        return (y * dy).sum(), switched_on(cache) if block.activation == "relu" else []

    # Two rows that normalisation drives apart bend sharply, so a step of the usual size sees the curvature
    rtol, atol = (1e-4, 1e-5) if isinstance(block, BatchNorm) else (1e-6, 1e-8)
    for name, array in params.items():
        assert_slopes(grads[name], finite_differences(value, array), rtol, atol)
    assert_slopes(dx, finite_differences(value, x), rtol, atol)


@each
def test_whole_network_gradients(block):
    network = Network(block, depth=3, width=5, n_in=4, n_classes=3)
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(6, 4)), rng.integers(0, 3, 6)
    errors = check_gradients(network, network.initialise(1), x, labels)
    assert max(errors.values()) < 1e-5


@each
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_blocks_interface(block, dtype):
    """Names and shapes agree everywhere, the type is kept, nothing given is written to, nothing is remembered."""
    params, x, dy = drawn(block, 6, 4, 0, dtype)
    kept = [array.copy() for array in (*params.values(), x, dy)]
    y, cache = block.forward(params, x)
    dx, grads = block.backward(params, cache, dy)
    block.forward(params, 2 * x)
    again, _ = block.forward(params, x)
    np.testing.assert_array_equal(again, y)
    assert y.shape == dx.shape == x.shape
    assert y.dtype == dx.dtype == dtype
    assert {n: g.shape for n, g in grads.items()} == block.shapes(6) == {n: p.shape for n, p in params.items()}
    assert {g.dtype for g in grads.values()} == {np.dtype(dtype)}
    for before, after in zip(kept, (*params.values(), x, dy), strict=True):
        np.testing.assert_array_equal(before, after)
    start = block.initialise(np.random.default_rng(0), 6, INITIALISERS["he"])
    assert {n: p.shape for n, p in start.items()} == block.shapes(6)
    with pytest.raises(ValueError, match="columns"):
        block.forward(params, x[:, :5])


@each
def test_wrong_input_is_told(block):
    with pytest.raises(ValueError, match="activation must be"):
        type(block)(activation="sine")
    name = next(iter(block.__dataclass_fields__))
    with pytest.raises(ValueError, match=f"{name} must be finite"):
        type(block)(float("nan"))


@quick
@given(activations, widths, batches, seeds)
def test_shut_gates_give_x_exactly_and_open_ones_give_the_transform(activation, width, batch, seed):
    for shut, opened in (
        (ScalarGate(0, activation), ScalarGate(0, activation)),
        (InputIndependentGate(0, activation), InputIndependentGate(0, activation)),
        (FixedGate(0, activation), FixedGate(1, activation)),
    ):
        params, x, _ = drawn(shut, width, batch, seed)
        bias = {"b_T": np.full_like(params["b_T"], 1000.0)} if "b_T" in params else {}
        closing = {name: -values for name, values in bias.items()}
        np.testing.assert_array_equal(shut.forward(params | closing, x)[0], x)
        plain, _ = Plain(activation).forward({name: params[name] for name in ("W_H", "b_H")}, x)
        np.testing.assert_allclose(opened.forward(params | bias, x)[0], plain, rtol=1e-12)


@quick
@given(gate_biases, activations, widths, batches, seeds)
def test_gates_that_ignore_the_input_are_a_highway_block_without_W_T(gate_bias, activation, width, batch, seed):
    params, x, _ = drawn(Highway(gate_bias, activation), width, batch, seed)
    params["W_T"][:], params["b_T"][:] = 0, gate_bias
    y, _ = Highway(gate_bias, activation).forward(params, x)
    plain = {name: params[name] for name in ("W_H", "b_H")}
    one = plain | {"W_T": np.zeros((width, 1)), "b_T": np.full(1, gate_bias)}
    np.testing.assert_allclose(ScalarGate(0, activation).forward(one, x)[0], y, atol=1e-12)
    per_unit = plain | {"b_T": params["b_T"]}
    np.testing.assert_allclose(InputIndependentGate(0, activation).forward(per_unit, x)[0], y, atol=1e-12)
    np.testing.assert_allclose(FixedGate(float(sigmoid(gate_bias)), activation).forward(plain, x)[0], y, atol=1e-12)


@quick
@given(gate_biases, activations, widths, batches, seeds)
def test_uncoupled_gates_hold_the_highway_block_as_a_special_case(gate_bias, activation, width, batch, seed):
    params, x, _ = drawn(Highway(gate_bias, activation), width, batch, seed)
    y, _ = Highway(gate_bias, activation).forward(params, x)
    coupled = params | {"W_C": -params["W_T"], "b_C": -params["b_T"]}
    np.testing.assert_allclose(Uncoupled(gate_bias, activation).forward(coupled, x)[0], y, atol=1e-12)
    start = Uncoupled(gate_bias, activation).initialise(0, width)
    np.testing.assert_allclose(sigmoid(start["b_C"]), 1 - sigmoid(start["b_T"]), atol=1e-15)


@quick
@given(activations, widths, batches, seeds)
def test_gated_residuals_have_the_residual_block_in_their_limits(activation, width, batch, seed):
    params, x, _ = drawn(GatedResidual(0, True, activation), width, batch, seed)
    branch = {name: params[name] for name in ("W_1", "b_1", "W_2", "b_2")}
    y, _ = Residual(activation=activation).forward(branch, x)
    params["b_T"] = np.full(width, -1000.0)
    np.testing.assert_allclose(GatedResidual(0, False, activation).forward(params, x)[0], y, rtol=1e-12)
    np.testing.assert_array_equal(GatedResidual(0, True, activation).forward(params, x)[0], x)
    params["b_T"] = np.full(width, 1000.0)
    for exclusive in (True, False):  # g = 1: the branch alone
        shut, _ = GatedResidual(0, exclusive, activation).forward(params, x)
        np.testing.assert_allclose(shut, y - x, atol=1e-12)
    np.testing.assert_allclose(ScaledResidual(1, 1, activation).forward(branch, x)[0], y, rtol=1e-12)
    np.testing.assert_allclose(ScaledResidual(0.5, 0.5, activation).forward(branch, x)[0], y / 2, atol=1e-12)


def test_the_gates_of_a_fresh_network_are_those_its_bias_says():
    data = digits(0)
    for block in (ScalarGate(-2.0), InputIndependentGate(-2.0), Uncoupled(-2.0), FixedGate(float(sigmoid(-2.0)))):
        network = Network(block, depth=4)
        T = signal_norms(network, network.initialise(0), data.x_train[:64], data.y_train[:64]).T
        np.testing.assert_allclose(T, sigmoid(-2.0), atol=0.02)


# Batch normalisation


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_normalised_columns_have_mean_beta_and_spread_gamma(activation):
    block = BatchNorm(activation=activation)
    params, x, _ = drawn(block, 5, 200, 0)
    _, cache = block.forward(params, 3 * x + 7)
    np.testing.assert_allclose(cache.z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(cache.z.std(axis=0), 1, atol=1e-4)
    assert block.initialise(0, 5)["gamma"] == pytest.approx(1.0)


def test_a_batch_of_one_gives_f_of_beta():
    params, x, _ = drawn(BatchNorm(activation="tanh"), 4, 1, 0)
    y, _ = BatchNorm(activation="tanh").forward(params, x)
    np.testing.assert_allclose(y[0], np.tanh(params["beta"]))


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_folded_it_gives_the_same_on_the_training_set_and_treats_each_example_alone(activation):
    data = digits(0)
    network = Network(BatchNorm(0.8, activation), depth=4, width=16)
    run = fit(network, data._replace(x_test=None, y_test=None), epochs=2, rng=0)
    plain, params = fold_batch_norm(network, run.params, data.x_train)
    assert plain.block == Plain(activation)
    logits, _ = network.forward(run.params, data.x_train)
    folded, _ = plain.forward(params, data.x_train)
    np.testing.assert_allclose(folded, logits, atol=1e-9)
    alone = np.concatenate([plain.forward(params, data.x_test[i : i + 1])[0] for i in range(5)])
    np.testing.assert_allclose(alone, plain.forward(params, data.x_test)[0][:5], atol=1e-12)
    together, _ = network.forward(run.params, data.x_test[:5])
    assert np.abs(together - alone).max() > 0.1, "without folding, five neighbours change the answer"


def test_only_batch_normalisation_is_folded():
    network = Network(Plain(), depth=1)
    with pytest.raises(TypeError, match="BatchNorm blocks"):
        fold_batch_norm(network, network.initialise(0), np.zeros((1, 64)))


@each
def test_they_train(block):
    data = digits(0)
    run = fit(Network(block, depth=2, width=32), data, epochs=8, rng=0, initialiser="he", dtype=np.float32)
    assert run.history["train_loss"][-1] < 0.5 * run.history["train_loss"][0]


def test_importing_them_needs_numpy_alone():
    assert not {"torch", "matplotlib", "scipy"} & set(vars(variants))
