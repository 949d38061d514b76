"""The WordPiece kernels: BERT's text rules and greedy longest match in one pass over UTF-8.

`encode_documents` is the fast path: it finds where a word ends, and looks the word up, as it stands in the
text, among those met before. Only new words are turned into the symbols of the trie and matched. `match_words`
matches words that something else has cut, for pipelines that are not BERT's. The algorithm itself is in
`match`.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.pointers import i32_in, i64_in, pointer, u8_in, u64_in
from tokbench.kernels.stretch_cache import (
    ABOUT,
    CACHED_BYTES,
    CACHED_TOKENS,
    IDS,
    SLOT_WORDS,
    holds,
    slot_of,
    stretch_key,
)
from tokbench.kernels.utf8 import code_point
from tokbench_subword.wordpiece.table import ALONE, DROPPED, LETTER, ORDERED, SPACE
from tokbench_subword.wordpiece.trie import BASE_SHIFT, FINAL, LEAF, SYMBOL_MASK

KINDS, ENTRIES, REPLACEMENTS, SYMBOLS, UNITS, SETTINGS = range(6)
"""The arrays of an encoder, in the order in which they stand in its block."""
CONTINUATION, UNK, LIMIT = range(3)
"""Members of SETTINGS, int64: the base of what continues a word, the unknown id, the longest word."""
CACHE_SLOTS = 1 << 15
"""Words that a work space remembers (64 bytes each)."""


@inline
def _id(unit, units):  # type: ignore[no-untyped-def]
    """The id of the token that ends at a unit."""
    if not unit & np.uint64(LEAF):
        unit = units[np.int64(unit >> np.uint64(BASE_SHIFT))]
    return np.int32(unit >> np.uint64(BASE_SHIFT))


@subroutine
def match(word, length, units, settings, ids, count):  # type: ignore[no-untyped-def]
    """Write the tokens of the symbols ``word[:length]`` to ``ids[count:]`` and return the new count.

    From each position the longest token, from the root at the beginning of the word and from the base of what
    continues one after it. Where nothing matches, the whole word is one unknown token; so it is where it has
    more characters than the limit.
    """
    unk = np.int32(settings[UNK])
    if length > settings[LIMIT]:
        ids[count] = unk
        return count + 1
    first = count
    base = np.int64(units[0] >> np.uint64(BASE_SHIFT))
    start = np.int64(0)
    while start < length:
        best = np.uint64(0)
        index = end = start
        while index < length:
            symbol = np.int64(word[index])
            unit = units[base + symbol]
            if np.int64(unit & np.uint64(SYMBOL_MASK)) != symbol:
                break
            index += 1
            if unit & np.uint64(FINAL):
                best, end = unit, index
                if unit & np.uint64(LEAF):
                    break
            base = np.int64(unit >> np.uint64(BASE_SHIFT))
        if end == start:
            ids[first] = unk
            return first + 1
        ids[count] = _id(best, units)
        count += 1
        start, base = end, settings[CONTINUATION]
    return count


@inline
def add_symbols(kind, entry, replacements, word, length):  # type: ignore[no-untyped-def]
    """Write the symbols of a character of this kind, which is neither dropped nor a space; the new length."""
    if kind in (LETTER, ALONE):
        word[length] = entry
        return length + 1
    for index in range(replacements[entry]):
        word[length + index] = replacements[entry + 1 + index]
    return length + replacements[entry]


@subroutine
def _symbols(text, begin, end, kinds, entries, replacements, word):  # type: ignore[no-untyped-def]
    """Write the symbols of the characters from `begin` to `end`; how many, or -1 if they need reordering."""
    length, ordered_end = np.int64(0), np.int64(-1)
    while begin < end:
        point, width = code_point(text, begin)
        begin += width
        kind = kinds[point]
        if kind == ORDERED and ordered_end == length:
            return np.int64(-1)
        if kind != DROPPED:
            length = add_symbols(kind, entries[point], replacements, word, length)
        if kind == ORDERED:
            ordered_end = length
    return length


@kernel
def encode_documents(block, data, starts, first, cache_array, word_array, ids, offsets):  # type: ignore[no-untyped-def]
    """Encode documents from `first` on until one needs canonical reordering; returns its index, or the end.

    `block` holds a `SymbolTable`, a `Trie`, and settings. `data` is UTF-8 with eight bytes behind it, document
    d ``data[starts[d]:starts[d + 1]]``. `cache_array` is uint64, see `kernels.stretch_cache`; `word_array`,
    int32, has room for the symbols of the longest document. Ids go to ``ids[offsets[d]:offsets[d + 1]]``, with
    room for `CACHED_TOKENS` behind the last; `offsets[first]` is set.
    """
    n_documents = len(starts) - 1
    text, kinds, entries = pointer(data), u8_in(block, KINDS), i32_in(block, ENTRIES)
    replacements, units = i32_in(block, REPLACEMENTS), u64_in(block, UNITS)
    settings, cache = i64_in(block, SETTINGS), pointer(cache_array)
    word, out = pointer(word_array), pointer(ids)
    count = offsets[first]
    for document in range(first, n_documents):
        position, stop = starts[document], starts[document + 1]
        while position < stop:
            begin = position
            width, kind = np.int64(0), np.uint8(LETTER)
            while position < stop:
                byte = text[position]
                point, width = np.int64(byte), np.int64(1)
                if byte >= 0x80:
                    point, width = code_point(text, position)
                kind = kinds[point]
                if kind >= SPACE:
                    break
                position += width
            size = position - begin
            found = False
            place = np.int64(-1)
            if 0 < size <= CACHED_BYTES:
                key0, key1, key2, key3 = stretch_key(text, begin, size)
                slot = slot_of(key0, key1, key2, key3, size, CACHE_SLOTS - 1)
                found = holds(cache, slot, key0, key1, key2, key3, size)
                if not found:
                    slot ^= 1
                    found = holds(cache, slot, key0, key1, key2, key3, size)
                place = slot * SLOT_WORDS
                if found:  # the ids are written without asking how many there are
                    known = np.int64(cache[place + ABOUT] >> np.uint64(8))
                    for index in range(CACHED_TOKENS):
                        pair = cache[place + IDS + (index >> 1)]
                        out[count + index] = np.int64(pair >> np.uint64(32 * (index & 1))) & 0xFFFFFFFF
                    count += known
            if size > 0 and not found:
                length = _symbols(text, begin, position, kinds, entries, replacements, word)
                if length < 0:
                    return document
                before = count
                count = match(word, length, units, settings, out, count)
                if place >= 0 and count - before <= CACHED_TOKENS:
                    if cache[place + ABOUT] != np.uint64(0):
                        place ^= SLOT_WORDS  # the neighbour is taken: the word's own slot
                    _keep(cache, place, text, begin, size, out, before, count - before)
            if position < stop:
                if kind != SPACE:  # punctuation or an ideograph: a word of its own
                    length = _symbols(text, position, position + width, kinds, entries, replacements, word)
                    count = match(word, length, units, settings, out, count)
                position += width
        offsets[document + 1] = count
    return n_documents


@inline
def _keep(cache, place, text, begin, size, ids, first, count):  # type: ignore[no-untyped-def]
    """Write a word and its ids into the slot at `place`."""
    cache[place], cache[place + 1], cache[place + 2], cache[place + 3] = stretch_key(text, begin, size)
    cache[place + ABOUT] = np.uint64(size | count << 8)
    for half in range(CACHED_TOKENS // 2):
        cache[place + IDS + half] = np.uint64(0)
    for index in range(count):
        cache[place + IDS + (index >> 1)] |= np.uint64(ids[first + index]) << np.uint64(32 * (index & 1))


@kernel
def match_words(block, data, starts, word_array, ids, offsets):  # type: ignore[no-untyped-def]
    """Tokens of words ``data[starts[w]:starts[w + 1]]`` (UTF-8), to ``ids[offsets[w]:offsets[w + 1]]``.

    `word_array`, int32, has room for the characters of the longest word.
    """
    units, settings, symbol_of = u64_in(block, UNITS), i64_in(block, SETTINGS), i32_in(block, SYMBOLS)
    text, out, word = pointer(data), pointer(ids), pointer(word_array)
    count = np.int64(0)
    offsets[0] = 0
    for number in range(len(starts) - 1):
        position, length = starts[number], np.int64(0)
        while position < starts[number + 1]:
            point, width = code_point(text, position)
            word[length] = symbol_of[point]
            length += 1
            position += width
        if length > 0:
            count = match(word, length, units, settings, out, count)
        offsets[number + 1] = count
    return count
