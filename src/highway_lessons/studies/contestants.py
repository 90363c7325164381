"""The contestants of chapter 9: which networks are compared, and the random trials that tune them."""

import math
from dataclasses import dataclass, replace

import numpy as np

from highway_lessons import datasets
from highway_lessons.blocks import Highway, Plain, Residual
from highway_lessons.network import Network
from highway_lessons.optimizers import Adam
from highway_lessons.studies.trainings import digits, evaluate, four_fifths, matched_width, rounded
from highway_lessons.training import fit
from highway_lessons.variants import (
    BatchNorm,
    FixedGate,
    InputIndependentGate,
    ScalarGate,
    Uncoupled,
    fold_batch_norm,
)

# Depth, the width of the highway network that everybody's number of parameters is matched to, and the task
TASKS = {
    "digits": {"depth": 20, "width": 32, "n_in": 64, "n_classes": 10, "activation": "relu", "batch_size": 64},
    "spirals": {"depth": 10, "width": 8, "n_in": 2, "n_classes": 2, "activation": "tanh", "batch_size": 128},
}
EPOCHS = {"digits": 12, "spirals": 24}
TURNS = 4  # of the spirals, with 4000 points to train on and 4000 to test on
RATE = (1e-4, 1.0)
GAIN, SCALE, TAU = (0.5, 2.0), (0.05, 1.0), (0.1, 10.0)


@dataclass(frozen=True)
class Contestant:
    """One kind of network, and the one knob of its own.

    Parameters
    ----------
    make : function
        ``make(knob, depth, activation)`` returns the block.
    knob : str
        What is turned: "gain" multiplies the starting weights of the blocks (without blocks, of the input layer),
        "gamma" is where γ starts, "scale" the factor of the branch, and "τ" sets the gate bias.
    limits : pair of float
        Range of the knob.
    initialiser : str
        "" means He's with ReLU and N(0, 1/n) with tanh.
    depth : int, optional
        Blocks, where they are not the task's.
    """

    make: object
    knob: str
    limits: tuple
    initialiser: str = ""
    depth: int | None = None


def bias_for(tau, depth):
    """Gate bias with which `depth` blocks have this τ: depth · ln(1 + e^bias) = τ."""
    return math.log(math.expm1(tau / depth))


def _gated(kind):
    """Return the contestant with gates of this kind; its knob is τ, so that every kind of gate starts equally open."""
    return Contestant(lambda tau, depth, f: kind(bias_for(tau, depth), f), "τ", TAU, "uniform")


CONTESTANTS = {
    "plain, He": Contestant(lambda gain, depth, f: Plain(f), "gain", GAIN, "he"),
    "plain, orthogonal": Contestant(lambda gain, depth, f: Plain(f), "gain", GAIN, "orthogonal"),
    "plain, batch norm": Contestant(lambda gamma, depth, f: BatchNorm(gamma, f), "gamma", GAIN),
    "residual": Contestant(lambda scale, depth, f: Residual(scale, activation=f), "scale", SCALE),
    "residual, zero start": Contestant(lambda scale, depth, f: Residual(scale, True, f), "scale", SCALE),
    "highway": _gated(Highway),
    "scalar gate": _gated(ScalarGate),
    "gate blind to x": _gated(InputIndependentGate),
    "uncoupled gates": _gated(Uncoupled),
    "fixed gate": Contestant(lambda gain, depth, f: FixedGate(1 / (depth + 1), f), "gain", GAIN, "uniform"),
    "no block": Contestant(lambda gain, depth, f: Plain(f), "gain", GAIN, depth=0),
    "one block": replace(_gated(Highway), depth=1),
}
MEANING = {
    "plain, batch norm": "f(BN(x W_H)), statistics recomputed over the training data before a network is evaluated",
    "residual": "x + scale · two-layer branch",
    "residual, zero start": "the same, W_2 and b_2 start at 0",
    "scalar gate": "one gate per block and example",
    "gate blind to x": "T = σ(b_T), one per unit",
    "uncoupled gates": "carry gate of its own, b_C starts at −b_T",
    "fixed gate": "T = 1/(depth + 1), not learned",
    "no block": "input layer and head alone, as many parameters",
    "one block": "one highway block, as many parameters",
}


def trial(block, number, wider=None):
    """Draw the settings of a random trial: a pure function of its number, so that all contestants have the same draws.

    Parameters
    ----------
    block : str
        A name of `CONTESTANTS`.
    number : int
        The trial. Learning rate and knob are log-uniform in their ranges; the schedule is one of two.
    wider : {"learning_rate down", "learning_rate up", "knob down", "knob up"}, optional
        Draw one of them from beyond an end of its range instead, from a stretch half as long.

    Returns
    -------
    dict
        "learning_rate", "schedule" ("constant" or "cosine") and "knob"; numbers have three digits.
    """
    rng = np.random.default_rng([number, 9])
    place = dict(zip(("learning_rate", "knob"), rng.uniform(size=2), strict=True))
    schedule = ("constant", "cosine")[rng.integers(2)]
    ranges, settings = {"learning_rate": RATE, "knob": CONTESTANTS[block].limits}, {}
    for name, (low, high) in ranges.items():
        if wider == f"{name} down":
            low, high = low * math.sqrt(low / high), low
        elif wider == f"{name} up":
            low, high = high, high * math.sqrt(high / low)
        settings[name] = rounded(low * (high / low) ** place[name], 3)
    return {"learning_rate": settings["learning_rate"], "schedule": schedule, "knob": settings["knob"]}


def network_for(block, data, knob=1.0):
    """Return the contestant's network for a task, with as many parameters as the highway network, as nearly as can be.

    Parameters
    ----------
    block : str
        A name of `CONTESTANTS`.
    data : {"digits", "spirals"}
    knob : float

    Returns
    -------
    Network
    """
    task, contestant = TASKS[data], CONTESTANTS[block]
    shape = {"n_in": task["n_in"], "n_classes": task["n_classes"]}
    depth = task["depth"] if contestant.depth is None else contestant.depth
    made = contestant.make(knob, depth, task["activation"])
    total = Network(Highway(), task["depth"], task["width"], **shape).n_parameters
    return Network(made, depth, matched_width(made, depth, total, **shape), **shape)


def compete(block, data, examples, seed, *, epochs, learning_rate, schedule, knob):
    """Train one contestant with Adam, in float32, and measure it.

    Parameters
    ----------
    block, data, knob
        As in `network_for`.
    examples : Data
    seed : int
        Of the generator that draws the starting values, then the order of the examples.
    epochs : int
    learning_rate : float
    schedule : {"constant", "cosine"}

    Returns
    -------
    dict
        "parameters", "actual_width", "updates", "epochs_done", "stopped" (why early, or None), and after the last
        update "train_loss", "train_accuracy", "test_loss", "test_accuracy"; None where the training diverged.
    """
    task, contestant = TASKS[data], CONTESTANTS[block]
    network = network_for(block, data, knob)
    updates = epochs * math.ceil(len(examples.x_train) / task["batch_size"])
    rng = np.random.default_rng(seed)
    usual = {"relu": "he", "tanh": "normal"}[task["activation"]]
    params = network.initialise(rng, contestant.initialiser or usual, "float32")
    if contestant.knob == "gain":
        for weights in [views["W_H"] for views in params.blocks] or [params.input["W"]]:
            weights *= knob
    run = fit(
        network,
        examples._replace(x_test=None, y_test=None),
        optimiser=Adam(learning_rate, cosine_decay=updates if schedule == "cosine" else None),
        epochs=epochs,
        batch_size=task["batch_size"],
        rng=rng,
        params=params,
    )
    if run.stopped and run.stopped.startswith("Interrupted"):
        raise KeyboardInterrupt  # half a training is no result
    result = {"parameters": network.n_parameters, "actual_width": network.width, "updates": updates}
    result |= {"epochs_done": len(run.history["seconds"]), "stopped": run.stopped}
    if isinstance(network.block, BatchNorm) and not run.stopped:
        network, folded = fold_batch_norm(network, run.params, examples.x_train)
        run = replace(run, params=folded)
    for part, x, y in (("train", examples.x_train, examples.y_train), ("test", examples.x_test, examples.y_test)):
        result[f"{part}_loss"], result[f"{part}_accuracy"] = evaluate(network, run, x, y)
    return result


def examples_for(data, seed, validate=False):
    """Return the data of a training; with `validate`, its test part is a fifth of the training data instead.

    Two neighbouring seeds, such as 100 and 101, share a split of the digits; spirals are drawn anew for each seed.
    """
    found = digits(seed // 2) if data == "digits" else datasets.spirals(TURNS, 4000, 4000, seed)
    return four_fifths(found, seed) if validate else found
