"""From a path to ids, and to the places of tokens.

Unknown characters in a row become one token, or are spelled in bytes. In a `tokenizer.json` the text of the
unknown token itself is a piece like any other, but next to unknown characters it counts as unknown. So `run`
says what came last: `KNOWN` for a known token, `UNKNOWN_RUN` for unknown characters, else the byte where the
text of the unknown token began, with nothing unknown before it.

`spans`, where it is not None, gets the places of tokens: two int32 for each, in bytes, from `origin` on.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, i32_in, i64_in
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.paths import link_piece, link_place

KNOWN, UNKNOWN_RUN = -1, -2


@inline
def place_token(spans: Ids | None, o: Int, start: Int, end: Int) -> None:
    """Note where token `o` lies, where places are asked for."""
    if spans is not None:
        spans[2 * o], spans[2 * o + 1] = start, end


@inline
def place_recalled(spans: Ids | None, out: Ids, lengths: Ids, first: Int, last: Int, start: Int) -> None:
    """Note where the tokens ``out[first:last]`` lie, one behind the other, where places are asked for."""
    if spans is not None:
        for token in range(first, last):
            place_token(spans, token, start, start + lengths[out[token]])
            start += lengths[out[token]]


@inline
def add_unknown(
    out: Ids, spans: Ids | None, o: np.int64, run: np.int64, unk_id: Int, start: Int, end: Int
) -> np.int64:
    """Append an unknown token, or make the one before it longer; return the new end of `out`."""
    if run == UNKNOWN_RUN:
        if spans is not None:
            spans[2 * o - 1] = end
        return o
    out[o] = unk_id
    place_token(spans, o, start, end)
    return o + 1


@inline
def spell(
    block: Block, text: Bytes, start: Int, end: Int, out: Ids, spans: Ids | None, o: np.int64, origin: Int
) -> np.int64:
    """Append the tokens of the bytes of a character, or of the unknown token's text; return where they end."""
    byte_ids = i32_in(block, at.BYTE_IDS)
    if i64_in(block, at.SETTINGS)[at.ESCAPED] == 1 and text[start] == 0x20:
        out[o], out[o + 1], out[o + 2] = byte_ids[0xE2], byte_ids[0x96], byte_ids[0x81]
        for i in range(3):
            place_token(spans, o + i, start - origin, end - origin)
        return o + 3
    for i in range(start, end):
        out[o] = byte_ids[text[i]]
        place_token(spans, o, start - origin, end - origin)
        o += 1
    return o


@subroutine
def emit(
    block: Block,
    text: Bytes,
    begin: Int,
    size: Int,
    out: Ids,
    spans: Ids | None,
    o: np.int64,
    run: np.int64,
    origin: Int,
) -> tuple[np.int64, np.int64, bool]:
    """Append the ids of the path through the `size` bytes from `begin` on.

    Returns the new end of `out`, `run`, and whether all was known.
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
            out[o] = piece
            place_token(spans, o, start - origin, stop - origin)
            o += 1
            run = np.int64(KNOWN) if known else start
        elif fallback:
            if run >= 0:
                o = spell(block, text, run, start, out, spans, o - 1, origin)
            o = spell(block, text, start, stop, out, spans, o, origin)
            run = np.int64(UNKNOWN_RUN)
        else:
            o = add_unknown(out, spans, o, run, unknown, start - origin, stop - origin)
            run = np.int64(UNKNOWN_RUN)
        position = end
    return o, run, all_known
