"""Kernels over spans of characters: of what kind they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.compiling import kernel


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
