"""Encodes a word that is not in the word cache, as a whole or in parts; the parts are cached.

A word is cut between two characters that no token contains side by side. Cutting is exact: no merge could have
joined the two sides. It helps in Chinese, where a whole sentence is one pre-token: sentences do not repeat, but
their words do. Without it a first pass takes 1.4 (GPT-2) to 1.8 (o200k) times as long over Chinese, Japanese
and Thai.

The search that merges, `MERGER`, is compiled separately, so each model compiles only the one it uses.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Ints, i64_in, u8_in, u64_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.tables import NONE, token_id
from tokbench_subword.words.layout import WORDS
from tokbench_subword.words.parts import LONGEST_PART, find_parts, parts_at, quicker_in_parts, stands_alone
from tokbench_subword.words.safe_cuts import PIECE_SHIFT
from tokbench_subword.words.searching import Search, search_at
from tokbench_subword.words.slots import SLOTS, STATE, recall, remember


@inline
def _whole_token(block: Block, settings: Ints, text: Bytes, start: Int, length: Int) -> np.uint32:
    """The id of a word that is one token although its merges do not make it, or `NONE`.

    A model with pieces has few such tokens, usually none. Looking up all tokens before merging would make a
    first pass take 1.06 to 1.11 times as long over English and code (cl100k): half of their new words are
    tokens, but the table of all tokens does not fit in a near cache.
    """
    if length > settings[at.LONGEST]:
        return NONE
    table, blob, starts = u64_in(block, at.TOKENS), u8_in(block, at.TOKEN_BYTES), i64_in(block, at.TOKEN_STARTS)
    return token_id(table, settings[at.TOKEN_MASK], blob, starts, text, start, length)


@inline
def _merge(block: Block, text: Bytes, start: Int, end: Int, out: Ids, o: Int) -> np.int64:
    """Encode ``text[start:end]`` by merging; return the new end of `out`."""
    merger = i64_in(block, at.SETTINGS)[at.MERGER]
    return np.int64(search_at(merger, (block, text, start, end - start, out, o)))


@inline
def _encode_whole(block: Block, text: Bytes, start: Int, end: Int, out: Ids, o: Int) -> np.int64:
    """Encode a pre-token without cutting it; return the new end of `out`."""
    whole = _whole_token(block, i64_in(block, at.SETTINGS), text, start, end - start)
    if whole == NONE:
        return _merge(block, text, start, end, out, o)
    out[o] = whole
    return np.int64(o + 1)


@subroutine
def _encode_parts(block: Block, text: Bytes, start: Int, end: Int, out: Ids, o: Int) -> np.int64:
    """Encode a pre-token in parts; return the new end of `out`."""
    words = u64_in(block, WORDS)
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    parts = parts_at(block, at.CUT_CHARACTERS, at.PARTS)
    index, o = np.int64(start), np.int64(o)
    while index < end:
        point, width = code_point(text, index)
        about = parts.characters[point]
        if stands_alone(point, about):
            known = about >> PIECE_SHIFT
            if known:
                out[o] = known - 1
            o = o + 1 if known else _merge(block, text, index, index + width, out, o)
            index += width
            continue
        count = find_parts(parts, words, text, index, end)
        for k in range(count):
            stop, after = parts.ends[k], np.int64(-1)
            if stop - index == end - start:  # not cut at all, so it may be one whole token
                return _encode_whole(block, text, start, end, out, o)
            if stop - index <= LONGEST_PART:
                after = recall(words, slots, state, parts.keys, k, text, index, out, o)
            if after < 0:
                after = _merge(block, text, index, stop, out, o)
                if stop - index <= LONGEST_PART:
                    remember(words, parts.keys, k, text, index, out, o, after - o)
            o, index = after, stop
    return o


@Search
def encode_new(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: Int) -> np.int64:
    """Encode a word; return the new end of `out`.

    Words in scripts with few letters are merged as a whole, which is faster. In scripts with many characters a
    word is cut: its parts repeat, and most are in the cache.
    """
    if i64_in(block, at.SETTINGS)[at.CUT] != 0 and quicker_in_parts(text, start, length):
        return _encode_parts(block, text, start, start + length, out, o)
    return _encode_whole(block, text, start, start + length, out, o)
