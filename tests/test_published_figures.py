"""The published figures F1 to F7, one test per row: what this package reproduces, and how closely.

"To the printed digits" means that our number, printed with the published number of digits, is the published text.
Rows that need the same training share it; with pytest-xdist use `--dist loadfile`, so that they share a process.
"""

import math
from functools import cache

import numpy as np
import pytest

from highway_lessons import Adam, Highway, Network, Plain, check_gradients, digits, direct_path, fit, signal_norms
from highway_lessons.gradients import end_to_end_jacobian
from highway_lessons.initialisation import orthogonal

BLOCKS = {"plain": Plain(), "highway": Highway(gate_bias=-2.0)}


# F1: one highway layer of width 4 with a tanh transform.


def one_layer(gate_bias):
    """The recipe of F1: parameters in our row convention, the input, and the cache of one forward pass."""
    rng = np.random.default_rng(0)
    W_H, W_T = rng.normal(0, 0.5, (4, 4)), rng.normal(0, 0.5, (4, 4))
    x = rng.normal(0, 1, 4)
    params = {"W_H": W_H.T, "W_T": W_T.T, "b_H": np.zeros(4), "b_T": np.full(4, float(gate_bias))}
    y, layer = Highway(gate_bias, "tanh").forward(params, x[None, :])
    return W_H, W_T, x, y[0], layer


@pytest.mark.parametrize(
    ("gate_bias", "mean_gate", "distance"), [(0, "0.513", "0.360"), (-2, "0.128", "0.083"), (-5, "0.007", "0.005")]
)
def test_f1_one_layer(gate_bias, mean_gate, distance):
    _, _, x, y, layer = one_layer(gate_bias)
    assert f"{layer.T.mean():.3f}" == mean_gate
    assert f"{np.linalg.norm(y - x):.3f}" == distance


def test_f1_definition_in_columns():
    """The papers' own form, W x with column vectors and y = H · T + x · (1 − T), gives the same layer."""
    W_H, W_T, x, y, _ = one_layer(-2)
    H, T = np.tanh(W_H @ x), 1 / (1 + np.exp(-(W_T @ x - 2)))
    np.testing.assert_allclose(y, H * T + x * (1 - T), rtol=1e-13)


# F2: one layer by hand.


def test_f2_by_hand():
    """H and T are set through the biases: with W = 0, H = ReLU(b_H) and T = σ(b_T)."""
    x, H, T = np.array([1.0, -0.5]), np.array([2.0, 0.0]), np.array([0.1, 0.8])
    params = {"W_H": np.zeros((2, 2)), "W_T": np.zeros((2, 2)), "b_H": H, "b_T": np.log(T / (1 - T))}
    y, _ = Highway().forward(params, x[None, :])
    assert [f"{value:.2f}" for value in y[0]] == ["1.10", "-0.10"]


# F3: the direct path.


@pytest.mark.parametrize(
    ("gate", "depth", "share"),
    [
        (0.02, 10, "0.817"), (0.02, 30, "0.545"), (0.02, 50, "0.364"),
        (0.10, 10, "0.349"), (0.10, 30, "0.0424"), (0.10, 50, "0.00515"),
        (0.50, 10, "0.000977"), (0.50, 30, "9.31e-10"), (0.50, 50, "8.88e-16"),
    ],
)  # fmt: skip
def test_f3_direct_path(gate, depth, share):
    assert f"{direct_path(gate, depth):.3g}" == share


def test_f3_plain_stack_of_norm_0_8_keeps_at_most_0_8_to_the_50():
    """At x = 0 a tanh stack of 0.8 × orthogonal matrices keeps exactly that; elsewhere tanh keeps less."""
    network = Network(Plain("tanh"), depth=50, width=4, n_in=4, n_classes=2)
    params, rng = network.zeros(), np.random.default_rng(0)
    params.input["W"][:] = np.eye(4)
    for views in params.blocks:
        views["W_H"][:] = 0.8 * orthogonal(rng, 4, 4)[0]

    def most(x):
        return np.linalg.norm(end_to_end_jacobian(network, params, x), 2)

    assert f"{most(np.zeros(4)):.1e}" == "1.4e-05"
    assert most(rng.normal(size=4)) < 0.8**50


# F4: gradients against central differences.


@cache
def gradient_errors(kind):
    rng = np.random.default_rng(0)
    network = Network(BLOCKS[kind], depth=3, width=6, n_in=6, n_classes=4)
    params = network.initialise(rng)
    return check_gradients(network, params, rng.normal(size=(8, 6)), rng.integers(0, 4, 8), step=1e-6)


@pytest.mark.parametrize(
    ("kind", "name"), [("plain", "W_H"), ("highway", "W_H"), ("highway", "W_T"), ("highway", "b_T")]
)
def test_f4_gradient_check_of_the_second_block(kind, name):
    """Of the order 1e-10: central differences in float64 cannot do much better."""
    assert gradient_errors(kind)[f"blocks.1.{name}"] < 1e-9


# F5: gradient norm of W_H per block at initialisation.


@pytest.mark.parametrize(
    ("kind", "depth", "first", "last", "ratio"),
    [
        ("plain", 10, "2.36e-05", "1.65e-02", "1.43e-03"),
        ("highway", 10, "3.36e-03", "4.28e-03", "7.84e-01"),
        ("plain", 50, "4.28e-21", "8.99e-03", "4.76e-19"),
        ("highway", 50, "2.37e-05", "7.17e-04", "3.31e-02"),
    ],
)
def test_f5_weight_gradient_per_block(kind, depth, first, last, ratio):
    rng = np.random.default_rng(0)
    network = Network(BLOCKS[kind], depth=depth)
    params = network.initialise(rng)
    x, labels = rng.normal(size=(256, 64)), rng.integers(0, 10, 256)
    dW = signal_norms(network, params, x, labels).dW
    assert [f"{value:.2e}" for value in (dW[0], dW[-1], dW[0] / dW[-1])] == [first, last, ratio]


# F6 and F7: training on digits.


@cache
def trained(block, depth):
    """Test accuracy and loss of the last mini-batch after 30 epochs of the published recipe."""
    recipe = Adam(learning_rate=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8)
    run = fit(Network(block, depth), digits(), optimiser=recipe, epochs=30, batch_size=64, rng=0)
    assert run.stopped is None
    assert len(run.history["test_accuracy"]) == 30
    return run.history["test_accuracy"][-1], run.history["last_batch_loss"][-1]


def test_f6_data():
    """1257 images to train on, 540 to test; the most frequent class is 0.1019 of the test set; a guess costs ln 10."""
    data = digits()
    assert (len(data.x_train), len(data.x_test)) == (1257, 540)
    assert (data.x_train.min(), data.x_train.max()) == (0, 1)
    assert f"{np.bincount(data.y_test).max() / 540:.4f}" == "0.1019"
    assert f"{math.log(10):.3f}" == "2.303"


@pytest.mark.parametrize(
    ("depth", "kind", "accuracy", "loss"),
    [
        (5, "plain", 0.9481, 0.012),
        (5, "highway", 0.9630, 0.024),
        (20, "highway", 0.9500, 0.090),
        (50, "highway", 0.9426, 0.023),
    ],
)
def test_f6_training(depth, kind, accuracy, loss):
    """The loss to one unit of its last printed digit: weights moved by 1e-10, far more than another BLAS's rounding,
    change it by less than 1e-6. The accuracy may move by the 0.02 that the reference allows."""
    ours, last_loss = trained(BLOCKS[kind], depth)
    assert ours == pytest.approx(accuracy, abs=0.02)
    assert last_loss == pytest.approx(loss, abs=0.001)


def test_f6_training_plain_20_is_chaotic():
    """Published 0.3593 and 1.555, but rounding alone moves the accuracy over 0.20 to 0.55: only a range is a fact."""
    ours, last_loss = trained(Plain(), 20)
    assert 0.15 < ours < 0.65
    assert 1.0 < last_loss < 1.7
    assert ours < trained(Plain(), 5)[0]
    assert ours < trained(Highway(-2.0), 20)[0]


def test_f6_training_plain_50_stays_at_chance():
    ours, last_loss = trained(Plain(), 50)
    assert f"{ours:.4f}" == "0.1019"
    assert f"{last_loss:.3f}" == "2.303"


@pytest.mark.parametrize(
    ("gate_bias", "accuracy"),
    [(0, 0.1000), (-2, 0.9426), (-5, 0.9611)],
)
def test_f7_gate_bias(gate_bias, accuracy):
    ours, _ = trained(Highway(float(gate_bias)), 50)
    if accuracy > 0.9:
        assert ours == pytest.approx(accuracy, abs=0.02)
    else:
        assert f"{ours:.4f}" == f"{accuracy:.4f}"


# The size of a layer of width 64 (part of F9).


@pytest.mark.parametrize(("kind", "count"), [("highway", 8320), ("plain", 4160)])
def test_f9_parameters_of_one_layer(kind, count):
    rng = np.random.default_rng(0)
    params = BLOCKS[kind].initialise(rng, 64)
    assert sum(array.size for array in params.values()) == count
    if kind == "highway":
        assert (params["b_T"] == -2).all()
