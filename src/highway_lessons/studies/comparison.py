"""The studies of chapter 9: a random search for every contestant, and the winners' settings on fresh seeds.

The second stage follows from the record of the first: what a contestant's best setting is, and how many epochs cost it
as many seconds as the highway network needs, is computed from that record when this module is imported. So if the
first stage is measured anew and comes out otherwise, the points of the second are others, and a record of the old ones
is refused. Until the first stage is recorded whole, there are no points, and `STUDIES` has no such study.
"""

from highway_lessons.studies.contestants import (
    CONTESTANTS,
    EPOCHS,
    MEANING,
    TASKS,
    compete,
    examples_for,
    trial,
)
from highway_lessons.studies.results import load_study
from highway_lessons.studies.study import Study, StudyError

TRIALS = list(range(20))
MORE_TRIALS = list(range(20, 26))  # for each end of a range at which a winner sits
FRESH_SEEDS = list(range(100, 110))
GOALS = {"train_loss": 1, "validation_accuracy": -1}  # what a setting is chosen by; 1: the lowest, −1: the highest


def search(data, block, epochs, wider, seed):
    """How good is each contestant with a setting drawn at random, and with the best of twenty?

    It decides which kinds of network need luck with their settings, the median over trials being "typical", and which
    learning rate, schedule and knob each one brings to the second stage: one setting by training loss, and one by
    accuracy on a fifth of the training data (ties: by the loss there).

    Expected: kinds with a carry train in most trials below a rate of 0.03, plain ones in few and batch norm between;
    on digits the best of twenty are alike, on spirals plain networks stay behind at any setting.
    Surprises would be: a plain network without normalisation that keeps up on spirals; one block that does; gates that
    differ from each other by more than their trials do.

    The seed is the number of the trial: it draws the setting, the same for all contestants, and then the start and the
    order of the examples. The data are the same in all trials. All in float32.
    """
    drawn = trial(block, seed, wider)
    result = compete(block, data, examples_for(data, 0, validate=True), seed, epochs=epochs, **drawn)
    held_out = {f"validation_{name}": result.pop(f"test_{name}") for name in ("loss", "accuracy")}
    return drawn | result | held_out


def search_wider(data, block, epochs, wider, seed):
    """Is there something better beyond the end of a range at which the best of twenty trials sits?

    It decides whether the first twenty trials looked far enough: wherever a contestant's winner has the lowest or the
    highest of the twenty learning rates, or knobs, six more trials draw it from beyond that end.

    Expected: it rarely changes a winner. Surprises would be: one that sits at the end of the wider range again.

    Otherwise as in `search`. All in float32.
    """
    return search(data, block, epochs, wider, seed)


def fresh_seeds(data, block, epochs, learning_rate, schedule, knob, seed):
    """Which contestant is better at its best setting, for as many updates and for as many seconds?

    It decides, on ten seeds that the search has not seen and on test data that are used once, by how much each
    contestant differs from the highway network: in training loss, at the setting chosen by training loss, and in test
    accuracy, at the setting chosen by validation accuracy; after the same number of epochs and, for the training loss,
    also after as many as take each contestant the highway network's seconds.

    Expected: no difference of a point on digits but for plain networks without normalisation; on spirals highway,
    uncoupled and residual networks ahead. Surprises would be: a kind of gate more than a point below the highway gate
    on digits; the seconds turning a result round.

    For digits, ten seeds are five splits with two starts each; spirals are drawn anew for each seed. All in float32.
    """
    examples, setting = examples_for(data, seed), {"learning_rate": learning_rate, "schedule": schedule, "knob": knob}
    return compete(block, data, examples, seed, epochs=epochs, **setting)


SEARCH = Study(
    search,
    grid=[
        {"data": [data], "block": list(CONTESTANTS), "epochs": [epochs], "wider": [None], "seed": TRIALS}
        for data, epochs in EPOCHS.items()
    ],
    meaning=MEANING,
)


def recorded(study):
    """Return the points of a study's record as dictionaries, or none if it is not recorded whole as it is today."""
    try:
        return load_study(study).points
    except StudyError:
        return []


def best(trials, goal):
    """Return the trial with the best `goal`, a name of `GOALS`; where trials tie, the lower validation loss wins."""
    finished = [trial for trial in trials if trial[goal] is not None and trial["validation_loss"] is not None]
    return min(finished, key=lambda trial: (GOALS[goal] * trial[goal], trial["validation_loss"]))


def ends(trials):
    """List the ends of ranges at which a winner of these trials sits: there, no other trial went farther out."""
    found = []
    for name in ("learning_rate", "knob"):
        values = [trial[name] for trial in trials]
        winners = [best(trials, goal)[name] for goal in GOALS]
        found += [f"{name} down"] * (min(values) in winners) + [f"{name} up"] * (max(values) in winners)
    return found


def by_contestant(points):
    """Sort points by task and contestant: a dictionary of lists."""
    sorted_out = {(data, block): [] for data in TASKS for block in CONTESTANTS}
    for point in points:
        sorted_out[point["data"], point["block"]].append(point)
    return {key: found for key, found in sorted_out.items() if found}


def _study(measure, grid):
    """Return the study with this grid, or None while there is nothing to compute the grid from."""
    return Study(measure, grid, meaning=MEANING) if grid else None


def wider_grid():
    """The grid of `search_wider`, computed from the record of `search`."""
    return [
        {"data": [data], "block": [block], "epochs": [EPOCHS[data]], "wider": [end], "seed": MORE_TRIALS}
        for (data, block), trials in by_contestant(recorded(SEARCH)).items()
        for end in ends(trials)
    ]


SEARCH_WIDER = _study(search_wider, wider_grid())


def all_trials():
    """Return the trials of both searches by task and contestant; nothing before both are recorded."""
    more = recorded(SEARCH_WIDER) if SEARCH_WIDER else []
    return by_contestant(recorded(SEARCH) + more) if more or not SEARCH_WIDER else {}


def chosen(trials, goal):
    """Return the setting of the best trial: learning rate, schedule and knob."""
    return {name: best(trials, goal)[name] for name in ("learning_rate", "schedule", "knob")}


def epochs_for_equal_seconds(trials, data, block):
    """Return how many epochs take a contestant the seconds that the highway network needs for the task's epochs.

    Seconds depend on the computer and on what else it does, so they are compared within one run: the quickest of a
    contestant's first twenty trials, which came in shuffled order, per epoch.
    """

    def seconds(block):
        first = [t for t in trials[data, block] if t["wider"] is None and not t["stopped"]]
        return min(t["seconds"] / t["epochs_done"] for t in first)

    return max(1, round(EPOCHS[data] * seconds("highway") / seconds(block)))


def choices(trials, data, block):
    """Return the epochs and settings with which a contestant enters the second stage, by goal and budget."""
    found, epochs = trials[data, block], EPOCHS[data]
    by_loss, by_accuracy = (chosen(found, goal) for goal in GOALS)
    return {
        ("train_loss", "updates"): {"epochs": epochs} | by_loss,
        ("validation_accuracy", "updates"): {"epochs": epochs} | by_accuracy,
        ("train_loss", "seconds"): {"epochs": epochs_for_equal_seconds(trials, data, block)} | by_loss,
    }


def fresh_grid():
    """The grid of `fresh_seeds`, computed from the records of the searches; what two choices share comes once."""
    parts, trials = [], all_trials()
    for data, block in trials:
        for choice in choices(trials, data, block).values():
            axes = {"data": data, "block": block} | choice
            part = {axis: [value] for axis, value in axes.items()} | {"seed": FRESH_SEEDS}
            parts += [part] if part not in parts else []
    return parts


FRESH_STUDY = _study(fresh_seeds, fresh_grid())


def outcomes(goal, budget="updates", measured=None):
    """Return what the fresh seeds gave at the settings chosen for a goal: training losses, or test accuracies.

    Parameters
    ----------
    goal : {"train_loss", "validation_accuracy"}
        What the settings were chosen by. The second gives test accuracies.
    budget : {"updates", "seconds"}
        Everybody's epochs or, for the training loss, as many as take the highway network's seconds.
    measured : str, optional
        Something else that was measured there: "test_accuracy" at the settings chosen by training loss.

    Returns
    -------
    dict of str to dict of str to array of shape (10,)
        By task and contestant; NaN where a training diverged.

    Raises
    ------
    StudyError
        If the searches or the fresh seeds are not recorded whole.
    """
    if FRESH_STUDY is None:
        raise StudyError("The searches are not recorded; run  python -m highway_lessons.studies run search  first.")
    measured = measured or {"train_loss": "train_loss", "validation_accuracy": "test_accuracy"}[goal]
    trials, found, results = all_trials(), {data: {} for data in TASKS}, load_study(FRESH_STUDY)
    for data, block in trials:
        axes = choices(trials, data, block)[goal, budget]
        found[data][block] = results.select(data=data, block=block, **axes).array(measured)
    return found
