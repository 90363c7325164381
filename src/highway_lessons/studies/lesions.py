"""The study of lesions: trained networks with blocks switched off, out of order, or with gates from elsewhere."""

import math

from highway_lessons import datasets, gates
from highway_lessons.network import Network
from highway_lessons.studies.study import Study
from highway_lessons.studies.trainings import (
    SEEDS,
    digits,
    make_block,
    make_optimiser,
    meaning,
    rounded,
    train,
)

IDLE = 0.005  # a block is idle if switching it off changes the accuracy by at most this much, up or down
DIGITS, SPIRALS = {"n_in": 64, "n_classes": 10}, {"n_in": 2, "n_classes": 2}


def lesions(**point):
    """Which blocks does a trained network use, and does an idle block prove that the task needs less depth?

    It decides, for networks trained on the digits (50 blocks) and on spirals (10 blocks of width 8), on training and on
    test data: how many blocks are idle, that is, change the accuracy by at most half a point when switched off alone;
    what is left with more and more blocks off, and with all off, beside a network trained without blocks; and what is
    left with the blocks out of order, gates frozen at their mean over the training data, or gates shuffled between
    examples. On the digits the same highway blocks are trained in three ways, so that the optimiser and the gate bias
    differ and the task does not.

    Expected: highway blocks at −5 under SGD are nearly all idle, singly and all at once; at −2 under Adam some are idle
    singly and all are needed together; residual blocks are idle singly on the digits and needed together; on spirals
    every highway and residual block costs more than half a point, and frozen or shuffled gates leave chance.
    Surprises would be: an idle block on spirals; digits at −5 under SGD that lose more than 3 points with all blocks
    off; −5 under Adam no different from −5 under SGD; training and test data that disagree on which blocks are idle.

    This compares lesions, not kinds of block: each learning rate is one at which the kind trains, not its best.
    Everything in float32. A plain block has no shortcut: where it is off, its input takes the place of its output.
    """
    return train_and_lesion(**point)


def trained(data, block, depth, gate_bias, optimiser, learning_rate, seed, epochs=None, dtype="float32"):
    """Train one of the study's networks.

    Parameters
    ----------
    data : {"digits", "spirals"}
        Digits: width 64, ReLU, 30 epochs of batches of 64, uniform initialisation. Spirals: 5 turns, width 8, tanh, 80
        epochs of batches of 128, a learning rate that falls along half a cosine; uniform for highway networks, N(0,
        1/n) for the others.
    block, depth, optimiser, learning_rate
        As in `highway_lessons.studies.trainings`.
    gate_bias : float, "-ln(depth - 1)" or None
    seed : int
        Also that of the digits' split, and of the spirals.
    epochs : int, optional
        Instead of 30 or 80.
    dtype : str

    Returns
    -------
    network : Network
    data : Data
    result : dict
    run : Fit
        The last two as `highway_lessons.studies.trainings.train` returns them.
    """
    if data == "digits":
        network = Network(make_block(block, depth, gate_bias), depth, 64, **DIGITS)
        chosen, decay, epochs, batch_size = digits(seed), None, epochs or 30, 64
    else:
        network = spirals_network(block, depth, gate_bias)
        chosen, epochs, batch_size = datasets.spirals(rng=seed), epochs or 80, 128
        decay = epochs * math.ceil(len(chosen.x_train) / batch_size)
    result, run = train(
        network,
        chosen,
        seed,
        optimiser=make_optimiser(optimiser, learning_rate, cosine_decay=decay),
        epochs=epochs,
        batch_size=batch_size,
        initialiser="normal" if data == "spirals" and block != "highway" else "uniform",
        dtype=dtype,
    )
    return network, chosen, result, run


def spirals_network(block, depth, gate_bias):
    """The network that `trained` trains on spirals."""
    bias = -math.log(depth - 1) if gate_bias == "-ln(depth - 1)" else gate_bias
    return Network(make_block(block, depth, bias, "tanh"), depth, 8, **SPIRALS)


def train_and_lesion(draws, curves, **point):
    """Train one network and take it apart.

    Parameters
    ----------
    draws : int
        Random orders and shuffles; what is recorded is their mean.
    curves : bool
        Keep the lists too.
    **point
        As in `trained`.

    Returns
    -------
    dict
        What `train` returns, and for "train" and "test": "all_off_…", "order_…", "frozen_…", "shuffled_…" (accuracies;
        the last two None without gates) and "idle_…" (how many blocks). Under "curves", accuracies: "single_…" with
        one block off (and "single_loss_…"); "first_…" and "random_…" with none, one, … all off, from the first block on
        or drawn at random; "head_…" and "probe_…", read by the network's head or by a new linear one from h_0, h_1, …
        (the first of these is also what is left with the last blocks off).
    """
    network, data, result, run = trained(**point)
    if run.stopped:
        return result
    params, kept = run.params, {}
    gated = point["block"] == "highway"
    means = gates.frozen(gates.transform_gates(network, params, data.x_train)) if gated else None
    for part, x, y in (("train", data.x_train, data.y_train), ("test", data.x_test, data.y_test)):
        here = (network, params, x, y)
        single = gates.single_lesions(*here)
        whole = gates.score(*here).accuracy
        result[f"all_off_{part}"] = rounded(gates.score(*here, blocks=[]).accuracy)
        result[f"idle_{part}"] = int((abs(single.accuracy - whole) <= IDLE).sum())
        result[f"order_{part}"] = rounded(gates.shuffled_orders(*here, rng=0, draws=draws).accuracy.mean())
        result[f"frozen_{part}"] = rounded(gates.score(*here, gates=means).accuracy) if gated else None
        result[f"shuffled_{part}"] = _with_shuffled_gates(here, draws) if gated else None
        kept[f"single_{part}"], kept[f"single_loss_{part}"] = single.accuracy, single.loss
        kept[f"first_{part}"] = gates.cumulative_lesions(*here, order=range(network.depth)).accuracy
        kept[f"random_{part}"] = gates.random_lesions(*here, rng=0, draws=draws).accuracy.mean(axis=0)
        kept[f"head_{part}"] = gates.head_after(*here).accuracy
    kept["probe_train"], kept["probe_test"] = gates.linear_probes(network, params, data)
    if curves:
        result["curves"] = {name: [rounded(value, 5) for value in values] for name, values in kept.items()}
    return result


def _with_shuffled_gates(here, draws):
    """Mean accuracy with the gates of each block shuffled between the examples."""
    network, params, x, _ = here
    T = gates.transform_gates(network, params, x)
    return rounded(sum(gates.score(*here, gates=gates.shuffled(T, rng)).accuracy for rng in range(draws)) / draws)


LESIONS = Study(
    lesions,
    grid=[
        {
            "data": [data],
            "block": [block],
            "depth": [depth],
            "gate_bias": [gate_bias],
            "optimiser": [optimiser],
            "learning_rate": rates,
            "seed": SEEDS,
        }
        for data, block, depth, gate_bias, optimiser, rates in [
            ("digits", "highway", 50, -5.0, "sgd", [0.1]),
            ("digits", "highway", 50, -5.0, "adam", [1e-3]),
            ("digits", "highway", 50, -2.0, "adam", [1e-3]),
            ("digits", "residual", 50, None, "adam", [1e-3]),
            # The control: trained without blocks
            ("digits", "none", 0, None, "sgd", [0.1]),
            ("digits", "none", 0, None, "adam", [1e-3, 3e-3]),
            ("spirals", "highway", 10, "-ln(depth - 1)", "adam", [1e-2]),
            ("spirals", "residual", 10, None, "adam", [1e-2]),
            ("spirals", "plain", 10, None, "adam", [3e-3]),
            ("spirals", "none", 0, None, "adam", [1e-2]),
        ]
    ],
    settings={"draws": 5, "curves": True},
    meaning=meaning("none", "residual"),
)
