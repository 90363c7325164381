"""Checks for the exercises: each says what is wrong with an answer, not only that it is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """A check's answer: true or false in an `if`, one sentence in a notebook."""

    right: bool
    sentence: str

    def __bool__(self):
        return self.right

    def __repr__(self):
        return f"{'Right' if self.right else 'Not yet'}: {self.sentence}"
