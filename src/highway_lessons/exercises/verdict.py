"""How a check answers: what it says of numbers, arrays and functions that a learner gives."""

import math
from dataclasses import dataclass

import numpy as np

from highway_lessons import _checks


@dataclass(frozen=True)
class Verdict:
    """A check's answer: true or false in an `if`, one sentence in a notebook."""

    right: bool
    sentence: str

    def __bool__(self):
        return self.right

    def __repr__(self):
        return f"{'Right' if self.right else 'Not yet'}: {self.sentence}"


def given(answer, check=_checks.real, name="your answer"):
    """Return a learner's answer as `check` gives it, a finite float, or a `Verdict` that says why it is none."""
    if isinstance(answer, Verdict):
        return answer
    if isinstance(answer, np.ndarray) and answer.ndim == 0:
        answer = answer.item()
    if answer is None:
        return Verdict(False, "put your answer in place of None and run the cell again.")
    try:
        return check(name, answer)
    except (TypeError, ValueError) as error:
        return Verdict(False, str(error))


def given_by(function, signature, *arguments):
    """Return what a learner's function gives, or a `Verdict` that says why it gives nothing."""
    if not callable(function):
        return Verdict(False, f"a function {signature} is expected, but {function!r} came.")
    try:
        answer = function(*arguments)
    except Exception as error:  # a learner's function may fail in any way
        return Verdict(False, f"your function stopped with {type(error).__name__}: {error}")
    return Verdict(False, "let the function return its result in place of None.") if answer is None else answer


def number(answer, expected, tolerance, hint, mistakes=(), shown=".3g"):
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
    shown : str
        Format of the right value when the answer is right.

    Returns
    -------
    Verdict
    """
    answer = given(answer)
    if isinstance(answer, Verdict):
        return answer
    if math.isclose(answer, expected, rel_tol=0, abs_tol=tolerance):
        return Verdict(True, f"{expected:{shown}}.")
    for value, explanation in mistakes:
        if math.isclose(answer, value, rel_tol=0, abs_tol=tolerance):
            return Verdict(False, explanation)
    return Verdict(False, f"{answer:.3g} is too {'large' if answer > expected else 'small'}. {hint}")
