"""One colour code for the whole book, told apart by dash and marker as well. Figures and sliders both read it."""

from collections import Counter
from itertools import cycle
from typing import NamedTuple


class Line(NamedTuple):
    """How one series is drawn: colours on a light and a dark ground, SVG dash pattern ("" is solid), marker, width."""

    light: str
    dark: str
    dash: str
    marker: str
    width: float = 2.2


# The four kinds of block keep their looks everywhere, and no other series borrows them.
BLOCKS = {
    "highway": Line("#0072B2", "#6CB6FF", "", "o"),
    "plain": Line("#C44E00", "#FF9A62", "7 4", "s"),
    "residual": Line("#007A5A", "#4FD1A5", "2 3", "^"),
    "no block": Line("#666666", "#B0B0B0", "", "x", 1.2),
}
OTHERS = (
    Line("#7B3FA0", "#C9A6F5", "", "D"),
    Line("#7A5C00", "#E2C044", "9 3 2 3", "v"),
    Line("#A01A58", "#FF8AC0", "4 3", "P"),
    Line("#333333", "#E0E0E0", "1 3", "*"),
)


def lines(names):
    """Return one `Line` per series name: a name that begins with a kind of block takes that block's look.

    Parameters
    ----------
    names : list of str
        Series names, such as "highway" or "plain, He". Names of one kind share its colours and its marker and
        differ by dash only, so a figure should not hold more than two of a kind.

    Returns
    -------
    dict of str to Line
    """
    looks, others, times = {}, cycle(OTHERS), Counter()
    for name in names:
        kind = next((kind for kind in BLOCKS if name.startswith(kind)), None)
        look = BLOCKS[kind] if kind else next(others)
        again = times[look]
        times[look] += 1
        if again:
            dash = look.dash + " 1 3" * again if look.dash else "12 3" + " 1 3" * (again - 1)
            look = look._replace(dash=dash, width=1.4)
        looks[name] = look
    return looks


# What a picture's colours can stand for, on one of matplotlib's maps each, legible with any colour vision: three get
# lighter evenly from one end to the other, the signed one is pale at 0, orange below and purple above.
MAPS = {"gate": "viridis", "activation": "magma", "signed": "PuOr", "accuracy": "cividis"}


def map_stops(kind, n=33):
    """Return evenly spaced colours of a map; what lies between two of them is mixed from both.

    Parameters
    ----------
    kind : str
        A name of `MAPS`.
    n : int
        How many stops, both ends among them.

    Returns
    -------
    list of [red, green, blue]
        0 … 255 each, from the lower end to the upper end.
    """
    from matplotlib import colormaps

    ends = [i / (n - 1) for i in range(n)]
    return [[int(channel) for channel in colour[:3]] for colour in colormaps[MAPS[kind]](ends, bytes=True)]
