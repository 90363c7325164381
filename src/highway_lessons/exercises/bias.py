"""Choose the gate bias: checks that read the recorded trainings."""

import functools
import math

import numpy as np

from highway_lessons import studies
from highway_lessons.blocks import Highway
from highway_lessons.datasets import digits
from highway_lessons.exercises.verdict import Verdict, given, given_by
from highway_lessons.gradients import signal_norms, tau
from highway_lessons.network import Network

ENOUGH = 0.9  # a training that reaches this accuracy on the digits counts as trained


@functools.cache
def sgd_runs():
    """Read the recorded trainings with SGD at 0.1: biases, depths, and accuracies of shape (biases, depths, seeds)."""
    runs = studies.load("gate_bias").select(optimiser="sgd", learning_rate=0.1)
    return runs.values("gate_bias"), runs.values("depth"), runs.array("test_accuracy", "gate_bias", "depth")


def check_largest_bias_with_sgd(gate_bias, depth=20):
    """Largest recorded gate bias at which all five trainings of 20 blocks reach 90 % with SGD at 0.1."""
    gate_bias = given(gate_bias)
    if isinstance(gate_bias, Verdict):
        return gate_bias
    biases, depths, accuracies = sgd_runs()
    if gate_bias not in biases:
        recorded = ", ".join(f"{bias:.0f}" for bias in biases)
        return Verdict(False, f"{gate_bias:g} was not recorded; choose one of {recorded}.")
    reached = dict(zip(biases, accuracies[:, depths.index(depth)], strict=True))
    trained = {bias for bias, five in reached.items() if (five >= ENOUGH).all()}
    five, t = reached[gate_bias], tau(gate_bias, depth)
    found = f"τ = {t:.1f} and five trainings between {np.nanmin(five):.0%} and {np.nanmax(five):.0%}"
    if gate_bias not in trained:
        return Verdict(False, f"at {gate_bias:g} the record has {found}; close the gates further.")
    if gate_bias < max(trained):
        return Verdict(False, f"{gate_bias:g} trains, with {found}, but it is not the largest that does.")
    return Verdict(True, f"at {gate_bias:g} the record has {found}.")


def check_blocks_above_epsilon(blocks, gate_bias=-1.0, depth=50, epsilon=1e-8):
    """How many of 50 blocks at gate bias −1 start with a gradient above Adam's epsilon (geometric mean of five)."""
    blocks = given(blocks)
    if isinstance(blocks, Verdict):
        return blocks
    expected = int((starting_sizes(gate_bias, depth) > epsilon).sum())
    if blocks == expected:
        return Verdict(True, f"{expected} of {depth} blocks, the upper ones.")
    if blocks == depth - expected:
        return Verdict(False, "those are the blocks *below* epsilon; count the others.")
    if blocks == int((starting_sizes(0.0, depth) > epsilon).sum()):
        return Verdict(
            False, f"that is the count at gate bias 0; the exercise asks for {gate_bias:g}.".replace("-", "−")
        )
    few = "few" if blocks < expected else "many"
    return Verdict(
        False, f"{blocks:g} is too {few}. Take the geometric mean over the seeds, block by block, then count."
    )


@functools.cache
def starting_sizes(gate_bias, depth, seeds=range(5), batch=64):
    """Root mean square of each fresh block's gradient of W_H on digits, geometric mean over seeds, shape (depth,)."""
    rows = []
    for seed in seeds:
        data, network = digits(seed), Network(Highway(gate_bias), depth)
        params = network.initialise(seed)
        rows.append(signal_norms(network, params, data.x_train[:batch], data.y_train[:batch]).dW / network.width)
    return np.exp(np.log(rows).mean(axis=0))


def check_bias_for_tau(bias_for):
    """A function of τ and depth that returns the gate bias with which the stack has that τ."""
    for t, depth in ((1.0, 10), (3.5, 50), (6.0, 5), (0.01, 100)):
        gate_bias = given(given_by(bias_for, "bias_for(t, depth)", t, depth))
        if isinstance(gate_bias, Verdict):
            return gate_bias
        if abs(gate_bias) > 100:
            return Verdict(
                False, f"for τ = {t:g} and depth {depth} your bias is {gate_bias:.3g}, far outside −20 … 20."
            )
        if not math.isclose(tau(gate_bias, depth), t, rel_tol=1e-6):
            close = math.isclose(gate_bias, math.log(t / depth), abs_tol=1e-9)
            why = " ln(τ/L) is right for closed gates only, where ln(1 + e^b) ≈ e^b." if close else ""
            return Verdict(
                False,
                f"for τ = {t:g} and depth {depth} your bias is {gate_bias:.4g}, "
                f"which gives τ = {tau(gate_bias, depth):.4g}.{why}",
            )
    return Verdict(True, "the τ that was asked for, at depths 5, 10, 50 and 100.")


def check_safe_tau(t):
    """Largest recorded τ up to which every training with SGD at 0.1 reaches 90 %."""
    t = given(t)
    if isinstance(t, Verdict):
        return t
    biases, depths, accuracies = sgd_runs()
    taus = np.array([[float(tau(bias, depth)) for depth in depths] for bias in biases])
    trained = (accuracies >= ENOUGH).all(axis=-1)
    first_failure = taus[~trained].min()
    expected = taus[taus < first_failure].max()
    if abs(t - expected) < 0.02:
        return Verdict(True, f"τ = {expected:.2f}; the next recorded point, τ = {first_failure:.2f}, has failures.")
    if abs(t - first_failure) < 0.02:
        return Verdict(False, "that is the first τ with a failure; the answer is the recorded τ just below it.")
    if abs(t - taus[trained].max()) < 0.02:
        return Verdict(False, "that point trains, but some points with a smaller τ do not; start from the smallest τ.")
    side = "failures below it" if t > expected else "further points above it that all train"
    return Verdict(
        False, f"{t:.3g} is not it: the record has {side}. Sort the points by τ and stop at the first failure."
    )
