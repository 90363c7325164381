"""The job that every contestant does, and how it is timed.

Train 50 highway blocks of width 64 (input 64, 10 classes, gate bias −2) on the digits: Adam at 1e-3 on batches of 64,
the short last one included. A contestant is a script with a function `train(epochs, data)`, which starts anew from seed
0, trains, and returns the logits of the test images; it hands this function to `run`.
"""

import json
import os
import time

import numpy as np
import psutil
from threadpoolctl import threadpool_info

from highway_lessons.datasets import Data, digits

DEPTH, WIDTH, BATCH, CLASSES = 50, 64, 64, 10
GATE_BIAS, LEARNING_RATE = -2.0, 1e-3
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def batches(n, rng):
    """Return one epoch as a list of index arrays: a new order, in pieces of 64; the last piece is shorter."""
    return np.split(rng.permutation(n), range(BATCH, n, BATCH))


def uniform(rng, n_in, *shape):
    """Draw from U(−1/√n_in, 1/√n_in), as the course's uniform initialiser does."""
    return rng.uniform(-1, 1, shape) / np.sqrt(n_in)


def run(train, dtype=np.float32):
    """Time the first epoch of a cold process, then a whole training in the warm one; print both as a line of JSON.

    Compilation falls into the first epoch. "processors" is processor time by clock time: 1 for a single thread.
    """
    data = Data(*(part.astype(dtype) if part.dtype == float else part for part in digits()))
    start = time.time() - psutil.Process().create_time()
    begin = time.perf_counter()
    train(1, data)
    first_epoch = time.perf_counter() - begin
    begin, processor = time.perf_counter(), time.process_time()
    logits = train(int(os.environ["BENCH_EPOCHS"]), data)
    seconds = time.perf_counter() - begin
    record = {
        "seconds": seconds,
        "start": start,
        "first_epoch": first_epoch,
        "processors": (time.process_time() - processor) / seconds,
        "megabytes": psutil.Process().memory_info().rss / 1e6,
        "test_accuracy": float((np.asarray(logits).argmax(axis=1) == data.y_test).mean()),
        "kernel": [pool["architecture"] for pool in threadpool_info() if pool["internal_api"] == "openblas"],
    }
    print(json.dumps(record), flush=True)
