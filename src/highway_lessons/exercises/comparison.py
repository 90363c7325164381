"""Compare fairly: the best of two, enough seeds, folding, a pair that the chapter leaves out; and the gating table."""

import functools
import math

import numpy as np

from highway_lessons.comparison import expected_best
from highway_lessons.exercises.verdict import Verdict, given, given_by, number
from highway_lessons.gradients import tau
from highway_lessons.variants import statistics

THREE = (0.1, 0.2, 0.6)


def check_best_of_two(loss):
    """Expected best of two trials out of the three losses 0.1, 0.2 and 0.6."""
    return number(
        loss,
        expected_best(THREE, 2),
        0.002,
        "List the three ways to draw two of the three, and take the lower loss of each.",
        [
            (float(np.mean(THREE)), "that is the mean, what a single trial gives; of two you keep the better."),
            (0.1, "that is the best of all three; two draws may miss it."),
            (1.7 / 9, "that draws with putting back, so the same trial may come twice; here no trial does."),
            (expected_best(THREE, 2, lowest=False), "that keeps the higher loss of the two."),
        ],
    )


def check_seeds_for_holm(seeds, comparisons=11, level=0.05):
    """Fewest pairs with which Wilcoxon's test can survive Holm's correction for 11 comparisons at 0.05."""
    seeds = given(seeds)
    if isinstance(seeds, Verdict):
        return seeds
    fewest = math.floor(math.log2(2 * comparisons / level)) + 1
    if seeds == fewest:
        return Verdict(True, f"2/2^{fewest} · {comparisons} = {comparisons * 2 / 2**fewest:.3f}, below {level:g}.")
    if seeds == math.floor(math.log2(2 / level)) + 1:
        return Verdict(
            False, f"that is enough for a single comparison; here the smallest p is taken {comparisons} times."
        )
    if seeds == fewest - 1 and 2 / 2**seeds * comparisons > level:
        return Verdict(
            False, f"2/2^{seeds:g} · {comparisons} = {comparisons * 2 / 2**seeds:.3f}: just above {level:g}."
        )
    side = "more than you need" if seeds > fewest else "too few"
    return Verdict(False, f"{seeds:g} is {side}: take 2/2^n, the smallest p with n pairs, {comparisons} times.")


def check_fold(fold):
    """A function of W, γ, β, μ and 1/σ that returns the plain block's W_H and b_H."""
    rng = np.random.default_rng(0)
    x, W = rng.normal(2, 3, (40, 5)), rng.normal(size=(5, 5))
    gamma, beta = rng.normal(1, 0.3, 5), rng.normal(size=5)
    mean, inverse_std = statistics(x @ W)
    signature = "fold(W, gamma, beta, mean, inverse_std)"
    folded = given_by(fold, signature, W.copy(), gamma.copy(), beta.copy(), mean.copy(), inverse_std.copy())
    if isinstance(folded, Verdict):
        return folded
    try:
        W_H, b_H = (np.asarray(part, float) for part in folded)
    except (TypeError, ValueError):
        return Verdict(False, f"{signature} must return two arrays, W_H and b_H.")
    if W_H.shape != W.shape or b_H.shape != beta.shape:
        return Verdict(
            False, f"W_H and b_H have shapes {W_H.shape} and {b_H.shape}; W is {W.shape} and β {beta.shape}."
        )
    wanted = gamma * (x @ W - mean) * inverse_std + beta
    if np.allclose(x @ W_H + b_H, wanted):
        return Verdict(True, "x W_H + b_H is γ (x W − μ) / σ + β for every row.")
    if np.allclose(W_H, W * gamma * inverse_std):
        if np.allclose(b_H, beta - mean):
            return Verdict(
                False, "W_H is right; in b_H the mean is scaled, too, like everything that passes 1/σ and γ."
            )
        return Verdict(False, "W_H is right, b_H is not; what is left of the formula where x = 0?")
    if np.allclose(W_H, (gamma * inverse_std)[:, None] * W):
        return Verdict(False, "the factor belongs to the columns of W, one per unit that comes out, not to the rows.")
    return Verdict(False, "x W_H must be x W with each column times γ/σ; multiply out the formula first.")


@functools.cache
def spirals_points():
    """Mean test accuracy on spirals, in points, of the residual network minus that of the batch-normalised one."""
    from highway_lessons.studies.comparison import outcomes

    found = {
        name: np.nan_to_num(values, nan=0.5) for name, values in outcomes("validation_accuracy")["spirals"].items()
    }
    difference = {
        (a, b): 100 * float((found[a] - found[b]).mean())
        for a in ("residual", "highway")
        for b in ("plain, batch norm", "highway")
    }
    return difference["residual", "plain, batch norm"], difference["residual", "highway"]


def check_residual_against_batch_norm(points):
    """Mean paired difference in test accuracy on spirals, residual − plain with batch norm, in points."""
    expected, against_highway = spirals_points()
    return number(
        points,
        expected,
        0.06,
        "Take outcomes('validation_accuracy')['spirals'], subtract seed by seed, average, times 100.",
        [
            (-expected, "right in size; the question is residual minus batch norm."),
            (expected / 100, "that is a fraction; a point is a hundredth."),
            (against_highway, 'that is against the highway network; take "plain, batch norm".'),
        ],
    )


# The gating table


def check_halved_shortcut(share):
    """Share of x that arrives through the shortcuts of 50 blocks that each halve it."""
    return number(
        share,
        0.5**50,
        2e-17,
        "Each block multiplies what comes by one half, and there are fifty of them.",
        [
            (0.01, "that divides by the number of blocks; shares multiply, so take a power."),
            (0.5, "that is one block."),
            (0.5**54, "that is 54 blocks, the paper's network; the question has 50."),
        ],
        shown=".2g",
    )


def check_paper_bias(gate_bias, depth=54, edge=3.8):
    """Highest whole-numbered gate bias whose τ stays below 3.8 in 54 blocks."""
    gate_bias = given(gate_bias)
    if isinstance(gate_bias, Verdict):
        return gate_bias
    if gate_bias != round(gate_bias):
        return Verdict(False, f"{gate_bias:g} is no whole number; the table has 0, −1, −2, … .")
    t = float(tau(gate_bias, depth))
    if t >= edge:
        return Verdict(
            False, f"at {gate_bias:.0f} τ is {t:.1f}, not below {edge}; close the gates further.".replace("-", "−")
        )
    above = float(tau(gate_bias + 1, depth))
    if above < edge:
        return Verdict(False, f"τ is {t:.2f} there, but {above:.2f} one bias higher: that is below {edge}, too.")
    return Verdict(True, f"τ is {t:.2f}; one bias higher it would be {above:.1f}.")


@functools.cache
def rows_near_identity():
    """Digits rows within a point of the best mean test accuracy, with the best of three rates and with the one rate."""
    from highway_lessons import studies

    runs, counts = studies.load("gating_table").select(data="digits"), []
    for rates in ([0.01, 0.03, 0.1], 0.03):
        means = {}
        for point in runs.select(learning_rate=rates):
            key = (point["shortcut"], point["gate_bias"], point["learning_rate"])
            means.setdefault(key, []).append(point["test_accuracy"] or 0.1)
        best = {}
        for (shortcut, bias, _), five in means.items():
            best[shortcut, bias] = max(best.get((shortcut, bias), 0), np.mean(five))
        counts.append(sum(value >= max(best.values()) - 0.01 for value in best.values()))
    return *counts, len(best)


def check_rows_near_the_best(rows):
    """Of the digits rows, how many come within a point of the best one, each at its best learning rate."""
    rows = given(rows)
    if isinstance(rows, Verdict):
        return rows
    own, shared, total = rows_near_identity()
    if rows == own:
        return Verdict(True, f"{own} of {total} rows.")
    if rows == shared:
        return Verdict(False, "that is at the rate 0.03 for all; give each row the best of its three rates.")
    side = "many" if rows > own else "few"
    return Verdict(False, f"{rows:g} is too {side}: mean over the seeds first, then the best rate, then within 0.01.")
