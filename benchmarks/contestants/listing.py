"""A plain NumPy listing, as tutorials print it: dictionaries, one array per parameter, temporaries, float64."""

import job
import numpy as np


def initialise(rng):
    p = {"W_in": job.uniform(rng, 64, 64, job.WIDTH), "b_in": job.uniform(rng, 64, job.WIDTH)}
    p["W_out"] = job.uniform(rng, job.WIDTH, job.WIDTH, job.CLASSES)
    p["b_out"] = job.uniform(rng, job.WIDTH, job.CLASSES)
    for i in range(job.DEPTH):
        for name in ("H", "T"):
            p[f"W_{name}{i}"] = job.uniform(rng, job.WIDTH, job.WIDTH, job.WIDTH)
            p[f"b_{name}{i}"] = job.uniform(rng, job.WIDTH, job.WIDTH)
        p[f"b_T{i}"] = np.full(job.WIDTH, job.GATE_BIAS)
    return p


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def forward(p, x):
    h = np.maximum(x @ p["W_in"] + p["b_in"], 0)
    cache = [h]
    for i in range(job.DEPTH):
        H = np.maximum(h @ p[f"W_H{i}"] + p[f"b_H{i}"], 0)
        T = sigmoid(h @ p[f"W_T{i}"] + p[f"b_T{i}"])
        cache.append((h, H, T))
        h = H * T + h * (1 - T)
    cache.append(h)
    logits = h @ p["W_out"] + p["b_out"]
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True), cache


def backward(p, x, y, probabilities, cache):
    g = {}
    d = probabilities.copy()
    d[np.arange(len(y)), y] -= 1
    d /= len(y)
    g["W_out"], g["b_out"] = cache[-1].T @ d, d.sum(axis=0)
    d = d @ p["W_out"].T
    for i in reversed(range(job.DEPTH)):
        h, H, T = cache[i + 1]
        dz_H = d * T * (H > 0)
        dz_T = d * (H - h) * T * (1 - T)
        g[f"W_H{i}"], g[f"b_H{i}"] = h.T @ dz_H, dz_H.sum(axis=0)
        g[f"W_T{i}"], g[f"b_T{i}"] = h.T @ dz_T, dz_T.sum(axis=0)
        d = d * (1 - T) + dz_H @ p[f"W_H{i}"].T + dz_T @ p[f"W_T{i}"].T
    d = d * (cache[0] > 0)
    g["W_in"], g["b_in"] = x.T @ d, d.sum(axis=0)
    return g


def train(epochs, data):
    rng = np.random.default_rng(0)
    p = initialise(rng)
    m = {name: np.zeros_like(value) for name, value in p.items()}
    v = {name: np.zeros_like(value) for name, value in p.items()}
    t = 0
    for _ in range(epochs):
        for batch in job.batches(len(data.x_train), rng):
            x, y = data.x_train[batch], data.y_train[batch]
            probabilities, cache = forward(p, x)
            g = backward(p, x, y, probabilities, cache)
            t += 1
            for name in p:
                m[name] = job.BETA1 * m[name] + (1 - job.BETA1) * g[name]
                v[name] = job.BETA2 * v[name] + (1 - job.BETA2) * g[name] ** 2
                m_hat, v_hat = m[name] / (1 - job.BETA1**t), v[name] / (1 - job.BETA2**t)
                p[name] = p[name] - job.LEARNING_RATE * m_hat / (np.sqrt(v_hat) + job.EPSILON)
    return forward(p, data.x_test)[0]


if __name__ == "__main__":
    job.run(train, np.float64)
