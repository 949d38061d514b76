r"""From text to ids: the best path through it, long text in parts.

Text may be cut where no piece crosses (`segments`), and its parts are looked up like words: sentences seldom
come again, their parts do. Two models go this way:

- Unigram in a `tokenizer.json`. `tokenizers` adds up the scores of a word in float64 from zero, so that a
  word's ids depend on nothing but the word; what is long, or in a script of many characters, goes in parts.
- Unigram in a `.model`. sentencepiece adds up over a whole document in float32.

The score so far is carried from part to part, as the library carries it. Rounding depends on it. So a part is
kept with a *limit*, the score so far up to which no rounding can change its path (see `viterbi`), which stands
behind the part's ids in the word cache.

`emitting` writes down the path that was found, and says what `run` and `spans` are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.pointers import (
    Block,
    Bytes,
    Ids,
    Int,
    Ints,
    f64_in,
    i32_in,
    i64_in,
    pointer,
    prefetch_to_read,
    u8_in,
    u64_in,
)
from tokbench.kernels.utf8 import code_point
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.emitting import KNOWN, UNKNOWN_RUN, add_unknown, emit, emit_unknown, place_token
from tokbench_subword.unigram.paths import link
from tokbench_subword.unigram.segments import LEADS, PIECE_SHIFT, next_cut
from tokbench_subword.unigram.viterbi import Lattice, double, search, search_with_margin, single
from tokbench_subword.words.layout import GROUP, WORD_KEYS, WORDS
from tokbench_subword.words.searching import Search, quicker_in_parts
from tokbench_subword.words.slots import (
    LONGEST_WORD,
    MASK,
    PART,
    SHIFT,
    SLOTS,
    STATE,
    grow_if_full,
    recall,
    remember,
    word_home,
    word_key,
)

_MOST_LIMIT = (1 << 28) - 1  # so that it may stand in a slot as its fourth number


@inline
def _part_end(block: Block, text: Bytes, index: Int, end: Int) -> tuple[np.int64, np.int64, np.int64]:
    """Where the part ends that begins at `index`, where its first character ends, and the piece of that."""
    character, width = code_point(text, index)
    about, stop = i32_in(block, at.CHARACTERS)[character], index + width
    middle = stop
    if about & LEADS:
        stop = next_cut(
            text, index, end, u8_in(block, at.CUT_CLASSES), i32_in(block, at.CHARACTERS),
            u8_in(block, at.BEFORE_SPACE), u8_in(block, at.PAIRS),
        )  # fmt: skip
    return stop, middle, np.int64(about >> PIECE_SHIFT) - 1


@inline
def _find_parts(block: Block, text: Bytes, index: Int, end: Int) -> np.int64:
    """Find where the next parts of several characters end, their keys and slots; return how many there are."""
    parts, keys, homes = i64_in(block, at.PARTS), u64_in(block, at.PART_KEYS), i64_in(block, at.PART_HOMES)
    words = u64_in(block, WORDS)
    grow_if_full(words)
    slots, shift = u64_in(words, SLOTS), i64_in(words, STATE)[SHIFT]
    count = np.int64(0)
    while index < end and count < GROUP:
        stop, middle, _ = _part_end(block, text, index, end)
        if stop == middle:
            break
        if stop - index <= at.LONGEST_PART:
            keys[2 * count], keys[2 * count + 1] = word_key(text, index, stop - index, PART)
            homes[count] = word_home(keys[2 * count], keys[2 * count + 1], shift)
            prefetch_to_read(slots, homes[count])
        parts[count] = stop
        count += 1
        index = stop
    return count


@inline
def _with_score(lattice: Lattice, so_far: Any, piece: Int) -> Any:
    """The score so far with that of a piece, or of an unknown character."""
    return so_far + (lattice.scores[piece] if piece >= 0 else lattice.parameters[at.UNKNOWN])


@inline
def _may_be_set_back(lattice: Lattice, so_far: Any, size: Int) -> bool:
    """Whether the sum may come to where it is set back to zero within the next bytes."""
    return abs(so_far) + size * float(lattice.parameters[at.LARGEST]) >= lattice.parameters[at.THRESHOLD]


@subroutine
def encode_parts(
    block: Block,
    lattice: Lattice,
    text: Bytes,
    start: Int,
    end: Int,
    out: Ids,
    spans: Ids | None,
    o: np.int64,
) -> np.int64:
    """Encode ``text[start:end]`` in parts; return the new end of `out`."""
    links, words, lengths = i64_in(block, at.LINKS), u64_in(block, WORDS), i32_in(block, at.LENGTHS)
    parts, keys, homes = i64_in(block, at.PARTS), u64_in(block, at.PART_KEYS), i64_in(block, at.PART_HOMES)
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    settings = i64_in(block, at.SETTINGS)
    unk_id, fallback = settings[at.UNK_ID], settings[at.FALLBACK] == 1
    exact, nothing = f64_in(block, at.EXACT), lattice.parameters[at.UNKNOWN] - lattice.parameters[at.UNKNOWN]
    so_far, run, index = nothing, np.int64(KNOWN), start  # zero, in the precision of the scores
    while index < end:
        stop, middle, one = _part_end(block, text, index, end)
        if stop == middle:
            if _may_be_set_back(lattice, so_far, stop - index):
                so_far = search(lattice, text, index, stop - index, so_far)
                o, run, _ = emit(block, text, index, stop - index, out, spans, o, run, start)
                index = stop
                continue
            so_far = _with_score(lattice, so_far, one)
            if one >= 0 and one != unk_id:
                out[o] = one
                place_token(spans, o, index - start, stop - start)
                o, run = o + 1, np.int64(KNOWN)
            elif one < 0 and not fallback:
                o = add_unknown(out, spans, o, run, unk_id, index - start, stop - start)
                run = np.int64(UNKNOWN_RUN)
            else:
                links[0] = link(stop - index, one)
                o, run = emit_unknown(block, text, index, stop - index, out, spans, o, run, start)
            index = stop
            continue
        count = _find_parts(block, text, index, end)
        for k in range(count):
            stop = parts[k]
            size = stop - index
            if _may_be_set_back(lattice, so_far, size) or size > at.LONGEST_PART:
                so_far = search(lattice, text, index, size, so_far)
                o, run, _ = emit(block, text, index, size, out, spans, o, run, start)
                index = stop
                continue
            low, high = keys[2 * k], keys[2 * k + 1]
            after = recall(words, slots, state[MASK], low, high, homes[k], text, index, out, o)
            if after >= 0:
                limit = np.int64(out[after - 1])  # stands behind the ids
                if abs(so_far) <= limit:
                    for token in range(o, after - 1):
                        piece = out[token]
                        so_far = _with_score(lattice, so_far, piece)
                        if spans is not None:
                            place_token(spans, token, index - start, index - start + lengths[piece])
                            index += lengths[piece]
                    o, run, index = after - 1, np.int64(KNOWN), stop
                    continue
            before, first = abs(so_far), o
            so_far, limit = search_with_margin(lattice, exact, text, index, size, so_far)
            o, run, known = emit(block, text, index, size, out, spans, o, run, start)
            if known and after < 0 and before <= limit:
                out[o] = min(limit, np.int64(_MOST_LIMIT))
                remember(words, low, high, text, index, out, first, o + 1 - first)
            index = stop
    return o


@Search
def search_double(
    block: Block, text: Bytes, start: Int, length: Int, k: Int, count: Int, out: Ids, o: np.int64
) -> np.int64:
    """Encode word `k` of a group, and keep it; return the new end of `out`."""
    if quicker_in_parts(text, start, length):
        after = encode_parts(block, double(block), text, start, start + length, out, None, o)
    else:
        search(double(block), text, start, length, 0.0)
        after, _, _ = emit(block, text, start, length, out, None, o, np.int64(KNOWN), start)
    if length <= LONGEST_WORD:
        keys = u64_in(block, WORD_KEYS)
        low, high = keys[2 * k], keys[2 * k + 1]
        remember(u64_in(block, WORDS), low, high, text, start, out, o, after - o)
    return after


@Search
def search_single(
    block: Block, text: Bytes, start: Int, length: Int, k: Int, count: Int, out: Ids, o: np.int64
) -> np.int64:
    """Encode a document; return the new end of `out`. It is not kept: its parts are."""
    return encode_parts(block, single(block), text, start, start + length, out, None, o)


@inline
def add_rows(found: Ids, places: Ids, count: Int, out: Ids, o: np.int64) -> np.int64:
    """Append each of `count` ids, and where its token begins and ends in its word; the new end of `out`."""
    for k in range(count):
        out[o], out[o + 1], out[o + 2] = found[k], places[2 * k], places[2 * k + 1]
        o += 3
    return o


@inline
def _locate(
    block: Block,
    lattice: Lattice,
    text: Bytes,
    units: Ints,
    first: Int,
    last: Int,
    out: Ids,
    out_offsets: Ints,
) -> np.int64:
    """`encode_spans` with places: a row of three numbers for each token."""
    found, places = i32_in(block, at.FOUND), i32_in(block, at.SPANS)
    o, none = np.int64(0), np.int64(0)
    for p in range(first, last):
        count = encode_parts(block, lattice, text, units[p, 0], units[p, 1], found, places, none)
        o = add_rows(found, places, count, out, o)
        out_offsets[p + 1] = o
    return o


@kernel
def _locate_double(
    arrays: Block, text: Bytes, units: Ints, first: Int, last: Int, out: Ids, ends: Ints
) -> np.int64:
    block = pointer(arrays)
    return _locate(block, double(block), pointer(text), units, first, last, pointer(out), ends)


@kernel
def _locate_single(
    arrays: Block, text: Bytes, units: Ints, first: Int, last: Int, out: Ids, ends: Ints
) -> np.int64:
    block = pointer(arrays)
    return _locate(block, single(block), pointer(text), units, first, last, pointer(out), ends)


@kernel
def part_rows(rows: Ids, limits: Ints, words: Ints, ids: Ids, places: Ints) -> None:
    """Split rows of an id, and where it begins and ends in its word, into ids and their places.

    Rows ``limits[w]`` to ``limits[w + 1]`` are of word w, which begins at ``words[w, 0]``.
    """
    triples = pointer(rows)
    for word in range(len(words)):
        begin = words[word, 0]
        for token in range(limits[word], limits[word + 1]):
            ids[token] = triples[3 * token]
            places[token, 0], places[token, 1] = begin + triples[3 * token + 1], begin + triples[3 * token + 2]


class SearchForms(NamedTuple):
    """The compiled forms of one way to search: behind the word cache, and with places."""

    word: Search
    locate: Callable[..., Any]


DOUBLE = SearchForms(search_double, _locate_double)
SINGLE = SearchForms(search_single, _locate_single)
