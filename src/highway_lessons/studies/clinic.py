"""The study of wrong layers: what each of them costs, at three depths on the digits, and some of them on spirals."""

import math

from highway_lessons import datasets
from highway_lessons.blocks import Plain
from highway_lessons.clinic import LAYERS
from highway_lessons.network import Network
from highway_lessons.studies.study import Study
from highway_lessons.studies.trainings import SEEDS, digits, make_optimiser, meaning, train


def clinic(**point):
    """What does each wrong layer of the bug clinic cost, and would accuracy have given it away?

    It decides, for the right layer and thirteen wrong ones, all asked for a gate bias of −2: whether two blocks on the
    digits tell right from wrong; which wrong layers still train at 10 and at 50 blocks in 30 epochs of Adam at 1e-3;
    whether some train better than the right one; and whether those that do on the digits, where depth is not needed,
    also do so on spirals (5 turns, ten blocks of eight tanh units, 80 epochs, Adam at 1e-2 falling along half a
    cosine), where each block earns its place. Controls: no blocks at all, and the right layer with the mean gate that
    a softmax over 64 units has, 1/64.

    Expected: at two blocks all lie within two points of the right one; at fifty those that start with wide gates, or
    that carry something else than x, stay at chance; softmax as gate, ReLU on the gate, the activation of x and the
    bias on both reach more than the right layer, the first as the right layer with 1/64 does, the others as no blocks
    do; on spirals those that amount to no blocks fall behind the right layer by more than ten points.
    Surprises would be: a wrong layer that shows at two blocks; a gate that starts near one half and trains at fifty; a
    layer that amounts to no blocks and does well on spirals.

    Everything in float32. A training whose loss is no longer finite has no accuracy.
    """
    return train_patient(**point)


def train_patient(data, block, depth, gate_bias, seed, *, epochs=None, curves=False):
    """Train one network of right or wrong layers.

    Parameters
    ----------
    data : {"digits", "spirals"}
    block : str
        A name of `highway_lessons.clinic.LAYERS`, or "none".
    depth : int
    gate_bias : float, "-ln 63" or None
        What is asked for; -ln 63 has σ = 1/64. None without blocks.
    seed : int
        Also that of the digits' split, and of the spirals.
    epochs : int, optional
        Instead of 30 (digits) or 80 (spirals).
    curves : bool
        As in `highway_lessons.studies.trainings.train`, whose results are returned.
    """
    bias = -math.log(63) if gate_bias == "-ln 63" else gate_bias
    activation = "relu" if data == "digits" else "tanh"
    made = Plain(activation) if block == "none" else LAYERS[block](bias, activation)
    if data == "digits":
        network, chosen = Network(made, depth), digits(seed)
        epochs, batch_size, rate, decay = epochs or 30, 64, 1e-3, None
    else:
        network, chosen = Network(made, depth, 8, n_in=2, n_classes=2), datasets.spirals(rng=seed)
        epochs, batch_size, rate = epochs or 80, 128, 1e-2
        decay = epochs * math.ceil(len(chosen.x_train) / batch_size)
    result, _ = train(
        network,
        chosen,
        seed,
        optimiser=make_optimiser("adam", rate, cosine_decay=decay),
        epochs=epochs,
        batch_size=batch_size,
        initialiser="uniform",
        dtype="float32",
        curves=curves,
    )
    return result


CLINIC = Study(
    clinic,
    grid=[
        {"data": [data], "block": blocks, "depth": depths, "gate_bias": [gate_bias], "seed": SEEDS}
        for data, blocks, depths, gate_bias in [
            ("digits", list(LAYERS), [2, 10, 50], -2.0),
            ("digits", ["right"], [2, 10, 50], "-ln 63"),
            ("digits", ["none"], [0], None),
            (
                "spirals",
                ["right", "bias on both", "softmax gate", "ReLU gate", "activations exchanged", "activation of x"],
                [10],
                -2.0,
            ),
            ("spirals", ["none"], [0], None),
        ]
    ],
    settings={"curves": True},
    meaning=meaning("none"),
)
