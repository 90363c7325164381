"""PyTorch, eager: an nn.Module per block, Adam in its foreach form."""

import job
import numpy as np
import torch
from torch import nn


class Highway(nn.Module):
    def __init__(self):
        super().__init__()
        self.transform = nn.Linear(job.WIDTH, job.WIDTH)
        self.gate = nn.Linear(job.WIDTH, job.WIDTH)
        nn.init.uniform_(self.transform.weight, -(job.WIDTH**-0.5), job.WIDTH**-0.5)
        nn.init.uniform_(self.gate.weight, -(job.WIDTH**-0.5), job.WIDTH**-0.5)
        nn.init.constant_(self.gate.bias, job.GATE_BIAS)

    def forward(self, x):
        H = torch.relu(self.transform(x))
        T = torch.sigmoid(self.gate(x))
        return H * T + x * (1 - T)


def network():
    blocks = [Highway() for _ in range(job.DEPTH)]
    return nn.Sequential(nn.Linear(64, job.WIDTH), nn.ReLU(), *blocks, nn.Linear(job.WIDTH, job.CLASSES))


def train(epochs, data, compiled=lambda model: model):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = network().to(torch.from_numpy(data.x_train).dtype)
    adam = torch.optim.Adam(model.parameters(), job.LEARNING_RATE, (job.BETA1, job.BETA2), job.EPSILON, foreach=True)
    step = compiled(model)
    x, y = torch.from_numpy(data.x_train), torch.from_numpy(data.y_train)
    rng = np.random.default_rng(0)
    for _ in range(epochs):
        for batch in job.batches(len(x), rng):
            batch = torch.from_numpy(batch)
            loss = nn.functional.cross_entropy(step(x[batch]), y[batch])
            adam.zero_grad()
            loss.backward()
            adam.step()
    with torch.no_grad():
        return model(torch.from_numpy(data.x_test)).numpy()


if __name__ == "__main__":
    job.run(train)
