"""Small loops over documents: copied end to end, their counts added up, their words picked by hash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.kernels.compiling import kernel
from tokbench.kernels.hashing import hash_bytes
from tokbench.kernels.pointers import copy_bytes_64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tokbench.tally.text import Texts

    Ints = NDArray[np.int64]
    Hashes = NDArray[np.uint64]
    Offsets = NDArray[np.integer[Any]]


@kernel
def close_up(texts: Texts, out: NDArray[np.uint8]) -> None:
    """Copy the documents to `out`, one after the other; both have room for 64 bytes more."""
    place = 0
    for document in range(len(texts.starts)):
        start, size = texts.starts[document], texts.ends[document] - texts.starts[document]
        for done in range(0, size, 64):
            copy_bytes_64(texts.data, start + done, out, place + done)
        place += size


@kernel
def add_column(sums: Ints, groups: Ints, values: Ints) -> None:
    """Add what document i has of a counter, ``values[i]``, to ``sums[groups[i]]``."""
    for document in range(len(groups)):
        sums[np.uint64(groups[document])] += values[document]


@kernel
def low_spans(
    data: NDArray[np.uint8], starts: Offsets, ends: Offsets, limit: Any, found: Hashes, hashes: Hashes
) -> int:
    """Write to `found` the spans whose hash is `limit` at most, and their `hashes`; gives how many."""
    n = 0
    for span in range(len(starts)):
        start = np.int64(starts[span])
        own = hash_bytes(data, start, np.int64(ends[span]) - start)
        if own <= limit:
            found[n] = span
            hashes[n] = own
            n += 1
    return n
