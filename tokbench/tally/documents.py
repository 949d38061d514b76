"""Kernels over the bytes of documents as wholes, for which an object each would cost more than the work."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.bits import copy_64
from tokbench.tally.compiling import kernel

ALL = np.uint64(0xFFFFFFFF)
BYTE = np.uint64(0xFF)
HALF = np.uint64(32)


@kernel
def crc32(data: Any, windows: Any, starts: Any, ends: Any, tables: Any, out: Any) -> None:
    """The crc32 of each ``data[starts[i]:ends[i]]``, as `zlib.crc32` has it.

    It is worked out sixteen bytes at a time, by the tables of `tokbench.tally.keys.crc_tables`.
    """
    for document in range(len(starts)):
        position, end = starts[document], ends[document]
        checksum = ALL
        while position + 16 <= end:
            first, second = windows[position], windows[position + 8]
            # the last four look-ups alone wait for the ones before, so that rounds overlap
            rest = four(tables, 0, second >> HALF) ^ four(tables, 4, second) ^ four(tables, 8, first >> HALF)
            checksum = four(tables, 12, first ^ checksum) ^ rest
            position += 16
        if position + 8 <= end:
            first = windows[position]
            checksum = four(tables, 4, first ^ checksum) ^ four(tables, 0, first >> HALF)
            position += 8
        left = end - position
        mixed = windows[position] ^ checksum
        checksum >>= np.uint64(8 * left)
        for byte in range(left):
            checksum ^= tables[np.uint64(256 * (left - 1 - byte)) + (mixed >> np.uint64(8 * byte) & BYTE)]
        out[document] = checksum ^ ALL


@kernel
def four(tables: Any, after: int, mixed: Any) -> Any:
    """What the lowest four bytes of `mixed` add to a checksum with so many bytes `after` them."""
    row = np.uint64(after * 256)
    one = (
        tables[row + np.uint64(768) + (mixed & BYTE)]
        ^ tables[row + np.uint64(512) + (mixed >> np.uint64(8) & BYTE)]
    )
    two = (
        tables[row + np.uint64(256) + (mixed >> np.uint64(16) & BYTE)]
        ^ tables[row + (mixed >> np.uint64(24) & BYTE)]
    )
    return one ^ two


@kernel
def close_up(data: Any, starts: Any, ends: Any, out: Any) -> None:
    """Copy the documents to `out`, one after the other; both have room for 64 bytes more."""
    place = 0
    for document in range(len(starts)):
        start, size = starts[document], ends[document] - starts[document]
        for done in range(0, size, 64):
            copy_64(data, start + done, out, place + done)
        place += size
