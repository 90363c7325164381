"""Recorded results, for chapters and figures: choose points, get arrays over the seeds."""

import numpy as np

from highway_lessons.studies import record


class Results:
    """Points of a study with what was measured there.

    Parameters
    ----------
    axes : list of str
        Names of the axes.
    points : list of dict
        Settings and results by name, in the order of the grid.

    Examples
    --------
    >>> results = load("gate_bias").select(optimiser="adam", dtype="float32")
    >>> accuracy = results.array("test_accuracy", "gate_bias", "depth")  # (biases, depths, seeds)
    """

    def __init__(self, axes, points):
        self.axes, self.points = axes, points

    def __len__(self):
        return len(self.points)

    def __iter__(self):
        return iter(self.points)

    def values(self, axis):
        """List the values of an axis, in the order of the grid.

        Raises
        ------
        ValueError
            If there is no such axis.
        """
        if axis not in self.axes:
            raise ValueError(f"The axes are {', '.join(self.axes)}, but {axis!r} came.")
        return list(dict.fromkeys(point[axis] for point in self.points))

    def select(self, **wanted):
        """Keep the points with these values: ``select(block="plain", depth=[5, 20])``.

        Raises
        ------
        ValueError
            If an axis or one of its values does not exist, or no point has them all.
        """
        chosen = self.points
        for axis, value in wanted.items():
            several, known = np.asarray(value, object).ravel().tolist(), self.values(axis)
            for one in several:
                if one not in known:
                    raise ValueError(f"{axis} takes the values {', '.join(map(str, known))}, but {one!r} came.")
            chosen = [point for point in chosen if point[axis] in several]
        if not chosen:
            raise ValueError(f"No recorded point has {wanted}; choose values that occur together.")
        return Results(self.axes, chosen)

    def array(self, name, *axes):
        """Return one result over axes and seeds.

        Parameters
        ----------
        name : str
            What was measured, such as "test_accuracy".
        *axes : str
            Axes of the array; every other axis but "seed" must have a single value, so `select` first.

        Returns
        -------
        array of shape (values of the first axis, …, seeds)
            NaN where the result is None: a training that diverged.

        Raises
        ------
        ValueError
            If an axis is left open or named twice, a point is missing, or `name` was not measured or is no number.
        """
        if "seed" in axes or any(axes.count(axis) > 1 for axis in axes):
            raise ValueError(f"Name each axis once, and not seed, which is always the last, but {axes} came.")
        axes = (*axes, "seed")
        values = [self.values(axis) for axis in axes]
        open_axes = [a for a in self.axes if a not in axes and len(self.values(a)) > 1]
        if open_axes:
            raise ValueError(
                f"{open_axes[0]} still has the values {', '.join(map(str, self.values(open_axes[0])))}; "
                "select one of them first, or make it an axis of the array."
            )
        array = np.full([len(v) for v in values], np.nan)
        filled = np.zeros(array.shape, bool)
        for point, number in zip(self.points, self._numbers(name), strict=True):
            place = tuple(v.index(point[axis]) for axis, v in zip(axes, values, strict=True))
            array[place], filled[place] = number, True
        if not filled.all():
            missing = np.argwhere(~filled)[0]
            where = ", ".join(f"{axis} {v[i]}" for axis, v, i in zip(axes, values, missing, strict=True))
            raise ValueError(f"There is no point with {where}; select values that occur together.")
        return array

    def measured(self):
        """List the names of what was measured."""
        return [name for name in dict.fromkeys(n for point in self.points for n in point) if name not in self.axes]

    def _numbers(self, name):
        """List one result at every point, NaN where it is None."""
        if not all(name in point for point in self.points):
            everywhere = [n for n in self.measured() if all(n in point for point in self.points)]
            raise ValueError(f"{name!r} is not among what was measured at every point: {', '.join(everywhere)}.")
        numbers = [np.nan if point[name] is None else point[name] for point in self.points]
        if wrong := [value for value in numbers if not isinstance(value, int | float)]:
            raise ValueError(
                f"{name!r} is not a number but a {type(wrong[0]).__name__} at some points; "
                f"take it from the points themselves: [point[{name!r}] for point in results]."
            )
        return numbers

    def best(self, axis, by="validation_accuracy"):
        """Keep, of each kind of network, the value of `axis` with the highest mean of `by` over the seeds.

        A training that diverged counts as 0.

        Raises
        ------
        ValueError
            If there is no such axis, or `by` was not measured at every point or is no number.
        """
        self.values(axis)  # refuses an unknown axis
        kinds, axes = {}, [a for a in self.axes if a not in (axis, "seed")]
        for point, number in zip(self.points, np.nan_to_num(self._numbers(by)), strict=True):
            kind = kinds.setdefault(tuple(point[a] for a in axes), {})
            kind.setdefault(point[axis], []).append(number)
        winners = {key: max(kind, key=lambda value: np.mean(kind[value])) for key, kind in kinds.items()}
        return Results(self.axes, [p for p in self.points if winners[tuple(p[a] for a in axes)] == p[axis]])


def load_study(study, folder=record.RECORDS, complete=True):
    """Read a study's record, in the order of its grid; see `highway_lessons.studies.load`."""
    lines, points = record.read(study, folder).lines, study.points()
    found = [lines[key] for key in map(study.key, points) if key in lines]
    if complete and len(found) < len(points):
        raise record.RecordError(
            f"The record of the study {study.name} holds {len(found)} of {len(points)} points; "
            f"run  python -m highway_lessons.studies run {study.name}  to measure the others."
        )
    return Results(study.axes, found)
