"""The study of wrong layers: what each of them costs on the digits, at three depths."""

import math

from highway_lessons.blocks import Plain
from highway_lessons.clinic import LAYERS
from highway_lessons.network import Network
from highway_lessons.studies.study import Study
from highway_lessons.studies.trainings import SEEDS, digits, make_optimiser, meaning, train


def clinic(**point):
    """What does each wrong layer of the bug clinic cost, and would accuracy have given it away?

    It decides, for the right layer and thirteen wrong ones, all asked for a gate bias of −2: whether two blocks on the
    digits tell right from wrong; which wrong layers still train at 10 and at 50 blocks in 30 epochs of Adam at 1e-3;
    and whether some train better than the right one. Controls: no blocks at all, and the right layer with the mean
    gate that a softmax over 64 units has, 1/64.

    Expected: at two blocks all lie within two points of the right one; at fifty those that start with wide gates, or
    that carry something else than x, stay at chance; softmax as gate, ReLU on the gate, the activation of x and the
    bias on both reach more than the right layer, the first as the right layer with 1/64 does, the others as no blocks
    do.
    Surprises would be: a wrong layer that shows at two blocks; a gate that starts near one half and trains at fifty; a
    wrong layer that beats no blocks by a point.

    The digits need no depth, so nothing here says what a layer that does nothing costs where depth is needed.
    Everything in float32. A training whose loss is no longer finite has no accuracy.
    """
    return train_patient(**point)


def train_patient(data, block, depth, gate_bias, seed, *, epochs=30, curves=False):
    """Train one network of right or wrong layers.

    Parameters
    ----------
    data : {"digits"}
    block : str
        A name of `highway_lessons.clinic.LAYERS`, or "none".
    depth : int
    gate_bias : float, "-ln 63" or None
        What is asked for; -ln 63 has σ = 1/64. None without blocks.
    seed : int
        Also that of the digits' split.
    epochs : int
    curves : bool
        As in `highway_lessons.studies.trainings.train`, whose results are returned.
    """
    bias = -math.log(63) if gate_bias == "-ln 63" else gate_bias
    block = Plain() if block == "none" else LAYERS[block](bias)
    result, _ = train(
        Network(block, depth),
        {"digits": digits}[data](seed),
        seed,
        optimiser=make_optimiser("adam", 1e-3),
        epochs=epochs,
        batch_size=64,
        initialiser="uniform",
        dtype="float32",
        curves=curves,
    )
    return result


CLINIC = Study(
    clinic,
    grid=[
        {"data": ["digits"], "block": blocks, "depth": depths, "gate_bias": [gate_bias], "seed": SEEDS}
        for blocks, depths, gate_bias in [
            (list(LAYERS), [2, 10, 50], -2.0),
            (["right"], [50], "-ln 63"),
            (["none"], [0], None),
        ]
    ],
    settings={"curves": True},
    meaning=meaning("none"),
)
