"""The search for vocabularies with tokens of several words (SuperBPE): it merges and caches words first.

For them a pre-token is a sentence, and sentences rarely repeat; words do. All merges that rank before the first
merge across words happen within words, whatever the neighbouring words are. Later merges do not lead back to
one of these, since each merge ranks after those that made its two sides (see `pieces`). So the word cache keeps
the result of the early merges for each word, and the remaining merges start from a fifth as many symbols.
Without it first passes over English take 2 to 4 times as long, later ones 3 to 5 (60,000 tokens, a third
superwords).

Source of such vocabularies: Liu et al. 2025, "SuperBPE: Space Travel for Language Models".
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, i64_in, keep, pointer, u32_in, u64_in
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.merging import SHORT, merge_long
from tokbench_subword.bpe.merging_pieces import merge_few, write_merged, write_pieces
from tokbench_subword.bpe.pieces import N_BYTES, Pieces
from tokbench_subword.bpe.tables import PairTable, TokenBytes, merges_at
from tokbench_subword.words.layout import GROUP, WORDS
from tokbench_subword.words.parts import LONGEST_PART
from tokbench_subword.words.searching import Search
from tokbench_subword.words.slots import (
    SHIFT,
    SLOTS,
    STATE,
    WITHIN,
    grow_if_full,
    note_key,
    recall,
    remember,
)

_SPACE = ord(" ")
_WHITE = [9, 10, 11, 12, 13, _SPACE]
_SOME, _EARLY = 20, 8
"""At least 1 in `_SOME` pieces must be a superword, and at least 1 in `_EARLY` must come before these."""


def first_across(pieces: Pieces, tokens: TokenBytes) -> int:
    """The first piece across words: one that contains a space after a byte that is not white space.

    0 if there are few such pieces, or if they begin so early that few merges within words come before them.
    """
    space, white = tokens.blob == _SPACE, np.isin(tokens.blob, _WHITE)
    places = np.flatnonzero(space[1:] & ~white[:-1]) + 1
    holders = np.searchsorted(tokens.starts, places, side="right") - 1
    inside = holders[(places > tokens.starts[holders]) & (places < tokens.starts[-1])]
    goes_across = np.zeros(len(tokens.starts) - 1, np.bool_)
    goes_across[inside] = True
    numbers = np.flatnonzero(goes_across[pieces.ids])
    some = len(numbers) > 0 and _SOME * len(numbers) >= len(pieces.ids)
    return int(numbers[0]) if some and _EARLY * int(numbers[0]) >= len(pieces.ids) else 0


def merges_before(pieces: Pieces, across: int) -> PairTable:
    """The merges that make the pieces before `across`."""
    numbers = np.arange(N_BYTES, max(across, N_BYTES), dtype=np.int32)
    return PairTable.of(np.column_stack((pieces.sides[numbers].astype(np.int32), numbers)), numbers)


@inline
def _is_white(byte: Int) -> bool:
    return bool(byte == _SPACE or 9 <= byte <= 13)


@inline
def _word_end(text: Bytes, index: Int, end: Int) -> np.int64:
    """The end of the word that begins at `index`: the next space after a byte that is not white space."""
    stop = np.int64(index + 1)
    while stop < end and (text[stop] != _SPACE or _is_white(text[stop - 1])):
        stop += 1
    return stop


@subroutine
def _merge_word(block: Block, text: Bytes, start: Int, end: Int, out: Ids, o: Int) -> np.int64:
    """Write a word's piece numbers before any merge across words; return the new end of `out`."""
    return write_merged(block, merges_at(block, at.WITHIN_PAIRS), text, start, end - start, out, o, False)


@inline
def _merge_words(block: Block, text: Bytes, start: Int, end: Int, out: Ids, o: Int) -> np.int64:
    """`_merge_word` for all words of a text, with the word cache; returns the new end of `out`."""
    words = u64_in(block, WORDS)
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    keys, one = u64_in(block, at.PART_KEYS), np.int64(GROUP)  # after the parts' keys, which are in use
    index = np.int64(start)
    while index < end:
        stop, after = _word_end(text, index, end), np.int64(-1)
        if stop - index > LONGEST_PART:
            after = _merge_word(block, text, index, stop, out, o)
        else:
            grow_if_full(words)
            note_key(slots, state[SHIFT], keys, one, text, index, stop - index, WITHIN)
            after = recall(words, slots, state, keys, one, text, index, out, o)
            if after < 0:
                after = _merge_word(block, text, index, stop, out, o)
                remember(words, keys, one, text, index, out, o, after - o)
        o, index = after, stop
    return np.int64(o)


@Search
def merge_across(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: Int) -> np.int64:
    """`merging_pieces.merge_pieces`, but merging word by word first; return the new end of `out`."""
    end, merges = start + length, merges_at(block, at.PAIRS)
    if _word_end(text, start, end) == end:
        return write_merged(block, merges, text, start, length, out, o, True)
    count = _merge_words(block, text, start, end, out, np.int64(o)) - o
    array = np.empty(count, np.uint32)
    symbols = u32_in(block, at.SYMBOLS) if count <= SHORT else pointer(array)
    for i in range(count):
        symbols[i] = out[o + i]
    left = merge_few(block, merges, count) if count <= SHORT else merge_long(symbols, count, merges)
    after = write_pieces(block, symbols, left, out, o, True)
    keep(array)
    return after
