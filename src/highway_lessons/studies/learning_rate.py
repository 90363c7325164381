"""The study of the learning rate: how wide is the range in which a network trains?"""

from highway_lessons.studies.study import Study
from highway_lessons.studies.trainings import SEEDS, meaning, train_on_digits

RATES = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0]


def learning_rate(**point):
    """How wide is the range of learning rates in which a network of 20 or 50 blocks trains?

    It decides, on the digits, the range for highway networks (−2 and −5), for plain networks with He's initialisation,
    the best that can be said for them, and for residual networks, with Adam and with SGD (momentum 0.9); and whether
    SGD at −2 and 50 blocks is dead or late: the same with five times the epochs at the rates from 0.03.

    Expected: −5 trains over two decades or more with both optimisers; −2 with SGD needs about 0.3 at 50 blocks, late
    and at the risk of NaN; plain networks with He at 50 blocks train best at 3e-4 with Adam and not at 3e-3.
    Surprises would be: a plain network whose range at 50 blocks is as wide as that of −5; −2 with SGD trained at 0.1 in
    30 epochs and 50 blocks; 150 epochs that change nothing.

    A training that diverges or stays at chance is a result and counts as one. All in float32.
    """
    return train_on_digits(**point)


AXES = {"depth": [20, 50], "optimiser": ["adam", "sgd"], "learning_rate": RATES, "epochs": [30], "seed": SEEDS}
LATE = {"depth": [20, 50], "optimiser": ["sgd"], "learning_rate": [0.03, 0.1, 0.3, 1.0], "epochs": [150], "seed": SEEDS}
LEARNING_RATE = Study(
    learning_rate,
    grid=[
        {"block": ["highway"], "gate_bias": [-2.0, -5.0], "initialiser": ["uniform"], **AXES},
        {"block": ["plain"], "gate_bias": [None], "initialiser": ["he"], **AXES},
        {"block": ["residual"], "gate_bias": [None], "initialiser": ["uniform"], **AXES},
        {"block": ["highway"], "gate_bias": [-2.0], "initialiser": ["uniform"], **LATE},
    ],
    settings={"batch_size": 64, "dtype": "float32"},
    meaning=meaning("residual"),
)
