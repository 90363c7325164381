"""Inside trained gates: what chance explains, a selective gate on paper, orders within classes, whose answer it is."""

import numpy as np

from highway_lessons import _checks, gates
from highway_lessons.exercises.verdict import Verdict, given, given_by, number


def check_chance_share(share):
    """Class share of the gates' variance that random labels explain: 540 examples, ten classes."""
    return number(
        share,
        9 / 539,
        0.0015,
        "Random labels explain (n_classes − 1) / (batch − 1) of the variance.",
        [
            (0, "ten class means of random groups still differ a little, and that counts as explained."),
            (0.1, "that is how often a random label is right, not the share of variance that it explains."),
        ],
        shown=".4f",
    )


def check_selective_spread(spread):
    """Standard deviation over examples of a gate that is 0.9 for one class of ten and 0.05 for the nine others."""
    return number(
        spread,
        0.3 * 0.85,
        0.002,
        "The gate takes two values: its variance is p (1 − p) (0.9 − 0.05)² with p = 1/10.",
        [
            (0.09 * 0.85**2, "that is the variance; the spread is its square root."),
            (0.85, "that is how far the two values lie apart; most examples share one of them."),
            (0.1 * 0.9 + 0.9 * 0.05, "that is the mean gate; the spread says how far single examples lie from it."),
        ],
        shown=".3f",
    )


def check_within_classes(order):
    """Function order(y, rng) that returns an order which gives each example the place of one of its own class."""
    y = np.repeat(np.arange(4), [40, 30, 20, 10])
    y = y[np.random.default_rng(0).permutation(len(y))]
    found = given_by(order, "order(y, rng)", y.copy(), np.random.default_rng(1))
    if isinstance(found, Verdict):
        return found
    found = given(found, _checks.floats, "the order")
    if isinstance(found, Verdict):
        return found
    if found.shape != y.shape or not np.array_equal(np.sort(found), np.arange(len(y))):
        return Verdict(False, f"let it return each of the numbers 0 … {len(y) - 1} once, for {len(y)} labels.")
    found = found.astype(int)
    other = int((y[found] != y).sum())
    if other:
        return Verdict(
            False, f"{other} of {len(y)} examples would get the gates of another class; move numbers within a class."
        )
    if (found == np.arange(len(y))).mean() > 0.5:
        return Verdict(False, "most examples would keep their own gates; mix the numbers within each class with rng.")
    again = given_by(order, "order(y, rng)", y.copy(), np.random.default_rng(2))
    if isinstance(again, Verdict):
        return again
    if np.array_equal(found, again):
        return Verdict(False, "another generator gave the same order; draw it with rng.permutation.")
    return Verdict(True, "every example gets the gates of an example of its own class, drawn by chance.")


def check_flip_block(block, network, params, x, labels):
    """Last of blocks 1, 6, 11, … from which on the gates of others still give the class of their giver more often.

    Parameters
    ----------
    block : int
        The answer, counted from 1.
    network, params, x, labels
        The trained highway network and the examples; the givers are ``default_rng(0).permutation(len(x))``.
    """
    block = given(block)
    if isinstance(block, Verdict):
        return block
    asked = list(range(1, network.depth + 1, 5))
    if block not in asked:
        return Verdict(False, f"one of the blocks {', '.join(map(str, asked))} is expected, but {block:g} came.")
    counts = {first: givers_and_own(network, params, x, labels, first) for first in asked}
    flips = [first for first, (giver, own) in counts.items() if giver > own]
    if not flips:
        return Verdict(
            False, "in this network the gates of others never win; try one that was trained with Adam at −2."
        )
    giver, own = counts[block]
    shares = f"the giver's class {100 * giver:.0f} % and its own {100 * own:.0f} % of the time"
    said = f"with the gates of others from block {block:g} on, the network gives {shares}"
    if giver <= own:
        return Verdict(False, f"{said}; begin further down.")
    if block < max(flips):
        return Verdict(False, f"{said}, but a later block does, too; go on upwards.")
    return Verdict(True, f"{said}; begun later, it keeps its own more often.")


def givers_and_own(network, params, x, labels, first):
    """Accuracies on the givers' labels and the examples' own, with the gates of others from block `first` on."""
    order = np.random.default_rng(0).permutation(len(x))
    T = gates.transform_gates(network, params, x)
    T[first - 1 :] = T[first - 1 :, order]
    logits, _ = gates.forward_with(network, params, x, gates=T)
    answers, labels = logits.argmax(axis=1), np.asarray(labels)
    return float((answers == labels[order]).mean()), float((answers == labels).mean())
