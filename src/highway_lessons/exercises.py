"""Checks for the exercises: each says what is wrong with an answer, not only that it is."""

import math
import numbers
from dataclasses import dataclass

import numpy as np

from highway_lessons.blocks import Highway
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
