"""Argument checks. Every error is one sentence: what came, what was expected, what to do."""

import math
import numbers
import reprlib

import numpy as np


def describe(value):
    """Say what `value` is in a few words, for an error message."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return f"{reprlib.repr(value)} ({type(value).__name__})"


def keep(instance, **fields):
    """Store checked fields in a frozen dataclass: plain Python numbers, whatever kind of number came."""
    for name, value in fields.items():
        object.__setattr__(instance, name, value)


def _array(name, value):
    """Return `value` as an array, or say why that would lose something."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name} has masked entries, but complete data were expected; fill or drop them first.")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of numbers, but its rows differ in length.") from error


def floats(name, value):
    """Return `value` as a float32 or float64 array; whole numbers and booleans become float64."""
    array = _array(name, value)
    if array.dtype in (np.float64, np.float32):
        return array
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    raise TypeError(f"{name} must be an array of real numbers, but it has dtype {array.dtype}; convert it first.")


def batch(name, value, width=None):
    """Return `value` as a float array of shape (batch, width); without `width`, any width will do."""
    array = floats(name, value)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have shape (batch, {width or 'n'}), but it has shape {array.shape}; "
            f"for one example use {name}[None, :]."
        )
    if width is not None and array.shape[1] != width:
        raise ValueError(
            f"{name} has {array.shape[1]} columns, but {width} were expected; "
            "put a plain layer in front to change the width."
        )
    if array.shape[0] == 0:
        raise ValueError(f"{name} is an empty batch (shape {array.shape}); give it at least one row.")
    return array


def example(name, value, width):
    """Return one example, `value`, as a float array of shape (width,)."""
    array = floats(name, value)
    if array.shape != (width,):
        raise ValueError(f"{name} must be one example of shape ({width},), but it has shape {array.shape}.")
    return array


def shape(name, array, expected):
    """Refuse an array of another shape."""
    if np.shape(array) != expected:
        raise ValueError(f"{name} must have shape {expected}, but it has shape {np.shape(array)}.")


def named(name, arrays, shapes):
    """Refuse `arrays` unless it is a dictionary of arrays with exactly these names and shapes."""
    came = {key: np.shape(array) for key, array in arrays.items()} if isinstance(arrays, dict) else describe(arrays)
    if came != shapes:
        raise ValueError(f"{name} must have the names and shapes {shapes}, but {came} came.")


def width(block, params):
    """Return the width of `block`, n, given its parameters by name: the length of the last axis of the first one."""
    first = next(iter(params.values()), 0) if isinstance(params, dict) else 0
    n = (np.shape(first) or (1,))[-1]
    named("params", params, block.shapes(n))
    return n


def parameters(network, value):
    """Return `value` if it is `Parameters` for a network of these shapes."""
    has("params", value, ("network", "flat", "blocks"), "network.initialise(0)")
    if value.network != network and value.network.shapes() != network.shapes():
        raise ValueError(f"params must fit {network}, but they were made for {value.network}; initialise them anew.")
    return value


def finite(name, array, dtype=None):
    """Return `array`, as `dtype` if one is given; refuse NaN and infinity, naming the first row that has one."""
    with np.errstate(over="ignore"):
        array = array.astype(dtype or array.dtype, copy=False)
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(np.atleast_1d(array)))[0][0])
        raise ValueError(
            f"{name} holds NaN or infinity, first in row {row} (as {array.dtype}); remove or replace such values first."
        )
    return array


def square(name, value):
    """Return `value` as an array of finite numbers of shape (n, n), with n at least 2."""
    array = floats(name, value)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
        raise ValueError(f"{name} must have shape (n, n) with n at least 2, but it has shape {array.shape}.")
    return finite(name, array)


def labels(name, value, n, n_classes):
    """Return `value` as an integer array of shape (n,) with values 0 … n_classes − 1."""
    array = _array(name, value)
    if array.shape != (n,):
        hint = ""
        if array.ndim == 2:
            hint = f"; use {name}.ravel()" if array.shape[1] == 1 else f"; for one-hot labels use {name}.argmax(axis=1)"
        raise ValueError(
            f"{name} must have shape ({n},), one whole number per example, but it has shape {array.shape}{hint}."
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be whole numbers, but they have dtype {array.dtype}; number the classes from 0.")
    outside = (finite(name, array) < 0) | (array >= n_classes)
    if outside.any():
        raise ValueError(
            f"{name} must lie between 0 and {n_classes - 1}, but {array[outside][0]} came; number the classes from 0."
        )
    whole = array.astype(np.int64)
    if (whole != array).any():
        raise ValueError(
            f"{name} must be whole numbers, but {array[whole != array][0]} came; number the classes from 0."
        )
    return whole


def integer(name, value, minimum, maximum=math.inf):
    """Return `value` as an int in [minimum, maximum]; True and 2.0 are refused."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, but {describe(value)} came; give an int.")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, but {value} came.")
    if value > maximum:
        raise ValueError(f"{name} must be at most {maximum}, but {describe(value)} came.")
    return int(value)


def real(name, value, minimum=-math.inf, maximum=math.inf, *, above=-math.inf, below=math.inf):
    """Return `value` as a finite float in [minimum, maximum], and strictly between `above` and `below`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, but {describe(value)} came.")
    try:
        value = float(value)
    except OverflowError:
        raise ValueError(f"{name} must be finite, but a number beyond ±1.8e308 came.") from None
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, but {value} came.")
    bounds = {
        f"at least {minimum:g}": value >= minimum,
        f"above {above:g}": value > above,
        f"at most {maximum:g}": value <= maximum,
        f"below {below:g}": value < below,
    }
    if not all(bounds.values()):
        wanted = " and ".join(bound for bound in bounds if not bound.endswith("inf"))
        raise ValueError(f"{name} must be {wanted}, but {value:g} came.")
    return value


def flag(name, value):
    """Return `value` as a bool; 0, "no" and the like are refused."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, but {describe(value)} came.")
    return bool(value)


def text(name, value):
    """Refuse what is no text, or an empty one; `name` says what it is for."""
    if not isinstance(value, str) or not value.strip():
        raise TypeError(f"{name} must be a text that is not empty, but {value!r} came.")


def choice(name, value, known):
    """Look `value` up in the dictionary `known`."""
    try:
        return known[value]
    except (KeyError, TypeError):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, but {value!r} came.") from None


def has(name, value, methods, such_as):
    """Refuse a `value` that lacks one of the `methods`, or that is a class instead of an object."""
    if isinstance(value, type) or not all(hasattr(value, method) for method in methods):
        raise TypeError(f"{name} must be an object such as {such_as}, but {describe(value)} came.")
    return value


def function(name, value):
    """Refuse what cannot be called; None stands for no function."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function or None, but {describe(value)} came.")


def several(name, value, such_as):
    """Return `value` as a list with at least one entry."""
    entries = list(value) if np.iterable(value) else []
    if not entries:
        raise ValueError(f"{name} must hold at least one entry, such as {such_as}, but {describe(value)} came.")
    return entries


def dtype(value):
    """Return `value` as numpy's float64 or float32."""
    try:
        found = np.dtype(value)
    except TypeError:
        found = None
    if found not in (np.float64, np.float32):
        raise ValueError(f"dtype must be float64 or float32, but {value!r} came.")
    return found


def generator(rng):
    """Return a numpy Generator, made from a seed if a whole number came."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(integer("rng (a seed or a numpy.random.Generator)", rng, 0))


def drawing(rng, width, initialiser):
    """Return the generator for a block's starting values, once all that it is drawn with is in order."""
    integer("width", width, 1)
    if not callable(initialiser):
        raise TypeError(f"initialiser must be a function such as he, but {describe(initialiser)} came.")
    return generator(rng)
