"""Blocks switched off: chance, another yardstick, paths through gates, neighbours exchanged."""

import functools
import operator
import reprlib

import numpy as np

from highway_lessons.exercises.verdict import Verdict, given, given_by, number
from highway_lessons.functions import sigmoid


def check_all_off_on_spirals(percent):
    """Test accuracy, in per cent, of the trained spirals network with all ten blocks off."""
    return number(
        percent,
        53,
        7,  # the learner's own network lies a few points off, on another processor elsewhere
        "Without its blocks the network knows next to nothing about the arms; what does guessing give?",
        [
            (10, "that is guessing among ten classes; there are two arms."),
            (0, "a network that is always wrong would know the arms as well as one that is always right."),
            (99, "that is the whole network; each single block already costs it points."),
        ],
        shown=".0f",
    )


def check_idle_by_loss(blocks):
    """Of 50 residual blocks on the digits, how many change the training loss by at most 1 % when off; mean of seeds."""
    blocks = given(blocks)
    if isinstance(blocks, Verdict):
        return blocks
    by_loss, by_accuracy, test_loss = idle_by_loss()
    return number(
        blocks,
        by_loss,
        0.05,
        "Compare |single_loss_train − train_loss| with 1 % of train_loss, count per seed, then average.",
        [
            (by_accuracy, "that counts by accuracy; the question is about the loss."),
            (test_loss, "that is for the test loss; take the training loss."),
            (50 - by_loss, "those are the blocks that do change the loss; count the others."),
            (5 * by_loss, "that is the sum over five seeds; take the mean."),
        ],
    )


@functools.cache
def idle_by_loss():
    """Idle blocks of the recorded residual networks by training loss (1 %), accuracy (half a point), and test loss."""
    from highway_lessons import studies

    points = studies.load("lesions").select(data="digits", block="residual").points

    def idle(part):
        return np.mean(
            [(abs(np.array(p["curves"][f"single_loss_{part}"]) / p[f"{part}_loss"] - 1) <= 0.01).sum() for p in points]
        )

    return idle("train"), np.mean([p["idle_train"] for p in points]), idle("test")


def check_two_or_more(share):
    """Weight of the paths that are transformed by at least two of 50 blocks, with all gates at sigmoid(−5)."""
    T, L = float(sigmoid(-5.0)), 50
    none, one = (1 - T) ** L, L * T * (1 - T) ** (L - 1)
    return number(
        share,
        1 - none - one,
        0.002,
        "Subtract from 1 the paths that are transformed nowhere, and those that are transformed exactly once.",
        [
            (none, "those are the paths that no block transforms, e^(−τ)."),
            (1 - none, "that is at least one block; leave out the paths with exactly one."),
            (one, "that is exactly one block."),
            (none + one, "those are the others: paths with no block or one."),
            (1 - none - T * (1 - T) ** (L - 1), "the one block can be any of the 50: count them all."),
            (L * (L - 1) / 2 * T**2 * (1 - T) ** (L - 2), "that is exactly two blocks; more count, too."),
        ],
        shown=".2g",
    )


def check_swapped(swapped):
    """Function swapped(depth, n) that lists all blocks, from 0, with n and its right neighbour exchanged."""
    for depth, n in ((5, 1), (5, 0), (5, 3), (2, 0)):
        order = given_by(swapped, "swapped(depth, n)", depth, n)
        if isinstance(order, Verdict):
            return order
        try:
            order = [operator.index(block) for block in order]
        except TypeError:
            came = reprlib.repr(order)
            return Verdict(False, f"a list of whole numbers is expected, but swapped({depth}, {n}) gave {came}.")
        right = [*range(n), n + 1, n, *range(n + 2, depth)]
        call = f"swapped({depth}, {n}) is {right}, but {reprlib.repr(order)} came"
        if order == list(range(depth)):
            return Verdict(False, f"{call}: nothing is exchanged.")
        if sorted(order) != list(range(depth)):
            return Verdict(False, f"{call}: each of the numbers 0 … {depth - 1} belongs there once.")
        if order != right:
            return Verdict(False, f"{call}; exchange n and n + 1, counted from 0.")
    return Verdict(True, "every block is there once, and two neighbours have changed places.")
