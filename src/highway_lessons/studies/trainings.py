"""One point of a study: build a network, train it, measure it."""

import bisect
import math
from functools import cache

import numpy as np

from highway_lessons import datasets
from highway_lessons.blocks import Highway, NaiveResidual, Plain, Residual
from highway_lessons.datasets import Data
from highway_lessons.initialisation import INITIALISERS
from highway_lessons.network import Network
from highway_lessons.optimizers import SGD, Adam
from highway_lessons.training import fit

SEEDS = [0, 1, 2, 3, 4]
CURVES = ("train_loss", "train_accuracy", "test_accuracy")  # per epoch, as `fit` names and measures them


def make_block(block, depth, gate_bias=None, activation="relu"):
    """Return the block that a study means by a name; "none" is a network without blocks, so any block will do."""
    makers = {
        "none": lambda: Plain(activation),
        "plain": lambda: Plain(activation),
        "highway": lambda: Highway(gate_bias, activation),
        "residual": lambda: Residual(1 / math.sqrt(max(depth, 1)), activation=activation),
        "residual_zero_start": lambda: Residual(zero_start=True, activation=activation),
        "naive_residual": lambda: NaiveResidual(activation),
    }
    return makers[block]()


MEANING = {
    "none": "input layer and head alone",
    "residual": "two-layer branch × 1/√depth",
    "residual_zero_start": "two-layer branch, W_2 and b_2 start at 0",
    "naive_residual": "x + f(x W_H + b_H)",
}


def meaning(*names):
    """Say what the names of blocks in a study stand for."""
    return {name: MEANING[name] for name in names}


def matched_width(block, depth, total, n_in=64, n_classes=10):
    """Width at which a network has as nearly `total` parameters as it can.

    Parameters
    ----------
    block : Plain, Highway, Residual or another block
    depth : int
        Number of blocks; 0 for a network without blocks.
    total : int
        Parameters to come near to, at least 1.
    n_in, n_classes : int
        As in `Network`.

    Returns
    -------
    int
    """

    def parameters(width):
        return Network(block, depth, width, n_in, n_classes).n_parameters

    wide = 1 + bisect.bisect_left(range(1, total + 1), total, key=parameters)
    return min(max(wide - 1, 1), wide, key=lambda width: abs(parameters(width) - total))


def make_optimiser(name, learning_rate, epsilon=1e-8, cosine_decay=None):
    """Return the optimiser that a study means by a name: "adam", or "sgd" with momentum 0.9."""
    return {"adam": Adam(learning_rate, epsilon=epsilon, cosine_decay=cosine_decay), "sgd": SGD(learning_rate, 0.9)}[
        name
    ]


@cache
def digits(seed):
    """The digits in a split of its own for each seed, so that the spread over seeds has the test set's chance in it."""
    return datasets.digits(seed)


@cache
def spirals(turns, seed):
    """Spirals, and 4000 further points to choose the learning rate on: (data, x_validation, y_validation)."""
    data = datasets.spirals(turns, n_train=8000, n_test=8000, rng=seed)
    x, y = data.x_test, data.y_test
    return Data(data.x_train, data.y_train, x[:4000], y[:4000]), x[4000:], y[4000:]


def four_fifths(data, seed):
    """Train on four fifths of the training data and test on the last fifth: a way to choose without the test set."""
    order = np.random.default_rng([seed, 5]).permutation(len(data.x_train))
    last, first = np.split(order, [len(order) // 5])
    return Data(data.x_train[first], data.y_train[first], data.x_train[last], data.y_train[last])


def train(
    network, data, seed, *, optimiser, epochs, batch_size, initialiser, dtype, gate_initialiser=None, curves=False
):
    """Train one network and measure it.

    Parameters
    ----------
    network, data, optimiser, epochs, batch_size, initialiser, dtype
        As in `fit`.
    seed : int
        Of the generator that draws the starting values, then the order of the examples.
    gate_initialiser : str, optional
        Draw every W_T with this initialiser instead, from a generator of its own; "zero" sets it to 0.
    curves : bool
        Also keep `CURVES`. Only then is the test set looked at after each epoch, which changes nothing but the time.

    Returns
    -------
    result : dict
        "parameters" (how many), "epochs_done", "stopped" (why early, or None), and after the last update: "train_loss",
        "train_accuracy", "test_loss", "test_accuracy"; "last_batch_loss" (before it). A number that is not finite is
        None, and so is every measurement of a network that diverged. With `curves`, "curves".
    run : Fit
        What `fit` returned.
    """
    rng = np.random.default_rng(seed)
    params = network.initialise(rng, initialiser, dtype)
    if gate_initialiser is not None:
        rng_gate = np.random.default_rng([seed, 1])
        for views in params.blocks:
            views["W_T"][:] = 0 if gate_initialiser == "zero" else _matrix(gate_initialiser, rng_gate, network.width)
    watched = data if curves else Data(data.x_train, data.y_train)
    run = fit(network, watched, optimiser=optimiser, epochs=epochs, batch_size=batch_size, rng=rng, params=params)
    if run.stopped and run.stopped.startswith("Interrupted"):
        raise KeyboardInterrupt  # half a training is no result
    result = {"parameters": network.n_parameters, "epochs_done": len(run.history["seconds"]), "stopped": run.stopped}
    parts = {"train": (data.x_train, data.y_train), "test": (data.x_test, data.y_test)}
    for part, (x, y) in parts.items():
        result[f"{part}_loss"], result[f"{part}_accuracy"] = evaluate(network, run, x, y)
    last = run.history["last_batch_loss"]
    result["last_batch_loss"] = rounded(last[-1]) if last and not run.stopped else None
    if curves:
        result["curves"] = {name: [rounded(value, 4) for value in run.history[name]] for name in CURVES}
    return result, run


def _matrix(initialiser, rng, width):
    W, _ = INITIALISERS[initialiser](rng, width, width)
    return W


@np.errstate(over="ignore", invalid="ignore")
def evaluate(network, run, x, y):
    """Return loss and accuracy after a training, rounded; None for both where there is no finite loss."""
    if run.stopped:
        return None, None
    loss, accuracy = network.evaluate(run.params, x, y)
    return (rounded(loss), rounded(accuracy)) if np.isfinite(loss) else (None, None)


def rounded(value, digits=6):
    """Round to so many digits: more than seeds agree on, and few enough to keep the records small."""
    return float(f"{value:.{digits}g}")


def train_on_digits(
    block,
    depth,
    seed,
    *,
    gate_bias=None,
    width=64,
    initialiser="uniform",
    gate_initialiser=None,
    optimiser="adam",
    learning_rate=1e-3,
    epsilon=1e-8,
    epochs=30,
    batch_size=64,
    dtype="float32",
    curves=False,
):
    """Train on the digits; seed 0 in float64 is the recipe of the published figures, number for number.

    Parameters
    ----------
    gate_bias : float, "-ln depth" or None
        For highway blocks.
    width : int or "matched"
        "matched" gives the network as many parameters as a highway network of width 64 with this depth.
    optimiser : {"adam", "sgd"}
        SGD has momentum 0.9.
    others
        As in `make_block` and `train`.

    Returns
    -------
    dict
        As `train` returns it, with "actual_width". Without blocks also "validation_accuracy", that of a second network
        on a fifth of the training data that it did not see: it is to choose the learning rate with.
    """
    blocks = 0 if block == "none" else depth
    made = make_block(block, depth, -math.log(depth) if gate_bias == "-ln depth" else gate_bias)
    if width == "matched":
        width = matched_width(made, blocks, Network(Highway(), depth).n_parameters)
    recipe = {
        "optimiser": make_optimiser(optimiser, learning_rate, epsilon),
        "epochs": epochs,
        "batch_size": batch_size,
        "initialiser": initialiser,
        "dtype": dtype,
    }
    network, data = Network(made, blocks, width), digits(seed)
    result, _ = train(network, data, seed, **recipe, gate_initialiser=gate_initialiser, curves=curves)
    result["actual_width"] = width
    if block == "none":
        result["validation_accuracy"] = train(network, four_fifths(data, seed), seed, **recipe)[0]["test_accuracy"]
    return result


def train_on_spirals(block, depth, seed, *, turns, width, total, learning_rate, epochs, batch_size, dtype):
    """Train on spirals: tanh, Adam with a learning rate that falls along half a cosine.

    Parameters
    ----------
    width : int or "matched"
        "matched" gives the network `total` parameters, as nearly as it can.
    others
        As in `make_block` and `train`. Highway networks start with the gate bias min(−1, −ln(max(depth, 2) − 1)) and
        the uniform initialisation, the others with N(0, 1/n).

    Returns
    -------
    dict
        As `train` returns it, with "actual_width" and "validation_accuracy", on 4000 points to choose the rate with.
    """
    made = make_block(block, depth, min(-1.0, -math.log(max(depth, 2) - 1)), "tanh")
    if width == "matched":
        width = matched_width(made, depth, total, n_in=2, n_classes=2)
    data, x_validation, y_validation = spirals(turns, seed)
    network = Network(made, depth, width, n_in=2, n_classes=2)
    updates = epochs * math.ceil(len(data.x_train) / batch_size)
    result, run = train(
        network,
        data,
        seed,
        optimiser=make_optimiser("adam", learning_rate, cosine_decay=updates),
        epochs=epochs,
        batch_size=batch_size,
        initialiser="uniform" if block == "highway" else "normal",
        dtype=dtype,
    )
    result["actual_width"] = width
    result["validation_accuracy"] = evaluate(network, run, x_validation, y_validation)[1]
    return result
