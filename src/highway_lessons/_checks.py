"""Argument checks. Every error is one sentence: what came, what was expected, what to do."""

import math
import numbers

import numpy as np


def describe(value):
    """Say what `value` is in a few words, for an error message."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return f"{value!r} ({type(value).__name__})"


def floats(name, value):
    """Return `value` as a float32 or float64 array; whole numbers and booleans become float64."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of numbers, but its rows differ in length.") from error
    if array.dtype in (np.float64, np.float32):
        return array
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    raise TypeError(f"{name} must be an array of real numbers, but it has dtype {array.dtype}; convert it first.")


def batch(name, value, width):
    """Return `value` as a float array of shape (batch, width)."""
    array = floats(name, value)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have shape (batch, width), but it has shape {array.shape}; "
            f"for one example use {name}[None, :]."
        )
    if array.shape[1] != width:
        raise ValueError(
            f"{name} has {array.shape[1]} columns, but {width} were expected; "
            "put a plain layer in front to change the width."
        )
    if array.shape[0] == 0:
        raise ValueError(f"{name} is an empty batch (shape {array.shape}); give it at least one row.")
    return array


def finite(name, array):
    """Refuse NaN and infinity, naming the first row that has one."""
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise ValueError(f"{name} holds NaN or infinity, first in row {row}; remove or replace such values first.")
    return array


def labels(name, value, n, n_classes):
    """Return `value` as an integer array of shape (n,) with values 0 … n_classes − 1."""
    array = np.asarray(value)
    if array.shape != (n,):
        hint = "; for one-hot labels use labels.argmax(axis=1)" if array.ndim == 2 else ""
        raise ValueError(
            f"{name} must have shape ({n},), one whole number per example, but has shape {array.shape}{hint}."
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be whole numbers, but they have dtype {array.dtype}; number the classes from 0.")
    whole = finite(name, array).astype(np.int64)
    if not np.array_equal(whole, array):
        raise ValueError(
            f"{name} must be whole numbers, but {float(array[whole != array][0])} came; number the classes from 0."
        )
    if n and (whole.min() < 0 or whole.max() >= n_classes):
        wrong = int(whole[(whole < 0) | (whole >= n_classes)][0])
        raise ValueError(f"{name} must lie between 0 and {n_classes - 1}, but {wrong} came; number the classes from 0.")
    return whole


def integer(name, value, minimum):
    """Return `value` as an int of at least `minimum`; True and 2.0 are refused."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, but {describe(value)} came; give an int.")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, but {value} came.")
    return int(value)


def real(name, value, minimum=-math.inf, maximum=math.inf):
    """Return `value` as a finite float in [minimum, maximum]."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, but {describe(value)} came.")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, but {value} came.")
    if not minimum <= value <= maximum:
        allowed = f"at least {minimum:g}" if maximum == math.inf else f"between {minimum:g} and {maximum:g}"
        raise ValueError(f"{name} must be {allowed}, but {value:g} came.")
    return float(value)


def choice(name, value, known):
    """Look `value` up in the dictionary `known`."""
    try:
        return known[value]
    except (KeyError, TypeError):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, but {value!r} came.") from None


def generator(rng):
    """Return a numpy Generator, made from a seed if a whole number came."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(integer("rng (a seed or a numpy.random.Generator)", rng, 0))
