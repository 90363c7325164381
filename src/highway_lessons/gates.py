"""Look inside a trained network: gates as arrays, and what happens when gates or blocks are taken away.

One idea serves it all. `forward_with` sends a batch through a network whose list of blocks, or whose gates, are not its
own: a lesion is a list with one block less, a shuffled order is another order, a frozen gate is an array of means.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from highway_lessons import _checks
from highway_lessons.functions import cross_entropy
from highway_lessons.network import Parameters

# --- Running a changed network ------------------------------------------------------------------------------------


def forward_with(network, params, x, blocks=None, gates=None):
    """Send a batch through some of the blocks, in any order, with gates from elsewhere if you like.

    Parameters
    ----------
    network : Network
    params : Parameters
    x : array_like of shape (batch, n_in)
    blocks : sequence of int, optional
        Numbers of the blocks to pass, from 0, in this order; default all, 0 … depth − 1. A block that is left out is
        switched off: y = x. In a highway block that is T = 0, in a residual block a branch that adds nothing; a plain
        block has no shortcut, so there its input simply takes the place of its output.
    gates : array_like of shape (depth, batch, width) or (depth, 1, width), optional
        Transform gates, in [0, 1], to use instead of those that the blocks compute; for highway networks only.

    Returns
    -------
    logits : array of shape (batch, n_classes)
    h : list of arrays of shape (batch, width)
        What leaves the input layer, then what leaves each block that was passed.

    Raises
    ------
    ValueError, TypeError
        If an argument does not fit the network, or gates come for blocks that have none.
    """
    params = _plain_parameters(network, params)
    blocks = range(network.depth) if blocks is None else _block_numbers("blocks", blocks, network.depth)
    ends = replace(network, depth=0)  # input layer and head
    _, cache = ends.forward(Parameters(ends, params.flat[: ends.n_parameters]), x)
    if gates is not None:
        gates = _fitting_gates(network, gates, len(cache.x)).astype(params.flat.dtype, copy=False)
    h = _pass(network, params, cache.h[0], blocks, gates)
    return _read_out(params, h[-1]), h


def _pass(network, params, h, blocks, gates=None):
    """List h and what each of the blocks makes of it in turn."""
    h = [h]
    for number in blocks:
        y, cache = network.block.forward(params.blocks[number], h[-1])
        if gates is not None:
            T = gates[number]
            y = cache.H * T + cache.x * (1 - T)
        h.append(y)
    return h


def _read_out(params, h):
    """The logits that the network's own head reads from h."""
    return h @ params.head["W"] + params.head["b"]


def _plain_parameters(network, params):
    """The same numbers, without the arrays of a training run, which each pass would overwrite."""
    return Parameters(network, _checks.parameters(network, params).flat)


def _block_numbers(name, value, depth):
    """Return a sequence of block numbers as a list of int."""
    if not np.iterable(value) or isinstance(value, str):
        raise TypeError(f"{name} must be a list of block numbers, but {_checks.describe(value)} came; write [3] for 3.")
    return [_checks.integer(f"{name}: a block number", number, 0, depth - 1) for number in value]


def _gated(network):
    """Refuse a network whose blocks have no transform gate."""
    _checks.has("network", network, ("block", "depth", "width"), "Network(Highway(), depth=10)")
    _checks.has("network.block", network.block, ("gate_bias",), "Highway(gate_bias=-2.0)")


def _fitting_gates(network, gates, batch):
    """Return gates as an array for this network and batch."""
    _gated(network)
    gates, expected = _checks.floats("gates", gates), (network.depth, batch, network.width)
    if gates.shape not in (expected, (network.depth, 1, network.width)):
        raise ValueError(
            f"gates must have shape {expected}, or 1 in the middle, but they have shape {gates.shape}; "
            "take them from transform_gates(network, params, x) with the same x."
        )
    outside = ~((gates >= 0) & (gates <= 1))
    if outside.any():
        raise ValueError(f"gates must lie between 0 and 1, but {gates[outside][0]} came; pass gates, not their biases.")
    return gates


class Score(NamedTuple):
    """Mean cross-entropy in nats, and accuracy in 0 … 1: two numbers, or two arrays of one shape."""

    loss: float | np.ndarray
    accuracy: float | np.ndarray


def score(network, params, x, labels, blocks=None, gates=None):
    """Measure loss and accuracy of the network that `forward_with` runs; arguments as there, and the labels.

    Returns
    -------
    Score
        Two floats.
    """
    logits, _ = forward_with(network, params, x, blocks, gates)
    return _score(logits, labels)


def _score(logits, labels):
    loss, _ = cross_entropy(logits, labels)
    return Score(loss, float((logits.argmax(axis=1) == np.asarray(labels)).mean()))


def _columns(scores):
    """Turn a list of scores into one score of arrays."""
    losses, accuracies = zip(*scores, strict=True) if scores else ((), ())
    return Score(np.array(losses, float), np.array(accuracies, float))


# --- Chapter 6: gates as arrays -----------------------------------------------------------------------------------


def transform_gates(network, params, x):
    """All transform gates of a highway network on a batch, as one array.

    Parameters
    ----------
    network : Network
        With highway blocks.
    params : Parameters
    x : array_like of shape (batch, n_in)

    Returns
    -------
    T : array of shape (depth, batch, width)
        ``T.mean(axis=(1, 2))`` is the mean gate of each block, ``T.mean(axis=1)`` that of each unit, and ``T[:, i]``
        the gates of example i.

    Raises
    ------
    TypeError
        If the blocks have no transform gate.
    """
    _gated(network)
    _, cache = network.forward(_plain_parameters(network, params), x)
    gates = np.array([block.T for block in cache.blocks], params.flat.dtype)
    return gates.reshape(network.depth, len(cache.x), network.width)  # also without blocks


def gate_biases(network, params):
    """The gate bias of each unit: an array of shape (depth, width)."""
    _gated(network)
    biases = [views["b_T"] for views in _checks.parameters(network, params).blocks]
    return np.array(biases, params.flat.dtype).reshape(network.depth, network.width)


class BiasChange(NamedTuple):
    """How the gate biases moved: the change of each, (depth, width), the share that fell, and the mean change."""

    change: np.ndarray
    share_fell: float
    mean: float


def bias_change(network, start, end):
    """Compare the gate biases of two sets of parameters, such as those before and after training.

    Parameters
    ----------
    network : Network
        With highway blocks, at least one.
    start, end : Parameters

    Returns
    -------
    BiasChange
        Fell: ended below its start.
    """
    _checks.integer("network.depth", network.depth, 1)
    change = gate_biases(network, end) - gate_biases(network, start)
    return BiasChange(change, float((change < 0).mean()), float(change.mean()))


def plane(reach=2.0, n=100):
    """Points of a square grid around the origin of the plane.

    Parameters
    ----------
    reach : float
        Largest coordinate; the spirals end at 2.
    n : int
        Points per side, at least 2.

    Returns
    -------
    array of shape (n · n, 2)
        Row after row, from the lowest row up; each row from left to right.
    """
    reach, n = _checks.real("reach", reach, above=0), _checks.integer("n", n, 2)
    axis = np.linspace(-reach, reach, n)
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def plane_gates(network, params, reach=2.0, n=100):
    """Transform gates over the plane, for a network that takes two numbers in.

    Parameters
    ----------
    network : Network
        With highway blocks and n_in = 2.
    params : Parameters
    reach, n
        As in `plane`.

    Returns
    -------
    array of shape (depth, n, n, width)
        Entry [l, i, j] holds block l's gates at row i from below and column j from the left, so draw it with
        ``origin="lower"``. Its mean over the last axis is one picture per block.
    """
    _gated(network)
    if network.n_in != 2:
        raise ValueError(f"network.n_in must be 2 for a picture over the plane, but {network.n_in} came.")
    T = transform_gates(network, params, plane(reach, n))
    return T.reshape(network.depth, n, n, network.width)


class Selectivity(NamedTuple):
    """Do gates choose? From `selectivity`; arrays of shape (depth,), shares in 0 … 1.

    spread: how far a unit's gate moves from example to example: its standard deviation, as root mean square over units.
    spread_of_units: standard deviation, over units, of their mean gates.
    active: share of the units that are active for an example, averaged over examples.
    active_on_average: share of the units whose *mean* gate is above the threshold.
    ever_active: share of the units that are active for at least one example.
    """

    spread: np.ndarray
    spread_of_units: np.ndarray
    active: np.ndarray
    active_on_average: np.ndarray
    ever_active: np.ndarray


def selectivity(T, threshold=0.5):
    """Measure whether gates choose by example, or are open and shut once and for all.

    Gates that choose are active for some examples only: `ever_active` is then above `active`, and
    `active_on_average` below it. With gates that never move, the three are equal and `spread` is 0.

    Parameters
    ----------
    T : array_like of shape (depth, batch, width)
        From `transform_gates`.
    threshold : float
        A gate above it counts as active, in [0, 1]; above 0.5 a unit takes more from H than from x.

    Returns
    -------
    Selectivity
    """
    T, threshold = _gate_array(T), _checks.real("threshold", threshold, 0, 1)
    active = np.greater(T, threshold)
    means = T.mean(axis=1)
    return Selectivity(
        spread=np.sqrt(T.var(axis=1).mean(axis=1)),
        spread_of_units=means.std(axis=1),
        active=active.mean(axis=(1, 2)),
        active_on_average=(means > threshold).mean(axis=1),
        ever_active=active.any(axis=1).mean(axis=1),
    )


def _gate_array(T, name="T"):
    """Return T as an array of shape (depth, batch, width)."""
    T = _checks.floats(name, T)
    if T.ndim != 3 or not T.shape[1]:
        raise ValueError(
            f"{name} must have shape (depth, batch, width) with at least one example, but it has shape {T.shape}."
        )
    return T


def frozen(T):
    """Replace each gate by its mean over the examples: an array of shape (depth, 1, width), for `forward_with`."""
    return _gate_array(T).mean(axis=1, keepdims=True)


def shuffled(T, rng=0):
    """Mix the gates between examples: within each block, the rows of T in an order of its own.

    Every gate keeps its values, and so its mean and its spread; only which example has which is lost. One order for
    all blocks is ``T[:, order]``: each example then has all the gates of one other.

    Parameters
    ----------
    T : array_like of shape (depth, batch, width)
    rng : int or numpy.random.Generator

    Returns
    -------
    array of shape (depth, batch, width)
    """
    T, rng = _gate_array(T), _checks.generator(rng)
    return np.stack([rows[rng.permutation(len(rows))] for rows in T]) if len(T) else T


def class_means(values, labels, n_classes):
    """Mean over the examples of each class.

    Parameters
    ----------
    values : array_like of shape (depth, batch, width)
        Gates from `transform_gates`, or activations.
    labels : array_like of shape (batch,)
        Each class must occur.
    n_classes : int

    Returns
    -------
    array of shape (n_classes, depth, width)
    """
    values = _gate_array(values, "values")
    belongs = _one_hot(labels, values.shape[1], n_classes)
    counts = belongs.sum(axis=0)
    if not counts.all():
        raise ValueError(f"labels must hold every class, but class {int(np.argmin(counts))} does not occur.")
    return np.swapaxes(belongs.T @ values, 0, 1) / counts[:, None, None]


def _one_hot(labels, n, n_classes):
    """Return 1 where an example belongs to a class, else 0: (n, n_classes)."""
    labels = _checks.labels("labels", labels, n, _checks.integer("n_classes", n_classes, 1))
    return np.eye(n_classes)[labels]


class ClassShare(NamedTuple):
    """Share of the variance that lies between classes: measured, (depth,), and with shuffled labels, (draws, depth)."""

    measured: np.ndarray
    chance: np.ndarray


def class_share(values, labels, n_classes, rng=0, draws=20):
    """How class-specific are gates? The share of their variance over examples that the class accounts for.

    0 where every class has the same means, 1 where the class alone decides. Even random labels account for about
    (n_classes − 1) / (batch − 1), so the same is measured with shuffled labels.

    Parameters
    ----------
    values : array_like of shape (depth, batch, width)
        Gates from `transform_gates`, or activations.
    labels : array_like of shape (batch,)
        Each class must occur.
    n_classes : int
    rng : int or numpy.random.Generator
        Shuffles the labels.
    draws : int
        How often, at least 1.

    Returns
    -------
    ClassShare
        Variances are summed over units. A block whose gates never move has share 0.

    References
    ----------
    The correlation ratio η² of the analysis of variance.
    """
    values, rng = _gate_array(values, "values"), _checks.generator(rng)
    centred = values - values.mean(axis=1, keepdims=True)
    total = (centred**2).sum(axis=(1, 2))

    def share(labels):
        means, counts = class_means(centred, labels, n_classes), np.bincount(labels, minlength=n_classes)
        between = (counts[:, None, None] * means**2).sum(axis=(0, 2))
        return np.divide(between, total, out=np.zeros_like(between), where=total > 0)

    labels = _checks.labels("labels", labels, values.shape[1], n_classes)
    shuffles = [rng.permutation(labels) for _ in range(_checks.integer("draws", draws, 1))]
    return ClassShare(share(labels), np.stack([share(shuffle) for shuffle in shuffles]))


def stripes(h):
    """How far a unit's value reaches: the correlation, over units, of block outputs k blocks apart.

    Drawn with a row for each block and a column for each unit, outputs that keep their values show as stripes. Where
    what blocks add is unrelated to what they carry, and makes up for what they lose, outputs k blocks apart correlate
    like the carry, (1 − T)^k; where it is less, they correlate more.

    Parameters
    ----------
    h : array_like of shape (depth, batch, width)
        Block outputs, h_1 … h_depth of `forward_with`.

    Returns
    -------
    array of shape (depth,)
        Entry k: mean over the examples and over all pairs of blocks k apart. Entry 0 is 1.

    Notes
    -----
    Outputs that are equal in all units correlate with nothing: they count as 0.
    """
    h = _gate_array(h, "h")
    h = h - h.mean(axis=2, keepdims=True)
    lengths = np.linalg.norm(h, axis=2, keepdims=True)
    directions = np.divide(h, lengths, out=np.zeros_like(h), where=lengths > 0).reshape(len(h), -1)
    correlations = directions @ directions.T / h.shape[1]  # (depth, depth), means over the examples
    return np.array([np.diagonal(correlations, k).mean() for k in range(len(h))])


# --- Chapter 7: blocks switched off -------------------------------------------------------------------------------


def without(network, off):
    """List the blocks that stay when those in `off` are switched off, for `forward_with` and `score`."""
    off = _block_numbers("off", off, network.depth)
    return [number for number in range(network.depth) if number not in off]


def single_lesions(network, params, x, labels):
    """Switch off each block alone, one after the other.

    Parameters
    ----------
    network : Network
        With blocks of any kind; `forward_with` says what "off" means for each.
    params : Parameters
    x : array_like of shape (batch, n_in)
    labels : array_like of shape (batch,)

    Returns
    -------
    Score
        Arrays of shape (depth,): entry n is measured with block n switched off, counted from 0.
    """
    params = _plain_parameters(network, params)
    _, h = forward_with(network, params, x)  # what comes before a lesion stays as it is
    tops = [_pass(network, params, h[n], range(n + 1, network.depth))[-1] for n in range(network.depth)]
    return _columns([_score(_read_out(params, top), labels) for top in tops])


def cumulative_lesions(network, params, x, labels, order):
    """Switch off more and more blocks.

    Parameters
    ----------
    network, params, x, labels
        As in `single_lesions`.
    order : sequence of int
        Blocks in the order in which they go: ``range(depth)`` begins with the first, its reverse with the last.

    Returns
    -------
    Score
        Arrays of shape (len(order) + 1,): entry k is measured with the first k of them switched off.
    """
    order = _block_numbers("order", order, network.depth)
    if len(set(order)) < len(order):
        raise ValueError(f"order must hold each block at most once, but {order} came.")
    return _columns([score(network, params, x, labels, without(network, order[:k])) for k in range(len(order) + 1)])


def random_lesions(network, params, x, labels, rng=0, draws=5):
    """Switch off more and more blocks, drawn at random, several times over.

    Parameters
    ----------
    network, params, x, labels
        As in `single_lesions`.
    rng : int or numpy.random.Generator
    draws : int
        How many random orders, at least 1.

    Returns
    -------
    Score
        Arrays of shape (draws, depth + 1), a row for each order.
    """
    orders = _random_orders(network, rng, draws)
    rows = [cumulative_lesions(network, params, x, labels, order) for order in orders]
    return Score(*map(np.stack, zip(*rows, strict=True)))


def shuffled_orders(network, params, x, labels, rng=0, draws=10):
    """Keep every block, but send the batch through them in a random order; arguments as in `random_lesions`.

    Returns
    -------
    Score
        Arrays of shape (draws,).
    """
    orders = _random_orders(network, rng, draws)
    return _columns([score(network, params, x, labels, order) for order in orders])


def _random_orders(network, rng, draws):
    """Draw orders of all blocks."""
    rng = _checks.generator(rng)
    return [rng.permutation(network.depth) for _ in range(_checks.integer("draws", draws, 1))]


def head_after(network, params, x, labels):
    """Read the answer early: let the network's own head read h_0, h_1, … h_depth.

    That is the same as switching off all blocks after the first, second, …, and so the last k at a time.

    Parameters
    ----------
    network, params, x, labels
        As in `single_lesions`.

    Returns
    -------
    Score
        Arrays of shape (depth + 1,).
    """
    _, h = forward_with(network, params, x)
    return _columns([_score(_read_out(params, h_l), labels) for h_l in h])


class Probes(NamedTuple):
    """Accuracy of a new linear head on h_0 … h_depth, on training and on test data: arrays of shape (depth + 1,)."""

    train: np.ndarray
    test: np.ndarray


def linear_probes(network, params, data):
    """Fit a new linear head to what leaves each block, and see how often it is right.

    A probe tells whether a line could read the classes from h_l; the network's own head (`head_after`) tells whether
    this network does.

    Parameters
    ----------
    network : Network
    params : Parameters
    data : Data
        With a test part. The probes are fitted on the training part alone.

    Returns
    -------
    Probes

    Notes
    -----
    A probe is the least-squares fit of h_l W + b to one-hot labels, and its answer the largest output.
    """
    _checks.has("data", data, ("x_train", "y_train", "x_test", "y_test"), "digits()")
    if data.x_test is None:
        raise ValueError("data must have a test part, but x_test is None; pass all four arrays.")
    probes = fit_probes(network, params, data.x_train, data.y_train)
    train = _probed(network, params, probes, "y_train", data.x_train, data.y_train)
    return Probes(train, _probed(network, params, probes, "y_test", data.x_test, data.y_test))


def fit_probes(network, params, x, labels):
    """Fit a new linear head to what leaves each block: the probes of `linear_probes` themselves.

    Parameters
    ----------
    network, params, x, labels
        As in `single_lesions`.

    Returns
    -------
    array of shape (depth + 1, width + 1, n_classes)
        Entry l reads h_l: its first rows are W, its last is b.
    """
    _, h = forward_with(network, params, x)
    targets = _one_hot(labels, len(h[0]), network.n_classes)
    return np.stack([np.linalg.lstsq(_with_ones(h_l), targets)[0] for h_l in h])


def _probed(network, params, probes, name, x, labels):
    """How often each probe is right: an array of shape (depth + 1,)."""
    _, h = forward_with(network, params, x)
    labels = _checks.labels(name, labels, len(h[0]), network.n_classes)
    return np.array([((_with_ones(h_l) @ W).argmax(axis=1) == labels).mean() for h_l, W in zip(h, probes, strict=True)])


def _with_ones(h):
    """Put a column of ones behind h, for b."""
    return np.column_stack([h, np.ones(len(h))])
