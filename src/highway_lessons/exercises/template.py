"""The template chapter."""

import math

from highway_lessons.blocks import Highway
from highway_lessons.exercises.verdict import Verdict, given, given_by, number
from highway_lessons.gradients import (
    profile,
    tau,
)


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
        gate_bias = given(given_by(bias_for, "bias_for(depth)", depth))
        if isinstance(gate_bias, Verdict):
            return gate_bias
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
