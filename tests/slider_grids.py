"""Grids that the slider tests share: small ones, quick to reason about, and the largest that a page may hold."""

import numpy as np

from highway_lessons.functions import sigmoid
from highway_lessons.sliders import Band, Curve

BIASES = [-10 + 0.5 * step for step in range(21)]
DEPTHS = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]


def decay(gate_bias, depth):
    """A plain net's signal falls to 1e-41 over a hundred blocks; a highway net's follows its gate."""
    blocks = np.arange(1, depth + 1)
    return {
        "plain": 10 ** (-0.41 * (depth - blocks)),
        "highway": (1 - sigmoid(gate_bias)) ** (depth - blocks),
        "no block": np.array([0.5]),
    }


DECAY = {
    "start": {"gate_bias": -2.0, "depth": 50},
    "xlabel": "block",
    "ylabel": "‖∂L/∂h‖",
    "xlim": (0, 100),
    "ylim": (1e-45, 10),
    "log": True,
    "caption": "The signal from above at each block.",
    "gate_bias": BIASES,
    "depth": DEPTHS,
}


def largest(gate_bias, depth):
    """Three bands over a hundred blocks, all different at every place of the sliders: noise, so nothing is shared."""
    rng = np.random.default_rng([int(10 * (gate_bias + 20)), depth])
    spread = [np.sort(10 ** rng.uniform(-41, 0, (3, 100)), axis=0) for _ in range(3)]
    return {name: Band(*rows) for name, rows in zip(("highway", "plain", "residual"), spread, strict=True)}


def circle(gate_bias, depth):
    """A circle after `depth` blocks: a highway net shrinks it, a plain one makes a needle."""
    angle = np.linspace(0, 2 * np.pi, 65)
    kept = (1 - sigmoid(gate_bias)) ** depth
    return {
        "before": Curve(np.cos(angle), np.sin(angle)),
        "highway": Curve(kept * np.cos(angle), kept * np.sin(angle)),
        "plain": Curve(0.8 * np.cos(angle), 0.02 * np.cos(angle)),
        "centre": Curve([0.0], [0.0]),
    }


CIRCLE = {
    "start": {"gate_bias": -5, "depth": 10},
    "xlabel": "first direction",
    "ylabel": "second direction",
    "xlim": (-1.5, 1.5),
    "ylim": (-1.2, 1.2),
    "equal": True,
    "caption": "A circle of small perturbations after some blocks.",
    "gate_bias": [-5, -4, -3, -2, -1, 0],
    "depth": [0, 1, 10, 50],
}


def holes(zeros, start_from):
    """Zeros at the first blocks of a plain net, two gaps in a residual one's line."""
    plain = np.r_[np.zeros(zeros), np.full(20 - zeros, 1e-3)]
    residual = np.full(20, {"uniform": 0.01, "He": 0.02, "orthogonal": 0.04}[start_from])
    residual[5:7] = np.nan
    return {"plain": plain, "residual": residual}


HOLES = {
    "start": {"zeros": 4, "start_from": "He"},
    "xlabel": "block",
    "ylabel": "norm",
    "xlim": (0, 20),
    "ylim": (1e-4, 1),
    "log": True,
    "caption": "Zeros lie on the floor, gaps stay open.",
    "zeros": [2, 4, 8],
    "start_from": ["uniform", "He", "orthogonal"],
}
