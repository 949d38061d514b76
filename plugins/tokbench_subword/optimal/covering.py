"""How GreedTok encodes a word: its tokens cover the word in the order in which training chose them.

A token covers a place unless an earlier one crosses one of its ends; the earlier tokens within it are replaced.
The places of one token are tried from left to right (Lim et al. 2025).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Ints, Words, i32_in, u64_in
from tokbench_subword.optimal.wordwise import WordwiseModel
from tokbench_subword.pipeline.trie import build_trie, descend, root_of
from tokbench_subword.words.encoder import Arrays
from tokbench_subword.words.layout import MODEL
from tokbench_subword.words.searching import Search

UNITS, LENGTHS, BYTE_IDS = MODEL, MODEL + 1, MODEL + 2
"""The arrays: the trie of tokens of two or more bytes; the length of each token by id; the id of each byte."""
_PLACE = np.int64(1) << 40
"""A match is one number: the token times this, plus the beginning of the match."""


@inline
def _matches(units: Words, text: Bytes, start: Int, length: Int, found: Ints) -> np.int64:
    """Write every match of a token in a word to `found`, unless that is empty; return the number of matches."""
    count = np.int64(0)
    for begin in range(length):
        node = root_of(units)
        for place in range(begin, length):
            node, token = descend(units, node, np.int64(text[start + place]))
            if token >= 0:
                if len(found) > 0:
                    found[count] = token * _PLACE + begin
                count += 1
            if node <= 0:
                break
    return count


@Search
def cover_word(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: int) -> int:
    """Encode a word; return the new end of `out`."""
    units, lengths, byte_ids = u64_in(block, UNITS), i32_in(block, LENGTHS), i32_in(block, BYTE_IDS)
    found = np.empty(_matches(units, text, start, length, np.empty(0, np.int64)), np.int64)
    token_at = np.empty(length + 1, np.int64)  # the token that begins at a byte, or -1
    for place in range(length):
        token_at[place] = byte_ids[text[start + place]]
    token_at[length] = 0  # any value but -1: no token crosses the end of the word
    if len(found) > 0:
        _matches(units, text, start, length, found)
        found.sort()
        for index in range(len(found)):
            token, begin = found[index] // _PLACE, found[index] % _PLACE
            end = begin + lengths[token]
            if token_at[begin] >= 0 and token_at[end] >= 0:  # no token crosses either end
                token_at[begin] = token
                for place in range(begin + 1, end):
                    token_at[place] = -1
    after = o
    for place in range(length):
        if token_at[place] >= 0:
            out[after] = np.int32(token_at[place])
            after += 1
    return after


@dataclass(frozen=True, kw_only=True, eq=False)
class CoverModel(WordwiseModel):
    """A GreedTok model: the ids of the vocabulary are in the order in which training chose the tokens."""

    kind = "GreedTok"
    ending = ".greedtok"
    why = "no model of a tokenizer.json covers words by tokens in a given order"
    search = cover_word

    def shared(self) -> Arrays:
        """The arrays for `cover_word`."""
        ids = {token: index for token, index in self.ids.items() if len(token) > 1}
        return (
            build_trie(ids),
            np.array([*map(len, self.vocabulary), 0], np.int32),
            np.array([self.ids[bytes([byte])] for byte in range(256)], np.int32),
        )
