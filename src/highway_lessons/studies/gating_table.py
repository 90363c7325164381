"""The study behind chapter 9b: the table of "Identity Mappings in Deep Residual Networks" in miniature."""

import math

from highway_lessons import datasets
from highway_lessons.blocks import Highway
from highway_lessons.network import Network
from highway_lessons.optimizers import SGD, Adam
from highway_lessons.studies.study import Study
from highway_lessons.studies.trainings import SEEDS, digits, train
from highway_lessons.variants import GatedResidual, ScaledResidual

SHORTCUTS = {
    "identity": lambda bias, depth, f: ScaledResidual(1.0, 1.0, f),
    "identity, branch/√depth": lambda bias, depth, f: ScaledResidual(1.0, 1 / math.sqrt(depth), f),
    "constant 0.5, 1": lambda bias, depth, f: ScaledResidual(0.5, 1.0, f),
    "constant 0.5, 0.5": lambda bias, depth, f: ScaledResidual(0.5, 0.5, f),
    "exclusive": lambda bias, depth, f: GatedResidual(bias, True, f),
    "shortcut-only": lambda bias, depth, f: GatedResidual(bias, False, f),
    "highway": lambda bias, depth, f: Highway(bias, f),
}


def gating_table(data, shortcut, gate_bias, epochs, learning_rate, seed):
    """Does a gate on the shortcut hurt, and is it the gate or its bias, its learning rate, or the task?

    It decides, for the ways of the published table to join shortcut and branch, whether each trains: on digits with 50
    blocks of width 32 under SGD (momentum 0.9), on spirals of 4 turns with 10 blocks of width 8 under Adam with a rate
    that falls along half a cosine; at one learning rate for all, as in the paper, and at the best of three for each.
    On digits, rows that are best at an end of the three have a fourth beyond it.

    Expected: on digits an exclusive gate guesses at bias 0 and trains from about −4 on; gated shortcuts alone and
    halved ones lose the signal at 50 blocks; the identity's branch wants a low rate or a small factor. On spirals it is
    the other way round for the exclusive gate: bias −6 is worse than −2.
    Surprises would be: an exclusive gate at 0 that trains 50 blocks; no bias at which it comes within a point of the
    identity on digits; halved shortcuts that train 50 blocks.

    Where the shortcut is constant the gate bias is None; the highway block has a branch of one layer that ends in the
    activation, the others one of two layers that ends in a product. Uniform initialisation everywhere. All in float32.
    """
    if data == "digits":
        shape, examples, activation, batch_size = {"depth": 50, "width": 32}, digits(seed), "relu", 64
        optimiser = SGD(learning_rate, 0.9)
    else:
        shape, examples = {"depth": 10, "width": 8, "n_in": 2, "n_classes": 2}, datasets.spirals(4, 4000, 4000, seed)
        activation, batch_size = "tanh", 128
        optimiser = Adam(learning_rate, cosine_decay=epochs * math.ceil(len(examples.x_train) / batch_size))
    result, _ = train(
        Network(SHORTCUTS[shortcut](gate_bias, shape["depth"], activation), **shape),
        examples,
        seed,
        optimiser=optimiser,
        epochs=epochs,
        batch_size=batch_size,
        initialiser="uniform",
        dtype="float32",
    )
    return result


FOUR = [0.0, -2.0, -4.0, -6.0]
CONSTANT = ["identity", "identity, branch/√depth", "constant 0.5, 1", "constant 0.5, 0.5"]
GATING_TABLE = Study(
    gating_table,
    grid=[
        {
            "data": [data],
            "shortcut": shortcuts,
            "gate_bias": biases,
            "epochs": [epochs],
            "learning_rate": rates,
            "seed": SEEDS,
        }
        for data, epochs, rates, all_biases in (
            ("digits", 10, [0.01, 0.03, 0.1], [0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0]),
            ("spirals", 24, [0.003, 0.01, 0.03], FOUR),
        )
        for shortcuts, biases in (
            (CONSTANT if data == "digits" else CONSTANT[:2], [None]),
            (["exclusive"], all_biases),
            (["shortcut-only", "highway"] if data == "digits" else ["highway"], FOUR),
        )
    ]
    + [  # beyond the end of the rates, for the rows of digits that were best at an end
        {
            "data": ["digits"],
            "shortcut": [shortcut],
            "gate_bias": biases,
            "epochs": [10],
            "learning_rate": [rate],
            "seed": SEEDS,
        }
        for shortcut, biases, rate in (
            ("identity", [None], 0.003),
            ("identity, branch/√depth", [None], 0.3),
            ("exclusive", [-4.0, -5.0, -6.0, -7.0], 0.3),
            ("highway", [-4.0, -6.0], 0.3),
        )
    ],
    meaning={
        "identity": "x + F(x)",
        "identity, branch/√depth": "x + F(x)/√depth",
        "constant 0.5, 1": "x/2 + F(x)",
        "constant 0.5, 0.5": "x/2 + F(x)/2",
        "exclusive": "(1 − g) x + g F(x)",
        "shortcut-only": "(1 − g) x + F(x)",
        "highway": "(1 − T) x + T H(x)",
    },
)
