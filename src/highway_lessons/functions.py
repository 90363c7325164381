"""The functions a highway network is made of, and their derivatives.

A derivative of an activation takes the activation's *value*, which the backward pass already has.
"""

import numpy as np

from highway_lessons import _checks


def sigmoid(z, out=None):
    """Logistic sigmoid, 1 / (1 + e^(-z)), without overflow for any finite z.

    Parameters
    ----------
    z : array_like of any shape
        Pre-activation; for a gate, the log-odds of its value.
    out : array of the same shape, optional
        Where to write the result, also `z` itself. `z` is then a float array that nothing checks, and NumPy warns
        where e^(-z) overflows, unless `np.errstate` tells it not to.

    Returns
    -------
    array of the same shape
        Values in [0, 1], right to a few units in the last place; float32 stays float32, whole numbers become float64.
        Below −709 (float32: −88), where e^(-z) is beyond the type, the value is 0.

    Raises
    ------
    TypeError
        If `z` is not made of real numbers.
    """
    if out is None:
        with np.errstate(over="ignore"):
            return 1 / (1 + np.exp(-_checks.floats("z", z)))
    odds_against = np.exp(np.negative(z, out=out), out=out)
    return np.reciprocal(np.add(1, odds_against, out=out), out=out)


def sigmoid_derivative(value):
    """Slope of the sigmoid where its value is `value`: value · (1 − value), same shape."""
    return value * (1 - value)


def relu(z, out=None):
    """Rectifier, max(z, 0), elementwise; same shape as `z`, written to `out` if one is given."""
    return np.maximum(z, 0, out=out)


def relu_derivative(value, out=None):
    """Slope of the rectifier where its value is `value`: 1 above 0, else 0 (0 at the kink, as in PyTorch)."""
    out = np.empty_like(value) if out is None else out
    np.copyto(out, np.greater(value, 0))
    return out


def tanh(z, out=None):
    """Hyperbolic tangent, elementwise; same shape as `z`, written to `out` if one is given."""
    return np.tanh(z, out=out)


def tanh_derivative(value, out=None):
    """Slope of tanh where its value is `value`: 1 − value², same shape."""
    return np.subtract(1, np.square(value, out=out), out=out)


ACTIVATIONS = {"relu": (relu, relu_derivative), "tanh": (tanh, tanh_derivative)}


def log_softmax(logits):
    """Logarithm of the softmax over the last axis, by log-sum-exp: nothing overflows.

    Parameters
    ----------
    logits : array_like of shape (..., n_classes)
        Unnormalised log-probabilities, in nats.

    Returns
    -------
    array of shape (..., n_classes)
        Log-probabilities; each row's exponentials sum to 1.
    """
    logits = _checks.floats("logits", logits)
    _checks.integer("n_classes", logits.shape[-1], 1)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def softmax(logits):
    """Softmax over the last axis; shapes as in `log_softmax`."""
    return np.exp(log_softmax(logits))


def cross_entropy(logits, labels):
    """Mean softmax cross-entropy over a batch, and its gradient.

    Parameters
    ----------
    logits : array_like of shape (batch, n_classes)
        Unnormalised log-probabilities.
    labels : array_like of shape (batch,)
        The right class of each example, 0 … n_classes − 1.

    Returns
    -------
    loss : float
        Mean cross-entropy, in nats; ln(n_classes) for a uniform guess.
    dlogits : array of shape (batch, n_classes)
        Gradient of the loss: (softmax − one-hot) / batch.

    Raises
    ------
    ValueError
        If the batch is empty or `labels` are not one whole number in 0 … n_classes − 1 per example.
    """
    log_p = log_softmax(_checks.batch("logits", logits))
    rows = np.arange(len(log_p))
    labels = _checks.labels("labels", labels, *log_p.shape)
    dlogits = np.exp(log_p)
    dlogits[rows, labels] -= 1
    dlogits /= len(log_p)
    return -float(log_p[rows, labels].mean()), dlogits
