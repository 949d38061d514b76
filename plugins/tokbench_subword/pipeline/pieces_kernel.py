"""Kernels that cut the texts of a batch: each piece becomes a text of its own, or has a text put before it."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.hashing import equal_bytes
from tokbench.kernels.pointers import Block, i64_in, keep, pointer, u8_in, u64_in
from tokbench_subword.pipeline import splicing
from tokbench_subword.pipeline.patterns.cutting import SPARE, cut_some
from tokbench_subword.pipeline.splicing import Writer, copy_span, documents_of, finished, splice

_PIECES = 64
"""Pieces that are found at a time."""


@Writer
def write_pieces(machine: Block, batch: Block) -> np.int64:
    """Write each piece of a text as a text of its own, by a machine of `cutting`."""
    source, offsets, new_offsets, n_texts = documents_of(batch)
    numbers, target = i64_in(batch, splicing.NUMBERS), u8_in(batch, splicing.OUT)
    pieces = np.empty(2 * (_PIECES + SPARE), np.int64)
    starts, ends = pointer(pieces), pointer(pieces[_PIECES + SPARE :])
    at, written, most, none = np.int64(0), np.int64(0), np.int64(_PIECES), np.int64(0)
    if offsets[n_texts] - offsets[0] + 32 > numbers[splicing.CAPACITY]:
        return np.int64(splicing.TOO_SMALL)
    for s in range(n_texts):
        i, began, row, end = offsets[s], offsets[s], none, offsets[s + 1]
        while i < end or row != 0:
            i, began, row, count = cut_some(machine, source, i, began, row, end, starts, ends, none, most)
            if written + count > numbers[splicing.MOST_TEXTS]:
                return np.int64(splicing.TOO_SMALL)
            for k in range(count):
                at = copy_span(source, starts[k], ends[k], target, at)
                written += 1
                new_offsets[written] = at
    numbers[splicing.N_TEXTS] = written
    keep(pieces)
    return at


@Writer
def prefix_pieces(tables: Block, batch: Block) -> np.int64:
    """Write texts without what lies between their pieces, and with a text before each piece.

    The tables: a machine of `cutting`; the text; and numbers: how long it is, and a byte that stands for it. A
    piece that begins with either has nothing put before it.
    """
    machine, new, n_new, like = u64_in(tables, 0), u8_in(tables, 1), i64_in(tables, 2)[0], i64_in(tables, 2)[1]
    text, offsets, out_offsets, n_documents = documents_of(batch)
    pieces = np.empty(2 * (_PIECES + SPARE), np.int64)
    starts, ends = pointer(pieces), pointer(pieces[_PIECES + SPARE :])
    size, copied, most, none = np.int64(0), offsets[0], np.int64(_PIECES), np.int64(0)
    for document in range(n_documents):
        i, began, row, end = offsets[document], offsets[document], none, offsets[document + 1]
        reached = i  # by the piece before
        while i < end or row != 0:
            i, began, row, count = cut_some(machine, text, i, began, row, end, starts, ends, none, most)
            for k in range(count):
                begin, gone = starts[k], reached
                reached = ends[k]
                there = reached - begin >= n_new and equal_bytes(text, begin, new, none, n_new)
                n_put = none if begin == reached or there or np.int64(text[begin]) == like else n_new
                if (begin > gone or n_put > 0) and size >= 0:
                    size = splice(batch, copied, gone, begin, new, none, none, size)
                    copied = begin
                    if n_put > 0 and size >= 0:
                        size = splice(batch, begin, begin, begin, new, none, n_put, size)
        if end > reached and size >= 0:
            size = splice(batch, copied, reached, end, new, none, none, size)
            copied = end
        if size < 0:
            return np.int64(size)
        out_offsets[document + 1] = size + end - copied
    keep(pieces)
    return finished(batch, copied, size)
