"""PyTorch, compiled: the same modules through torch.compile (and a C++ compiler)."""

import functools

import job
import torch
from torch_eager import train

compiled = functools.partial(torch.compile, dynamic=False)


if __name__ == "__main__":
    job.run(functools.partial(train, compiled=compiled))
