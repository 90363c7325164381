"""How time and memory grow with depth, and what one point of a slider's grid costs."""

import json
import time
import tracemalloc
from statistics import median

import numpy as np

from highway_lessons import gradients
from highway_lessons.blocks import Highway, Plain, Residual
from highway_lessons.datasets import Data
from highway_lessons.functions import cross_entropy
from highway_lessons.network import Network, Workspace
from highway_lessons.training import fit

DEPTHS = (10, 20, 50, 100, 200)


def some_data(n):
    """Random images with random labels: `n` examples of 64 numbers, ten classes."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 64)).astype(np.float32), rng.integers(0, 10, n)


def seconds_by_depth(depths=DEPTHS, repeats=30):
    """Return the median seconds of one forward and backward pass, float32, batch 64, by depth."""
    x, labels = some_data(64)
    steps = {}
    for depth in depths:
        network = Network(Highway(gate_bias=-2.0), depth)
        params = network.initialise(0, dtype=np.float32)
        steps[depth] = network, Workspace(params, network.zeros(np.float32), len(x))
    seconds = {depth: [] for depth in depths}
    for _ in range(repeats):
        for depth, (network, work) in steps.items():  # in turn, so that a busy moment meets all depths
            begin = time.perf_counter()
            logits, cache = network.forward(work, x)
            network.backward(work, cache, cross_entropy(logits, labels)[1])
            seconds[depth].append(time.perf_counter() - begin)
    return {depth: median(times) for depth, times in seconds.items()}


def exponent(seconds):
    """Fit seconds = c · depth^k and return k; 1 means that time grows linearly."""
    return float(np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)[0])


def megabytes(depth):
    """Return the peak of the memory that one training step (one mini-batch of 64, Adam, float32) adds, in MB."""
    data = Data(*some_data(64))
    network = Network(Highway(gate_bias=-2.0), depth)
    tracemalloc.start()
    fit(network, data, epochs=1, dtype=np.float32)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def seconds_per_grid_point():
    """Return the mean seconds of a point of chapter 3's first slider: three networks, ten seeds, batch 16."""
    depths = (1, 2, 5, 10, 20, 50, 100)
    begin = time.perf_counter()
    for depth in depths:
        for block in (Plain(), Highway(gate_bias=-2.0), Residual(scale=depth**-0.5)):
            gradients.profile(block, depth, batch=16)
    return (time.perf_counter() - begin) / len(depths)


def main():
    """Measure all of this module and print it as a line of JSON."""
    seconds = seconds_by_depth()
    print(
        json.dumps(
            {
                "seconds_by_depth": seconds,
                "exponent": exponent(seconds),
                "megabytes_at_depth_1000": megabytes(1000),
                "seconds_per_grid_point": seconds_per_grid_point(),
            }
        )
    )


if __name__ == "__main__":
    main()
