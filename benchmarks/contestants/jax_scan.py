"""JAX: one jitted step, the blocks' parameters stacked and walked by a scan."""

import functools

import jax
import jax.numpy as jnp
import job
import numpy as np


def initialise(rng):
    def layer(n_in, *shape):
        return {"W": job.uniform(rng, n_in, *shape), "b": job.uniform(rng, n_in, *shape[:-2], shape[-1])}

    blocks = layer(job.WIDTH, job.DEPTH, job.WIDTH, 2 * job.WIDTH)
    blocks["b"][:, job.WIDTH :] = job.GATE_BIAS
    parts = {"input": layer(64, 64, job.WIDTH), "head": layer(job.WIDTH, job.WIDTH, job.CLASSES), "blocks": blocks}
    return jax.tree.map(lambda part: jnp.asarray(part, jnp.float32), parts)


def block(x, p):
    H, T = jnp.split(x @ p["W"] + p["b"], 2, axis=1)
    H, T = jax.nn.relu(H), jax.nn.sigmoid(T)
    return H * T + x * (1 - T), None


@jax.jit
def forward(p, x):
    h = jax.nn.relu(x @ p["input"]["W"] + p["input"]["b"])
    h, _ = jax.lax.scan(block, h, p["blocks"])
    return h @ p["head"]["W"] + p["head"]["b"]


def loss(p, x, y):
    log_p = jax.nn.log_softmax(forward(p, x))
    return -jnp.take_along_axis(log_p, y[:, None], axis=1).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def step(p, m, v, t, x, y):
    g = jax.grad(loss)(p, x, y)
    m = jax.tree.map(lambda m, g: job.BETA1 * m + (1 - job.BETA1) * g, m, g)
    v = jax.tree.map(lambda v, g: job.BETA2 * v + (1 - job.BETA2) * g * g, v, g)
    a, b = 1 - job.BETA1**t, 1 - job.BETA2**t
    p = jax.tree.map(lambda p, m, v: p - job.LEARNING_RATE * (m / a) / (jnp.sqrt(v / b) + job.EPSILON), p, m, v)
    return p, m, v


def train(epochs, data):
    rng = np.random.default_rng(0)
    p = initialise(rng)
    m, v, t = jax.tree.map(jnp.zeros_like, p), jax.tree.map(jnp.zeros_like, p), 0
    x, y = data.x_train, data.y_train.astype(np.int32)
    for _ in range(epochs):
        for batch in job.batches(len(x), rng):
            t += 1
            p, m, v = step(p, m, v, jnp.float32(t), x[batch], y[batch])
    return np.asarray(forward(p, data.x_test))


if __name__ == "__main__":
    job.run(train)
