"""Kernels over the bytes of documents as wholes, for which an object each would cost more than the work."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.bits import copy_64
from tokbench.tally.compiling import kernel

ALL = np.uint64(0xFFFFFFFF)
BYTE = np.uint64(0xFF)


@kernel
def crc32(data: Any, windows: Any, starts: Any, ends: Any, tables: Any, out: Any) -> None:
    """The crc32 of each ``data[starts[i]:ends[i]]``, as `zlib.crc32` has it.

    It is worked out sixteen bytes at a time, by the tables of `tokbench.tally.keys.crc_tables`.
    """
    for document in range(len(starts)):
        position, end = starts[document], ends[document]
        checksum = ALL
        while position + 16 <= end:
            first, second = windows[position] ^ checksum, windows[position + 8]
            checksum = eight(tables, 8, first) ^ eight(tables, 0, second)
            position += 16
        if position + 8 <= end:
            checksum = eight(tables, 0, windows[position] ^ checksum)
            position += 8
        left = end - position
        mixed = windows[position] ^ checksum
        checksum >>= np.uint64(8 * left)
        for byte in range(left):
            checksum ^= tables[left - 1 - byte, mixed >> np.uint64(8 * byte) & BYTE]
        out[document] = checksum ^ ALL


@kernel
def eight(tables: Any, after: int, mixed: Any) -> Any:
    """What eight bytes add to a checksum with so many bytes `after` them."""
    return (
        tables[after + 7, mixed & BYTE]
        ^ tables[after + 6, mixed >> np.uint64(8) & BYTE]
        ^ tables[after + 5, mixed >> np.uint64(16) & BYTE]
        ^ tables[after + 4, mixed >> np.uint64(24) & BYTE]
        ^ tables[after + 3, mixed >> np.uint64(32) & BYTE]
        ^ tables[after + 2, mixed >> np.uint64(40) & BYTE]
        ^ tables[after + 1, mixed >> np.uint64(48) & BYTE]
        ^ tables[after, mixed >> np.uint64(56)]
    )


@kernel
def close_up(data: Any, starts: Any, ends: Any, out: Any) -> None:
    """Copy the documents to `out`, one after the other; both have room for 64 bytes more."""
    place = 0
    for document in range(len(starts)):
        start, size = starts[document], ends[document] - starts[document]
        for done in range(0, size, 64):
            copy_64(data, start + done, out, place + done)
        place += size
