"""Backpropagation through a gate."""

import math

import numpy as np

from highway_lessons import _checks
from highway_lessons.exercises.verdict import Verdict, given, given_by, number
from highway_lessons.functions import sigmoid
from highway_lessons.gradients import (
    check_gradients,
)
from highway_lessons.network import Network


def check_closing_the_gate(times_W_H, times_W_T):
    """How many times smaller the gradients of W_H and W_T are at gate bias −5 than at −2, all else equal."""
    open_gate, shut_gate = float(sigmoid(-2)), float(sigmoid(-5))
    scales = {"W_H": open_gate / shut_gate, "W_T": open_gate * (1 - open_gate) / (shut_gate * (1 - shut_gate))}
    odds = (math.exp(3), "that is e³, the ratio of the *odds* T / (1 − T); take the factors themselves.")
    for (name, scale), answer in zip(scales.items(), (times_W_H, times_W_T), strict=True):
        other = scales["W_T" if name == "W_H" else "W_H"]
        mistakes = [
            (other, "the two are exchanged: T scales the gradient of W_H, T (1 − T) that of W_T."),
            (1 / scale, "that is the share that is left; how many times *smaller* is one divided by it."),
            (2.5, "that is the ratio of the biases; the gates are σ of them."),
            odds,
        ]
        verdict = number(answer, scale, 0.1, "Divide the factor at −2 by the factor at −5.", mistakes)
        if not verdict:
            return Verdict(False, verdict.sentence if answer is None else f"{name}: {verdict.sentence}")
    return Verdict(True, f"{scales['W_H']:.1f} times for W_H and {scales['W_T']:.1f} times for W_T.")


def small_network(block, seed=0):
    """Return a network of three blocks of width 6, its parameters, a batch of 8 and its labels, for gradient checks."""
    rng = np.random.default_rng(seed)
    network = Network(block, depth=3, width=6, n_in=6, n_classes=4)
    return network, network.initialise(rng), rng.normal(size=(8, 6)), rng.integers(0, 4, 8)


def check_untouched_layers(layers, block):
    """The layers of `small_network` whose own gradients stay right with a wrong `block`; finite differences decide."""
    names = ["input", "blocks.0", "blocks.1", "blocks.2", "head"]
    if layers is None or layers == set():
        return Verdict(False, "put the names into the set and run the cell again.")
    if not isinstance(layers, set | list | tuple) or not all(layer in names for layer in layers):
        return Verdict(False, f"a set of names out of {', '.join(names)} is expected, but {layers!r} came.")
    errors = check_gradients(*small_network(block))
    right = {name for name in names if all(e < 1e-7 for key, e in errors.items() if key.startswith(name))}
    layers = set(layers)
    if layers == right:
        return Verdict(
            True, "the wrong line makes dx only, so it harms what lies below the block, never the block itself."
        )
    if "blocks.2" not in layers and "blocks.2" in right:
        return Verdict(
            False,
            "blocks.2 is missing: the signal that reaches the top block is right, and its own weight gradients are "
            "made of dz and x, in which the wrong line has no part.",
        )
    if wrong := sorted(layers - right):
        return Verdict(
            False,
            f"{wrong[0]} is wrong by more than 1e-7: the signal from above has passed a wrong dx before it gets there.",
        )
    return Verdict(False, f"{sorted(right - layers)[0]} is missing: no wrong dx lies between it and the loss.")


def check_uncoupled_backward(backward):
    """A function backward(params, x, H, T, C, dy) -> (dx, dz_H, dz_T, dz_C) for y = H · T + x · C, uncoupled."""
    rng = np.random.default_rng(0)
    W = {name: rng.normal(0, 0.5, (5, 5)) for name in ("W_H", "W_T", "W_C")}
    x, dy = rng.normal(size=(2, 4, 5))
    z = {"z_H": x @ W["W_H"], "z_T": x @ W["W_T"], "z_C": x @ W["W_C"]}
    H, T, C = np.tanh(z["z_H"]), sigmoid(z["z_T"]), sigmoid(z["z_C"])
    copies = [array.copy() for array in (x, H, T, C, dy)]
    answers = given_by(backward, "backward(params, x, H, T, C, dy)", dict(W), *copies)
    if isinstance(answers, Verdict):
        return answers
    if not isinstance(answers, tuple | list) or len(answers) != 4:
        return Verdict(False, "let the function return four arrays: dx, dz_H, dz_T, dz_C.")

    def loss(x, z_H, z_T, z_C):
        return (dy * (np.tanh(z_H) * sigmoid(z_T) + x * sigmoid(z_C))).sum()

    def differences(f, at, step=1e-6):
        slope = np.empty_like(at)
        for index in np.ndindex(at.shape):
            nudge = np.zeros_like(at)
            nudge[index] = step
            slope[index] = (f(at + nudge) - f(at - nudge)) / (2 * step)
        return slope

    d_H, d_T, d_C = (differences(lambda v, name=name: loss(x, **(z | {name: v})), z[name]) for name in z)
    dx = differences(lambda v: loss(v, v @ W["W_H"], v @ W["W_T"], v @ W["W_C"]), x)
    through = {"W_H": d_H @ W["W_H"].T, "W_T": d_T @ W["W_T"].T, "W_C": d_C @ W["W_C"].T}
    mistakes = {
        "dz_H": [
            (dy * T, "the slope of tanh is missing; with the value H it is 1 − H²."),
            (dy * (1 - H**2), "the factor T is missing: y holds H · T."),
        ],
        "dz_T": [
            (
                dy * (H - x) * T * (1 - T),
                "H − x belongs to coupled gates; here T multiplies H alone, so the factor is H.",
            ),
            (dy * H, "the slope of the sigmoid, T (1 − T), is missing."),
        ],
        "dz_C": [
            (-d_C, "the sign is wrong: C is a gate of its own, and y grows with it where x > 0."),
            (dy * x, "the slope of the sigmoid, C (1 − C), is missing."),
            (dy * x * T * (1 - T), "that is the slope of T; the gate C has its own, C (1 − C)."),
        ],
        "dx": [
            (dy * C, "that is the carry term alone; x also moves H, T and C."),
            (dx - through["W_C"], "the route through the gate C is missing: dz_C @ W_C.T."),
            (dx - through["W_T"], "the route through the gate T is missing: dz_T @ W_T.T."),
            (dx - through["W_H"], "the route through the transform is missing: dz_H @ W_H.T."),
            (dx - dy * C, "the carry term is missing: dy * C."),
            (dx - dy * C + dy * (1 - T), "the carry term is dy * C: nothing ties C to 1 − T any more."),
            (
                dy * C + d_H @ W["W_H"] + d_T @ W["W_T"] + d_C @ W["W_C"],
                "the weights must be transposed on the way back, W.T; square matrices do not complain.",
            ),
        ],
    }
    expected = {"dz_H": d_H, "dz_T": d_T, "dz_C": d_C, "dx": dx}
    answers = dict(zip(("dx", "dz_H", "dz_T", "dz_C"), answers, strict=True))
    for name, right in expected.items():
        answer = answers[name]
        if answer is None:
            return Verdict(False, f"{name} is still None; put your formula in its place.")
        answer = given(answer, _checks.floats, name)
        if isinstance(answer, Verdict):
            return answer
        if np.shape(answer) != right.shape:
            return Verdict(
                False,
                f"{name} has shape {np.shape(answer)}, but one number per example and unit, {right.shape}, is due.",
            )
        if np.allclose(answer, right, atol=1e-7):
            continue
        for wrong, explanation in mistakes[name]:
            if np.allclose(answer, wrong, atol=1e-7):
                return Verdict(False, f"{name}: {explanation}")
        worst = abs(answer - right).max()
        return Verdict(False, f"{name} differs from finite differences by up to {worst:.2g}; derive that line again.")
    return Verdict(True, "all four agree with finite differences, to better than 1e-7.")


def check_best_step(best_step):
    """A function of the machine epsilon that returns the best step of a central difference."""
    epsilons = (float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps))
    steps = []
    for epsilon in epsilons:
        step = given(given_by(best_step, "best_step(epsilon)", epsilon))
        if isinstance(step, Verdict):
            return step
        if step <= 0:
            return Verdict(False, f"the step must be positive, but {step:.3g} came.")
        steps.append(step)
    power = math.log(steps[1] / steps[0]) / math.log(epsilons[1] / epsilons[0])
    if abs(power - 1 / 2) < 0.02:
        return Verdict(
            False, "the square root of epsilon suits a *one-sided* difference, whose cut-off error grows like step."
        )
    if abs(power - 1) < 0.02:
        return Verdict(False, "a step of that size is lost in rounding: value + step is barely another number.")
    if abs(power - 1 / 3) > 0.02:
        return Verdict(
            False, f"your step grows like epsilon to the power {power:.2f}; set the derivative of the total error to 0."
        )
    factor = steps[0] / epsilons[0] ** (1 / 3)
    if not 0.3 < factor < 3:
        return Verdict(False, f"the power is right, but the factor in front, {factor:.2g}, should be near 1.")
    return Verdict(True, f"about {steps[0]:.0e} in float64 and {steps[1]:.0e} in float32.")
