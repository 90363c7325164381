"""The PyTorch layer: its conventions, and agreement with the NumPy net in every number and every gradient."""

import ast
import copy
import inspect
import io
import pickle
import re
import subprocess
import sys
import typing

import numpy as np
import pytest
import torch
from conftest import ROOT
from torch import nn

from highway_lessons import Adam, Data, Highway, NaiveResidual, Network, Plain, Residual, fit, sigmoid, spirals
from highway_lessons import pytorch as pt
from highway_lessons.initialisation import uniform

DEPTH_5 = Network(Highway(-2.0), depth=5)
ODD = Network(Highway(-1.5, "tanh"), depth=3, width=5, n_in=3, n_classes=2)  # no two sizes are equal
LAYERS = [pt.HighwayLayer(6), pt.HighwayResize(6, 9), pt.HighwayResize(6, 4), pt.HighwayConv2d(6)]
KINDS = [type(layer).__name__ + str(i) for i, layer in enumerate(LAYERS)]


def example(layer, dtype=torch.float32, device=None):
    shape = (2, 6, 5, 5) if isinstance(layer, pt.HighwayConv2d) else (2, 6)
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(device, dtype)


def resized(layer, x):
    return pt.resized(x, layer.n_out) if isinstance(layer, pt.HighwayResize) else x


@pytest.fixture(params=LAYERS, ids=KINDS)
def layer(request):
    return copy.deepcopy(request.param)


# What the layer computes


@torch.no_grad()
def test_a_shut_gate_hands_on_the_input_exactly(layer):
    x = example(layer)
    layer.b_T.fill_(-1000)
    assert torch.equal(layer(x), resized(layer, x))


@torch.no_grad()
def test_an_open_gate_hands_on_the_transform_exactly(layer):
    x = example(layer)
    layer.b_T.fill_(1000)
    assert torch.equal(layer(x), torch.relu(layer.transform(x)))


@torch.no_grad()
def test_a_fresh_gate_is_the_sigmoid_of_its_bias_where_the_input_is_0(layer):
    gates = []
    layer.gate.register_forward_hook(lambda module, x, z: gates.append(torch.sigmoid(z + layer.b_T)))
    layer(torch.zeros_like(example(layer)))
    torch.testing.assert_close(gates[0], torch.full_like(gates[0], sigmoid(-2.0)))


def test_gradients_pass_pytorchs_own_check(layer):
    layer = layer.double()
    x = example(layer, torch.float64).requires_grad_()
    names = [name for name, _ in layer.named_parameters()]

    def y(x, *parameters):
        return torch.func.functional_call(layer, dict(zip(names, parameters, strict=True)), x)

    assert torch.autograd.gradcheck(y, (x, *layer.parameters()))


def test_the_convolution_is_the_equation_written_with_loops():
    """Both patches of 3 × 3 × channels come from the input, with zeros beyond its edge; so does the carry."""
    layer = pt.HighwayConv2d(3, dtype=torch.float64)
    with torch.no_grad():
        layer.b_T.copy_(torch.tensor([-3.0, 0.5, 1.0]).reshape(3, 1, 1))
    x = torch.randn(1, 3, 4, 4, dtype=torch.float64)
    wide = np.pad(x[0].numpy(), ((0, 0), (1, 1), (1, 1)))
    W_H, W_T = (part.weight.detach().numpy() for part in (layer.transform, layer.gate))
    y = layer(x)[0].detach().numpy()
    for c, i, j in ((0, 0, 0), (1, 2, 3), (2, 1, 1)):
        patch = wide[:, i : i + 3, j : j + 3]
        H = max(0.0, (W_H[c] * patch).sum() + layer.transform.bias[c].item())
        T = 1 / (1 + np.exp(-((W_T[c] * patch).sum() + layer.b_T[c].item())))
        assert y[c, i, j] == pytest.approx(H * T + x[0, c, i, j].item() * (1 - T), abs=1e-12)


def test_wider_is_padded_and_narrower_is_sub_sampled():
    x = torch.arange(1.0, 9.0).reshape(1, 8)
    assert pt.resized(x, 10).tolist() == [[1, 2, 3, 4, 5, 6, 7, 8, 0, 0]]
    assert pt.resized(x, 4).tolist() == [[1, 3, 5, 7]]
    assert pt.resized(x, 3).tolist() == [[1, 3, 6]]
    assert torch.equal(pt.resized(x, 8), x)
    assert pt.resized(x, 1).tolist() == [[1]]


# The field's conventions


@pytest.mark.parametrize("kind", [pt.HighwayLayer, pt.HighwayResize, pt.HighwayConv2d, pt.HighwayNetwork])
def test_every_argument_and_result_has_a_type(kind):
    for method in (kind.__init__, kind.forward):
        hints = typing.get_type_hints(method)
        assert set(hints) == set(inspect.signature(method).parameters) - {"self"} | {"return"}
    for function in (pt.copy_to_torch, pt.copy_from_torch, pt.torch_name, pt.resized, pt.fit, pt.evaluate):
        assert set(typing.get_type_hints(function)) == set(inspect.signature(function).parameters) | {"return"}


def test_print_shows_what_is_inside(layer):
    text = repr(layer)
    assert "gate_bias=-2, activation='relu'" in text
    assert re.search(r"(width|n_in|channels)=6", text)
    assert "bias=False" in text.splitlines()[-2], "the gate's matrix has no bias of its own"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_any_dtype(layer, dtype):
    arguments = [getattr(layer, name) for name in ("width", "n_in", "channels", "n_out") if hasattr(layer, name)]
    made = type(layer)(*arguments, dtype=dtype)
    for one in (made, layer.to(dtype)):
        assert {p.dtype for p in one.parameters()} == {dtype}
        y = one(example(layer, dtype))
        assert y.dtype == dtype
        y.sum().backward()
        assert all(torch.isfinite(p.grad).all() for p in one.parameters())


def test_no_dtype_comes_from_elsewhere():
    """A layer made in float32 stays so where PyTorch's default is another, and the other way round."""
    torch.set_default_dtype(torch.float64)
    try:
        assert {p.dtype for p in pt.HighwayLayer(3, dtype=torch.float32).parameters()} == {torch.float32}
        assert {p.dtype for p in pt.HighwayLayer(3).parameters()} == {torch.float64}
        model = pt.copy_to_torch(ODD.initialise(0, dtype="float32"))
        assert {p.dtype for p in model.parameters()} == {torch.float32}
    finally:
        torch.set_default_dtype(torch.float32)


def test_any_device(layer):
    """The meta device stores nothing, so a tensor made on another one cannot hide."""
    arguments = [getattr(layer, name) for name in ("width", "n_in", "channels", "n_out") if hasattr(layer, name)]
    for one in (type(layer)(*arguments, device="meta"), layer.to("meta")):
        assert {p.device.type for p in one.parameters()} == {"meta"}
        y = one(example(layer, device="meta"))
        assert (y.device.type, y.shape) == ("meta", resized(layer, example(layer)).shape)


def test_made_without_numbers_then_filled(layer):
    """Large models are made on the meta device, moved, and filled by every module's `reset_parameters`."""
    torch.manual_seed(0)
    empty = layer.to("meta").to_empty(device="cpu")
    with torch.no_grad():
        for p in empty.parameters():
            p.fill_(float("nan"))
    empty.apply(lambda module: module.reset_parameters())
    assert torch.equal(empty.b_T, torch.full_like(empty.b_T, -2))
    bound = empty.gate.weight[0].numel() ** -0.5  # 1/√n, with n numbers that come into a unit
    assert 0.5 * bound < empty.gate.weight.abs().max() <= bound
    assert torch.isfinite(empty(example(layer))).all()


def test_state_dict_there_and_back(layer):
    other = copy.deepcopy(layer)
    other.reset_parameters()
    with torch.no_grad():
        other.b_T.fill_(0.3)
    assert not torch.equal(other(example(layer)), layer(example(layer)))
    assert list(layer.state_dict()) == ["b_T", "transform.weight", "transform.bias", "gate.weight"]
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(other(example(layer)), layer(example(layer)))


def test_copies_and_pickles(layer):
    x = example(layer)
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(twin(x), layer(x))
        assert repr(twin) == repr(layer)


def compiles():
    """Say whether this computer has a C++ compiler that PyTorch can use: the build and its failure are PyTorch's."""
    from torch._inductor.cpp_builder import get_cpp_compiler

    try:
        return bool(get_cpp_compiler())
    except Exception:
        return False


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiles_in_one_piece(backend):
    """Forward and backward without a graph break; with Inductor, to machine code where there is a compiler."""
    if backend == "inductor" and not compiles():
        pytest.skip("Inductor needs a C++ compiler, and there is none.")
    torch._dynamo.reset()
    params = ODD.initialise(0)
    model, x, y = pt.copy_to_torch(params), torch.randn(4, 3, dtype=torch.float64), torch.tensor([0, 1, 1, 0])
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    gradients = []
    for one in (model, compiled):
        model.zero_grad()
        nn.functional.cross_entropy(one(x), y).backward()
        gradients.append(pt.copy_from_torch(one, gradients=True).flat)
    np.testing.assert_allclose(*gradients, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(pt.copy_from_torch(compiled).flat, params.flat)


def test_the_other_layers_compile_too(layer):
    torch._dynamo.reset()
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(example(layer)), layer(example(layer)))


def test_exports(layer):
    """`torch.export` wants the whole forward pass as one graph, too."""
    exported = torch.export.export(layer, (example(layer),))
    torch.testing.assert_close(exported.module()(example(layer)), layer(example(layer)))


@pytest.mark.parametrize("shape", [(6,), (1, 6), (2, 3, 6), (0, 6)], ids=str)
def test_any_leading_axes_as_nn_linear_has_them(shape):
    x = torch.randn(shape)
    y = LAYERS[0](x)
    assert y.shape == shape
    torch.testing.assert_close(y.reshape(-1, 6), LAYERS[0](x.reshape(-1, 6)))


# The gate bias outlives an initialiser


def xavier(module):
    """As tutorials write it."""
    if isinstance(module, nn.Linear | nn.Conv2d):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


def small(module):
    for name, parameter in module.named_parameters(recurse=False):
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.dim() > 1 and "weight" in name:
            nn.init.normal_(parameter, std=0.02)


def again(module):
    """PyTorch's own convention."""
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()


@pytest.mark.parametrize("init", [xavier, small, again])
def test_no_initialiser_overwrites_the_gate_bias(layer, init):
    before = {name: parameter.clone() for name, parameter in layer.named_parameters()}
    layer.apply(init)
    assert torch.equal(layer.b_T, torch.full_like(layer.b_T, -2))
    for name in ("transform.weight", "gate.weight"):
        assert not torch.equal(layer.get_parameter(name), before[name]), "it did reach the matrices"


def test_the_usual_way_is_overwritten():
    """The control: a gate bias that lives in an nn.Linear is gone."""
    gate = nn.Linear(6, 6)
    nn.init.constant_(gate.bias, -2)
    gate.apply(xavier)
    assert torch.equal(gate.bias, torch.zeros(6))


def test_an_initialiser_that_takes_a_bias_for_granted_fails_loudly():
    with pytest.raises(AttributeError, match="NoneType"):
        pt.HighwayLayer(6).apply(lambda m: m.bias.data.fill_(0.01) if isinstance(m, nn.Linear) else None)


# F9, and the copies


def test_f9():
    """5 highway blocks from default_rng(0): the published logits, and those of PyTorch beside them."""
    params, x = DEPTH_5.initialise(0), np.random.default_rng(1).normal(size=(8, 64))
    ours, theirs = DEPTH_5.forward(params, x)[0], pt.copy_to_torch(params)(torch.tensor(x)).detach().numpy()
    assert abs(ours - theirs).max() <= 1e-15
    assert theirs[0, :4].round(4).tolist() == [-0.0732, -0.1108, 0.1140, -0.1583]
    layer = pt.HighwayLayer(64)
    assert layer.b_T.tolist() == [-2.0] * 64
    assert sum(p.numel() for p in layer.parameters()) == 2 * (64 * 64 + 64) == 8320
    assert sum(p.numel() for p in nn.Linear(64, 64).parameters()) == 4160


@pytest.mark.parametrize("network", [DEPTH_5, ODD, Network(Highway(), 0, 4, 3, 2)], ids=["5", "odd", "no block"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_there_and_back_is_the_same_to_the_last_bit(network, dtype):
    params = network.initialise(0, dtype=dtype)
    params.flat[:] += np.random.default_rng(1).normal(size=params.flat.size).astype(dtype)
    before = params.flat.copy()
    model = pt.copy_to_torch(params)
    back = pt.copy_from_torch(model)
    assert back.flat.dtype == dtype
    np.testing.assert_array_equal(back.flat, before)
    assert back.network == network
    assert sum(p.numel() for p in model.parameters()) == network.n_parameters
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    np.testing.assert_array_equal(params.flat, before, "a copy, no view")
    np.testing.assert_array_equal(back.flat, before, "a copy, no view")


def test_from_pytorch_to_numpy_and_back():
    """A model that was made in PyTorch computes the same in NumPy."""
    model = pt.HighwayNetwork(depth=4, width=5, n_in=3, n_classes=2, gate_bias=-1, activation="tanh").double()
    params = pt.copy_from_torch(model)
    assert params.network == Network(Highway(-1.0, "tanh"), 4, 5, 3, 2)
    x = np.random.default_rng(0).normal(size=(7, 3))
    logits, _ = params.network.forward(params, x)
    np.testing.assert_allclose(logits, model(torch.tensor(x)).detach().numpy(), atol=1e-14)
    twin = pt.copy_to_torch(params)
    assert twin.state_dict().keys() == model.state_dict().keys()
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, twin.state_dict()[name]), name


def one_block_more(model):
    model.blocks.append(pt.HighwayLayer(4))


def one_block_less(model):
    del model.blocks[1]


def a_block_that_would_be_broadcast(model):
    model.blocks[0] = pt.HighwayLayer(1)


def another_head(model):
    model.head = nn.Linear(4, 7)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (one_block_more, r"blocks.2.b_T has \(4,\) in place of none"),
        (one_block_less, r"blocks.1.b_T has none in place of \(4,\)"),
        (a_block_that_would_be_broadcast, r"blocks.0.b_T has \(1,\) in place of \(4,\)"),
        (another_head, r"head.bias has \(7,\) in place of \(2,\)"),
    ],
)
def test_a_model_of_other_shapes_is_not_copied(change, sentence):
    """Copied by name alone, a block too many would be dropped, and a block of width 1 spread over the matrix."""
    model = pt.HighwayNetwork(depth=2, width=4, n_in=3, n_classes=2)
    pt.copy_from_torch(model)
    change(model)
    with pytest.raises(ValueError, match=sentence):
        pt.copy_from_torch(model)


def test_compiled_parts_and_shared_weights_are_copied():
    model = pt.HighwayNetwork(depth=2, width=4, n_in=3, n_classes=2)
    model.blocks[1].transform = model.blocks[0].transform
    model.blocks[0] = torch.compile(model.blocks[0], backend="eager")
    blocks = pt.copy_from_torch(model).blocks
    np.testing.assert_array_equal(blocks[0]["W_H"], blocks[1]["W_H"])


def test_half_precision_comes_back_as_float32():
    model = pt.HighwayNetwork(depth=1, width=4, n_in=3, n_classes=2, dtype=torch.bfloat16)
    params = pt.copy_from_torch(model)
    assert params.flat.dtype == np.float32
    np.testing.assert_array_equal(params.blocks[0]["W_T"], model.blocks[0].gate.weight.float().detach().numpy().T)


def test_the_transpose_trap():
    """Square matrices do not complain, and give other numbers; at a change of width PyTorch does complain."""
    params, x = DEPTH_5.initialise(0), np.random.default_rng(1).normal(size=(8, 64))
    model = pt.copy_to_torch(params)
    square = {name: array for name, array in params.named() if array.shape == (64, 64)}
    assert len(square) == 11, "the input layer's, and two in each block"
    with torch.no_grad():
        right = model(torch.tensor(x)).numpy()
        for name, array in square.items():
            model.get_parameter(pt.torch_name(name)).copy_(torch.tensor(array))
        wrong = model(torch.tensor(x)).numpy()
        with pytest.raises(RuntimeError, match="size"):
            model.head.weight.copy_(torch.tensor(params.head["W"]))
    assert abs(wrong - right).max() == pytest.approx(0.5, abs=0.05), "published: about 0.5"
    products = [abs(x @ W - x @ W.T).max() for W in square.values()]
    assert min(products) > 1.9
    assert max(products) <= 2.9, "published: 2.3 to 2.9, and 2.5 for one draw"


# Every gradient


@torch.no_grad()
def leaf(params):
    return {name: torch.tensor(array).requires_grad_() for name, array in params.named()}


def by_hand(network, p, x):
    """The network in PyTorch's functions, written from the equations: rows times matrices, for every kind of block."""
    block = network.block
    f = {"relu": torch.relu, "tanh": torch.tanh}[block.activation]
    h = f(x @ p["input.W"] + p["input.b"])
    for i in range(network.depth):
        q = {name.rpartition(".")[2]: t for name, t in p.items() if name.startswith(f"blocks.{i}.")}
        if isinstance(block, Residual):
            h = h + block.scale * (f(h @ q["W_1"] + q["b_1"]) @ q["W_2"] + q["b_2"])
            continue
        H = f(h @ q["W_H"] + q["b_H"])
        if isinstance(block, Highway):
            T = 1 / (1 + torch.exp(-(h @ q["W_T"] + q["b_T"])))
            h = T * H + (1 - T) * h
        else:
            h = h + H if isinstance(block, NaiveResidual) else H
    return h @ p["head.W"] + p["head.b"]


@pytest.mark.parametrize(
    "block",
    [
        Plain(), Plain("tanh"), Highway(-2.0), Highway(0.5, "tanh"), NaiveResidual(), Residual(), Residual(0.3, True),
        Residual(0.5, activation="tanh"),
    ],
    ids=str,
)  # fmt: skip
def test_every_gradient_of_the_numpy_net_is_autograds(block):
    """All parameters of all blocks and all kinds, float64, at a change of width and with shapes that are not square."""
    network = Network(block, depth=6, width=7, n_in=5, n_classes=3)
    params, rng = network.initialise(0), np.random.default_rng(1)
    x, labels = rng.normal(size=(9, 5)), rng.integers(0, 3, 9)
    loss, gradients = network.loss_and_gradients(params, x, labels)
    tensors = leaf(params)
    theirs = nn.functional.cross_entropy(by_hand(network, tensors, torch.tensor(x)), torch.tensor(labels))
    theirs.backward()
    assert loss == pytest.approx(theirs.item(), rel=1e-14)
    for name, gradient in gradients.named():
        size = abs(gradient).max()
        assert size > 0 or "W_1" in name or "b_1" in name, name  # a zero start gives W_1 no gradient
        np.testing.assert_allclose(gradient, tensors[name].grad.numpy(), rtol=0, atol=1e-13 * size, err_msg=name)


@pytest.mark.parametrize("depth", [1, 10, 50])
def test_every_gradient_of_the_module_is_the_numpy_nets(depth):
    network = Network(Highway(-2.0), depth)
    params, rng = network.initialise(0), np.random.default_rng(1)
    x, labels = rng.normal(size=(32, 64)), rng.integers(0, 10, 32)
    _, gradients = network.loss_and_gradients(params, x, labels)
    model = pt.copy_to_torch(params)
    nn.functional.cross_entropy(model(torch.tensor(x)), torch.tensor(labels)).backward()
    for (name, ours), (_, theirs) in zip(
        gradients.named(), pt.copy_from_torch(model, gradients=True).named(), strict=True
    ):
        assert abs(ours).max() > 0, name
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * abs(ours).max(), err_msg=name)


# Training


def test_both_train_alike():
    """Same start, same batches, the same Adam: after three epochs every number of both histories agrees."""
    data, network = spirals(n_train=200, n_test=50), Network(Highway(-1.0, "tanh"), 4, 8, 2, 2)
    params = network.initialise(0)
    ours = fit(network, data, params=params, optimiser=Adam(1e-2), epochs=3, batch_size=64, rng=5)
    model = pt.copy_to_torch(params)
    adam = torch.optim.Adam(model.parameters(), lr=1e-2)
    theirs = pt.fit(model, data, adam, epochs=3, batch_size=64, rng=5)
    assert theirs.keys() == ours.history.keys() - {"seconds"}
    for name, values in theirs.items():
        np.testing.assert_allclose(ours.history[name], values, rtol=1e-11, err_msg=name)
    np.testing.assert_allclose(ours.params.flat, pt.copy_from_torch(model).flat, atol=1e-11)


def test_training_without_test_data_and_with_the_default_optimiser():
    data = spirals(n_train=100, n_test=10)
    model = pt.HighwayNetwork(depth=1, width=4, n_in=2, n_classes=2)
    before = copy.deepcopy(model.state_dict())
    history = pt.fit(model, Data(data.x_train, data.y_train), epochs=2)
    assert {name: len(values) for name, values in history.items()} == {
        "train_loss": 2, "train_accuracy": 2, "last_batch_loss": 2
    }  # fmt: skip
    moved = (model.blocks[0].b_T - before["blocks.0.b_T"]).abs().max().item()
    assert 0 < moved < 1.5 * 4 * 1e-3, "four updates of Adam at 0.001"


def test_dropout_is_off_where_a_model_is_tested():
    model = nn.Sequential(nn.Linear(2, 50), nn.Dropout(0.9), nn.Linear(50, 2))
    data = spirals(n_train=64, n_test=40)
    pt.fit(model, data, epochs=1)
    one, two = (pt.evaluate(model, data.x_test, data.y_test)["loss"] for _ in range(2))
    assert one == two
    seen = []
    model[1].register_forward_hook(lambda module, x, y: seen.append(module.training))
    pt.fit(model, data, epochs=1)
    assert seen == [True, False]


# What a reader may get wrong


@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        (lambda: pt.HighwayLayer(0), ValueError, "width must be at least 1, but 0 came"),
        (lambda: pt.HighwayLayer(6.0), TypeError, "width must be a whole number"),
        (lambda: pt.HighwayLayer(6, float("nan")), ValueError, "gate_bias must be finite"),
        (lambda: pt.HighwayLayer(6, activation="gelu"), ValueError, "activation must be one of 'relu', 'tanh'"),
        (lambda: pt.HighwayLayer(6)(torch.ones(2, 1)), ValueError, "x has width 1, but 6 was expected; put"),
        (lambda: pt.HighwayConv2d(6)(torch.ones(2, 1, 5, 5)), ValueError, r"shape \(batch, 6, height, width\), but"),
        (lambda: pt.HighwayConv2d(6)(torch.ones(8, 8)), ValueError, r"but it has shape \(8, 8\)"),
        (lambda: pt.HighwayResize(6, 9)(torch.ones(2, 5)), ValueError, "x has width 5, but n_in, 6, was expected"),
        (lambda: pt.HighwayConv2d(6, 4), ValueError, "kernel_size must be odd, but 4 came"),
        (lambda: pt.HighwayResize(6, 0), ValueError, "n_out must be at least 1"),
        (lambda: pt.HighwayNetwork(depth=-1), ValueError, "depth must be at least 0"),
        (lambda: pt.copy_to_torch(np.ones(3)), TypeError, "params must be an object such as network.initialise"),
        (lambda: pt.copy_to_torch(Network(Plain(), 2).initialise(0)), TypeError, "network of Highway blocks, but"),
        (lambda: pt.copy_from_torch(nn.Linear(2, 2)), TypeError, "model must be an object such as HighwayNetwork"),
        (
            lambda: pt.copy_from_torch(pt.HighwayNetwork(1, 4, 3, 2), gradients=True),
            ValueError,
            "input.weight has none; call loss.backward",
        ),
    ],
)  # fmt: skip
def test_wrong_input_gets_one_sentence(wrong, error, sentence):
    with pytest.raises(error, match=sentence):
        wrong()


BLOCKED = """
import sys
sys.modules["torch"] = None
import highway_lessons
from highway_lessons import exercises, figures, studies
from highway_lessons import *
network = Network(Highway(-2.0), depth=2, width=4, n_in=2, n_classes=2)
fit(network, spirals(64, 16), epochs=1)
print("the rest works")
try:
    from highway_lessons import pytorch
except ModuleNotFoundError as error:
    print(error, error._render_traceback_() == [str(error)])
"""


def test_where_torch_is_missing_one_sentence_says_so_and_the_rest_works():
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == "the rest works"
    assert second.startswith("This page needs PyTorch, which is not installed: run  pip install torch ")
    assert second.endswith("then restart the kernel. True")
    assert done.stderr == ""


def imports_of_torch(tree, inside=False):
    """Yield, for each import of torch, whether it stands inside a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            if any(module.split(".")[0] == "torch" for module in modules):
                yield inside
        yield from imports_of_torch(node, inside or isinstance(node, ast.FunctionDef))


def test_only_one_module_imports_torch():
    """The checks of the exercises do, too, but only once there is an answer to check."""
    package = ROOT / "src" / "highway_lessons"
    found = {}
    for path in package.rglob("*.py"):
        inside = set(imports_of_torch(ast.parse(path.read_text(encoding="utf8"))))
        if inside:
            found[path.relative_to(package).as_posix()] = inside
    assert found == {"pytorch.py": {False}, "exercises/pytorch.py": {True}}


def test_a_fresh_layer_starts_like_the_numpy_one():
    """Weights from U(±1/√n), the same spread in both."""
    layer, (W, b) = pt.HighwayLayer(64), uniform(np.random.default_rng(0), 64, 64)
    for theirs, ours in ((layer.gate.weight, W), (layer.transform.weight, W), (layer.transform.bias, b)):
        assert theirs.abs().max().item() <= 1 / 8
        assert theirs.std().item() == pytest.approx(ours.std(), rel=0.25)
