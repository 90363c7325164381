"""Measure signals: norms per block, the direct path and τ, finite differences, Jacobians and the circle test."""

from typing import NamedTuple

import numpy as np

from highway_lessons import _checks
from highway_lessons.functions import ACTIVATIONS, cross_entropy, sigmoid_derivative
from highway_lessons.network import Cache, Network, Parameters


class SignalNorms(NamedTuple):
    """Frobenius norms over a batch, from `signal_norms`.

    h and dh have depth + 1 entries: ‖h_l‖ and ‖∂L/∂h_l‖ for l = 0 … depth, where h_0 leaves the input layer.
    dW has depth entries: the norm of the gradient of the first weights, W_H (W_1 in a residual block), of blocks
    1 … depth; None for a block without weights.
    T has depth entries: the mean transform gate of each block; None for other blocks.
    """

    h: np.ndarray
    dh: np.ndarray
    dW: np.ndarray
    T: np.ndarray | None


def signal_norms(network, params, x, labels):
    """Measure, block by block, what arrives from below, what arrives from above, and the weight gradient they make.

    Parameters
    ----------
    network : Network
    params : Parameters
    x : array_like of shape (batch, n_in)
    labels : array_like of shape (batch,)

    Returns
    -------
    SignalNorms
    """
    logits, cache = network.forward(params, x)
    return _norms(network, params, logits, cache, labels)


def _norms(network, params, logits, cache, labels):
    """The rest of `signal_norms`, once the forward pass is done."""
    _, dlogits = cross_entropy(logits, labels)
    gradients, dh = network.backward(params, cache, dlogits)
    shapes = network.block.shapes(network.width)
    weight = next((name for name, shape in shapes.items() if len(shape) == 2), None)
    gates = [c.T.mean() for c in cache.blocks if hasattr(c, "T") and not isinstance(c, np.ndarray)]
    return SignalNorms(
        h=np.array([_norm(h) for h in cache.h]),
        dh=np.array([_norm(d) for d in dh]),
        dW=np.array([_norm(views[weight]) for views in gradients.blocks]) if weight else None,
        T=np.array(gates) if gates else None,
    )


def _norm(array):
    """Frobenius norm; scaled first, since the square of a number below 1e-162 is 0."""
    largest = np.abs(array).max()
    return largest * np.linalg.norm(array / largest) if 0 < largest < np.inf else largest


def profiles(block, depths, seeds=range(10), batch=256, width=64, initialiser="uniform"):
    """Measure `signal_norms` of fresh networks of several depths, once per seed.

    One network of the largest depth is drawn per seed and sent a random batch: `rng = default_rng(seed)` draws the
    network, then x ~ N(0, 1), then the labels. A shallower network is made of its first blocks, with the same input
    layer, head, and batch, so the forward pass is done once for all depths.

    Parameters
    ----------
    block : Plain, Highway, Residual, …
    depths : sequence of int
        Numbers of blocks, at least 0 each.
    seeds : sequence of int
    batch, width : int
        Examples per batch; units per block, and numbers per example.
    initialiser : str
        As in `Network.initialise`.

    Returns
    -------
    dict of int to SignalNorms
        For each depth, arrays with one row per seed: h and dh (n_seeds, depth + 1), dW and T (n_seeds, depth).

    Notes
    -----
    With one depth, this is the reference recipe, number for number.
    """
    depths, seeds = _checks.several("depths", depths, "[50]"), _checks.several("seeds", seeds, "range(10)")
    networks = {depth: Network(block, depth, width, n_in=width) for depth in depths}
    deepest = networks[max(networks)]
    runs = {depth: [] for depth in networks}
    for seed in seeds:
        rng = _checks.generator(seed)
        params = deepest.initialise(rng, initialiser)
        x, labels = rng.normal(size=(batch, width)), rng.integers(0, deepest.n_classes, batch)
        _, cache = deepest.forward(params, x)
        for depth, network in networks.items():
            first = Parameters(network, params.flat[: network.n_parameters])
            logits = cache.h[depth] @ first.head["W"] + first.head["b"]
            cut = Cache(x, cache.h[: depth + 1], cache.blocks[:depth])
            runs[depth].append(_norms(network, first, logits, cut, labels))
    return {depth: SignalNorms(*map(_stack, zip(*measured, strict=True))) for depth, measured in runs.items()}


def _stack(rows):
    """One row per seed; None where there is nothing, such as the gates of a plain block."""
    return None if rows[0] is None else np.stack(rows)


def profile(block, depth, seeds=range(10), batch=256, width=64, initialiser="uniform"):
    """Measure `signal_norms` of fresh networks of one depth, once per seed; arguments as in `profiles`.

    Returns
    -------
    SignalNorms
        Arrays with one row per seed: h and dh (n_seeds, depth + 1), dW and T (n_seeds, depth).
    """
    return profiles(block, [depth], seeds, batch, width, initialiser)[depth]


def direct_path(gate, depth):
    """Share of a signal that crosses `depth` highway blocks without being transformed: (1 − T)^L.

    Parameters
    ----------
    gate : float or array of shape (...,)
        Transform gate T, in [0, 1]; dimensionless.
    depth : int
        Number of blocks L, at least 0.

    Returns
    -------
    array of shape (...,)
        The factor, 1 where nothing is transformed.

    Raises
    ------
    ValueError
        If `gate` leaves [0, 1] or `depth` is negative.

    References
    ----------
    The formula is ours; the layer is Srivastava, Greff and Schmidhuber (2015), arXiv 1507.06228, eq. 3.
    """
    gate = _checks.floats("gate", gate)
    outside = ~((gate >= 0) & (gate <= 1))
    if outside.any():
        raise ValueError(f"gate must lie between 0 and 1, but {gate[outside][0]} came; pass the gate, not its bias.")
    return (1 - gate) ** _checks.integer("depth", depth, 0)


def tau(gate_bias, depth):
    """Depth and gate bias in one number, τ = L · ln(1 + e^b): the share that crosses the stack is e^(−τ).

    Parameters
    ----------
    gate_bias : float or array of shape (...,)
        Gate bias b, the log-odds of T.
    depth : int
        Number of blocks L, at least 0.

    Returns
    -------
    array of shape (...,)
        τ, dimensionless; 0 for depth 0.

    Notes
    -----
    Exact while the gate is σ(b): −ln(1 − σ(b)) = ln(1 + e^b), the softplus of b.
    """
    return _checks.integer("depth", depth, 0) * np.logaddexp(
        0, _checks.finite("gate_bias", _checks.floats("gate_bias", gate_bias))
    )


def check_gradients(network, params, x, labels, step=1e-6, dtype=np.float64):
    """Compare backpropagation with central differences, for every parameter and for the input.

    Parameters
    ----------
    network : Network
    params : Parameters
        Not written to.
    x : array_like of shape (batch, n_in)
    labels : array_like of shape (batch,)
    step : float
        Half the distance between the two losses that make one difference.
    dtype : float64 or float32
        Type to compute in. float32 drowns the differences in rounding: use it only to see that happen.

    Returns
    -------
    dict of str to float
        For each named array ("blocks.1.W_T", …) and for "x", the largest absolute error; NaN if any is NaN.

    Notes
    -----
    A ReLU has a kink at 0. Where a step crosses it, the difference mixes two slopes and the check reports an error
    although backpropagation is right; draw another `x` then, or check with tanh.
    """
    step, dtype = _checks.real("step", step, above=0), _checks.dtype(dtype)
    params = Parameters(network, _checks.parameters(network, params).flat.astype(dtype))
    x = np.array(_checks.batch("x", x, network.n_in), dtype)
    logits, cache = network.forward(params, x)
    _, dlogits = cross_entropy(logits, labels)
    gradients, dh = network.backward(params, cache, dlogits)
    _, slope = ACTIVATIONS[network.block.activation]
    dx = (dh[0] * slope(cache.h[0])) @ params.input["W"].T

    def largest_error(array, gradient):
        errors = []
        for index in np.ndindex(array.shape):
            value = array[index]
            losses = []
            for moved in (value + step, value - step):
                array[index] = moved
                losses.append(network.evaluate(params, x, labels)[0])
            array[index] = value
            errors.append(abs((losses[0] - losses[1]) / (2 * step) - float(gradient[index])))
        return float(np.max(errors))

    pairs = zip(params.named(), gradients.named(), strict=True)
    errors = {name: largest_error(array, gradient) for (name, array), (_, gradient) in pairs}
    return errors | {"x": largest_error(x, dx)}


def block_jacobian(block, params, x):
    """Jacobian of one block at one example, in row form: entry [i, j] is ∂y_j / ∂x_i.

    Parameters
    ----------
    block : Plain, Highway, Residual, …
    params : dict of str to array
        The block's parameters.
    x : array_like of shape (width,)
        One example.

    Returns
    -------
    array of shape (width, width)
    """
    width = _checks.width(block, params)
    _, cache = block.forward(params, np.tile(_checks.example("x", x, width), (width, 1)))
    dx, _ = block.backward(params, cache, np.eye(width))  # row j is the gradient of y_j
    return dx.T


def highway_jacobian_terms(block, params, x):
    """The three terms of a highway block's Jacobian at one example, in row form; they add up to `block_jacobian`.

    Parameters
    ----------
    block : Highway
    params : dict of str to array
    x : array_like of shape (width,)
        One example.

    Returns
    -------
    dict of str to array of shape (width, width)
        "transform": J_H · diag(T); "carry": diag(1 − T); "gate": W_T · diag(T (1 − T) (H − x)).
    """
    _checks.has("block", block, ("gate_bias",), "Highway(gate_bias=-2.0)")
    _, slope = ACTIVATIONS[block.activation]
    _, cache = block.forward(params, _checks.example("x", x, _checks.width(block, params))[None, :])
    x, H, T = (row[0] for row in cache)
    return {
        "transform": params["W_H"] * (slope(H) * T),
        "carry": np.diag(1 - T),
        "gate": params["W_T"] * (sigmoid_derivative(T) * (H - x)),
    }


def end_to_end_jacobian(network, params, x):
    """Jacobian of the whole stack of blocks at one example, in row form: entry [i, j] is ∂h_depth,j / ∂h_0,i.

    Parameters
    ----------
    network : Network
    params : Parameters
    x : array_like of shape (n_in,)
        One example.

    Returns
    -------
    array of shape (width, width)
        Its singular values tell how much of a small change in h_0 reaches the top, direction by direction.
    """
    x = _checks.example("x", x, network.n_in)
    _, cache = network.forward(params, np.tile(x, (network.width, 1)))
    dh = np.eye(network.width)
    for block_params, block_cache in zip(reversed(params.blocks), reversed(cache.blocks), strict=True):
        dh, _ = network.block.backward(block_params, block_cache, dh)
    return dh.T


def effective_rank(singular_values):
    """How many directions share the energy: (Σ s²)² / Σ s⁴, from 1 (a needle) to the number of values.

    Parameters
    ----------
    singular_values : array_like of shape (n,)
        Not all 0.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the values are not finite, or none of them differs from 0.
    """
    s = _checks.finite("singular_values", _checks.floats("singular_values", singular_values))
    if s.ndim != 1 or not s.any():
        raise ValueError(
            f"singular_values must be a row of numbers, not all 0, but {_checks.describe(singular_values)} came."
        )
    s = s / np.abs(s).max()
    return float((s**2).sum() ** 2 / (s**4).sum())


def second_moment_recursion(start, depth, gain, offset=0.0):
    """Predict the mean square of the activations, block by block: q_l = gain · q_{l−1} + offset.

    Parameters
    ----------
    start : float
        q_0, the mean square of h_0 over units and examples.
    depth : int
        Number of blocks L, at least 0.
    gain : float
        For a plain ReLU block of n inputs, half of n times the variance of a weight: 1/6 for `uniform`,
        1/2 for `normal` and `orthogonal`, 1 for `he`.
    offset : float
        Half the variance of a bias: 1/(6n) for `uniform`, else 0.

    Returns
    -------
    array of shape (depth + 1,)
        q_0 … q_L.

    References
    ----------
    He, Zhang, Ren and Sun (2015), arXiv 1502.01852, section 2.2; the offset is ours.
    """
    q = [float(start)]
    for _ in range(_checks.integer("depth", depth, 0)):
        q.append(gain * q[-1] + offset)
    return np.array(q)


def mean_cosine(h):
    """Mean cosine of the angle between the activations of two different examples: 1 where all rows point one way.

    Parameters
    ----------
    h : array_like of shape (batch, width)
        At least two rows, none of them all 0.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there are fewer than two rows, or a row is all 0 and so has no direction.
    """
    total, n = _directions("h", h).sum(axis=0), len(h)
    return float((total @ total - n) / (n * (n - 1)))


def alignment(rows):
    """Mean size of the cosine between two different rows: 1 where all rows are multiples of one direction.

    Unlike `mean_cosine` it does not ask for the sign: a gradient and its opposite are about the same direction.

    Parameters
    ----------
    rows : array_like of shape (n, width)
        At least two rows, such as gradients ∂L/∂h, none of them all 0.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there are fewer than two rows, or a row is all 0 and so has no direction.
    """
    directions = _directions("rows", rows)
    n = len(directions)
    return float((np.abs(directions @ directions.T).sum() - n) / (n * (n - 1)))


def _directions(name, rows):
    """Each row divided by its length."""
    rows = _checks.floats(name, rows)
    if rows.ndim != 2 or len(rows) < 2:
        raise ValueError(
            f"{name} must have shape (batch, width) with at least two rows, but it has shape {rows.shape}."
        )
    largest = np.abs(rows).max(axis=1, keepdims=True)  # scaled first, as in _norm
    if not largest.all():
        raise ValueError(f"{name} has a row of zeros, which points nowhere; leave such rows out.")
    rows = rows / largest
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def spread(h):
    """Root mean square distance of the examples from their mean, for `h` of shape (batch, width)."""
    h = _checks.batch("h", h)
    return float(np.sqrt(((h - h.mean(axis=0)) ** 2).sum(axis=1).mean()))


def circle_test(jacobian, rng=0, points=49):
    """Send a circle of small changes through a Jacobian and return the curve that comes out.

    The circle has radius 1 and lies in a random plane of the input; the curve is an ellipse. Small changes
    really do move like this, in proportion; the unit is the radius of the circle that went in.

    Parameters
    ----------
    jacobian : array_like of shape (width, width)
        In row form, from `end_to_end_jacobian`.
    rng : int or numpy.random.Generator
        Draws the plane.
    points : int
        Points on the circle, the last equal to the first.

    Returns
    -------
    curve : array of shape (points, 2)
        The ellipse in the plane it lies in, its long axis drawn along x.
    radii : array of shape (2,)
        Its longest and shortest radius.
    """
    jacobian = _checks.square("jacobian", jacobian)
    plane, _ = np.linalg.qr(_checks.generator(rng).normal(size=(len(jacobian), 2)))
    angle = np.linspace(0, 2 * np.pi, _checks.integer("points", points, 3))
    turn, radii, _ = np.linalg.svd(plane.T @ jacobian, full_matrices=False)
    return np.column_stack([np.cos(angle), np.sin(angle)]) @ turn * radii, radii


def over_seeds(rows):
    """Lowest value, geometric mean and highest value over seeds, for positive `rows` of shape (n_seeds, …).

    Norms of deep networks spread over factors, not differences, so the mean that fits is the geometric one.

    Returns
    -------
    low, mid, high : arrays of shape (…)
        A 0 among the values makes `mid` 0, too.
    """
    rows = np.asarray(rows)
    with np.errstate(divide="ignore"):  # log 0 is −∞, and its exponential 0 again
        mid = np.exp(np.log(rows).mean(axis=0))
    low, high = rows.min(axis=0), rows.max(axis=0)
    return low, np.clip(mid, low, high), high  # of equal values, rounding puts the mean beside them
