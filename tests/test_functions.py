"""Functions and their derivatives: nothing overflows, no warning, types as promised."""

import warnings

import numpy as np
import pytest
from engine import batches, finite_differences, odd_forms, quick, seeds, thorough, widths
from hypothesis import given
from hypothesis import strategies as st

from highway_lessons.functions import (
    cross_entropy,
    log_softmax,
    relu,
    relu_derivative,
    sigmoid,
    sigmoid_derivative,
    softmax,
    tanh,
    tanh_derivative,
)


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise", divide="raise"):
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int16, list])
def test_sigmoid_at_its_extremes(dtype):
    z = [-1000, 0, 1000] if dtype is list else np.array([-1000, 0, 1000], dtype)
    value = sigmoid(z)
    assert value.tolist() == [0, 0.5, 1]
    assert value.dtype == (np.float32 if dtype is np.float32 else np.float64)


@pytest.mark.parametrize("z", [0, 0.0, np.array(0.0), np.float32(0), True - 1])
def test_sigmoid_of_a_scalar(z):
    assert sigmoid(z) == 0.5
    assert np.shape(sigmoid(z)) == ()
    assert sigmoid(np.array(-1000.0)) == 0


@thorough
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_sigmoid_is_symmetric_and_stays_between_0_and_1(z):
    assert 0 <= sigmoid(z) <= 1
    assert sigmoid(z) + sigmoid(-z) == pytest.approx(1, abs=1e-15)
    assert sigmoid(z) == pytest.approx((1 + np.tanh(z / 2)) / 2, abs=1e-15)


@quick
@given(st.floats(-700, -30))
def test_a_nearly_shut_gate_keeps_its_relative_precision(z):
    assert sigmoid(z) == pytest.approx(np.exp(z), rel=1e-12)


def test_relu_has_slope_0_at_0():
    assert relu(np.array([-1.0, 0, 2])).tolist() == [0, 0, 2]
    assert relu_derivative([-1, 0, 2]).tolist() == [0, 0, 1]
    assert relu_derivative(np.zeros(3, np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("f", "slope"), [(sigmoid, sigmoid_derivative), (tanh, tanh_derivative), (relu, relu_derivative)]
)
@pytest.mark.parametrize("z", [-3.0, -0.7, -0.01, 0.02, 0.9, 4.0])
def test_a_derivative_takes_the_value_and_gives_the_slope(f, slope, z):
    assert slope(f(z)) == pytest.approx((f(z + 1e-6) - f(z - 1e-6)) / 2e-6, rel=1e-7, abs=1e-9)


def test_softmax_of_large_and_far_apart_rows():
    np.testing.assert_allclose(softmax([[0, 1], [-2000, -1999]]), [[0.26894142, 0.73105858]] * 2, atol=5e-9)
    four = [0.0320586, 0.08714432, 0.23688282, 0.64391426]
    np.testing.assert_allclose(softmax([[0, 1, 2, 3], [10000, 10001, 10002, 10003]]), [four] * 2, atol=5e-9)
    np.testing.assert_allclose(softmax([0, 1, 2, 3]), four, atol=5e-9)


@quick
@given(batches, widths, seeds, st.floats(-1e6, 1e6))
def test_softmax_sums_to_1_and_ignores_a_shift(batch, n, seed, shift):
    logits = np.random.default_rng(seed).normal(0, 5, (batch, n))
    np.testing.assert_allclose(softmax(logits).sum(axis=1), 1, rtol=1e-13)
    np.testing.assert_allclose(softmax(logits + shift), softmax(logits), rtol=1e-8)
    np.testing.assert_allclose(np.exp(log_softmax(logits)), softmax(logits), rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cross_entropy_of_huge_logits(dtype):
    """Where the softmax is 0 to every digit, the loss is still the distance of the logits."""
    loss, dlogits = cross_entropy(np.array([[0, 5000], [1e30, 0]], dtype), [0, 0])
    assert loss == 2500
    assert dlogits.tolist() == [[-0.5, 0.5], [0, 0]]
    assert dlogits.dtype == dtype


def test_cross_entropy_of_a_guess_is_the_logarithm_of_the_number_of_classes():
    assert cross_entropy(np.zeros((4, 10)), [0, 1, 2, 3])[0] == pytest.approx(np.log(10), rel=1e-15)
    assert type(cross_entropy(np.zeros((4, 10), np.float32), [0, 1, 2, 3])[0]) is float


@quick
@given(batches, st.integers(1, 6), seeds)
def test_gradient_of_cross_entropy(batch, n_classes, seed):
    rng = np.random.default_rng(seed)
    logits, labels = rng.normal(0, 3, (batch, n_classes)), rng.integers(0, n_classes, batch)
    loss, dlogits = cross_entropy(logits, labels)
    by_hand = [-np.log(np.exp(row[k]) / np.exp(row).sum()) for row, k in zip(logits, labels, strict=True)]
    assert loss == pytest.approx(np.mean(by_hand), rel=1e-10, abs=1e-14)
    slopes = finite_differences(lambda: (cross_entropy(logits, labels)[0], []), logits)
    np.testing.assert_allclose(dlogits, slopes, atol=1e-8)


@pytest.mark.parametrize("labels", [[0, 1, 1], np.array([0, 1, 1], np.uint8), [0.0, 1.0, 1.0], [False, True, True]])
def test_every_documented_form_of_labels_gives_the_same(labels):
    logits = np.array([[1.0, 2], [3, -1], [0, 0]])
    loss, dlogits = cross_entropy(logits, labels)
    expected, dexpected = cross_entropy(logits, np.array([0, 1, 1]))
    assert loss == expected
    np.testing.assert_array_equal(dlogits, dexpected)


def test_odd_forms_of_logits():
    logits = np.tile([[3.0, -1, 2]], (2, 1))
    expected, dexpected = cross_entropy(logits, [0, 2])
    for form, odd in odd_forms(logits):
        loss, dlogits = cross_entropy(odd, [0, 2])
        assert loss == pytest.approx(expected, rel=1e-6 if form == "float32" else 1e-14), form
        np.testing.assert_allclose(dlogits, dexpected, rtol=1e-6, err_msg=form)
