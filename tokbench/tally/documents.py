"""Kernels over spans of bytes: documents copied end to end, words picked by hash, kinds of characters."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.kernels.compiling import kernel
from tokbench.kernels.hashing import hash_bytes
from tokbench.kernels.pointers import copy_bytes_64, prefetch_to_read
from tokbench.kernels.utf8 import code_point

AHEAD = 1 << 14
"""How many bytes ahead memory is asked for: some pages, since it is the address of each that takes longest."""
A_LINE = 8
"""Spans that share a cache line, or two."""


@kernel
def close_up(data: Any, starts: Any, ends: Any, out: Any) -> None:
    """Copy the documents to `out`, one after the other; both have room for 64 bytes more."""
    place = 0
    for document in range(len(starts)):
        start, size = starts[document], ends[document] - starts[document]
        for done in range(0, size, 64):
            copy_bytes_64(data, start + done, out, place + done)
        place += size


@kernel
def add_column(sums: Any, groups: Any, values: Any) -> None:
    """Add what document i has of a counter, ``values[i]``, to ``sums[groups[i]]``."""
    for document in range(len(groups)):
        sums[np.uint64(groups[document])] += values[document]


@kernel
def low_spans(data: Any, starts: Any, ends: Any, limit: Any, met: Any, found: Any, hashes: Any) -> int:
    """Write to `found` the spans whose hash is `limit` at most, and their `hashes`; gives how many there are.

    One is left out whose hash is the last in its place of `met`, a table of a power of two of places.
    """
    n = 0
    places = np.uint64(len(met) - 1)
    further = AHEAD // starts.itemsize
    for span in range(len(starts)):
        start = np.int64(starts[span])
        if span % A_LINE == 0:
            prefetch_to_read(data, start + AHEAD)
            prefetch_to_read(starts, span + further)
            prefetch_to_read(ends, span + further)
        own = hash_bytes(data, start, np.int64(ends[span]) - start)
        if own <= limit and met[own & places] != own:
            met[own & places] = own
            found[n] = span
            hashes[n] = own
            n += 1
    return n


@kernel
def kinds_of(data: Any, starts: Any, ends: Any, properties: Any, wordy: Any, unspaced: Any) -> None:
    """Of each span: whether it has a letter or number, and whether it begins in a script without spaces."""
    for span in range(len(starts)):
        position, end = np.int64(starts[span]), np.int64(ends[span])
        kinds: Any = 0
        first: Any = -1
        while position < end:
            point, size = code_point(data, position)
            own = np.int64(properties[point]) >> 10
            first = own if first < 0 else first
            kinds |= own
            position += size
        wordy[span] = kinds & 4 != 0
        unspaced[span] = max(first, 0) & 32 != 0
