"""Relatives of the highway block: other gates, no gate, batch normalisation, and gated residual branches.

They have the interface of `highway_lessons.blocks`, so a `Network` takes them, too. Like all blocks they remember
nothing between calls. All are written for reading; none is tuned for speed as `Highway` is.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from highway_lessons import _checks
from highway_lessons.blocks import Plain, Residual, dense_gradients
from highway_lessons.functions import ACTIVATIONS, sigmoid, sigmoid_derivative
from highway_lessons.initialisation import uniform


class GateCache(NamedTuple):
    """What a gated block's backward pass needs: input x and transform H, (batch, width), and the gate T."""

    x: np.ndarray
    H: np.ndarray
    T: np.ndarray


def _mixed(params, x, T, activation):
    """Return y = H(x) · T + x · (1 − T), for any T that broadcasts against x, and its cache."""
    f, _ = ACTIVATIONS[activation]
    H = f(x @ params["W_H"] + params["b_H"])
    return H * T + x * (1 - T), GateCache(x, H, T)


def _through_transform(params, cache, dy, activation):
    """Return the part of dx that comes through H and through the carry, and the gradients of W_H and b_H."""
    x, H, T = cache
    _, slope = ACTIVATIONS[activation]
    dz_H = dy * T * slope(H)
    dW_H, db_H = dense_gradients(x, dz_H)
    return dz_H @ params["W_H"].T + dy * (1 - T), {"W_H": dW_H, "b_H": db_H}


@dataclass(frozen=True)
class ScalarGate:
    """One gate for the whole block: y = H(x) · t + x · (1 − t), with a single number t = σ(x w_T + b_T) per example.

    Parameters
    ----------
    gate_bias : float
        Start of b_T.
    activation : {"relu", "tanh"}
        The nonlinearity of H.
    """

    gate_bias: float = -2.0
    activation: str = "relu"

    def __post_init__(self):
        _check_gate(self)

    def shapes(self, width):
        """Names and shapes of the parameters at this width."""
        return {"W_H": (width, width), "b_H": (width,), "W_T": (width, 1), "b_T": (1,)}

    def initialise(self, rng, width, initialiser=uniform):
        """Starting values by name; draws W_H and b_H, then W_T."""
        rng = _checks.drawing(rng, width, initialiser)
        W_H, b_H = initialiser(rng, width, width)
        W_T, _ = initialiser(rng, width, 1)
        return {"W_H": W_H, "b_H": b_H, "W_T": W_T, "b_T": np.full(1, self.gate_bias)}

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        x = _checks.batch("x", x, _checks.width(self, params))
        t = sigmoid(x @ params["W_T"] + params["b_T"])  # (batch, 1)
        return _mixed(params, x, t, self.activation)

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y of shape (batch, width)."""
        dx, grads = _through_transform(params, cache, dy, self.activation)
        x, H, t = cache
        dz_T = (dy * (H - x)).sum(axis=1, keepdims=True) * sigmoid_derivative(t)  # one gate serves all units
        dW_T, db_T = dense_gradients(x, dz_T)
        return dx + dz_T @ params["W_T"].T, grads | {"W_T": dW_T, "b_T": db_T}


@dataclass(frozen=True)
class InputIndependentGate:
    """A gate that does not look at the input: y = H(x) · T + x · (1 − T), with T = σ(b_T), one number per unit.

    Parameters
    ----------
    gate_bias : float
        Start of every entry of b_T, which is learned.
    activation : {"relu", "tanh"}
        The nonlinearity of H.
    """

    gate_bias: float = -2.0
    activation: str = "relu"

    def __post_init__(self):
        _check_gate(self)

    def shapes(self, width):
        """Names and shapes of the parameters at this width."""
        return {"W_H": (width, width), "b_H": (width,), "b_T": (width,)}

    def initialise(self, rng, width, initialiser=uniform):
        """Starting values by name; draws W_H and b_H."""
        rng = _checks.drawing(rng, width, initialiser)
        W_H, b_H = initialiser(rng, width, width)
        return {"W_H": W_H, "b_H": b_H, "b_T": np.full(width, self.gate_bias)}

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        x = _checks.batch("x", x, _checks.width(self, params))
        return _mixed(params, x, sigmoid(params["b_T"]), self.activation)

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y of shape (batch, width)."""
        dx, grads = _through_transform(params, cache, dy, self.activation)
        x, H, T = cache
        return dx, grads | {"b_T": (dy * (H - x)).sum(axis=0) * sigmoid_derivative(T)}


@dataclass(frozen=True)
class FixedGate:
    """A gate that is not learned: y = H(x) · T + x · (1 − T), with one number T for the whole network.

    Parameters
    ----------
    T : float
        The transform gate, from 0 to 1; 1 / (depth + 1) gives a whole stack a τ just below 1.
    activation : {"relu", "tanh"}
        The nonlinearity of H.
    """

    T: float = 0.1
    activation: str = "relu"

    def __post_init__(self):
        _checks.keep(self, T=_checks.real("T", self.T, 0, 1))
        _checks.choice("activation", self.activation, ACTIVATIONS)

    def shapes(self, width):
        """Names and shapes of the parameters at this width."""
        return {"W_H": (width, width), "b_H": (width,)}

    def initialise(self, rng, width, initialiser=uniform):
        """Starting values by name; draws W_H, then b_H."""
        return Plain.initialise(self, rng, width, initialiser)

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        x = _checks.batch("x", x, _checks.width(self, params))
        y, cache = _mixed(params, x, self.T, self.activation)
        return y, cache._replace(T=np.asarray(self.T))

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y of shape (batch, width)."""
        return _through_transform(params, cache._replace(T=self.T), dy, self.activation)


class UncoupledCache(NamedTuple):
    """What an uncoupled block's backward pass needs: x, H, transform gate T and carry gate C, each (batch, width)."""

    x: np.ndarray
    H: np.ndarray
    T: np.ndarray
    C: np.ndarray


@dataclass(frozen=True)
class Uncoupled:
    """Two gates instead of one: y = H(x) · T(x) + x · C(x), where C = σ(x W_C + b_C) need not be 1 − T.

    Parameters
    ----------
    gate_bias : float
        Start of b_T; b_C starts at −gate_bias, so that at x = 0 a fresh block has C = 1 − T.
    activation : {"relu", "tanh"}
        The nonlinearity of H.

    References
    ----------
    Srivastava, Greff and Schmidhuber (2015), arXiv 1507.06228, eq. 2, before they set C = 1 − T.
    """

    gate_bias: float = -2.0
    activation: str = "relu"

    def __post_init__(self):
        _check_gate(self)

    def shapes(self, width):
        """Names and shapes of the parameters at this width."""
        return {f"{kind}_{name}": shape for name in "HTC" for kind, shape in (("W", (width, width)), ("b", (width,)))}

    def initialise(self, rng, width, initialiser=uniform):
        """Starting values by name; draws W_H and b_H, then W_T, then W_C."""
        rng, gate_bias = _checks.drawing(rng, width, initialiser), self.gate_bias
        (W_H, b_H), (W_T, _), (W_C, _) = (initialiser(rng, width, width) for _ in range(3))
        b_T, b_C = np.full(width, gate_bias), np.full(width, -gate_bias)
        return {"W_H": W_H, "b_H": b_H, "W_T": W_T, "b_T": b_T, "W_C": W_C, "b_C": b_C}

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        f, _ = ACTIVATIONS[self.activation]
        x = _checks.batch("x", x, _checks.width(self, params))
        H = f(x @ params["W_H"] + params["b_H"])
        T = sigmoid(x @ params["W_T"] + params["b_T"])
        C = sigmoid(x @ params["W_C"] + params["b_C"])
        return H * T + x * C, UncoupledCache(x, H, T, C)

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y of shape (batch, width)."""
        x, H, T, C = cache
        _, slope = ACTIVATIONS[self.activation]
        dz = {"H": dy * T * slope(H), "T": dy * H * sigmoid_derivative(T), "C": dy * x * sigmoid_derivative(C)}
        dx, grads = dy * C, {}
        for name, dz_name in dz.items():
            dx = dx + dz_name @ params[f"W_{name}"].T
            grads[f"W_{name}"], grads[f"b_{name}"] = dense_gradients(x, dz_name)
        return dx, grads


class BatchNormCache(NamedTuple):
    """What a normalised block's backward pass needs: x, y, normalised z, (batch, width), and 1/σ, (width,)."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    inverse_std: np.ndarray


@dataclass(frozen=True)
class BatchNorm:
    """A plain block with batch normalisation between product and activation: y = f(γ · (z − μ) / σ + β), z = x W_H.

    μ and σ are mean and standard deviation of z over the examples of the batch that comes, unit by unit. So an
    example's output depends on its neighbours, and a batch of one gives f(β). To evaluate a network, `fold_batch_norm`
    measures μ and σ over the training set, once, after training: nothing is remembered in between, and there are no
    running means.

    Parameters
    ----------
    gamma : float
        Start of every entry of γ; β starts at 0. Where β can do the work, W_H needs no bias.
    activation : {"relu", "tanh"}
        The nonlinearity f.

    References
    ----------
    Ioffe and Szegedy (2015), arXiv 1502.03167.
    """

    gamma: float = 1.0
    activation: str = "relu"

    def __post_init__(self):
        _checks.keep(self, gamma=_checks.real("gamma", self.gamma))
        _checks.choice("activation", self.activation, ACTIVATIONS)

    def shapes(self, width):
        """Names and shapes of the parameters at this width."""
        return {"W_H": (width, width), "gamma": (width,), "beta": (width,)}

    def initialise(self, rng, width, initialiser=uniform):
        """Starting values by name; draws W_H (and a bias that is not used)."""
        W_H, _ = initialiser(_checks.drawing(rng, width, initialiser), width, width)
        return {"W_H": W_H, "gamma": np.full(width, self.gamma), "beta": np.zeros(width)}

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        f, _ = ACTIVATIONS[self.activation]
        x = _checks.batch("x", x, _checks.width(self, params))
        z = x @ params["W_H"]
        mean, inverse_std = statistics(z)
        z = (z - mean) * inverse_std
        y = f(params["gamma"] * z + params["beta"])
        return y, BatchNormCache(x, y, z, inverse_std)

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y of shape (batch, width)."""
        x, y, z, inverse_std = cache
        _, slope = ACTIVATIONS[self.activation]
        da = dy * slope(y)
        dz = da * params["gamma"]
        # μ and σ depend on every row: what all rows have in common, and what goes along z, does not get through
        dz = (dz - dz.mean(axis=0) - z * (dz * z).mean(axis=0)) * inverse_std
        grads = {"W_H": x.T @ dz, "gamma": (da * z).sum(axis=0), "beta": da.sum(axis=0)}
        return dz @ params["W_H"].T, grads


def statistics(z, epsilon=1e-5):
    """Mean and 1/√(variance + ε) of each column of `z`, (batch, width); ε keeps a constant column finite."""
    return z.mean(axis=0), 1 / np.sqrt(z.var(axis=0) + epsilon)


def fold_batch_norm(network, params, x):
    """Turn a network with batch normalisation into a plain one, with the statistics of `x` as fixed numbers.

    With fixed statistics, normalising is a scale and a shift, which go into W_H and b_H. The network that comes out
    gives on `x` as one batch what the other one gave, and treats each example alone.

    Parameters
    ----------
    network : Network
        With `BatchNorm` blocks.
    params : Parameters
    x : array_like of shape (examples, n_in)
        The training data.

    Returns
    -------
    network : Network
        With `Plain` blocks.
    params : Parameters

    Raises
    ------
    TypeError
        If the network has other blocks.
    """
    if not isinstance(network.block, BatchNorm):
        raise TypeError(f"network must have BatchNorm blocks, but it has {network.block}; nothing is to be folded.")
    folded = replace(network, block=Plain(network.block.activation))
    plain = folded.zeros(params.flat.dtype)
    for layer, source in ((plain.input, params.input), (plain.head, params.head)):
        layer["W"][:], layer["b"][:] = source["W"], source["b"]
    _, cache = network.forward(params, x)
    for views, block, h in zip(plain.blocks, params.blocks, cache.h, strict=False):  # h_depth feeds the head
        mean, inverse_std = statistics(h @ block["W_H"])
        scale = block["gamma"] * inverse_std
        views["W_H"][:], views["b_H"][:] = block["W_H"] * scale, block["beta"] - mean * scale
    return folded, plain


class GatedResidualCache(NamedTuple):
    """What a gated residual block's backward pass needs: x, hidden layer h, branch F, gate g, all (batch, width)."""

    x: np.ndarray
    h: np.ndarray
    F: np.ndarray
    g: np.ndarray


@dataclass(frozen=True)
class GatedResidual:
    """A residual block with a gate g = σ(x W_T + b_T): on branch and shortcut, or on the shortcut alone.

    y = (1 − g) · x + g · F(x) if the gate is exclusive, else y = (1 − g) · x + F(x). The branch is the two-layer one of
    `Residual`, F(x) = f(x W_1 + b_1) W_2 + b_2. An exclusive gate makes a highway block whose transform is F.

    Parameters
    ----------
    gate_bias : float
        Start of every entry of b_T.
    exclusive : bool
        Gate the branch, too.
    activation : {"relu", "tanh"}
        The nonlinearity f inside the branch.

    References
    ----------
    He, Zhang, Ren and Sun (2016), arXiv 1603.05027, section 3.1: "exclusive gating" and "shortcut-only gating".
    """

    gate_bias: float = -2.0
    exclusive: bool = True
    activation: str = "relu"

    def __post_init__(self):
        _check_gate(self)
        _checks.keep(self, exclusive=_checks.flag("exclusive", self.exclusive))

    def shapes(self, width):
        """Names and shapes of the parameters at this width."""
        return {f"{kind}_{name}": shape for name in "12T" for kind, shape in (("W", (width, width)), ("b", (width,)))}

    def initialise(self, rng, width, initialiser=uniform):
        """Starting values by name; draws W_1, b_1, W_2, b_2, then W_T."""
        rng = _checks.drawing(rng, width, initialiser)
        (W_1, b_1), (W_2, b_2), (W_T, _) = (initialiser(rng, width, width) for _ in range(3))
        return {"W_1": W_1, "b_1": b_1, "W_2": W_2, "b_2": b_2, "W_T": W_T, "b_T": np.full(width, self.gate_bias)}

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        f, _ = ACTIVATIONS[self.activation]
        x = _checks.batch("x", x, _checks.width(self, params))
        h = f(x @ params["W_1"] + params["b_1"])
        F = h @ params["W_2"] + params["b_2"]
        g = sigmoid(x @ params["W_T"] + params["b_T"])
        return (1 - g) * x + (g * F if self.exclusive else F), GatedResidualCache(x, h, F, g)

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y of shape (batch, width)."""
        x, h, F, g = cache
        _, slope = ACTIVATIONS[self.activation]
        dF, dg = (dy * g, dy * (F - x)) if self.exclusive else (dy, -dy * x)
        dz_T = dg * sigmoid_derivative(g)
        dz_1 = dF @ params["W_2"].T * slope(h)
        dx, grads = dy * (1 - g) + dz_1 @ params["W_1"].T + dz_T @ params["W_T"].T, {}
        for name, below, dz in (("1", x, dz_1), ("2", h, dF), ("T", x, dz_T)):
            grads[f"W_{name}"], grads[f"b_{name}"] = dense_gradients(below, dz)
        return dx, grads


@dataclass(frozen=True)
class ScaledResidual:
    """A residual block with constants instead of a gate: y = shortcut · x + branch · F(x), F as in `Residual`.

    Parameters
    ----------
    shortcut, branch : float
        Both 1: the usual residual block, "identity".
    activation : {"relu", "tanh"}
        The nonlinearity inside the branch.

    References
    ----------
    He, Zhang, Ren and Sun (2016), arXiv 1603.05027, section 3.1: "constant scaling".
    """

    shortcut: float = 0.5
    branch: float = 0.5
    activation: str = "relu"

    def __post_init__(self):
        shortcut, branch = _checks.real("shortcut", self.shortcut), _checks.real("branch", self.branch)
        _checks.keep(self, shortcut=shortcut, branch=branch)
        _checks.choice("activation", self.activation, ACTIVATIONS)

    def _residual(self):
        return Residual(self.branch, activation=self.activation)

    def shapes(self, width):
        """Names and shapes of the parameters at this width."""
        return self._residual().shapes(width)

    def initialise(self, rng, width, initialiser=uniform):
        """Starting values by name, as `Residual` draws them."""
        return self._residual().initialise(rng, width, initialiser)

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        y, cache = self._residual().forward(params, x)
        return y - (1 - self.shortcut) * cache.x, cache

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y of shape (batch, width)."""
        dx, grads = self._residual().backward(params, cache, dy)
        return dx - (1 - self.shortcut) * dy, grads


def _check_gate(block):
    """Check what all gated blocks have: a bias and an activation."""
    _checks.keep(block, gate_bias=_checks.real("gate_bias", block.gate_bias))
    _checks.choice("activation", block.activation, ACTIVATIONS)
