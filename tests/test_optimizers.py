"""Optimisers against the formulas written out for one number at a time, and against results known by hand."""

import math

import numpy as np
import pytest
from engine import dtypes, quick, read_only, seeds
from hypothesis import given
from hypothesis import strategies as st

from highway_lessons import SGD, Adam
from highway_lessons.optimizers import Recorder


def run(optimiser, start, gradients):
    """The parameters after each gradient."""
    flat, path = np.array(start), []
    state = optimiser.start(flat)
    for gradient in gradients:
        optimiser.update(flat, read_only(gradient), state)
        path.append(flat.copy())
    return np.array(path)


@quick
@given(seeds, dtypes, st.floats(1e-4, 1), st.floats(0, 0.99), st.booleans(), st.floats(0.5, 1))
def test_sgd_one_number_at_a_time(seed, dtype, learning_rate, momentum, nesterov, decay):
    """The form that PyTorch documents: v ← μv + g; the step is v, or with Nesterov's momentum g + μv."""
    rng = np.random.default_rng(seed)
    start, gradients = rng.normal(size=3).astype(dtype), rng.normal(size=(6, 3)).astype(dtype)
    path = run(SGD(learning_rate, momentum, nesterov, decay), start, gradients)
    assert path.dtype == dtype
    for i in range(3):
        p, v, rate = float(start[i]), 0.0, learning_rate
        for t, g in enumerate(gradients[:, i].tolist()):
            v = momentum * v + g
            p -= rate * (g + momentum * v if nesterov else v)
            rate *= decay
            assert path[t, i] == pytest.approx(
                p, rel=1e-12 if dtype == np.float64 else 1e-4, abs=1e-5 if dtype == np.float32 else 1e-12
            )


@quick
@given(seeds, dtypes, st.floats(1e-4, 1), st.floats(0, 0.99), st.floats(0, 0.9999), st.floats(1e-10, 1e-2))
def test_adam_one_number_at_a_time(seed, dtype, learning_rate, beta1, beta2, epsilon):
    """Algorithm 1 of Kingma and Ba (2015)."""
    rng = np.random.default_rng(seed)
    start, gradients = rng.normal(size=3).astype(dtype), rng.normal(size=(6, 3)).astype(dtype)
    path = run(Adam(learning_rate, beta1, beta2, epsilon), start, gradients)
    assert path.dtype == dtype
    for i in range(3):
        p, m, v = float(start[i]), 0.0, 0.0
        for t, g in enumerate(gradients[:, i].tolist(), start=1):
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * g * g
            p -= learning_rate * (m / (1 - beta1**t)) / (math.sqrt(v / (1 - beta2**t)) + epsilon)
            assert path[t - 1, i] == pytest.approx(
                p, rel=1e-9 if dtype == np.float64 else 1e-3, abs=1e-9 if dtype == np.float64 else 1e-3
            )


@pytest.mark.parametrize("updates", [1, 4, 50])
def test_adam_with_a_learning_rate_that_falls_along_half_a_cosine(updates):
    """With a constant gradient and a tiny epsilon, each step of Adam is the learning rate itself."""
    steps = -np.diff(run(Adam(0.1, epsilon=1e-30, cosine_decay=updates), [0.0], np.ones((updates + 3, 1))).ravel())
    rates = [0.1 * (1 + math.cos(math.pi * t / updates)) / 2 for t in range(updates)]
    np.testing.assert_allclose(steps, [*rates, 0, 0, 0][1:], rtol=1e-9, atol=1e-15)


def test_adam_cosine_against_pytorch():
    import torch

    rng = np.random.default_rng(0)
    start, gradients = rng.normal(size=5), rng.normal(size=(30, 5))
    ours = run(Adam(0.03, cosine_decay=25), start, gradients[:25])
    parameter = torch.nn.Parameter(torch.tensor(start))
    adam = torch.optim.Adam([parameter], lr=0.03)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(adam, T_max=25)
    for step, gradient in enumerate(gradients[:25]):
        parameter.grad = torch.tensor(gradient)
        adam.step()
        cosine.step()
        np.testing.assert_allclose(ours[step], parameter.detach().numpy(), rtol=1e-9)


def test_sgd_by_hand():
    """Two steps with gradient 1, rate 0.1, momentum 0.5: 0.1, then 0.15; with Nesterov 0.15, then 0.175."""
    ones = np.ones((2, 1))
    np.testing.assert_allclose(run(SGD(0.1, 0.5), [0.0], ones).ravel(), [-0.1, -0.25])
    np.testing.assert_allclose(run(SGD(0.1, 0.5, nesterov=True), [0.0], ones).ravel(), [-0.15, -0.325])
    np.testing.assert_allclose(run(SGD(0.1, 0, decay=0.5), [0.0], np.ones((3, 1))).ravel(), [-0.1, -0.15, -0.175])


def test_sgd_on_a_parabola():
    """Without momentum, each step multiplies the distance to the minimum of x²/2 by 1 − rate."""
    flat = np.array([1.0])
    optimiser = SGD(0.1, momentum=0)
    state = optimiser.start(flat)
    for _ in range(20):
        optimiser.update(flat, flat.copy(), state)
    assert flat[0] == pytest.approx(0.9**20)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_adam_moves_by_its_learning_rate_whatever_the_size_of_a_steady_gradient(size):
    path = run(Adam(1e-3, epsilon=1e-20), [0.0], np.full((5, 1), size))
    np.testing.assert_allclose(path.ravel(), -1e-3 * np.arange(1, 6), rtol=1e-9)


def test_gradients_far_below_epsilon_stand_still():
    """The reason why a deep stack with bias 0 does not train with the usual epsilon."""
    tiny = np.full((10, 1), 1e-15)
    assert abs(run(Adam(1e-3, epsilon=1e-8), [0.0], tiny)[-1, 0]) < 1e-9
    assert run(Adam(1e-3, epsilon=1e-30), [0.0], tiny)[-1, 0] == pytest.approx(-1e-2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("optimiser", [SGD(), SGD(nesterov=True), Adam()], ids=repr)
def test_zero_gradients_move_nothing(optimiser, dtype):
    start = np.arange(3, dtype=dtype)
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(run(optimiser, start, np.zeros((3, 3), dtype))[-1], start)


def test_an_epsilon_that_float32_cannot_use_is_refused():
    """There the square of a gradient of 1e-23 is 0, and dividing by 1e-30 would throw the parameters away."""
    Adam(epsilon=1e-30).start(np.zeros(2))
    with pytest.raises(ValueError, match=r"epsilon in float32 must be at least 1\.08\S+, but 1e-30 came"):
        Adam(epsilon=1e-30).start(np.zeros(2, np.float32))


@pytest.mark.parametrize("optimiser", [SGD(), Adam()], ids=repr)
def test_two_trainings_with_one_optimiser_do_not_disturb_each_other(optimiser):
    rng = np.random.default_rng(0)
    gradients, others = rng.normal(size=(2, 5, 3))
    alone = run(optimiser, np.zeros(3), gradients)
    flat, other = np.zeros(3), np.ones(3)
    state, other_state = optimiser.start(flat), optimiser.start(other)
    for gradient, other_gradient in zip(gradients, others, strict=True):
        optimiser.update(flat, gradient, state)
        optimiser.update(other, other_gradient, other_state)
    np.testing.assert_array_equal(flat, alone[-1])


def test_numbers_from_numpy_become_plain():
    """So that float32 stays float32 at full speed, and a printed optimiser reads well."""
    assert repr(Adam(np.float64(0.01))) == repr(Adam(0.01))
    assert repr(SGD(np.float32(0.5))) == repr(SGD(0.5))


def test_recorder_keeps_copies_and_changes_nothing():
    gradients = np.random.default_rng(0).normal(size=(7, 3))
    recorder = Recorder(Adam(0.1), every=3)
    path = run(recorder, np.zeros(3), gradients)
    np.testing.assert_array_equal(path, run(Adam(0.1), np.zeros(3), gradients))
    np.testing.assert_array_equal(recorder.kept, [np.zeros(3), path[2], path[5]])
    assert Recorder(Adam(), every=1).kept == []
