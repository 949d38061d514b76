"""What kernels that rewrite a batch have in common: how they are called, and how they write.

A batch is documents end to end as UTF-8, ``data[offsets[i]:offsets[i + 1]]``, with `PADDING` readable bytes
behind the last. A kernel copies what it does not change by whole spans, across documents, and so knows at its
end whether there was anything to change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import PADDING, copy_bytes_16

UNCHANGED, TOO_SMALL = -1, -2
"""What a kernel says in place of the size of its result: the batch is as it was; there is no room for it."""

Batch = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""`data` and `offsets`."""
Write = Callable[..., int]
"""A kernel with all arguments given but a batch, and what it writes to: the bytes, their offsets, and which
documents it declined.
"""


def rewritten(batch: Batch, write: Write, *, capacity: int, plain: Callable[[str], str] | None = None) -> Batch:
    """The batch as a kernel writes it, but the documents that it declines as `plain` has them.

    `capacity` is how many bytes the result is expected to have at the most; more are found if it has more.
    """
    data, offsets = batch
    declined = np.zeros(len(offsets) - 1, np.uint8)
    capacity += PADDING
    while True:
        out, out_offsets = np.empty(capacity, np.uint8), np.empty(len(offsets), np.int64)
        size = write(_readable(data), offsets, out, out_offsets, declined)
        if size != TOO_SMALL:
            break
        declined[:] = 0
        capacity *= 2
    result = (data, offsets) if size == UNCHANGED else (_padded(out, size), out_offsets)
    if plain is None or not declined.any():
        return result
    return _replaced(result, batch, np.flatnonzero(declined).tolist(), plain)


def each(batch: Batch, plain: Callable[[str], str]) -> Batch:
    """The batch with every document as `plain` has it."""
    return _replaced(batch, batch, range(len(batch[1]) - 1), plain)


def _readable(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """`data`; for plain Python, which sees nothing behind an array, with what may be read there."""
    return np.concatenate((data, np.zeros(PADDING, np.uint8))) if config.DISABLE_JIT else data


def _padded(out: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """The first `size` bytes, with `PADDING` behind them."""
    if size + PADDING > len(out):
        out = np.concatenate((out[:size], np.zeros(PADDING, np.uint8)))
    return out[:size]


def _replaced(result: Batch, source: Batch, documents: Any, plain: Callable[[str], str]) -> Batch:
    """`result` with some documents as `plain` makes them from `source`."""
    (data, offsets), (old, places) = result, source
    parts: list[bytes] = []
    lengths = np.diff(offsets)
    done, changed = int(offsets[0]), False
    for document in documents:
        text = old[places[document] : places[document + 1]].tobytes()
        new = plain(text.decode()).encode()
        if new == data[offsets[document] : offsets[document + 1]].tobytes():
            continue
        changed = True
        parts += [data[done : offsets[document]].tobytes(), new]
        lengths[document] = len(new)
        done = int(offsets[document + 1])
    if not changed:
        return result
    parts += [data[done : offsets[-1]].tobytes(), bytes(PADDING)]
    joined = bytearray().join(parts)  # not bytes, arrays of which are read-only
    return np.frombuffer(joined, np.uint8)[:-PADDING], np.concatenate(([0], np.cumsum(lengths)))


@inline
def copy_span(source: Any, begin: Any, end: Any, out: Any, size: Any) -> Any:
    """Copy ``source[begin:end]`` to ``out[size:]``, and up to 15 bytes more; the new size."""
    place = size
    while begin < end:
        copy_bytes_16(source, begin, out, place)
        begin += 16
        place += 16
    return place + end - begin


@inline
def finished(text: Any, copied: Any, offsets: Any, out: Any, size: Any, capacity: Any) -> Any:
    """Copy what is left of the text, and give the size of all: the last a kernel does."""
    stop = offsets[len(offsets) - 1]
    if copied == offsets[0] and size == 0:
        return np.int64(UNCHANGED)
    if size + stop - copied + 32 > capacity:
        return np.int64(TOO_SMALL)
    return copy_span(text, copied, stop, out, size)


@inline
def put_character(point: Any, out: Any, size: Any) -> Any:
    """Write a code point as UTF-8; the new size."""
    if point < 0x80:
        out[size] = point
        return size + 1
    if point < 0x800:
        out[size] = 0xC0 | point >> 6
        out[size + 1] = 0x80 | point & 0x3F
        return size + 2
    if point < 0x10000:
        out[size] = 0xE0 | point >> 12
        out[size + 1] = 0x80 | point >> 6 & 0x3F
        out[size + 2] = 0x80 | point & 0x3F
        return size + 3
    out[size] = 0xF0 | point >> 18
    out[size + 1] = 0x80 | point >> 12 & 0x3F
    out[size + 2] = 0x80 | point >> 6 & 0x3F
    out[size + 3] = 0x80 | point & 0x3F
    return size + 4
