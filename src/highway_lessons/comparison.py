"""Compare trainings: what the best of a few trials is worth, and differences with their uncertainty.

Everything here takes plain arrays of results, of random trials or of pairs that share a seed.
"""

import math
from typing import NamedTuple

import numpy as np

from highway_lessons import _checks


def expected_best(values, k, lowest=True):
    """Mean result of the best of `k` trials, drawn from the trials at hand without putting any back.

    Parameters
    ----------
    values : array_like of shape (n,)
        Results of n trials; put a number in place of those that diverged, or the mean is too good.
    k : int
        Trials that somebody can afford, from 1 to n.
    lowest : bool
        The best is the lowest, as of a loss.

    Returns
    -------
    float

    Notes
    -----
    The i-th best is the best of k in C(n − i, k − 1) of the C(n, k) ways to draw.

    References
    ----------
    Dodge, Gururangan, Card, Schwartz and Smith (2019), arXiv 1909.03004, who draw with putting back.
    """
    values = _results("values", values)
    n, k = len(values), _checks.integer("k", k, 1, len(values))
    ranked = np.sort(values) if lowest else -np.sort(-values)
    ways = [math.comb(n - i, k - 1) for i in range(1, n + 1)]
    return float(np.dot(ranked, ways) / math.comb(n, k))


def bootstrap_interval(differences, rng=0, draws=10_000, level=0.95):
    """Interval for the mean of paired differences: middle part of the means of resampled pairs.

    Parameters
    ----------
    differences : array_like of shape (n,)
        One for each pair, such as two trainings with the same seed.
    rng : int or numpy.random.Generator
    draws : int
        Resamples, at least 1.
    level : float
        Share of the resampled means inside, between 0 and 1.

    Returns
    -------
    low, high : float
        With ten pairs it is about a sixth shorter than Student's interval: of honest use, but on the bold side.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap: the percentile interval.
    """
    differences = _results("differences", differences)
    level = _checks.real("level", level, above=0, below=1)
    rng, draws = _checks.generator(rng), _checks.integer("draws", draws, 1)
    means = rng.choice(differences, (draws, len(differences))).mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def holm(p_values):
    """Adjust p-values for how many they are, by Holm's step-down method.

    Parameters
    ----------
    p_values : array_like of shape (n,)
        From n tests, 0 … 1 each.

    Returns
    -------
    array of shape (n,)
        In the same order. Where one is below 0.05, calling its difference real is wrong in any of the n in at most one
        of twenty such comparisons, however the tests depend on each other.

    References
    ----------
    Holm (1979), "A simple sequentially rejective multiple test procedure".
    """
    p = _results("p_values", p_values)
    order = np.argsort(p)
    stepped = np.minimum(1, p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(stepped)  # none may be below one that is smaller to begin with
    return adjusted


class Difference(NamedTuple):
    """A comparison with the reference, from `against`.

    mean is the mean paired difference, low and high its 95 % bootstrap interval, p the p-value of Wilcoxon's test after
    Holm's correction for all the comparisons made together.
    """

    mean: float
    low: float
    high: float
    p: float


def against(reference, others):
    """Compare others with a reference, pair by pair.

    Parameters
    ----------
    reference : array_like of shape (n,)
        Its results, one for each seed.
    others : dict of str to array_like of shape (n,)
        Results at the same seeds in the same order; the differences are others − reference.

    Returns
    -------
    dict of str to Difference

    References
    ----------
    Wilcoxon (1945), "Individual comparisons by ranking methods", in SciPy's exact form where no two differences tie.
    """
    reference = _results("reference", reference)
    differences = {name: _results(name, values) - reference for name, values in others.items()}
    adjusted = holm([_wilcoxon(d) for d in differences.values()])
    return {
        name: Difference(float(d.mean()), *bootstrap_interval(d), float(p))
        for (name, d), p in zip(differences.items(), adjusted, strict=True)
    }


def _wilcoxon(differences):
    """The two-sided p-value of the signed-rank test that the differences lie evenly around 0."""
    from scipy.stats import wilcoxon  # scikit-learn brings SciPy along

    return 1.0 if not differences.any() else float(wilcoxon(differences).pvalue)


def _results(name, values):
    """Return a row of finite numbers, at least one, as float64."""
    values = _checks.finite(name, _checks.floats(name, values)).astype(np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{name} must be a row of numbers, at least one, but it has shape {values.shape}.")
    return values
