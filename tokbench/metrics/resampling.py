"""Bootstrap and jackknife: counts on Poisson resamples, on the text without each group, and on all of it.

A figure computed on all of these at once has what its interval needs: how it varies by chance (bootstrap), how
much single groups of documents influence it (jackknife), and its value. A row of counts has `n` resamples, then
`GROUPS` texts without one bootstrap group each, then the whole text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.tally.counters import GROUPS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_EXACT = 1 << 24
"""Whole numbers and sums up to this are exact in single precision."""


def resampled_rows(sums: Mapping[str, Ints], *, seed: int, n: int) -> dict[str, Floats]:
    """Each of `sums`, of shape ``(GROUPS,)``, on every resample: float64 of shape ``(n + GROUPS + 1,)``.

    Counters with the same sums in every group, such as those that are all 0, share a row.

    Example:
        >>> import numpy as np
        >>> tokens = np.zeros(GROUPS, np.int64)
        >>> tokens[:2] = 5, 7
        >>> again = resampled_rows({"tokens": tokens}, seed=0, n=10)["tokens"]
        >>> parts_of(again[None]).left_out[0, :3].tolist(), float(again[-1])
        ([7.0, 5.0, 12.0], 12.0)
    """
    keys = {name: own.tobytes() for name, own in sums.items()}
    distinct = {key: sums[name] for name, key in keys.items()}
    again = resampled_sums(np.array([*distinct.values()]).reshape(-1, GROUPS), seed=seed, n=n)
    found = dict(zip(distinct, again, strict=True))
    return {name: found[key] for name, key in keys.items()}


def resampled_sums(sums: Floats | Ints, *, seed: int, n: int) -> Floats:
    """Any sums by group, ``(k, GROUPS)``, on every resample: float64 of shape ``(k, n + GROUPS + 1)``.

    Sums of whole numbers, none of them negative, are exact.
    """
    result = np.empty((len(sums), n + GROUPS + 1))
    whole = sums.sum(axis=1)
    weights, heaviest = _weights(seed, n)
    # single precision is twice as fast, and exact if every sum is a whole number up to _EXACT
    exact = (whole * heaviest < _EXACT) & (sums.dtype.kind in "iu")
    for chosen, kind in ((exact, np.float32), (~exact, np.float64)):
        if chosen.any():
            result[chosen, :n] = sums[chosen].astype(kind) @ weights.astype(kind, copy=False).T
    np.subtract(whole[:, None], sums, out=result[:, n:-1])
    result[:, -1] = whole
    return result


def poisson_weights(seed: int, n: int) -> NDArray[np.uint8]:
    """Poisson(1) weights of every group in `n` replicates, uint8 ``(GROUPS, n)``; the same for the same seed.

    Poisson bootstrap: Chamandy, Muralidharan, Najmi and Naidu, "Estimating uncertainty for massive data
    streams", 2012. Drawn from Philox, a counter-based generator whose stream numpy keeps stable.

    Example:
        >>> weights = poisson_weights(0, 1000)
        >>> weights.shape, bool(abs(weights.mean() - 1) < 0.01)
        ((1024, 1000), True)
    """
    generator = np.random.Generator(np.random.Philox(seed))
    # by inversion of uniforms: numpy keeps their stream stable, unlike that of .poisson
    steps = np.cumsum(np.exp(-1.0) / np.cumprod(np.concatenate([[1.0], np.arange(1.0, 18.0)])))
    weights = np.empty((GROUPS, n), np.uint8)
    for first in range(0, n, 100):  # in parts, to limit the memory of the uniforms
        part = weights[:, first : first + 100]
        part[:] = np.searchsorted(steps, generator.random(part.shape[::-1]), side="right").T
    return weights


@lru_cache(maxsize=1)
def _weights(seed: int, n: int) -> tuple[NDArray[np.float32], float]:
    """The weights of every group in each resample, ``(n, GROUPS)``, and the largest: the same for all."""
    weights = np.ascontiguousarray(poisson_weights(seed, n).T, np.float32)
    return weights, float(weights.max(initial=0))


class Parts(NamedTuple):
    """A figure on resamples ``(k, n)``, without each group ``(k, GROUPS)``, and on the whole text ``(k,)``."""

    drawn: Floats
    left_out: Floats
    whole: Floats


def parts_of(figures: Floats) -> Parts:
    """The parts of k figures computed on resamples: ``(k, n + GROUPS + 1)``."""
    n = figures.shape[1] - GROUPS - 1
    return Parts(figures[:, :n], figures[:, n:-1], figures[:, -1])
