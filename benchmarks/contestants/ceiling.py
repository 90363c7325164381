"""No contestant but a bound: the matrix products of the job and nothing else, each into an array made beforehand."""

import job
import numpy as np


def train(epochs, data):
    rng = np.random.default_rng(0)
    n = job.WIDTH

    def array(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    W_in, W_out, W = array(64, n), array(n, job.CLASSES), array(job.DEPTH, n, 2 * n) / n
    h, dh = array(job.BATCH, n), array(job.BATCH, n)
    z, dz, dlogits = array(job.BATCH, 2 * n), array(job.BATCH, 2 * n), array(job.BATCH, job.CLASSES)
    dW_in, dW_out, dW = np.empty_like(W_in), np.empty_like(W_out), np.empty_like(W)
    for _ in range(epochs):
        for batch in job.batches(len(data.x_train), rng):
            k = len(batch)
            x = data.x_train[batch]
            np.matmul(x, W_in, out=h[:k])
            for i in range(job.DEPTH):
                np.matmul(h[:k], W[i], out=z[:k])
            np.matmul(h[:k], W_out, out=dlogits[:k])
            np.matmul(h[:k].T, dlogits[:k], out=dW_out)
            np.matmul(dlogits[:k], W_out.T, out=dh[:k])
            for i in reversed(range(job.DEPTH)):
                np.matmul(h[:k].T, dz[:k], out=dW[i])
                np.matmul(dz[:k], W[i].T, out=dh[:k])
            np.matmul(x.T, h[:k], out=dW_in)
    return np.zeros((len(data.x_test), job.CLASSES))  # nothing was learned


if __name__ == "__main__":
    job.run(train)
