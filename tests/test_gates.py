"""Gates and lesions: against loops of their own, against limits known on paper, and what trained networks show."""

import math

import numpy as np
import pytest
from engine import blocks, drawn_network, networks, quick, read_only, seeds
from hypothesis import given
from hypothesis import strategies as st

from highway_lessons import SGD, Adam, Data, Highway, Network, Plain, Residual, digits, fit, sigmoid, spirals
from highway_lessons.gates import (
    bias_change,
    class_means,
    class_share,
    cumulative_lesions,
    forward_with,
    frozen,
    gate_biases,
    head_after,
    linear_probes,
    plane,
    plane_gates,
    random_lesions,
    score,
    selectivity,
    shuffled,
    shuffled_orders,
    single_lesions,
    transform_gates,
    without,
)
from highway_lessons.network import Parameters, Workspace
from highway_lessons.published import MEAN_GATES

# Small networks.


def by_hand(network, params, x, passed, gates=None):
    """A highway network example by example and unit by unit, from the definition."""
    f = {"relu": lambda z: max(z, 0.0), "tanh": math.tanh}[network.block.activation]
    logits = []
    for i, row in enumerate(np.asarray(x)):
        h = [f(sum(row * column) + b) for column, b in zip(params.input["W"].T, params.input["b"], strict=True)]
        for n in passed:
            views, y = params.blocks[n], []
            for j in range(network.width):
                H = f(sum(h * views["W_H"][:, j]) + views["b_H"][j])
                T = 1 / (1 + math.exp(-(sum(h * views["W_T"][:, j]) + views["b_T"][j])))
                T = T if gates is None else gates[n, i % gates.shape[1], j]
                y.append(H * T + h[j] * (1 - T))
            h = y
        logits.append([sum(h * column) + b for column, b in zip(params.head["W"].T, params.head["b"], strict=True)])
    return np.array(logits)


def highway(depth=3, width=4, batch=6, seed=0, activation="relu"):
    network = Network(Highway(-1.0, activation), depth, width, n_in=3, n_classes=3)
    return network, *drawn_network(network, batch, seed)


@quick
@given(networks, seeds)
def test_unchanged_is_the_network_itself(network, seed):
    params, x, labels = drawn_network(network, 5, seed)
    expected, cache = network.forward(params, x)
    logits, h = forward_with(network, params, x)
    np.testing.assert_array_equal(logits, expected)
    np.testing.assert_array_equal(h, cache.h)
    in_order, _ = forward_with(network, params, x, range(network.depth))
    np.testing.assert_array_equal(in_order, expected)
    assert score(network, params, x, labels) == network.evaluate(params, x, labels)


@quick
@given(st.permutations(range(4)), st.integers(0, 4), st.sampled_from(["relu", "tanh"]), seeds)
def test_any_list_of_blocks_with_any_gates_by_hand(order, kept, activation, seed):
    network, params, x, _ = highway(4, activation=activation, seed=seed)
    passed, T = order[:kept], np.random.default_rng(seed).uniform(size=(4, 6, 4))
    logits, h = forward_with(network, params, x, passed)
    np.testing.assert_allclose(logits, by_hand(network, params, x, passed), atol=1e-12)
    assert len(h) == kept + 1
    for given_gates in (T, T[:, :1]):
        logits, _ = forward_with(network, params, x, passed, given_gates)
        np.testing.assert_allclose(logits, by_hand(network, params, x, passed, given_gates), atol=1e-12)


@quick
@given(blocks(), st.integers(1, 4), seeds, st.data())
def test_a_lesion_equals_a_network_without_that_block(block, depth, seed, data):
    network = Network(block, depth, width=4, n_in=3, n_classes=3)
    params, x, labels = drawn_network(network, 5, seed)
    off = data.draw(st.integers(0, depth - 1))
    smaller = Network(block, depth - 1, width=4, n_in=3, n_classes=3)
    ends, stack = np.split(params.flat, [Network(block, 0, width=4, n_in=3, n_classes=3).n_parameters])
    kept = np.delete(stack.reshape(depth, -1), off, axis=0)
    rest = Parameters(smaller, np.concatenate([ends, kept.ravel()]))
    loss, accuracy = smaller.evaluate(rest, x, labels)
    lesions = single_lesions(network, params, x, labels)
    assert lesions.loss.shape == lesions.accuracy.shape == (depth,)
    assert (lesions.loss[off], lesions.accuracy[off]) == (loss, accuracy)
    assert score(network, params, x, labels, without(network, [off])) == (loss, accuracy)


@pytest.mark.parametrize("block", [Highway(-1000.0), Residual(zero_start=True)], ids=repr)
def test_blocks_that_change_nothing_can_go(block):
    """T = 0 everywhere, or a branch that adds 0: every list of blocks is the same network."""
    network = Network(block, depth=4, width=5, n_in=3, n_classes=3)
    params, x, labels = drawn_network(network, 20, 0)
    whole = score(network, params, x, labels)
    for lesions in (
        single_lesions(network, params, x, labels),
        cumulative_lesions(network, params, x, labels, [2, 0, 3, 1]),
        random_lesions(network, params, x, labels, draws=2),
        shuffled_orders(network, params, x, labels, draws=3),
        head_after(network, params, x, labels),
    ):
        assert set(lesions.loss.ravel()) == {whole.loss}
        assert set(lesions.accuracy.ravel()) == {whole.accuracy}


def test_without_a_plain_block_its_input_takes_the_place_of_its_output():
    network = Network(Plain(), depth=2, width=4, n_in=3, n_classes=3)
    params, x, _ = drawn_network(network, 5, 0)
    _, cache = network.forward(params, x)
    H = np.maximum(cache.h[0] @ params.blocks[1]["W_H"] + params.blocks[1]["b_H"], 0)
    logits, h = forward_with(network, params, x, without(network, [0]))
    np.testing.assert_array_equal(h[-1], H)
    np.testing.assert_array_equal(logits, H @ params.head["W"] + params.head["b"])


def test_cumulative_lesions_and_reading_early():
    network, params, x, labels = highway(4, batch=50)
    order = [3, 1, 0, 2]
    lesions = cumulative_lesions(network, params, x, labels, order)
    for k, passed in enumerate([[0, 1, 2, 3], [0, 1, 2], [0, 2], [2], []]):
        assert (lesions.loss[k], lesions.accuracy[k]) == score(network, params, x, labels, passed)
    assert len(cumulative_lesions(network, params, x, labels, [3]).loss) == 2
    early = head_after(network, params, x, labels)
    last = cumulative_lesions(network, params, x, labels, range(4)[::-1])
    np.testing.assert_array_equal(early.loss, last.loss[::-1])
    assert len(set(early.loss)) == 5


def test_random_lesions_are_seeded_and_differ():
    network, params, x, labels = highway(5, batch=50)
    one, again, other = (random_lesions(network, params, x, labels, rng, draws=3).loss for rng in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert one.shape == (3, 6)
    assert len({tuple(row) for row in (*one, *other)}) == 6
    np.testing.assert_array_equal(one[:, [0, -1]], np.tile(one[0, [0, -1]], (3, 1)))  # none off, and all
    rng = np.random.default_rng(1)
    expected = cumulative_lesions(network, params, x, labels, rng.permutation(5)).loss
    np.testing.assert_array_equal(one[0], expected)


def test_shuffled_orders_are_seeded():
    network, params, x, labels = highway(5, batch=50)
    rng = np.random.default_rng(3)
    expected = [score(network, params, x, labels, rng.permutation(5)) for _ in range(4)]
    orders = shuffled_orders(network, params, x, labels, rng=3, draws=4)
    np.testing.assert_array_equal(np.transpose(orders), expected)
    assert len(set(orders.loss)) == 4


def test_the_parameters_of_a_training_run_give_the_same():
    network, params, x, _ = highway()
    work = Workspace(params, network.zeros(), len(x))
    again, _ = forward_with(network, work, x, [0, 0, 1])
    expected, _ = forward_with(network, params, x, [0, 0, 1])
    np.testing.assert_array_equal(again, expected)
    np.testing.assert_array_equal(transform_gates(network, work, x), transform_gates(network, params, x))


def test_nothing_is_written_to():
    network, params, x, labels = highway()
    params, x, labels = Parameters(network, read_only(params.flat)), read_only(x), read_only(labels)
    T = read_only(transform_gates(network, params, x))
    for changed in (frozen(T), shuffled(T), T):
        score(network, params, x, labels, gates=changed)
    single_lesions(network, params, x, labels)
    class_share(T, labels, 3, draws=2)
    selectivity(T)


def test_float32_stays_float32():
    network = Network(Highway(), 2, 4, 3, 3)
    params, x, _ = drawn_network(network, 5, 0, np.float32)
    T = transform_gates(network, params, x)
    logits, h = forward_with(network, params, x, gates=T.astype(np.float64))
    assert {T.dtype, logits.dtype, *(h_l.dtype for h_l in h)} == {np.dtype(np.float32)}


# Gates.


def test_transform_gates_and_biases_are_the_blocks_own():
    network, params, x, _ = highway(3, batch=6)
    T, (_, cache) = transform_gates(network, params, x), network.forward(params, x)
    assert T.shape == (3, 6, 4)
    for n, views in enumerate(params.blocks):
        np.testing.assert_allclose(T[n], sigmoid(cache.h[n] @ views["W_T"] + views["b_T"]), rtol=1e-12)
        np.testing.assert_array_equal(gate_biases(network, params)[n], views["b_T"])
    none = Network(Highway(), 0, 4, 3, 3)
    assert transform_gates(none, none.initialise(0), x).shape == (0, 6, 4)
    assert gate_biases(none, none.initialise(0)).shape == (0, 4)


def test_own_gates_put_back_change_nothing():
    network, params, x, _ = highway()
    expected, _ = network.forward(params, x)
    T = transform_gates(network, params, x)
    for own in (T, T[:, np.arange(len(x))]):
        np.testing.assert_allclose(forward_with(network, params, x, gates=own)[0], expected, rtol=1e-13)


def test_in_a_batch_of_one_frozen_and_shuffled_gates_change_nothing():
    network, params, x, _ = highway(batch=1)
    T, (expected, _) = transform_gates(network, params, x), network.forward(params, x)
    np.testing.assert_array_equal(frozen(T), T)
    np.testing.assert_array_equal(shuffled(T), T)
    np.testing.assert_allclose(forward_with(network, params, x, gates=frozen(T))[0], expected, rtol=1e-13)


def test_gates_of_0_are_a_lesion_and_gates_of_1_a_plain_network():
    network, params, x, _ = highway()
    closed, _ = forward_with(network, params, x, gates=np.zeros((3, 1, 4)))
    np.testing.assert_array_equal(closed, forward_with(network, params, x, [])[0])
    one = transform_gates(network, params, x)
    one[1] = 0
    lesion, _ = forward_with(network, params, x, gates=one)
    early = forward_with(network, params, x, [0])[1][-1]
    block, views = network.block, params.blocks[2]
    H = block.forward(views, early)[1].H
    expected = H * one[2] + early * (1 - one[2])
    np.testing.assert_allclose(lesion, expected @ params.head["W"] + params.head["b"], rtol=1e-12)
    plain = Network(Plain(), 3, 4, 3, 3)
    same = plain.zeros()
    theirs = dict(params.named())
    for name, array in same.named():
        array[:] = theirs[name]
    opened, _ = forward_with(network, params, x, gates=np.ones((3, 1, 4)))
    np.testing.assert_allclose(opened, plain.forward(same, x)[0], rtol=1e-13)


def test_shuffling_keeps_each_gate_s_values_and_mixes_blocks_apart():
    T = np.random.default_rng(0).uniform(size=(3, 40, 5))
    mixed = shuffled(T, 1)
    np.testing.assert_array_equal(np.sort(mixed, axis=1), np.sort(T, axis=1))
    np.testing.assert_array_equal(mixed, shuffled(T, 1))
    assert not np.array_equal(mixed, shuffled(T, 2))
    orders = [[int(np.flatnonzero((T[n] == row).all(axis=1))[0]) for row in mixed[n]] for n in range(3)]
    assert [sorted(order) for order in orders] == [list(range(40))] * 3  # whole rows move
    assert len(set(map(tuple, orders))) == 3


def test_frozen_gates_are_the_means():
    T = np.random.default_rng(0).uniform(size=(2, 7, 3))
    ours = frozen(T)
    assert ours.shape == (2, 1, 3)
    assert ours[1, 0, 2] == pytest.approx(sum(T[1, i, 2] for i in range(7)) / 7)


def test_selectivity_by_hand():
    T = np.random.default_rng(0).uniform(size=(2, 9, 4))
    measured = selectivity(T, 0.55)
    for n in range(2):
        units = [[T[n, i, j] for i in range(9)] for j in range(4)]
        means = [sum(unit) / 9 for unit in units]
        variances = [sum((t - m) ** 2 for t in unit) / 9 for unit, m in zip(units, means, strict=True)]
        assert measured.spread[n] == pytest.approx(math.sqrt(sum(variances) / 4))
        assert measured.spread_of_units[n] == pytest.approx(np.std(means))
        assert measured.active[n] == pytest.approx(sum(t > 0.55 for unit in units for t in unit) / 36)
        assert measured.active_on_average[n] == pytest.approx(sum(m > 0.55 for m in means) / 4)
        assert measured.ever_active[n] == pytest.approx(sum(max(unit) > 0.55 for unit in units) / 4)


def test_selectivity_of_gates_that_choose_and_of_gates_that_do_not():
    """Each of ten units is open for one example of ten; or one unit of ten is open for all."""
    choosing, fixed = np.eye(10)[None], np.tile(np.eye(10)[0], (1, 10, 1))
    for T, spread, of_units, on_average, ever in ((choosing, 0.3, 0, 0, 1), (fixed, 0, 0.3, 0.1, 0.1)):
        measured = selectivity(T)
        assert measured.active[0] == pytest.approx(0.1)
        assert measured.spread[0] == pytest.approx(spread)
        assert measured.spread_of_units[0] == pytest.approx(of_units)
        assert (measured.active_on_average[0], measured.ever_active[0]) == (on_average, ever)


def test_bias_change():
    network = Network(Highway(-2.0), 2, 4, 3, 3)
    start = network.initialise(0)
    end = start.copy()
    end.blocks[0]["b_T"][:] = [-2.5, -2.1, -2, -1.9]
    change = bias_change(network, start, end)
    np.testing.assert_allclose(change.change, [[-0.5, -0.1, 0, 0.1], [0] * 4], atol=1e-15)
    assert change.share_fell == 0.25
    assert change.mean == pytest.approx(-0.5 / 8)


def test_class_means_and_share_by_hand():
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=(2, 12, 3)), np.repeat([0, 1, 2], [3, 4, 5])
    means, shares = class_means(values, labels, 3), class_share(values, labels, 3, draws=1).measured
    for n in range(2):
        between = total = 0
        for j in range(3):
            column = values[n, :, j]
            total += sum((column - column.mean()) ** 2)
            for label, count in enumerate((3, 4, 5)):
                assert means[label, n, j] == pytest.approx(column[labels == label].mean())
                between += count * (column[labels == label].mean() - column.mean()) ** 2
        assert shares[n] == pytest.approx(between / total)


def test_class_share_knows_the_limits_and_chance():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 400)
    of_the_class = np.eye(10)[labels]
    values = np.stack([of_the_class, rng.normal(size=(400, 10)), np.full((400, 10), 0.5)])
    share = class_share(values, labels, 10, rng=1, draws=50)
    assert share.measured[0] == pytest.approx(1)
    assert share.measured[1] == pytest.approx(9 / 399, abs=0.01)
    assert share.measured[2] == 0
    np.testing.assert_allclose(share.chance.mean(axis=0), [9 / 399, 9 / 399, 0], atol=0.003)
    np.testing.assert_array_equal(share.chance, class_share(values, labels, 10, rng=1, draws=50).chance)


def test_plane():
    points = plane(2.0, 3)
    assert points.tolist() == [[x, y] for y in (-2, 0, 2) for x in (-2, 0, 2)]
    network = Network(Highway(-1.0, "tanh"), 3, 4, n_in=2, n_classes=2)
    params = network.initialise(0)
    T = plane_gates(network, params, 2.0, 5)
    assert T.shape == (3, 5, 5, 4)
    at = transform_gates(network, params, [[1.0, -2.0]])  # fourth column, lowest row
    np.testing.assert_allclose(T[:, 0, 3], at[:, 0], rtol=1e-12)


def test_linear_probes():
    """Classes on two sides of a line are read at once; where h_0 says nothing, a probe cannot do better than guess."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3))
    y = (x[:, 0] > 0).astype(int)
    data = Data(x[:300], y[:300], x[300:], y[300:])
    network = Network(Highway(-1000.0, "tanh"), 2, 3, 3, 2)
    params = network.zeros()
    params.input["W"][:] = 0.1 * np.eye(3)
    for views in params.blocks:
        views["b_T"][:] = -1000
    probes = linear_probes(network, params, data)
    assert probes.train.shape == probes.test.shape == (3,)
    assert min(*probes.train, *probes.test) > 0.97
    assert score(network, params, x, y).accuracy == (y == 0).mean()  # its own head is still 0
    params.input["W"][0] = 0
    assert max(linear_probes(network, params, data).test) < 0.65


# Trained networks.


@pytest.fixture(scope="module")
def f8():
    """The published recipe: digits, depth 20, bias −2, seed 0, Adam, 30 epochs, float64."""
    network, rng = Network(Highway(-2.0), 20), np.random.default_rng(0)
    start = network.initialise(rng)
    return network, digits(), start, fit(network, digits(), rng=rng, params=start).params


def test_f8_mean_gates_of_the_published_recipe(f8):
    network, data, _, params = f8
    means = transform_gates(network, params, data.x_test).mean(axis=(1, 2))
    np.testing.assert_allclose(means, MEAN_GATES, atol=0.02)
    assert f"{sigmoid(-2.0):.3f}" == "0.119"


def test_most_biases_fall_a_little_on_digits(f8):
    network, _, start, params = f8
    change = bias_change(network, start, params)
    assert 0.70 < change.share_fell < 0.85
    assert -0.05 < change.mean < -0.02


def test_gates_choose_on_digits_after_training_and_not_before(f8):
    network, data, start, params = f8
    before, after = (selectivity(transform_gates(network, p, data.x_test)) for p in (start, params))
    assert after.spread.min() > 5 * before.spread.max()
    assert after.ever_active.mean() > 2 * after.active.mean()
    assert before.ever_active.max() == 0
    share = class_share(transform_gates(network, params, data.x_test), data.y_test, 10, draws=10)
    assert share.measured.min() > 0.5
    assert share.chance.max() < 0.05


def test_with_another_example_s_gates_the_network_gives_that_example_s_answer_more_often(f8):
    network, data, _, params = f8
    x, y = data.x_test, data.y_test
    T, order = transform_gates(network, params, x), np.random.default_rng(0).permutation(len(x))
    assert (y == y[order]).mean() < 0.15
    own, giver = (score(network, params, x, labels, gates=T[:, order]).accuracy for labels in (y, y[order]))
    assert own < 0.35
    assert giver > 0.4
    same = np.tile(x.mean(axis=0), (len(x), 1))  # one input for all: only the gates tell the examples apart
    assert score(network, params, same, y, gates=T).accuracy > 0.5
    assert score(network, params, x, y, gates=frozen(T)).accuracy < 0.7
    assert score(network, params, x, y, gates=shuffled(T)).accuracy < 0.6


def test_on_digits_all_fifty_blocks_can_go_at_once_after_sgd_at_minus_5():
    """F10, on the test images. On the training images it costs two points, and one block did that work."""
    network, data = Network(Highway(-5.0), 50), digits()
    params = fit(network, Data(*data[:2]), optimiser=SGD(0.1, 0.9), dtype="float32").params
    x, y = data.x_test, data.y_test
    whole, none = score(network, params, x, y), score(network, params, x, y, [])
    assert whole.accuracy > 0.96
    assert abs(whole.accuracy - none.accuracy) < 0.015
    costs = whole.accuracy - single_lesions(network, params, x, y).accuracy
    assert (abs(costs) <= 0.005).sum() >= 48
    assert shuffled_orders(network, params, x, y, draws=3).accuracy.min() > whole.accuracy - 0.01
    T = transform_gates(network, params, x)
    assert score(network, params, np.tile(x.mean(axis=0), (len(x), 1)), y, gates=T).accuracy < 0.2
    assert score(network, params, x, y, gates=shuffled(T)).accuracy > whole.accuracy - 0.02


def test_on_spirals_every_block_and_every_gate_is_needed():
    """F10: ten blocks of width 8, 80 epochs of Adam whose rate falls along half a cosine."""
    network, data = Network(Highway(-math.log(9), "tanh"), 10, 8, 2, 2), spirals()
    optimiser = Adam(1e-2, cosine_decay=80 * 63)
    training = Data(data.x_train, data.y_train)
    params = fit(network, training, optimiser=optimiser, epochs=80, batch_size=128, dtype="float32").params
    for x, y in ((data.x_test, data.y_test), (data.x_train, data.y_train)):
        whole = score(network, params, x, y)
        assert whole.accuracy > 0.98
        assert (whole.accuracy - single_lesions(network, params, x, y).accuracy).min() > 0.005
        T = transform_gates(network, params, x)
        for changed in (frozen(T), shuffled(T)):
            assert score(network, params, x, y, gates=changed).accuracy == pytest.approx(0.5, abs=0.06)
        assert shuffled_orders(network, params, x, y, draws=5).accuracy.max() < 0.65
    assert linear_probes(network, params, data).test[5] < 0.65
    assert linear_probes(network, params, data).test[-1] > 0.98
