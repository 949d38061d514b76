"""Encode text by the best path through it; long text is encoded in parts.

Text may be cut where no piece crosses (`words.parts`), and its parts are looked up in the word cache: sentences
seldom repeat, their parts do. Two models are encoded this way:

- Unigram in a `tokenizer.json`. `tokenizers` adds up the scores of a word in float64 from zero, so that a
  word's ids depend on nothing but the word. A word that is long, or in a script of many characters, goes in
  parts.
- Unigram in a `.model`. sentencepiece adds up over a whole document in float32; the document is cut into parts.

The score so far is carried from part to part, as the library carries it, and rounding depends on it. So a part
is kept with a *limit*, the score so far up to which no rounding can change its path (see `viterbi`), which
stands behind the part's ids in the word cache.

`emitting` writes the path's tokens, and explains `run`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, i32_in, i64_in, u64_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.emitting import (
    KNOWN,
    UNKNOWN_RUN,
    Locate,
    SearchForms,
    TokenRoom,
    add_unknown,
    append,
    emit,
    place_recalled,
)
from tokbench_subword.unigram.paths import link
from tokbench_subword.unigram.viterbi import Lattice, double, search, search_with_margin, single
from tokbench_subword.words.layout import WORDS
from tokbench_subword.words.parts import LONGEST_PART, find_parts, parts_at, quicker_in_parts, stands_alone
from tokbench_subword.words.safe_cuts import PIECE_SHIFT
from tokbench_subword.words.searching import DocumentSearch, Search
from tokbench_subword.words.slots import SLOTS, STATE, recall, remember

_NEVER, _MOST_A_BYTE, _OVERFLOWS = 1 << 61, 1 << 30, 1e300
_ROUNDED = 1.0 + 2.0**-8
"""A factor that allows for rounding: a sum in float32 up to `sentencepiece.algorithms.RESET_THRESHOLD` is
rounded by at most 2**-8, and a byte adds up to `LARGEST`, which is 5 or more, since an unknown character has 10
less than the worst piece."""


@inline
def _with_score(lattice: Lattice, so_far: Any, piece: Int) -> Any:
    """The score so far with that of a piece, or of an unknown character."""
    return so_far + (lattice.scores[piece + 1] if piece >= 0 else lattice.parameters[at.UNKNOWN])


@inline
def _with_scores(lattice: Lattice, so_far: Any, ids: Ids, first: Int, last: Int) -> Any:
    """The score so far with those of the pieces ``ids[first:last]``, one after another."""
    for token in range(first, last):
        so_far += lattice.scores[ids[token] + 1]
    return so_far


@inline
def _bounds(lattice: Lattice) -> tuple[np.int64, np.int64]:
    """How much a byte can add to the absolute score at the most; and beyond which one the score is set back."""
    largest, threshold = float(lattice.parameters[at.LARGEST]), float(lattice.parameters[at.THRESHOLD])
    if largest >= _OVERFLOWS:
        threshold = 0.0  # nothing is sure
    return np.int64(min(_ROUNDED * largest, float(_MOST_A_BYTE))) + 1, np.int64(min(threshold, float(_NEVER)))


@inline
def _bound(so_far: Any) -> np.int64:
    """A whole number that an absolute score is below, with what rounding may add."""
    return np.int64(min(_ROUNDED * float(abs(so_far)), float(_NEVER))) + 1


@subroutine
def encode_parts(
    block: Block, lattice: Lattice, text: Bytes, start: Int, end: Int, to: TokenRoom, o: np.int64
) -> np.int64:
    """Encode ``text[start:end]`` in parts; return the new end of the ids.

    `so_far` is the score up to the byte `told`, where `n_told` ids had been written. The scores of what was
    recalled since are added only where the score is needed. Mostly it is enough to know that its absolute value
    was below `bound` at `told`, and that it cannot be set back to zero before the byte `safe`.
    """
    links, words, lengths = i64_in(block, at.LINKS), u64_in(block, WORDS), i32_in(block, at.LENGTHS)
    parts = parts_at(block, at.CHARACTERS, at.PARTS)
    keys = parts.keys
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    settings, characters = i64_in(block, at.SETTINGS), parts.characters
    unk_id, fallback = settings[at.UNK_ID], settings[at.FALLBACK] == 1
    nothing = lattice.parameters[at.UNKNOWN] - lattice.parameters[at.UNKNOWN]
    a_byte, set_back = _bounds(lattice)
    so_far, run, index, out = nothing, np.int64(KNOWN), start, to.ids
    told, n_told, bound = start, o, _bound(so_far)
    safe = told + (set_back - bound) // a_byte
    while index < end:
        character, width = code_point(text, index)
        about = characters[character]
        if stands_alone(character, about):
            one, stop = np.int64(about >> PIECE_SHIFT) - 1, index + width
            if one >= 0 and one != unk_id and stop <= safe:
                o, run, index = append(to, o, one, index, stop), np.int64(KNOWN), stop
                continue
            so_far = _with_scores(lattice, so_far, out, n_told, o)
            if stop > safe:
                so_far = search(lattice, text, index, np.int64(width), so_far)
            else:
                so_far = _with_score(lattice, so_far, one)
                links[0] = link(np.int64(width), one)
            if one < 0 and not fallback:
                # Most often more that are unknown follow. One at a time, Japanese takes 1.45 to 1.7 times as
                # long, Thai 1.35 to 1.5, Chinese 1.25 to 1.3 (T5, ALBERT).
                while stop < min(end, safe - 4):
                    character, width = code_point(text, stop)
                    if character < 0x80 or characters[character] != 0:
                        break
                    so_far = _with_score(lattice, so_far, one)
                    stop += width
                o = add_unknown(to, o, run, unk_id, index, stop)
                run = np.int64(UNKNOWN_RUN)
            else:
                o, run, _ = emit(block, text, index, width, to, o, run)
            told, n_told, bound, index = stop, o, _bound(so_far), stop
            safe = told + (set_back - bound) // a_byte
            continue
        count = find_parts(parts, words, text, index, end)
        for k in range(count):
            stop = parts.ends[k]
            size = stop - index
            after, unsure = np.int64(-1), size > LONGEST_PART or stop > safe
            if not unsure:
                after = recall(words, slots, state, keys, k, text, index, out, o)
                # the last number behind the ids is the limit
                if after >= 0 and bound + (index - told) * a_byte <= np.int64(out[after - 1]):
                    place_recalled(to.places, out, lengths, o, after - 1, index)
                    o, run, index = after - 1, np.int64(KNOWN), stop
                    continue
            so_far = _with_scores(lattice, so_far, out, n_told, o)
            before, first, limit = abs(so_far), o, np.int64(-1)
            if unsure:
                so_far = search(lattice, text, index, size, so_far)
            else:
                so_far, limit = search_with_margin(lattice, text, index, size, so_far)
            o, run, known = emit(block, text, index, size, to, o, run)
            if known and after < 0 and before <= limit:
                out[o] = limit
                remember(words, keys, k, text, index, out, first, o + 1 - first)
            told, n_told, bound, index = stop, o, _bound(so_far), stop
            safe = told + (set_back - bound) // a_byte
    return o


@Search
def search_double(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: np.int64) -> np.int64:
    """Encode a word; return the new end of `out`."""
    to = TokenRoom(out, None)
    if quicker_in_parts(text, start, length):
        return encode_parts(block, double(block), text, start, start + length, to, o)
    if length <= LONGEST_PART:
        search_with_margin(double(block), text, start, length, 0.0)
    else:
        search(double(block), text, start, length, 0.0)
    after, _, _ = emit(block, text, start, length, to, o, np.int64(KNOWN))
    return after


@DocumentSearch
def search_single(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: np.int64) -> np.int64:
    """Encode a document; return the new end of `out`."""
    return encode_parts(block, single(block), text, start, start + length, TokenRoom(out, None), o)


@Locate
def _locate_double(block: Block, text: Bytes, size: Int, ids: Ids, places: Ids) -> np.int64:
    none = np.int64(0)
    return encode_parts(block, double(block), text, none, size, TokenRoom(ids, places), none)


@Locate
def _locate_single(block: Block, text: Bytes, size: Int, ids: Ids, places: Ids) -> np.int64:
    none = np.int64(0)
    return encode_parts(block, single(block), text, none, size, TokenRoom(ids, places), none)


DOUBLE = SearchForms(search_double, _locate_double)
SINGLE = SearchForms(search_single, _locate_single)
