"""The blocks side by side: plain, highway, residual.

A block is a small immutable object that remembers nothing between calls:

- `shapes(width)`: the names and shapes of its parameters;
- `initialise(rng, width, initialiser)`: starting values, by name;
- `forward(params, x) -> (y, cache)`;
- `backward(params, cache, dy) -> (dx, grads)`.

Rows are examples: `x` is (batch, width), `W` is (n_in, n_out), and a layer is `x @ W + b`. The papers write `W x`.
A cache holds the arrays themselves, not copies: write to neither x nor y before the backward pass.
`out=` and `*=` write results into arrays that are there already, which is faster; the mathematics stands beside them.
NaN and infinity pass through a block, since a diverging network makes them; `Network.forward` refuses them in data.
"""

import functools
import inspect
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from highway_lessons import _checks
from highway_lessons.functions import ACTIVATIONS, sigmoid
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


def _with_workspace(one_pass):
    """Let a pass of `Highway` take parameters by name, too: they are checked, and get new arrays to write to."""
    signature = inspect.signature(one_pass)
    inputs = [p.replace(name="params") if p.name == "work" else p for p in signature.parameters.values()]
    signature = signature.replace(parameters=inputs)

    @functools.wraps(one_pass)
    def checked(self, params, *rest, **named):
        if isinstance(params, HighwayWorkspace):
            return one_pass(self, params, *rest, **named)
        if named or len(rest) != len(inputs) - 2:
            rest = signature.bind(self, params, *rest, **named).args[2:]
        *cache, batch = rest
        width = _checks.width(self, params)
        batch = _checks.batch("dy" if cache else "x", batch, width)
        if cache:
            _checks.shape("dy", batch, cache[0].H.shape)
        numbers = [np.ravel(params[name], order="F") for name in ("W_H", "W_T", "b_H", "b_T")]
        flat = _checks.floats("params", np.concatenate(numbers))
        flat = flat.astype(np.result_type(batch, flat), copy=False)
        work = HighwayWorkspace(width, flat, np.empty_like(flat), len(batch))
        with np.errstate(over="ignore"):  # see `sigmoid`
            return one_pass(self, work, *cache, batch)

    checked.__signature__ = signature
    return checked


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

    @_with_workspace
    def forward(self, work, x):
        """Return y, of shape (batch, width), and the cache."""
        f, _ = ACTIVATIONS[self.activation]
        # [z_H | z_T] = x [W_H | W_T] + [b_H | b_T]
        np.matmul(x, work.W, out=work.z)
        work.z += work.b
        H = f(work.z_H, out=work.z_H)
        T = sigmoid(work.z_T, out=work.z_T)
        # y = x · (1 − T) + H · T
        y = np.subtract(1, T, out=work.y)
        y *= x
        y += np.multiply(H, T, out=work.part)
        return y, HighwayCache(x, H, T)

    @_with_workspace
    def backward(self, work, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name.

        Given is dy = ∂L/∂y, of shape (batch, width).
        """
        x, H, T = cache
        _, slope = ACTIVATIONS[self.activation]
        dz_H = np.multiply(dy, T, out=work.dz_H)
        carry = np.subtract(dy, dz_H, out=work.part)  # dy · (1 − T)
        dz_H *= slope(H, out=work.dx)  # dy · T · f'(z_H)
        dz_T = np.subtract(H, x, out=work.dz_T)
        dz_T *= carry
        dz_T *= T  # dy · (H − x) · T (1 − T)
        dx = np.matmul(work.dz, work.W.T, out=work.dx)  # dz_H W_Hᵀ + dz_T W_Tᵀ
        dx += carry
        np.matmul(x.T, work.dz, out=work.dW)  # [dW_H | dW_T]
        np.matmul(work.ones, work.dz, out=work.db)  # [db_H | db_T]
        return dx, work.gradients

    def workspace(self, width, flat, gradient, batch, scratch=None):
        """Return a `HighwayWorkspace`, to pass as `params`; None if a subclass has other parameters or passes."""
        methods = ("shapes", "forward", "backward")
        if any(getattr(type(self), method) is not getattr(Highway, method) for method in methods):
            return None
        return HighwayWorkspace(width, flat, gradient, batch, scratch)


class HighwayWorkspace(dict):
    """A highway block's parameters by name, and the arrays that its forward and backward pass write to.

    A training run makes one per block and uses it in every step, which saves making large arrays anew. So a pass
    overwrites what the one before it returned. A copy is a plain dictionary of the parameters.
    The two layers stand side by side, W = [W_H | W_T], b, z and their gradients likewise: one product serves both.
    Arrays are in Fortran order, column after column, so that each half is in one piece.

    Parameters
    ----------
    width, batch : int
        Units of the block, and examples that come at once.
    flat, gradient : arrays of shape (n_parameters,)
        The block's numbers in the order of `Highway.shapes`, and where to write their gradients.
    scratch : tuple of arrays, optional
        `scratch` of another block's workspace, to share what only one block at a time needs.
    """

    def __init__(self, width, flat, gradient, batch, scratch=None):
        def new(columns):
            return np.empty((batch, columns), flat.dtype, order="F")

        self.W, self.b, named = _side_by_side(flat, width)
        super().__init__(named)
        self.dW, self.db, self.gradients = _side_by_side(gradient, width)
        self.z, self.y = new(2 * width), new(width)
        self.scratch = scratch or (new(2 * width), new(width), new(width), np.ones(batch, flat.dtype))
        self.dz, self.dx, self.part, self.ones = self.scratch
        (self.z_H, self.z_T), (self.dz_H, self.dz_T) = _halves(self.z), _halves(self.dz)

    def __reduce__(self):
        return dict, ({name: array.copy() for name, array in self.items()},)


def _side_by_side(flat, width):
    """Return [W_H | W_T] and [b_H | b_T] as views of `flat`, and the four halves by name."""
    W, b = flat[: -2 * width].reshape((width, 2 * width), order="F"), flat[-2 * width :]
    return W, b, dict(zip(("W_H", "W_T", "b_H", "b_T"), _halves(W) + _halves(b), strict=True))


def _halves(array):
    """Return the left and the right half of `array`, as views."""
    middle = array.shape[-1] // 2
    return array[..., :middle], array[..., middle:]


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
