"""Signals, gradients and directions in fresh networks."""

import functools
import math

import numpy as np

from highway_lessons.blocks import Highway, NaiveResidual
from highway_lessons.exercises.verdict import Verdict, given, number
from highway_lessons.gradients import (
    effective_rank,
    end_to_end_jacobian,
    over_seeds,
    profile,
)
from highway_lessons.network import Network


def check_blocks_to_a_millionth(blocks):
    """Plain ReLU blocks with N(0, 1/n) weights after which the mean square is a millionth of its start."""
    return number(
        blocks,
        math.log(1e6, 2),
        0.5,
        "Each block multiplies the mean square by 1/2: solve (1/2)^blocks = 1e-6.",
        [
            (2 * math.log(1e6, 2), "that is for the length; its square, the mean square, falls twice as fast."),
            (math.log(1e6, 6), "1/6 is the gain of the uniform recipe; N(0, 1/n) has gain 1/2."),
        ],
    )


def check_growth_per_block(growth):
    """Factor per block by which the signal from above grows on its way down 50 naive residual blocks."""
    growth = given(growth)
    if isinstance(growth, Verdict):
        return growth
    total = growth_over_50_blocks()
    return number(
        growth,
        total ** (1 / 50),
        0.01,
        "Take ‖∂L/∂h_0‖ / ‖∂L/∂h_50‖ of each seed, then its geometric mean, then the 50th root.",
        [
            (total ** (-1 / 50), "that is the other way round, from the bottom to the top; the signal travels down."),
            (total, "that is the growth over all 50 blocks; per block it is the 50th root."),
        ],
    )


@functools.cache
def growth_over_50_blocks():
    """Measure the growth of the signal from above through 50 naive residual blocks, geometric mean over ten seeds."""
    dh = profile(NaiveResidual(), 50).dh
    return over_seeds(dh[:, 0] / dh[:, -1])[1]


def check_zero_bias_exponent(exponent):
    """The e in 6^e: how many times a 1-block net's weight gradients those of a 50-block net are; plain, biases 0."""
    return number(
        exponent,
        -49 / 2,
        0.01,
        "l − 1 blocks lie below block l and 50 − l above it; each multiplies a length by 6 to the power −1/2.",
        [
            (49 / 2, "the size is right, but the gradient becomes smaller: the exponent is negative."),
            (-49, "that is for the square of the gradient; its norm has half the exponent."),
            (
                -25,
                "count 49 blocks, not 50: the signals come from the blocks below and above, not from the block itself.",
            ),
            (-50, "that is for the square, and counts 50 blocks; only the 49 others shrink the two signals."),
        ],
    )


def check_bias_for_he(gate_bias):
    """Largest whole gate bias with which He-initialised highway stacks of 50 blocks keep effective rank 32 or more."""
    gate_bias = given(gate_bias)
    if isinstance(gate_bias, Verdict):
        return gate_bias
    if gate_bias != round(gate_bias):
        return Verdict(False, f"a whole number is expected, but {gate_bias:g} came.")
    if not -20 <= gate_bias <= 5:
        return Verdict(False, f"{gate_bias:g} is far outside the range of interest; try whole numbers from −8 to 0.")
    here, above = (mean_effective_rank(Highway(bias), "he") for bias in (gate_bias, gate_bias + 1))
    if here < 32:
        return Verdict(
            False, f"at {gate_bias:g} the mean effective rank is {here:.1f}, below 32; close the gates further."
        )
    if above >= 32:
        return Verdict(
            False, f"{gate_bias:g} does ({here:.1f}), but so does {gate_bias + 1:g} ({above:.1f}); go on upwards."
        )
    return Verdict(True, f"effective rank {here:.1f} at {gate_bias:g}, and only {above:.1f} at {gate_bias + 1:g}.")


@functools.cache
def mean_effective_rank(block, initialiser="uniform", depth=50, seeds=range(10), width=64):
    """Mean effective rank of the end-to-end Jacobian at one random example per seed."""
    ranks = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        network = Network(block, depth, width, n_in=width)
        params = network.initialise(rng, initialiser)
        jacobian = end_to_end_jacobian(network, params, rng.normal(size=width))
        ranks.append(effective_rank(np.linalg.svd(jacobian, compute_uv=False)))
    return float(np.mean(ranks))
