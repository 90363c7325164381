"""Chapter 9's machinery: statistics, random trials, wider ranges, and a second stage that follows from the first."""

import itertools
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from highway_lessons import Highway, Network, sigmoid, tau
from highway_lessons.comparison import against, bootstrap_interval, expected_best, holm
from highway_lessons.studies import comparison, contestants, record, runner
from highway_lessons.studies.contestants import CONTESTANTS, EPOCHS, RATE, TASKS, bias_for, network_for, trial
from highway_lessons.studies.results import load_study
from highway_lessons.studies.study import StudyError
from highway_lessons.variants import BatchNorm

# Statistics


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=6), st.integers(1, 6), st.booleans())
def test_expected_best_is_the_mean_over_all_ways_to_draw(values, k, lowest):
    k = min(k, len(values))
    bests = [(min if lowest else max)(draw) for draw in itertools.combinations(values, k)]
    assert expected_best(values, k, lowest) == pytest.approx(np.mean(bests), abs=1e-9)


def test_expected_best_of_one_is_the_mean_and_of_all_the_best():
    values = np.random.default_rng(0).normal(size=20)
    assert expected_best(values, 1) == pytest.approx(values.mean())
    assert expected_best(values, 20) == values.min()
    assert expected_best(values, 20, lowest=False) == values.max()


def test_bootstrap_interval_covers_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(300):
        low, high = bootstrap_interval(rng.normal(1.0, 2.0, 10), rng, draws=400)
        inside += low < 1.0 < high
    assert 0.85 < inside / 300 < 0.95, "ten pairs: below 95 %, as the docstring says"


def test_bootstrap_interval_of_ten_is_about_a_sixth_shorter_than_students():
    rng, ratios = np.random.default_rng(0), []
    for _ in range(50):
        differences = rng.normal(size=10)
        low, high = bootstrap_interval(differences, rng)
        student = stats.ttest_1samp(differences, 0).confidence_interval()
        ratios.append((high - low) / (student.high - student.low))
    assert np.mean(ratios) == pytest.approx(5 / 6, abs=0.04)


def test_holm_on_an_example_by_hand():
    # sorted 0.01 · 4, 0.02 · 3, 0.03 · 2, 0.2 · 1, and none below the one before it
    np.testing.assert_allclose(holm([0.03, 0.2, 0.01, 0.02]), [0.06, 0.2, 0.04, 0.06])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_what_the_step_down_procedure_rejects(p):
    adjusted, rejected = holm(p), set()
    for step, i in enumerate(np.argsort(p, kind="stable")):
        if p[i] * (len(p) - step) > 0.05:
            break
        rejected.add(int(i))
    assert {i for i, value in enumerate(adjusted) if value <= 0.05} == rejected


def test_against_pairs_by_seed_and_is_scipys_test_times_holm():
    rng = np.random.default_rng(1)
    luck = rng.normal(0, 5, 10)
    better, same = luck - 0.5 + rng.normal(0, 0.1, 10), luck + rng.normal(0, 0.1, 10)
    found = against(luck, {"better": better, "same": same})
    assert found["better"].mean == pytest.approx((better - luck).mean())
    assert found["better"].low < found["better"].mean < found["better"].high < 0
    assert found["better"].p == pytest.approx(2 * stats.wilcoxon(better, luck).pvalue)
    assert found["better"].p < 0.05 < found["same"].p
    assert against(luck, {"itself": luck})["itself"] == (0, 0, 0, 1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: expected_best([1.0, 2.0], 3), "k must be at most 2"),
        (lambda: expected_best([1.0, float("nan")], 1), "values holds NaN"),
        (lambda: expected_best([], 1), "at least one"),
        (lambda: bootstrap_interval([[1.0]]), "row of numbers"),
        (lambda: bootstrap_interval([1.0], level=1), "level must be above 0 and below 1"),
    ],
)
def test_wrong_input_is_told(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_statistics_load_scipy_only_when_they_test():
    code = "import sys, highway_lessons.comparison as c; c.expected_best([1.0], 1); print('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


# Contestants and trials


def test_a_trial_is_a_function_of_its_number_and_the_same_for_all():
    gates = [name for name, one in CONTESTANTS.items() if one.knob == "τ"]
    for number in range(30):
        drawn = {block: trial(block, number) for block in CONTESTANTS}
        assert drawn == {block: trial(block, number) for block in CONTESTANTS}
        assert len({(d["learning_rate"], d["schedule"]) for d in drawn.values()}) == 1
        assert len({drawn[block]["knob"] for block in gates}) == 1, "gates are matched in τ"
        for block, setting in drawn.items():
            low, high = CONTESTANTS[block].limits
            assert RATE[0] <= setting["learning_rate"] <= RATE[1]
            assert low <= setting["knob"] <= high
    assert len({trial("highway", number)["learning_rate"] for number in range(30)}) == 30


def test_trials_are_log_uniform():
    rates = np.log10([trial("highway", number)["learning_rate"] for number in range(2000)])
    knobs = np.log10([trial("highway", number)["knob"] for number in range(2000)])
    assert stats.kstest(rates, stats.uniform(-4, 4).cdf).pvalue > 0.01
    assert stats.kstest(knobs, stats.uniform(-1, 2).cdf).pvalue > 0.01
    assert abs(np.corrcoef(rates, knobs)[0, 1]) < 0.06
    assert 0.45 < np.mean([trial("highway", number)["schedule"] == "cosine" for number in range(2000)]) < 0.55


@pytest.mark.parametrize("name", ["learning_rate", "knob"])
def test_a_wider_range_begins_where_the_first_ends(name):
    low, high = RATE if name == "learning_rate" else CONTESTANTS["highway"].limits
    stretch = np.sqrt(high / low)
    for number in comparison.MORE_TRIALS:
        down, up = (trial("highway", number, f"{name} {way}") for way in ("down", "up"))
        assert low / stretch * 0.999 <= down[name] <= low
        assert high <= up[name] <= high * stretch * 1.001
        other = {"learning_rate": "knob", "knob": "learning_rate"}[name]
        assert down[other] == up[other] == trial("highway", number)[other]


@pytest.mark.parametrize("data", TASKS)
def test_contestants_have_as_many_parameters_as_the_highway_network(data):
    total = network_for("highway", data).n_parameters
    assert network_for("highway", data).width == TASKS[data]["width"]
    for block in CONTESTANTS:
        assert network_for(block, data).n_parameters == pytest.approx(total, rel=0.13 if data == "spirals" else 0.03)
    assert network_for("no block", data).depth == 0
    assert network_for("one block", data).depth == 1


def test_knobs_turn_what_they_say():
    assert tau(bias_for(2.5, 20), 20) == pytest.approx(2.5)
    assert sigmoid(network_for("highway", "digits", 1.0).block.gate_bias) == pytest.approx(1 - np.exp(-1 / 20))
    assert network_for("fixed gate", "digits").block.T == 1 / 21
    assert network_for("residual", "digits", 0.3).block.scale == 0.3
    assert network_for("plain, batch norm", "digits", 0.6).block == BatchNorm(0.6)
    small = {"epochs": 1, "learning_rate": 1e-4, "schedule": "constant"}
    examples = contestants.examples_for("digits", 0, validate=True)
    start = {g: contestants.compete("plain, He", "digits", examples, 0, knob=g, **small) for g in (0.5, 1.0)}
    assert start[0.5]["train_loss"] != start[1.0]["train_loss"]
    assert np.log(10) * 0.9 < start[0.5]["train_loss"] < np.log(10) * 1.01, "half the gain in 20 blocks: guessing"


def test_the_search_is_done_within_training_data_and_fresh_seeds_are_fresh():
    for data in TASKS:
        searched = contestants.examples_for(data, 0, validate=True)
        whole = contestants.examples_for(data, 0)
        rows = set(map(bytes, whole.x_train))
        assert set(map(bytes, searched.x_train)) | set(map(bytes, searched.x_test)) == rows
        assert not set(map(bytes, searched.x_train)) & set(map(bytes, searched.x_test))
        assert len(searched.x_test) == len(whole.x_train) // 5
    assert not set(comparison.FRESH_SEEDS) & {*comparison.TRIALS, *comparison.MORE_TRIALS}
    splits = {contestants.examples_for("digits", seed).y_train.tobytes() for seed in comparison.FRESH_SEEDS}
    arms = {contestants.examples_for("spirals", seed).x_train.tobytes() for seed in comparison.FRESH_SEEDS}
    assert (len(splits), len(arms)) == (5, 10)


def test_a_diverged_training_is_a_result():
    examples = contestants.examples_for("digits", 0, validate=True)
    setting = {"learning_rate": 1e30, "schedule": "constant", "knob": 1.0}
    for block in ("plain, He", "plain, batch norm"):
        result = contestants.compete(block, "digits", examples, 0, epochs=2, **setting)
        assert result["stopped"] or result["train_loss"] is None or result["train_loss"] > 1


# The second stage follows from the first

SMALL = {"plain, He": CONTESTANTS["plain, He"], "highway": CONTESTANTS["highway"]}


def made_up(data, block, number, loss, wider=None, seconds=1.0):
    """A point as the search records it, with a training loss and a validation accuracy of our choice."""
    point = {"data": data, "block": block, "epochs": EPOCHS[data], "wider": wider, "seed": number}
    result = {"train_loss": loss, "validation_accuracy": None if loss is None else 1 - loss, "validation_loss": loss}
    done = {"stopped": None if loss is not None else "The loss became nan.", "epochs_done": EPOCHS[data]}
    return point | trial(block, number, wider) | result | done | {"seconds": seconds}


def test_the_best_trial_is_never_one_that_diverged_and_ties_go_to_the_lower_loss():
    trials = [made_up("digits", "highway", n, loss) for n, loss in enumerate([0.3, None, 0.2, 0.4])]
    assert comparison.best(trials, "train_loss")["seed"] == 2
    trials[3]["validation_accuracy"] = trials[2]["validation_accuracy"]
    trials[3]["validation_loss"] = 0.1
    assert comparison.best(trials, "validation_accuracy")["seed"] == 3
    assert comparison.best(trials, "train_loss")["seed"] == 2


def test_a_winner_at_an_end_widens_the_range_there_and_only_there():
    numbers = comparison.TRIALS
    rates = [trial("highway", n)["learning_rate"] for n in numbers]
    knobs = [trial("highway", n)["knob"] for n in numbers]
    for name, values, way, pick in (
        ("learning_rate", rates, "down", np.argmin), ("learning_rate", rates, "up", np.argmax),
        ("knob", knobs, "down", np.argmin), ("knob", knobs, "up", np.argmax),
    ):  # fmt: skip
        winner = int(pick(values))
        trials = [made_up("digits", "highway", n, 0.1 if n == winner else 0.5) for n in numbers]
        assert f"{name} {way}" in comparison.ends(trials)
    middle = next(
        n for n in numbers if 5 < sorted(rates).index(rates[n]) < 14 and 5 < sorted(knobs).index(knobs[n]) < 14
    )
    assert comparison.ends([made_up("digits", "highway", n, 0.1 if n == middle else 0.5) for n in numbers]) == []


@pytest.fixture
def record_of(monkeypatch):
    """Give the studies made-up records of the searches."""

    def give(first, wider=()):
        monkeypatch.setattr(comparison, "SEARCH_WIDER", "wider" if wider else None)
        monkeypatch.setattr(comparison, "recorded", lambda study: list(wider if study == "wider" else first))

    return give


def test_the_second_stage_is_computed_from_the_record_of_the_first(record_of):
    numbers = comparison.TRIALS
    seconds = {"plain, He": 0.5, "highway": 1.0}
    first = [
        made_up("digits", block, n, 0.1 if n == winner else 0.5, seconds=seconds[block])
        for block, winner in (("plain, He", 4), ("highway", 7))
        for n in numbers
    ]
    record_of(first)
    parts = comparison.fresh_grid()
    plain, highway = ([part for part in parts if part["block"] == [block]] for block in seconds)
    for part, winner in ((plain[0], 4), (highway[0], 7)):
        for name, value in trial(part["block"][0], winner).items():
            assert part[name] == [value]
        assert part["seed"] == comparison.FRESH_SEEDS
    assert [part["epochs"] for part in plain] == [[EPOCHS["digits"]], [2 * EPOCHS["digits"]]], "half the seconds each"
    assert [part["epochs"] for part in highway] == [[EPOCHS["digits"]]], "its own seconds are its epochs"

    beyond = [made_up("digits", "highway", n, 0.01, "knob up", seconds=1.0) for n in comparison.MORE_TRIALS]
    record_of(first, beyond)
    highway = next(part for part in comparison.fresh_grid() if part["block"] == ["highway"])
    assert highway["knob"] == [trial("highway", comparison.MORE_TRIALS[0], "knob up")["knob"]]


def test_without_a_whole_first_stage_there_is_no_second(record_of, tmp_path, monkeypatch):
    record_of([])
    assert comparison.wider_grid() == comparison.fresh_grid() == []
    assert comparison._study(comparison.fresh_seeds, []) is None
    monkeypatch.setattr(comparison, "FRESH_STUDY", None)
    with pytest.raises(StudyError, match="studies run search"):
        comparison.outcomes("train_loss")


def test_a_record_of_the_second_stage_is_refused_if_the_first_came_out_otherwise(tmp_path):
    grid = {"data": ["digits"], "block": ["no block"], "epochs": [1], "seed": [100, 101]}
    setting = {"learning_rate": [0.01], "schedule": ["cosine"], "knob": [1.0]}
    before = comparison._study(comparison.fresh_seeds, [grid | setting])
    after = replace(before, grid=[grid | setting | {"learning_rate": [0.02]}])
    runner.run(before, tmp_path, bar=False)
    assert len(load_study(before, tmp_path)) == 2
    with pytest.raises(record.RecordError, match=r"learning_rate=0\.01 .* is no point of its grid"):
        load_study(after, tmp_path)


def test_the_thin_path_from_trials_to_a_fresh_seed(tmp_path):
    """Two contestants, three trials each, run, recorded, chosen from and run on, for one epoch."""
    grid = [{"data": ["digits"], "block": list(SMALL), "epochs": [1], "wider": [None], "seed": [0, 2, 5]}]
    small = replace(comparison.SEARCH, grid=grid)
    runner.run(small, tmp_path, bar=False)
    points = load_study(small, tmp_path).points
    for point in points:
        assert {name: point[name] for name in trial("highway", 0)} == trial(point["block"], point["seed"])
    sorted_out = comparison.by_contestant(points)
    assert [block for _, block in sorted_out] == list(SMALL)
    for (_, block), trials in sorted_out.items():
        setting = comparison.chosen(trials, "train_loss")
        assert setting in [trial(block, n) for n in (0, 2, 5)]
        result = comparison.fresh_seeds("digits", block, 1, **setting, seed=100)
        again = comparison.fresh_seeds("digits", block, 1, **setting, seed=100)
        assert result == again
        json.dumps(result, allow_nan=False)


# The records


def test_the_second_stages_grid_is_that_of_todays_first():
    """What is committed fits together: every chosen setting is a recorded trial, and each end was looked beyond."""
    trials = comparison.all_trials()
    assert set(trials) == {(data, block) for data in TASKS for block in CONTESTANTS}
    wider = {(p["data"], p["block"], p["wider"]) for p in comparison.recorded(comparison.SEARCH_WIDER)}
    for (data, block), found in trials.items():
        first = [t for t in found if t["wider"] is None]
        assert {t["seed"] for t in first} == set(comparison.TRIALS)
        assert {end for d, b, end in wider if (d, b) == (data, block)} == set(comparison.ends(first))
    for point in load_study(comparison.FRESH_STUDY):
        setting = {name: point[name] for name in ("learning_rate", "schedule", "knob")}
        drawn = [{name: t[name] for name in setting} for t in trials[point["data"], point["block"]]]
        assert setting in drawn


def test_what_is_recorded_comes_out_again():
    """A cheap point of the search, trained anew: equal but for the processor's rounding."""
    point = next(
        p for p in comparison.recorded(comparison.SEARCH)
        if p["data"] == "digits" and p["block"] == "no block" and p["learning_rate"] < 3e-3
    )  # fmt: skip
    again = comparison.search("digits", "no block", point["epochs"], None, point["seed"])
    assert again["train_loss"] == pytest.approx(point["train_loss"], rel=1e-2)
    assert again["parameters"] == point["parameters"] == Network(Highway(), 0, point["actual_width"]).n_parameters
