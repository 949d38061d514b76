"""Kernels over the bytes of documents as wholes, for which an object each would cost more than the work."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.bits import copy_64
from tokbench.tally.compiling import kernel

ALL = np.uint32(0xFFFFFFFF)
BYTE = np.uint64(0xFF)


@kernel
def crc32(data: Any, windows: Any, starts: Any, ends: Any, tables: Any, out: Any) -> None:
    """The crc32 of each ``data[starts[i]:ends[i]]``, as `zlib.crc32` has it.

    It is worked out eight bytes at a time, by the tables of `tokbench.tally.keys.crc_tables`.
    """
    for document in range(len(starts)):
        position, end = starts[document], ends[document]
        checksum = ALL
        while position + 8 <= end:
            mixed = windows[position] ^ np.uint64(checksum)
            checksum = (
                tables[7, mixed & BYTE]
                ^ tables[6, mixed >> np.uint64(8) & BYTE]
                ^ tables[5, mixed >> np.uint64(16) & BYTE]
                ^ tables[4, mixed >> np.uint64(24) & BYTE]
                ^ tables[3, mixed >> np.uint64(32) & BYTE]
                ^ tables[2, mixed >> np.uint64(40) & BYTE]
                ^ tables[1, mixed >> np.uint64(48) & BYTE]
                ^ tables[0, mixed >> np.uint64(56)]
            )
            position += 8
        while position < end:
            checksum = tables[0, (checksum ^ data[position]) & np.uint32(0xFF)] ^ checksum >> np.uint32(8)
            position += 1
        out[document] = checksum ^ ALL


@kernel
def close_up(data: Any, starts: Any, ends: Any, out: Any) -> None:
    """Copy the documents to `out`, one after the other; both have room for 64 bytes more."""
    place = 0
    for document in range(len(starts)):
        start, size = starts[document], ends[document] - starts[document]
        for done in range(0, size, 64):
            copy_64(data, start + done, out, place + done)
        place += size
