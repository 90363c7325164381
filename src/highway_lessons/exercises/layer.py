"""One highway layer."""

import math

import numpy as np

from highway_lessons import _checks
from highway_lessons.exercises.verdict import Verdict, given, given_by, number
from highway_lessons.functions import sigmoid


def check_carry_bias(bias):
    """Bias of a *carry* gate σ(bias) that starts like a highway layer with gate bias −2."""
    return number(
        bias,
        2.0,
        0.01,
        f"The carry gate must start at 1 − σ(−2) = {1 - sigmoid(-2):.3f}, where its bias is all that counts.",
        [(-2.0, "this gate multiplies the *input*: at −2 it carries only 0.119 of it, so turn the sign round.")],
    )


def check_start_bias(gate_bias):
    """Gate bias at which a gate starts at T = 0.01, where x = 0."""
    log_odds = math.log(0.01 / 0.99)
    return number(
        gate_bias,
        log_odds,
        0.005,
        "The bias is the log-odds of T, ln(T / (1 − T)).",
        [
            (-log_odds, "the right size with the wrong sign: this gate starts at 0.99, almost all transform."),
            (math.log(0.01), "you took ln T; the log-odds divide T by 1 − T first."),
            (log_odds / math.log(10), "that is the logarithm to base 10; the sigmoid needs the natural one."),
            (0.01 / 0.99, "those are the odds; the bias is their logarithm."),
        ],
    )


def check_stack_bias(gate_bias):
    """Gate bias with which a stack of 50 highway layers carries the share 1/e."""
    exact = math.log(math.expm1(1 / 50))
    return number(
        gate_bias,
        exact,
        0.004,
        "50 · ln(1 + e^b) must be 1: a smaller bias closes the gates, and more is carried.",
        [
            (-exact, "the right size with the wrong sign: these gates are open and carry almost nothing."),
            (-math.log(50), "close: that is the rule of thumb b = −ln L, which takes ln(1 + e^b) for e^b."),
            (math.exp(1 / 50) - 1, "that is e^b; take its logarithm."),
            (1 / 50, "that is what ln(1 + e^b) must be; solve it for b."),
        ],
        shown=".3f",
    )


def check_uncoupled(mix):
    """A function mix(x, H, T, C) that mixes with separate gates, all arrays of shape (batch, width)."""
    rng = np.random.default_rng(0)
    x, H = rng.normal(size=(2, 5, 4))
    T, C = rng.uniform(size=(2, 5, 4))
    inputs = [x.copy(), H.copy(), T.copy(), C.copy()]
    y = given(given_by(mix, "mix(x, H, T, C)", *inputs), _checks.floats, "y")
    if isinstance(y, Verdict):
        return y
    if np.shape(y) != x.shape:
        return Verdict(
            False, f"y has shape {np.shape(y)}, but one number per example and unit, {x.shape}, is expected."
        )
    if not all(np.array_equal(old, new) for old, new in zip((x, H, T, C), inputs, strict=True)):
        return Verdict(False, "your function writes into the arrays it is given; compute a new one.")
    if np.allclose(y, H * T + x * C):
        return Verdict(True, "with C = 1 − T it is a highway layer, with T = C = 1 it gives x + H.")
    mistakes = [
        (H * T + x * (1 - T), "it never uses C: this is still the coupled layer."),
        (H * C + x * T, "the gates are exchanged: T belongs to the transform H, C to the input x."),
        (H * T + x, "the input goes in whole; multiply x by C."),
        (H + x * C, "the transform goes in whole; multiply H by T."),
        (H * (1 - C) + x * C, "it never uses T; multiply H by T, not by 1 − C."),
    ]
    for wrong, explanation in mistakes:
        if np.allclose(y, wrong):
            return Verdict(False, explanation)
    return Verdict(False, "y is not H · T + x · C, unit by unit; for x = 1, H = 2, T = 0.5, C = 0.25 it must be 1.25.")
