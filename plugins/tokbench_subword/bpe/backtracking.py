"""BPE without merging: the longest piece at each place, taken back where merges would not have made it.

A row of pieces is what BPE makes of its bytes exactly where no two neighbours would have become something else
together (see `pieces`). So a pre-token can be walked from left to right: take the longest piece that begins
here and may stand beside the one before; where there is none, take back the one before and try a shorter one
there. A place from which nothing leads on is marked and never tried again, which makes the time linear in the
length. For words of a few pieces this asks for far fewer pairs than merging byte by byte, and a megabyte
without a break is no special case.

All functions work on numbers of pieces, not ids; numbers below 256 are bytes, and a lower number is an earlier
merge.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, subroutine
from tokbench.kernels.hashing import spread
from tokbench.kernels.pointers import i64_in, pointer, u32_in, u64_in
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.tables import EMPTY, NONE, pair_rank

N_BYTES = np.uint32(256)
LEFT, RIGHT, PREFIX, LENGTH = range(4)
"""What the four numbers of a piece's record are: the sides of its merge, the longest piece that is a proper
prefix of it (or `NONE`), its bytes."""
MARKS = 64
"""Words of 64 marks that a thread keeps for pre-tokens of up to 64 * 63 bytes."""
_ZERO, _ONE, _SIX, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(8)
_HALF, _LOW6 = np.uint64(32), np.uint64(63)
_BYTE_NEXT = np.uint32(1)


@inline
def stays_apart(merges, left, right):  # type: ignore[no-untyped-def]
    """Whether BPE leaves the pieces `left` and `right` as they are when they stand side by side.

    `merges` are pointers to the records and the pair table with its filter, and the table's shift.

    Goes back in time: of the two symbols at the boundary, the later one is taken apart again, until both are
    bytes. At each step no merge of the two may have come before the merge that ended it.
    """
    records, pairs, bloom, shift = merges
    limit = NONE
    while True:
        if pair_rank(pairs, bloom, shift, left, right) < limit:
            return False
        if left < N_BYTES and right < N_BYTES:
            return True
        if left > right:
            limit = left
            left = records[(np.int64(left) << 2) + RIGHT]
        else:
            limit = right + _BYTE_NEXT  # of equal merges the left one goes first
            right = records[(np.int64(right) << 2) + LEFT]


@inline
def child(trie, shift, mask, node, byte):  # type: ignore[no-untyped-def]
    """The node that `byte` leads to from `node` of the trie, or `NONE`."""
    key = (np.uint64(node) << _EIGHT) | np.uint64(byte)
    i = np.int64(spread(key) >> shift)
    while True:
        entry = trie[i]
        if (entry >> _HALF) == key:
            return np.uint32(entry)
        if entry == EMPTY:
            return NONE
        i = (i + 1) & mask


@inline
def longest(prefixes, text, i, end):  # type: ignore[no-untyped-def]
    """The longest piece that begins at byte `i` of ``text[:end]``.

    `prefixes` are pointers to the trie and to the nodes of two bytes, the trie's shift, and how many of its
    nodes are pieces: those of lower numbers.
    """
    trie, second, shift, n_pieces = prefixes
    mask = (np.int64(1) << np.int64(np.uint64(64) - shift)) - 1
    found = np.uint32(text[i])
    if i + 1 >= end:
        return found
    node = second[(np.int64(text[i]) << 8) | text[i + 1]]
    i += 2
    while node != NONE:
        if node < n_pieces:
            found = node
        if i >= end:
            break
        node = child(trie, shift, mask, node, text[i])
        i += 1
    return found


@inline
def encode_pieces(prefixes, merges, marks, text, start, end, out, o):  # type: ignore[no-untyped-def]
    """Write the numbers of the pieces of ``text[start:end]`` from ``out[o]`` on; return the new end.

    `marks` are bits, all zero, one for each byte of the text and one more.
    """
    records = merges[0]
    begin, i = o, start
    piece = longest(prefixes, text, i, end)
    while True:
        record = np.int64(piece) << 2
        stop = i + np.int64(records[record + LENGTH])
        place = np.uint64(stop - start)
        fits = (marks[np.int64(place >> _SIX)] >> (place & _LOW6)) & _ONE == _ZERO
        if fits and o > begin:
            fits = stays_apart(merges, np.uint32(out[o - 1]), piece)
        if fits:
            out[o] = piece
            o += 1
            i = stop
            if i == end:
                return o
            piece = longest(prefixes, text, i, end)
            continue
        piece = records[record + PREFIX]
        if piece == NONE:  # nothing leads on from here
            place = np.uint64(i - start)
            marks[np.int64(place >> _SIX)] |= _ONE << (place & _LOW6)
            o -= 1
            piece = np.uint32(out[o])
            i -= np.int64(records[(np.int64(piece) << 2) + LENGTH])


@subroutine
def backtrack(block, text, start, end, out, o):  # type: ignore[no-untyped-def]
    """Encode ``text[start:end]``: ids from ``out[o]`` on; return the new end."""
    settings, ids = i64_in(block, at.SETTINGS), u32_in(block, at.PIECE_IDS)
    trie_shift, pair_shift = np.uint64(settings[at.TRIE_SHIFT]), np.uint64(settings[at.PAIR_SHIFT])
    n_pieces = np.uint32(settings[at.N_PIECES])
    prefixes = (u64_in(block, at.TRIE), u32_in(block, at.SECOND), trie_shift, n_pieces)
    merges = (u32_in(block, at.RECORDS), u64_in(block, at.PAIRS), u32_in(block, at.BLOOM), pair_shift)
    begin = o
    words = ((end - start) >> 6) + 1
    if words <= MARKS:
        marks = u64_in(block, at.MARKS)
        for i in range(words):
            marks[i] = _ZERO
        o = encode_pieces(prefixes, merges, marks, text, start, end, out, o)
    else:
        array = np.zeros(words, np.uint64)
        o = encode_pieces(prefixes, merges, pointer(array), text, start, end, out, o)
        o += 0 * len(array)  # the array is used up to here, so that numba frees it no earlier
    for i in range(begin, o):
        out[i] = ids[np.int64(out[i])]
    return o
