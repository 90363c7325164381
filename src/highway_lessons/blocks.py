"""The blocks side by side: plain, highway, residual.

A block is a small immutable object that remembers nothing between calls:

- `shapes(width)`: the names and shapes of its parameters;
- `initialise(rng, width, initialiser)`: starting values, by name;
- `forward(params, x) -> (y, cache)`;
- `backward(params, cache, dy) -> (dx, grads)`.

Rows are examples: `x` is (batch, width), `W` is (n_in, n_out), and a layer is `x @ W + b`. The papers write `W x`.
A cache holds the arrays themselves, not copies: write to neither x nor y before the backward pass.
NaN and infinity pass through a block, since a diverging network makes them; `Network.forward` refuses them in data.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from highway_lessons import _checks
from highway_lessons.functions import ACTIVATIONS, sigmoid, sigmoid_derivative
from highway_lessons.initialisation import uniform


def dense_gradients(x, dz):
    """Gradients of W and b in z = x @ W + b, given dz = ∂L/∂z of shape (batch, n_out)."""
    return x.T @ dz, dz.sum(axis=0)


class PlainCache(NamedTuple):
    """What a plain block's backward pass needs: the input x and the transform H, both (batch, width)."""

    x: np.ndarray
    H: np.ndarray


@dataclass(frozen=True)
class Plain:
    """A plain block, y = H(x) = f(x W_H + b_H): no shortcut at all.

    Parameters
    ----------
    activation : {"relu", "tanh"}
        The nonlinearity f.
    """

    activation: str = "relu"

    def __post_init__(self):
        _checks.choice("activation", self.activation, ACTIVATIONS)

    def shapes(self, width):
        """Names and shapes of the parameters at this width."""
        return {"W_H": (width, width), "b_H": (width,)}

    def initialise(self, rng, width, initialiser=uniform):
        """Starting values by name; draws W_H, then b_H."""
        rng = _checks.drawing(rng, width, initialiser)
        W_H, b_H = initialiser(rng, width, width)
        return {"W_H": W_H, "b_H": b_H}

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        f, _ = ACTIVATIONS[self.activation]
        x = _checks.batch("x", x, _checks.width(self, params))
        H = f(x @ params["W_H"] + params["b_H"])
        return H, PlainCache(x, H)

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y of shape (batch, width)."""
        x, H = cache
        _, slope = ACTIVATIONS[self.activation]
        dz_H = dy * slope(H)
        dx = dz_H @ params["W_H"].T
        dW_H, db_H = dense_gradients(x, dz_H)
        return dx, {"W_H": dW_H, "b_H": db_H}


class HighwayCache(NamedTuple):
    """What a highway block's backward pass needs: input x, transform H and transform gate T, each (batch, width)."""

    x: np.ndarray
    H: np.ndarray
    T: np.ndarray


@dataclass(frozen=True)
class Highway:
    """A highway block, y = H(x) · T(x) + x · (1 − T(x)), unit by unit.

    Parameters
    ----------
    gate_bias : float
        Start of every entry of b_T, the log-odds of the transform gate at x = 0; −2 gives T = 0.119.
    activation : {"relu", "tanh"}
        The nonlinearity f of the transform H(x) = f(x W_H + b_H).

    Raises
    ------
    ValueError, TypeError
        If `gate_bias` is not a finite number or `activation` is unknown.

    References
    ----------
    Srivastava, Greff and Schmidhuber (2015), arXiv 1507.06228, eq. 3.
    """

    gate_bias: float = -2.0
    activation: str = "relu"

    def __post_init__(self):
        _checks.keep(self, gate_bias=_checks.real("gate_bias", self.gate_bias))
        _checks.choice("activation", self.activation, ACTIVATIONS)

    def shapes(self, width):
        """Names and shapes of the parameters at this width."""
        return {"W_H": (width, width), "W_T": (width, width), "b_H": (width,), "b_T": (width,)}

    def initialise(self, rng, width, initialiser=uniform):
        """Starting values by name; draws W_H and b_H, then W_T and a bias that `gate_bias` replaces."""
        rng = _checks.drawing(rng, width, initialiser)
        W_H, b_H = initialiser(rng, width, width)
        W_T, _ = initialiser(rng, width, width)
        return {"W_H": W_H, "W_T": W_T, "b_H": b_H, "b_T": np.full(width, self.gate_bias)}

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        f, _ = ACTIVATIONS[self.activation]
        x = _checks.batch("x", x, _checks.width(self, params))
        H = f(x @ params["W_H"] + params["b_H"])
        T = sigmoid(x @ params["W_T"] + params["b_T"])
        y = H * T + x * (1 - T)
        return y, HighwayCache(x, H, T)

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y of shape (batch, width)."""
        x, H, T = cache
        _, slope = ACTIVATIONS[self.activation]
        dz_H = dy * T * slope(H)
        dz_T = dy * (H - x) * sigmoid_derivative(T)
        dx = dy * (1 - T) + dz_H @ params["W_H"].T + dz_T @ params["W_T"].T
        dW_H, db_H = dense_gradients(x, dz_H)
        dW_T, db_T = dense_gradients(x, dz_T)
        return dx, {"W_H": dW_H, "W_T": dW_T, "b_H": db_H, "b_T": db_T}


class ResidualCache(NamedTuple):
    """What a residual block's backward pass needs: input x and hidden layer h of the branch, both (batch, width)."""

    x: np.ndarray
    h: np.ndarray


@dataclass(frozen=True)
class Residual:
    """A residual block with the field's two-layer branch, y = x + scale · (f(x W_1 + b_1) W_2 + b_2).

    It has as many parameters as a highway block of the same width.

    Parameters
    ----------
    scale : float
        Factor of the branch; 1/√depth keeps the signal's size over a whole stack.
    zero_start : bool
        Start with W_2 = 0 and b_2 = 0, so that the block begins as y = x.
    activation : {"relu", "tanh"}
        The nonlinearity f inside the branch.

    References
    ----------
    He, Zhang, Ren and Sun (2016), arXiv 1603.05027, without batch normalisation.
    """

    scale: float = 1.0
    zero_start: bool = False
    activation: str = "relu"

    def __post_init__(self):
        scale, zero_start = _checks.real("scale", self.scale), _checks.flag("zero_start", self.zero_start)
        _checks.keep(self, scale=scale, zero_start=zero_start)
        _checks.choice("activation", self.activation, ACTIVATIONS)

    def shapes(self, width):
        """Names and shapes of the parameters at this width."""
        return {"W_1": (width, width), "b_1": (width,), "W_2": (width, width), "b_2": (width,)}

    def initialise(self, rng, width, initialiser=uniform):
        """Starting values by name; draws W_1, b_1, W_2, b_2 in this order (a zero start draws them too)."""
        rng = _checks.drawing(rng, width, initialiser)
        W_1, b_1 = initialiser(rng, width, width)
        W_2, b_2 = initialiser(rng, width, width)
        if self.zero_start:
            W_2, b_2 = np.zeros_like(W_2), np.zeros_like(b_2)
        return {"W_1": W_1, "b_1": b_1, "W_2": W_2, "b_2": b_2}

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        f, _ = ACTIVATIONS[self.activation]
        x = _checks.batch("x", x, _checks.width(self, params))
        h = f(x @ params["W_1"] + params["b_1"])
        y = x + self.scale * (h @ params["W_2"] + params["b_2"])
        return y, ResidualCache(x, h)

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y of shape (batch, width)."""
        x, h = cache
        _, slope = ACTIVATIONS[self.activation]
        dz_2 = self.scale * dy
        dz_1 = dz_2 @ params["W_2"].T * slope(h)
        dx = dy + dz_1 @ params["W_1"].T
        dW_1, db_1 = dense_gradients(x, dz_1)
        dW_2, db_2 = dense_gradients(h, dz_2)
        return dx, {"W_1": dW_1, "b_1": db_1, "W_2": dW_2, "b_2": db_2}


@dataclass(frozen=True)
class NaiveResidual(Plain):
    """A pitfall, not a contestant: y = x + f(x W_H + b_H), a one-layer branch that with ReLU can only add.

    The activations grow from block to block, so a deep stack starts with an enormous loss.
    Use `Residual` for a fair comparison.
    """

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        H, cache = super().forward(params, x)
        return cache.x + H, cache

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y of shape (batch, width)."""
        dx, grads = super().backward(params, cache, dy)
        return dy + dx, grads
