"""NFC, NFD, NFKC and NFKD as a kernel over a batch of UTF-8.

Nearly all text is in normal form already. So a quick check comes first (see UAX #15): ASCII is checked eight
bytes at a time, other characters by a table. A character that can compose with the one before it, such as a
vowel sign of an Indic script, is checked together with that one. Only a run that fails the check is decomposed,
reordered and composed; it reaches from one character that is independent of the text before it to the next.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.bits import trailing_zeros
from tokbench.kernels.compiling import inline
from tokbench.kernels.hashing import equal_bytes
from tokbench.kernels.pointers import Block, Bytes, Int, Ints, Keys, i64_in, keep, load_u64, u8_in, u32_in
from tokbench.kernels.utf8 import character_before, code_point
from tokbench_subword.pipeline import normal_form_tables as at
from tokbench_subword.pipeline.normal_form_runs import (
    LONGEST,
    composed,
    scratch_arrays,
    scratch_in,
    splice_run,
    write_run,
)
from tokbench_subword.pipeline.splicing import Writer, documents_of, finished

_HIGH = np.uint64(0x8080808080808080)


@inline
def _fails(text: Bytes, starter: Int, last: Int, point: Int, properties: Int, about: Keys, pairs: Ints) -> bool:
    """Whether a SPECIAL character after text in normal form may change that text, or change itself.

    `starter` is the place of the last starter, -1 for none; `last` is the combining class of the character
    before.
    """
    combining = properties & at.CLASS
    if properties & at.NEVER or 0 < combining < last:
        return True
    if properties & at.SECOND == 0 or starter < 0 or (last != 0 and combining <= last):
        return False
    first, _ = code_point(text, starter)
    of_first = np.int64(about[first])
    if combining != 0 and of_first & at.TAKEN_APART:  # one of its marks may make way for this one
        return True
    return of_first & at.FIRST != 0 and composed(first, point, pairs) != 0


@inline
def _next_special(text: Bytes, position: Int, stop: Int, widths: Bytes) -> np.int64:
    """The place of the next character that may be SPECIAL; `stop` or later if there is none."""
    while position < stop:
        bits = load_u64(text, position) & _HIGH
        if bits == np.uint64(0):
            position += 8
            continue
        position += trailing_zeros(bits) >> 3
        width = np.int64(widths[text[position]])
        if width == 0:
            break
        position += width
    return np.int64(position)


@inline
def _next_joining_none(text: Bytes, position: Int, stop: Int, about: Keys) -> np.int64:
    """The place of the next character that cannot affect the text before it; `stop` if there is none."""
    while position < stop:
        point, width = code_point(text, position)
        if np.int64(about[point]) & at.JOINS == 0:
            break
        position += width
    return np.int64(position)


@Writer
def normal_form(tables: Block, batch: Block) -> np.int64:
    """Write the normal form of documents, by `normal_form_tables`; see `splicing`.

    A run that is longer than all before it gets new scratch space, 32 bytes for each of its bytes.
    """
    widths, about, pairs = u8_in(tables, at.WIDTHS), u32_in(tables, at.ABOUT), i64_in(tables, at.PAIRS)
    text, offsets, out_offsets, n_documents = documents_of(batch)
    none, most = np.int64(0), np.int64(LONGEST)
    numbers, encoded = scratch_arrays(most)
    scratch = scratch_in(numbers, encoded)
    size, copied = np.int64(0), offsets[0]  # the text from `copied` on is still to be copied
    for document in range(n_documents):
        begin, stop = offsets[document], offsets[document + 1]
        position, after = begin, np.int64(-1)
        starter = boundary = last = np.int64(-1)
        while True:
            position = _next_special(text, position, stop, widths)
            if position >= stop:
                break
            point, width = code_point(text, position)
            properties = np.int64(about[point])
            if properties & at.SPECIAL == 0:
                position += width
                continue
            if position != after:  # the character before, if any, is independent of the text before it
                starter, boundary, last = np.int64(-1), position, np.int64(0)
                if position > begin:
                    starter = boundary = character_before(text, position)
            if properties & at.JOINS == 0:
                boundary = position
            if not _fails(text, starter, last, point, properties, about, pairs):
                last = properties & at.CLASS
                if last == 0:
                    starter = position
                position += width
                after = position
                continue
            position = _next_joining_none(text, position + width, stop, about)
            if position - boundary > most:
                most = position - boundary
                numbers, encoded = scratch_arrays(most)
                scratch = scratch_in(numbers, encoded)
            length = write_run(tables, text, boundary, position, scratch, none)
            if length == position - boundary and equal_bytes(scratch.encoded, 0, text, boundary, length):
                continue
            size = splice_run(tables, batch, boundary, position, scratch, length, copied, size)
            if size < 0:
                return size
            copied = position
        out_offsets[document + 1] = size + stop - copied
    keep(numbers)
    keep(encoded)
    return finished(batch, copied, size)
