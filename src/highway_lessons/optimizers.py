"""Optimisers over one flat parameter vector: `start` makes the state, `update` changes the vector in place.

`update` is given the same gradient array in every step: an optimiser that wants to keep a gradient copies it.
"""

import math
from dataclasses import dataclass, field

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
        _checks.keep(
            self,
            learning_rate=_checks.real("learning_rate", self.learning_rate, 0),
            momentum=_checks.real("momentum", self.momentum, 0, below=1),
            nesterov=_checks.flag("nesterov", self.nesterov),
            decay=_checks.real("decay", self.decay, maximum=1, above=0),
        )

    def start(self, flat):
        """Return the state for a parameter vector of this shape and type."""
        return {
            "learning_rate": self.learning_rate,
            "velocity": np.zeros_like(flat),
            "work": np.empty_like(flat),  # reused, since large new arrays cost more than the sums in them
        }

    def update(self, flat, gradient, state):
        """Take one step: change `flat`, of shape (n_parameters,), and `state` in place."""
        velocity, work = state["velocity"], state["work"]
        velocity *= self.momentum
        velocity += gradient
        if self.nesterov:
            np.multiply(velocity, self.momentum, out=work)
            work += gradient
        else:
            work[:] = velocity
        work *= state["learning_rate"]
        flat -= work
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
        At least 1.5e-154 in float64 and 1.1e-19 in float32: the square of a smaller gradient is 0 there.
        (A float32 gradient must also stay below 5e17, or the sum of squares overflows.)
    cosine_decay : int, optional
        Updates in which the learning rate falls to 0 along half a cosine; where it is None, the rate stays.

    References
    ----------
    Kingma and Ba (2015), arXiv 1412.6980. The cosine: Loshchilov and Hutter (2017), arXiv 1608.03983, without restarts.
    """

    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    cosine_decay: int | None = None

    def __post_init__(self):
        _checks.keep(
            self,
            learning_rate=_checks.real("learning_rate", self.learning_rate, 0),
            beta1=_checks.real("beta1", self.beta1, 0, below=1),
            beta2=_checks.real("beta2", self.beta2, 0, below=1),
            epsilon=_checks.real("epsilon", self.epsilon, above=0),
        )
        if self.cosine_decay is not None:
            _checks.keep(self, cosine_decay=_checks.integer("cosine_decay", self.cosine_decay, 1))

    def start(self, flat):
        """Return the state for a parameter vector of this shape and type."""
        _checks.real(f"epsilon in {flat.dtype}", self.epsilon, float(np.sqrt(np.finfo(flat.dtype).tiny)))
        return {
            "step": 0,
            "sum": np.zeros_like(flat),  # of the gradients, each β₁ times lighter than the next
            "squares": np.zeros_like(flat),  # the same of their squares, with β₂
            "work": np.empty_like(flat),
        }

    def update(self, flat, gradient, state):
        """Take one step: change `flat`, of shape (n_parameters,), and `state` in place."""
        state["step"] += 1
        summed, squares, work = state["sum"], state["squares"], state["work"]
        summed *= self.beta1
        summed += gradient
        squares *= self.beta2
        squares += np.square(gradient, out=work)

        # A mean is a sum divided by the sum of its weights, 1 + β + … + β^(step − 1): that is the bias correction.
        weight1 = (1 - self.beta1 ** state["step"]) / (1 - self.beta1)
        weight2 = (1 - self.beta2 ** state["step"]) / (1 - self.beta2)
        np.sqrt(squares, out=work)
        work += self.epsilon * math.sqrt(weight2)
        np.divide(summed, work, out=work)
        work *= self._rate(state["step"]) / weight1 * math.sqrt(weight2)
        flat -= work

    def _rate(self, step):
        """Return the learning rate of update number `step`, counted from 1."""
        if self.cosine_decay is None:
            return self.learning_rate
        done = min((step - 1) / self.cosine_decay, 1)
        return self.learning_rate * (1 + math.cos(math.pi * done)) / 2


@dataclass(frozen=True)
class Recorder:
    """Another optimiser, watched: it also keeps a copy of the parameters at the start and every few updates.

    Parameters
    ----------
    optimiser : SGD or Adam
        Does the work.
    every : int
        Updates from one copy to the next, at least 1; the number of mini-batches in an epoch keeps one per epoch.

    Attributes
    ----------
    kept : list of arrays of shape (n_parameters,)
        The copies, in order. Use a new Recorder for each training.
    """

    optimiser: object
    every: int
    kept: list = field(default_factory=list)

    def __post_init__(self):
        _checks.has("optimiser", self.optimiser, ("start", "update"), "Adam()")
        _checks.integer("every", self.every, 1)

    def start(self, flat):
        """Return the state of the optimiser, with a count of updates."""
        self.kept.append(flat.copy())
        return {"updates": 0, "optimiser": self.optimiser.start(flat)}

    def update(self, flat, gradient, state):
        """Let the optimiser change `flat`, and keep a copy when it is time."""
        self.optimiser.update(flat, gradient, state["optimiser"])
        state["updates"] += 1
        if state["updates"] % self.every == 0:
            self.kept.append(flat.copy())
