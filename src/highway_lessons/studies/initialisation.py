"""The study of the starting weights, with those of the transform gate told apart."""

from highway_lessons.studies.study import Study
from highway_lessons.studies.trainings import SEEDS, meaning, train_on_digits


def initialisation(**point):
    """How much of what a kind of block can do is its starting weights?

    It decides, on the digits in 30 epochs of Adam at 1e-3, how four initialisations change what plain, highway (−2) and
    residual networks reach at each depth; and, for highway networks of 20 and 50 blocks at −2 and −ln depth, whether
    the weights of the transform gate, W_T, matter apart from those of the transform, W_H.

    Expected: plain networks go deeper with He and orthogonal weights than with the uniform ones, and still fail at 50
    or 100; highway networks at −2 lose with He's because of W_T, whose spread opens gates, and win with W_T = 0; at
    −ln depth it does not matter.
    Surprises would be: a plain network above 90 % at 100 blocks with any of them; W_T that matters at −ln depth; an
    order of highway networks that W_H explains better than W_T.

    All in float32. Where `gate_initialiser` is None, W_T is drawn like every other weight.
    """
    return train_on_digits(**point)


DEPTHS = [5, 10, 20, 50, 100]
INITIALISERS = ["uniform", "he", "normal", "orthogonal"]
INITIALISATION = Study(
    initialisation,
    grid=[
        {
            "block": blocks,
            "gate_bias": biases,
            "depth": depths,
            "initialiser": initialisers,
            "gate_initialiser": gate_initialisers,
            "seed": SEEDS,
        }
        for blocks, biases, depths, initialisers, gate_initialisers in [
            (["plain", "residual"], [None], DEPTHS, INITIALISERS, [None]),
            (["highway"], [-2.0], DEPTHS, INITIALISERS, [None]),
            (["highway"], [-2.0, "-ln depth"], [20, 50], ["uniform", "he"], ["zero", "uniform", "he"]),
        ]
    ],
    settings={"epochs": 30, "batch_size": 64, "dtype": "float32"},
    meaning=meaning("residual"),
)
