"""Whatever a learner answers, a check gives one sentence, and measures only when there is something to check."""

import numpy as np
import pytest

from highway_lessons import Highway, exercises
from highway_lessons.exercises import Verdict

NOT_NUMBERS = [
    (None, "in place of None"),
    ("6", r"'6' (str)"),
    (True, "True (bool)"),
    ([1.0], "[1.0] (list)"),
    ({}, "{} (dict)"),
    (1j, "1j (complex)"),
    (np.array("a"), "'a' (str)"),
    (np.array(None), "in place of None"),
    (np.array(1j), "1j (complex)"),
    (np.ones(2), "array of shape (2,)"),
    (Highway(), "(Highway)"),
    (np.nan, "finite, but nan"),
    (-np.inf, "finite, but -inf"),
    (10**400, "finite, but a number beyond"),
]
ONE_NUMBER = [
    exercises.check_half_life,
    exercises.check_half_bias,
    exercises.check_carry_bias,
    exercises.check_growth_per_block,
    exercises.check_bias_for_he,
    lambda answer: exercises.check_bias_for_tau_one(lambda depth: answer),
    lambda answer: exercises.check_best_step(lambda epsilon: answer),
    exercises.check_largest_bias_with_sgd,
    exercises.check_blocks_above_epsilon,
    exercises.check_safe_tau,
    lambda answer: exercises.check_bias_for_tau(lambda t, depth: answer),
]


@pytest.mark.parametrize(("answer", "came"), NOT_NUMBERS, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("check", ONE_NUMBER, ids=lambda check: check.__name__)
def test_an_answer_that_is_no_number(check, answer, came, monkeypatch):
    monkeypatch.delattr(exercises.template, "profile")
    for name in ("profile", "end_to_end_jacobian"):
        monkeypatch.delattr(exercises.signals, name)  # so that nothing can be measured for such an answer
    verdict = check(answer)
    assert isinstance(verdict, Verdict)
    assert not verdict
    assert came in verdict.sentence or "result in place of None" in verdict.sentence
    assert verdict.sentence.endswith(".")


@pytest.mark.parametrize("number", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0), np.array(2)], ids=repr)
def test_every_kind_of_number_counts(number):
    assert exercises.check_carry_bias(number)


FUNCTIONS = [
    exercises.check_bias_for_tau_one,
    exercises.check_uncoupled,
    exercises.check_uncoupled_backward,
    exercises.check_best_step,
    exercises.check_bias_for_tau,
]


@pytest.mark.parametrize("check", FUNCTIONS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (3, "but 3 came"),
        (None, "but None came"),
        (lambda *arguments: 1 / 0, "stopped with ZeroDivisionError: division by zero"),
        (lambda: 1, "stopped with TypeError"),
        (lambda *arguments: None, "let the function return its result"),
        (lambda *arguments: "a", ""),
        (lambda *arguments: ([1.0], [1.0, 2.0]), ""),
        (lambda *arguments: ([[1.0], [1.0, 2.0]], "a", "b", {}), ""),
        (Highway, ""),
    ],
)
def test_a_function_may_do_anything(check, answer, said):
    verdict = check(answer)
    assert isinstance(verdict, Verdict)
    assert not verdict
    assert said in verdict.sentence


def test_a_check_measures_once(monkeypatch):
    """The measurement takes a second; a learner tries more than once."""
    first = exercises.check_growth_per_block(1.2), exercises.check_bias_for_he(-3)
    for name in ("profile", "end_to_end_jacobian"):
        monkeypatch.delattr(exercises.signals, name)
    assert (exercises.check_growth_per_block(1.2), exercises.check_bias_for_he(-3)) == first
    assert exercises.check_growth_per_block(1.1) != first[0]
