"""The text over again: Poisson resamples of it, it without each of its groups of documents, and it as it is.

A figure computed on all of them at once has what its interval needs: how it varies by chance, how much single
documents decide it, and itself. Each row of counts has `n` resamples, then `GROUPS` texts that leave one
bootstrap group out, then the whole text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tokbench.tally.groups import NAMES, GroupSums, poisson_weights
from tokbench.tally.text import GROUPS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def resampled(groups: GroupSums, *, seed: int, n: int) -> NDArray[np.float64]:
    """Every counter on every resample: float64 of shape ``(len(NAMES), n + GROUPS + 1)``.

    Example:
        >>> import numpy as np
        >>> dense = np.zeros((GROUPS, len(NAMES)), np.int64)
        >>> dense[:2, NAMES.index("tokens")] = 5, 7
        >>> tokens = resampled(GroupSums.of_dense(dense), seed=0, n=10)[NAMES.index("tokens")]
        >>> parts_of(tokens[None]).left_out[0, :3].tolist(), float(tokens[-1])
        ([7.0, 5.0, 12.0], 12.0)
    """
    import numpy as np

    counts = np.empty((len(NAMES), n + GROUPS + 1))
    counts[:, :n] = groups.replicates(NAMES, seed=seed, n=n)
    whole = groups.values.sum(axis=0, dtype=np.int64)
    counts[:, n:] = 0
    counts[groups.columns, n:] = whole[:, None]
    counts[np.ix_(groups.columns, groups.rows.astype(np.int64) + n)] -= groups.values.T
    return counts


def resampled_sums(sums: NDArray[np.float64], *, seed: int, n: int) -> NDArray[np.float64]:
    """The same of any sums by group, ``(GROUPS, k)``: float64 of shape ``(k, n + GROUPS + 1)``."""
    import numpy as np

    some, whole = np.flatnonzero(sums.any(axis=1)), sums.sum(axis=0)
    drawn = sums[some].T @ poisson_weights(seed, n)[some]
    return np.concatenate([drawn, (whole - sums).T, whole[:, None]], axis=1)


class Parts(NamedTuple):
    """A figure on resamples ``(k, n)``, without each group ``(k, GROUPS)``, and on the whole text ``(k,)``."""

    drawn: NDArray[np.float64]
    left_out: NDArray[np.float64]
    whole: NDArray[np.float64]


def parts_of(figures: NDArray[np.float64]) -> Parts:
    """The parts of k figures computed on what `resampled` gave: ``(k, n + GROUPS + 1)``."""
    n = figures.shape[1] - GROUPS - 1
    return Parts(figures[:, :n], figures[:, n:-1], figures[:, -1])
