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


def width(params):
    """Return the width of a block, n, given its parameters: each W must be (n, n) and each b (n,)."""
    n = np.shape(next(iter(params.values())))[-1]
    for name, array in params.items():
        expected = (n,) * np.ndim(array)
        if np.shape(array) != expected:
            raise ValueError(
                f"{name} must have shape {expected}, but it has shape {np.shape(array)}; "
                "a block keeps its width: put a plain layer in front to change it."
            )
    return n


def finite(name, array):
    """Refuse NaN and infinity, naming the first row that has one."""
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise ValueError(f"{name} holds NaN or infinity, first in row {row}; remove or replace such values first.")
    return array


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


def integer(name, value, minimum):
    """Return `value` as an int of at least `minimum`; True and 2.0 are refused."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, but {describe(value)} came; give an int.")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, but {value} came.")
    return int(value)


def real(name, value, minimum=-math.inf, maximum=math.inf, *, above=-math.inf, below=math.inf):
    """Return `value` as a finite float in [minimum, maximum], and strictly between `above` and `below`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, but {describe(value)} came.")
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
    return float(value)


def flag(name, value):
    """Return `value` as a bool; 0, "no" and the like are refused."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, but {describe(value)} came.")
    return bool(value)


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
