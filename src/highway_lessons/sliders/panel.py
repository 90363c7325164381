"""A panel that trains: in a notebook with a kernel it trains a network, on a page it shows recorded trainings.

The kernel trains in a thread beside the notebook, so that Stop and other cells are heard; while a long cell runs, Stop
waits for its end, and the notebook's own interrupt does not reach that thread. A control that is moved does nothing by
itself: only Train starts something, and only one training at a time.
"""

import threading
import time

import numpy as np
import traitlets

from highway_lessons import _checks
from highway_lessons.datasets import digits
from highway_lessons.network import Network
from highway_lessons.notebook import building_book
from highway_lessons.palette import lines
from highway_lessons.sliders.frames import MARKERS, Band, Curve, Dots, kind, stop_text, ticks
from highway_lessons.sliders.widget import OffTheGrid, Widget, close_earlier, read
from highway_lessons.studies.recorded import EPOCHS, GRID, nearest, optimisers, ordered, recorded
from highway_lessons.studies.trainings import make_block, make_optimiser
from highway_lessons.training import fit

SEED = 0
START = {"block": "highway", "depth": 20, "gate_bias": -2.0, "optimiser": "Adam", "learning_rate": 1e-3}
AXES = {"xlabel": "epoch", "ylabel": "test accuracy, %", "xlim": (0, 31), "ylim": (0, 100)}
IDLE = "Nothing is trained yet. Choose a setting, say what you expect, then press Train."
LIVE = (
    "Line and shade: mean and range of five seeds; diamonds: the same five after the last epoch. "
    "This page shows recorded trainings. In a notebook with a kernel, this place is a panel that trains: "
    "download this page's notebook (button above), type “make lab” in the course's folder, "
    "or use the page's Binder button where it has one."
)
NO_GATES = "Without gates the gate bias changes nothing."
ENDS, DIVERGED = "recorded, last epoch", "diverged, as guessing"
PAUSE = 0.1  # seconds between two looks at a training


def training_panel(*, caption):
    """Train a network of your choice on the digits, and watch it; on a page, look up recorded trainings instead.

    Parameters
    ----------
    caption : str
        One sentence under the figure.

    Returns
    -------
    TrainingPanel
        The widget: as the last line of a cell it shows itself. While the book is built, what `explore` returns.

    Raises
    ------
    TypeError
        If `caption` is no text.
    """
    _checks.text("caption", caption)
    if building_book():
        return _recorded_runs(caption)
    panel = TrainingPanel(caption)
    close_earlier(panel)
    return panel


class TrainingPanel(Widget):
    """What `training_panel` returns in a notebook: controls, Train and Stop, and the learning curve as it grows.

    Each training starts anew, from the recipe of the recorded trainings with seed 0: digits, width 64, uniform start,
    30 epochs, mini-batches of 64, float32.

    Attributes
    ----------
    value : dict
        Where the controls stand: "block", "depth", "gate_bias", "optimiser", "learning_rate". A name left out stays as
        it is; a value that a control cannot take raises a sentence. Assign a dict.
    shown : dict
        What the panel shows: whether a training is "running", how many mini-batches of a "total" are "done", the
        sentence it "says", the "series" and their "looks".
    """

    _esm = read("elements.js", "lines.js", "controls.js", "panel.js")
    _css = read("explore.css", "living.css", "panel.css")
    made = traitlets.Dict().tag(sync=True)  # what never changes: controls, axes, caption
    start = traitlets.Dict().tag(sync=True)
    value = traitlets.Dict().tag(sync=True)
    shown = traitlets.Dict().tag(sync=True)

    def __init__(self, caption):
        self._last = dict(START)
        self._lock, self._stop, self._thread = threading.RLock(), threading.Event(), None
        self._busy = self._loading = False  # a training is running; it has not yet got its data
        self._setting = dict(START)  # of the last training
        self._curve = None  # the last training: its block and its test accuracies, in per cent
        xticks, yticks = ticks(*AXES["xlim"]), ticks(*AXES["ylim"])
        made = {
            "axes": AXES | {"xticks": xticks, "yticks": yticks, "first": 1},
            "sliders": [_slider(name) for name in ("depth", "gate_bias", "learning_rate")],
            "choices": [[name, name, [[value, value] for value in GRID[name]]] for name in ("block", "optimiser")],
            "caption": caption,
        }
        super().__init__(made=made, start=dict(START), value=dict(START), shown=_shown(IDLE))
        self.on_msg(self._heed)

    @traitlets.validate("value")
    def _accept(self, proposal):
        self._last = _on_grid(proposal.value, self._last)
        return dict(self._last)

    def train(self):
        """Start a training where the controls stand, and return at once; while one is running, do nothing."""
        with self._lock:
            if self._busy:
                return
            self._setting, stop = dict(self._last), threading.Event()
            thread = threading.Thread(target=self._train, args=(self._setting, stop), daemon=True)
            thread.start()  # from here on it waits for the lock, so it cannot end before it is known
            self._busy = self._loading = True
            self._stop, self._thread = stop, thread
            self._show_nothing_yet("loading the digits.", running=True)

    def stop(self):
        """Ask the training to end before its next mini-batch; while it loads its data, it is given up at once."""
        with self._lock:
            self._stop.set()
            if self._busy and self._loading:
                self._busy = False
                self._show_nothing_yet("stopped before the first mini-batch.")

    def _show_nothing_yet(self, says, **state):
        series = _series(self._setting["block"], [], None, self._curve)
        self.shown = _shown(_about(self._setting, says), series, **state)

    def wait(self, timeout=None):
        """Wait until the training has ended, at most so many seconds."""
        if self._thread is not None:
            self._thread.join(timeout)

    def close(self):
        """Take the panel out of the notebook; a training that is running ends."""
        self.stop()
        super().close()

    def _heed(self, _, message, buffers):
        """Do what a button asks for. Train carries the controls, so that it is never ahead of them."""
        if message.get("do") == "train" and not self._busy:
            self.value = message["value"]
            self.train()
        elif message.get("do") == "stop":
            self.stop()

    def _train(self, setting, stop):
        """Train in a thread of its own, and show how it goes, how it ended, and what was recorded."""
        before, looked = self._curve, 0.0

        def show(says, history, seeds=None, **state):
            series = _series(setting["block"], _percent(history), seeds, before)
            self.shown = _shown(_about(setting, says), series, **state)

        def look(done, total, history):
            nonlocal looked
            if time.perf_counter() - looked > PAUSE:
                looked = time.perf_counter()
                epoch, accuracy = min(EPOCHS, 1 + done * EPOCHS // total), history["test_accuracy"]
                so_far = f", test accuracy so far {100 * accuracy[-1]:.1f} %" if accuracy else ""
                show(f"training, epoch {epoch} of {EPOCHS}{so_far}.", history, running=True, done=done, total=total)

        try:
            data = digits(SEED)  # the first time in a kernel, this takes a second or more
            with self._lock:
                if stop.is_set():
                    return  # given up, which is said already; another training may be running
                self._loading = False
            show("training begins.", {}, running=True)
            run = fit(
                Network(make_block(setting["block"], setting["depth"], setting["gate_bias"]), setting["depth"]),
                data,
                optimiser=make_optimiser(setting["optimiser"].lower(), setting["learning_rate"]),
                epochs=EPOCHS, batch_size=64, rng=SEED, dtype="float32", progress=look, stop=stop.is_set,
            )  # fmt: skip
            finished = {"done": len(run.history["seconds"]), "total": EPOCHS}
            show(_ended(run), run.history, running=True, **finished)  # the record takes a second to read, once
            if run.history["test_accuracy"]:
                self._curve = setting["block"], _percent(run.history)
            seeds, compared = _look_up(setting)
            last = f"{_ended(run)} {compared}", run.history, seeds
        except Exception as error:
            told = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            last, finished = (f"there is no result. {told.removesuffix(': ')}", {}), {}
        with self._lock:  # who hears that it has ended can train again
            if stop is self._stop:
                self._busy = self._loading = False
                show(*last, **finished)

    def _sentence(self):
        return self.shown["says"]


def _shown(says, series=None, running=False, done=0, total=1):
    """What panel.js shows."""
    series = series or {}
    looks = [
        look._asdict() | {"name": name, "kind": kind(series[name]), "marker": MARKERS[look.marker]}
        for name, look in lines(list(series)).items()
    ]
    arrays = [[np.asarray(array, float).tolist() for array in one] for one in series.values()]
    return {"says": says, "running": running, "done": done, "total": total, "series": arrays, "looks": looks}


def _series(block, accuracy, seeds, before):
    """The lines of the figure: this training, the recorded ones, the training before."""
    series = {f"{block}, yours": _curve(accuracy)}
    if seeds is not None and seeds.curves is not None:
        series[f"{block}, five seeds recorded: mean and range"] = _band(seeds.curves)
    elif seeds is not None:
        series |= {name: dots for name, dots in _ends(seeds).items() if len(dots.x) or name == ENDS}
    if before is not None:
        series[f"your training before, {before[0]}"] = _curve(before[1])  # in a colour of its own
    return series


def _percent(history):
    return [100 * share for share in history.get("test_accuracy", [])]


def _curve(accuracy):
    return Curve(np.arange(1, len(accuracy) + 1), np.array(accuracy))


def _ends(seeds):
    """Where recorded trainings ended: a dot for each, those that diverged apart; none without a record."""
    ends = [np.empty(0)] * 2 if seeds is None else [seeds.final[~seeds.diverged], seeds.final[seeds.diverged]]
    return {name: Dots(np.full(len(y), EPOCHS), y) for name, y in zip((ENDS, DIVERGED), ends, strict=True)}


def _band(curves):
    return Band(curves.min(axis=0), curves.mean(axis=0), curves.max(axis=0))


def _ended(run):
    accuracy, seconds = run.history["test_accuracy"], run.history["seconds"]
    so_far = f" Test accuracy after {_epochs(len(accuracy))}: {100 * accuracy[-1]:.1f} %." if accuracy else ""
    if run.stopped:
        return f"{run.stopped[0].lower()}{run.stopped[1:]}{so_far}"
    return f"reached {100 * accuracy[-1]:.1f} % after {_epochs(len(accuracy))} in {seconds[-1]:.1f} s (seed {SEED})."


def _epochs(n):
    return f"{n} epoch{'' if n == 1 else 's'}"


def _look_up(setting):
    """Find the recorded trainings of a setting, and say what they say; a record that cannot be read costs no result."""
    try:
        seeds = recorded(setting)
        return seeds, _compared(setting, seeds)
    except Exception as error:
        return None, f"The record cannot be read: {error}"


def _compared(setting, seeds):
    """Say what was recorded: at this setting, or else at the nearest one."""
    if seeds is not None:
        this = "diverged" if seeds.diverged[SEED] else f"{seeds.final[SEED]:.1f} %"
        return f"Recorded: {'' if seeds.diverged.all() else f'this seed {this}, '}{seeds.in_words()}."
    return f"This setting was {_not_recorded(setting)}"


def _not_recorded(setting):
    """Say whether the block was ever recorded with this optimiser, and what was recorded nearest."""
    near, known = nearest(setting), optimisers(setting["block"])
    only = "" if setting["optimiser"] in known else f": {setting['block']} was recorded with {' and '.join(known)} only"
    return f"not recorded{only}. The nearest setting with a record is {_in_words(near)}: {recorded(near).in_words()}."


def _about(setting, says):
    what = _in_words(setting)
    return f"{what[0].upper()}{what[1:]}: {says}"


def _in_words(setting):
    bias = f"gate bias {stop_text(setting['gate_bias'])}, " if setting["block"] == "highway" else ""
    how = f"{setting['optimiser']} at {stop_text(setting['learning_rate'])}"
    return f"{setting['block']}, {setting['depth']} blocks, {bias}{how}"


def _slider(name):
    texts = [stop_text(stop) for stop in GRID[name]]
    return {"name": name, "label": name.replace("_", " "), "values": GRID[name], "texts": texts}


def _on_grid(value, otherwise):
    """Return `value` as a dict of values that the controls can take; names left out come from `otherwise`."""
    if not isinstance(value, dict) or not set(value) <= set(GRID):
        names = ", ".join(map(repr, GRID))
        raise OffTheGrid(f"value must be a dict with some of the names {names}, but {_checks.describe(value)} came.")
    value = otherwise | value
    for name, stops in GRID.items():
        came = value[name]
        if isinstance(came, bool) or came not in stops:
            wanted = ", ".join(map(stop_text, stops))
            raise OffTheGrid(f"value[{name!r}] must be one of {wanted}, but {came!r} came.")
        value[name] = stops[stops.index(came)]
    return ordered(value)


def _recorded_runs(caption):
    """The same controls over recorded trainings, for a page without a kernel."""
    from highway_lessons.sliders import explore

    nothing = np.empty(0)

    def look_up(**setting):
        seeds = recorded(setting)
        frame = {block: Band(nothing, nothing, nothing) for block in GRID["block"]}
        if seeds is not None and seeds.curves is not None:
            frame[setting["block"]] = _band(seeds.curves)
        return frame | _ends(seeds)

    def say(setting, frame):
        seeds = recorded(setting)
        said = [_not_recorded(setting) if seeds is None else f"{seeds.in_words()}."]
        if seeds is not None and seeds.curves is None and not seeds.diverged.all():
            said.append("Only the end was recorded.")
        return " ".join(said if setting["block"] == "highway" else [*said, NO_GATES])

    return explore(look_up, start=START, say=say, caption=f"{caption} {LIVE}", **AXES, **GRID)
