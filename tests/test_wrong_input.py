"""Everything a reader may get wrong: one sentence that names the argument, what came, and what was expected."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

from highway_lessons import (
    SGD,
    Adam,
    Data,
    Highway,
    Network,
    Plain,
    Residual,
    check_gradients,
    digits,
    direct_path,
    fit,
    gates,
    mnist,
    sigmoid,
    signal_norms,
    spirals,
    tau,
)
from highway_lessons.functions import cross_entropy, softmax
from highway_lessons.gradients import (
    block_jacobian,
    circle_test,
    end_to_end_jacobian,
    highway_jacobian_terms,
    mean_cosine,
    profiles,
    spread,
)
from highway_lessons.network import Parameters
from highway_lessons.optimizers import Recorder

NETWORK = Network(Highway(), depth=2, width=4, n_in=3, n_classes=2)
PARAMS = NETWORK.initialise(0)
X = np.random.default_rng(0).normal(size=(5, 3))
Y = np.array([0, 1, 1, 0, 1])
H = np.ones((5, 4))
DATA = Data(X, Y, X, Y)
LAYER = PARAMS.blocks[0]
CACHE, DRAW = NETWORK.forward(PARAMS, X)[1], np.random.default_rng(0)
RESIDUAL, T = Network(Residual(), 2, 4, 3, 2), gates.transform_gates(NETWORK, PARAMS, X)
NAN, INF, MASKED = X.copy(), X.copy(), np.ma.masked_less(X, 0)
NAN[2, 1], INF[2, 1] = np.nan, np.inf


def forward(x):
    return lambda: NETWORK.forward(PARAMS, x)


def loss(labels):
    return lambda: NETWORK.loss_and_gradients(PARAMS, X, labels)


def train(data=DATA, **options):
    return lambda: fit(NETWORK, data, **({"epochs": 1} | options))


@dataclass(frozen=True, eq=False)
class Own:
    """A reader's own block, y = x W + b, which may start with the wrong arrays or return wrong ones."""

    activation: str = "relu"
    start: dict | None = None
    dx: object = None
    grads: object = None

    def shapes(self, width):
        return {"W": (width, width), "b": (width,)}

    def initialise(self, rng, width, initialiser):
        return dict(zip("Wb", initialiser(rng, width, width), strict=True)) if self.start is None else self.start

    def forward(self, params, x):
        return x @ params["W"] + params["b"], x

    def backward(self, params, cache, dy):
        dx = dy @ params["W"].T if self.dx is None else self.dx
        return dx, {"W": cache.T @ dy, "b": dy.sum(axis=0)} if self.grads is None else self.grads


def own_network(**wrong):
    return Network(Own(**wrong), depth=2, width=4, n_in=3, n_classes=2)


def own(**wrong):
    network = own_network(**wrong)
    return lambda: network.loss_and_gradients(network.initialise(0), X, Y)


RETURNED = "what the block returns"

# What is called, the error, the argument it names, what came, what was expected.
CASES = {
    # width
    "input too wide": (forward(np.ones((5, 4))), ValueError, "x", "4 columns", "3 were expected"),
    "block too narrow": (lambda: Highway().forward(LAYER, X), ValueError, "x", "3 columns", "4 were expected"),
    "plain, too narrow": (
        lambda: Plain().forward({"W_H": np.eye(4), "b_H": np.ones(4)}, X),
        ValueError,
        "x",
        "3 columns",
        "4 were expected",
    ),
    "weights not square": (
        lambda: Plain().forward({"W_H": np.ones((3, 5)), "b_H": np.ones(5)}, X),
        ValueError,
        "params",
        r"\(3, 5\)",
        r"\(5, 5\)",
    ),
    "one column, which would broadcast": (
        lambda: Highway().forward(LAYER | {"W_T": np.ones((4, 1))}, H),
        ValueError,
        "params",
        r"'W_T': \(4, 1\)",
        r"\(4, 4\)",
    ),
    "one bias, which would broadcast": (
        lambda: Residual().forward({"W_1": np.eye(4), "b_1": np.ones(1), "W_2": np.eye(4), "b_2": np.ones(4)}, H),
        ValueError,
        "params",
        r"'b_1': \(1,\)",
        r"'b_1': \(4,\)",
    ),
    "one example": (forward(X[0]), ValueError, "x", r"shape \(3,\)", r"shape \(batch, 3\)"),
    "a number": (forward(1.0), ValueError, "x", r"shape \(\)", r"shape \(batch, 3\)"),
    "images": (forward(np.ones((5, 3, 3))), ValueError, "x", r"shape \(5, 3, 3\)", r"shape \(batch, 3\)"),
    "training data too wide": (train(Data(H, Y)), ValueError, "x_train", "4 columns", "3 were expected"),
    "test data too wide": (train(Data(X, Y, H, Y)), ValueError, "x_test", "4 columns", "3 were expected"),
    "parameters of another network": (
        lambda: Network(Plain(), 2, 4, 3, 2).forward(PARAMS, X),
        ValueError,
        "params",
        r"Network\(block=Highway",
        r"fit Network\(block=Plain",
    ),
    "too few parameters": (
        lambda: Parameters(NETWORK, np.zeros(3)),
        ValueError,
        "flat",
        r"shape \(3,\)",
        rf"shape \({NETWORK.n_parameters},\)",
    ),
    "whole-number parameters": (
        lambda: Parameters(NETWORK, np.zeros(NETWORK.n_parameters, int)),
        ValueError,
        "flat",
        "int64",
        "float64 or float32",
    ),
    # labels
    "label too large": (loss([0, 1, 2, 0, 1]), ValueError, "labels", "2 came", "between 0 and 1"),
    "label negative": (loss([0, 1, -1, 0, 1]), ValueError, "labels", "-1 came", "between 0 and 1"),
    "label a fraction": (loss([0, 1, 0.5, 0, 1]), ValueError, "labels", "0.5 came", "whole numbers"),
    "label NaN": (
        loss([0, 1, np.nan, 0, 1]),
        ValueError,
        "labels",
        "NaN or infinity, first in row 2",
        "remove or replace",
    ),
    "label enormous": (
        loss(np.array([0, 1, 2**64 - 1, 0, 1], np.uint64)),
        ValueError,
        "labels",
        "18446744073709551615 came",
        "between 0 and 1",
    ),
    "labels one-hot": (loss(np.eye(2)[Y]), ValueError, "labels", r"shape \(5, 2\)", r"shape \(5,\).*argmax"),
    "labels one-hot, true or false": (
        loss(np.eye(2, dtype=bool)[Y]),
        ValueError,
        "labels",
        r"shape \(5, 2\)",
        r"shape \(5,\).*argmax",
    ),
    "labels in a column": (loss(Y[:, None]), ValueError, "labels", r"shape \(5, 1\)", r"shape \(5,\).*ravel"),
    "too few labels": (loss(Y[:4]), ValueError, "labels", r"shape \(4,\)", r"shape \(5,\)"),
    "labels as text": (loss(["a"] * 5), TypeError, "labels", "<U1", "whole numbers"),
    "no labels": (loss(None), ValueError, "labels", r"shape \(\)", r"shape \(5,\)"),
    "labels of different lengths": (
        loss([[0], [0, 1], [1], [0], [1]]),
        ValueError,
        "labels",
        "differ in length",
        "array of numbers",
    ),
    "labels masked": (loss(np.ma.array(Y, mask=Y == 1)), ValueError, "labels", "masked entries", "complete data"),
    "training label too large": (train(Data(X, Y + 1)), ValueError, "y_train", "2 came", "between 0 and 1"),
    "test labels missing": (train(Data(X, Y, X)), ValueError, "y_test", r"shape \(\)", r"shape \(5,\)"),
    "test labels in evaluate": (
        lambda: NETWORK.evaluate(PARAMS, X, Y - 1),
        ValueError,
        "labels",
        "-1 came",
        "between 0 and 1",
    ),
    # data
    "NaN in the data": (forward(NAN), ValueError, "x", "NaN or infinity, first in row 2", "remove or replace"),
    "infinity in the data": (forward(INF), ValueError, "x", "NaN or infinity, first in row 2", "remove or replace"),
    "NaN in the training data": (
        train(Data(NAN, Y)),
        ValueError,
        "x_train",
        "NaN or infinity, first in row 2",
        "remove or replace",
    ),
    "infinity in the test data": (
        train(Data(X, Y, INF, Y)),
        ValueError,
        "x_test",
        "NaN or infinity, first in row 2",
        "remove or replace",
    ),
    "masked data": (forward(MASKED), ValueError, "x", "masked entries", "complete data"),
    "text": (forward([["a", "b", "c"]]), TypeError, "x", "<U1", "real numbers"),
    "complex numbers": (forward(X + 0j), TypeError, "x", "complex128", "real numbers"),
    "objects": (forward(X.astype(object)), TypeError, "x", "object", "real numbers"),
    "None": (forward(None), TypeError, "x", "object", "real numbers"),
    "rows of different lengths": (
        forward([[1.0, 2.0, 3.0], [1.0]]),
        ValueError,
        "x",
        "differ in length",
        "array of numbers",
    ),
    "sigmoid of text": (lambda: sigmoid("0"), TypeError, "z", "<U1", "real numbers"),
    "softmax of complex numbers": (lambda: softmax([1j]), TypeError, "logits", "complex128", "real numbers"),
    "logits of one example": (
        lambda: cross_entropy([0.0, 1.0], [1]),
        ValueError,
        "logits",
        r"shape \(2,\)",
        r"shape \(batch, n\)",
    ),
    "data a pair": (train((X, Y)), TypeError, "data", "tuple", r"such as digits\(\)"),
    # empty batch
    "empty batch": (forward(X[:0]), ValueError, "x", r"empty batch \(shape \(0, 3\)\)", "at least one row"),
    "empty batch for a block": (
        lambda: Highway().forward(LAYER, H[:0]),
        ValueError,
        "x",
        r"empty batch \(shape \(0, 4\)\)",
        "at least one row",
    ),
    "no logits": (
        lambda: cross_entropy(np.ones((0, 2)), []),
        ValueError,
        "logits",
        r"empty batch \(shape \(0, 2\)\)",
        "at least one row",
    ),
    "empty training data": (
        train(Data(X[:0], Y[:0])),
        ValueError,
        "x_train",
        r"empty batch \(shape \(0, 3\)\)",
        "at least one row",
    ),
    "empty test data": (
        train(Data(X, Y, X[:0], Y[:0])),
        ValueError,
        "x_test",
        r"empty batch \(shape \(0, 3\)\)",
        "at least one row",
    ),
    # sizes
    "depth negative": (lambda: Network(depth=-1), ValueError, "depth", "-1 came", "at least 0"),
    "depth a fraction": (lambda: Network(depth=2.5), TypeError, "depth", r"2.5 \(float\)", "whole number"),
    "depth as text": (lambda: Network(depth="3"), TypeError, "depth", r"'3' \(str\)", "whole number"),
    "depth true": (lambda: Network(depth=True), TypeError, "depth", r"True \(bool\)", "whole number"),
    "width 0": (lambda: Network(width=0), ValueError, "width", "0 came", "at least 1"),
    "no input": (lambda: Network(n_in=0), ValueError, "n_in", "0 came", "at least 1"),
    "no classes": (lambda: Network(n_classes=0), ValueError, "n_classes", "0 came", "at least 1"),
    "depth negative for the direct path": (lambda: direct_path(0.5, -1), ValueError, "depth", "-1 came", "at least 0"),
    "depth a fraction for tau": (lambda: tau(-2, 1.5), TypeError, "depth", r"1.5 \(float\)", "whole number"),
    "batch size 0": (train(batch_size=0), ValueError, "batch_size", "0 came", "at least 1"),
    "batch size a fraction": (train(batch_size=32.0), TypeError, "batch_size", r"32.0 \(float\)", "whole number"),
    "epochs negative": (train(epochs=-1), ValueError, "epochs", "-1 came", "at least 0"),
    "no points on a spiral": (lambda: spirals(n_train=0), ValueError, "n_train", "0 came", "at least 1"),
    "two points on a circle": (lambda: circle_test(np.eye(3), points=2), ValueError, "points", "2 came", "at least 3"),
    "no depths": (lambda: profiles(Plain(), []), ValueError, "depths", r"\[\] \(list\)", "at least one"),
    "one depth": (lambda: profiles(Plain(), 50), ValueError, "depths", r"50 \(int\)", r"such as \[50\]"),
    "no seeds": (lambda: profiles(Plain(), [1], []), ValueError, "seeds", r"\[\] \(list\)", "at least one"),
    "one seed": (lambda: profiles(Plain(), [1], 3), ValueError, "seeds", r"3 \(int\)", r"such as range\(10\)"),
    "seeds as text": (lambda: profiles(Plain(), [1], ["a"]), TypeError, "rng", r"'a' \(str\)", "a seed"),
    "seed too large": (lambda: digits(2**33), ValueError, "rng", "8589934592", "at most 4294967295"),
    "block of width 0": (lambda: Highway().initialise(DRAW, 0), ValueError, "width", "0 came", "at least 1"),
    # numbers
    "gate bias enormous": (lambda: Highway(10**400), ValueError, "gate_bias", "beyond ±1.8e308 came", "finite"),
    "gate bias NaN for tau": (lambda: tau(np.nan, 3), ValueError, "gate_bias", "NaN or infinity", "remove or replace"),
    "too large for float32": (
        lambda: NETWORK.forward(NETWORK.initialise(0, dtype="float32"), X * 1e300),
        ValueError,
        "x",
        r"infinity, first in row 0 \(as float32\)",
        "remove or replace",
    ),
    "gate bias infinite": (lambda: Highway(-np.inf), ValueError, "gate_bias", "-inf came", "finite"),
    "gate bias NaN": (lambda: Highway(np.nan), ValueError, "gate_bias", "nan came", "finite"),
    "gate bias as text": (lambda: Highway("-2"), TypeError, "gate_bias", r"'-2' \(str\)", "a number"),
    "gate bias per unit": (
        lambda: Highway(np.array([-2.0, -3.0])),
        TypeError,
        "gate_bias",
        r"array of shape \(2,\)",
        "a number",
    ),
    "scale NaN": (lambda: Residual(np.nan), ValueError, "scale", "nan came", "finite"),
    "gate above 1": (lambda: direct_path([0.5, 1.5], 3), ValueError, "gate", "1.5 came", "between 0 and 1"),
    "a gate bias for a gate": (lambda: direct_path(-2.0, 3), ValueError, "gate", "-2.0 came", "between 0 and 1"),
    "gate NaN": (lambda: direct_path(np.nan, 3), ValueError, "gate", "nan came", "between 0 and 1"),
    "learning rate negative": (lambda: SGD(-0.1), ValueError, "learning_rate", "-0.1 came", "at least 0"),
    "learning rate NaN": (lambda: Adam(np.nan), ValueError, "learning_rate", "nan came", "finite"),
    "learning rate as text": (lambda: Adam("1e-3"), TypeError, "learning_rate", r"'1e-3' \(str\)", "a number"),
    "momentum 1": (lambda: SGD(momentum=1), ValueError, "momentum", "1 came", "at least 0 and below 1"),
    "beta2 1": (lambda: Adam(beta2=1.0), ValueError, "beta2", "1 came", "at least 0 and below 1"),
    "beta1 negative": (lambda: Adam(beta1=-0.1), ValueError, "beta1", "-0.1 came", "at least 0 and below 1"),
    "decay 0": (lambda: SGD(decay=0), ValueError, "decay", "0 came", "above 0 and at most 1"),
    "decay above 1": (lambda: SGD(decay=1.1), ValueError, "decay", "1.1 came", "above 0 and at most 1"),
    "epsilon 0": (lambda: Adam(epsilon=0), ValueError, "epsilon", "0 came", "above 0"),
    "cosine decay 0": (lambda: Adam(cosine_decay=0), ValueError, "cosine_decay", "0 came", "at least 1"),
    "cosine decay 2.5": (lambda: Adam(cosine_decay=2.5), TypeError, "cosine_decay", "2.5", "a whole number"),
    "epsilon too small for float32": (
        train(optimiser=Adam(epsilon=1e-30), dtype="float32"),
        ValueError,
        "epsilon in float32",
        "1e-30 came",
        "at least",
    ),
    "step 0": (lambda: check_gradients(NETWORK, PARAMS, X, Y, step=0), ValueError, "step", "0 came", "above 0"),
    "turns negative": (lambda: spirals(-1), ValueError, "turns", "-1 came", "at least 0"),
    # choices
    "block of unknown activation": (
        lambda: Network(Own(activation="gelu")),
        ValueError,
        "block.activation",
        "'gelu' came",
        "'relu', 'tanh'",
    ),
    "progress true": (train(progress=True), TypeError, "progress", r"True \(bool\)", "a function or None"),
    "stop true": (train(stop=True), TypeError, "stop", r"True \(bool\)", "a function or None"),
    "recorder of a name": (lambda: Recorder("adam", 5), TypeError, "optimiser", r"'adam' \(str\)", r"such as Adam\("),
    "initialiser of a block by name": (
        lambda: Highway().initialise(DRAW, 4, "he"),
        TypeError,
        "initialiser",
        r"'he' \(str\)",
        "a function",
    ),
    "rng of a block": (lambda: Highway().initialise("0", 4), TypeError, "rng", r"'0' \(str\)", "Generator"),
    "a number for a folder": (lambda: mnist(3), TypeError, "folder", r"3 \(int\)", "a path"),
    "unknown block": (lambda: Network("highway"), TypeError, "block", r"'highway' \(str\)", r"such as Highway\("),
    "a class for a block": (lambda: Network(Highway), TypeError, "block", r"Highway'> \(type\)", r"such as Highway\("),
    "unknown activation": (lambda: Plain("sigmoid"), ValueError, "activation", "'sigmoid' came", "'relu', 'tanh'"),
    "activation a function": (lambda: Highway(activation=np.tanh), ValueError, "activation", "tanh", "'relu', 'tanh'"),
    "activation a list": (
        lambda: Residual(activation=["relu"]),
        ValueError,
        "activation",
        r"\['relu'\] came",
        "'relu', 'tanh'",
    ),
    "unknown initialiser": (
        lambda: NETWORK.initialise(0, "xavier"),
        ValueError,
        "initialiser",
        "'xavier' came",
        "'uniform'.*'orthogonal'",
    ),
    "unknown initialiser in fit": (
        train(initialiser="xavier"),
        ValueError,
        "initialiser",
        "'xavier' came",
        "'uniform'.*'orthogonal'",
    ),
    "whole-number dtype": (
        lambda: NETWORK.initialise(0, dtype=int),
        ValueError,
        "dtype",
        "int'> came",
        "float64 or float32",
    ),
    "half precision": (train(dtype="float16"), ValueError, "dtype", "'float16' came", "float64 or float32"),
    "no dtype at all": (
        lambda: NETWORK.zeros("double precision"),
        ValueError,
        "dtype",
        "'double precision' came",
        "float64 or float32",
    ),
    "unknown optimiser": (train(optimiser="adam"), TypeError, "optimiser", r"'adam' \(str\)", r"such as Adam\(\)"),
    "a class for an optimiser": (
        train(optimiser=Adam),
        TypeError,
        "optimiser",
        r"Adam'> \(type\)",
        r"such as Adam\(\)",
    ),
    "a class for a network": (
        lambda: fit(Network, DATA),
        TypeError,
        "network",
        r"Network'> \(type\)",
        r"such as Network\(",
    ),
    "seed as text": (
        lambda: NETWORK.initialise("0"),
        TypeError,
        "rng",
        r"'0' \(str\)",
        "seed or a numpy.random.Generator",
    ),
    "seed negative": (train(rng=-1), ValueError, "rng", "-1 came", "at least 0"),
    "no seed": (train(rng=None), TypeError, "rng", r"None \(NoneType\)", "seed or a numpy.random.Generator"),
    "old kind of generator": (
        lambda: spirals(rng=np.random.RandomState(0)),
        TypeError,
        "rng",
        "RandomState",
        "seed or a numpy.random.Generator",
    ),
    "digits with a generator": (lambda: digits(np.random.default_rng(0)), TypeError, "rng", "Generator", "seed"),
    "no such folder": (
        lambda: mnist("no/such/folder"),
        FileNotFoundError,
        "folder",
        "no/such/folder has neither",
        "put the four MNIST files there",
    ),
    "parameters in a dictionary": (
        lambda: NETWORK.forward({}, X),
        TypeError,
        "params",
        r"\(dict\)",
        r"such as network",
    ),
    "parameters in an array": (train(params=PARAMS.flat), TypeError, "params", "array of shape", r"such as network"),
    "training parameters of another network": (
        train(params=Network(Highway(), 3, 4, 3, 2).initialise(0)),
        ValueError,
        "params",
        "made for .*depth=3",
        "fit .*depth=2",
    ),
    "nesterov as text": (lambda: SGD(nesterov="no"), TypeError, "nesterov", r"'no' \(str\)", "True or False"),
    "zero start as a number": (lambda: Residual(zero_start=0), TypeError, "zero_start", r"0 \(int\)", "True or False"),
    # a block's parameters by name
    "no parameters": (lambda: Highway().forward({}, H), ValueError, "params", r"but \{\} came", "'W_H': .*'b_T'"),
    "a list of parameters": (
        lambda: Highway().forward([1, 2], H),
        ValueError,
        "params",
        r"\[1, 2\] \(list\)",
        "'W_H': .*'b_T'",
    ),
    "a missing parameter": (
        lambda: Plain().forward({"W_H": np.eye(4)}, H),
        ValueError,
        "params",
        r"\{'W_H': \(4, 4\)\} came",
        "'b_H'",
    ),
    "a number for a bias": (
        lambda: Plain().forward({"W_H": np.eye(4), "b_H": 0.0}, H),
        ValueError,
        "params",
        r"'b_H': \(\)",
        r"'b_H': \(4,\)",
    ),
    "a row for a bias": (
        lambda: Plain().forward({"W_H": np.eye(4), "b_H": np.ones((1, 4))}, H),
        ValueError,
        "params",
        r"'b_H': \(1, 4\)",
        r"'b_H': \(4,\)",
    ),
    # a reader's own block
    "start without a bias": (
        lambda: own_network(start={"W": np.eye(4)}).initialise(0),
        ValueError,
        RETURNED,
        r"\{'W': \(4, 4\)\} came",
        "'b'",
    ),
    "start that would broadcast": (
        lambda: own_network(start={"W": np.eye(4), "b": 0.0}).initialise(0),
        ValueError,
        RETURNED,
        r"'b': \(\)",
        r"'b': \(4,\)",
    ),
    "start of an unknown name": (
        lambda: own_network(start={"W": np.eye(4), "b": np.ones(4), "c": 0}).initialise(0),
        ValueError,
        RETURNED,
        "'c'",
        "'W'.*'b'",
    ),
    "no gradients": (own(grads={}), ValueError, RETURNED, r"but \{\} came", "'W'.*'b'"),
    "gradients in no dictionary": (own(grads=[1]), ValueError, RETURNED, r"\[1\] \(list\)", "'W'.*'b'"),
    "gradient that would broadcast": (
        own(grads={"W": np.ones((1, 4)), "b": np.ones(4)}),
        ValueError,
        RETURNED,
        r"'W': \(1, 4\)",
        r"'W': \(4, 4\)",
    ),
    "dx that would broadcast": (own(dx=np.ones((1, 4))), ValueError, "the block's dx", r"\(1, 4\)", r"\(5, 4\)"),
    # the backward pass
    "dlogits of another batch": (
        lambda: NETWORK.backward(PARAMS, CACHE, np.ones((4, 2))),
        ValueError,
        "dlogits",
        r"\(4, 2\)",
        r"\(5, 2\)",
    ),
    "dlogits one number": (
        lambda: NETWORK.backward(PARAMS, CACHE, 1.0),
        ValueError,
        "dlogits",
        r"shape \(\)",
        r"\(5, 2\)",
    ),
    "cache of another depth": (
        lambda: NETWORK.backward(PARAMS, CACHE._replace(blocks=CACHE.blocks[:1]), np.ones((5, 2))),
        ValueError,
        "cache",
        "depth is 1",
        "depth 2",
    ),
    "backward of an array": (
        lambda: NETWORK.backward(PARAMS.flat, CACHE, np.ones((5, 2))),
        TypeError,
        "params",
        "array of shape",
        "such as network",
    ),
    # gates and lesions
    "gates of a plain network": (
        lambda: gates.transform_gates(Network(Plain(), 2, 4, 3, 2), PARAMS, X),
        TypeError,
        "network.block",
        r"\(Plain\)",
        r"such as Highway\(",
    ),
    "gates for a residual network": (
        lambda: gates.score(RESIDUAL, RESIDUAL.initialise(0), X, Y, gates=T),
        TypeError,
        "network.block",
        r"\(Residual\)",
        r"such as Highway\(",
    ),
    "gate biases of a class": (
        lambda: gates.gate_biases(Network, PARAMS),
        TypeError,
        "network",
        r"\(type\)",
        r"such as Network\(",
    ),
    "bias change without blocks": (
        lambda: gates.bias_change(Network(Highway(), 0, 4, 3, 2), PARAMS, PARAMS),
        ValueError,
        "network.depth",
        "0 came",
        "at least 1",
    ),
    "gates of another batch": (
        lambda: gates.forward_with(NETWORK, PARAMS, X, gates=T[:, :3]),
        ValueError,
        "gates",
        r"\(2, 3, 4\)",
        r"\(2, 5, 4\)",
    ),
    "gates of one block": (
        lambda: gates.forward_with(NETWORK, PARAMS, X, gates=T[0]),
        ValueError,
        "gates",
        r"shape \(5, 4\)",
        r"\(2, 5, 4\).*transform_gates",
    ),
    "gate biases for gates": (
        lambda: gates.forward_with(NETWORK, PARAMS, X, gates=T - 2),
        ValueError,
        "gates",
        r"-\d.\d+ came",
        "between 0 and 1",
    ),
    "gates NaN": (
        lambda: gates.forward_with(NETWORK, PARAMS, X, gates=T * np.nan),
        ValueError,
        "gates",
        "nan came",
        "between 0 and 1",
    ),
    "a block counted from 1": (
        lambda: gates.forward_with(NETWORK, PARAMS, X, [1, 2]),
        ValueError,
        "blocks: a block number",
        "2 .*came",
        "at most 1",
    ),
    "block number for a list": (
        lambda: gates.without(NETWORK, 1),
        TypeError,
        "off",
        r"1 \(int\)",
        r"a list .* write \[3\]",
    ),
    "block number negative": (
        lambda: gates.without(NETWORK, [-1]),
        ValueError,
        "off: a block number",
        "-1 came",
        "at least 0",
    ),
    "block number true": (
        lambda: gates.forward_with(NETWORK, PARAMS, X, [True, False]),
        TypeError,
        "blocks: a block number",
        r"True \(bool\)",
        "a whole number",
    ),
    "order as text": (
        lambda: gates.cumulative_lesions(NETWORK, PARAMS, X, Y, "last"),
        TypeError,
        "order",
        r"'last' \(str\)",
        "a list of block numbers",
    ),
    "order with a block twice": (
        lambda: gates.cumulative_lesions(NETWORK, PARAMS, X, Y, [1, 1]),
        ValueError,
        "order",
        r"\[1, 1\] came",
        "at most once",
    ),
    "lesions with labels from 1": (
        lambda: gates.single_lesions(NETWORK, PARAMS, X, Y + 1),
        ValueError,
        "labels",
        "2 came",
        "between 0 and 1",
    ),
    "lesions of another network": (
        lambda: gates.single_lesions(Network(Highway(), 3, 4, 3, 2), PARAMS, X, Y),
        ValueError,
        "params",
        "made for .*depth=2",
        "fit .*depth=3",
    ),
    "lesions of too wide a batch": (
        lambda: gates.single_lesions(NETWORK, PARAMS, H, Y),
        ValueError,
        "x",
        "4 columns",
        "3 were expected",
    ),
    "random lesions never": (
        lambda: gates.random_lesions(NETWORK, PARAMS, X, Y, draws=0),
        ValueError,
        "draws",
        "0 came",
        "at least 1",
    ),
    "shuffled orders without a seed": (
        lambda: gates.shuffled_orders(NETWORK, PARAMS, X, Y, rng=None),
        TypeError,
        "rng",
        r"None \(NoneType\)",
        "seed or a numpy.random.Generator",
    ),
    "selectivity of one block": (
        lambda: gates.selectivity(T[0]),
        ValueError,
        "T",
        r"\(5, 4\)",
        r"\(depth, batch, width\)",
    ),
    "frozen gates of nobody": (
        lambda: gates.frozen(T[:, :0]),
        ValueError,
        "T",
        r"\(2, 0, 4\)",
        "at least one example",
    ),
    "threshold in per cent": (lambda: gates.selectivity(T, 50), ValueError, "threshold", "50 came", "at most 1"),
    "shuffle of one block": (lambda: gates.shuffled(T[0]), ValueError, "T", r"\(5, 4\)", r"\(depth, batch, width\)"),
    "class means of a class that does not occur": (
        lambda: gates.class_means(T, Y, 3),
        ValueError,
        "labels",
        "class 2 does not occur",
        "every class",
    ),
    "class share of other labels": (
        lambda: gates.class_share(T, Y[:3], 2),
        ValueError,
        "labels",
        r"shape \(3,\)",
        r"shape \(5,\)",
    ),
    "class share of one block": (
        lambda: gates.class_share(T[0], Y, 2),
        ValueError,
        "values",
        r"\(5, 4\)",
        r"\(depth, batch, width\)",
    ),
    "plane of one point": (lambda: gates.plane(2, 1), ValueError, "n", "1 came", "at least 2"),
    "plane without reach": (lambda: gates.plane(0), ValueError, "reach", "0 came", "above 0"),
    "plane for three inputs": (
        lambda: gates.plane_gates(NETWORK, PARAMS),
        ValueError,
        "network.n_in",
        "3 came",
        "2",
    ),
    "probes without test data": (
        lambda: gates.linear_probes(NETWORK, PARAMS, Data(X, Y)),
        ValueError,
        "data",
        "x_test is None",
        "a test part",
    ),
    "probes of arrays": (
        lambda: gates.linear_probes(NETWORK, PARAMS, X),
        TypeError,
        "data",
        "array of shape",
        r"such as digits\(",
    ),
    # measurements
    "check of gradients of an array": (
        lambda: check_gradients(NETWORK, PARAMS.flat, X, Y),
        TypeError,
        "params",
        "array of shape",
        "such as network",
    ),
    "check of gradients of another network": (
        lambda: check_gradients(Network(Highway(), 3, 4, 3, 2), PARAMS, X, Y),
        ValueError,
        "params",
        "made for .*depth=2",
        "fit .*depth=3",
    ),
    "terms of a plain block": (
        lambda: highway_jacobian_terms(Plain(), LAYER, H[0]),
        TypeError,
        "block",
        r"\(Plain\)",
        r"such as Highway\(",
    ),
    "spread of one row": (lambda: spread([1, 2]), ValueError, "h", r"shape \(2,\)", r"shape \(batch, n\)"),
    "spread of nothing": (lambda: spread(np.ones((0, 3))), ValueError, "h", "empty batch", "at least one row"),
    "circle in one dimension": (lambda: circle_test([[1.0]]), ValueError, "jacobian", r"\(1, 1\)", "at least 2"),
    "circle through a row": (lambda: circle_test([1.0, 2]), ValueError, "jacobian", r"\(2,\)", r"\(n, n\)"),
    "circle through 3 by 2": (lambda: circle_test(X[:2]), ValueError, "jacobian", r"\(2, 3\)", r"\(n, n\)"),
    "circle through NaN": (lambda: circle_test(np.eye(3) * np.nan), ValueError, "jacobian", "NaN", "remove or replace"),
    "softmax of no class": (lambda: softmax(np.ones((2, 0))), ValueError, "n_classes", "0 came", "at least 1"),
    "signal norms of too wide a batch": (
        lambda: signal_norms(NETWORK, PARAMS, H, Y),
        ValueError,
        "x",
        "4 columns",
        "3 were expected",
    ),
    "check of gradients with a wrong label": (
        lambda: check_gradients(NETWORK, PARAMS, X, Y + 1),
        ValueError,
        "labels",
        "2 came",
        "between 0 and 1",
    ),
    "check of gradients in whole numbers": (
        lambda: check_gradients(NETWORK, PARAMS, X, Y, dtype=int),
        ValueError,
        "dtype",
        "int'> came",
        "float64 or float32",
    ),
    "Jacobian of a batch": (
        lambda: block_jacobian(Highway(), LAYER, H),
        ValueError,
        "x",
        r"shape \(5, 4\)",
        r"shape \(4,\)",
    ),
    "terms of a wrong width": (
        lambda: highway_jacobian_terms(Highway(), LAYER, X[0]),
        ValueError,
        "x",
        r"shape \(3,\)",
        r"shape \(4,\)",
    ),
    "Jacobian of a wrong width": (
        lambda: end_to_end_jacobian(NETWORK, PARAMS, H[0]),
        ValueError,
        "x",
        r"shape \(4,\)",
        r"shape \(3,\)",
    ),
    "cosine of one row": (lambda: mean_cosine(X[:1]), ValueError, "h", r"shape \(1, 3\)", "at least two rows"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("error")
def test_wrong_input(case):
    call, kind, argument, came, expected = CASES[case]
    with pytest.raises(kind) as caught:
        call()
    sentence = str(caught.value)
    for part in (rf"^(MNIST )?({argument})\b", came, expected, r"\.$"):
        assert re.search(part, sentence), f"{part!r} is not in: {sentence}"
    assert "\n" not in sentence


def test_nothing_is_trained_on_wrong_input():
    """The check comes before the first update."""
    told = []
    with pytest.raises(ValueError, match="y_test"):
        fit(NETWORK, Data(X, Y, X, Y + 5), progress=lambda *_: told.append(1))
    assert not told


def test_a_reader_s_own_block_is_measured_and_trained():
    """Its first weights need not be called W_H, and a cache that is an array has a `T` that is no gate."""
    network = own_network()
    params = network.initialise(0)
    assert max(check_gradients(network, params, X, Y).values()) < 1e-7
    norms = signal_norms(network, params, X, Y)
    _, gradients = network.loss_and_gradients(params, X, Y)
    np.testing.assert_allclose(norms.dW, [np.linalg.norm(views["W"]) for views in gradients.blocks])
    assert norms.T is None
    assert profiles(Own(), [1, 3], seeds=[0], batch=4, width=5)[3].dW.shape == (1, 3)
    assert len(fit(network, DATA, epochs=2).history["train_loss"]) == 2
