"""The search that encodes uncached words of models with `pieces`: from bytes to pieces, then to ids."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Keys, i64_in, keep, pointer, u32_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.merging import SHORT, merge_long, merge_short
from tokbench_subword.bpe.pieces import N_BYTES, stays_apart
from tokbench_subword.bpe.tables import NONE, MergeTable, Number, merges_at
from tokbench_subword.words.searching import Search


@inline
def _if_certain(
    merge: Number, rivals: Keys, text: Bytes, place: tuple[Int, Int], word: tuple[Int, Int]
) -> np.uint32:
    """The `merge` that joins the bytes at `place` in `word`, or `NONE` if an earlier one may take some."""
    begin, end = place
    if begin > word[0]:
        merge = merge if merge < rivals[2 * (np.int64(text[begin - 1]) << 8 | text[begin])] else NONE
    if end < word[1]:
        merge = merge if merge < rivals[2 * (np.int64(text[end - 1]) << 8 | text[end]) + 1] else NONE
    return np.uint32(merge)


@inline
def _certain_merges(
    block: Block, text: Bytes, start: Int, length: Int, symbols: Keys, pieces: Keys
) -> np.int64:
    """Write the bytes of a pre-token to `symbols`, already merged where a merge is certain to happen.

    Returns the number of symbols; `pieces` is scratch space. Two bytes, or the three of a character, are
    certain to merge if every merge that could take one of them away ranks later. To find these merges, the two
    bytes at the boundary are enough: whatever the neighbouring symbol has become by then, it begins or ends
    with the same byte. Merges of the result rank later still, so it is safe to make it first.

    Without it a first pass takes 1.20 to 1.24 times as long over Russian (GPT-2, Qwen2, cl100k); without the
    characters 1.13 to 1.25 over Hindi and Thai, 1.02 to 1.06 over Chinese, Japanese and Korean (o200k).
    """
    byte_pairs, characters = u32_in(block, at.BYTE_PAIRS), u32_in(block, at.CHARACTERS)
    rivals, end = u32_in(block, at.RIVALS), start + length
    for k in range(start, end - 1):
        pair = byte_pairs[np.int64(text[k]) << 8 | text[k + 1]]
        pair = _if_certain(pair, rivals, text, (k, k + 2), (start, end))
        pieces[k - start] = text[k] if pair == NONE else pair
    pieces[length - 1] = text[end - 1]
    count, i = np.int64(0), np.int64(start)
    while i < end:
        piece = pieces[i - start]
        size = np.int64(1) + np.int64(piece >= N_BYTES)  # not a branch, which would be unpredictable
        if text[i] & 0xF0 == 0xE0 and i + 3 <= end:
            point, _ = code_point(text, i)
            whole = _if_certain(characters[point], rivals, text, (i, i + 3), (start, end))
            if whole != NONE:
                piece, size = whole, np.int64(3)
        symbols[count] = piece
        i += size
        count += 1
    return count


@inline
def merge_few(block: Block, merges: MergeTable, count: Int) -> np.int64:
    """Merge the up to `SHORT` pieces in `SYMBOLS`; return how many remain."""
    return merge_short(block, np.int64(at.SYMBOLS), count, merges, u32_in(block, at.RESULTS), NONE)


@inline
def write_pieces(block: Block, pieces: Keys, count: Int, out: Ids, o: Int, as_ids: bool) -> np.int64:
    """Write pieces to `out`, `as_ids` or as piece numbers; return the new end of `out`.

    For most pieces, id minus number is constant, which saves a lookup in slow memory: with a lookup for each, a
    first pass takes 1.2 times as long over 21 languages, 1.08 over the texts of FLORES (o200k).
    """
    if as_ids:
        settings, ids = i64_in(block, at.SETTINGS), u32_in(block, at.PIECE_IDS)
        onward, ahead = settings[at.ONWARD], settings[at.AHEAD]
        for i in range(count):
            piece = np.int64(pieces[i])
            found = np.int64(ids[min(piece, onward)])  # not a branch, which would be unpredictable
            out[o + i] = found if piece < onward else piece + ahead
    else:
        for i in range(count):
            out[o + i] = pieces[i]
    return np.int64(o + count)


@inline
def _piece_size(block: Block, piece: Number) -> np.int64:
    """The size of a piece in bytes."""
    token, starts = np.int64(u32_in(block, at.PIECE_IDS)[piece]), i64_in(block, at.TOKEN_STARTS)
    return np.int64(starts[token + 1] - starts[token])


@inline
def _merge_bytes(block: Block, merges: MergeTable, text: Bytes, start: Int, length: Int) -> np.int64:
    """Merge up to `SHORT` bytes into `SYMBOLS`; return how many pieces remain."""
    count = _certain_merges(block, text, start, length, u32_in(block, at.SYMBOLS), u32_in(block, at.KEYS))
    return merge_few(block, merges, count)


@subroutine
def _merge_windows(block: Block, merges: MergeTable, text: Bytes, start: Int, end: Int, kept: Keys) -> np.int64:
    """Merge a long pre-token window by window into the pieces `kept`; return how many, or -1 if that fails.

    A sequence of pieces is the result of merging its text if all neighbours stay apart (see `pieces`). So each
    window is merged by itself, and its pieces are kept, except those in its last quarter, where the next window
    begins. If the first piece of a window does not stay apart from the last kept piece, the kept piece is
    dropped, and the window begins at its start instead.

    A queue of all pairs would take five times as long for a megabyte of DNA or of one letter (GPT-2, o200k).
    """
    few, sides = u32_in(block, at.SYMBOLS), u32_in(block, at.PIECE_SIDES)
    count, position, tries = np.int64(0), np.int64(start), np.int64((end - start) // 16)
    while position < end:
        size = min(np.int64(SHORT), end - position)
        found = _merge_bytes(block, merges, text, position, size)
        if count > 0 and not stays_apart(sides, merges, kept[count - 1], few[0]):
            count, tries = count - 1, tries - 1
            position -= _piece_size(block, kept[count])
            if tries < 0:
                return np.int64(-1)
            continue
        until = end if position + size == end else position + size - size // 4
        first, k = count, 0
        while k < found and position + _piece_size(block, few[k]) <= until:
            position += _piece_size(block, few[k])
            kept[count] = few[k]
            count, k = count + 1, k + 1
        if count == first:  # a token is longer than the kept part of a window
            return np.int64(-1)
    return count


@inline
def write_merged(
    block: Block, merges: MergeTable, text: Bytes, start: Int, length: Int, out: Ids, o: Int, as_ids: bool
) -> np.int64:
    """Merge ``text[start:start + length]`` and write it by `write_pieces`; return the new end of `out`."""
    if length <= SHORT:
        count = _merge_bytes(block, merges, text, start, length)
        return write_pieces(block, u32_in(block, at.SYMBOLS), count, out, o, as_ids)
    array = np.empty(length, np.uint32)
    pieces = pointer(array)
    count = _merge_windows(block, merges, text, start, start + length, pieces)
    if count < 0:
        for i in range(length):
            pieces[i] = text[start + i]
        count = merge_long(pieces, length, merges)
    o = write_pieces(block, pieces, count, out, o, as_ids)
    keep(array)
    return o


@Search
def merge_pieces(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: Int) -> np.int64:
    """Encode ``text[start:start + length]`` by its merges; return the new end of `out`."""
    return write_merged(block, merges_at(block, at.PAIRS), text, start, length, out, o, True)
