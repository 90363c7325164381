"""What the engine's tests share: settings, strategies, and derivatives by finite differences."""

import random

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from highway_lessons import Highway, NaiveResidual, Network, Plain, Residual

# The same examples on every machine; no time limit for one, since the machine may be busy.
thorough = settings(deadline=None, derandomize=True, max_examples=60)
quick = settings(thorough, max_examples=25)

activations = st.sampled_from(["relu", "tanh"])
gate_biases = st.floats(-8, 4)
seeds = st.integers(0, 2**32 - 1)
widths = st.integers(1, 7)
batches = st.integers(1, 5)
depths = st.integers(0, 4)
dtypes = st.sampled_from([np.float64, np.float32])
initialisers = st.sampled_from(["uniform", "he", "normal", "orthogonal"])


def blocks(activation=activations):
    """Any kind of block, with any parameters."""
    return st.one_of(
        st.builds(Plain, activation),
        st.builds(Highway, gate_biases, activation),
        st.builds(Residual, st.floats(0.1, 2), st.booleans(), activation),
        st.builds(NaiveResidual, activation),
    )


networks = st.builds(Network, blocks(), depth=depths, width=widths, n_in=st.integers(1, 6), n_classes=st.integers(1, 5))


def drawn_block(block, width, batch, seed, dtype=np.float64):
    """Parameters (no zeros among them), a batch and a signal from above for one block."""
    rng = np.random.default_rng(seed)
    params = {name: rng.normal(0, 0.7, shape).astype(dtype) for name, shape in block.shapes(width).items()}
    if isinstance(block, Highway):
        params["b_T"] += dtype(block.gate_bias)
    x, dy = rng.normal(size=(2, batch, width)).astype(dtype)
    return params, x, dy


def drawn_network(network, batch, seed, dtype=np.float64, initialiser="uniform"):
    """Starting values, a batch and labels for one network."""
    rng = np.random.default_rng(seed)
    params = network.initialise(rng, initialiser, dtype)
    return params, rng.normal(size=(batch, network.n_in)), rng.integers(0, network.n_classes, batch)


def finite_differences(function, array, step=1e-6):
    """Central differences of `function() -> (value, active)` in every entry of `array`, in float64.

    `active` is a list of arrays of booleans, the ReLUs that are on; where a step switches one, there is a kink and
    the entry is NaN.
    """
    slopes = np.empty(array.shape)
    for index in np.ndindex(array.shape):
        kept = array[index]
        array[index] = kept + step
        above, active_above = function()
        array[index] = kept - step
        below, active_below = function()
        array[index] = kept
        same = all(np.array_equal(a, b) for a, b in zip(active_above, active_below, strict=True))
        slopes[index] = (above - below) / (2 * step) if same else np.nan
    return slopes


def assert_slopes(ours, differences, rtol=1e-6, atol=1e-8):
    """Compare a gradient with finite differences, except at kinks, and relative to its largest entry."""
    smooth = ~np.isnan(differences)
    scale = max(1.0, np.abs(differences[smooth]).max(initial=0))
    np.testing.assert_allclose(np.asarray(ours)[smooth], differences[smooth], rtol=rtol, atol=atol * scale)


def active(block, cache):
    """The ReLUs of a block that are on; nothing for tanh, which has no kink."""
    if block.activation != "relu":
        return []
    return [(cache.h if isinstance(block, Residual) else cache.H) > 0]


def global_randomness():
    """The state of Python's and of numpy's global generators, to compare."""
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002, to see that it is not used
    return random.getstate(), kind, keys.tolist(), rest


def stirred_randomness():
    """Bring the global generators into a state that nobody would choose, and return it."""
    random.seed(987654)
    np.random.seed(987654)  # noqa: NPY002, as above
    return global_randomness()


def read_only(array):
    """Return a copy that refuses to be written to."""
    array = np.array(array)
    array.flags.writeable = False
    return array


def odd_forms(x):
    """Yield `x`, whole numbers of shape (2, n) with equal rows, in forms that are unusual in memory or type."""
    spaced = np.zeros((4, 2 * x.shape[1]))
    spaced[::2, ::2] = x
    yield "non-contiguous", spaced[::2, ::2]
    yield "Fortran order", np.asfortranarray(x)
    yield "reversed", x[::-1, ::-1].copy()[::-1, ::-1]
    yield "broadcast", np.broadcast_to(x[0], x.shape)
    yield "int64", x.astype(np.int64)
    yield "int8", x.astype(np.int8)
    yield "float32", x.astype(np.float32)
    yield "float16", x.astype(np.float16)
    yield "big-endian", x.astype(">f8")
    yield "list", x.tolist()
    yield "read-only", read_only(x)
    yield "masked array without a mask", np.ma.array(x)
