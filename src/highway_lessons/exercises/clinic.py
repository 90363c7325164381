"""The bug clinic: what a test sees, how wide gates open on average, when a softmax hides, and a test of one's own."""

import numpy as np

from highway_lessons.blocks import Highway
from highway_lessons.clinic import LAYERS, expected_mean_gate
from highway_lessons.exercises.verdict import Verdict, given_by, number
from highway_lessons.functions import sigmoid


def check_lost_factor(failed):
    """Which of the tests "shut" and "open" fail for y = H(x) · T + x, where the factor 1 − T of the carry is lost."""
    if isinstance(failed, Verdict):
        return failed
    if failed is None:
        return Verdict(False, "put your answer in place of None and run the cell again.")
    names = [failed] if isinstance(failed, str) else list(failed) if np.iterable(failed) else [failed]
    if any(name not in ("shut", "open") for name in map(str, names)):
        return Verdict(
            False, f'a list of the names "shut" and "open" is expected, such as ["shut"], but {failed!r} came.'
        )
    if "shut" in names:
        return Verdict(False, "put T = 0 into H · T + x: with the gate shut this layer does what it should.")
    if not names:
        return Verdict(False, "put T = 1 into H · T + x, and compare with H.")
    return Verdict(True, "with T = 0 it gives x, as it should; with T = 1 it gives H + x, so open catches it.")


def check_mean_gate_under_he(mean):
    """Mean gate of a highway block with gate bias −3 and He's initialisation, on inputs from N(0, 1)."""
    spread, s = np.sqrt(2), float(sigmoid(-3.0))
    return number(
        mean,
        expected_mean_gate(-3.0, spread),
        0.004,
        "The variance of the pre-activation is n · 2/n; its square root goes into expected_mean_gate.",
        [
            (s, "that is the gate at x = 0; the inputs spread the pre-activation around −3."),
            (expected_mean_gate(-3.0, 2.0), "that takes the variance for the spread; take its square root."),
            (s + s * (1 - s) * (1 - 2 * s), "that is the formula for a small spread; √2 is not small."),
            (expected_mean_gate(-3.0, 1.0), "that is for weights of variance 1/n; He's have 2/n."),
        ],
    )


def check_softmax_width(width):
    """Width at which a softmax gate starts with the mean gate of a right layer of gate bias −2, at x = 0."""
    return number(
        width,
        1 + np.exp(2.0),
        0.5,
        "The gates of a softmax over n units add up to 1, so their mean is 1/n; set it equal to σ(−2).",
        [
            (np.exp(2.0), "σ(−2) is 1 / (1 + e²), not 1 / e²."),
            (1 / (1 + np.exp(2.0)), "that is the gate; the question is the number of units."),
            (64, "at 64 units the mean gate is 1/64, far below σ(−2)."),
        ],
        shown=".3g",
    )


def check_fifth_test(fifth):
    """Function fifth(block) that is true for a right block and false where the gate bias was put on b_H as well."""
    right = [Highway(-2.0), Highway(-5.0), Highway(0.0), LAYERS["slope of the value"](-3.0)]
    wrong = [LAYERS["bias on both"](-2.0), LAYERS["bias on both"](-4.0), LAYERS["bias on the transform"](-2.0)]
    for block in right + wrong:
        answer = given_by(fifth, "fifth(block)", block)
        if isinstance(answer, Verdict):
            return answer
        if not isinstance(answer, bool | np.bool_):
            return Verdict(False, f"fifth(block) should return True or False, but {answer!r} came.")
        if block in right and not answer:
            return Verdict(False, f"{block} has the transform's bias of a right layer, but your test fails it.")
        if block in wrong and answer:
            return Verdict(False, f"{block} starts with its gate bias on b_H, and your test lets it pass.")
    return Verdict(True, "it lets right layers pass and stops a bias that does not belong on the transform.")
