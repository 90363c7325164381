"""The study of living nets: small trained networks, recorded with their weights, so that a page can compute them."""

from functools import cache
from typing import NamedTuple

import numpy as np

from highway_lessons import datasets, gates
from highway_lessons.functions import sigmoid
from highway_lessons.network import Network, Parameters
from highway_lessons.studies import lesions
from highway_lessons.studies.results import load_study
from highway_lessons.studies.study import Study
from highway_lessons.studies.trainings import SEEDS, rounded

OFFSETS = [round(0.1 * step, 1) for step in range(-5, 6)]  # added to every gate bias
POINTS = 2000  # of the test points, so that a page is done in a blink
TOSS = 0.05  # as near as this to one half, an accuracy is a coin's toss


def living(depth, seed, *, points=POINTS, epochs=80, curves=True):
    """How many blocks of a trained spirals network can be switched off before its answers are a coin's toss?

    It decides, with the very weights that a page computes with: what every choice of blocks leaves, and so the best and
    the worst choice of one, two, … blocks; what frozen gates leave; what is left when every gate bias moves by up to
    half a unit; and from which block on the network's own head, and a linear probe, can read the answer.

    Expected: one block off costs tens of points; from three off on, no choice leaves more than 70 %; frozen gates leave
    chance; half a unit of gate bias costs tens of points; the own head is at chance until the last two blocks, and a
    probe reads more the higher it looks.
    Surprises would be: three blocks that can go for nothing; frozen gates that keep 60 %; an own head that is right on
    60 % before the ninth block; a probe below its own network's head.

    Trained in float32, by the recipe of the study of lesions. The weights are rounded to six digits, and everything is
    measured with the rounded ones, in float64, and tested on 2000 points.
    """
    recipe = ("spirals", "highway", depth, "-ln(depth - 1)", "adam", 1e-2)
    network, data, result, run = lesions.trained(*recipe, seed, epochs)
    if run.stopped:
        return result
    weights = _listed(run.params.flat)
    params = Parameters(network, np.array(weights))
    x, y = data.x_test[:points].round(5), data.y_test[:points]  # as a page has them
    for part, *examples in (("train", data.x_train, data.y_train), ("test", x, y)):
        whole = gates.score(network, params, *examples)
        result |= {f"{part}_loss": rounded(whole.loss), f"{part}_accuracy": rounded(whole.accuracy)}
    means = gates.frozen(gates.transform_gates(network, params, data.x_train))
    result["frozen_test"] = rounded(gates.score(network, params, x, y, gates=means).accuracy)
    left = all_lesions(network, params, x, y)
    by_count = [left[np.array([int(n).bit_count() for n in range(len(left))]) == count] for count in range(depth + 1)]
    if curves:
        measured = {
            "single_test": [left[1 << block] for block in range(depth)],
            "best_off_test": [chosen.max() for chosen in by_count],
            "mean_off_test": [chosen.mean() for chosen in by_count],
            "worst_off_test": [chosen.min() for chosen in by_count],
            "offset_test": [gates.score(network, moved(params, by), x, y).accuracy for by in OFFSETS],
            "head_test": gates.head_after(network, params, x, y).accuracy,
            "probe_test": gates.linear_probes(network, params, data._replace(x_test=x, y_test=y)).test,
        }
        probes = gates.fit_probes(network, params, data.x_train, data.y_train)
        result["curves"] = {name: [rounded(value, 5) for value in values] for name, values in measured.items()}
        result["curves"] |= {"weights": weights, "frozen_gates": _listed(means), "probes": _listed(probes)}
    return result


def _listed(array):
    """All numbers of an array in one list, to six digits."""
    return [rounded(float(value)) for value in np.ravel(array)]


def moved(params, offset):
    """Copy the parameters of a highway network, with `offset` added to every gate bias."""
    params = params.copy()
    for views in params.blocks:
        views["b_T"] += offset
    return params


def all_lesions(network, params, x, labels):
    """Measure the accuracy with every set of blocks switched off.

    Parameters
    ----------
    network, params, x, labels
        As in `highway_lessons.gates.single_lesions`; at most about ten blocks, since there are 2^depth sets.

    Returns
    -------
    array of shape (2^depth,)
        Entry n: block l, counted from 0, is off if bit l of n is set. Entry 0 is the whole network.
    """
    right = np.zeros(2**network.depth)
    for part in np.array_split(np.arange(len(x)), 1 + len(x) // 500):  # all sets at once, of some points at a time
        _, cache = network.forward(params, x[part])
        h = cache.h[0][None]
        for views in params.blocks:
            passed, _ = network.block.forward(dict(views), h.reshape(-1, network.width))
            h = np.concatenate([passed.reshape(h.shape), h])  # on, then off
        answers = (h @ params.head["W"] + params.head["b"]).argmax(axis=2)
        right += (answers == labels[part]).sum(axis=1)
    return right / len(x)


class RecordedNet(NamedTuple):
    """A recorded network and what it is tested on.

    Attributes
    ----------
    network : Network
    params : Parameters
        float64, as they are recorded: a page reads the same decimal numbers.
    frozen_gates : array of shape (depth, 1, width)
        Mean of each transform gate over the training points.
    probes : array of shape (depth + 1, width + 1, n_classes)
        From `highway_lessons.gates.fit_probes`.
    x, y : arrays of shape (2000, 2) and (2000,)
        The first test points, rounded to five decimals, and their arms.
    seed : int
    """

    network: Network
    params: Parameters
    frozen_gates: np.ndarray
    probes: np.ndarray
    x: np.ndarray
    y: np.ndarray
    seed: int


@cache
def net(seed=0):
    """Read one of the recorded networks: a `RecordedNet`."""
    (point,) = load_study(LIVING).select(seed=seed)
    network = lesions.spirals_network("highway", point["depth"], "-ln(depth - 1)")
    numbers = {name: np.array(point["curves"][name]) for name in ("weights", "frozen_gates", "probes")}
    data = datasets.spirals(rng=seed)
    return RecordedNet(
        network,
        Parameters(network, numbers["weights"]),
        numbers["frozen_gates"].reshape(network.depth, 1, network.width),
        numbers["probes"].reshape(network.depth + 1, network.width + 1, network.n_classes),
        data.x_test[:POINTS].round(5),
        data.y_test[:POINTS],
        seed,
    )


class Answer(NamedTuple):
    """Logits, of shape (batch, 2), and transform gates, (depth, batch, width), 0 where a block is off."""

    logits: np.ndarray
    T: np.ndarray


def answer(net, x, *, blocks_off=(), gates_frozen=False, gate_bias_offset=0.0, read_after=None, probe=False):
    """Compute a recorded network's answer with parts of it taken away: what `living.js` computes, here by NumPy.

    Parameters
    ----------
    net : RecordedNet
    x : array_like of shape (batch, 2)
    blocks_off : sequence of int
        Blocks that are switched off, counted from 1.
    gates_frozen : bool
        Put each gate at its mean over the training points, whatever the input is.
    gate_bias_offset : float
        Added to every gate bias; to a frozen gate's log-odds, which are then its bias.
    read_after : int, optional
        Read the answer after this block, 0 … depth; default the last.
    probe : bool
        Read it by a linear probe, fitted to the whole network there, rather than by the network's own head.

    Returns
    -------
    Answer
    """
    network, params, frozen = net.network, moved(net.params, gate_bias_offset), None
    if gates_frozen:
        frozen = sigmoid(log_odds(net.frozen_gates) + gate_bias_offset)
    blocks = gates.without(network, [block - 1 for block in blocks_off])
    _, h = gates.forward_with(network, params, x, blocks, frozen)
    T = np.zeros((network.depth, *h[0].shape))
    for n, h_in in zip(blocks, h, strict=False):  # the last h enters no block
        T[n] = frozen[n] if gates_frozen else network.block.forward(dict(params.blocks[n]), h_in)[1].T
    read_after = network.depth if read_after is None else read_after
    read = h[sum(n < read_after for n in blocks)]
    W, b = net.probes[read_after][:-1], net.probes[read_after][-1]
    return Answer(read @ W + b if probe else read @ params.head["W"] + params.head["b"], T)


def log_odds(T):
    """The gate bias whose gate is T at x = 0: the inverse of the sigmoid."""
    return np.log(T / (1 - T))


LIVING = Study(
    living,
    grid=[{"depth": [10], "seed": SEEDS}],
    settings={"points": POINTS, "epochs": 80, "curves": True},
    meaning={"weights": "Parameters.flat", "off": "y = x"},
)
