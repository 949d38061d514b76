"""Pieces: the tokens that merges can reach, numbered in the order of their merges, and the tables over them.

BPE takes the merge of lowest rank first. In a vocabulary whose every merge comes after those that made its two
sides, three things follow, and the `backtracking` encoder stands on them:

- A token is reached by one merge at most, however many ways there are to cut it in two: what happens inside its
  bytes before that does not depend on their surroundings. All other merges never happen and can be left out.
- Which of two pieces was made first is a comparison of their numbers.
- A row of pieces is what BPE makes of its bytes exactly where each piece stays as it is beside the next one.

`Pieces.of` finds the one merge of each token, in order of rank: the first whose two sides stay apart under all
merges before. A vocabulary where some merge is out of this order has no `Pieces`, and is encoded by `merging`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.hashing import spread
from tokbench.kernels.pointers import pointer
from tokbench_subword.bpe.backtracking import LEFT, LENGTH, PREFIX, RIGHT, child, encode_pieces, stays_apart
from tokbench_subword.bpe.tables import (
    EMPTY,
    NONE,
    PairTable,
    TokenTable,
    enter_pair,
    power_of_two,
)

_MOST_NODES = (1 << 24) - 1
N_BYTES = 256
_EIGHT, _HALF = np.uint64(8), np.uint64(32)


@kernel
def _number(merges, ranks, byte_ids, number_of, ids, records, table, bloom, shift):  # type: ignore[no-untyped-def]
    """Number the bytes and then every token by its merge; fill the pair table.

    ``merges`` are in order of `ranks`. Returns how many pieces there are, or -1 where two tokens share a rank.
    """
    pairs, filter_, rows = pointer(table), pointer(bloom), pointer(records)
    for byte in range(N_BYTES):
        ids[byte], number_of[byte_ids[byte]] = byte_ids[byte], byte
        rows[4 * byte + LEFT] = rows[4 * byte + RIGHT] = byte
        rows[4 * byte + LENGTH] = 1
    count, last = N_BYTES, np.int64(-1)
    for m in range(len(merges)):
        left, right = number_of[merges[m, 0]], number_of[merges[m, 1]]
        if left == NONE or right == NONE or number_of[merges[m, 2]] != NONE:
            continue
        if not stays_apart((rows, pairs, filter_, shift), left, right):
            continue
        if ranks[m] == last:
            return -1
        last = np.int64(ranks[m])
        ids[count], number_of[merges[m, 2]] = merges[m, 2], count
        rows[4 * count + LEFT], rows[4 * count + RIGHT] = left, right
        rows[4 * count + LENGTH] = rows[4 * np.int64(left) + LENGTH] + rows[4 * np.int64(right) + LENGTH]
        enter_pair(pairs, filter_, shift, left, right, np.uint32(count))
        count += 1
    return count


@inline
def _enter_child(trie, shift, mask, node, byte, entered):  # type: ignore[no-untyped-def]
    key = (np.uint64(node) << _EIGHT) | np.uint64(byte)
    i = np.int64(spread(key) >> shift)
    while trie[i] != EMPTY:
        i = (i + 1) & mask
    trie[i] = (key << _HALF) | np.uint64(entered)


@kernel
def _grow_trie(blob, starts, ids, order, records, table, shift):  # type: ignore[no-untyped-def]
    """Enter the bytes of every piece, shorter ones first, and note its longest prefix; return how many nodes.

    A piece's node has the piece's number; nodes that are no piece come after them.
    """
    trie, mask, n_pieces = pointer(table), len(table) - 1, len(ids)
    nodes = n_pieces
    for k in range(len(order)):
        piece = order[k]
        begin, end = starts[ids[piece]], starts[ids[piece] + 1]
        prefix = records[4 * piece + LEFT]
        node = prefix
        for i in range(begin + records[4 * np.int64(prefix) + LENGTH], end - 1):
            following = child(trie, shift, mask, node, blob[i])
            if following == NONE:
                following = np.uint32(nodes)
                _enter_child(trie, shift, mask, node, blob[i], following)
                nodes += 1
            elif following < n_pieces:
                prefix = following
            node = following
        _enter_child(trie, shift, mask, node, blob[end - 1], np.uint32(piece))
        records[4 * piece + PREFIX] = prefix
    return nodes


@kernel
def _enter_edges(edges, table, shift, second):  # type: ignore[no-untyped-def]
    """Enter the edges of a trie in a table of another size, and those from single bytes in `second`."""
    trie, mask = pointer(table), len(table) - 1
    for k in range(len(edges)):
        node, byte = np.int64(edges[k] >> np.uint64(40)), np.int64(edges[k] >> _HALF) & 255
        _enter_child(trie, shift, mask, np.uint32(node), byte, np.uint32(edges[k]))
        if node < N_BYTES:
            second[(node << 8) | byte] = np.uint32(edges[k])


@kernel
def _happen(tokens, unreached, number_of, merges, firsts, trie_and_merges, shifts):  # type: ignore[no-untyped-def]
    """Whether some merge of a token that is no piece would happen, and its piece is missed.

    ``unreached[k]`` has the merges from ``firsts[k]`` to ``firsts[k + 1]``. The first of all such merges in any
    text would find its two sides as the pieces of the token's own bytes.
    """
    blob, starts = tokens
    trie, second, records, table, bloom, ids = trie_and_merges
    prefixes = (pointer(trie), pointer(second), shifts[0], np.uint32(len(ids)))
    made = (pointer(records), pointer(table), pointer(bloom), shifts[1])
    for k in range(len(unreached)):
        start, end = starts[unreached[k]], starts[unreached[k] + 1]
        marks, out = np.zeros((end - start) // 64 + 1, np.uint64), np.empty(end - start, np.uint32)
        count = encode_pieces(prefixes, made, pointer(marks), pointer(blob), start, end, pointer(out), 0)
        for m in range(firsts[k], firsts[k + 1]):
            if count == 2 and number_of[merges[m, 0]] == out[0] and number_of[merges[m, 1]] == out[1]:
                return True
        count += 0 * (
            len(marks) + len(out)
        )  # the arrays are used up to here, so that numba frees them no earlier
    return False


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """`ids` of the pieces by number, their `records` (uint32, four each), and the tables of `backtracking`."""

    ids: NDArray[np.uint32]
    records: NDArray[np.uint32]
    pairs: PairTable
    trie: NDArray[np.uint64]
    trie_shift: int
    second: NDArray[np.uint32]

    def byte_pairs(self) -> NDArray[np.uint32]:
        """The number of the piece that two bytes make, by ``left << 8 | right``."""
        left, right = self.records[LEFT::4], self.records[RIGHT::4]
        made = np.flatnonzero((left < N_BYTES) & (right < N_BYTES))[N_BYTES:]
        pairs = np.full(1 << 16, NONE, np.uint32)
        pairs[left[made] << 8 | right[made]] = made
        return pairs

    def rivals(self, tokens: TokenTable) -> NDArray[np.uint32]:
        """The earliest merges that could part two bytes, in pairs by ``left << 8 | right`` of a boundary.

        First, of merges across the boundary, the least number where the right side is that byte alone; then
        the least where the left side is.
        """
        found = np.full((1 << 16, 2), NONE, np.uint32)
        made = np.arange(N_BYTES, len(self.ids))
        left, right = self.records[LEFT::4][made], self.records[RIGHT::4][made]
        before = tokens.blob[tokens.starts[self.ids[left].astype(np.int64) + 1] - 1].astype(np.int64)
        after = tokens.blob[tokens.starts[self.ids[right]]].astype(np.int64)
        boundary = before << 8 | after
        for side, alone in enumerate((right < N_BYTES, left < N_BYTES)):
            np.minimum.at(found[:, side], boundary[alone], made[alone].astype(np.uint32))
        return found.reshape(-1)

    @classmethod
    def none(cls) -> Pieces:
        """No pieces, where merging encodes."""
        nothing = np.zeros(0, np.uint32)
        return cls(nothing, nothing, PairTable.empty(0), np.zeros(0, np.uint64), 0, nothing)

    @classmethod
    def of(
        cls,
        tokens: TokenTable,
        merges: NDArray[np.int32],
        ranks: NDArray[np.int32],
        byte_ids: NDArray[np.uint32],
    ) -> Pieces | None:
        """The pieces of a vocabulary with its bytes' ids `byte_ids`; None where merges are out of order."""
        order = np.argsort(ranks, kind="stable")
        merges, ranks = np.ascontiguousarray(merges[order]), np.ascontiguousarray(ranks[order])
        results = len(np.unique(merges[:, 2])) if len(merges) else 0
        pairs = PairTable.empty(results)
        shift = np.uint64(pairs.shift)
        number_of = np.full(len(tokens.starts) - 1, NONE, np.uint32)
        ids = np.zeros(N_BYTES + results, np.uint32)
        records = np.full(4 * len(ids), NONE, np.uint32)
        count = _number(merges, ranks, byte_ids, number_of, ids, records, pairs.table, pairs.bloom, shift)
        if count < 0:
            return None
        ids, records = ids[:count].copy(), records[: 4 * count].copy()
        lengths = records[LENGTH::4]
        by_length = np.argsort(lengths[N_BYTES:], kind="stable") + N_BYTES
        most = int(lengths[records[RIGHT::4]].sum())
        if most > _MOST_NODES:
            return None
        room = np.full(power_of_two(2 * most), EMPTY, np.uint64)
        room_shift = np.uint64(65 - len(room).bit_length())
        _grow_trie(tokens.blob, tokens.starts, ids, by_length, records, room, room_shift)
        edges = room[room != EMPTY]
        trie = np.full(power_of_two(2 * len(edges)), EMPTY, np.uint64)
        trie_shift = 65 - len(trie).bit_length()
        second = np.full(1 << 16, NONE, np.uint32)
        _enter_edges(edges, trie, np.uint64(trie_shift), second)
        rest = merges[number_of[merges[:, 2]] == NONE]
        rest = np.ascontiguousarray(rest[np.argsort(rest[:, 2], kind="stable")])
        unreached, firsts = np.unique(rest[:, 2], return_index=True)
        firsts = np.append(firsts, len(rest))
        happens = _happen(
            (tokens.blob, tokens.starts),
            unreached,
            number_of,
            rest,
            firsts,
            (trie, second, records, pairs.table, pairs.bloom, ids),
            (np.uint64(trie_shift), shift),
        )
        return None if happens else cls(ids, records, pairs, trie, trie_shift, second)
