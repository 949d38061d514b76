"""Kernels of sentencepiece's BPE: from text to ids, and to paths, with or without dropout.

A document is encoded in parts, most of which are in the word cache. Parts end where no piece crosses
(`words.parts`). A character that begins no longer piece is a part by itself, and its ids need no cache: in
scripts of many characters, most parts are like this.

There are two ways to merge. `_merge_part` uses the short loop of the family `bpe`. `_merge_whole` keeps a
queue and can skip merges: it is for long texts and for dropout.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.pointers import (
    Block,
    Bytes,
    Floats,
    Ids,
    Int,
    Ints,
    Keys,
    f64_in,
    i32_in,
    i64_in,
    keep,
    pointer,
    u32_in,
    u64_in,
)
from tokbench.kernels.utf8 import code_point, width_of
from tokbench_subword.bpe.merging import SHORT, merge_long, merge_short
from tokbench_subword.bpe.tables import merges_at
from tokbench_subword.pipeline.trie import longest_below, root_of
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
    spell,
)
from tokbench_subword.unigram.paths import link, write_rows
from tokbench_subword.words.layout import WORDS
from tokbench_subword.words.parts import LONGEST_PART, find_parts, parts_at, stands_alone
from tokbench_subword.words.safe_cuts import PIECE_SHIFT
from tokbench_subword.words.searching import DocumentSearch
from tokbench_subword.words.slots import SLOTS, STATE, recall, remember


@inline
def _first_symbols(block: Block, data: Bytes, begin: Int, size: Int, symbols: Keys) -> np.int64:
    """Write the numbers of the characters and user-defined symbols of a text; returns how many there are."""
    settings, first, defined = i64_in(block, at.SETTINGS), u32_in(block, at.FIRST), u64_in(block, at.DEFINED)
    has_defined = settings[at.N_DEFINED] > 0
    count, position, stop = np.int64(0), np.int64(begin), begin + size
    while position < stop:
        symbol = behind = np.int64(-1)
        if has_defined:
            symbol, end = longest_below(defined, root_of(defined), data, position, stop)
            behind = np.int64(end)
        if symbol >= 0:
            symbols[count], position = symbol, behind
        else:
            point, length = code_point(data, position)
            symbols[count] = first[point]
            position = np.int64(position + length)
        count += 1
    return count


@inline
def _write_links(block: Block, data: Bytes, begin: Int, symbols: Keys, count: Int) -> None:
    """Fill the links of `block` with the path of `count` symbols."""
    ids, lengths, links = i32_in(block, at.SYMBOL_IDS), i32_in(block, at.LENGTHS), i64_in(block, at.LINKS)
    position = np.int64(0)
    for k in range(count):
        piece = np.int64(ids[symbols[k]])
        end = position + (np.int64(lengths[piece]) if piece >= 0 else width_of(data[begin + position]))
        links[position] = link(end, piece)
        position = end


@subroutine
def _merge_whole(block: Block, data: Bytes, begin: Int, size: Int, uniforms: Floats, dropout: float) -> None:
    """Merge ``data[begin:begin + size]`` by `merge_long` and fill the links of `block`."""
    array, merges = np.empty(size + 1, np.uint32), merges_at(block, at.MERGES)
    symbols, results = pointer(array), u32_in(block, at.RESULTS)
    count = _first_symbols(block, data, begin, size, symbols)
    count = merge_long(symbols, count, merges, results, dropout, uniforms)
    _write_links(block, data, begin, symbols, count)
    keep(array)


@subroutine
def _merge_part(block: Block, data: Bytes, begin: Int, size: Int) -> None:
    """As `_merge_whole`, for up to `SHORT` bytes, by `merge_short`."""
    symbols = u32_in(block, at.SYMBOLS)
    count = _first_symbols(block, data, begin, size, symbols)
    merges, results = merges_at(block, at.MERGES), u32_in(block, at.RESULTS)
    first_tied = np.uint32(i64_in(block, at.SETTINGS)[at.FIRST_TIED])
    count = merge_short(block, np.int64(at.SYMBOLS), count, merges, results, first_tied)
    _write_links(block, data, begin, symbols, count)


@inline
def _lone_characters(
    block: Block, text: Bytes, index: np.int64, end: Int, to: TokenRoom, o: np.int64, run: np.int64
) -> tuple[np.int64, np.int64, np.int64]:
    """Encode characters up to the first that is no part by itself; returns where it is, then as `emit`.

    As parts like any other, Chinese takes 3.4 times as long (Llama-2), 21 languages 1.2, and 1.5 when known.
    """
    characters, settings = i32_in(block, at.CHARACTERS), i64_in(block, at.SETTINGS)
    unk_id, fallback = settings[at.UNK_ID], settings[at.FALLBACK] == 1
    while index < end:
        point, width = code_point(text, index)
        about = characters[point]
        if not stands_alone(point, about):
            break
        stop, piece = index + width, np.int64(about >> PIECE_SHIFT) - 1
        if piece >= 0:
            o, run = append(to, o, piece, index, stop), np.int64(KNOWN)
        else:
            if fallback:
                o = spell(block, text, index, stop, to, o)
            else:
                o = add_unknown(to, o, run, unk_id, index, stop)
            run = np.int64(UNKNOWN_RUN)
        index = stop
    return index, o, run


@subroutine
def encode_merged(block: Block, text: Bytes, start: Int, end: Int, to: TokenRoom, o: np.int64) -> np.int64:
    """Encode ``text[start:end]`` in parts; return the new end of the ids."""
    words, lengths = u64_in(block, WORDS), i32_in(block, at.LENGTHS)
    parts = parts_at(block, at.CHARACTERS, at.PARTS)
    keys = parts.keys
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    run, index, out = np.int64(KNOWN), np.int64(start), to.ids
    while index < end:
        index, o, run = _lone_characters(block, text, index, end, to, o, run)
        count = find_parts(parts, words, text, index, end) if index < end else np.int64(0)
        for k in range(count):
            stop, first, after = parts.ends[k], o, np.int64(-1)
            size = stop - index
            if size <= LONGEST_PART:
                after = recall(words, slots, state, keys, k, text, index, out, o)
            if after < 0:
                if size > SHORT:
                    nothing = f64_in(block, at.BEST)  # without dropout no uniform number is read
                    _merge_whole(block, text, index, size, nothing, 0.0)
                else:
                    _merge_part(block, text, index, size)
                o, run, known = emit(block, text, index, size, to, o, run)
                if known and size <= LONGEST_PART:
                    remember(words, keys, k, text, index, out, first, o - first)
            else:
                place_recalled(to.places, out, lengths, o, after, index)
                o, run = after, np.int64(KNOWN)
            index = stop
    return o


@DocumentSearch
def _search_merged(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: np.int64) -> np.int64:
    """Encode a document; return the new end of `out`."""
    return encode_merged(block, text, start, start + length, TokenRoom(out, None), o)


@Locate
def _locate_merged(block: Block, text: Bytes, size: Int, ids: Ids, places: Ids) -> np.int64:
    none = np.int64(0)
    return encode_merged(block, text, none, size, TokenRoom(ids, places), none)


MERGED = SearchForms(_search_merged, _locate_merged)


@kernel
def merge_all(arrays: Block, source: Bytes, uniforms: Floats, dropout: float, rows: Ints) -> np.int64:
    """Fill `rows` with (start, end, piece) for the whole internal text; returns how many.

    `uniforms` and `dropout` as in `merge_long`.
    """
    block, size = pointer(arrays), np.int64(len(source))
    if size == 0:
        return np.int64(0)
    _merge_whole(block, pointer(source), np.int64(0), size, pointer(uniforms), dropout)
    return write_rows(i64_in(block, at.LINKS), size, rows)
