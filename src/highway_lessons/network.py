"""A network: input layer, a stack of blocks, softmax head. Loss and gradients in one call."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from highway_lessons import _checks
from highway_lessons.blocks import Highway, dense_gradients
from highway_lessons.functions import ACTIVATIONS, cross_entropy
from highway_lessons.initialisation import INITIALISERS


class Parameters:
    """All numbers of a network in one flat vector, and the same numbers by name.

    Parameters
    ----------
    network : Network
        The network whose shapes to use.
    flat : array of shape (network.n_parameters,)
        The numbers, matrices column after column. Every named array below is a view of it: change one and the other
        changes.

    Attributes
    ----------
    network : Network
    flat : array of shape (n_parameters,)
    input, head : dict
        "W" and "b" of the first and the last layer.
    blocks : list of dict
        One dictionary of named arrays per block.

    Raises
    ------
    ValueError
        If `flat` is not such an array of float64 or float32.
    """

    def __init__(self, network, flat):
        expected = (network.n_parameters,)
        if not isinstance(flat, np.ndarray) or flat.shape != expected or flat.dtype not in (np.float64, np.float32):
            raise ValueError(
                f"flat must be an array of shape {expected} and dtype float64 or float32, "
                f"but {_checks.describe(flat)} came."
            )
        self.network, self.flat, start = network, flat, 0

        def views(shapes):
            nonlocal start
            named = {}
            for name, shape in shapes.items():
                named[name] = flat[start : start + math.prod(shape)].reshape(shape, order="F")
                start += math.prod(shape)
            return named

        input_shapes, head_shapes, *block_shapes = network.shapes()
        self.input, self.head = views(input_shapes), views(head_shapes)
        self.blocks = [views(shapes) for shapes in block_shapes]

    def copy(self):
        """Return independent `Parameters` with the same numbers."""
        return Parameters(self.network, self.flat.copy())

    def __reduce__(self):
        """Pickle and deep-copy the flat vector alone, so that the named arrays are views of it again."""
        return Parameters, (self.network, self.flat)

    def named(self):
        """Yield ("input.W", array), …, ("blocks.0.W_H", array), … in the order of the flat vector."""
        layers = {"input": self.input, "head": self.head} | {f"blocks.{i}": b for i, b in enumerate(self.blocks)}
        for layer, arrays in layers.items():
            for name, array in arrays.items():
                yield f"{layer}.{name}", array


class Workspace(Parameters):
    """The same parameters, with the arrays that a training step writes to: made once, used in every step.

    `Network.forward` and `Network.backward` take it as their `params`, and what they return is overwritten by their
    next call. The signals from above overwrite one another, so `backward` returns None in their place.

    Parameters
    ----------
    params : Parameters
    gradients : Parameters
        Where to write the gradients, in the type of `params`.
    batch : int
        Examples in a mini-batch, at least 1.

    Raises
    ------
    ValueError, TypeError
        If `gradients` do not fit `params`, or `batch` is not such a number.
    """

    def __init__(self, params, gradients, batch):
        network = params.network
        super().__init__(network, params.flat)
        self.gradients, self.batch = _checks.parameters(network, gradients), _checks.integer("batch", batch, 1)
        if gradients.flat.dtype != params.flat.dtype:
            raise ValueError(f"gradients must be {params.flat.dtype} like params, but they are {gradients.flat.dtype}.")
        if hasattr(network.block, "workspace") and network.depth:
            numbers = sum(array.size for array in self.blocks[0].values()) * network.depth
            stretches = (vector[-numbers:].reshape(network.depth, -1) for vector in (params.flat, gradients.flat))
            scratch = None
            for i, (flat, gradient) in enumerate(zip(*stretches, strict=True)):
                work = network.block.workspace(network.width, flat, gradient, batch, scratch)
                if work is not None:
                    self.blocks[i], scratch = work, work.scratch


class Cache(NamedTuple):
    """What the network's backward pass needs.

    x is the data, (batch, n_in); h lists h_0 … h_depth, each (batch, width): h_0 leaves the input layer
    and h_l leaves block l; blocks lists each block's own cache.
    """

    x: np.ndarray
    h: list
    blocks: list


@dataclass(frozen=True)
class Network:
    """Input layer, `depth` equal blocks, linear head. It describes the network; the numbers live in `Parameters`.

    Parameters
    ----------
    block : Plain, Highway, Residual or another object with their four methods and an `activation`
        The kind of block; its activation, "relu" or "tanh", is the input layer's, too.
    depth : int
        Number of blocks, at least 0; 0 means no block at all.
    width : int
        Units per block.
    n_in, n_classes : int
        Numbers that come in per example, and classes that go out.

    Raises
    ------
    ValueError, TypeError
        If a size is not a whole number in its range or `block` is not a block.

    References
    ----------
    Plain first layer, stack, softmax head as in Srivastava, Greff and Schmidhuber (2015), arXiv 1507.06228.
    """

    block: object = Highway()
    depth: int = 10
    width: int = 64
    n_in: int = 64
    n_classes: int = 10

    def __post_init__(self):
        methods = ("shapes", "initialise", "forward", "backward", "activation")
        _checks.has("block", self.block, methods, "Highway(gate_bias=-2.0)")
        _checks.choice("block.activation", self.block.activation, ACTIVATIONS)
        sizes = {"depth": 0, "width": 1, "n_in": 1, "n_classes": 1}
        checked = {name: _checks.integer(name, getattr(self, name), least) for name, least in sizes.items()}
        _checks.keep(self, **checked)

    def shapes(self):
        """Names and shapes of the parameters, layer by layer: input, head, then each block."""
        block = self.block.shapes(self.width)
        return [
            {"W": (self.n_in, self.width), "b": (self.width,)},
            {"W": (self.width, self.n_classes), "b": (self.n_classes,)},
            *[block] * self.depth,
        ]

    @property
    def n_parameters(self):
        """How many numbers the network learns."""
        return sum(math.prod(shape) for layer in self.shapes() for shape in layer.values())

    def zeros(self, dtype=np.float64):
        """Return `Parameters` that are all 0."""
        return Parameters(self, np.zeros(self.n_parameters, _checks.dtype(dtype)))

    def initialise(self, rng=0, initialiser="uniform", dtype=np.float64):
        """Draw starting values: input W and b, head W and b, then block by block.

        Parameters
        ----------
        rng : int or numpy.random.Generator
            A seed, or the generator to draw from.
        initialiser : {"uniform", "uniform_zero_bias", "he", "normal", "orthogonal"}
            See `highway_lessons.initialisation`.
        dtype : float64 or float32
            Type of the numbers; gradients come in the same type.

        Returns
        -------
        Parameters
        """
        rng, draw = _checks.generator(rng), _checks.choice("initialiser", initialiser, INITIALISERS)
        params = self.zeros(dtype)
        for layer in (params.input, params.head):
            layer["W"][:], layer["b"][:] = draw(rng, *layer["W"].shape)
        for views in params.blocks:
            _fill(views, self.block.initialise(rng, self.width, draw))
        return params

    def forward(self, params, x):
        """Send a batch through the network.

        Parameters
        ----------
        params : Parameters
        x : array_like of shape (batch, n_in)
            Finite numbers; converted to the type of `params`.

        Returns
        -------
        logits : array of shape (batch, n_classes)
        cache : Cache

        Raises
        ------
        ValueError, TypeError
            If `x` is not a batch of finite numbers of this width, or `params` belong to a network of other shapes.
        """
        params = _checks.parameters(self, params)
        f, _ = ACTIVATIONS[self.block.activation]
        x = _checks.finite("x", _checks.batch("x", x, self.n_in), params.flat.dtype)
        if isinstance(params, Workspace):
            _checks.shape("x", x, (params.batch, self.n_in))
        h, caches = [f(x @ params.input["W"] + params.input["b"])], []
        for block_params in params.blocks:
            y, cache = self.block.forward(block_params, h[-1])
            h.append(y)
            caches.append(cache)
        return h[-1] @ params.head["W"] + params.head["b"], Cache(x, h, caches)

    def backward(self, params, cache, dlogits):
        """Send a gradient back through the network.

        Parameters
        ----------
        params : Parameters
        cache : Cache
            From `forward` with the same `params`.
        dlogits : array of shape (batch, n_classes)
            ∂L/∂logits.

        Returns
        -------
        gradients : Parameters
            ∂L/∂ each parameter.
        dh : list of arrays of shape (batch, width)
            The signal from above, ∂L/∂h_0 … ∂L/∂h_depth; None with a `Workspace`.

        Raises
        ------
        ValueError, TypeError
            If the arguments do not fit together, or the block's `backward` returns other names or shapes.
        """
        params = _checks.parameters(self, params)
        if len(cache.blocks) != self.depth:
            raise ValueError(
                f"cache must come from a network of depth {self.depth}, but its depth is {len(cache.blocks)}."
            )
        _checks.shape("dlogits", dlogits, (len(cache.x), self.n_classes))
        _, slope = ACTIVATIONS[self.block.activation]
        gradients = params.gradients if isinstance(params, Workspace) else self.zeros(params.flat.dtype)
        dh = [dlogits @ params.head["W"].T]
        gradients.head["W"][:], gradients.head["b"][:] = dense_gradients(cache.h[-1], dlogits)
        for block_params, block_cache, views in zip(
            reversed(params.blocks), reversed(cache.blocks), reversed(gradients.blocks), strict=True
        ):
            dx, grads = self.block.backward(block_params, block_cache, dh[-1])
            _checks.shape("the block's dx", dx, dh[-1].shape)
            if grads is not getattr(block_params, "gradients", None):
                _fill(views, grads)
            dh.append(dx)
        dz = dh[-1] * slope(cache.h[0])
        gradients.input["W"][:], gradients.input["b"][:] = dense_gradients(cache.x, dz)
        return gradients, None if isinstance(params, Workspace) else dh[::-1]

    def loss_and_gradients(self, params, x, labels):
        """Return the mean cross-entropy of a batch (nats) and its gradients, a `Parameters`."""
        logits, cache = self.forward(params, x)
        loss, dlogits = cross_entropy(logits, labels)
        gradients, _ = self.backward(params, cache, dlogits)
        return loss, gradients

    def evaluate(self, params, x, labels):
        """Return the mean cross-entropy (nats) and the accuracy (0 … 1) on a batch."""
        logits, _ = self.forward(params, x)
        loss, _ = cross_entropy(logits, labels)
        return loss, float((logits.argmax(axis=1) == np.asarray(labels)).mean())


def _fill(views, arrays):
    """Write what a block returns by name into the flat vector."""
    _checks.named("what the block returns", arrays, {name: view.shape for name, view in views.items()})
    for name, view in views.items():
        view[:] = arrays[name]
