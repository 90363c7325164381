"""The published figures that need a training, F6 and F7: `python -m highway_lessons.published` trains them all again.

It takes about five minutes and writes the record that the reproduction page reads.
"""

import argparse
import json
import platform
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from highway_lessons.blocks import Highway, Plain
from highway_lessons.datasets import digits
from highway_lessons.network import Network
from highway_lessons.optimizers import Adam
from highway_lessons.training import fit

RECORD = Path(__file__).with_name("records") / "published_figures.json"
NUDGES = 20  # runs of the chaotic row that differ by rounding alone


class Row(NamedTuple):
    """One published training: test accuracy, and loss of the last mini-batch where it was published."""

    figure: str
    block: object
    depth: int
    accuracy: float
    loss: float | None = None


ROWS = (
    Row("F6", Plain(), 5, 0.9481, 0.012),
    Row("F6", Highway(-2.0), 5, 0.9630, 0.024),
    Row("F6", Plain(), 20, 0.3593, 1.555),
    Row("F6", Highway(-2.0), 20, 0.9500, 0.090),
    Row("F6", Plain(), 50, 0.1019, 2.303),
    Row("F6", Highway(-2.0), 50, 0.9426, 0.023),
    Row("F7", Highway(0.0), 50, 0.1000),
    Row("F7", Highway(-2.0), 50, 0.9426),
    Row("F7", Highway(-5.0), 50, 0.9611),
)

# F8: mean transform gate of each of 20 highway blocks with bias −2 on the test images, after the training of F6.
MEAN_GATES = (
    0.19, 0.16, 0.17, 0.21, 0.11, 0.15, 0.12, 0.14, 0.12, 0.07,
    0.10, 0.16, 0.11, 0.08, 0.14, 0.13, 0.11, 0.03, 0.06, 0.11,
)  # fmt: skip


def name(block):
    """Name a row's block as the tables do: "plain", or "highway (−2)" with its gate bias."""
    return f"highway ({block.gate_bias:.0f})".replace("-", "−") if isinstance(block, Highway) else "plain"


def train(block, depth, nudge=None):
    """Train one net by the published recipe: digits, seed 0, Adam at 1e-3, 30 epochs of mini-batches of 64, float64.

    Parameters
    ----------
    block : Plain or Highway
    depth : int
    nudge : int, optional
        Seed of a relative change of 1e-15 in every starting weight, to see what rounding alone can do.

    Returns
    -------
    dict of str to float
        "accuracy" on the test images, "loss" of the last mini-batch before its update, and "seconds".
    """
    network, rng = Network(block, depth), np.random.default_rng(0)
    params = network.initialise(rng)
    if nudge is not None:
        params.flat *= 1 + 1e-15 * np.random.default_rng(nudge).normal(size=params.flat.size)
    history = fit(network, digits(), optimiser=Adam(1e-3), epochs=30, batch_size=64, rng=rng, params=params).history
    return {
        "accuracy": round(history["test_accuracy"][-1], 4),
        "loss": round(history["last_batch_loss"][-1], 3),
        "seconds": round(history["seconds"][-1], 1),
    }


def record():
    """Read the record: "versions", "rows" in the order of `ROWS`, and "nudged", the chaotic row's other accuracies."""
    return json.loads(RECORD.read_text(encoding="utf8"))


def main():
    """Train every row and write the record."""
    import sklearn

    started, results = time.perf_counter(), {}
    for row in ROWS:
        key = (row.block, row.depth)
        if key not in results:  # one training serves F6 and F7
            results[key] = train(*key)
        print(row.figure, name(row.block), row.depth, results[key], flush=True)
    nudged = [train(Plain(), 20, nudge)["accuracy"] for nudge in range(NUDGES)]
    print("plain 20, nudged:", nudged)
    rows = [
        {"figure": row.figure, "block": name(row.block), "depth": row.depth, **results[row.block, row.depth]}
        for row in ROWS
    ]
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scikit-learn": sklearn.__version__}
    text = json.dumps(
        {
            "seed": 0,
            "versions": versions,
            "seconds": round(time.perf_counter() - started),
            "rows": rows,
            "nudged": nudged,
        },
        indent=1,
        ensure_ascii=False,
    )
    RECORD.write_text(text + "\n", encoding="utf8")


if __name__ == "__main__":
    about = "Train the networks of the published figures again, and write the record that the book reads."
    argparse.ArgumentParser(prog="python -m highway_lessons.published", description=about).parse_args()
    main()
