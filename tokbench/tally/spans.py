"""Kernels over spans of characters: those of low hash, and of what kind they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.compiling import kernel

HIGH_BITS = np.uint64(0x8080808080808080)
ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
BYTE = np.uint64(0xFF)
MIXER = np.uint64(0xD6E8FEB86659FD93)
MET_BITS = 12
"""Short spans are remembered in a table of 2^12 places, which stays in the nearest cache."""


@kernel
def low_spans(
    data: Any,
    windows: Any,
    starts: Any,
    ends: Any,
    powers: Any,
    sums: Any,
    limit: Any,
    met: Any,
    found: Any,
    hashes: Any,
) -> int:
    """Write to `found` the spans whose hash is `limit` at most, and their `hashes`; gives how many there are.

    The hash of a span has 64 bits: the polynomial sum((c_i + 1) · r^i) of its characters modulo 2^64, mixed.
    `powers` are those of r, up to r^8, and `sums` the sums of the first so many of them. A short span that is
    `met` in the table of short ones, as it stood there last, is left out: it was hashed then.
    """
    n = 0
    for span in range(len(starts)):
        position, end = np.int64(starts[span]), np.int64(ends[span])
        if end - position < 8:
            short = windows[position] & ~(ALL << np.uint64(8 * (end - position)))
            short |= np.uint64(end - position) << np.uint64(56)
            slot = short * MIXER >> np.uint64(64 - MET_BITS)
            if met[slot] == short:
                continue
            met[slot] = short
        total, power = np.uint64(0), ONE
        while position < end:
            window = windows[position]
            size: Any = end - position
            if size < 8:
                window &= ~(ALL << np.uint64(8 * size))
            else:
                size = 8
            if window & HIGH_BITS == 0:  # eight characters of ASCII, or what is left, without a branch
                part = sums[size]
                for index in range(8):
                    part += (window >> np.uint64(8 * index) & BYTE) * powers[index]
                total += part * power
                position += size
                if position < end:
                    power *= powers[8]
            else:
                point, position = code_point(data, position)
                total += np.uint64(point + 1) * power
                power *= powers[1]
        total ^= total >> np.uint64(32)
        total *= MIXER
        total ^= total >> np.uint64(32)
        if total <= limit:
            found[n] = span
            hashes[n] = total
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
            point, position = code_point(data, position)
            own = np.int64(properties[point]) >> 10
            first = own if first < 0 else first
            kinds |= own
        wordy[span] = kinds & 4 != 0
        unspaced[span] = max(first, 0) & 32 != 0


@kernel
def code_point(data: Any, position: Any) -> Any:
    """The character that begins at a byte of valid UTF-8, and where the next one begins."""
    point = np.int64(data[position])
    if point < 0x80:
        return point, position + 1
    second = np.int64(data[position + 1] & 0x3F)
    if point < 0xE0:
        return (point & 0x1F) << 6 | second, position + 2
    third = np.int64(data[position + 2] & 0x3F)
    if point < 0xF0:
        return (point & 0x0F) << 12 | second << 6 | third, position + 3
    fourth = np.int64(data[position + 3] & 0x3F)
    return (point & 7) << 18 | second << 12 | third << 6 | fourth, position + 4
