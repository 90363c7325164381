"""`living_net(nets, …)`: trained spirals networks that you take apart, computing where they are read.

`living.js` runs the whole network in the page, so there are no frames: a page needs the network's numbers, and a
notebook's kernel is only told what is switched off.
"""

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import traitlets

from highway_lessons import _checks, gates
from highway_lessons.sliders import frames, images
from highway_lessons.sliders.frames import stop_text
from highway_lessons.sliders.images import Colours
from highway_lessons.sliders.widget import OffTheGrid, Widget, close_earlier, read
from highway_lessons.studies import living

SIDE = np.linspace(-2, 2, 64)  # a picture has 64 × 64 points, as `gates.plane(n=64)`
COLOURS = {
    "plane": Colours("signed", (-1, 1), "how sure: from arm 0 (solid) to arm 1 (dashed)"),
    "blocks": Colours("gate", (0, 1), "transform gate"),
}
ORDERS = {  # of the twin's blocks: in the choice, and for n of all L blocks in words, which are off, the record's list
    "first": ("the first blocks", "the first {n} of {L} blocks off", lambda n, L: range(n), "first_test"),
    "last": ("the last blocks", "the last {n} of {L} blocks off", lambda n, L: range(L - n, L), "head_test"),
    "one": ("the block with this number alone", "block {n} of {L} off", lambda n, L: range(n)[-1:], "single_test"),
}
QUESTION = "Before you touch it: how many blocks can you switch off before the answer is no better than a coin's toss?"
MEANING = (
    "What this shows: what these trained networks need, with everything else left as it was. What it does not show: "
    "what a network would learn that was trained without these blocks, or with constant gates. "
    f"We call {100 * (0.5 - living.TOSS):.0f} to {100 * (0.5 + living.TOSS):.0f} % right a coin's toss."
)


def living_net(nets, *, caption, twin=None, small=False):
    """Draw a trained network whose blocks you switch off and on: it computes in the page, and in a notebook.

    Parameters
    ----------
    nets : list of RecordedNet
        From `highway_lessons.studies.living.net`, of one shape; the reader chooses between their seeds.
    caption : str
        One sentence under the figure.
    twin : list of dict, optional
        Points of the study of lesions, of the same seeds: a deep network, too large to compute here, whose recorded
        accuracies stand on a second tab.
    small : bool
        The plane, the blocks and the gate bias alone.

    Returns
    -------
    LivingNet
        The widget: as the last line of a cell it shows itself.

    Raises
    ------
    ValueError, TypeError
        One sentence: what came, what was expected.
    """
    if not isinstance(nets, list | tuple) or not nets or not all(isinstance(net, living.RecordedNet) for net in nets):
        came = _checks.describe(nets)
        raise TypeError(f"nets must be a list such as [studies.living.net(0)], but {came} came.")
    seeds, recorded = [net.seed for net in nets], {point["seed"]: point for point in twin or []}
    if twin is not None and not set(seeds) <= set(recorded):
        raise ValueError(f"twin must hold the seeds of nets, {seeds}, but it holds {sorted(recorded)}.")
    _checks.text("caption", caption)
    widget = LivingNet(nets, caption, [recorded[seed] for seed in seeds] if twin else [], _checks.flag("small", small))
    close_earlier(widget)
    return widget


class LivingNet(Widget):
    """What `living_net` returns: a trained network to take apart.

    Attributes
    ----------
    value : dict
        What the reader has done: read it, observe it, set it. "blocks_off" (a list, counted from 1), "gates_frozen",
        "gate_bias_offset", "read_after" (a block, 0 … depth), "probe" (read by a linear probe, not by the own head),
        "unit" whose gates are shown (0: their mean), "seed"; "tab" (1: the twin), "twin_order" ("first", "last",
        "one") and "twin_number".
        A name left out stays as it is; a value that a control cannot take raises a sentence. Assign a dict.
    """

    _esm = read("elements.js", "controls.js", "image.js", "living.js")
    _css = read("explore.css", "living.css")
    made = traitlets.Dict().tag(sync=True)  # all that never changes: the networks' numbers, texts, axes
    start = traitlets.Dict().tag(sync=True)
    value = traitlets.Dict().tag(sync=True)

    def __init__(self, nets, caption, twin, small):
        self._nets, self._twin = {net.seed: net for net in nets}, {point["seed"]: point for point in twin}
        network = nets[0].network
        self._can = {
            "gates_frozen": [False, True],
            "gate_bias_offset": living.OFFSETS,
            "read_after": list(range(network.depth + 1)),
            "probe": [False, True],
            "unit": list(range(network.width + 1)),
            "seed": list(self._nets),
            "tab": [0, 1] if twin else [0],
            "twin_order": list(ORDERS),
            "twin_number": list(range(1 + twin[0]["depth"] if twin else 1)),
        }
        start = {"blocks_off": []} | {name: values[0] for name, values in self._can.items()}
        self._last = start | {"gate_bias_offset": 0.0, "read_after": network.depth}
        super().__init__(made=self._made(network, caption, small), start=dict(self._last), value=dict(self._last))

    @traitlets.validate("value")
    def _accept(self, proposal):
        value = proposal.value
        if not isinstance(value, dict) or not set(value) <= set(self._last):
            names = ", ".join(map(repr, self._last))
            raise OffTheGrid(f"value must be a dict with some of the names {names}, but {value!r} came.")
        value = self._last | value
        for name, values in self._can.items():
            came = value[name]
            own = [one for one in values if one == came and isinstance(one, bool) == isinstance(came, bool)]
            if not own:
                raise OffTheGrid(f"value[{name!r}] must be one of {', '.join(map(str, values))}, but {came!r} came.")
            value[name] = own[0]
        depth, off = self._can["read_after"][-1], value["blocks_off"]
        if not isinstance(off, list | tuple) or not all(type(n) is int and 1 <= n <= depth for n in off):
            raise OffTheGrid(f"value['blocks_off'] must be a list of blocks, 1 … {depth}, but {off!r} came.")
        self._last = value | {"blocks_off": sorted(set(off))}
        return dict(self._last)

    @property
    def sliders(self):
        """The sliders of the first tab: name, label, values and texts of each."""
        return self.made["sliders"]

    def answer(self, x, **changed):
        """Compute by NumPy what the page computes: `studies.living.answer` for x where the controls stand now.

        Parameters
        ----------
        x : array_like of shape (batch, 2)
        **changed
            Values to take instead, such as ``blocks_off=[3]``.

        Returns
        -------
        Answer
        """
        value = self._last | changed
        names = ("blocks_off", "gates_frozen", "gate_bias_offset", "read_after", "probe")
        return living.answer(self._nets[value["seed"]], x, **{name: value[name] for name in names})

    def accuracy(self, **changed):
        """Share of the test points on which the network is right where the controls stand now, or with `changed`."""
        net = self._nets[(self._last | changed)["seed"]]
        return float((self.answer(net.x, **changed).logits.argmax(axis=1) == net.y).mean())

    def _made(self, network, caption, small):
        """All that living.js needs and nobody changes."""
        axes = _axes(dict.fromkeys(COLOURS, np.zeros((len(SIDE), len(SIDE)))), COLOURS)
        offsets = [("+" if offset > 0 else "") + stop_text(offset) for offset in living.OFFSETS]
        stops = self._can["read_after"]
        sliders = [
            _slider("gate_bias_offset", living.OFFSETS, offsets),
            _slider("read_after", stops, label="read after block"),
        ]
        ticks = [["gates_frozen", "freeze gates at their mean"], ["probe", "read by a linear probe"]]
        units = [[unit, f"unit {unit}" if unit else "mean over units"] for unit in self._can["unit"]]
        seeds = ["seed", "training seed", [[seed, str(seed)] for seed in self._nets]]
        low, high = SIDE[0] - (SIDE[1] - SIDE[0]) / 2, SIDE[-1] + (SIDE[1] - SIDE[0]) / 2  # the picture's edges
        return {
            "depth": network.depth,
            "width": network.width,
            "nets": {str(seed): _numbers(net) for seed, net in self._nets.items()},
            "compared": self._compared(),
            "side": SIDE.tolist(),
            "axes": {name: axes[name] for name in ("xlabel", "ylabel", "columns", "rows", "bars", "shape")},
            "looks": [{"name": "plane", "before": "", "bar": 0}],
            "arms": ["M" + "L".join(f"{x:.3f},{-y:.3f}" for x, y in arm) for arm in _arms()],
            "view": f"{low:.4f} {low:.4f} {high - low:.4f} {high - low:.4f}",
            "sliders": sliders[:1] if small else sliders,
            "ticks": [] if small else ticks,
            "choices": [] if small else [["unit", "gates of", units], seeds],
            "twin": self._made_twin(seeds) if self._twin else None,
            "toss": living.TOSS,
            "question": QUESTION,
            "meaning": MEANING,
            "caption": caption,
        }

    def _made_twin(self, seeds):
        """The second tab: for each order, and n = 0, 1, … blocks, what is off, in words, and how often it is right."""
        numbers, L = self._can["twin_number"], self._can["twin_number"][-1]
        choices = ["twin_order", "switch off", [[name, choice] for name, (choice, *_) in ORDERS.items()]]
        return {
            "depth": L,
            "images": TEST_IMAGES,
            "says": {name: [_twin_words(name, n, L) for n in numbers] for name in ORDERS},
            "off": {
                name: [[block + 1 for block in which(n, L)] for n in numbers] for name, (*_, which, _) in ORDERS.items()
            },
            "accuracy": {
                str(seed): {name: _recorded(point, name) for name in ORDERS} for seed, point in self._twin.items()
            },
            "sliders": [_slider("twin_number", numbers, label="number")],
            "ticks": [],
            "choices": [choices, seeds],
        }

    def _compared(self):
        """Some logits of the first network, for the page to compare with its own."""
        x, seed = gates.plane(n=5), next(iter(self._nets))
        states = [{**self._last, "seed": seed, **changed} for changed in COMPARED]
        logits = [self.answer(x, **state).logits.ravel().tolist() for state in states]
        return {"seed": seed, "x": x.ravel().tolist(), "states": list(zip(states, logits, strict=True))}

    def _words(self):
        value = self._last
        place = {"gate bias offset": value["gate_bias_offset"], "read after block": value["read_after"]}
        return self.made["caption"], frames.place(place)

    def _state(self):
        return {name: getattr(self, name) for name in ("made", "start", "value")}

    def _sentence(self):
        """Say what the figure shows, as `inWords` in living.js does."""
        value, depth = self._last, self._can["read_after"][-1]
        if value["tab"]:
            order, n = value["twin_order"], value["twin_number"]
            share = _recorded(self._twin[value["seed"]], order)[n]
            said = _twin_words(order, n, self._can["twin_number"][-1])
            right = f"right on {_in_percent(share)} of {TEST_IMAGES} test images"
            return f"Seed {value['seed']}, {said}: {right}, as recorded."
        off = list(map(str, value["blocks_off"]))
        which = (
            f"block{'s' if len(off) > 1 else ''} {' and '.join([', '.join(off[:-1]), *off[-1:]][not off[:-1] :])} off"
        )
        parts = ["all blocks on" if not off else "all blocks off" if len(off) == depth else which]
        if value["gates_frozen"]:
            parts.append("gates frozen at their means")
        if value["gate_bias_offset"]:
            sign = "+" if value["gate_bias_offset"] > 0 else ""
            parts.append(f"gate biases {sign}{stop_text(value['gate_bias_offset'])}")
        if value["probe"] or value["read_after"] < depth:
            reader = "a probe fitted to the whole network" if value["probe"] else "the network's own head"
            parts.append(f"read after block {value['read_after']} by {reader}")
        share, points = self.accuracy(), len(self._nets[value["seed"]].y)
        toss = f"{'worse' if share < 0.5 else 'better'} than a coin's toss"
        toss = "a coin's toss" if abs(share - 0.5) <= living.TOSS else toss
        how = "all of them" if share == 1 else "nearly all of them" if share >= 0.99 else toss
        return (
            f"Seed {value['seed']}, {', '.join(parts)}: right on {_in_percent(share)} of {points} test points, {how}."
        )

    def _figure(self):
        """The plane with its arms, then the gates of each block."""
        logits, T = self.answer(gates.plane(n=len(SIDE)))
        shape = (len(SIDE), len(SIDE))
        unit = slice(None) if not self._last["unit"] else [self._last["unit"] - 1]
        series = {"answer": np.tanh((logits[:, 1] - logits[:, 0]) / 2).reshape(shape)}
        series |= {f"block {n + 1}": T_l[:, unit].mean(axis=1).reshape(shape) for n, T_l in enumerate(T)}
        colours = {name: COLOURS["blocks" if name.startswith("block") else "plane"] for name in series}
        axes = _axes(series, colours)
        figure = images.picture({}, series, axes, self._sentence())
        for arm, dashes in zip(_arms(), ("-", "--"), strict=True):
            x, y = np.interp(np.transpose(arm), SIDE, np.arange(len(SIDE)) + 0.5)  # in cells
            figure.axes[0].plot(x, y, "white", linewidth=1.6)
            figure.axes[0].plot(x, y, "black", linewidth=0.7, linestyle=dashes)
        return figure, False


COMPARED = (
    {},
    {"blocks_off": [4]},
    {"blocks_off": [2, 5, 9]},
    {"gates_frozen": True},
    {"gate_bias_offset": 0.3},
    {"read_after": 8, "probe": True},
)
TEST_IMAGES = 540  # of the digits, in every split


def _slider(name, values, texts=None, label=None):
    texts = texts or [str(value) for value in values]
    return {"name": name, "label": label or name.replace("_", " "), "values": values, "texts": texts}


def _numbers(net):
    """A recorded network as living.js reads it: matrices column after column, what it is tested on."""

    def column_by_column(layer):
        return {name: np.ravel(array, order="F").tolist() for name, array in layer.items()}

    return {
        "input": column_by_column(net.params.input),
        "head": column_by_column(net.params.head),
        "blocks": [column_by_column(views) for views in net.params.blocks],
        "probes": [column_by_column({"W": probe[:-1], "b": probe[-1]}) for probe in net.probes],
        "frozen": living.log_odds(net.frozen_gates)[:, 0].tolist(),
        "x": net.x.ravel().tolist(),
        "y": net.y.tolist(),
    }


def _axes(series, colours):
    """The axes of pictures over the plane, as image.js reads them."""
    axes = images.axes({"columns": SIDE, "rows": SIDE, "first": 1, "equal": True, "colours": colours}, series)
    for bar, kind in zip(axes["bars"], dict.fromkeys(colours.values()), strict=True):
        bar["label"] = kind.label  # without the names of the pictures, which say it themselves
    return axes | {"xlabel": "first input", "ylabel": "second input"}


def _arms(turns=5):
    """The two arms as lines: arrays of shape (points, 2)."""
    r = np.sqrt(np.linspace(0.02, 1, 40 * turns))
    for arm in (0, 1):
        angle = 2 * np.pi * (turns * r + arm / 2)
        yield 2 * r[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _in_percent(share):
    """Write a share as the page's JavaScript does: halves go up, where Python would round to an even digit."""
    return f"{Decimal(100 * share).quantize(Decimal('0.1'), ROUND_HALF_UP)} %"


def _twin_words(order, n, L):
    return "digits, " + (ORDERS[order][1].format(n=n, L=L) if n else "all blocks on")


def _recorded(point, order):
    """Accuracies of a recorded digits network with n = 0, 1, … blocks off, in this order."""
    curve = point["curves"][ORDERS[order][3]]
    return {"first": curve, "last": curve[::-1], "one": [point["test_accuracy"], *curve]}[order]
