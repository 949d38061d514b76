"""How kernels that rewrite a batch are called, and how they write their result.

A batch is UTF-8 documents end to end, ``data[offsets[i]:offsets[i + 1]]``, followed by `PADDING` readable
bytes. Most kernels copy unchanged text in long spans, across documents, and so notice when nothing changed.

Such a kernel is a `Writer`. It is called by its address: from Python for a batch, and from the kernel that
takes a single text through all stages (`words.encoding`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import config
from numpy.typing import NDArray

from tokbench.kernels.by_address import BLOCK, ByAddress, called_at
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.copies import Stays
from tokbench.kernels.pointers import (
    PADDING,
    Block,
    Bytes,
    Int,
    Ints,
    block,
    copy_bytes_16,
    i64_in,
    keep,
    pointer,
    u8_in,
)

UNCHANGED, TOO_SMALL, FOUND = -1, -2, -3
"""What a kernel returns instead of the size of its result: the batch is unchanged; the result needs more room;
the batch contains added tokens (`added_matching`).
"""
(
    TEXT,  # uint8: the bytes of the batch
    OFFSETS,  # int64 (n + 1,)
    OUT,  # uint8: room for the result
    OUT_OFFSETS,  # int64 (n + 1,), or what `added_matching` finds
    DECLINED,  # uint8 (n,): 1 for documents that the kernel leaves to plain Python; 0 before
    NUMBERS,  # int64, see below
    EDITS,  # int64 (3 * `MOST_EDITS`,), where edits are asked for: see `note_edit`
    _N_ARRAYS,
) = range(8)
"""The places of the arrays in the block of a batch."""
(
    N_TEXTS,  # how many documents there are, and then, how many were written
    CAPACITY,  # how many bytes there is room for
    MOST_TEXTS,  # how many documents (or, for `added_matching`, numbers) there is room for in OUT_OFFSETS
    SEARCHED,  # documents that `added_matching` has been through; 0 before
    N_FOUND,  # and what it has found; 0 before
    N_EDITS,  # how many edits were made; 0 before
    MOST_EDITS,  # how many there is room for
    N_NUMBERS,
) = range(8)

Batch = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""`data` and `offsets`."""


class Writer(ByAddress):
    """A kernel ``write(tables, batch)`` of two blocks: returns the size of its result, or why it has none."""

    takes = (BLOCK, BLOCK)


write_at = called_at(Writer.takes)
"""The `Writer` at an address, called."""


class BoundWriter(Stays):
    """A writer with its tables.

    `kept` are the arrays of its block. If the block is given as `tables`, `kept` only keeps its owners alive.
    """

    __slots__ = ("_kept", "block", "writer")

    def __init__(self, writer: Writer, kept: Sequence[Any], tables: Any = None) -> None:
        self.writer, self._kept = writer, kept
        self.block = block(kept) if tables is None else tables

    def __call__(self, batch: Sequence[NDArray[Any]]) -> int:
        """Write a batch, given as the arrays of its block."""
        if config.DISABLE_JIT:
            data = np.append(batch[0], np.zeros(PADDING, np.uint8))  # plain Python sees nothing behind an array
            return int(self.writer.code(self.block, [data, *batch[1:]]))
        return int(_write(self.writer.address, self.block, *batch))


@kernel
def _write(
    address: Int,
    tables: Block,
    data: Bytes,
    offsets: Ints,
    out: Bytes,
    out_offsets: Ints,
    declined: Bytes,
    numbers: Ints,
    edits: Ints,
) -> np.int64:
    """Call a writer. Making the block of a batch in Python would take 10 µs, as long as a small batch."""
    batch = np.empty(_N_ARRAYS, np.uint64)
    batch[TEXT], batch[OFFSETS], batch[OUT] = data.ctypes.data, offsets.ctypes.data, out.ctypes.data
    batch[OUT_OFFSETS], batch[DECLINED] = out_offsets.ctypes.data, declined.ctypes.data
    batch[NUMBERS], batch[EDITS] = numbers.ctypes.data, edits.ctypes.data
    written = write_at(address, (pointer(tables), pointer(batch)))
    keep(batch)
    return written


def with_edits(
    batch: Batch, write: BoundWriter, *, capacity: int, most_edits: int = 0
) -> tuple[Batch, NDArray[np.uint8], NDArray[np.int64]]:
    """The batch that a kernel writes, the documents that it declines, and its edits (see `note_edit`).

    With `most_edits` 0 no edits are noted. Otherwise all are, and more than that many get more room.
    """
    data, offsets = batch
    texts = len(offsets) - 1
    capacity += PADDING
    while True:
        out, out_offsets = np.empty(capacity + PADDING, np.uint8), np.empty(texts + 1, np.int64)
        declined, edits = np.zeros(texts, np.uint8), np.empty((most_edits, 3), np.int64)
        numbers = np.zeros(N_NUMBERS, np.int64)
        numbers[[N_TEXTS, CAPACITY, MOST_TEXTS, MOST_EDITS]] = texts, capacity, texts, most_edits
        given = data, np.ascontiguousarray(offsets)
        size = write([*given, out, out_offsets, declined, numbers, edits.reshape(-1)])
        n_edits = int(numbers[N_EDITS])
        if size == TOO_SMALL:
            capacity *= 2
        elif 0 < most_edits < n_edits:
            most_edits = n_edits
        else:
            break
    result = (data, offsets) if size == UNCHANGED else (out[:size], out_offsets)
    return result, declined, edits[:n_edits]


def with_plain(result: Batch, source: Batch, documents: Sequence[int], plain: Callable[[str], str]) -> Batch:
    """`result` with some documents as `plain` makes them from `source`."""
    (data, offsets), (old, places) = result, source
    changed: list[int] = []
    others: list[NDArray[np.uint8]] = []
    for document in documents:
        new = plain(old[places[document] : places[document + 1]].tobytes().decode()).encode()
        if new != data[offsets[document] : offsets[document + 1]].tobytes():
            changed.append(document)
            others.append(np.frombuffer(new, np.uint8))
    if not changed:
        return result
    data, offsets = replaced(data[: offsets[-1]], offsets, changed, others)
    return np.append(data, np.zeros(PADDING, np.uint8))[: len(data)], offsets


def replaced(
    rows: NDArray[Any], limits: NDArray[np.int64], places: Sequence[int], others: Sequence[NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The rows of documents, and their limits, with those of the documents at `places`, in order, replaced."""
    if not places:
        return rows, limits
    lengths, parts, done = np.diff(limits), [], 0
    for place, new in zip(places, others, strict=True):
        parts += [rows[limits[done] : limits[place]], new]
        done = place + 1
    parts.append(rows[limits[done] :])
    lengths[places] = [len(new) for new in others]
    return np.concatenate(parts), np.append(0, np.cumsum(lengths))


@inline
def documents_of(batch: Block) -> tuple[Bytes, Ints, Ints, np.int64]:
    """What every kernel needs of a batch: its text, the offsets of its documents, the array for the new offsets
    (the first is set to 0), and the number of documents.
    """
    out_offsets = i64_in(batch, OUT_OFFSETS)
    out_offsets[0] = 0
    return u8_in(batch, TEXT), i64_in(batch, OFFSETS), out_offsets, i64_in(batch, NUMBERS)[N_TEXTS]


@inline
def copy_span(source: Bytes, begin: Int, end: Int, out: Bytes, size: Int) -> np.int64:
    """Copy ``source[begin:end]`` to ``out[size:]``, writing up to 15 bytes more; returns the new size."""
    place = size
    while begin < end:
        copy_bytes_16(source, begin, out, place)
        begin += 16
        place += 16
    return np.int64(place + end - begin)


@inline
def splice(
    batch: Block, copied: Int, begin: Int, behind: Int, new: Bytes, first: Int, last: Int, size: Int
) -> np.int64:
    """Copy the text from `copied` to `begin`, then write ``new[first:last]`` in place of `begin` to `behind`.

    Notes the edit. Returns the new size, or `TOO_SMALL`. Reads and writes up to 15 bytes more.
    """
    numbers, out = i64_in(batch, NUMBERS), u8_in(batch, OUT)
    if size + begin - copied + last - first + 32 > numbers[CAPACITY]:
        return np.int64(TOO_SMALL)
    size = copy_span(u8_in(batch, TEXT), copied, begin, out, size)
    size = copy_span(new, first, last, out, size)
    note_edit(batch, begin, behind, size)
    return np.int64(size)


@inline
def note_edit(batch: Block, begin: Int, behind: Int, size: Int) -> None:
    """Note an edit, if there is room: the bytes `begin` to `behind` of the text became what ends at `size`."""
    numbers = i64_in(batch, NUMBERS)
    edit = numbers[N_EDITS]
    numbers[N_EDITS] = edit + 1
    if edit < numbers[MOST_EDITS]:
        edits = i64_in(batch, EDITS)
        edits[3 * edit], edits[3 * edit + 1], edits[3 * edit + 2] = begin, behind, size


@inline
def before_edits(
    edits: Ints, edit: Int, last: Int, kept: Int, behind: Int, place: Int
) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """Where a place was before the edits from `edit` to `last`; a place within new text maps to its beginning.

    The unchanged text around the place begins at `kept` now, and began at `behind` before. `edit`, `kept` and
    `behind` are returned too, to go on with later places.
    """
    while edit < last and edits[edit + 2] <= place:
        kept, behind = edits[edit + 2], edits[edit + 1]
        edit += 3
    old = behind + place - kept
    return (
        np.int64(min(old, edits[edit]) if edit < last else old),
        np.int64(edit),
        np.int64(kept),
        np.int64(behind),
    )


@inline
def finished(batch: Block, copied: Int, size: Int) -> np.int64:
    """Copy the rest of the text, from `copied` on; returns the size of the result, or `UNCHANGED`."""
    offsets, numbers = i64_in(batch, OFFSETS), i64_in(batch, NUMBERS)
    stop = offsets[numbers[N_TEXTS]]
    if copied == offsets[0] and size == 0:
        return np.int64(UNCHANGED)
    if size + stop - copied + 32 > numbers[CAPACITY]:
        return np.int64(TOO_SMALL)
    return copy_span(u8_in(batch, TEXT), copied, stop, u8_in(batch, OUT), size)
