"""A decoder-only transformer in JAX, which predicts the next symbol.

It is a standard model: pre-normalization (RMS), causal attention with two heads and rotary position embeddings
(RoPE, Su et al. 2021), a hidden layer with squared ReLU (So et al. 2021), no biases, no dropout, and tied
embeddings and head. Operations other than matrix products were chosen to be cheap: on a CPU, they take most of
the time.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tokbench_probe.shape import HEADS, Shape

Array = Any
Parameters = dict[str, Array]
"""By name; those of a layer have the layer as their first axis."""


def initial(shape: Shape, seed: int) -> Parameters:
    """Random weights: standard deviation 0.02, for residual outputs divided by √(2 · layers)."""
    n, width, hidden = shape.layers, shape.width, shape.hidden
    sizes = {
        "embedding": (shape.symbols, width),
        "attention": (n, width, 3 * width),
        "attended": (n, width, width),
        "up": (n, width, hidden),
        "down": (n, hidden, width),
    }
    keys = jax.random.split(jax.random.key(seed), len(sizes))
    weights = {
        name: 0.02 * jax.random.normal(key, size) for key, (name, size) in zip(keys, sizes.items(), strict=True)
    }
    for name in ("attended", "down"):
        weights[name] /= (2 * n) ** 0.5
    gains = {"before_attention": (n, width), "before_hidden": (n, width), "last": (width,)}
    return weights | {name: jnp.ones(size) for name, size in gains.items()}


def normed(x: Array, gain: Array) -> Array:
    """`x` divided by its root mean square, times `gain`."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * gain


def turned(x: Array) -> Array:
    """Queries or keys, ``(…, place, number)``, with their halves as pairs rotated by place times frequency."""
    places, half = x.shape[-2], x.shape[-1] // 2
    angles = jnp.arange(places)[:, None] * 10_000.0 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    first, second = x[..., :half], x[..., half:]
    return jnp.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def attended(x: Array, weights: Array, out: Array) -> Array:
    """Causal attention: each place attends to itself and those before it."""
    batch, places, width = x.shape
    parts = (x @ weights).reshape(batch, places, 3, HEADS, width // HEADS).transpose(2, 0, 3, 1, 4)
    queries, keys, values = turned(parts[0]), turned(parts[1]), parts[2]
    scores = queries @ keys.swapaxes(-1, -2) / (width // HEADS) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((places, places), bool)), scores, -jnp.inf)
    mixed = jax.nn.softmax(scores) @ values
    return mixed.transpose(0, 2, 1, 3).reshape(batch, places, width) @ out


def squared(x: Array) -> Array:
    """The squared ReLU."""
    return jnp.square(jax.nn.relu(x))


def scores_of(parameters: Parameters, symbols: Array) -> Array:
    """The logits for the next symbol at each of ``(batch, places)``, with one more axis of symbols."""
    p = parameters
    x = p["embedding"][symbols]
    for n in range(p["up"].shape[0]):
        x += attended(normed(x, p["before_attention"][n]), p["attention"][n], p["attended"][n])
        x += squared(normed(x, p["before_hidden"][n]) @ p["up"][n]) @ p["down"][n]
    return normed(x, p["last"]) @ p["embedding"].T


def nats(parameters: Parameters, symbols: Array) -> Array:
    """The loss of each symbol except the first, given those before it: ``(batch, places - 1)``."""
    scores = scores_of(parameters, symbols[:, :-1])
    own = jnp.take_along_axis(scores, symbols[:, 1:, None], axis=-1)[..., 0]
    return jax.nn.logsumexp(scores, axis=-1) - own
