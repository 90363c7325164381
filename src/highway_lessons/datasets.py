"""Data to learn from: digits and spirals."""

from typing import NamedTuple

import numpy as np

from highway_lessons import _checks


class Data(NamedTuple):
    """Training and test data: x of shape (examples, n_in), y of shape (examples,) with classes from 0.

    The test part may be None.
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray | None = None
    y_test: np.ndarray | None = None


def digits(rng=0):
    """Scikit-learn's handwritten digits, 8 × 8 pixels in [0, 1]: 1257 to train on, 540 to test.

    Parameters
    ----------
    rng : int
        Seed of the stratified split; 0 is the split of the published figures.

    Returns
    -------
    Data
        x of shape (examples, 64), y in 0 … 9.

    References
    ----------
    Alpaydin and Kaynak (1998), UCI Machine Learning Repository, through scikit-learn's load_digits.
    """
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    images, labels = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(
        images / 16, labels, test_size=0.3, random_state=rng, stratify=labels
    )
    return Data(x_train, y_train, x_test, y_test)


def spirals(turns=5, n_train=8000, n_test=4000, rng=0):
    """Two interleaved spiral arms in the plane: a task on which depth pays.

    Parameters
    ----------
    turns : float
        Times each arm winds around the origin; 5, or 7 for a harder task.
    n_train, n_test : int
        Number of points, at least 1.
    rng : int or numpy.random.Generator
        A seed, or the generator to draw from.

    Returns
    -------
    Data
        x of shape (points, 2) with entries between -2 and 2, y in {0, 1}: the arm.

    Notes
    -----
    The radius is r = √U(0.02, 1), the angle 2π (turns · r + y/2), the point 2r (cos, sin).
    """
    turns, rng = _checks.real("turns", turns, 0), _checks.generator(rng)
    n_train, n_test = _checks.integer("n_train", n_train, 1), _checks.integer("n_test", n_test, 1)
    y = rng.integers(0, 2, n_train + n_test)
    r = np.sqrt(rng.uniform(0.02, 1, len(y)))
    angle = 2 * np.pi * (turns * r + y / 2)
    x = 2 * r[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return Data(x[:n_train], y[:n_train], x[n_train:], y[n_train:])
