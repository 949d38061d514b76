"""The search that encodes uncached words of any model: their bytes or characters as ids, then merges of ids.

`merging_pieces` does the same, faster, for models with `pieces`.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Ints, Keys, i64_in, keep, pointer, u32_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.merging import SHORT, merge_long, merge_short
from tokbench_subword.bpe.tables import NONE, merges_at
from tokbench_subword.words.searching import Search


@inline
def _first_symbols(
    ids: Keys,
    fallback: Keys,
    settings: Ints,
    text: Bytes,
    start: Int,
    end: Int,
    symbols: Keys,
    places: Ints | None,
) -> np.int64:
    """Write the first symbols of ``text[start:end]``, bytes or characters (see `BpeModel`); return how many.

    An unknown token is held back (`waiting`), since the next ones may be fused with it. `places`, unless None,
    receives the start and end of each symbol in `text`.
    """
    units, unk, bytewise = settings[at.UNITS], settings[at.UNK], settings[at.BYTEWISE] != 0
    count, waiting = np.int64(0), False
    begun = ended = i = start  # begun, ended: the span of the waiting token
    while i < end:
        unit, length = (np.int64(text[i]), 1) if bytewise else code_point(text, i)
        form = (settings[at.PREFIX] if i > start else 0) + (2 * settings[at.SUFFIX] if i + length == end else 0)
        found = ids[form * units + unit] if unit < units else NONE
        spelled = found == NONE and settings[at.BYTE_FALLBACK] != 0
        if spelled:
            for k in range(length):
                spelled = spelled and fallback[text[i + k]] != NONE
        if spelled:  # a waiting token comes after these, as in `tokenizers`
            for k in range(length):
                symbols[count] = fallback[text[i + k]]
                _place(places, count, i + k, i + k + 1)
                count += 1
        else:
            if waiting and (found != NONE or settings[at.FUSE_UNK] == 0):
                symbols[count] = unk
                _place(places, count, begun, ended)
                count, waiting = count + 1, False
            if found != NONE:
                symbols[count] = found
                _place(places, count, i, i + length)
                count += 1
            elif unk >= 0:
                begun, ended = begun if waiting else i, i + length
                waiting = True
        i += length
    if waiting:
        symbols[count] = unk
        _place(places, count, begun, ended)
        count += 1
    return count


@inline
def _place(places: Ints | None, symbol: Int, begin: Int, end: Int) -> None:
    if places is not None:
        places[2 * symbol], places[2 * symbol + 1] = begin, end


@kernel
def symbols_of_words(
    ids: Keys, fallback: Keys, settings: Ints, text: Bytes, words: Ints, symbols: Keys, places: Ints, ends: Ints
) -> None:
    """Write the first symbols of the words with the spans `words` in `text`; see `BpeEncoder.first_symbols`."""
    data, count = pointer(text), np.int64(0)
    for word in range(len(words)):
        start, end = words[word, 0], words[word, 1]
        some, theirs = symbols[count:], places[2 * count :]
        count += _first_symbols(ids, fallback, settings, data, start, end, some, theirs)
        ends[word] = count


@inline
def _write(symbols: Keys, count: Int, out: Ids, o: Int) -> np.int64:
    for i in range(count):
        out[o + i] = symbols[i]
    return np.int64(o + count)


@Search
def merge_symbols(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: Int) -> np.int64:
    """Encode ``text[start:start + length]`` by its merges; return the new end of `out`."""
    merges, results, end = merges_at(block, at.PAIRS), u32_in(block, at.RESULTS), start + length
    ids, fallback = u32_in(block, at.FIRST_IDS), u32_in(block, at.FALLBACK)
    settings = i64_in(block, at.SETTINGS)
    if length <= SHORT:
        symbols = u32_in(block, at.SYMBOLS)
        count = _first_symbols(ids, fallback, settings, text, start, end, symbols, None)
        count = merge_short(block, np.int64(at.SYMBOLS), count, merges, results, np.uint32(0))
        return _write(symbols, count, out, o)
    array = np.empty(length, np.uint32)
    symbols = pointer(array)
    count = _first_symbols(ids, fallback, settings, text, start, end, symbols, None)
    count = merge_long(symbols, count, merges, results)
    o = _write(symbols, count, out, o)
    keep(array)
    return o
