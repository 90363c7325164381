"""The same layer as an nn.Module, and the way from one to the other: the only module that imports torch.

PyTorch's conventions hold here: rows are examples, as everywhere in the course, but `nn.Linear` stores its matrix as
(n_out, n_in) and computes x Aᵀ + b, so W = Aᵀ.
"""

import numpy as np

from highway_lessons import _checks
from highway_lessons.blocks import Highway
from highway_lessons.datasets import Data
from highway_lessons.network import Network, Parameters


class TorchMissing(ModuleNotFoundError):
    """PyTorch is not installed; in a notebook the sentence stands alone, without a traceback."""

    def _render_traceback_(self):
        return [str(self)]


try:
    import torch
    from torch import nn
except ModuleNotFoundError:
    raise TorchMissing(
        "This page needs PyTorch, which is not installed: run  "
        "pip install torch  in a terminal (PyTorch's site has a small build for the CPU), then restart the kernel."
    ) from None

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


class HighwayLayer(nn.Module):
    """A highway block, y = H(x) · T(x) + x · (1 − T(x)), unit by unit.

    The gate bias b_T is a parameter of this layer and not of an `nn.Linear` inside, so that an initialiser applied
    later to every `nn.Linear` of a model cannot overwrite it.

    Parameters
    ----------
    width : int
        Units that come in and go out.
    gate_bias : float
        Start of every entry of b_T, the log-odds of the transform gate at x = 0; −2 gives T = 0.119.
    activation : {"relu", "tanh"}
        The nonlinearity of the transform H.
    device, dtype : optional
        Where the parameters live, and their type; as in `nn.Linear`.

    Attributes
    ----------
    transform : nn.Linear
        W_Hᵀ, (width, width), and b_H.
    gate : nn.Linear
        W_Tᵀ, (width, width), without a bias.
    b_T : nn.Parameter of shape (width,)

    Raises
    ------
    ValueError, TypeError
        If `width` is not a whole number above 0, `gate_bias` is not finite or `activation` is unknown.

    References
    ----------
    Srivastava, Greff and Schmidhuber (2015), arXiv 1507.06228, eq. 3.
    """

    def __init__(
        self,
        width: int,
        gate_bias: float = -2.0,
        activation: str = "relu",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.width = _checks.integer("width", width, 1)
        self.gate_bias = _checks.real("gate_bias", gate_bias)
        self.activation = activation
        self.f = _checks.choice("activation", activation, ACTIVATIONS)
        self.transform = nn.Linear(self.width, self.width, device=device, dtype=dtype)
        self.gate = nn.Linear(self.width, self.width, bias=False, device=device, dtype=dtype)
        self.b_T = nn.Parameter(torch.full((self.width,), self.gate_bias, device=device, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return y, of the shape of x, (..., width)."""
        if x.shape[-1] != self.width:
            raise ValueError(
                f"x has width {x.shape[-1]}, but {self.width} was expected; "
                "put an nn.Linear in front to change the width."
            )
        H = self.f(self.transform(x))
        T = torch.sigmoid(self.gate(x) + self.b_T)
        return H * T + x * (1 - T)

    def reset_parameters(self) -> None:
        """Draw W_H, b_H and W_T anew, as PyTorch draws them, and set every gate bias to its start."""
        self.transform.reset_parameters()
        self.gate.reset_parameters()
        nn.init.constant_(self.b_T, self.gate_bias)

    def extra_repr(self) -> str:
        """Say what `print` shows of the layer besides its parts."""
        return f"width={self.width}, gate_bias={self.gate_bias:g}, activation={self.activation!r}"


def resized(x: torch.Tensor, width: int) -> torch.Tensor:
    """Change the width of x, (..., n_in), without a weight: zeros on the right, or every so many-th unit.

    Returns
    -------
    tensor of shape (..., width)
    """
    n_in = x.shape[-1]
    if width >= n_in:
        return nn.functional.pad(x, (0, width - n_in))
    return x[..., torch.arange(width, device=x.device) * n_in // width]


class HighwayResize(nn.Module):
    """A highway layer from one width to another: the carry is zero-padded or sub-sampled to fit.

    Parameters
    ----------
    n_in, n_out : int
        Units that come in and go out.
    gate_bias, activation, device, dtype
        As in `HighwayLayer`.

    Attributes
    ----------
    transform : nn.Linear
    gate : nn.Linear
        Without a bias.
    b_T : nn.Parameter of shape (n_out,)

    Raises
    ------
    ValueError, TypeError
        If a width is not a whole number above 0, `gate_bias` is not finite or `activation` is unknown.

    References
    ----------
    Srivastava, Greff and Schmidhuber (2015), arXiv 1507.06228, name both ways, and use a plain layer themselves.
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        gate_bias: float = -2.0,
        activation: str = "relu",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.n_in, self.n_out = _checks.integer("n_in", n_in, 1), _checks.integer("n_out", n_out, 1)
        self.gate_bias = _checks.real("gate_bias", gate_bias)
        self.activation = activation
        self.f = _checks.choice("activation", activation, ACTIVATIONS)
        self.transform = nn.Linear(self.n_in, self.n_out, device=device, dtype=dtype)
        self.gate = nn.Linear(self.n_in, self.n_out, bias=False, device=device, dtype=dtype)
        self.b_T = nn.Parameter(torch.full((self.n_out,), self.gate_bias, device=device, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return y, of shape (..., n_out), for x of shape (..., n_in)."""
        if x.shape[-1] != self.n_in:
            raise ValueError(f"x has width {x.shape[-1]}, but n_in, {self.n_in}, was expected; set n_in to that width.")
        H = self.f(self.transform(x))
        T = torch.sigmoid(self.gate(x) + self.b_T)
        return H * T + resized(x, self.n_out) * (1 - T)

    reset_parameters = HighwayLayer.reset_parameters

    def extra_repr(self) -> str:
        """Say what `print` shows of the layer besides its parts."""
        return f"n_in={self.n_in}, n_out={self.n_out}, gate_bias={self.gate_bias:g}, activation={self.activation!r}"


class HighwayConv2d(nn.Module):
    """A convolutional highway block: transform and gate are convolutions, and the carry is the block's own input.

    Parameters
    ----------
    channels : int
        Channels that come in and go out.
    kernel_size : int
        Side of the square that transform and gate look at, odd, so that zero-padding keeps height and width.
    gate_bias, activation, device, dtype
        As in `HighwayLayer`; the gate bias is one number per channel.

    Attributes
    ----------
    transform, gate : nn.Conv2d
        The gate's without a bias.
    b_T : nn.Parameter of shape (channels, 1, 1)

    Raises
    ------
    ValueError, TypeError
        If a size is not a whole number in its range, `gate_bias` is not finite or `activation` is unknown.

    References
    ----------
    Srivastava, Greff and Schmidhuber (2015), arXiv 1507.06228: transform and gate share the receptive field, and
    zero-padding keeps the size.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: int = 3,
        gate_bias: float = -2.0,
        activation: str = "relu",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.channels = _checks.integer("channels", channels, 1)
        self.kernel_size = _checks.integer("kernel_size", kernel_size, 1)
        if self.kernel_size % 2 == 0:
            raise ValueError(f"kernel_size must be odd, but {kernel_size} came; an even one has no centre.")
        self.gate_bias = _checks.real("gate_bias", gate_bias)
        self.activation = activation
        self.f = _checks.choice("activation", activation, ACTIVATIONS)
        shape = {"kernel_size": self.kernel_size, "padding": self.kernel_size // 2, "device": device, "dtype": dtype}
        self.transform = nn.Conv2d(self.channels, self.channels, **shape)
        self.gate = nn.Conv2d(self.channels, self.channels, bias=False, **shape)
        self.b_T = nn.Parameter(torch.full((self.channels, 1, 1), self.gate_bias, device=device, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return y, of the shape of x, (batch, channels, height, width)."""
        if x.dim() < 3 or x.shape[-3] != self.channels:
            raise ValueError(
                f"x must have shape (batch, {self.channels}, height, width), but it has shape {tuple(x.shape)}; "
                "put an nn.Conv2d in front to change the number of channels."
            )
        H = self.f(self.transform(x))
        T = torch.sigmoid(self.gate(x) + self.b_T)
        return H * T + x * (1 - T)

    reset_parameters = HighwayLayer.reset_parameters

    def extra_repr(self) -> str:
        """Say what `print` shows of the layer besides its parts."""
        return (
            f"channels={self.channels}, kernel_size={self.kernel_size}, "
            f"gate_bias={self.gate_bias:g}, activation={self.activation!r}"
        )


class HighwayNetwork(nn.Module):
    """Input layer, `depth` highway layers, linear head: what `highway_lessons.Network` is with a `Highway` block.

    Parameters
    ----------
    depth, width, n_in, n_classes : int
        As in `highway_lessons.Network`.
    gate_bias, activation, device, dtype
        As in `HighwayLayer`; the activation is the input layer's, too.

    Attributes
    ----------
    input, head : nn.Linear
    blocks : nn.Sequential of HighwayLayer
    """

    def __init__(
        self,
        depth: int = 10,
        width: int = 64,
        n_in: int = 64,
        n_classes: int = 10,
        gate_bias: float = -2.0,
        activation: str = "relu",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        network = Network(Highway(gate_bias, activation), depth, width, n_in, n_classes)  # checks its arguments
        where = {"device": device, "dtype": dtype}
        layers = (HighwayLayer(network.width, gate_bias, activation, **where) for _ in range(network.depth))
        self.f = ACTIVATIONS[activation]
        self.input = nn.Linear(network.n_in, network.width, **where)
        self.blocks = nn.Sequential(*layers)
        self.head = nn.Linear(network.width, network.n_classes, **where)
        self.network = network

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return logits, of shape (batch, n_classes), for x of shape (batch, n_in)."""
        return self.head(self.blocks(self.f(self.input(x))))


NAMES = {
    "W": "weight", "b": "bias",
    "W_H": "transform.weight", "b_H": "transform.bias", "W_T": "gate.weight", "b_T": "b_T",
}  # fmt: skip


def torch_name(name: str) -> str:
    """Turn a name of `Parameters.named`, such as "blocks.0.W_T", into that of the module, "blocks.0.gate.weight"."""
    layer, _, array = name.rpartition(".")
    return f"{layer}.{NAMES[array]}"


def copy_to_torch(params: Parameters, device: torch.device | str | None = None) -> HighwayNetwork:
    """Make the PyTorch network with the same numbers; each matrix is transposed.

    Parameters
    ----------
    params : Parameters
        Of a network of `Highway` blocks; left as they are.
    device : optional
        Where the copy lives; by default PyTorch's default device.

    Returns
    -------
    HighwayNetwork
        In the dtype of `params`, float64 or float32.

    Raises
    ------
    TypeError
        If `params` are no `Parameters`, or their blocks are not `Highway` blocks.
    """
    params = _checks.has("params", params, ("network", "flat", "named"), "network.initialise(0)")
    network, block = params.network, params.network.block
    if type(block) is not Highway:
        raise TypeError(f"params must belong to a network of Highway blocks, but its block is {block}.")
    sizes = (network.depth, network.width, network.n_in, network.n_classes)
    model = HighwayNetwork(*sizes, block.gate_bias, block.activation, device, getattr(torch, params.flat.dtype.name))
    with torch.no_grad():
        for name, array in params.named():
            model.get_parameter(torch_name(name)).copy_(torch.tensor(array.T))
    return model


def copy_from_torch(model: HighwayNetwork, gradients: bool = False) -> Parameters:
    """Make `Parameters` with the numbers of a PyTorch network, or with their gradients; each matrix is transposed.

    Parameters
    ----------
    model : HighwayNetwork
        On any device; compiled or not.
    gradients : bool
        Copy the gradients that ``loss.backward()`` left there instead.

    Returns
    -------
    Parameters
        float64 from float64, otherwise float32. Its network has the model's sizes, gate bias and activation.

    Raises
    ------
    TypeError
        If `model` is no `HighwayNetwork`.
    ValueError
        If gradients are asked for and there are none, or if the model's parameters no longer have the names and shapes
        that it was made with.
    """
    network = _checks.has("model", model, ("network", "get_parameter"), "HighwayNetwork(depth=10)").network
    params = network.zeros("float64" if model.head.weight.dtype == torch.float64 else "float32")
    made = {torch_name(name): array.T.shape for name, array in params.named()}
    parameters = model.named_parameters(remove_duplicate=False)
    came = {name.replace("_orig_mod.", ""): tuple(p.shape) for name, p in parameters}  # compiled parts have the prefix
    if made != came:
        name = min(name for name, _ in made.items() ^ came.items())
        raise ValueError(
            f"model must have the shapes that it was made with, but {name} has {came.get(name, 'none')} "
            f"in place of {made.get(name, 'none')}; make a new HighwayNetwork of the sizes that you want."
        )
    for name, array in params.named():
        tensor = model.get_parameter(torch_name(name))
        if gradients:
            if tensor.grad is None:
                raise ValueError(
                    f"gradients are expected, but {torch_name(name)} has none; call loss.backward() first."
                )
            tensor = tensor.grad
        array[:] = tensor.detach().to("cpu", getattr(torch, array.dtype.name)).numpy().T
    return params


def fit(
    model: nn.Module,
    data: Data,
    optimiser: torch.optim.Optimizer | None = None,
    epochs: int = 30,
    batch_size: int = 64,
    rng: int | np.random.Generator = 0,
) -> dict[str, list[float]]:
    """Train a PyTorch model on mini-batches, drawn as `highway_lessons.fit` draws them where it is given `params`.

    Parameters
    ----------
    model : nn.Module
        Takes x in the type of its own parameters and returns logits; it is changed.
    data : Data
        See `highway_lessons.datasets`; images may have any shape, and the test part may be None.
    optimiser : torch.optim.Optimizer, optional
        Of the model's parameters; by default Adam at 0.001.
    epochs, batch_size, rng
        As in `highway_lessons.fit`.

    Returns
    -------
    dict of list
        "train_loss", "train_accuracy", "last_batch_loss" and, with test data, "test_loss" and "test_accuracy":
        one entry per epoch, as in `highway_lessons.fit`.
    """
    rng = _checks.generator(rng)
    optimiser = optimiser or torch.optim.Adam(model.parameters(), lr=1e-3)
    like = next(model.parameters())
    x = torch.as_tensor(data.x_train, dtype=like.dtype, device=like.device)
    labels = torch.as_tensor(data.y_train, dtype=torch.int64, device=like.device)
    history = {"train_loss": [], "train_accuracy": [], "last_batch_loss": []}
    for _ in range(_checks.integer("epochs", epochs, 0)):
        model.train()
        summed_loss, correct, order = 0.0, 0, torch.from_numpy(rng.permutation(len(x)))
        for batch in order.to(like.device).split(_checks.integer("batch_size", batch_size, 1)):
            logits = model(x[batch])
            loss = nn.functional.cross_entropy(logits, labels[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            summed_loss += loss.item() * len(batch)
            correct += (logits.argmax(dim=1) == labels[batch]).sum().item()
        history["train_loss"].append(summed_loss / len(x))
        history["train_accuracy"].append(correct / len(x))
        history["last_batch_loss"].append(loss.item())
        if data.x_test is not None:
            for name, value in evaluate(model, data.x_test, data.y_test).items():
                history.setdefault(f"test_{name}", []).append(value)
    return history


@torch.no_grad()
def evaluate(model: nn.Module, x: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return the mean cross-entropy, "loss" (nats), and the "accuracy" (0 … 1) of a model on a batch, in eval mode."""
    model.eval()
    like = next(model.parameters())
    logits = model(torch.as_tensor(x, dtype=like.dtype, device=like.device))
    labels = torch.as_tensor(labels, dtype=torch.int64, device=like.device)
    loss = nn.functional.cross_entropy(logits, labels).item()
    return {"loss": loss, "accuracy": (logits.argmax(dim=1) == labels).double().mean().item()}
