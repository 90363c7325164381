"""Train a network: mini-batches, a history per epoch, and a way to watch and to stop."""

import time
from dataclasses import dataclass

import numpy as np

from highway_lessons import _checks
from highway_lessons.datasets import Data
from highway_lessons.functions import cross_entropy
from highway_lessons.network import Network, Parameters, Workspace
from highway_lessons.optimizers import Adam


@dataclass(frozen=True)
class Fit:
    """What `fit` returns.

    Attributes
    ----------
    params : Parameters
        The numbers after the last update.
    history : dict of list
        Per finished epoch, one entry each: "train_loss" and "train_accuracy" (means over the epoch's examples, each
        measured just before the update it causes), "last_batch_loss" (the same for the epoch's last mini-batch),
        "test_loss" and "test_accuracy" (after the epoch; absent without test data), "seconds" (since the start).
        Losses are in nats, accuracies in 0 … 1.
    stopped : str or None
        Why training ended before its last epoch, in one sentence; None if it did not.
    """

    params: Parameters
    history: dict
    stopped: str | None


@np.errstate(over="ignore", invalid="ignore")  # a loss that is no longer finite is told in words, not in warnings
def fit(
    network,
    data,
    *,
    optimiser=None,
    epochs=30,
    batch_size=64,
    rng=0,
    initialiser="uniform",
    dtype=np.float64,
    params=None,
    progress=None,
    stop=None,
):
    """Train `network` on mini-batches of shuffled data; the last, shorter batch of an epoch is kept.

    Parameters
    ----------
    network : Network
    data : Data
        See `highway_lessons.datasets`; `x_test` and `y_test` may be None.
    optimiser : SGD or Adam, default Adam()
    epochs : int
        Passes over the training data, at least 0.
    batch_size : int
        Examples per update, at least 1.
    rng : int or numpy.random.Generator
        Draws the starting values, then one permutation per epoch.
    initialiser, dtype
        As in `Network.initialise`.
    params : Parameters, optional
        Start from a copy of these instead of drawing; `initialiser` and `dtype` are then unused.
    progress : callable, optional
        Called as ``progress(done, total, history)`` after each mini-batch, with counts of mini-batches.
    stop : callable, optional
        Asked before each mini-batch, without arguments; a true answer ends the training.

    Returns
    -------
    Fit
        Also after `stop`, after Ctrl-C (KeyboardInterrupt) and when the loss is no longer finite.

    Raises
    ------
    ValueError, TypeError
        If the data do not fit the network or a number is out of its range.

    Notes
    -----
    At widths like 64 NumPy is quickest with one thread: start Python with OPENBLAS_NUM_THREADS=1, as `make` does.
    """
    rng = _checks.generator(rng)
    _checks.has("network", network, ("forward", "backward", "initialise"), "Network(Highway(), depth=10)")
    optimiser = _checks.has("optimiser", Adam() if optimiser is None else optimiser, ("start", "update"), "Adam()")
    _checks.has("data", data, Data._fields, "digits()")
    _checks.function("progress", progress)
    _checks.function("stop", stop)
    _checks.integer("epochs", epochs, 0)
    _checks.integer("batch_size", batch_size, 1)
    x, labels = _checked(network, "train", data.x_train, data.y_train)
    measured = ["train_loss", "train_accuracy", "last_batch_loss", "seconds"]
    if data.x_test is not None:
        x_test, y_test = _checked(network, "test", data.x_test, data.y_test)
        measured[3:3] = ["test_loss", "test_accuracy"]

    if params is None:
        params = network.initialise(rng, initialiser, dtype)
    else:
        params = _checks.parameters(network, params).copy()
    x = x.astype(params.flat.dtype, copy=False)
    state, history, done, started = (
        optimiser.start(params.flat),
        {name: [] for name in measured},
        0,
        time.perf_counter(),
    )
    total = epochs * -(-len(x) // batch_size)
    workspaces = {}  # one for each size of mini-batch
    try:
        for epoch in range(1, epochs + 1):
            summed_loss, correct, order = 0.0, 0, rng.permutation(len(x))
            for batch in np.split(order, range(batch_size, len(x), batch_size)):
                if stop is not None and stop():
                    return Fit(params, history, f"Stopped on request in epoch {epoch}, after {done} updates.")
                if len(batch) not in workspaces:
                    workspaces[len(batch)] = _workspace(network, params, len(batch))
                work = workspaces[len(batch)]
                logits, cache = network.forward(work, x[batch])
                loss, dlogits = cross_entropy(logits, labels[batch])
                if not np.isfinite(loss):
                    return Fit(params, history, _diverged("loss", loss, f"at update {done + 1}", epoch))
                gradients, _ = network.backward(work, cache, dlogits)
                optimiser.update(params.flat, gradients.flat, state)
                summed_loss += loss * len(batch)
                correct += int((logits.argmax(axis=1) == labels[batch]).sum())
                done += 1
                if progress is not None:
                    progress(done, total, history)
            record = {
                "train_loss": summed_loss / len(x),
                "train_accuracy": correct / len(x),
                "last_batch_loss": loss,
            }
            if data.x_test is not None:
                record["test_loss"], record["test_accuracy"] = network.evaluate(params, x_test, y_test)
                if not np.isfinite(record["test_loss"]):
                    return Fit(
                        params, history, _diverged("test loss", record["test_loss"], f"after update {done}", epoch)
                    )
            record["seconds"] = time.perf_counter() - started
            for name, value in record.items():
                history[name].append(value)
    except KeyboardInterrupt:
        return Fit(
            params, history, f"Interrupted by the keyboard after {done} updates; what was learned so far is kept."
        )
    return Fit(params, history, None)


def _workspace(network, params, batch):
    """Return arrays for training steps on `batch` examples; `params` itself for something else than our `Network`."""
    if not isinstance(network, Network):
        return params
    return Workspace(params, network.zeros(params.flat.dtype), batch)


def _diverged(name, value, where, epoch):
    """Say why training ends early when a loss is no longer finite."""
    return f"The {name} became {value} {where} (epoch {epoch}); lower the learning rate."


def _checked(network, part, x, labels):
    """Return training or test data as arrays, or say what is wrong with them."""
    x = _checks.finite(f"x_{part}", _checks.batch(f"x_{part}", x, network.n_in))
    return x, _checks.labels(f"y_{part}", labels, len(x), network.n_classes)
