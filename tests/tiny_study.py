"""Small studies for the tests, in a module of their own so that worker processes find them.

``python tests/tiny_study.py run tiny --records FOLDER`` is the command line of the studies, with these.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

from highway_lessons import SGD, Highway, Network, spirals
from highway_lessons.studies.__main__ import main
from highway_lessons.studies.study import Study
from highway_lessons.studies.trainings import train


def tiny(depth, learning_rate, seed, *, epochs):
    """Do small networks learn small spirals?

    It decides nothing. A surprise would be a rate of 1e300 that trains.
    """
    hold()
    data = spirals(turns=1, n_train=512, n_test=64, rng=seed)
    return train(
        Network(Highway(-1.0), depth, width=8, n_in=2, n_classes=2),
        data,
        seed,
        optimiser=SGD(learning_rate),
        epochs=epochs,
        batch_size=64,
        initialiser="uniform",
        dtype="float64",
        curves=depth == 1,
    )[0]


def hold():
    """From the 15th point on, wait up to a minute while the file exists that the environment variable HOLD names.

    So that a test which interrupts a run finds it still running, however quick the computer is.
    """
    file = Path(os.environ.get("HOLD", "no such file"))
    if file.exists():
        with file.open("a", encoding="utf8") as begun:
            begun.write("+")
        waited = 0
        while file.exists() and len(file.read_text(encoding="utf8")) > 14 and waited < 600:
            time.sleep(0.1)
            waited += 1


def where(seed):
    """Where does a point run, and with how many threads?"""
    from threadpoolctl import threadpool_info

    rng = np.random.default_rng(seed)
    for _ in range(30):
        rng.normal(size=(200, 200)) @ rng.normal(size=(200, 200))
    return {"process": os.getpid(), "threads": max(pool["num_threads"] for pool in threadpool_info())}


def broken(seed):
    """What becomes of a mistake?"""
    return {"result": 1 / (seed - 1)}


SEEDS = list(range(6))
STUDIES = {
    "tiny": Study(tiny, [{"depth": [1, 2], "learning_rate": [0.1, 0.3], "seed": SEEDS}], {"epochs": 40}),
    "where": Study(where, [{"seed": list(range(12))}]),
    "broken": Study(broken, [{"seed": [0, 1, 2]}]),
}

if __name__ == "__main__":
    import tiny_study  # under its own name, so that worker processes import it, too

    sys.exit(main(studies=tiny_study.STUDIES))
