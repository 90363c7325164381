"""Checks for the exercises: each says what is wrong with an answer, not only that it is."""

import math
import numbers
from dataclasses import dataclass

import numpy as np

from highway_lessons.blocks import Highway
from highway_lessons.functions import sigmoid
from highway_lessons.gradients import profile, tau


@dataclass(frozen=True)
class Verdict:
    """A check's answer: true or false in an `if`, one sentence in a notebook."""

    right: bool
    sentence: str

    def __bool__(self):
        return self.right

    def __repr__(self):
        return f"{'Right' if self.right else 'Not yet'}: {self.sentence}"


def number(answer, expected, tolerance, hint, mistakes=()):
    """Check one number.

    Parameters
    ----------
    answer : object
        What the learner gives; None means no answer yet.
    expected, tolerance : float
        The right value and the largest accepted distance from it.
    hint : str
        What to think of when the answer is wrong in no known way.
    mistakes : sequence of (float, str)
        Values that known mistakes lead to, each with the sentence that explains it.

    Returns
    -------
    Verdict
    """
    if answer is None:
        return Verdict(False, "put your answer in place of None and run the cell again.")
    if np.ndim(answer) or not isinstance(answer, numbers.Real | np.ndarray) or isinstance(answer, bool):
        return Verdict(False, f"one number is expected, but {answer!r} came.")
    answer = float(answer)
    if math.isclose(answer, expected, rel_tol=0, abs_tol=tolerance):
        return Verdict(True, f"{expected:.3g}.")
    for value, explanation in mistakes:
        if math.isclose(answer, value, rel_tol=0, abs_tol=tolerance):
            return Verdict(False, explanation)
    return Verdict(False, f"{answer:.3g} is too {'large' if answer > expected else 'small'}. {hint}")


# The template chapter


def check_half_life(blocks):
    """Blocks after which half of a signal is left at gate bias −2."""
    return number(
        blocks,
        math.log(2) / math.log1p(math.exp(-2)),
        0.1,
        "What is left is exp(−L · 0.127); set it to 1/2 and take the logarithm.",
        [(50 / 2, "each block loses a share of what is *left*, so the losses do not simply add up to one half.")],
    )


def check_half_bias(gate_bias):
    """Gate bias at which half of a signal survives 50 blocks."""
    share = 2 ** (-1 / 50)
    return number(
        gate_bias,
        math.log((1 - share) / share),
        0.01,
        "A smaller bias closes the gates, and more is left.",
        [
            (math.log(share / (1 - share)), "that bias has the right size and the wrong sign: it opens the gates."),
            (1 - share, "that is the gate T; its bias is the log-odds of it, ln(T / (1 − T))."),
        ],
    )


def check_bias_for_tau_one(bias_for):
    """A function of the depth whose gate bias gives τ = 1."""
    for depth in (1, 3, 50, 1000):
        gate_bias = bias_for(depth)
        if gate_bias is None:
            return Verdict(False, "let the function return a number in place of None.")
        if not math.isclose(tau(gate_bias, depth), 1, abs_tol=1e-6):
            return Verdict(
                False, f"at depth {depth} your bias is {gate_bias:.4g}, which gives τ = {tau(gate_bias, depth):.4g}."
            )
    return Verdict(True, "τ = 1 at depth 1, 3, 50 and 1000.")


def check_share_under_he(times):
    """Measured share over e^(−τ), gate bias −2, depth 50, He initialisation, mean over seeds 0 to 4."""
    dh = profile(Highway(-2.0), 50, range(5), batch=32, initialiser="he").dh
    shares = dh[:, 0] / dh[:, -1]
    return number(
        times,
        shares.mean() / math.exp(-tau(-2.0, 50)),
        0.1,
        "Divide the mean of dh[:, 0] / dh[:, −1] over the five seeds by exp(−τ).",
        [(shares.mean(), "that is the share itself; divide it by exp(−τ).")],
    )


# Chapter 1: one highway layer


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
    )


def check_uncoupled(mix):
    """A function mix(x, H, T, C) that mixes with separate gates, all arrays of shape (batch, width)."""
    if not callable(mix):
        return Verdict(False, f"a function mix(x, H, T, C) is expected, but {mix!r} came.")
    rng = np.random.default_rng(0)
    x, H = rng.normal(size=(2, 5, 4))
    T, C = rng.uniform(size=(2, 5, 4))
    given = [x.copy(), H.copy(), T.copy(), C.copy()]
    try:
        y = mix(*given)
    except Exception as error:  # a learner's function may fail in any way
        return Verdict(False, f"your function stopped with {type(error).__name__}: {error}")
    if y is None:
        return Verdict(False, "let the function return an array in place of None.")
    if np.shape(y) != x.shape:
        return Verdict(
            False, f"y has shape {np.shape(y)}, but one number per example and unit, {x.shape}, is expected."
        )
    if not all(np.array_equal(old, new) for old, new in zip((x, H, T, C), given, strict=True)):
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
