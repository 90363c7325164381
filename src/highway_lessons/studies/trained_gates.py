"""The study of trained gates: what moved during training, whether gates choose, and what they carry."""

import math

import numpy as np

from highway_lessons import gates
from highway_lessons.blocks import Highway
from highway_lessons.network import Network
from highway_lessons.studies.study import Study
from highway_lessons.studies.trainings import SEEDS, digits, make_optimiser, rounded, spirals, train

DRAWS = 5  # random orders of the examples


def trained_gates(
    data, depth, width, activation, gate_bias, optimiser, learning_rate, epochs, dtype, seed, *, curves=True
):
    """What do the gates of a trained highway network do that those of a fresh one do not?

    It decides, on digits and on spirals, how many gate biases fall during training and by how much; whether gates
    differ from example to example, and whether that belongs to the class; whether a network still answers with its
    gates frozen at their means, shuffled between examples, or taken from another example, and whose answer it then
    gives; how far the stripes in the block outputs reach, after training and before.

    Expected: on digits with −2 and Adam most biases fall, by some hundredths, gates differ by class, and the answer
    goes with the gates; with −5 and SGD the gates hardly move and nothing depends on whose they are. On spirals biases
    move either way, gates follow places rather than classes, and with gates of others the network guesses.
    Surprises would be: biases that rise on average on digits; shuffled labels that explain a fifth of the gates'
    variance; a network on spirals that keeps 60 % with frozen gates; stripes that only training brings forth.

    The points with 20 blocks are in float64, where seed 0 is the published profile of mean gates; the others in
    float32. With tanh on digits, only the activation differs from the points with −2 and 50 blocks. On spirals the rate
    falls along half a cosine. All but the biases is measured on the test data.
    """
    if data == "digits":
        examples, n_in, n_classes, batch_size, cosine = digits(seed), 64, 10, 64, None
    else:
        examples, n_in, n_classes, batch_size = spirals(5, seed)[0], 2, 2, 128
        cosine = epochs * math.ceil(len(examples.x_train) / batch_size)
    network = Network(Highway(gate_bias, activation), depth, width, n_in, n_classes)
    start = network.initialise(np.random.default_rng(seed), "uniform", dtype)  # as `train` draws them
    result, run = train(
        network,
        examples,
        seed,
        optimiser=make_optimiser(optimiser, learning_rate, cosine_decay=cosine),
        epochs=epochs,
        batch_size=batch_size,
        initialiser="uniform",
        dtype=dtype,
    )
    numbers, by_block = look(network, start, run.params, examples)
    result |= {name: rounded(value) for name, value in numbers.items()}
    if curves:
        result["curves"] = {name: [rounded(v, 4) for v in values] for name, values in by_block.items()}
    return result


def look(network, start, params, data):
    """Look inside a network before and after training.

    Parameters
    ----------
    network : Network
        With highway blocks.
    start, params : Parameters
        Before and after training.
    data : Data
        With a test part.

    Returns
    -------
    numbers, by_block : dict of str to float, dict of str to array
        "…_start" is measured before training. By block: shape (depth,), but "size" and "probe_accuracy" (depth + 1,),
        from h_0; entry k of "stripes" belongs to outputs k blocks apart.
    """
    x, y = data.x_test, data.y_test
    change = gates.bias_change(network, start, params)
    T_start, T = (gates.transform_gates(network, p, x) for p in (start, params))
    chosen_start, chosen = gates.selectivity(T_start), gates.selectivity(T)
    share_start, share = (gates.class_share(values, y, network.n_classes) for values in (T_start, T))
    h_start, h = (np.array(gates.forward_with(network, p, x)[1]) for p in (start, params))
    numbers = {
        "biases_fell": change.share_fell,
        "bias_change": change.mean,
        "bias_change_lowest": change.change.min(),
        "bias_change_highest": change.change.max(),
        "bias_and_gate": np.corrcoef(gates.gate_biases(network, params).ravel(), T.mean(axis=1).ravel())[0, 1],
        "mean_gate_start": T_start.mean(),
        "mean_gate": T.mean(),
        "gate_spread_start": chosen_start.spread.mean(),
        "gate_spread": chosen.spread.mean(),
        "gate_spread_of_units": chosen.spread_of_units.mean(),
        "active": chosen.active.mean(),
        "active_on_average": chosen.active_on_average.mean(),
        "ever_active": chosen.ever_active.mean(),
        "class_share_start": share_start.measured.mean(),
        "class_share": share.measured.mean(),
        "class_share_chance": share.chance.mean(),
        **with_other_gates(network, params, x, y, T),
    }
    by_block = {
        "mean_gate": T.mean(axis=(1, 2)),
        "bias_change": change.change.mean(axis=1),
        "gate_spread": chosen.spread,
        "class_share": share.measured,
        "class_share_start": share_start.measured,
        "step": np.linalg.norm(np.diff(h, axis=0), axis=2).mean(axis=1),
        "size": np.linalg.norm(h, axis=2).mean(axis=1),
        "stripes_start": gates.stripes(h_start[1:]),
        "stripes": gates.stripes(h[1:]),
        "probe_accuracy": gates.linear_probes(network, params, data).test,
    }
    return numbers, by_block


def with_other_gates(network, params, x, y, T):
    """Measure accuracies with gates that are not the examples' own; means over `DRAWS` where there is chance in it.

    "gates_of_others" are all the gates of one other example, drawn from all, and "gates_of_class" of one of the same
    class. "answer_of_giver" is how often the network then gives the class of the example that the gates come from.
    "one_input" gives every example the mean input, and its own gates.
    """

    def accuracy(x, y, T):
        return gates.score(network, params, x, y, gates=T).accuracy

    drawn = {"accuracy_shuffled": [], "gates_of_others": [], "answer_of_giver": [], "gates_of_class": []}
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        order, within = rng.permutation(len(x)), np.arange(len(x))
        for one in np.unique(y):
            within[y == one] = rng.permutation(within[y == one])
        drawn["accuracy_shuffled"].append(accuracy(x, y, gates.shuffled(T, rng)))
        drawn["gates_of_others"].append(accuracy(x, y, T[:, order]))
        drawn["answer_of_giver"].append(accuracy(x, y[order], T[:, order]))
        drawn["gates_of_class"].append(accuracy(x, y, T[:, within]))
    fixed = {
        "accuracy_frozen": accuracy(x, y, gates.frozen(T)),
        "one_input": accuracy(np.tile(x.mean(axis=0), (len(x), 1)), y, T),
    }
    return fixed | {name: np.mean(values) for name, values in drawn.items()}


DIGITS = {"data": ["digits"], "depth": [50], "width": [64], "activation": ["relu"]}
ADAM = {"optimiser": ["adam"], "learning_rate": [1e-3], "epochs": [30], "dtype": ["float32"], "seed": SEEDS}
TRAINED_GATES = Study(
    trained_gates,
    grid=[
        DIGITS | {"gate_bias": [-2.0]} | ADAM,
        DIGITS | {"gate_bias": [-5.0]} | ADAM,
        DIGITS | {"gate_bias": [-5.0]} | ADAM | {"optimiser": ["sgd"], "learning_rate": [0.1]},
        DIGITS | {"activation": ["tanh"], "gate_bias": [-2.0]} | ADAM,
        # The published profile of mean gates
        DIGITS | {"depth": [20], "gate_bias": [-2.0]} | ADAM | {"dtype": ["float64"]},
        # The best learning rates of the spirals are found by the study of depth
        {"data": ["spirals"], "depth": [10], "width": [8], "activation": ["tanh"], "gate_bias": [-math.log(9)]}
        | ADAM
        | {"learning_rate": [1e-2], "epochs": [80]},
    ],
    settings={"curves": True},
    meaning={"sgd": "momentum 0.9"},
)
