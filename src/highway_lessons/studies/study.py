"""What a study is: a named grid of pure, seeded trainings."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from highway_lessons import _checks


class StudyError(ValueError):
    """Something asked of a study that it cannot do, said in a sentence."""


@dataclass(frozen=True)
class Study:
    """A named grid of trainings; its name and its text are those of the function that does one of them.

    Parameters
    ----------
    measure : function
        Defined in a module, so that other processes find it. ``measure(**point, **settings)`` trains one network and
        returns its results by name: numbers, texts or None, and under "curves" lists of numbers per epoch. The same
        point must give the same numbers, whenever and wherever it is measured.
    grid : list of dict
        Each dictionary gives every axis the list of its values and stands for all their combinations; the study's
        points are those of all dictionaries. All have the same axes, in the same order; one of them is "seed".
    settings : dict
        What is the same at every point.
    meaning : dict
        Names among the values, and in words or code what they stand for.
    version : int
        Raise it when a change of the code makes earlier results wrong: their record is then refused.

    Raises
    ------
    ValueError
        If the axes differ, there is no seed, or a point comes twice.
    """

    measure: Callable
    grid: list
    settings: dict = field(default_factory=dict)
    meaning: dict = field(default_factory=dict)
    version: int = 1

    def __post_init__(self):
        _checks.several("grid", self.grid, '[{"depth": [10, 50], "seed": [0, 1]}]')
        if any(list(part) != self.axes for part in self.grid) or "seed" not in self.axes:
            raise ValueError(
                f"Every part of the grid of {self.name} must have the same axes, among them seed, "
                f"but {[list(part) for part in self.grid]} came."
            )
        keys = [self.key(point) for point in self.points()]
        twice = next((key for key in keys if keys.count(key) > 1), None) if len(set(keys)) < len(keys) else None
        if twice is not None:
            raise ValueError(f"A point of {self.name} may come once, but {self.words(twice)} comes twice.")

    @property
    def name(self):
        """The name of the study and of its record."""
        return self.measure.__name__

    @property
    def axes(self):
        """Names of the axes, a list."""
        return list(self.grid[0])

    def points(self):
        """List the points, each a dictionary that gives every axis its value."""
        return [
            dict(zip(part, values, strict=True)) for part in self.grid for values in itertools.product(*part.values())
        ]

    def key(self, point):
        """Return the values of a point in the order of the axes, a tuple."""
        return tuple(point[axis] for axis in self.axes)

    def words(self, key):
        """Spell a key: "block=plain depth=5 seed=0"."""
        return " ".join(f"{axis}={value}" for axis, value in zip(self.axes, key, strict=True))

    def definition(self):
        """Return what an earlier record must agree with; more values on an axis are welcome, so they do not count."""
        return {
            "study": self.name,
            "version": self.version,
            "axes": self.axes,
            "settings": self.settings,
            "meaning": self.meaning,
        }

    def only(self, wanted):
        """List the points that fit texts such as ["depth=5,10", "block=plain"].

        Raises
        ------
        StudyError
            If a text names no axis or no value of the grid, or no point fits them all.
        """
        points = self.points()
        for text in wanted:
            axis, equals, values = text.partition("=")
            if not equals or axis not in self.axes:
                axes = ", ".join(self.axes)
                raise StudyError(f"{self.name}: --only takes AXIS=VALUE with an axis of {axes}, but {text} came.")
            known = list(dict.fromkeys(point[axis] for point in self.points()))
            chosen = [next((k for k in known if _says(value, k)), _Unknown) for value in values.split(",")]
            if _Unknown in chosen:
                values = ", ".join(map(str, known))
                raise StudyError(f"{self.name}: {axis} takes the values {values}, but {text} came.")
            points = [point for point in points if point[axis] in chosen]
        if not points:
            raise StudyError(f"No point of {self.name} fits {' '.join(wanted)}; ask for less.")
        return points


class _Unknown:
    """Stands for a value that no point has; None may be a value."""


def _says(text, value):
    """Tell whether `text` spells `value`; 1e-3 spells 0.001."""
    if text == str(value):
        return True
    try:
        return not isinstance(value, bool | str) and value is not None and float(text) == value
    except ValueError:
        return False
