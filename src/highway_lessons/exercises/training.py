"""Training from five to a hundred layers."""

import functools
import math

import numpy as np

from highway_lessons import _checks, studies
from highway_lessons.blocks import NaiveResidual
from highway_lessons.datasets import digits
from highway_lessons.exercises.verdict import Verdict, given, given_by, number
from highway_lessons.network import Network
from highway_lessons.optimizers import Adam
from highway_lessons.training import fit


def check_cost_of_guessing(loss):
    """Cross-entropy, in nats, of a network that tells the two arms of the spirals apart by guessing."""
    return number(
        loss,
        math.log(2),
        0.006,
        "A guess gives each of two arms the probability 1/2; the loss is minus the natural logarithm of that.",
        [
            (-math.log(2), "the right size, but a loss is *minus* a logarithm: positive."),
            (math.log(10), "that is the cost of guessing among ten classes; spirals have two arms."),
            (1.0, "that is the logarithm to base 2, in bits; our losses are in nats, with the natural one."),
            (0.5, "that is the *accuracy* of guessing; the loss is minus the logarithm of the probability 1/2."),
        ],
        shown=".3f",
    )


def check_deepest_plain(uniform, he):
    """Largest recorded depth at which a plain net on the digits fits 90 % of its training data with *every* seed.

    With the uniform start, and with He's.
    """
    for name, start, answer in (("uniform", "uniform", uniform), ("he", "He", he)):
        answer = given(answer, name=f"the depth with {start} weights")
        if isinstance(answer, Verdict):
            return answer
        low = plain_training_accuracy(name)
        if answer not in low:
            return Verdict(False, f"{start}: the recorded depths are {', '.join(map(str, low))}, but {answer:g} came.")
        fitting = [depth for depth, (worst, _) in low.items() if worst >= 0.9]
        right, (worst, best) = max(fitting), low[answer]
        if answer == right:
            continue
        if worst >= 0.9:
            return Verdict(False, f"{start}: {answer:g} blocks do it, but so do more; go on upwards.")
        if best >= 0.9:
            return Verdict(
                False,
                f"{start}: at {answer:g} blocks the best seed fits {100 * best:.1f} %, but the worst only "
                f"{100 * worst:.1f} %; every seed is asked for.",
            )
        return Verdict(
            False, f"{start}: at {answer:g} blocks even the best of five seeds fits only {100 * best:.1f} %."
        )
    return Verdict(True, f"{uniform:g} blocks with the uniform start, {he:g} with He's: the same block, another start.")


@functools.cache
def plain_training_accuracy(initialiser):
    """Training accuracy of the plain nets of width 64 in the study of depth: {depth: (worst seed, best seed)}."""
    plain = studies.load("depth").select(block="plain", width=64, dtype="float32", initialiser=initialiser)
    rows = np.nan_to_num(plain.array("train_accuracy", "depth"))  # a network that diverged fits nothing
    ends = zip(rows.min(axis=1).tolist(), rows.max(axis=1).tolist(), strict=True)
    return dict(zip(plain.values("depth"), ends, strict=True))


def check_test_images(images):
    """Test images at which an accuracy of 97 % is known to ±0.5 points, as a 95 % interval."""
    p = 0.97 * 0.03
    return number(
        images,
        1.96**2 * p / 0.005**2,
        220,  # 2 instead of 1.96 will do
        "Solve 1.96 · √(p (1 − p) / N) = 0.005 for N, with p = 0.97.",
        [
            (
                1.96**2 * p / 0.01**2,
                "a quarter of it: that gives ±1 point, or a half point as one standard error; the interval is 1.96 of "
                "them on either side, and half the width takes four times the images.",
            ),
            (
                540 * 1.44 / 0.5,
                "the width falls with the *root* of the number of images, so their ratio must be squared.",
            ),
            (1.96**2 * 0.25 / 0.005**2, "that takes p = 0.5, the worst case; here p = 0.97."),
        ],
        shown=".0f",
    )


def check_naive_start(start):
    """A function start(W_H, b_H, depth) -> (W_H, b_H) from which 100 naive residual blocks learn the digits."""
    network = Network(NaiveResidual(), 100)
    params = network.initialise(0, dtype=np.float32)
    for block in params.blocks:
        answer = given_by(start, "start(W_H, b_H, depth)", block["W_H"].copy(), block["b_H"].copy(), network.depth)
        if isinstance(answer, Verdict):
            return answer
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            return Verdict(False, "let the function return two arrays: W_H, b_H.")
        for name, array in zip(("W_H", "b_H"), answer, strict=True):
            array = given(array, _checks.floats, name)
            if isinstance(array, Verdict):
                return array
            if array.shape != block[name].shape or not np.isfinite(array).all():
                return Verdict(False, f"{name} must hold finite numbers in the shape {block[name].shape}, as it came.")
            block[name][:] = array
    data = digits()
    with np.errstate(over="ignore", invalid="ignore"):
        loss, gradients = network.loss_and_gradients(params, data.x_train, data.y_train)
    if not loss < 10:
        return Verdict(False, f"the first loss is still {loss:.1e}, where guessing costs 2.3; start smaller.")
    if not any(views["W_H"].any() for views in gradients.blocks):
        return Verdict(
            False,
            "no block ever learns: where its input is not above 0 a ReLU has slope 0, so not one weight in the blocks "
            "gets a gradient. Start small, not at nothing.",
        )
    run = fit(network, data._replace(x_test=None, y_test=None), optimiser=Adam(1e-3), epochs=5, rng=0, params=params)
    fitted = run.history["train_accuracy"][-1] if not run.stopped else 0.0
    if fitted < 0.85:
        return Verdict(False, f"after five epochs only {100 * fitted:.0f} % of the training images are fitted.")
    return Verdict(True, f"the first loss is {loss:.2f}, and after five epochs {100 * fitted:.0f} % are fitted.")
