"""The search of WordPiece: greedy longest match over one pre-token, for the word cache (`words.searching`)."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Ints, Words, i64_in, u64_in
from tokbench_subword.pipeline.trie import descend, root_of
from tokbench_subword.words.layout import MODEL, WORD_KEYS, WORDS
from tokbench_subword.words.searching import Search
from tokbench_subword.words.slots import LONGEST_WORD, remember

UNITS, SETTINGS = range(MODEL, MODEL + 2)
"""The arrays of a model in the block of `words.layout`."""
CONTINUATION, UNK, LIMIT, BYTES = range(4)
"""Members of SETTINGS, int64: the base of what continues a word, 0 for nothing; the unknown id; the longest
word; and whether that is counted in bytes, each of which is a character of the byte alphabet."""


@inline
def _too_long(text: Bytes, start: Int, length: Int, settings: Ints) -> bool:
    """Whether a word has more characters than the limit."""
    if length <= settings[LIMIT]:
        return False
    if settings[BYTES] == 1:
        return True
    characters = 0
    for i in range(start, start + length):
        characters += (text[i] & 0xC0) != 0x80
    return characters > settings[LIMIT]


@inline
def _match(text: Bytes, start: Int, length: Int, units: Words, settings: Ints, out: Ids, o: int) -> int:
    """Write the tokens of a word; return the new end of `out`.

    From each place the longest token, from the root at the beginning of the word and from the base of what
    continues one after it. Where nothing matches, the whole word is one unknown token; so it is where it is too
    long.
    """
    unk = np.int32(settings[UNK])
    if _too_long(text, start, length, settings):
        out[o] = unk
        return o + 1
    count, at, stop = o, start, start + length
    node = root_of(units)
    while at < stop:
        best = np.int64(-1)
        i = end = at
        while i < stop and node > 0:
            node, token = descend(units, node, np.int64(text[i]))
            if node < 0:
                break
            i += 1
            if token >= 0:
                best, end = token, i
        if end == at:
            out[o] = unk
            return o + 1
        out[count] = best
        count += 1
        at, node = end, settings[CONTINUATION]
    return count


@Search
def match_word(block: Block, text: Bytes, start: Int, length: Int, k: Int, count: Int, out: Ids, o: int) -> int:
    """Encode word `k` of a group, and keep it; return the new end of `out`."""
    after = _match(text, start, length, u64_in(block, UNITS), i64_in(block, SETTINGS), out, o)
    if length <= LONGEST_WORD:
        keys = u64_in(block, WORD_KEYS)
        remember(u64_in(block, WORDS), keys[2 * k], keys[2 * k + 1], text, start, out, o, after - o)
    return after
