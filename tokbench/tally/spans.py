"""Kernels over spans of characters: those of low hash, and of what kind they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.compiling import kernel

HIGH_BITS = np.uint64(0x8080808080808080)
ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
BYTE = np.uint64(0xFF)
EIGHT, TOP_BYTE = np.uint64(8), np.uint64(56)
MIXER = np.uint64(0xD6E8FEB86659FD93)
MET_BITS = 14
"""Spans of up to 15 bytes are remembered in a table of 2^14 places: most words are met again and again."""
SHORT, SLOT_SHIFT = np.uint64(15), np.uint64(64 - MET_BITS)


@kernel
def low_spans(
    data: Any,
    windows: Any,
    starts: Any,
    ends: Any,
    masks: Any,
    powers: Any,
    sums: Any,
    limit: Any,
    met: Any,
    found: Any,
    hashes: Any,
) -> int:
    """Write to `found` the spans whose hash is `limit` at most, and their `hashes`; gives how many there are.

    The hash of a span has 64 bits: the polynomial sum((c_i + 1) · r^i) of its characters modulo 2^64, mixed.
    `powers` are those of r, up to r^8, and `sums` the sums of the first so many of them. `masks` are two for
    each number of bytes up to 15, of the first eight of them and of the rest. A short span that is `met` in the
    table of short ones, as it stood there last, is left out: it was hashed then.
    """
    n = 0
    for span in range(len(starts)):
        position, end = np.uint64(starts[span]), np.uint64(ends[span])
        size = end - position
        if size <= SHORT:
            head = windows[position] & masks[size, 0]
            tail = windows[position + EIGHT] & masks[size, 1] | size << TOP_BYTE
            slot = (head ^ tail * MIXER) * MIXER >> SLOT_SHIFT
            if met[slot, 0] == head and met[slot, 1] == tail:
                continue
            met[slot, 0], met[slot, 1] = head, tail
        total = mixed_sum(data, windows, np.int64(position), np.int64(end), powers, sums)
        if total <= limit:
            found[n] = span
            hashes[n] = total
            n += 1
    return n


@kernel
def mixed_sum(data: Any, windows: Any, position: Any, end: Any, powers: Any, sums: Any) -> Any:
    """The hash of one span."""
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
    return total ^ total >> np.uint64(32)


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
