"""Pictures that the slider tests share: a map that sliders point into, gates over the plane, four kinds of colours."""

import numpy as np

from highway_lessons.functions import sigmoid
from highway_lessons.sliders import Colours

BIASES = [0, -1, -2, -3, -4, -5, -6, -8, -10]
DEPTHS = [5, 10, 20, 30, 50, 75, 100]


def accuracy(gate_bias, depth, optimiser):
    """A map over gate bias and depth: high along a ridge of τ, two cells never measured, one beyond the colours."""
    bias, blocks = np.meshgrid(BIASES, DEPTHS)
    tau = blocks * np.log1p(np.exp(bias))
    values = 0.1 + 0.85 * np.exp(-((np.log(tau) - {"Adam": 0.0, "SGD": -1.0}[optimiser]) ** 2) / 9)
    values[6, 0] = values[0, 8] = np.nan
    values[6, 8] = 1.02
    return {"test accuracy": values}


ACCURACY = {
    "start": {"gate_bias": -2, "depth": 50, "optimiser": "Adam"},
    "xlabel": "gate bias",
    "ylabel": "depth",
    "caption": "How accurate a net is at each bias and depth.",
    "colours": Colours("accuracy", (0, 1), "test accuracy"),
    "columns": BIASES,
    "rows": DEPTHS,
    "gate_bias": BIASES,
    "depth": DEPTHS,
    "optimiser": ["Adam", "SGD"],
}

SIDE = np.linspace(-1.2, 1.2, 25)


def plane(gate_bias, turn):
    """Ten blocks' gates over the plane: each a soft edge, turned a little further from block to block."""
    x, y = np.meshgrid(SIDE, SIDE)
    angle = [np.pi * (turn + block) / 10 for block in range(10)]
    return {f"block {n + 1}": sigmoid(gate_bias + 4 * (np.cos(a) * x + np.sin(a) * y)) for n, a in enumerate(angle)}


PLANE = {
    "start": {"gate_bias": -2.0, "turn": 0},
    "xlabel": "first input",
    "ylabel": "second input",
    "equal": True,
    "caption": "The gate of one unit over the plane, block by block.",
    "colours": Colours("gate", (0, 1), "transform gate"),
    "columns": SIDE,
    "rows": SIDE,
    "gate_bias": [-4.0, -2.0, 0.0],
    "turn": [0, 0.5],
}


def panels(example, block):
    """Four panels of a net of thirty blocks with eight units, each with colours of its own but the gates."""
    rng = np.random.default_rng(example)
    biases = np.linspace(-4, 1, 240).reshape(8, 30)
    return {
        "gate biases": biases,
        "mean gate": sigmoid(biases),
        "one example's gate": sigmoid(biases + rng.normal(size=biases.shape)),
        "block outputs": np.maximum(0, rng.normal(size=biases.shape)),
    }


PANELS = {
    "start": {"example": 3, "block": 10},
    "xlabel": "block",
    "ylabel": "unit",
    "caption": "Biases, gates and outputs of a trained net.",
    "colours": {
        "gate biases": Colours("signed", (-4, 4), "bias"),
        "mean gate": Colours("gate", (0, 1), "gate"),
        "one example's gate": Colours("gate", (0, 1), "gate"),
        "block outputs": Colours("activation", (0, 3), "output"),
    },
    "example": [0, 3],
    "block": [1, 10, 30],
}
