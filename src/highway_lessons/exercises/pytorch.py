"""Write it in PyTorch: checks that import torch only when there is an answer to check."""

import math

import numpy as np

from highway_lessons.blocks import Highway
from highway_lessons.exercises.verdict import Verdict, given, given_by, number
from highway_lessons.network import Network


def check_float32_gap(gap):
    """Largest difference of the logits of one network of 5 blocks in NumPy and in PyTorch, both in float32."""
    gap = given(gap)
    if isinstance(gap, Verdict):
        return gap
    if gap <= 0:
        return Verdict(
            False, f"a largest difference is above 0, but {gap:g} came; a power of ten such as 1e-3 will do."
        )
    measured = float32_gap()
    if abs(math.log10(gap / measured)) <= 1:
        return Verdict(True, f"measured, it is {measured:.0e}: a few units in the last place of float32.")
    if gap < 1e-12:
        return Verdict(False, "so fine a difference does not exist in float32: its numbers have 24 binary digits.")
    side = "large" if gap > measured else "small"
    return Verdict(
        False,
        f"{gap:.0e} is too {side}. The spacing of float32 near 1 is 1.2e-7; near 0.1, where the logits are, it is "
        "finer, and some roundings add up.",
    )


def float32_gap():
    """Measure that difference, for the net and the inputs of F9."""
    import torch

    from highway_lessons.pytorch import copy_to_torch

    network = Network(Highway(-2.0), depth=5)
    params = network.initialise(0, dtype=np.float32)
    x = np.random.default_rng(1).normal(size=(8, 64)).astype(np.float32)
    with torch.no_grad():
        theirs = copy_to_torch(params, "cpu")(torch.tensor(x)).numpy()
    return float(abs(network.forward(params, x)[0] - theirs).max())


def check_decayed_gate(gate):
    """Transform gate at x = 0 after 100 000 updates of AdamW's defaults whose loss says nothing of the gate bias."""
    left = (1 - 1e-3 * 0.01) ** 100_000

    def sigmoid(z):
        return 1 / (1 + math.exp(-z))

    return number(
        gate,
        sigmoid(-2 * left),
        0.004,
        "Each update multiplies b_T by 1 − learning rate · weight decay; take the power, times −2, then the sigmoid.",
        [
            (-2 * left, "that is the gate *bias* that is left; the gate is its sigmoid."),
            (sigmoid(-2.0), "that is the gate at the start; the decay moves the bias towards 0 in each update."),
            (left, "that is the share of the gate bias that is left; multiply by −2 and take the sigmoid."),
            (sigmoid(-2) * left, "decay shrinks the *bias*, not the gate: a bias nearer to 0 is a gate further open."),
            (0.5, "the bias is on its way to 0, but after these updates a good third of it is left."),
        ],
    )


def check_groups(groups):
    """A function groups(model) -> parameter groups for AdamW that decay every matrix and no gate bias."""
    import torch

    from highway_lessons.pytorch import HighwayNetwork

    model = HighwayNetwork(depth=2, width=4, n_in=3, n_classes=2, device="cpu", dtype=torch.float64)
    answer = given_by(groups, "groups(model)", model)
    if isinstance(answer, Verdict):
        return answer
    try:
        optimiser = torch.optim.AdamW(answer, lr=0.1)
    except Exception as error:  # whatever PyTorch finds wrong with them
        return Verdict(False, f"AdamW does not take these groups: {error}")
    taken = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    missing = [name for name, p in model.named_parameters() if not any(p is other for other in taken)]
    if missing:
        return Verdict(
            False, f"{len(missing)} parameters are in no group and would never be trained, first {missing[0]}."
        )
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    moved = {name for name, p in model.named_parameters() if not torch.equal(p, before[name])}
    for name, parameter in before.items():
        if name.endswith("b_T") and name in moved:
            return Verdict(False, f"{name} still decays; give its group weight_decay=0.")
        if parameter.dim() == 2 and name not in moved:
            return Verdict(
                False, f"{name} does not decay, though it is a matrix; only the gate bias was to be left out."
            )
    return Verdict(True, "with gradients of 0 every matrix shrinks, and every gate bias stays at −2.")


def check_from_carry_gate(convert, width=5):
    """A function convert(weight, bias) -> state_dict of a `HighwayLayer`, for a fused layer whose gate is the carry."""
    import torch

    from highway_lessons.pytorch import HighwayLayer

    generator = torch.Generator().manual_seed(0)
    weight, bias, x = (
        torch.randn(*shape, generator=generator) for shape in ((2 * width, width), (2 * width,), (6, width))
    )
    z_H, z_C = (x @ weight.T + bias).chunk(2, dim=1)

    def y(transform, carry_gate):
        return carry_gate * x + (1 - carry_gate) * torch.relu(transform)

    layer = HighwayLayer(width, device="cpu", dtype=torch.float32)
    answer = given_by(convert, "convert(weight, bias)", weight.clone(), bias.clone())
    if isinstance(answer, Verdict):
        return answer
    try:
        layer.load_state_dict(answer)
    except Exception as error:  # whatever PyTorch finds wrong with it
        return Verdict(False, f"load_state_dict does not take it: {' '.join(str(error).split())}")
    b_C = bias[width:]
    with torch.no_grad():
        found = layer(x)
    if torch.allclose(found, y(z_H, torch.sigmoid(z_C)), atol=1e-5):
        return Verdict(True, "the layer computes what the fused one does, on six examples.")
    mistakes = {
        "the gate has the wrong sign: theirs carries, ours transforms, and 1 − σ(z) = σ(−z).": (
            z_H,
            torch.sigmoid(-z_C),
        ),
        "the matrix of the gate has the right sign, its bias has not.": (z_H, torch.sigmoid(z_C - 2 * b_C)),
        "the bias of the gate has the right sign, its matrix has not.": (z_H, torch.sigmoid(2 * b_C - z_C)),
        "the halves are exchanged: the first rows are the transform.": (z_C, torch.sigmoid(z_H)),
        "the halves are exchanged, and the gate has the wrong sign.": (z_C, torch.sigmoid(-z_H)),
    }
    for sentence, halves in mistakes.items():
        if torch.allclose(found, y(*halves), atol=1e-5):
            return Verdict(False, sentence)
    return Verdict(False, f"the outputs differ by up to {(found - y(z_H, torch.sigmoid(z_C))).abs().max():.2g}.")
