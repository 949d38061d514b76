"""Train a transformer on a stream of symbols, and compute its loss on another stream.

AdamW (Loshchilov and Hutter 2019) with a rate that rises in the first tenth of the steps and then falls to
zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from tokbench_probe.shape import Course, Shape
from tokbench_probe.transformer import Parameters, initial, nats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Symbols = NDArray[np.int32]

DECAY, FADING, FADING_SQUARES = 0.1, 0.9, 0.95


def rate_at(step: int, course: Course) -> float:
    """The learning rate of a step: a line up, then half a cosine down.

    Example:
        >>> [round(rate_at(step, Course(1, 21, 1.0)), 2) for step in (0, 1, 2, 11, 20)]
        [0.5, 1.0, 0.99, 0.5, 0.01]
    """
    rising = max(1, course.steps // 10)
    if step < rising:
        return course.rate * (step + 1) / rising
    return course.rate * (1 + float(np.cos(np.pi * (step - rising + 1) / (course.steps - rising + 1)))) / 2


def loss(parameters: Parameters, windows: Any) -> Any:
    """The mean loss over all symbols of some windows, in nats."""
    return nats(parameters, windows).mean()


@partial(jax.jit, donate_argnums=(0, 1, 2))
def learned(
    parameters: Parameters, means: Parameters, squares: Parameters, windows: Any, rate: Any, step: Any
) -> tuple[Parameters, Parameters, Parameters]:
    """One step of AdamW, with the gradient clipped to norm 1; gains have no weight decay."""
    slope = jax.grad(loss)(parameters, windows)
    length = jnp.sqrt(sum(jnp.sum(each * each) for each in slope.values()))
    for name, each in slope.items():
        own = each / jnp.maximum(length, 1.0)
        means[name] = FADING * means[name] + (1 - FADING) * own
        squares[name] = FADING_SQUARES * squares[name] + (1 - FADING_SQUARES) * own * own
        by = means[name] / (1 - FADING**step) / (jnp.sqrt(squares[name] / (1 - FADING_SQUARES**step)) + 1e-8)
        matrix = name in ("embedding", "attention", "attended", "up", "down")
        parameters[name] = parameters[name] - rate * (by + DECAY * matrix * parameters[name])
    return parameters, means, squares


def windows_of(stream: Symbols, context: int, chance: np.random.Generator) -> Iterator[Symbols]:
    """Windows of `context` symbols and one more, pass after pass, each cut elsewhere and in another order."""
    while True:
        begin = chance.integers(min(context, len(stream) - context))
        for window in chance.permutation((len(stream) - 1 - begin) // context):
            start = begin + window * context
            yield stream[start : start + context + 1]


def trained(
    stream: Symbols, shape: Shape, course: Course, seed: int, told: Callable[[int], None] = lambda step: None
) -> Parameters:
    """The parameters after all steps; `told` is called after each. A stream is longer than `shape.context`."""
    parameters = initial(shape, seed)
    means, squares = ({name: jnp.zeros_like(each) for name, each in parameters.items()} for _ in range(2))
    windows = windows_of(stream, shape.context, np.random.default_rng(seed))
    for step in range(course.steps):
        some = np.stack([next(windows) for _ in range(course.batch)])
        rate = np.float32(rate_at(step, course))
        parameters, means, squares = learned(parameters, means, squares, some, rate, np.float32(step + 1))
        if step % 10 == 9:
            means["last"].block_until_ready()  # else steps queue up, and progress is unknown
        told(step + 1)
    return parameters


_nats = jax.jit(nats)


def read(parameters: Parameters, stream: Symbols, context: int, batch: int) -> NDArray[np.float64]:
    """The loss in nats of each symbol of a stream but its first, ``(symbols - 1,)``.

    Windows overlap by half, so that all but the first few are predicted from half a context or more.
    """
    half = context // 2
    n = len(stream) - 1
    starts = np.arange(0, max(n - half, 1), half)
    padded = np.concatenate([stream, np.zeros(2 * context, np.int32)])
    found = np.empty(len(padded))
    for first in range(0, len(starts), batch):
        some = np.resize(starts[first : first + batch], batch)
        each = np.asarray(_nats(parameters, padded[some[:, None] + np.arange(2 * half + 1)]))
        for start, own in zip(some, each, strict=True):
            fresh = half if start else 0
            found[start + fresh : start + 2 * half] = own[fresh:]
    return found[:n]
