"""Starting values of a layer: `initialiser(rng, n_in, n_out)` gives W, (n_in, n_out), and b, (n_out,)."""

import numpy as np


def uniform(rng, n_in, n_out):
    """Weights *and* biases from U(−1/√n_in, 1/√n_in): the reference recipe, and PyTorch's default.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness; W is drawn first, then b.
    n_in, n_out : int
        Units that come in and go out.

    Returns
    -------
    W : array of shape (n_in, n_out)
    b : array of shape (n_out,)

    Notes
    -----
    The variance of a weight is 1 / (3 n_in), so each ReLU layer multiplies the second moment by 1/6.
    """
    bound = 1 / np.sqrt(n_in)
    return rng.uniform(-bound, bound, (n_in, n_out)), rng.uniform(-bound, bound, n_out)


def uniform_zero_bias(rng, n_in, n_out):
    """The weights of `uniform`, number for number, with biases 0: the control that shows what its biases do.

    Arguments and shapes as in `uniform`.
    """
    W, b = uniform(rng, n_in, n_out)
    return W, np.zeros_like(b)


def he(rng, n_in, n_out):
    """Weights from N(0, 2/n_in) (variance), biases 0; arguments and shapes as in `uniform`.

    Each ReLU layer keeps the second moment.

    References
    ----------
    He, Zhang, Ren and Sun (2015), arXiv 1502.01852.
    """
    return rng.normal(0, np.sqrt(2 / n_in), (n_in, n_out)), np.zeros(n_out)


def normal(rng, n_in, n_out):
    """Weights from N(0, 1/n_in) (variance), biases 0; arguments and shapes as in `uniform`.

    Each ReLU layer halves the second moment.

    References
    ----------
    LeCun, Bottou, Orr and Müller (1998), "Efficient BackProp".
    """
    return rng.normal(0, np.sqrt(1 / n_in), (n_in, n_out)), np.zeros(n_out)


def orthogonal(rng, n_in, n_out):
    """Weights with orthonormal rows or columns, drawn uniformly, biases 0; arguments and shapes as in `uniform`.

    References
    ----------
    Saxe, McClelland and Ganguli (2014), arXiv 1312.6120.
    """
    q, r = np.linalg.qr(rng.normal(size=(max(n_in, n_out), min(n_in, n_out))))
    q *= np.sign(np.diag(r))  # without this the draw is not uniform
    return (q if n_in >= n_out else q.T), np.zeros(n_out)


INITIALISERS = {
    "uniform": uniform,
    "uniform_zero_bias": uniform_zero_bias,
    "he": he,
    "normal": normal,
    "orthogonal": orthogonal,
}
