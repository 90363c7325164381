"""Training: every example once, an honest history, and a clean end however it comes."""

import pickle
import warnings
from itertools import chain

import numpy as np
import pytest
from engine import global_randomness, quick, read_only, seeds, stirred_randomness
from hypothesis import given
from hypothesis import strategies as st

from highway_lessons import SGD, Adam, Data, Highway, Network, Plain, digits, fit, spirals
from highway_lessons.functions import cross_entropy
from highway_lessons.notebook import BUILDING_BOOK, progress_bar
from highway_lessons.training import Fit

NETWORK = Network(Highway(-1.0), depth=2, width=5, n_in=3, n_classes=4)
NAMES = ["train_loss", "train_accuracy", "last_batch_loss", "test_loss", "test_accuracy", "seconds"]


def small_data(n=23, seed=0, n_test=7):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n + n_test, 3)), rng.integers(0, 4, n + n_test)
    return Data(x[:n], y[:n], x[n:], y[n:])


def without_seconds(run):
    return {name: values for name, values in run.history.items() if name != "seconds"}


SEEN = []


class Watched(Network):
    """A network that notes the first column of every batch it sees."""

    def forward(self, params, x):
        SEEN.append(x[:, 0].tolist())
        return super().forward(params, x)


@quick
@given(st.integers(1, 25), st.integers(1, 30), st.integers(1, 3))
def test_each_epoch_sees_every_example_once_in_consecutive_batches(n, batch_size, epochs):
    data = Data(np.arange(3.0 * n).reshape(n, 3), small_data(n).y_train)
    SEEN.clear()
    fit(Watched(Highway(-1.0), 1, 4, 3, 4), data, epochs=epochs, batch_size=batch_size)
    per_epoch = -(-n // batch_size)
    assert len(SEEN) == epochs * per_epoch
    orders = [list(chain(*SEEN[i * per_epoch : (i + 1) * per_epoch])) for i in range(epochs)]
    for order in orders:
        assert sorted(order) == data.x_train[:, 0].tolist()
    sizes = [len(batch) for batch in SEEN[:per_epoch]]
    assert set(sizes[:-1]) <= {batch_size}
    assert sizes[-1] == n - batch_size * (per_epoch - 1)
    if n > 10 and epochs > 1:
        assert orders[0] != orders[1], "the order must change from epoch to epoch"


@quick
@given(seeds, st.integers(1, 30))
def test_with_learning_rate_0_the_training_loss_is_that_of_the_whole_data(seed, batch_size):
    """So short batches weigh what they should."""
    data = small_data()
    run = fit(NETWORK, data, optimiser=SGD(0), epochs=1, batch_size=batch_size, rng=seed)
    loss, accuracy = NETWORK.evaluate(NETWORK.initialise(seed), data.x_train, data.y_train)
    assert run.history["train_loss"][0] == pytest.approx(loss, rel=1e-12)
    assert run.history["train_accuracy"][0] == pytest.approx(accuracy, rel=1e-12)


@quick
@given(seeds, st.integers(5, 25), st.booleans())
def test_the_whole_loop_written_anew(seed, batch_size, momentum):
    """One generator draws the network, then a permutation per epoch; SGD; last loss before its update."""
    data, rate = small_data(), 0.3
    run = fit(NETWORK, data, optimiser=SGD(rate, 0.5 * momentum), epochs=3, batch_size=batch_size, rng=seed)
    rng = np.random.default_rng(seed)
    params = NETWORK.initialise(rng)
    velocity = 0
    for epoch in range(3):
        order, start = rng.permutation(23), 0
        while start < 23:
            chosen = order[start : start + batch_size]
            loss, gradients = NETWORK.loss_and_gradients(params, data.x_train[chosen], data.y_train[chosen])
            velocity = 0.5 * momentum * velocity + gradients.flat
            params.flat -= rate * velocity
            start += batch_size
        assert run.history["last_batch_loss"][epoch] == pytest.approx(loss, rel=1e-9)
        test_loss, test_accuracy = NETWORK.evaluate(params, data.x_test, data.y_test)
        assert run.history["test_loss"][epoch] == pytest.approx(test_loss, rel=1e-9)
        assert run.history["test_accuracy"][epoch] == test_accuracy
    np.testing.assert_allclose(run.params.flat, params.flat, rtol=1e-9, atol=1e-12)


def test_it_learns():
    run = fit(Network(Highway(-1.0), 2, 16, n_in=2, n_classes=2), spirals(1, 1000, 500), epochs=30, rng=1)
    assert run.history["train_loss"][-1] < 0.3 * run.history["train_loss"][0]
    assert run.history["test_accuracy"][-1] > 0.9


def test_history_has_one_entry_per_epoch_and_plain_numbers():
    run = fit(NETWORK, small_data(), epochs=4)
    assert list(run.history) == NAMES
    for values in run.history.values():
        assert [type(value) for value in values] == [float] * 4
    assert run.history["seconds"] == sorted(run.history["seconds"])
    assert run.history["seconds"][0] > 0
    assert run.stopped is None


def test_without_test_data_the_history_has_no_test_columns():
    run = fit(NETWORK, small_data()._replace(x_test=None, y_test=None), epochs=2)
    assert list(run.history) == [name for name in NAMES if "test" not in name]


def test_no_epochs_gives_the_starting_values_and_empty_lists():
    run = fit(NETWORK, small_data(), epochs=0, rng=3)
    np.testing.assert_array_equal(run.params.flat, NETWORK.initialise(3).flat)
    assert run.history == {name: [] for name in NAMES}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_running_it_again_gives_the_same_curves(dtype):
    data = small_data()
    first, second = (fit(NETWORK, data, epochs=3, rng=5, dtype=dtype) for _ in range(2))
    assert without_seconds(first) == without_seconds(second)
    np.testing.assert_array_equal(first.params.flat, second.params.flat)
    assert without_seconds(fit(NETWORK, data, epochs=3, rng=6, dtype=dtype)) != without_seconds(first)


def test_a_generator_draws_what_its_seed_does():
    data = small_data()
    seeded = fit(NETWORK, data, epochs=2, rng=5)
    np.testing.assert_array_equal(
        fit(NETWORK, data, epochs=2, rng=np.random.default_rng(5)).params.flat, seeded.params.flat
    )


def test_starting_from_given_parameters_leaves_them_alone():
    start = NETWORK.initialise(1)
    kept = start.flat.copy()
    first = fit(NETWORK, small_data(), params=start, epochs=2)
    second = fit(NETWORK, small_data(), params=start, epochs=2)
    np.testing.assert_array_equal(start.flat, kept)
    assert not np.shares_memory(first.params.flat, start.flat)
    np.testing.assert_array_equal(first.params.flat, second.params.flat)
    assert (first.params.flat != kept).any()


def test_data_and_global_randomness_are_left_alone():
    data = Data(*map(read_only, small_data()))
    before = stirred_randomness()
    fit(NETWORK, data, epochs=2)
    spirals(n_train=10, n_test=10)
    digits()
    assert global_randomness() == before


def test_odd_forms_of_data_train_the_same():
    data = small_data()
    data = data._replace(x_train=np.round(data.x_train), x_test=np.round(data.x_test))
    expected = fit(NETWORK, data, epochs=2)
    lists = Data(*(part.tolist() for part in data))
    whole = Data(*(part.astype(np.int64) for part in data))
    backwards = Data(*(part[::-1].copy()[::-1] for part in data))
    for odd in (lists, whole, backwards):
        assert without_seconds(fit(NETWORK, odd, epochs=2)) == without_seconds(expected)


def test_float32_trains_in_float32():
    run = fit(NETWORK, small_data(), epochs=5, dtype=np.float32)
    assert run.params.flat.dtype == np.float32
    double = fit(NETWORK, small_data(), epochs=5)
    assert run.history["train_loss"][-1] == pytest.approx(double.history["train_loss"][-1], rel=1e-3)
    assert fit(NETWORK, small_data(), epochs=1, params=run.params).params.flat.dtype == np.float32


def test_progress_is_told_after_each_mini_batch():
    told = []
    run = fit(
        NETWORK, small_data(), epochs=3, batch_size=10,
        progress=lambda done, total, history: told.append((done, total, len(history["train_loss"]))),
    )  # fmt: skip
    assert told == [(done, 9, (done - 1) // 3) for done in range(1, 10)]
    assert len(run.history["train_loss"]) == 3


@pytest.mark.parametrize("updates", [0, 1, 4, 8])
def test_stop_is_asked_before_each_mini_batch(updates):
    asked = []

    def stop():
        asked.append(None)
        return len(asked) > updates

    run = fit(NETWORK, small_data(), epochs=3, batch_size=10, stop=stop)
    assert len(asked) == updates + 1
    assert run.stopped == f"Stopped on request in epoch {updates // 3 + 1}, after {updates} updates."
    assert len(run.history["train_loss"]) == updates // 3


def parameters_after(updates):
    """Those of the same training, cut short by the stop question."""
    left = iter([False] * updates + [True])
    return fit(NETWORK, small_data(), epochs=3, batch_size=10, stop=lambda: next(left)).params.flat


def test_ctrl_c_returns_what_was_learned():
    def progress(done, total, history):
        if done == 5:
            raise KeyboardInterrupt

    try:
        run = fit(NETWORK, small_data(), epochs=3, batch_size=10, progress=progress)
    except KeyboardInterrupt:
        pytest.fail("The interruption came through.")  # else it would end pytest itself
    assert run.stopped == "Interrupted by the keyboard after 5 updates; what was learned so far is kept."
    assert len(run.history["test_loss"]) == 1
    np.testing.assert_array_equal(run.params.flat, parameters_after(5))


def test_the_progress_bar_of_a_notebook(monkeypatch, capsys):
    monkeypatch.delenv(BUILDING_BOOK, raising=False)
    fit(NETWORK, small_data(), epochs=3, batch_size=10, progress=progress_bar("digits"))
    last = capsys.readouterr().err.split("\r")[-1]
    assert last.startswith("digits: 100%")
    assert "9/9" in last
    monkeypatch.setenv(BUILDING_BOOK, "1")
    assert progress_bar() is None


def test_other_errors_of_a_callback_are_not_swallowed():
    def progress(done, total, history):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        fit(NETWORK, small_data(), progress=progress)


class Explosive:
    """An optimiser that throws the parameters away at one update."""

    def __init__(self, at):
        self.at = at

    def start(self, flat):
        return {"updates": 0}

    def update(self, flat, gradient, state):
        state["updates"] += 1
        if state["updates"] == self.at:
            flat[:] = np.nan


@pytest.mark.parametrize(
    ("at", "epochs_done", "sentence"),
    [
        (1, 0, "The loss became nan at update 2 (epoch 1); lower the learning rate."),
        (4, 1, "The loss became nan at update 5 (epoch 2); lower the learning rate."),
        (6, 1, "The test loss became nan after update 6 (epoch 2); lower the learning rate."),
        (9, 2, "The test loss became nan after update 9 (epoch 3); lower the learning rate."),
    ],
)
def test_a_loss_that_is_no_longer_finite_ends_the_training_and_says_where(at, epochs_done, sentence):
    run = fit(NETWORK, small_data(), optimiser=Explosive(at), epochs=3, batch_size=10)
    assert run.stopped == sentence
    for values in run.history.values():
        assert len(values) == epochs_done
        assert np.isfinite(values).all()


@pytest.mark.parametrize("optimiser", [SGD(1e3), SGD(1e100, nesterov=True), Adam(1e200)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_learning_rate_far_too_large_ends_in_a_sentence_without_warnings(optimiser, dtype):
    data = digits()
    data = Data(data.x_train[:300], data.y_train[:300])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = fit(Network(Plain(), depth=6), data, optimiser=optimiser, dtype=dtype)
    assert run.stopped.startswith("The loss became ")
    assert np.isfinite(run.history["train_loss"]).all()


def test_a_fit_pickles_whole():
    run = fit(NETWORK, small_data(), epochs=1)
    again = pickle.loads(pickle.dumps(run))
    assert isinstance(again, Fit)
    assert again.history == run.history
    np.testing.assert_array_equal(again.params.flat, run.params.flat)
    assert np.shares_memory(again.params.flat, again.params.blocks[1]["W_T"])


def test_depth_0_trains():
    run = fit(Network(Plain(), depth=0, width=5, n_in=3, n_classes=4), small_data(), epochs=2)
    assert run.stopped is None


def test_two_classes_and_a_batch_of_one():
    x = np.array([[0.0, 1, 2]])
    run = fit(Network(Highway(), 1, 4, 3, 2), Data(x, [1]), epochs=1)
    assert run.history["train_loss"] == run.history["last_batch_loss"]
    logits, _ = Network(Highway(), 1, 4, 3, 2).forward(Network(Highway(), 1, 4, 3, 2).initialise(0), x)
    assert run.history["train_loss"][0] == pytest.approx(cross_entropy(logits, [1])[0])
