"""The text over again: Poisson resamples of it, it without each of its groups of documents, and it as it is.

A figure computed on all of them at once has what its interval needs: how it varies by chance, how much single
documents decide it, and itself. Each row of counts has `n` resamples, then `GROUPS` texts that leave one
bootstrap group out, then the whole text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tokbench.tally.groups import NAMES, GroupSums, poisson_weights
from tokbench.tally.text import GROUPS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_ONE_THREAD = 250_000
"""Multiplications at once below which BLAS starts no threads, which cost more CPU than they save time."""
_EXACT = 1 << 24
"""Whole numbers up to this are single-precision numbers, and so are their sums."""


def resampled(groups: GroupSums, *, seed: int, n: int, more: Ints | None = None) -> list[Floats]:
    """Every counter on every resample: float64 of shape ``(n + GROUPS + 1,)`` for each of `NAMES`.

    Counters that are the same in every group share a row. The sums `more`, ``(k, GROUPS)``, give k rows after
    those of the counters.

    Example:
        >>> import numpy as np
        >>> dense = np.zeros((GROUPS, len(NAMES)), np.int64)
        >>> dense[:2, NAMES.index("tokens")] = 5, 7
        >>> tokens = resampled(GroupSums.of_dense(dense), seed=0, n=10)[NAMES.index("tokens")]
        >>> parts_of(tokens[None]).left_out[0, :3].tolist(), float(tokens[-1])
        ([7.0, 5.0, 12.0], 12.0)
    """
    import numpy as np

    values = np.ascontiguousarray(groups.values.T)
    place: dict[bytes, int] = {}
    row_of = [place.setdefault(row.tobytes(), len(place)) for row in values]
    distinct = np.unique(row_of, return_index=True)[1]
    sums = np.zeros((len(distinct), GROUPS), np.int64)
    sums[:, groups.rows] = values[distinct]
    rows = list(resampled_sums(sums if more is None else np.concatenate([sums, more]), seed=seed, n=n))
    found = [np.zeros(n + GROUPS + 1)] * len(NAMES)
    for column, row in zip(groups.columns.tolist(), row_of, strict=True):
        found[column] = rows[row]
    return [*found, *rows[len(distinct) :]]


def resampled_sums(sums: Floats | Ints, *, seed: int, n: int) -> Floats:
    """The same of any sums by group, ``(k, GROUPS)``: float64 of shape ``(k, n + GROUPS + 1)``.

    Sums of whole numbers, none of them negative, are exact.
    """
    import numpy as np

    result = np.empty((len(sums), n + GROUPS + 1))
    whole = sums.sum(axis=1)
    weights = _weights(seed, n)
    # single precision is twice as fast, and exact where every sum is a whole number that it has
    exact = (whole * weights.max(initial=0) < _EXACT) & (sums.dtype.kind in "iu")
    for chosen, kind in ((exact, np.float32), (~exact, np.float64)):
        if chosen.any():
            result[chosen, :n] = _product(weights, sums[chosen].astype(kind)).T
    np.subtract(whole[:, None], sums, out=result[:, n:-1])
    result[:, -1] = whole
    return result


def _product(weights: NDArray[np.float32], sums: NDArray[np.floating]) -> NDArray[np.floating]:
    """The sums, ``(k, GROUPS)``, by each row of `weights`, in the precision of the sums: ``(n, k)``."""
    import numpy as np

    product = np.empty((len(weights), len(sums)), sums.dtype)
    step = max(1, _ONE_THREAD // sums.size)
    for first in range(0, len(weights), step):
        some = weights[first : first + step].astype(sums.dtype, copy=False)
        np.matmul(some, sums.T, out=product[first : first + step])
    return product


@lru_cache(maxsize=1)
def _weights(seed: int, n: int) -> NDArray[np.float32]:
    """The weights of every group in each resample, ``(n, GROUPS)``: the same ones for every cell."""
    import numpy as np

    return np.ascontiguousarray(poisson_weights(seed, n).T, np.float32)


class Parts(NamedTuple):
    """A figure on resamples ``(k, n)``, without each group ``(k, GROUPS)``, and on the whole text ``(k,)``."""

    drawn: Floats
    left_out: Floats
    whole: Floats


def parts_of(figures: Floats) -> Parts:
    """The parts of k figures computed on what `resampled` gave: ``(k, n + GROUPS + 1)``."""
    n = figures.shape[1] - GROUPS - 1
    return Parts(figures[:, :n], figures[:, n:-1], figures[:, -1])
