"""Chapter 9: each number in the text comes from the chapter's own cells or from a record.

The cells run here, in one namespace, as a reader would run them: the tests use the chapter's functions, not copies.
"""

import math
import re
from functools import cache

import numpy as np
import pytest
import reading
from conftest import BOOK

from highway_lessons.comparison import against, expected_best
from highway_lessons.studies import comparison
from highway_lessons.studies.contestants import CONTESTANTS, EPOCHS, TASKS, network_for

CHAPTER = BOOK / "chapters" / "09-highway-residual-or-neither.ipynb"
TEXT = reading.prose(CHAPTER).replace("−", "-")
GUESSING = {"digits": np.log(10), "spirals": np.log(2)}


# The same numbers by another way than the chapter's: straight from the points of the records


def first_trials(task, contestant, name="train_loss"):
    points = comparison.recorded(comparison.SEARCH)
    found = [p[name] for p in points if (p["data"], p["block"]) == (task, contestant)]
    return np.array(found, float)


def counted(task, contestant):
    return np.fmin(first_trials(task, contestant), GUESSING[task])


def network(task, contestant):
    return network_for(contestant, task)


def median(task, contestant):
    return np.median(counted(task, contestant))


def best(task, contestant, k=20):
    return expected_best(counted(task, contestant), k)


def fresh(task, contestant, goal, budget="updates", measured=None):
    """Ten results of the second stage, looked up by the setting of the best trial."""
    points = [*comparison.recorded(comparison.SEARCH), *comparison.recorded(comparison.SEARCH_WIDER)]
    mine = [p for p in points if (p["data"], p["block"]) == (task, contestant)]
    done = [p for p in mine if p[goal] is not None and p["validation_loss"] is not None]
    sign = 1 if goal == "train_loss" else -1
    winner = sorted(done, key=lambda p: (sign * p[goal], p["validation_loss"]))[0]
    epochs = EPOCHS[task]
    if budget == "seconds":
        epochs = comparison.epochs_for_equal_seconds(comparison.all_trials(), task, contestant)
    wanted = {"data": task, "block": contestant, "epochs": epochs}
    wanted |= {name: winner[name] for name in ("learning_rate", "schedule", "knob")}
    measured = measured or ("train_loss" if goal == "train_loss" else "test_accuracy")
    found = [p for p in comparison.recorded(comparison.FRESH_STUDY) if wanted.items() <= p.items()]
    return np.array([p[measured] for p in sorted(found, key=lambda p: p["seed"])], float)


def points(task, contestant, *choice):
    """Differences from the highway network in points of test accuracy; what diverged guesses."""
    chance, choice = {"digits": 0.1, "spirals": 0.5}[task], choice or ("validation_accuracy",)
    both = (fresh(task, c, *choice, measured="test_accuracy") for c in (contestant, "highway"))
    mine, highway = (np.nan_to_num(accuracy, nan=chance) for accuracy in both)
    return 100 * (mine - highway)


def factor(task, contestant, budget="updates"):
    mine, highway = (np.fmin(fresh(task, c, "train_loss", budget), GUESSING[task]) for c in (contestant, "highway"))
    return float(np.exp(np.log(mine / highway).mean()))


@pytest.mark.parametrize("task", TASKS)
def test_the_tables_numbers_are_those_of_the_records(run, names, task):
    for contestant in CONTESTANTS:
        np.testing.assert_array_equal(names["counted"](task, contestant), counted(task, contestant))
        if contestant != "highway":
            d = names["differences"](task)[1][contestant]
            assert d.mean == pytest.approx(points(task, contestant).mean())
            assert d.low <= d.mean <= d.high
            ahead = names["differences"](task, "train_loss", "seconds")[0][contestant]
            np.testing.assert_allclose(ahead, points(task, contestant, "train_loss", "seconds"))
            for budget in ("updates", "seconds"):
                d = names["factors"](task, budget)[contestant]
                assert 10**d.mean == pytest.approx(factor(task, contestant, budget))


def test_the_figures_draw_four_contestants_and_the_tables_hold_the_rest(run):
    drawn = [axes.get_yticklabels() for axes in run.shown["chance-figure"].axes]
    assert all(
        [label.get_text() for label in labels] == ["plain, He", "highway", "residual", "no block"] for labels in drawn
    )
    drawn = [axes.get_yticklabels() for axes in run.shown["fresh-figure"].axes]
    assert all([label.get_text() for label in labels] == ["plain, He", "residual", "no block"] for labels in drawn)
    for cell, missing in (
        ("chance-table", 0),
        ("match-widths", 0),
        ("fresh-table", 1),
        ("fresh-loss", 1),
        ("fresh-loss-spirals", 1),
        ("fresh-seconds", 1),
    ):
        rows = run.shown[cell].data.splitlines()[2:]
        assert [row.split("|")[1].strip() for row in rows] == [c for c in CONTESTANTS if not missing or c != "highway"]


# Numbers in the text


def m(task, contestant, form=".3g"):
    return f"{median(task, contestant):{form}}"


def b(task, contestant, form=".2g"):
    return f"{best(task, contestant):{form}}"


def low(contestant):
    """Trials on digits that end below a loss of 0.25."""
    return int((counted("digits", contestant) < 0.25).sum())


def ratio(contestant):
    return f"{np.median(counted('digits', contestant) / counted('digits', 'highway')):.2f}"


def wins(contestant):
    return int((counted("digits", contestant) < counted("digits", "highway")).sum())


def off(task):
    """How far numbers of parameters are from the highway network's, at most, in whole per cent."""
    total = network(task, "highway").n_parameters
    return math.ceil(100 * max(abs(network(task, c).n_parameters / total - 1) for c in CONTESTANTS))


def of_the_search():
    medians = [median("spirals", contestant) for contestant in CONTESTANTS]
    units = [network("spirals", contestant).width for contestant in ("uncoupled gates", "highway", "scalar gate")]
    return [
        f"in the median, at {m('digits', 'plain, He')} for the plain network, which is guessing",
        f"at {m('digits', 'residual')} for the residual one, at {m('digits', 'highway')} for the highway network",
        f"and at {m('digits', 'no block')} for no block at all; the best of twenty are at"
        f" {b('digits', 'plain, He')}, {b('digits', 'residual')}, {b('digits', 'highway')} and"
        f" {b('digits', 'no block')}.",
        f"its τ is {-20 * np.log(1 - 1 / 21):.2f} in every trial",
        f"{1 / np.sqrt(20):.2f} with 20 blocks and {1 / np.sqrt(10):.2f} with 10, lies in its range",
        f"all twelve end between {min(medians):.2f} and {max(medians):.2f}, and guessing costs {np.log(2):.3f}",
        f"{b('spirals', 'highway')} for highway, {b('spirals', 'plain, He')} for plain, {b('spirals', 'residual')} for"
        f" residual, {b('spirals', 'no block')} for no block",
        f"has the best median, {m('spirals', 'one block')}",
        f"a scalar gate's, {b('spirals', 'scalar gate', '.3f')}, with the highway network's"
        f" {b('spirals', 'highway', '.3f')} beside it",
        f"end {low('no block')} of 20 trials without blocks, {low('one block')} with one block,"
        f" {low('highway')} with highway blocks",
        f"{low('residual, zero start')} with residual blocks that start at zero, {low('residual')} with the other"
        f" residual blocks, and {low('plain, He')} and {low('plain, orthogonal')} with plain blocks",
        f"({b('digits', 'residual')} and {b('digits', 'residual, zero start')}) are ahead of the highway network"
        f" ({b('digits', 'highway')})",
        f"only two are near {b('spirals', 'highway', '.1f')}: highway and scalar gate",
        f"from {b('spirals', 'plain, He')} to {b('spirals', 'plain, batch norm')}",
        f"is {ratio('fixed gate')} times the highway network's with a fixed gate, {ratio('uncoupled gates')} times with"
        f" uncoupled gates, {ratio('scalar gate')} with a scalar gate and {ratio('gate blind to x')} with a gate blind",
        f"{wins('uncoupled gates')} to {wins('fixed gate')} of 20",
        f"reach {b('spirals', 'highway')} and {b('spirals', 'scalar gate', '.2f')}; gates that do not, learned or"
        f" fixed, reach {b('spirals', 'gate blind to x', '.2f')} and {b('spirals', 'fixed gate', '.2f')}",
        f"reach {b('spirals', 'uncoupled gates')}, with {units[0]} units instead of {units[1]}",
        f"with {units[1]} to {units[2]} units",
        f"parameters agree within {off('digits')} % on digits",
        f"only within {off('spirals')} %",
        f"On digits the medians are {m('digits', 'plain, He', '.1f')} for plain, which is guessing,"
        f" {m('digits', 'highway', '.1f')} for highway, {m('digits', 'residual', '.1f')} for residual with five"
        f" failures, and {m('digits', 'no block', '.2f')} for no block",
    ]


def test_what_the_text_says_of_the_search():
    missing = [sentence for sentence in of_the_search() if sentence not in TEXT]
    assert not missing, missing


def test_what_the_text_says_of_the_search_in_words():
    for task in TASKS:
        ranks = {k: min(CONTESTANTS, key=lambda c, k=k: best(task, c, k)) for k in (1, 20)}
        if task == "digits":
            assert set(ranks.values()) == {"no block"}, "no block wins with one trial and with twenty"
    assert min(CONTESTANTS, key=lambda c: median("digits", c)) == "no block"
    assert min(CONTESTANTS, key=lambda c: median("spirals", c)) == "one block"
    assert min(CONTESTANTS, key=lambda c: best("spirals", c)) == "scalar gate"
    near = {c for c in CONTESTANTS if best("spirals", c) < 0.15}
    assert near == {"highway", "scalar gate"}
    residual, rates = first_trials("digits", "residual"), first_trials("digits", "residual", "learning_rate")
    failed = ~(residual <= 3 * np.log(10))
    assert failed.sum() == 5
    assert rates[failed].min() > 0.1
    wins_of_all = [wins(c) for c in ("scalar gate", "gate blind to x", "uncoupled gates", "fixed gate")]
    assert (min(wins_of_all), max(wins_of_all)) == (wins("uncoupled gates"), wins("fixed gate"))
    for contestant in ("scalar gate", "gate blind to x", "uncoupled gates", "fixed gate"):
        spirals = np.median(counted("spirals", contestant) / counted("spirals", "highway"))
        assert f"{spirals:.2f}" == "1.00"
    for contestant in CONTESTANTS:
        usual = (first_trials("digits", contestant, "learning_rate") >= 1e-3) & (
            first_trials("digits", contestant, "learning_rate") <= 0.1
        )
        assert np.median(counted("digits", contestant)[usual]) < median("digits", contestant)


def test_folding_makes_examples_independent_in_the_run(run):
    own, folded, alone, blocks = run.printed["match-fold"].splitlines()
    assert folded.split("[")[1] == alone.split("[")[1] != own.split("[")[1]
    assert "Plain(" in blocks


# The fresh seeds


def percent(task, contestant):
    """Mean, least and most test accuracy over the ten seeds, in per cent."""
    ten = 100 * np.nan_to_num(fresh(task, contestant, "validation_accuracy"), nan={"digits": 0.1, "spirals": 0.5}[task])
    return f"{ten.mean():.1f} % ({ten.min():.1f} to {ten.max():.1f})"


@cache
def differences(task, *choice):
    return against(np.zeros(10), {c: points(task, c, *choice) for c in CONTESTANTS if c != "highway"})


def gap(task, contestant):
    """The mean difference in points, with its interval, as the text writes it."""
    return written(differences(task)[contestant])


def written(d):
    return f"{d.mean:+.1f} ({d.low:+.1f} to {d.high:+.1f})"


def sure(task):
    return {contestant for contestant, d in differences(task).items() if d.p < 0.05}


@cache
def losses(task, budget="updates"):
    found = {c: np.log10(np.fmin(fresh(task, c, "train_loss", budget), GUESSING[task])) for c in CONTESTANTS}
    return against(found.pop("highway"), found)


def times(task, contestant, budget="updates"):
    """The factor on the highway network's training loss, with its interval, as the text writes it."""
    d = losses(task, budget)[contestant]
    return f"{10**d.mean:.2g} ({10**d.low:.2g} to {10**d.high:.2g})"


def epochs(task, contestant):
    return comparison.epochs_for_equal_seconds(comparison.all_trials(), task, contestant)


def of_the_fresh_seeds():
    digits, spirals = differences("digits"), differences("spirals")
    residual, level = spirals["residual"], differences("spirals", "train_loss", "seconds")["one block"]
    by_loss, by_accuracy = (
        comparison.best(comparison.all_trials()["spirals", "residual"], g) for g in comparison.GOALS
    )
    return [
        f"*Digits, test accuracy.* The highway network reaches {percent('digits', 'highway')}.",
        f"by {gap('digits', 'plain, He')} points with He's weights, {gap('digits', 'plain, orthogonal')} with",
        f"{gap('digits', 'plain, batch norm')} with batch normalisation",
        f"network differs by {gap('digits', 'residual')}, the scalar gate by {gap('digits', 'scalar gate')}: no",
        f"half a point is probably real, $p$ {digits['residual'].p:.3f}",
        f"uncoupled gates by {gap('digits', 'uncoupled gates')} points and the gate blind to $x$ by"
        f" {gap('digits', 'gate blind to x')}, with $p$ of {digits['uncoupled gates'].p:.3f} both",
        f"No block at all is at {gap('digits', 'no block')} points",
        f"*Spirals, test accuracy.* The highway network reaches {percent('spirals', 'highway')}, in the median"
        f" {100 * np.median(fresh('spirals', 'highway', 'validation_accuracy')):.1f} %:",
        f"ended at {by_loss['train_loss']:.3f} and {by_accuracy['train_loss']:.3f}, both hardly trained; on fresh seeds"
        f" the first, a rate of {by_loss['learning_rate']}, does not",
        f"hung on {by_accuracy['train_loss'] - by_loss['train_loss']:.3f} in a single pair",
        f"In test accuracy it is level: {written(level)} points, $p$ {level.p:.2f}.",
        f"The plain network is at {gap('spirals', 'plain, He')} points, with batch normalisation at"
        f" {gap('spirals', 'plain, batch norm')}; no block at {gap('spirals', 'no block')}; the gate blind to $x$ at"
        f" {gap('spirals', 'gate blind to x')}, uncoupled gates at {gap('spirals', 'uncoupled gates')}.",
        f"network is at {gap('spirals', 'residual')} and the scalar gate at {gap('spirals', 'scalar gate')}, with"
        f" $p$ of {residual.p:.2f} and {spirals['scalar gate'].p:.2f}: not sure",
        f"{times('digits', 'residual')} times the highway network's loss",
        f"no block with {times('digits', 'no block')} times",
        f"On spirals the residual network has {times('spirals', 'residual')} times",
        f"time for {epochs('digits', 'no block')} epochs on digits instead of 12, and on spirals one block has time for"
        f" {epochs('spirals', 'one block')} instead of 24",
        f"then has {times('spirals', 'one block', 'seconds')} times the highway network's loss instead of"
        f" {times('spirals', 'one block')}, and whether it is behind at all is no longer sure"
        f" ($p$ {losses('spirals', 'seconds')['one block'].p:.2f})",
        f"best in test accuracy ({gap('digits', 'no block')} points against highway) and in training loss",
        f"are {-spirals['plain, He'].mean:.0f} (He) points behind on spirals",
        f"and {-digits['plain, He'].mean:.0f} on digits. Sure",
        f"by {-residual.mean:.1f} points with an interval from {-residual.high:.1f} to {-residual.low:.1f}, and $p$"
        f" is {residual.p:.2f}.",
        f"blind to $x$ is {gap('spirals', 'gate blind to x')} points from the",
        f"highway gate, sure; a fixed one {gap('spirals', 'fixed gate')}, $p$ {spirals['fixed gate'].p:.3f}, just so",
        f"does not close the gap ($p$ {spirals['plain, batch norm'].p:.3f} on spirals)",
        f"on digits ({10 ** losses('digits')['residual'].mean:.2g} times highway's loss) and the highway network"
        f" on spirals (the residual one has {10 ** losses('spirals')['residual'].mean:.2g} times",
    ]  # fmt: skip


def test_what_the_text_says_of_the_fresh_seeds():
    missing = [sentence for sentence in of_the_fresh_seeds() if sentence not in TEXT]
    assert not missing, missing


def test_what_the_text_says_of_the_fresh_seeds_in_words():
    plain = {"plain, He", "plain, orthogonal", "plain, batch norm"}
    for task in TASKS:
        assert plain <= sure(task), "clearly below"
        assert all(differences(task)[c].high < -1 for c in plain)
    for contestant in ("residual", "scalar gate"):
        assert abs(differences("digits")[contestant].mean) < 1, "no difference"
    assert not {"residual", "scalar gate"} & sure("spirals"), "not sure"
    assert {"gate blind to x", "fixed gate", "uncoupled gates"} <= sure("spirals")
    assert differences("spirals")["uncoupled gates"].mean < differences("spirals")["fixed gate"].mean, "farther behind"
    assert {"gate blind to x", "uncoupled gates"} <= sure("digits"), "two kinds of gate are below"
    assert not {"scalar gate", "fixed gate"} & sure("digits"), "only two"
    no_block = differences("digits")["no block"]
    assert 0 < no_block.low < 1 < no_block.high, "ahead is sure, a whole point ahead is not"
    assert "residual" in sure("digits")
    for task in TASKS:
        assert losses(task)["residual"].p < 0.05, "sure, both"
    assert losses("digits")["residual"].high < 0 < losses("spirals")["residual"].low
    assert 2 / 2**5 > 0.05, "five pairs alone could bring no p below 0.05"
    failures, rates = {}, []
    for c in ("highway", "residual", "residual, zero start"):
        failed = {task: ~(first_trials(task, c) <= 3 * GUESSING[task]) for task in TASKS}
        failures[c] = sum(of_task.sum() for of_task in failed.values())
        rates += [*first_trials("digits", c, "learning_rate")[failed["digits"]]]
    assert list(failures.values()) == [0, 5, 4], "of 40 trials"
    assert len(rates) == 9, "all on digits"
    assert min(rates) > 0.1, "all at high rates"
    alone = fresh("spirals", "residual", "train_loss")
    assert np.median(alone) > 0.95 * np.log(2), "does not train"
    assert np.median(fresh("spirals", "residual", "validation_accuracy", measured="train_loss")) < 0.6 * np.log(2)
    accuracy = {c: np.nan_to_num(fresh("digits", c, "validation_accuracy")).mean() for c in CONTESTANTS}
    loss = {c: np.log(fresh("digits", c, "train_loss")).mean() for c in CONTESTANTS}
    assert max(accuracy, key=accuracy.get) == min(loss, key=loss.get) == "no block"
    on_spirals = {c: fresh("spirals", c, "validation_accuracy").mean() for c in CONTESTANTS}
    assert sorted(on_spirals, key=on_spirals.get)[-3] == "residual", "the third best"
    assert losses("spirals")["scalar gate"].p < 0.05, "its training loss on spirals is higher"
    assert losses("spirals")["scalar gate"].low > 0
    trials = comparison.all_trials()
    assert comparison.chosen(trials["spirals", "residual"], "train_loss")["learning_rate"] == 0.124
    for task in TASKS:
        assert epochs(task, "scalar gate") / EPOCHS[task] == pytest.approx(0.5, abs=0.06), "half the epochs"
        tau = comparison.chosen(trials[task, "highway"], "validation_accuracy")["knob"]
        assert round(tau) == {"digits": 1, "spirals": 2}[task], "τ of 1 and 2 won"
    chosen = [(key, goal, comparison.best(found, goal)) for key, found in trials.items() for goal in comparison.GOALS]
    changed = [(key, best["wider"]) for key, _, best in chosen if best["wider"]]
    assert changed == [(("digits", "residual"), "knob down"), (("digits", "residual, zero start"), "knob down")]
    firsts = [[t for t in found if t["wider"] is None] for found in trials.values()]
    assert sum(bool(comparison.ends(first)) for first in firsts) == 4, "in 4 of 24 cases"
    assert all(len(comparison.ends(first)) <= 1 for first in firsts)


# Ends of the lot, numbers of the examples and questions, levels agreed on; "1.00" is tested with what is said in words
GIVEN = {"0.0001", "0.1", "0.2", "0.4", "0.6", "0.7", "0.05", "0.25", "0.001", "1.00", "95"}


def test_no_number_of_the_text_is_unchecked():
    rest = TEXT
    for sentence in sorted([*of_the_search(), *of_the_fresh_seeds()], key=len, reverse=True):
        rest = rest.replace(sentence, "")
    found = set(re.findall(r"-?\d+\.\d+(?:e-?\d+)?|\d+e-?\d+|\d+(?= %)", rest))
    assert found <= GIVEN, found - GIVEN


def test_the_checks_know_the_records():
    from highway_lessons import exercises

    ours = (
        fresh("spirals", "residual", "validation_accuracy")
        - fresh("spirals", "plain, batch norm", "validation_accuracy")
    ).mean() * 100
    assert exercises.check_residual_against_batch_norm(ours)
    assert "minus" in exercises.check_residual_against_batch_norm(-ours).sentence
    assert "hundredth" in exercises.check_residual_against_batch_norm(ours / 100).sentence
    against_highway = differences("spirals")["residual"].mean
    assert "plain, batch norm" in exercises.check_residual_against_batch_norm(against_highway).sentence
    assert "None" in exercises.check_residual_against_batch_norm(None).sentence


def test_ten_networks_and_pairs_of_a_split_as_the_text_says():
    from highway_lessons.studies.contestants import examples_for

    assert sum(len(part) for part in examples_for("digits", 100)[::2]) == 1797
