"""Studies of the gate bias: a map over bias and depth, its edge, and the control that changes only Adam's epsilon."""

from highway_lessons.studies.study import Study
from highway_lessons.studies.trainings import SEEDS, train_on_digits

BIASES = [0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -8.0, -10.0]


def gate_bias(**point):
    """Which gate bias trains which depth, and is τ = depth · ln(1 + e^bias) the one number that tells?

    It decides, on the digits in 30 epochs, whether bias and depth act through τ alone: whether points with equal τ and
    different depth reach the same accuracy, for SGD with momentum 0.9 at rates 0.1 and 0.3 and for Adam at 1e-3.

    Expected: SGD at 0.1 trains while τ is below about 4 and stays at chance above 6, at every depth; at 0.3 the edge
    lies higher; Adam bends later, and earlier at greater depth. A very low bias costs little on the digits.
    Surprises would be: SGD at chance with τ below 3, or trained at 0.1 with τ above 8; bias 0 trained at 50 blocks with
    Adam's usual epsilon; −10 worse than −5 by more than a point with Adam.

    The published figure's three trainings are the float64 points with seed 0. The other points are in float32.
    """
    return train_on_digits("highway", **point)


def same_tau(**point):
    """At one and the same τ on the edge between training and guessing, does depth still matter?

    It decides, for highway networks with τ = 5.00 on the digits in 30 epochs of SGD (rate 0.1, momentum 0.9), whether
    10, 20 and 50 blocks reach the same accuracy.

    Expected: 10 blocks train, 20 hardly, 50 not at all. Surprises would be: all three alike; or the deepest the best.

    In float32.
    """
    return train_on_digits("highway", **point)


def epsilon(**point):
    """Does bias 0 fail at 50 blocks because the gradient is gone, or because Adam's epsilon drowns it?

    It decides, on the digits in 30 epochs of Adam at 1e-3, what epsilon alone changes for highway networks with bias 0
    and −2 and for plain networks, all of 50 blocks and with the uniform initialisation.

    Expected: highway networks with bias 0 stay at chance with 1e-8 and 1e-12 and rise above one half with 1e-16 and
    1e-30; plain networks rise, too, less and less evenly; bias −2 hardly changes.
    Surprises would be: bias 0 at chance with 1e-30 as well, for then the gradient itself would be to blame; or bias −2
    that gains or loses more than the seeds' spread.

    In float64, since the square of a gradient below 1e-19 is 0 in float32.
    """
    return train_on_digits(depth=50, dtype="float64", **point)


GATE_BIAS = Study(
    gate_bias,
    grid=[
        {
            "gate_bias": BIASES,
            "depth": [5, 10, 20, 30, 50, 75, 100],
            "optimiser": [optimiser],
            "learning_rate": rates,
            "dtype": ["float32"],
            "seed": SEEDS,
        }
        for optimiser, rates in [("adam", [1e-3]), ("sgd", [0.1, 0.3])]
    ]
    + [
        # The published trainings
        {
            "gate_bias": [0.0, -2.0, -5.0],
            "depth": [50],
            "optimiser": ["adam"],
            "learning_rate": [1e-3],
            "dtype": ["float64"],
            "seed": SEEDS,
        }
    ],
    settings={"epochs": 30, "batch_size": 64},
)

SAME_TAU = Study(
    same_tau,
    grid=[
        {"depth": [depth], "gate_bias": [bias], "seed": SEEDS}
        for depth, bias in [(10, -0.433), (20, -1.259), (50, -2.252)]
    ],
    settings={"optimiser": "sgd", "learning_rate": 0.1, "dtype": "float32", "epochs": 30, "batch_size": 64},
)

EPSILON = Study(
    epsilon,
    grid=[
        {"block": [block], "gate_bias": biases, "epsilon": [1e-8, 1e-12, 1e-16, 1e-30], "seed": SEEDS}
        for block, biases in [("plain", [None]), ("highway", [0.0, -2.0])]
    ],
    settings={"epochs": 30, "batch_size": 64, "curves": True},
)
