"""sentencepiece's BPE as kernels: a text, or a part of one, to a path, with dropout or without.

There are two merge loops. `merge_part` takes that of the family `bpe`, which knows one merge for each piece
(see `spm_bpe_tables`). `merge_whole` knows every pair that spells one, keeps a queue, and can pass merges
over: it is for long texts and for dropout.
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
    Words,
    i32_in,
    i64_in,
    keep,
    pointer,
    u32_in,
    u64_in,
)
from tokbench.kernels.utf8 import code_point
from tokbench_subword.bpe.merging import merge_long, merge_short
from tokbench_subword.bpe.tables import NONE, merges_at, merges_in
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.charsmap_kernels import longest_symbol
from tokbench_subword.unigram.paths import link, only_piece, width_of, write_rows


@inline
def _first_symbols(block: Block, data: Bytes, begin: Int, size: Int, symbols: Keys) -> np.int64:
    """Write the numbers of the characters and user-defined symbols of a text; how many there are."""
    settings, first, defined = i64_in(block, at.SETTINGS), u32_in(block, at.FIRST), u64_in(block, at.DEFINED)
    has_defined = settings[at.N_DEFINED] > 0
    count, position, stop = np.int64(0), np.int64(begin), begin + size
    while position < stop:
        length = np.int64(0)
        if has_defined:
            length = longest_symbol(data, position, stop, defined)
        if length > 0:
            symbols[count] = only_piece(data, position, length, defined)
        else:
            point, length = code_point(data, position)
            symbols[count] = first[point]
        position += np.int64(length)
        count += 1
    return count


@inline
def write_links(block: Block, data: Bytes, begin: Int, symbols: Keys, count: Int) -> None:
    """Fill the links of `block` with the path of `count` symbols."""
    ids, lengths, links = i32_in(block, at.SYMBOL_IDS), i32_in(block, at.LENGTHS), i64_in(block, at.LINKS)
    position = np.int64(0)
    for k in range(count):
        piece = np.int64(ids[symbols[k]])
        end = position + (np.int64(lengths[piece]) if piece >= 0 else width_of(data[begin + position]))
        links[position] = link(end, piece)
        position = end


@subroutine
def merge_whole(block: Block, data: Bytes, begin: Int, size: Int, uniforms: Floats, dropout: float) -> None:
    """Merge ``data[begin:begin + size]`` by `merge_long` and fill the links of `block`."""
    array, merges = np.empty(size + 1, np.uint32), merges_at(block, at.EVERY_PAIR)
    symbols, ranks = pointer(array), i32_in(block, at.RANKS)
    count = _first_symbols(block, data, begin, size, symbols)
    count, _, _ = merge_long(symbols, count, merges, None, ranks, uniforms, dropout)
    write_links(block, data, begin, symbols, count)
    keep(array)


@subroutine
def merge_part(block: Block, data: Bytes, begin: Int, size: Int) -> np.int64:
    """Merge ``data[begin:begin + size]``, up to `SHORT` bytes; how many symbols there are in SYMBOLS then."""
    count = _first_symbols(block, data, begin, size, u32_in(block, at.SYMBOLS))
    merges, results = merges_at(block, at.MERGES), u32_in(block, at.RESULTS)
    untied = np.uint32(i64_in(block, at.SETTINGS)[at.UNTIED])
    return merge_short(block, np.int64(at.SYMBOLS), count, merges, results, untied)


@kernel
def merge_all(arrays: Block, source: Bytes, uniforms: Floats, dropout: float, rows: Ints) -> np.int64:
    """Fill `rows` with (start, end, piece) of the whole internal text, padded by 48 bytes; how many.

    `uniforms` and `dropout` as in `merge_long`.
    """
    block, size = pointer(arrays), np.int64(len(source) - 48)
    if size == 0:
        return np.int64(0)
    merge_whole(block, pointer(source), np.int64(0), size, pointer(uniforms), dropout)
    return write_rows(i64_in(block, at.LINKS), size, rows)


@kernel
def last_merges(
    texts: Keys, limits: Ints, pairs: Words, bloom: Keys, shift: Words, ranks: Ids, rows: Keys
) -> None:
    """How each of some texts, given as symbols, becomes one piece.

    Text k is ``texts[limits[k]:limits[k + 1]]``, which is overwritten; the pair that is merged last goes to
    ``rows[k]``, `NONE` twice where more than one symbol is left.
    """
    merges, pieces_ranks = merges_in(pairs, bloom, shift), pointer(ranks)
    for k in range(len(limits) - 1):
        symbols, count = pointer(texts[limits[k] :]), limits[k + 1] - limits[k]
        count, left, right = merge_long(symbols, count, merges, None, pieces_ranks, None, 0.0)
        rows[k, 0], rows[k, 1] = (left, right) if count == 1 else (NONE, NONE)
