"""Studies of depth: on the digits, which do not need it, and on spirals, where it pays."""

from highway_lessons.studies.study import Study
from highway_lessons.studies.trainings import SEEDS, meaning, train_on_digits, train_on_spirals

DEPTHS = [1, 2, 5, 10, 20, 30, 50, 75, 100]
BOTH = ["uniform", "he"]


def depth(**point):
    """How does training on the digits go as blocks are added, and is any depth better than none?

    It decides which kinds of block still train at 20, 50 and 100 blocks in 30 epochs of Adam at 1e-3, with the uniform
    initialisation and with He's; whether that shows on the training loss already; and whether any of them beats no
    blocks at all (learning rate chosen on validation data), at equal width or with as many parameters.

    Expected: plain networks stop training between 10 and 30 blocks; highway networks at −2 train to 50 and fall behind
    at 100; with −ln depth, and with residual blocks, 100 blocks train like 10; none is a point better than no blocks.
    Surprises would be: a plain network that trains at 50 blocks; a highway network at −ln depth that does not train at
    100; any depth that beats the zero-block control by more than a point; float32 and float64 that disagree by more
    than their seeds do, except for plain networks of 20 blocks, whose training is chaotic.

    The published figure's six trainings are the float64 points with seed 0. The other points are in float32.
    """
    return train_on_digits(**point)


def depth_spirals(**point):
    """Do more blocks help where the task is hard for its size: two spiral arms, networks of width 8?

    It decides whether test accuracy on spirals of 5 and 7 turns grows with the number of highway blocks, at width 8 and
    at 1482 parameters in all; whether plain and residual blocks follow; and whether one block with four times the
    training reaches what ten reach, so that depth buys speed rather than what can be represented.

    Expected: the gain saturates at 5 to 10 highway blocks, near 99 % with 5 turns; plain networks turn down after 5;
    with four times the training a single matched block comes within some ten points of ten blocks at 7 turns.
    Surprises would be: no gain from 1 to 5 highway blocks; a plain network above the highway network at 10 or more
    blocks; no blocks above 60 %; residual networks above highway networks by more than the seeds' spread.

    Of the four learning rates, take for each kind of network the one with the best mean validation accuracy.
    All in float32.
    """
    return train_on_spirals(**point)


DIGITS = {"gate_bias": [None], "width": [64], "learning_rate": [1e-3], "dtype": ["float32"], "seed": SEEDS}
DEPTH = Study(
    depth,
    grid=[
        {"block": [block], "depth": depths, "initialiser": initialisers, **DIGITS, **other}
        for block, depths, initialisers, other in [
            ("plain", DEPTHS, BOTH, {}),
            ("highway", DEPTHS, BOTH, {"gate_bias": [-2.0, "-ln depth"]}),
            ("residual", DEPTHS, BOTH, {}),
            ("residual_zero_start", DEPTHS, ["uniform"], {}),
            ("naive_residual", DEPTHS, BOTH, {}),
            # As many parameters, in all, as the highway network with this depth
            ("plain", DEPTHS, BOTH, {"width": ["matched"]}),
            ("none", [10, 50], BOTH, {"width": ["matched"], "learning_rate": [3e-4, 1e-3, 3e-3, 1e-2]}),
            # The control: no blocks at all
            ("none", [0], BOTH, {"learning_rate": [3e-4, 1e-3, 3e-3, 1e-2, 3e-2]}),
            # The published trainings
            ("plain", [5, 20, 50], ["uniform"], {"dtype": ["float64"]}),
            ("highway", [5, 20, 50], ["uniform"], {"gate_bias": [-2.0], "dtype": ["float64"]}),
        ]
    ],
    settings={"epochs": 30, "batch_size": 64, "curves": True},
    meaning=meaning("none", "residual", "residual_zero_start", "naive_residual"),
)

SPIRALS = {"turns": [5, 7], "epochs": [80], "learning_rate": [1e-3, 3e-3, 1e-2, 3e-2], "seed": SEEDS}
DEPTH_SPIRALS = Study(
    depth_spirals,
    grid=[
        {"block": blocks, "depth": depths, "width": [width], **SPIRALS, **other}
        for blocks, depths, width, other in [
            (["none"], [0], 8, {}),
            (["plain", "highway", "residual"], [1, 2, 5, 10, 20, 50], 8, {}),
            (["none"], [0], "matched", {}),
            (["plain", "highway", "residual"], [1, 2, 5, 10], "matched", {}),
            # The limit of the claim: four times the training
            (["highway"], [1, 10], "matched", {"turns": [7], "epochs": [320]}),
        ]
    ],
    settings={"total": 1482, "batch_size": 128, "dtype": "float32"},
    meaning=meaning("none", "residual"),
)
