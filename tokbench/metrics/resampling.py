"""The text over again: Poisson resamples of it, it without each of its groups of documents, and it as it is.

A figure computed on all of them at once has what its interval needs: how it varies by chance, how much single
documents decide it, and itself. Each row of counts has `n` resamples, then `GROUPS` texts that leave one
bootstrap group out, then the whole text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tokbench.tally.counters import TEXT_COUNTERS
from tokbench.tally.groups import poisson_weights
from tokbench.tally.text import GROUPS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_ONE_THREAD = 250_000
"""Multiplications at once below which BLAS starts no threads, which cost more CPU than they save time."""
_ROWS = 12
"""Rows at once: of fewer or more, as many multiplications take longer."""
OF_TEXT = frozenset({*TEXT_COUNTERS, "isolated_words"})
"""Sums that are the same whatever the tokenizer."""
SHARED_ROWS = 2048
"""Rows kept for other cells: some 32 MB of them."""
_EXACT = 1 << 24
"""Whole numbers up to this are single-precision numbers, and so are their sums."""


class Resampler:
    """Sums by bootstrap group on resamples, for many texts: `n` of each, drawn with `seed`.

    Sums that are the same in every group share a row. So do those of different cells where they depend on the
    text alone: ten tokenizers of one text have many of their counters in common.
    """

    __slots__ = ("_shared", "n", "seed")

    def __init__(self, seed: int, n: int) -> None:
        self.seed = seed
        self.n = n
        self._shared: dict[bytes, Floats] = {}

    def rows(self, sums: Mapping[str, Ints]) -> dict[str, Floats]:
        """Each of `sums`, of shape ``(GROUPS,)``, on every resample: float64 of shape ``(n + GROUPS + 1,)``.

        Example:
            >>> import numpy as np
            >>> tokens = np.zeros(GROUPS, np.int64)
            >>> tokens[:2] = 5, 7
            >>> again = Resampler(0, 10).rows({"tokens": tokens})["tokens"]
            >>> parts_of(again[None]).left_out[0, :3].tolist(), float(again[-1])
            ([7.0, 5.0, 12.0], 12.0)
        """
        import numpy as np

        keys = {name: own.tobytes() for name, own in sums.items()}
        new = {key: sums[name] for name, key in keys.items() if key not in self._shared}
        again = resampled_sums(np.array([*new.values()]).reshape(-1, GROUPS), seed=self.seed, n=self.n)
        found = dict(zip(new, again, strict=True))
        for name in OF_TEXT.intersection(keys):
            key = keys[name]
            if key in found and len(self._shared) < SHARED_ROWS:
                self._shared[key] = found.pop(key).copy()  # alone, without the array that it is a row of
        return {name: self._shared[key] if key in self._shared else found[key] for name, key in keys.items()}


def resampled_sums(sums: Floats | Ints, *, seed: int, n: int) -> Floats:
    """Any sums by group, ``(k, GROUPS)``, on every resample: float64 of shape ``(k, n + GROUPS + 1)``.

    Sums of whole numbers, none of them negative, are exact.
    """
    import numpy as np

    result = np.empty((len(sums), n + GROUPS + 1))
    whole = sums.sum(axis=1)
    weights = _weights(seed, n)
    # single precision is twice as fast, and exact where every sum is a whole number that it has
    exact = (whole * _heaviest(seed, n) < _EXACT) & (sums.dtype.kind in "iu")
    if exact.all():
        result[:, :n] = _product(sums.astype(np.float32), weights)
    else:
        for chosen, kind in ((exact, np.float32), (~exact, np.float64)):
            result[chosen, :n] = _product(sums[chosen].astype(kind), weights)
    np.subtract(whole[:, None], sums, out=result[:, n:-1])
    result[:, -1] = whole
    return result


def _product(sums: NDArray[np.floating], weights: NDArray[np.float32]) -> NDArray[np.floating]:
    """The sums, ``(k, GROUPS)``, by each row of `weights`, in the precision of the sums: ``(k, n)``."""
    import numpy as np

    product = np.empty((len(sums), len(weights)), sums.dtype)
    for row in range(0, len(sums), _ROWS):
        some = sums[row : row + _ROWS]
        step = max(1, _ONE_THREAD // some.size)
        for first in range(0, len(weights), step):
            own = weights[first : first + step].astype(sums.dtype, copy=False)
            np.matmul(some, own.T, out=product[row : row + _ROWS, first : first + step])
    return product


@lru_cache(maxsize=1)
def _weights(seed: int, n: int) -> NDArray[np.float32]:
    """The weights of every group in each resample, ``(n, GROUPS)``: the same ones for every cell."""
    import numpy as np

    return np.ascontiguousarray(poisson_weights(seed, n).T, np.float32)


@lru_cache(maxsize=1)
def _heaviest(seed: int, n: int) -> float:
    return float(_weights(seed, n).max(initial=0))


class Parts(NamedTuple):
    """A figure on resamples ``(k, n)``, without each group ``(k, GROUPS)``, and on the whole text ``(k,)``."""

    drawn: Floats
    left_out: Floats
    whole: Floats


def parts_of(figures: Floats) -> Parts:
    """The parts of k figures computed on resamples: ``(k, n + GROUPS + 1)``."""
    n = figures.shape[1] - GROUPS - 1
    return Parts(figures[:, :n], figures[:, n:-1], figures[:, -1])
