"""Optimisers over one flat parameter vector: `start` makes the state, `update` changes the vector in place."""

from dataclasses import dataclass

import numpy as np

from highway_lessons import _checks


@dataclass(frozen=True)
class SGD:
    """Stochastic gradient descent with momentum.

    Parameters
    ----------
    learning_rate : float
        At least 0.
    momentum : float
        Share of the velocity that each update keeps, in [0, 1).
    nesterov : bool
        Look ahead along the velocity.
    decay : float
        Factor on the learning rate after each update (exponential decay), in (0, 1]; 1 means none.

    References
    ----------
    Sutskever, Martens, Dahl and Hinton (2013), in the form PyTorch uses.
    """

    learning_rate: float = 0.1
    momentum: float = 0.9
    nesterov: bool = False
    decay: float = 1.0

    def __post_init__(self):
        _checks.real("learning_rate", self.learning_rate, 0)
        _checks.real("momentum", self.momentum, 0, np.nextafter(1, 0))
        _checks.real("decay", self.decay, np.nextafter(0, 1), 1)

    def start(self, flat):
        """Return the state for a parameter vector of this shape and type."""
        return {"learning_rate": self.learning_rate, "velocity": np.zeros_like(flat)}

    def update(self, flat, gradient, state):
        """Take one step: change `flat`, of shape (n_parameters,), and `state` in place."""
        velocity = state["velocity"]
        velocity *= self.momentum
        velocity += gradient
        flat -= state["learning_rate"] * (gradient + self.momentum * velocity if self.nesterov else velocity)
        state["learning_rate"] *= self.decay


@dataclass(frozen=True)
class Adam:
    """Adam, with bias correction and one step counter.

    Parameters
    ----------
    learning_rate : float
        At least 0.
    beta1, beta2 : float
        Decay of the running means of the gradient and of its square, in [0, 1).
    epsilon : float
        Added to the root of the second moment, in the gradient's own unit: gradients far below it stand still.

    References
    ----------
    Kingma and Ba (2015), arXiv 1412.6980.
    """

    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def __post_init__(self):
        _checks.real("learning_rate", self.learning_rate, 0)
        _checks.real("beta1", self.beta1, 0, np.nextafter(1, 0))
        _checks.real("beta2", self.beta2, 0, np.nextafter(1, 0))
        _checks.real("epsilon", self.epsilon, 0)

    def start(self, flat):
        """Return the state for a parameter vector of this shape and type."""
        return {"step": 0, "mean": np.zeros_like(flat), "square": np.zeros_like(flat)}

    def update(self, flat, gradient, state):
        """Take one step: change `flat`, of shape (n_parameters,), and `state` in place."""
        state["step"] += 1
        mean, square = state["mean"], state["square"]
        mean += (1 - self.beta1) * (gradient - mean)
        square += (1 - self.beta2) * (gradient**2 - square)
        mean_hat = mean / (1 - self.beta1 ** state["step"])
        square_hat = square / (1 - self.beta2 ** state["step"])
        flat -= self.learning_rate * mean_hat / (np.sqrt(square_hat) + self.epsilon)
