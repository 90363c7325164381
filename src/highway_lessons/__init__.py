"""Highway networks, one small piece at a time: the package behind the course."""

from highway_lessons.blocks import Highway, NaiveResidual, Plain, Residual
from highway_lessons.datasets import Data, digits, mnist, spirals
from highway_lessons.functions import sigmoid
from highway_lessons.gradients import check_gradients, direct_path, signal_norms, tau
from highway_lessons.network import Network
from highway_lessons.optimizers import SGD, Adam
from highway_lessons.training import fit

__version__ = "1.0.0"

__all__ = [
    "SGD",
    "Adam",
    "Data",
    "Highway",
    "NaiveResidual",
    "Network",
    "Plain",
    "Residual",
    "check_gradients",
    "digits",
    "direct_path",
    "fit",
    "mnist",
    "sigmoid",
    "signal_norms",
    "spirals",
    "tau",
]
