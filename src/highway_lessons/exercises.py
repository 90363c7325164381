"""Checks for the exercises: each says what is wrong with an answer, not only that it is."""

import functools
import math
from dataclasses import dataclass

import numpy as np

from highway_lessons import _checks
from highway_lessons.blocks import Highway, NaiveResidual
from highway_lessons.functions import sigmoid
from highway_lessons.gradients import (
    check_gradients,
    effective_rank,
    end_to_end_jacobian,
    over_seeds,
    profile,
    tau,
)
from highway_lessons.network import Network


@dataclass(frozen=True)
class Verdict:
    """A check's answer: true or false in an `if`, one sentence in a notebook."""

    right: bool
    sentence: str

    def __bool__(self):
        return self.right

    def __repr__(self):
        return f"{'Right' if self.right else 'Not yet'}: {self.sentence}"


def given(answer, check=_checks.real, name="your answer"):
    """Return a learner's answer as `check` gives it, a finite float, or a `Verdict` that says why it is none."""
    if isinstance(answer, Verdict):
        return answer
    if isinstance(answer, np.ndarray) and answer.ndim == 0:
        answer = answer.item()
    if answer is None:
        return Verdict(False, "put your answer in place of None and run the cell again.")
    try:
        return check(name, answer)
    except (TypeError, ValueError) as error:
        return Verdict(False, str(error))


def given_by(function, signature, *arguments):
    """Return what a learner's function gives, or a `Verdict` that says why it gives nothing."""
    if not callable(function):
        return Verdict(False, f"a function {signature} is expected, but {function!r} came.")
    try:
        answer = function(*arguments)
    except Exception as error:  # a learner's function may fail in any way
        return Verdict(False, f"your function stopped with {type(error).__name__}: {error}")
    return Verdict(False, "let the function return its result in place of None.") if answer is None else answer


def number(answer, expected, tolerance, hint, mistakes=(), shown=".3g"):
    """Check one number.

    Parameters
    ----------
    answer : object
        What the learner gives; None means no answer yet.
    expected, tolerance : float
        The right value and the largest accepted distance from it.
    hint : str
        What to think of when the answer is wrong in no known way.
    mistakes : sequence of (float, str)
        Values that known mistakes lead to, each with the sentence that explains it.
    shown : str
        Format of the right value when the answer is right.

    Returns
    -------
    Verdict
    """
    answer = given(answer)
    if isinstance(answer, Verdict):
        return answer
    if math.isclose(answer, expected, rel_tol=0, abs_tol=tolerance):
        return Verdict(True, f"{expected:{shown}}.")
    for value, explanation in mistakes:
        if math.isclose(answer, value, rel_tol=0, abs_tol=tolerance):
            return Verdict(False, explanation)
    return Verdict(False, f"{answer:.3g} is too {'large' if answer > expected else 'small'}. {hint}")


# The template chapter


def check_half_life(blocks):
    """Blocks after which half of a signal is left at gate bias −2."""
    return number(
        blocks,
        math.log(2) / math.log1p(math.exp(-2)),
        0.1,
        "What is left is exp(−L · 0.127); set it to 1/2 and take the logarithm.",
        [(50 / 2, "each block loses a share of what is *left*, so the losses do not simply add up to one half.")],
    )


def check_half_bias(gate_bias):
    """Gate bias at which half of a signal survives 50 blocks."""
    share = 2 ** (-1 / 50)
    return number(
        gate_bias,
        math.log((1 - share) / share),
        0.01,
        "A smaller bias closes the gates, and more is left.",
        [
            (math.log(share / (1 - share)), "that bias has the right size and the wrong sign: it opens the gates."),
            (1 - share, "that is the gate T; its bias is the log-odds of it, ln(T / (1 − T))."),
        ],
    )


def check_bias_for_tau_one(bias_for):
    """A function of the depth whose gate bias gives τ = 1."""
    for depth in (1, 3, 50, 1000):
        gate_bias = given(given_by(bias_for, "bias_for(depth)", depth))
        if isinstance(gate_bias, Verdict):
            return gate_bias
        if not math.isclose(tau(gate_bias, depth), 1, abs_tol=1e-6):
            return Verdict(
                False, f"at depth {depth} your bias is {gate_bias:.4g}, which gives τ = {tau(gate_bias, depth):.4g}."
            )
    return Verdict(True, "τ = 1 at depth 1, 3, 50 and 1000.")


def check_share_under_he(times):
    """Measured share over e^(−τ), gate bias −2, depth 50, He initialisation, mean over seeds 0 to 4."""
    dh = profile(Highway(-2.0), 50, range(5), batch=32, initialiser="he").dh
    shares = dh[:, 0] / dh[:, -1]
    return number(
        times,
        shares.mean() / math.exp(-tau(-2.0, 50)),
        0.1,
        "Divide the mean of dh[:, 0] / dh[:, −1] over the five seeds by exp(−τ).",
        [(shares.mean(), "that is the share itself; divide it by exp(−τ).")],
    )


# Chapter 1: one highway layer


def check_carry_bias(bias):
    """Bias of a *carry* gate σ(bias) that starts like a highway layer with gate bias −2."""
    return number(
        bias,
        2.0,
        0.01,
        f"The carry gate must start at 1 − σ(−2) = {1 - sigmoid(-2):.3f}, where its bias is all that counts.",
        [(-2.0, "this gate multiplies the *input*: at −2 it carries only 0.119 of it, so turn the sign round.")],
    )


def check_start_bias(gate_bias):
    """Gate bias at which a gate starts at T = 0.01, where x = 0."""
    log_odds = math.log(0.01 / 0.99)
    return number(
        gate_bias,
        log_odds,
        0.005,
        "The bias is the log-odds of T, ln(T / (1 − T)).",
        [
            (-log_odds, "the right size with the wrong sign: this gate starts at 0.99, almost all transform."),
            (math.log(0.01), "you took ln T; the log-odds divide T by 1 − T first."),
            (log_odds / math.log(10), "that is the logarithm to base 10; the sigmoid needs the natural one."),
            (0.01 / 0.99, "those are the odds; the bias is their logarithm."),
        ],
    )


def check_stack_bias(gate_bias):
    """Gate bias with which a stack of 50 highway layers carries the share 1/e."""
    exact = math.log(math.expm1(1 / 50))
    return number(
        gate_bias,
        exact,
        0.004,
        "50 · ln(1 + e^b) must be 1: a smaller bias closes the gates, and more is carried.",
        [
            (-exact, "the right size with the wrong sign: these gates are open and carry almost nothing."),
            (-math.log(50), "close: that is the rule of thumb b = −ln L, which takes ln(1 + e^b) for e^b."),
            (math.exp(1 / 50) - 1, "that is e^b; take its logarithm."),
            (1 / 50, "that is what ln(1 + e^b) must be; solve it for b."),
        ],
        shown=".3f",
    )


def check_uncoupled(mix):
    """A function mix(x, H, T, C) that mixes with separate gates, all arrays of shape (batch, width)."""
    rng = np.random.default_rng(0)
    x, H = rng.normal(size=(2, 5, 4))
    T, C = rng.uniform(size=(2, 5, 4))
    inputs = [x.copy(), H.copy(), T.copy(), C.copy()]
    y = given(given_by(mix, "mix(x, H, T, C)", *inputs), _checks.floats, "y")
    if isinstance(y, Verdict):
        return y
    if np.shape(y) != x.shape:
        return Verdict(
            False, f"y has shape {np.shape(y)}, but one number per example and unit, {x.shape}, is expected."
        )
    if not all(np.array_equal(old, new) for old, new in zip((x, H, T, C), inputs, strict=True)):
        return Verdict(False, "your function writes into the arrays it is given; compute a new one.")
    if np.allclose(y, H * T + x * C):
        return Verdict(True, "with C = 1 − T it is a highway layer, with T = C = 1 it gives x + H.")
    mistakes = [
        (H * T + x * (1 - T), "it never uses C: this is still the coupled layer."),
        (H * C + x * T, "the gates are exchanged: T belongs to the transform H, C to the input x."),
        (H * T + x, "the input goes in whole; multiply x by C."),
        (H + x * C, "the transform goes in whole; multiply H by T."),
        (H * (1 - C) + x * C, "it never uses T; multiply H by T, not by 1 − C."),
    ]
    for wrong, explanation in mistakes:
        if np.allclose(y, wrong):
            return Verdict(False, explanation)
    return Verdict(False, "y is not H · T + x · C, unit by unit; for x = 1, H = 2, T = 0.5, C = 0.25 it must be 1.25.")


# Chapter 2: backpropagate through a gate


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


# Chapter 3: measure the gradient


def check_blocks_to_a_millionth(blocks):
    """Plain ReLU blocks with N(0, 1/n) weights after which the mean square is a millionth of its start."""
    return number(
        blocks,
        math.log(1e6, 2),
        0.5,
        "Each block multiplies the mean square by 1/2: solve (1/2)^blocks = 1e-6.",
        [
            (2 * math.log(1e6, 2), "that is for the length; its square, the mean square, falls twice as fast."),
            (math.log(1e6, 6), "1/6 is the gain of the uniform recipe; N(0, 1/n) has gain 1/2."),
        ],
    )


def check_growth_per_block(growth):
    """Factor per block by which the signal from above grows on its way down 50 naive residual blocks."""
    growth = given(growth)
    if isinstance(growth, Verdict):
        return growth
    total = growth_over_50_blocks()
    return number(
        growth,
        total ** (1 / 50),
        0.01,
        "Take ‖∂L/∂h_0‖ / ‖∂L/∂h_50‖ of each seed, then its geometric mean, then the 50th root.",
        [
            (total ** (-1 / 50), "that is the other way round, from the bottom to the top; the signal travels down."),
            (total, "that is the growth over all 50 blocks; per block it is the 50th root."),
        ],
    )


@functools.cache
def growth_over_50_blocks():
    """Measure the growth of the signal from above through 50 naive residual blocks, geometric mean over ten seeds."""
    dh = profile(NaiveResidual(), 50).dh
    return over_seeds(dh[:, 0] / dh[:, -1])[1]


def check_zero_bias_exponent(exponent):
    """The e in 6^e: how many times a 1-block net's weight gradients those of a 50-block net are; plain, biases 0."""
    return number(
        exponent,
        -49 / 2,
        0.01,
        "l − 1 blocks lie below block l and 50 − l above it; each multiplies a length by 6 to the power −1/2.",
        [
            (49 / 2, "the size is right, but the gradient becomes smaller: the exponent is negative."),
            (-49, "that is for the square of the gradient; its norm has half the exponent."),
            (
                -25,
                "count 49 blocks, not 50: the signals come from the blocks below and above, not from the block itself.",
            ),
            (-50, "that is for the square, and counts 50 blocks; only the 49 others shrink the two signals."),
        ],
    )


def check_bias_for_he(gate_bias):
    """Largest whole gate bias with which He-initialised highway stacks of 50 blocks keep effective rank 32 or more."""
    gate_bias = given(gate_bias)
    if isinstance(gate_bias, Verdict):
        return gate_bias
    if gate_bias != round(gate_bias):
        return Verdict(False, f"a whole number is expected, but {gate_bias:g} came.")
    if not -20 <= gate_bias <= 5:
        return Verdict(False, f"{gate_bias:g} is far outside the range of interest; try whole numbers from −8 to 0.")
    here, above = (mean_effective_rank(Highway(bias), "he") for bias in (gate_bias, gate_bias + 1))
    if here < 32:
        return Verdict(
            False, f"at {gate_bias:g} the mean effective rank is {here:.1f}, below 32; close the gates further."
        )
    if above >= 32:
        return Verdict(
            False, f"{gate_bias:g} does ({here:.1f}), but so does {gate_bias + 1:g} ({above:.1f}); go on upwards."
        )
    return Verdict(True, f"effective rank {here:.1f} at {gate_bias:g}, and only {above:.1f} at {gate_bias + 1:g}.")


@functools.cache
def mean_effective_rank(block, initialiser="uniform", depth=50, seeds=range(10), width=64):
    """Mean effective rank of the end-to-end Jacobian at one random example per seed."""
    ranks = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        network = Network(block, depth, width, n_in=width)
        params = network.initialise(rng, initialiser)
        jacobian = end_to_end_jacobian(network, params, rng.normal(size=width))
        ranks.append(effective_rank(np.linalg.svd(jacobian, compute_uv=False)))
    return float(np.mean(ranks))
