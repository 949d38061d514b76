"""Sums over all words for each piece, by several threads: the same for any number of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Floats
from tokbench.kernels.threads import in_threads
from tokbench_subword.unigram.train_text import Text, word_chunks

if TYPE_CHECKING:
    from numpy.typing import NDArray

Result = TypeVar("Result")


def summed(
    part: Callable[[tuple[int, int], NDArray[np.float64]], Result],
    text: Text,
    size: int,
    sums: NDArray[np.float64],
    threads: int,
) -> tuple[NDArray[np.float64], list[Result]]:
    """The sum of what ``part(words, array)`` adds to `size` zeros for each run of words; and what each returns.

    The array of each run is one of the rows of `sums`, float64 of shape ``(CHUNKS, size)`` or with longer rows,
    and these are added in order, so that it makes no difference which thread does what when.
    """

    def fill(job: tuple[tuple[int, int], NDArray[np.float64]]) -> Result:
        words, row = job
        row[:] = 0.0
        return part(words, row)

    rows = sums[:, :size]
    chunks = word_chunks(text)
    results = in_threads(fill, zip(chunks, rows, strict=True), threads)
    total = np.empty(size)
    _add_rows(rows, total)
    return total, results


@kernel
def _add_rows(rows: Floats, total: Floats) -> None:
    """The sum of the rows, the first ones first; a block of columns that stays in the cache at a time."""
    for low in range(0, len(total), 4096):
        high = min(low + 4096, len(total))
        for column in range(low, high):
            total[column] = 0.0
        for row in range(len(rows)):
            for column in range(low, high):
                total[column] += rows[row, column]
