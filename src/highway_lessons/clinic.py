"""The bug clinic: highway layers that are wrong in ways that real ones have been, and four tests that find out.

`LAYERS` holds the wrong layers by name, with the right one among them. Each is the right layer with one change, and
each has the gradients of what it computes (but for the one whose backward pass is the bug), so its training is real.

`examine(block)` puts the four tests to a block of this package, `examine_callable(forward, set_gate_bias, width)` to a
layer of your own, written in whatever you like. Both look from outside, at what goes in and what comes out.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from highway_lessons import _checks
from highway_lessons.blocks import Highway, dense_gradients
from highway_lessons.functions import (
    ACTIVATIONS,
    relu,
    relu_derivative,
    sigmoid,
    sigmoid_derivative,
    softmax,
)
from highway_lessons.initialisation import INITIALISERS, uniform

# Wrong at the start: the forward and the backward pass are right.


class BiasForgotten(Highway):
    """The gate bias is never set: b_T keeps what the initialiser drew, and the gates start near ½."""

    def initialise(self, rng, width, initialiser=uniform):
        """As `Highway.initialise`, but for b_T."""
        rng = _checks.drawing(rng, width, initialiser)
        params = super().initialise(rng, width, initialiser)
        _, params["b_T"] = initialiser(rng, width, width)
        return params


class BiasPlusOne(Highway):
    """The gate bias that was asked for is ignored: b_T starts at +1."""

    def initialise(self, rng, width, initialiser=uniform):
        """As `Highway.initialise`, but for b_T."""
        return super().initialise(rng, width, initialiser) | {"b_T": np.ones(width)}


class BiasOnTransform(BiasForgotten):
    """The gate bias lands on b_H, and b_T keeps what the initialiser drew."""

    def initialise(self, rng, width, initialiser=uniform):
        """As `Highway.initialise`, but for both biases."""
        return super().initialise(rng, width, initialiser) | {"b_H": np.full(width, self.gate_bias)}


class BiasOnBoth(Highway):
    """The gate bias is put on b_T, and on b_H as well."""

    def initialise(self, rng, width, initialiser=uniform):
        """As `Highway.initialise`, but for b_H."""
        return super().initialise(rng, width, initialiser) | {"b_H": np.full(width, self.gate_bias)}


# Wrong parameters reach a right layer.


class HalvesSwapped(Highway):
    """The two halves of a fused matrix are taken for each other: what is called W_T, b_T makes the transform."""

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        return super().forward(_swapped(params), x)

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y."""
        dx, grads = super().backward(_swapped(params), cache, dy)
        return dx, _swapped(grads)


def _swapped(arrays):
    return {"W_H": arrays["W_T"], "W_T": arrays["W_H"], "b_H": arrays["b_T"], "b_T": arrays["b_H"]}


class ActivationOfX(Highway):
    """The activation is applied to the wrong tensor, H = f(x): W_H and b_H are there and unused."""

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        return super().forward(_unused(params), x)

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y."""
        dx, grads = super().backward(_unused(params), cache, dy)
        return dx, grads | {"W_H": np.zeros_like(grads["W_H"]), "b_H": np.zeros_like(grads["b_H"])}


def _unused(params):
    """Put the identity in the place of W_H and 0 in that of b_H: then x W_H + b_H is x."""
    W_H, b_H = params["W_H"], params["b_H"]
    return dict(params) | {"W_H": np.eye(len(W_H), dtype=W_H.dtype), "b_H": np.zeros_like(b_H)}


# Wrong formulas. The right one first, in pieces, so that each wrong layer replaces one piece and its slope.


class TextbookCache(NamedTuple):
    """What the backward pass needs: x, transform, gate, and what the carry gate multiplies; each (batch, width)."""

    x: np.ndarray
    H: np.ndarray
    T: np.ndarray
    carried: np.ndarray


class Textbook(Highway):
    """The right layer as textbooks write it, in pieces: transform, gate, and what is carried."""

    def transform(self, z):
        """H for its pre-activation."""
        f, _ = ACTIVATIONS[self.activation]
        return f(z)

    def transform_back(self, H, dH):
        """∂L/∂z_H, given ∂L/∂H."""
        _, slope = ACTIVATIONS[self.activation]
        return dH * slope(H)

    def gate(self, z):
        """T for its pre-activation."""
        return sigmoid(z)

    def gate_back(self, T, dT):
        """∂L/∂z_T, given ∂L/∂T."""
        return dT * sigmoid_derivative(T)

    def carry(self, params, x, z_H):
        """What 1 − T multiplies."""
        return x

    def carry_back(self, params, x, dcarried):
        """∂L/∂x, ∂L/∂z_H and gradients by name, as far as they come by way of the carry, given ∂L/∂carried."""
        return dcarried, 0, {}

    def forward(self, params, x):
        """Return y, of shape (batch, width), and the cache."""
        x = _checks.batch("x", x, _checks.width(self, params))
        z_H, z_T = x @ params["W_H"] + params["b_H"], x @ params["W_T"] + params["b_T"]
        H, T, carried = self.transform(z_H), self.gate(z_T), self.carry(params, x, z_H)
        return H * T + carried * (1 - T), TextbookCache(x, H, T, carried)

    def backward(self, params, cache, dy):
        """Return dx = ∂L/∂x and the parameters' gradients by name, given dy = ∂L/∂y."""
        x, H, T, carried = cache
        dx, dz_H, grads = self.carry_back(params, x, dy * (1 - T))
        dz_H = dz_H + self.transform_back(H, dy * T)
        dz_T = self.gate_back(T, dy * (H - carried))
        dx = dx + dz_H @ params["W_H"].T + dz_T @ params["W_T"].T
        dW_H, db_H = dense_gradients(x, dz_H)
        dW_T, db_T = dense_gradients(x, dz_T)
        return dx, {"W_H": dW_H, "W_T": dW_T, "b_H": db_H, "b_T": db_T} | grads


class Exchanged(Textbook):
    """T and C are exchanged, y = H · (1 − T) + x · T: a sign slip, as 1 − σ(z) = σ(−z)."""

    def gate(self, z):
        """What multiplies H."""
        return sigmoid(-z)

    def gate_back(self, T, dT):
        """∂L/∂z_T, given ∂L/∂T."""
        return -dT * sigmoid_derivative(T)


class AffineCarry(Textbook):
    """The carry is an affine map of the input, x W_C + b_C, in place of the input itself."""

    def shapes(self, width):
        """Names and shapes of the parameters at this width."""
        return super().shapes(width) | {"W_C": (width, width), "b_C": (width,)}

    def initialise(self, rng, width, initialiser=uniform):
        """As `Highway.initialise`, then W_C and b_C."""
        rng = _checks.drawing(rng, width, initialiser)
        params = super().initialise(rng, width, initialiser)
        W_C, b_C = initialiser(rng, width, width)
        return params | {"W_C": W_C, "b_C": b_C}

    def carry(self, params, x, z_H):
        """What 1 − T multiplies."""
        return x @ params["W_C"] + params["b_C"]

    def carry_back(self, params, x, dcarried):
        """As `Textbook.carry_back`."""
        dW_C, db_C = dense_gradients(x, dcarried)
        return dcarried @ params["W_C"].T, 0, {"W_C": dW_C, "b_C": db_C}


class TransformedCarry(Textbook):
    """The carry starts behind the weights, x W_H + b_H (in convolutional layers: behind the convolution)."""

    def carry(self, params, x, z_H):
        """What 1 − T multiplies."""
        return z_H

    def carry_back(self, params, x, dcarried):
        """As `Textbook.carry_back`."""
        return 0, dcarried, {}


class SoftmaxGate(Textbook):
    """A softmax over the units is the gate: a constant bias cancels, and the gates of an example add up to 1."""

    def gate(self, z):
        """T for its pre-activation."""
        return softmax(z)

    def gate_back(self, T, dT):
        """∂L/∂z_T, given ∂L/∂T."""
        return T * (dT - (T * dT).sum(axis=1, keepdims=True))


class ReluGate(Textbook):
    """A ReLU is the gate: T has no upper bound, so 1 − T can be negative."""

    def gate(self, z):
        """T for its pre-activation."""
        return relu(z)

    def gate_back(self, T, dT):
        """∂L/∂z_T, given ∂L/∂T."""
        return dT * relu_derivative(T)


class ActivationsExchanged(Textbook):
    """The activations are exchanged: f makes the gate, and the sigmoid the transform."""

    def transform(self, z):
        """H for its pre-activation."""
        return sigmoid(z)

    def transform_back(self, H, dH):
        """∂L/∂z_H, given ∂L/∂H."""
        return dH * sigmoid_derivative(H)

    def gate(self, z):
        """T for its pre-activation."""
        return super().transform(z)

    def gate_back(self, T, dT):
        """∂L/∂z_T, given ∂L/∂T."""
        return super().transform_back(T, dT)


class SlopeOfTheValue(Textbook):
    """The forward pass is right; the backward pass takes the sigmoid of the gate's value once more for its slope."""

    def gate_back(self, T, dT):
        """Not ∂L/∂z_T: σ′ stands at T where it should stand at z_T."""
        return dT * sigmoid_derivative(sigmoid(T))


LAYERS = {
    "right": Highway,
    "gate bias forgotten": BiasForgotten,
    "gate bias +1": BiasPlusOne,
    "bias on the transform": BiasOnTransform,
    "bias on both": BiasOnBoth,
    "halves swapped": HalvesSwapped,
    "T and C exchanged": Exchanged,
    "affine carry": AffineCarry,
    "carry behind the weights": TransformedCarry,
    "softmax gate": SoftmaxGate,
    "ReLU gate": ReluGate,
    "activations exchanged": ActivationsExchanged,
    "activation of x": ActivationOfX,
    "slope of the value": SlopeOfTheValue,
}


# The four tests


class Finding(NamedTuple):
    """One test: its name, a key of `TESTS`; whether it was passed (None: not done); what was seen, in a sentence."""

    test: str
    passed: bool | None
    sentence: str


TESTS = {
    "shut": "gate shut, y = x",
    "open": "gate open, y = H(x)",
    "start": "gate at the start, σ(b)",
    "gradient": "gradient check",
}


@dataclass(frozen=True)
class Report:
    """What `examine` returns: true in an `if` where no test failed, a line per test in a notebook.

    Attributes
    ----------
    findings : tuple of Finding
        In the order of `TESTS`. A test that fails can make those below it fail, too, so read from the top.
    """

    findings: tuple

    @property
    def caught(self):
        """Names of the tests that failed, a list."""
        return [finding.test for finding in self.findings if finding.passed is False]

    def __bool__(self):
        return not self.caught

    def __repr__(self):
        words = {True: "passed", False: "FAILED", None: "not done"}
        return "\n".join(f"{words[passed]:9} {test:9} {text}" for test, passed, text in self.findings)


def examine(block, width=16, rng=0, initialiser="uniform"):
    """Put the four tests to a highway block of this package's kind.

    Parameters
    ----------
    block : Highway or another block with a `gate_bias`, an `activation`, and parameters W_H, b_H and b_T among others
        See `highway_lessons.blocks`. What it should compute is `Highway`'s formula.
    width : int
        Units, at least 2. (A softmax gate of width 8 starts with a mean gate of 1/8, hard to tell from σ(−2).)
    rng : int or numpy.random.Generator
        Draws the parameters and the inputs.
    initialiser : str
        As in `Network.initialise`.

    Returns
    -------
    Report

    Raises
    ------
    ValueError, TypeError
        If `block` is none, or does not return arrays of the right names and shapes.
    """
    methods = ("initialise", "forward", "backward", "gate_bias", "activation")
    _checks.has("block", block, methods, "Highway(gate_bias=-2.0)")
    f, _ = _checks.choice("block.activation", block.activation, ACTIVATIONS)
    width, rng = _checks.integer("width", width, 2), _checks.generator(rng)
    params = block.initialise(rng, width, _checks.choice("initialiser", initialiser, INITIALISERS))
    params = {name: np.array(values, float) for name, values in params.items()}
    if missing := {"W_H", "b_H", "b_T"} - set(params):
        raise ValueError(
            f"block must have parameters W_H, b_H and b_T, but {', '.join(sorted(missing))} came not; "
            "for a layer with other names use examine_callable."
        )

    def forward(x):
        return block.forward(params, x)[0]

    def set_gate_bias(value):
        params["b_T"][:] = value

    def transform(x):
        return f(x @ params["W_H"] + params["b_H"])

    def gradients(x, dy):
        dx, grads = block.backward(params, block.forward(params, x)[1], dy)
        if missing := set(params) - set(grads):
            raise ValueError(f"block.backward must return all gradients, but {', '.join(sorted(missing))} came not.")
        return {"x": (x, dx)} | {name: (params[name], grads[name]) for name in params}

    return _examine(forward, set_gate_bias, width, block.gate_bias, transform, gradients, rng)


def examine_callable(forward, set_gate_bias, width, *, gate_bias=-2.0, transform=None, gradient=None, rng=0):
    """Put the four tests to a layer of your own, in PyTorch or anything else, by what goes in and what comes out.

    Parameters
    ----------
    forward : callable
        ``forward(x)`` takes a float64 array of shape (batch, width), whose numbers float32 holds without rounding, and
        returns the layer's output as an array of that shape. Switch dropout off first, and take float32 or float64
        (half precision rounds x itself, so that a shut gate cannot hand it on exactly).
    set_gate_bias : callable
        ``set_gate_bias(value)`` sets every entry of the gate bias to a number; called with 1000, 2000, −1000 and, in
        the end, with `gate_bias`. Where the gate is the *carry* gate, as in some libraries, pass ``-value`` on.
    width : int
        Units, at least 2.
    gate_bias : float
        What the bias of the transform gate should be at the start: hand in a fresh layer.
    transform : callable, optional
        ``transform(x)`` returns H(x) for the layer's weights. Without it, the output with the gate wide open is taken
        for H, and the second test sees only whether opening it further changes anything and whether x is gone.
    gradient : callable, optional
        ``gradient(x, dy)`` returns ∂L/∂x for L = Σ y · dy. Without it, there is no gradient check.
    rng : int or numpy.random.Generator
        Draws the inputs.

    Returns
    -------
    Report

    Raises
    ------
    ValueError, TypeError
        If an argument is not what it should be, a function does not return real numbers of shape (batch, width), or
        `forward` answers the same x in two ways.

    Examples
    --------
    For a PyTorch `layer` whose gate is ``sigmoid(layer.gate(x))``:

    >>> examine_callable(
    ...     lambda x: layer(torch.tensor(x, dtype=torch.float32)).detach().numpy(),
    ...     lambda value: torch.nn.init.constant_(layer.gate.bias, value),
    ...     width=64,
    ... )
    """
    for name, function in {"forward": forward, "set_gate_bias": set_gate_bias}.items():
        if not callable(function):
            raise TypeError(f"{name} must be a function, but {_checks.describe(function)} came.")
    _checks.function("transform", transform)
    _checks.function("gradient", gradient)
    width, gate_bias = _checks.integer("width", width, 2), _checks.real("gate_bias", gate_bias)
    gradients = gradient and (lambda x, dy: {"x": (x, gradient(x, dy))})
    return _examine(forward, set_gate_bias, width, gate_bias, transform, gradients, _checks.generator(rng))


def _examine(forward, set_gate_bias, width, gate_bias, transform, gradients, rng):
    """Look at a fresh layer first, then with its gate open, then shut."""

    def ask(name, function, x):
        answer = np.asarray(function(x.copy())).copy()  # some layers write every answer into the same array
        _checks.shape(f"what {name} returns", answer, x.shape)
        _checks.floats(f"what {name} returns", answer)
        return answer

    def output(x):
        return ask("forward", forward, x)

    x = _representable(rng.normal(size=(64, width)))
    near_0 = _representable(1e-3 * rng.normal(size=x.shape))
    y, y_near_0 = output(x), output(near_0)
    if not np.array_equal(y, output(x), equal_nan=True):
        raise ValueError(
            "forward must give one answer for one x, but two came; switch dropout off, as layer.eval() does."
        )
    gradient = _gradient_check(output, gradients, x, rng)
    H, H_near_0 = (transform and ask("transform", transform, inputs) for inputs in (x, near_0))
    try:
        set_gate_bias(1000)
        y_open, open_near_0 = output(x), output(near_0)
        set_gate_bias(2000)
        opened = _open_gate(x, y_open, output(x), H)
        set_gate_bias(-1000)
        shut = _shut_gate(x, output(x))
    finally:
        set_gate_bias(gate_bias)
    if transform is None:
        H, H_near_0 = y_open, open_near_0
    return Report((shut, opened, _gate_at_start(x, y, H, near_0, y_near_0, H_near_0, gate_bias), gradient))


def _representable(x):
    """Round to numbers that float32 has, so that a float32 layer can hand them back exactly."""
    return x.astype(np.float32).astype(np.float64)


def _shut_gate(x, y):
    """With the gate at 0, y is x to the last bit."""
    if np.array_equal(x, y):
        return Finding("shut", True, "y is x, to the last bit.")
    if not np.isfinite(y).all():
        return Finding("shut", False, "y has entries that are no finite numbers; it should be x exactly.")
    return Finding("shut", False, f"y differs from x by up to {np.abs(y - x).max():.3g}; it should be x exactly.")


def _open_gate(x, y, y_wider, H):
    """With the gate at 1, y is H(x), and x has no other way into it."""
    if not (np.isfinite(y).all() and np.isfinite(y_wider).all()):
        return Finding("open", False, "y has entries that are no finite numbers.")
    if not np.allclose(y, y_wider, rtol=1e-5, atol=1e-5):
        return Finding("open", False, "y goes on moving with b: what b moves has no upper bound.")
    if np.allclose(x, y, rtol=1e-5, atol=1e-5):
        return Finding("open", False, "y is x; the gate that should be open is shut.")
    if H is None:
        return Finding("open", True, "y is not x and no longer moves with b; give transform for more.")
    if not np.allclose(y, H, rtol=1e-5, atol=1e-5):
        return Finding("open", False, f"y differs from H(x) by up to {np.abs(y - H).max():.3g}.")
    return Finding("open", True, "y is H(x), to rounding.")


def gate_seen(x, y, H):
    """The transform gate as it shows from outside, T = (y − x) / (H − x); NaN where H and x are too close to tell.

    Parameters
    ----------
    x, y, H : arrays of shape (batch, width)
        What goes in, what comes out, and the transform.

    Returns
    -------
    array of shape (batch, width)
    """
    tell = np.abs(H - x) > 1e-2
    return np.where(tell, (y - x) / np.where(tell, H - x, 1), np.nan)


def expected_mean_gate(gate_bias, spread):
    """Mean of σ(z) for a pre-activation z that is normal around the gate bias.

    Parameters
    ----------
    gate_bias : float
        Mean of z.
    spread : float
        Standard deviation of z, at least 0.

    Returns
    -------
    float
        σ(gate_bias) without spread; for a small one about σ + spread² / 2 · σ (1 − σ) (1 − 2σ).
    """
    z, weights = np.polynomial.hermite_e.hermegauss(40)
    return float(weights @ sigmoid(gate_bias + _checks.real("spread", spread, 0) * z) / weights.sum())


def _gate_at_start(x, y, H, near_0, y_near_0, H_near_0, gate_bias):
    """At x = 0 each gate is σ(b); on average over other inputs it lies where the pre-activation's spread puts it."""
    if not all(np.isfinite(values).all() for values in (y, H, y_near_0, H_near_0)):
        return Finding("start", False, "the gate cannot be seen: y or H(x) has entries that are no finite numbers.")
    wanted, away = float(sigmoid(gate_bias)), H_near_0 - near_0
    sizes = (away**2).sum(axis=0)
    if not sizes.all():
        return Finding("start", False, "the gate cannot be seen: opened, it hands x on.")
    at_0 = ((y_near_0 - near_0) * away).sum(axis=0) / sizes
    worst = at_0[np.abs(at_0 - wanted).argmax()]
    if abs(worst - wanted) > min(0.01, 0.05 * min(wanted, 1 - wanted) + 1e-5):
        return Finding("start", False, f"at x = 0 a gate looks like {worst:.3g}; σ({gate_bias:g}) is {wanted:.3g}.")
    T = gate_seen(x, y, H)
    T = T[~np.isnan(T)]
    if T.min() < -1e-3 or T.max() > 1.001:
        return Finding("start", False, f"a gate looks like {T[np.abs(T - 0.5).argmax()]:.3g}, outside 0 … 1.")
    T = T.clip(1e-6, 1 - 1e-6)
    spread = np.log(T / (1 - T)).std()
    mean, expected = T.mean(), expected_mean_gate(gate_bias, spread)
    said = f"{wanted:.3g} at x = 0; mean {mean:.3g}, and a spread of {spread:.2f} makes it {expected:.3g}."
    return Finding("start", bool(abs(mean - expected) <= 0.02), said)


def _gradient_check(forward, gradients, x, rng):
    """Move x, and each parameter, along a random direction, and hold the slope of L = Σ y · dy against the gradient."""
    if gradients is None:
        return Finding("gradient", None, "give gradient(x, dy).")
    dy = _representable(rng.normal(size=x.shape))
    # Float32 rounds, and its wider steps cross kinks of a ReLU: a wide tolerance, so one direction would not do.
    step, tolerance, directions = (1e-6, 1e-5, 1) if forward(x).dtype == np.float64 else (1e-4, 2.5e-2, 8)
    errors = {}
    for name, (array, gradient) in gradients(x.copy(), dy).items():
        _checks.shape(f"the gradient of {name}", gradient, array.shape)
        gradient, here, found = np.array(gradient, float), array.copy(), []
        for direction in rng.normal(size=(directions, *array.shape)):
            losses = []
            for moved in (here + step * direction, here - step * direction):
                array[...] = moved
                losses.append((forward(array if name == "x" else x).astype(float) * dy).sum())
            slope = (losses[0] - losses[1]) / (2 * step)
            scale = max(abs(slope), np.linalg.norm(gradient), 1e-12)
            found.append((slope - (gradient * direction).sum()) / scale)
        array[...] = here
        errors[name] = np.nan_to_num(np.sqrt(np.mean(np.square(found))), nan=np.inf)
    worst = max(errors, key=errors.get)
    passed = bool(errors[worst] <= tolerance)
    return Finding("gradient", passed, f"largest relative error {errors[worst]:.1e}, in {worst}.")
