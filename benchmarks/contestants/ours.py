"""The course's own engine: `fit`, in float32."""

import job
import numpy as np

from highway_lessons.blocks import Highway
from highway_lessons.datasets import Data
from highway_lessons.network import Network
from highway_lessons.optimizers import Adam
from highway_lessons.training import fit

network = Network(Highway(job.GATE_BIAS), job.DEPTH, job.WIDTH)


def train(epochs, data):
    training = Data(data.x_train, data.y_train)
    trained = fit(network, training, optimiser=Adam(job.LEARNING_RATE), epochs=epochs, dtype=np.float32)
    return network.forward(trained.params, data.x_test)[0]


if __name__ == "__main__":
    job.run(train)
