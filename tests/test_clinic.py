"""The bug clinic: each wrong layer is wrong in its one way and no other, and the four tests see it from outside."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from highway_lessons import Highway, Network, Plain, Residual, check_gradients, clinic, sigmoid
from highway_lessons.clinic import LAYERS, Textbook, examine, examine_callable, expected_mean_gate, gate_seen
from highway_lessons.functions import ACTIVATIONS
from highway_lessons.initialisation import INITIALISERS

WRONG_GRADIENT = "slope of the value"
CAUGHT = {
    "right": [],
    "gate bias forgotten": ["start"],
    "gate bias +1": ["start"],
    "bias on the transform": ["start"],
    "bias on both": [],
    "halves swapped": ["shut", "open", "start"],
    "T and C exchanged": ["shut", "open", "start"],
    "affine carry": ["shut", "start"],
    "carry behind the weights": ["shut", "start"],
    "softmax gate": ["shut", "open", "start"],
    "ReLU gate": ["open", "start"],
    "activations exchanged": ["open", "start"],
    "activation of x": ["open", "start"],
    "slope of the value": ["gradient"],
}
layers = pytest.mark.parametrize("name", LAYERS)
activations = pytest.mark.parametrize("activation", ["relu", "tanh"])


def drawn(block, width=6, batch=5, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    params = {name: rng.normal(0, 0.6, shape).astype(dtype) for name, shape in block.shapes(width).items()}
    return params, *rng.normal(size=(2, batch, width)).astype(dtype)


# The wrong layers


def by_hand(name, activation, p, x):
    """One example through a layer, unit by unit, from the words that describe it."""
    f = {"relu": lambda z: max(z, 0.0), "tanh": np.tanh}[activation]
    units = range(len(x))

    def affine(W, b):
        return [sum(x[i] * p[W][i, j] for i in units) + p[b][j] for j in units]

    z_H, z_T = affine("W_H", "b_H"), affine("W_T", "b_T")
    if name == "halves swapped":
        z_H, z_T = z_T, z_H
    H, T, C, carried = [f(z) for z in z_H], [1 / (1 + np.exp(-z)) for z in z_T], None, x
    if name == "activation of x":
        H = [f(value) for value in x]
    elif name == "activations exchanged":
        H, T = [1 / (1 + np.exp(-z)) for z in z_H], [f(z) for z in z_T]
    elif name == "softmax gate":
        T = [np.exp(z) / sum(np.exp(other) for other in z_T) for z in z_T]
    elif name == "ReLU gate":
        T = [max(z, 0.0) for z in z_T]
    elif name == "affine carry":
        carried = affine("W_C", "b_C")
    elif name == "carry behind the weights":
        carried = z_H
    C = [1 - t for t in T]
    if name == "T and C exchanged":
        T, C = C, T
    return [H[j] * T[j] + carried[j] * C[j] for j in units]


@activations
@layers
def test_each_layer_computes_what_its_name_says(name, activation):
    block = LAYERS[name](-2.0, activation)
    params, x, _ = drawn(block)
    y, _ = block.forward(params, x)
    np.testing.assert_allclose(y, [by_hand(name, activation, params, row) for row in x], rtol=1e-12, atol=1e-14)


@activations
@layers
def test_gradients_are_those_of_what_it_computes(name, activation):
    """Also where that is wrong, so that its training is real; one layer is wrong in just this."""
    network = Network(LAYERS[name](-0.5, activation), depth=2, width=5, n_in=3, n_classes=3)
    rng = np.random.default_rng(1)
    errors = check_gradients(network, network.initialise(rng), rng.normal(size=(6, 3)), [0, 1, 2, 2, 1, 0])
    assert (max(errors.values()) < 1e-7) is (name != WRONG_GRADIENT), errors
    if name == WRONG_GRADIENT:
        assert errors["blocks.1.b_T"] > 1e-5
        assert errors["blocks.1.W_H"] < 1e-7, "one piece is wrong, not all"


@layers
def test_each_layer_is_a_block(name):
    block = LAYERS[name]()
    assert isinstance(block, Highway)
    assert (block.gate_bias, block.activation) == (-2.0, "relu")
    params, x, dy = drawn(block, dtype=np.float32)
    before = {key: array.copy() for key, array in params.items()}, x.copy(), dy.copy()
    y, cache = block.forward(params, x)
    dx, grads = block.backward(params, cache, dy)
    assert y.shape == dx.shape == x.shape
    assert {key: array.shape for key, array in grads.items()} == block.shapes(6)
    assert {array.dtype for array in (y, dx, *grads.values())} == {np.dtype(np.float32)}
    np.testing.assert_equal((params, x, dy), before)
    with pytest.raises(ValueError, match="columns"):
        block.forward(params, x[:, :3])


@layers
@pytest.mark.parametrize("initialiser", INITIALISERS)
def test_each_layer_starts_with_the_weights_of_the_right_one(name, initialiser):
    draw = INITIALISERS[initialiser]
    ours, right = LAYERS[name](-2.0).initialise(3, 8, draw), Highway(-2.0).initialise(3, 8, draw)
    assert {key: array.shape for key, array in ours.items()} == LAYERS[name]().shapes(8)
    different = {key for key in right if not np.array_equal(ours[key], right[key])}
    assert different == {
        "gate bias forgotten": {"b_T"},
        "gate bias +1": {"b_T"},
        "bias on the transform": {"b_H", "b_T"},
        "bias on both": {"b_H"},
    }.get(name, set())


@activations
def test_the_textbook_layer_is_the_right_one(activation):
    params, x, dy = drawn(Highway(-2.0, activation))
    results = []
    for block in (Highway(-2.0, activation), Textbook(-2.0, activation)):
        y, cache = block.forward(params, x)
        results.append((y, *block.backward(params, cache, dy)))
    (y, dx, grads), (right_y, right_dx, right_grads) = results
    assert set(grads) == set(right_grads)
    for ours, right in [(y, right_y), (dx, right_dx), *((grads[name], right_grads[name]) for name in grads)]:
        np.testing.assert_allclose(ours, right, rtol=1e-10, atol=1e-14)


def test_at_least_twelve_layers_are_wrong_in_ways_of_their_own():
    assert len(LAYERS) == 14
    outputs = {}
    for name, layer in LAYERS.items():
        other, x, _ = drawn(layer(-2.0))
        params = layer(-2.0).initialise(0, 6)
        outputs[name] = [layer(-2.0).forward(numbers, x)[0] for numbers in (params, other)]
    for name, y in outputs.items():
        same = [other for other in outputs if np.allclose(outputs[other], y)]
        assert same in ([name], ["right", WRONG_GRADIENT]), same


def test_the_activation_of_x_hands_on_what_is_not_negative():
    block = LAYERS["activation of x"](-2.0)
    params, x, _ = drawn(block)
    np.testing.assert_allclose(block.forward(params, np.abs(x))[0], np.abs(x), rtol=1e-14)
    assert not np.allclose(block.forward(params, x)[0], x)


# The four tests


@activations
@layers
@pytest.mark.parametrize(("width", "initialiser", "rng"), [(16, "uniform", 0), (64, "he", 1), (32, "orthogonal", 2)])
def test_which_test_catches_which_layer(name, activation, width, initialiser, rng):
    report = examine(LAYERS[name](-2.0, activation), width, rng, initialiser)
    caught = CAUGHT[name]
    if (name, activation) == ("activations exchanged", "tanh"):
        caught = ["shut", *caught]  # tanh(−1000) is −1, while ReLU gives 0
    assert report.caught == caught, report
    assert bool(report) is (caught == [])


def test_every_test_is_needed():
    """Each is the first to see some layer."""
    assert {caught[0] for caught in CAUGHT.values() if caught} == set(clinic.TESTS)


@pytest.mark.parametrize("gate_bias", [-8.0, -4.0, -1.0, 0.0, 2.0])
@activations
def test_the_right_layer_passes_at_any_bias(gate_bias, activation):
    for rng in range(10):
        report = examine(Highway(gate_bias, activation), rng=rng)
        assert report.caught == [], (rng, report)
        assert examine(Highway(gate_bias, activation), rng=rng, initialiser="he"), (rng, report)


def test_other_blocks_are_no_highway_blocks():
    for block in (Plain(), Residual()):
        with pytest.raises(TypeError, match="block must be an object such as Highway"):
            examine(block)


def test_a_softmax_of_width_eight_hides_from_the_third_test():
    assert abs(sigmoid(-2.0) - 1 / 8) < 0.01
    assert examine(LAYERS["softmax gate"](-2.0), width=8, initialiser="he").caught[:2] == ["shut", "open"]


def test_the_gate_shows_from_outside():
    block = Highway(-1.0)
    params, x, _ = drawn(block, width=8, batch=50)
    y, cache = block.forward(params, x)
    T = gate_seen(x, y, cache.H)
    seen = ~np.isnan(T)
    assert 0.9 < seen.mean() <= 1
    np.testing.assert_allclose(T[seen], cache.T[seen], rtol=1e-9)
    assert np.isnan(gate_seen(x, y, x)).all()


@pytest.mark.parametrize(("gate_bias", "spread"), [(-2.0, 0.5), (-2.0, 1.4), (0.0, 2.0), (1.0, 1.0)])
def test_the_expected_mean_gate_is_the_mean_over_many_draws(gate_bias, spread):
    draws = sigmoid(gate_bias + spread * np.random.default_rng(0).normal(size=1_000_000))
    assert expected_mean_gate(gate_bias, spread) == pytest.approx(draws.mean(), abs=1e-3)


def test_a_small_spread_moves_the_mean_gate_by_the_formula():
    s = sigmoid(-2.0)
    assert expected_mean_gate(-2.0, 0.0) == pytest.approx(s)
    for spread in (0.05, 0.1, 0.2):
        shift = spread**2 / 2 * s * (1 - s) * (1 - 2 * s)
        assert expected_mean_gate(-2.0, spread) - s == pytest.approx(shift, rel=0.1 * spread)


def test_a_report_reads_line_by_line():
    report = examine(LAYERS["gate bias +1"]())
    lines = repr(report).splitlines()
    assert [line.split()[0] for line in lines] == ["passed", "passed", "FAILED", "passed"]
    assert "at x = 0 a gate looks like 0.731; σ(-2) is 0.119." in lines[2]
    assert [finding.test for finding in report.findings] == list(clinic.TESTS)


def test_the_same_call_gives_the_same_report_and_the_block_stays_as_it_is():
    block = Highway(-3.0)
    assert repr(examine(block)) == repr(examine(block))
    assert block == Highway(-3.0)


# Layers of one's own


class Own(torch.nn.Module):
    """A highway layer as many write it in PyTorch."""

    def __init__(self, width, gate_bias=-2.0):
        super().__init__()
        self.plain, self.gate = torch.nn.Linear(width, width), torch.nn.Linear(width, width)
        if gate_bias is not None:
            torch.nn.init.constant_(self.gate.bias, gate_bias)

    def gates(self, x):
        return torch.sigmoid(self.gate(x))

    def forward(self, x):
        T = self.gates(x)
        return torch.relu(self.plain(x)) * T + x * (1 - T)


class Softmaxed(Own):
    def gates(self, x):
        return torch.softmax(self.gate(x), dim=-1)


class Detached(Own):
    """The gate is cut off from the gradient."""

    def gates(self, x):
        return super().gates(x).detach()


class Residuum(Own):
    """The carry lacks its 1 − T."""

    def forward(self, x):
        return torch.relu(self.plain(x)) * self.gates(x) + x


def asked(layer, dtype=torch.float32, more=True, **options):
    layer = layer.to(dtype)

    def gradient(x, dy):
        x = torch.tensor(x, dtype=dtype, requires_grad=True)
        layer(x).backward(torch.tensor(dy, dtype=dtype))
        return x.grad.numpy()

    def transform(x):
        return torch.relu(layer.plain(torch.tensor(x, dtype=dtype))).detach().numpy()

    return examine_callable(
        lambda x: layer(torch.tensor(x, dtype=dtype)).detach().numpy(),
        lambda value: torch.nn.init.constant_(layer.gate.bias, value),
        32,
        **({"transform": transform, "gradient": gradient} if more else {}),
        **options,
    )


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])


@dtypes
@pytest.mark.parametrize("more", [True, False])
def test_a_right_pytorch_layer_passes(dtype, more):
    for seed in range(10):
        torch.manual_seed(seed)
        report = asked(Own(32), dtype, more, rng=seed)
        assert report.caught == [], report
        assert report.findings[3].passed is (True if more else None)


@dtypes
@pytest.mark.parametrize(
    ("layer", "caught", "blind"),
    [
        (lambda: Own(32, None), ["start"], ["start"]),
        (lambda: Own(32, 1.0), ["start"], ["start"]),
        (lambda: Softmaxed(32), ["shut", "open", "start"], ["shut", "start"]),
        (lambda: Residuum(32), ["open", "start"], ["start"]),
        (lambda: Detached(32), ["gradient"], []),
    ],
)
def test_wrong_pytorch_layers_are_caught(dtype, layer, caught, blind):
    """`blind` is what can be seen without the transform and the gradient: less."""
    assert asked(layer(), dtype).caught == caught
    assert asked(layer(), dtype, more=False).caught == blind


def test_a_layer_whose_gate_is_the_carry_gate_passes_with_the_sign_turned():
    """The convention of some libraries: the gate multiplies x, and its bias is positive."""
    W, W_C, b_C = *np.random.default_rng(0).normal(0, 0.1, (2, 16, 16)), np.full(16, 1.0)

    def forward(x):
        C = sigmoid(x @ W_C + b_C)
        return np.maximum(x @ W, 0) * (1 - C) + x * C

    def set_gate_bias(value):
        b_C[:] = -value

    assert examine_callable(forward, set_gate_bias, 16, gate_bias=-1.0)
    assert b_C[0] == 1.0, "it leaves the bias where it was asked to be"
    b_C[:] = -1.0
    assert examine_callable(forward, set_gate_bias, 16, gate_bias=-1.0).caught == ["start"]


def test_a_numpy_layer_needs_nothing_else():
    block, params = Highway(-2.0), Highway(-2.0).initialise(0, 16)
    f, _ = ACTIVATIONS["relu"]
    report = examine_callable(
        lambda x: block.forward(params, x)[0],
        lambda value: params["b_T"].fill(value),
        16,
        transform=lambda x: f(x @ params["W_H"] + params["b_H"]),
        gradient=lambda x, dy: block.backward(params, block.forward(params, x)[1], dy)[0],
    )
    assert report.caught == []
    assert report.findings[3].passed


def test_a_cut_gradient_is_seen_in_float32_whatever_the_direction():
    """Along one direction a wrong gradient often looks right to float32; over eight it does not."""
    for seed in range(30):
        torch.manual_seed(seed)
        assert asked(Detached(32), torch.float32, rng=seed).caught == ["gradient"], seed
        assert asked(Own(32), torch.float32, rng=seed), seed


class Small:
    """A right layer in NumPy, with a place to spoil what it returns."""

    def __init__(self, gate_bias=-2.0, spoil=lambda y, gate_bias: y):
        self.params, self.spoil = Highway(gate_bias).initialise(0, 16), spoil

    def __call__(self, x):
        y, _ = Highway().forward(self.params, x)
        return self.spoil(y, self.params["b_T"][0])

    def set_gate_bias(self, value):
        self.params["b_T"][:] = value

    def transform(self, x):
        return np.maximum(x @ self.params["W_H"] + self.params["b_H"], 0)

    def examined(self, **options):
        return examine_callable(self, self.set_gate_bias, 16, transform=self.transform, **options)


@pytest.mark.parametrize(
    ("spoil", "caught"),
    [
        (lambda y, b: y * np.nan, ["shut", "open", "start"]),
        (lambda y, b: y * (np.nan if b > 500 else 1), ["open"]),
        (lambda y, b: y * (np.nan if b < -500 else 1), ["shut"]),
    ],
    ids=["always", "open", "shut"],
)
def test_numbers_that_are_none_are_a_finding_and_no_crash(spoil, caught):
    report = Small(spoil=spoil).examined()
    assert report.caught == caught
    assert repr(report).count("no finite numbers") == len(caught)
    assert "nan" not in repr(report)


def test_a_transform_that_is_no_number_is_a_finding():
    layer = Small()
    report = examine_callable(layer, layer.set_gate_bias, 16, transform=lambda x: x * np.nan)
    assert report.caught == ["open", "start"]


def test_answers_may_share_memory_lie_askew_or_be_lists_and_tensors():
    buffer = np.empty((64, 16))

    def into_the_buffer(y, b):
        buffer[:] = y
        return buffer

    expected = repr(Small().examined())
    for spoil in (
        into_the_buffer,
        lambda y, b: np.asfortranarray(y),
        lambda y, b: np.repeat(y, 2, axis=1)[:, ::2],
        lambda y, b: y.tolist(),
        lambda y, b: torch.tensor(y),
    ):
        assert repr(Small(spoil=spoil).examined()) == expected
        layer = Small(spoil=spoil)
        assert layer.examined(gradient=lambda x, dy: dy).caught == ["gradient"]


def test_dropout_left_on_is_told_as_such():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="one answer for one x, but two came; switch dropout off"):
        Small(spoil=lambda y, b: y * (rng.random(y.shape) > 0.1)).examined()


def test_an_error_of_the_layers_own_comes_through_and_the_gate_is_put_back():
    def fails_when_open(y, b):
        if b > 500:
            raise RuntimeError("out of memory")
        return y

    layer = Small(spoil=fails_when_open)
    with pytest.raises(RuntimeError, match="out of memory"):
        layer.examined()
    assert layer.params["b_T"].tolist() == [-2.0] * 16


@pytest.mark.parametrize("gate_bias", [-10.0, -5.0, -2.0, 0.0, 5.0])
def test_a_low_gate_bias_is_told_from_another(gate_bias):
    """σ(−6) and σ(−10) differ by 0.002, which over a hundred blocks is much."""
    assert Small(gate_bias).examined(gate_bias=gate_bias)
    for other in (gate_bias - 1, gate_bias + 1):
        assert Small(other).examined(gate_bias=gate_bias).caught == ["start"], other


def test_a_nan_gradient_fails():
    block, params = Highway(-2.0), Highway(-2.0).initialise(0, 16)
    report = examine_callable(
        lambda x: block.forward(params, x)[0],
        lambda value: params["b_T"].fill(value),
        16,
        gradient=lambda x, dy: np.full_like(x, np.nan),
    )
    assert report.caught == ["gradient"]


def unchanged(x):
    return x


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: examine(Highway), TypeError, "block must be an object such as Highway"),
        (lambda: examine(Highway(), width=1), ValueError, "width must be at least 2"),
        (lambda: examine(Highway(), initialiser="glorot"), ValueError, "initialiser must be one of"),
        (lambda: examine_callable(None, print, 4), TypeError, "forward must be a function, but None"),
        (lambda: examine_callable(unchanged, None, 4), TypeError, "set_gate_bias must be a function"),
        (lambda: examine_callable(unchanged, print, 4, transform=3), TypeError, "transform must be a function or None"),
        (lambda: examine_callable(unchanged, print, 4, gradient=3), TypeError, "gradient must be a function or None"),
        (lambda: examine_callable(unchanged, print, 4.0), TypeError, "width must be a whole number"),
        (
            lambda: examine_callable(lambda x: x[:, :2], print, 4),
            ValueError,
            r"what forward returns must have shape \(64, 4\), but it has shape \(64, 2\)",
        ),
        (lambda: examine_callable(lambda x: x.astype(str), print, 4), TypeError, "must be an array of real numbers"),
        (lambda: examine_callable(lambda x: x + 1j, print, 4), TypeError, "must be an array of real numbers"),
        (
            lambda: examine_callable(unchanged, lambda value: None, 4, transform=lambda x: x.sum()),
            ValueError,
            "what transform returns must have shape",
        ),
    ],
)
def test_wrong_arguments_are_told_in_a_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


def test_a_block_that_leaves_out_a_gradient_is_told_so():
    class Short(Highway):
        def backward(self, params, cache, dy):
            dx, grads = super().backward(params, cache, dy)
            return dx, {name: grad for name, grad in grads.items() if name != "b_H"}

    with pytest.raises(ValueError, match="all gradients, but b_H came not"):
        examine(Short())


def test_a_block_with_other_names_is_sent_to_the_other_function():
    class Renamed(Highway):
        def initialise(self, rng, width, initialiser):
            return {"W": np.ones((width, width))}

    with pytest.raises(ValueError, match="use examine_callable"):
        examine(Renamed())


def test_the_clinic_imports_nothing_heavy():
    code = (
        "import sys; from highway_lessons import clinic; assert clinic.examine(clinic.Highway());"
        "print(sorted({'torch', 'matplotlib', 'sklearn', 'anywidget', 'tqdm'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
