"""Kernels that turn a path into ids and token offsets, and the loop over texts for offsets.

Unknown characters in a row become one token, or are spelled in bytes. In a `tokenizer.json` the text of the
unknown token itself is a piece like any other, but next to unknown characters it counts as unknown. So `run`
says what came last: `KNOWN` for a known token, `UNKNOWN_RUN` for unknown characters, else the byte where the
text of the unknown token began, with nothing unknown before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from tokbench.kernels.by_address import BLOCK, NUMBER, ByAddress, called_at
from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Ints, i32_in, i64_in, pointer
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.paths import link_piece, link_place
from tokbench_subword.words.searching import Search

KNOWN, UNKNOWN_RUN = -1, -2


class TokenRoom(NamedTuple):
    """Where tokens are written. Pointers to int32: their ids, and, where it is not None, two numbers for each:
    where in the text it begins and ends, in bytes.
    """

    ids: Any
    places: Any


@inline
def _place(places: Ids | None, token: Int, start: Int, end: Int) -> None:
    if places is not None:
        places[2 * token], places[2 * token + 1] = start, end


@inline
def _place_end(places: Ids | None, token: Int, end: Int) -> None:
    if places is not None:
        places[2 * token + 1] = end


@inline
def append(to: TokenRoom, o: Int, index: Int, start: Int, end: Int) -> np.int64:
    """Write token `o`, which is the text from `start` to `end`; return the number of the next one."""
    to.ids[o] = index
    _place(to.places, o, start, end)
    return np.int64(o + 1)


@inline
def place_recalled(places: Ids | None, ids: Ids, lengths: Ids, first: Int, last: Int, start: Int) -> None:
    """Write the offsets of the consecutive tokens ``ids[first:last]``, unless `places` is None."""
    if places is not None:
        for token in range(first, last):
            _place(places, token, start, start + lengths[ids[token]])
            start += lengths[ids[token]]


@inline
def add_unknown(to: TokenRoom, o: np.int64, run: np.int64, unk_id: Int, start: Int, end: Int) -> np.int64:
    """Append an unknown token, or extend the one before it; return the new end of the ids."""
    if run != UNKNOWN_RUN:
        return append(to, o, unk_id, start, end)
    _place_end(to.places, o - 1, end)
    return o


@inline
def spell(block: Block, text: Bytes, start: Int, end: Int, to: TokenRoom, o: np.int64) -> np.int64:
    """Append the tokens of the bytes of a character, or of the unknown token's text; return where they end."""
    byte_ids = i32_in(block, at.BYTE_IDS)
    if i64_in(block, at.SETTINGS)[at.ESCAPED] == 1 and text[start] == 0x20:
        for byte in (0xE2, 0x96, 0x81):
            o = append(to, o, byte_ids[byte], start, end)
        return o
    for i in range(start, end):
        o = append(to, o, byte_ids[text[i]], start, end)
    return o


@subroutine
def emit(
    block: Block, text: Bytes, begin: Int, size: Int, to: TokenRoom, o: np.int64, run: np.int64
) -> tuple[np.int64, np.int64, bool]:
    """Append the ids of the path through the `size` bytes from `begin` on.

    Returns the new end of the ids, `run`, and whether all was known.
    """
    links, settings = i64_in(block, at.LINKS), i64_in(block, at.SETTINGS)
    unknown, fallback = settings[at.UNK_ID], settings[at.FALLBACK] == 1
    position, all_known = np.int64(0), True
    while position < size:
        end, piece = link_place(links[position]), link_piece(links[position])
        start, stop = begin + position, begin + end
        known = piece >= 0 and piece != unknown
        all_known = all_known and bool(known)
        if known or (fallback and piece >= 0 and run == KNOWN):
            o = append(to, o, piece, start, stop)
            run = np.int64(KNOWN) if known else start
        elif fallback:
            if run >= 0:
                o = spell(block, text, run, start, to, o - 1)
            o = spell(block, text, start, stop, to, o)
            run = np.int64(UNKNOWN_RUN)
        else:
            o = add_unknown(to, o, run, unknown, start, stop)
            run = np.int64(UNKNOWN_RUN)
        position = end
    return o, run, all_known


class Locate(ByAddress):
    """A search ``locate(block, text, size, ids, places)`` that writes offsets too; returns the token count."""

    takes = (BLOCK, types.CPointer(types.uint8), NUMBER, *2 * (types.CPointer(types.int32),))


_locate_at = called_at(Locate.takes)


class SearchForms(NamedTuple):
    """The compiled forms of one search: one for the word cache, one with offsets."""

    word: Search
    locate: Locate


@kernel
def locate_units(
    address: Int, arrays: Block, text: Bytes, units: Ints, first: Int, last: Int, out: Ids, ends: Ints
) -> np.int64:
    """`encode_spans` by the `Locate` at an address: a row of three numbers for each token, its id, and where it
    begins and ends in its text.
    """
    block, rows, o = pointer(arrays), pointer(out), np.int64(0)
    ids, places = i32_in(block, at.FOUND), i32_in(block, at.SPANS)
    for p in range(first, last):
        source, size = pointer(text[units[p, 0] :]), units[p, 1] - units[p, 0]
        for k in range(_locate_at(address, (block, source, size, ids, places))):
            rows[o], rows[o + 1], rows[o + 2] = ids[k], places[2 * k], places[2 * k + 1]
            o += 3
        ends[p + 1] = o
    return o
