"""What the studies recorded on the digits, found by block, depth, gate bias, optimiser and learning rate."""

from functools import cache
from typing import NamedTuple

import numpy as np

from highway_lessons.studies.depth import DEPTH
from highway_lessons.studies.gate_bias import GATE_BIAS
from highway_lessons.studies.learning_rate import LEARNING_RATE
from highway_lessons.studies.results import load_study

EPOCHS = 30
GUESSING = 10.0  # per cent: what a training that diverged counts as
GRID = {
    "block": ["plain", "highway", "residual"],
    "depth": [5, 10, 20, 50, 100],
    "gate_bias": [0.0, -1.0, -2.0, -3.0, -5.0, -10.0],
    "optimiser": ["Adam", "SGD"],
    "learning_rate": [3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0],
}
# Where a study has no such axis, and what the recipe is everywhere
RECIPE = {
    "block": "highway", "optimiser": "adam", "initialiser": "uniform", "width": 64, "dtype": "float32", "epochs": EPOCHS
}  # fmt: skip


class Seeds(NamedTuple):
    """Five trainings of one setting: test accuracies in per cent.

    `final`, of shape (seeds,), is after the last epoch, and `GUESSING` where a training diverged; `diverged`,
    of the same shape, says which. `curves`, of shape (seeds, epochs), is None where only the end was recorded.
    """

    final: np.ndarray
    diverged: np.ndarray
    curves: np.ndarray | None

    def in_words(self):
        """Say mean and range, such as "five seeds 95.2 (94.4 to 96.7) % after 30 epochs"."""
        final, some = self.final, ["", "one", "two", "three", "four"]
        if self.diverged.all():
            return "all five seeds diverged; counted as guessing"
        said = f"five seeds {final.mean():.1f} ({final.min():.1f} to {final.max():.1f}) % after {EPOCHS} epochs"
        return f"{said}; {some[self.diverged.sum()]} diverged, counted as guessing" if self.diverged.any() else said


def recorded(setting):
    """Return what was recorded with the uniform start, or None where nothing was.

    Parameters
    ----------
    setting : dict
        A value for each name of `GRID`. Without gates the gate bias says nothing.

    Returns
    -------
    Seeds or None
    """
    return _all().get(_key(setting))


def nearest(setting):
    """Return the recorded setting of the same block, and if possible the same optimiser, that is fewest steps away.

    Of several as near, it is the first in the order of the records.

    Parameters
    ----------
    setting : dict
        A value for each name of `GRID`; steps are counted along its lists.

    Returns
    -------
    dict
        Like `setting`.
    """
    here = _key(setting)

    def steps(key):
        ways = {name: [there, at] for name, there, at in zip(GRID, key, here, strict=True) if there != at}
        other_optimiser = "optimiser" in ways
        ways.pop("optimiser", None)
        return other_optimiser, sum(abs(np.subtract(*map(GRID[name].index, both))) for name, both in ways.items())

    best = min((key for key in _all() if key[0] == setting["block"]), key=steps)
    return {name: setting[name] if value is None else value for name, value in zip(GRID, best, strict=True)}


def optimisers(block):
    """Return the optimisers of `GRID` with which a block was recorded, whatever its other values."""
    settings = [dict(zip(GRID, key, strict=True)) for key in _all()]
    found = {setting["optimiser"] for setting in settings if setting["block"] == block}
    return [optimiser for optimiser in GRID["optimiser"] if optimiser in found]


def _key(setting):
    gates = setting["block"] == "highway"
    return tuple(value if gates or name != "gate_bias" else None for name, value in ordered(setting).items())


def ordered(setting):
    """Return `setting` in the order of `GRID`."""
    return {name: setting[name] for name in GRID}


@cache
def _all():
    """All recorded settings of the grid: a dict of `Seeds`. The study of depth comes first, as it has the curves."""
    found = {}
    for study in (DEPTH, GATE_BIAS, LEARNING_RATE):
        here = {}
        for point in load_study(study):
            point = RECIPE | point
            point["optimiser"] = {"adam": "Adam", "sgd": "SGD"}[point["optimiser"]]
            same = all(point[name] == RECIPE[name] for name in ("initialiser", "width", "dtype", "epochs"))
            if same and all(point[name] in [*values, None] for name, values in GRID.items()):
                here.setdefault(_key(point), []).append(point)
        found = {key: _seeds(points) for key, points in here.items()} | found
    return found


def _seeds(points):
    final = np.array([np.nan if p["test_accuracy"] is None else 100 * p["test_accuracy"] for p in points])
    curves = [p.get("curves", {}).get("test_accuracy", []) for p in points]
    whole = all(len(curve) == EPOCHS and None not in curve for curve in curves)
    diverged = np.isnan(final)
    return Seeds(np.where(diverged, GUESSING, final), diverged, 100 * np.array(curves) if whole else None)
