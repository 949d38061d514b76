"""`MergeSession`: the arrays of one training, grown as the kernel asks, and the merges it learns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.bpe import train_merges as loop
from tokbench_subword.bpe.ties import LEXICOGRAPHIC
from tokbench_subword.bpe.train_pairs import FREE_CHUNK, rehash
from tokbench_subword.kernels.compiling import announce

Number = TypeVar("Number", bound=np.generic)

_PAUSE = 2000
"""Merges between two reports of progress."""
_INT32 = 2**31 - 1


class MergeSession:
    """Learns merges over words of symbols.

    `symbols` is int32, the symbols of all words one after another; `starts` and `counts` as in `WordCounts`.
    ``tokens[i]`` spells symbol i (bytes); `prefix` is what a token drops where it is joined to one before it,
    for those that carry it. No merge spells one of `forbidden`. A pair of sides that together have `longest`
    first symbols or more is not merged, unless both are first symbols (as in `tokenizers`).
    """

    def __init__(
        self,
        symbols: NDArray[np.int32],
        starts: NDArray[np.int64],
        counts: NDArray[np.int64],
        *,
        tokens: Sequence[bytes],
        n_wanted: int,
        rule: int,
        minimum: int = 0,
        longest: int | None = None,
        prefix: bytes = b"",
        forbidden: Sequence[bytes] = (),
    ) -> None:
        announce(loop.learn_merges)
        self.rule, self.minimum = rule, minimum
        self.longest = np.int64(2**62 if longest is None else longest)
        self.n_wanted = max(n_wanted, len(tokens))
        self.records, self.heavy = _records(symbols, starts, counts)
        n_symbols = len(symbols)
        self.pairs = _pair_table(max(10, (n_symbols // 16).bit_length()))
        self.chunks = np.empty(4 * (n_symbols // 2 + 256), np.int32)
        self.heap_counts, self.heap_keys, self.heap_extras = (np.empty(1024, np.int64) for _ in range(3))
        self.positions = np.empty(max(4096, n_symbols // 16), np.int32)
        self.touched = np.empty(4096, np.int64)
        self.merges = np.empty(3 * (self.n_wanted - len(tokens) + 1024), np.int32)
        self.state = np.zeros(loop.STATE_SIZE, np.int64)
        self.state[FREE_CHUNK] = -1
        self.state[loop.N_TOKENS] = len(tokens)
        self._spell(tokens, prefix, forbidden)

    def _spell(self, tokens: Sequence[bytes], prefix: bytes, forbidden: Sequence[bytes]) -> None:
        self.lengths = np.ones(self.n_wanted, np.int64)
        self.token_hashes = np.zeros((self.n_wanted, 3), np.uint64)
        capacity = 1 << (2 * (self.n_wanted + len(forbidden)) + 8).bit_length()
        self.spelled = np.zeros(capacity, np.uint64)
        self.spelled_ids = np.zeros(capacity, np.int32)
        self.starts = np.zeros(self.n_wanted + 1 if self.rule == LEXICOGRAPHIC else 1, np.int64)
        self.spelling = (
            np.frombuffer(b"".join(tokens), np.uint8) if self.rule == LEXICOGRAPHIC else np.zeros(1, np.uint8)
        )
        if self.rule == LEXICOGRAPHIC:
            self.starts[1 : len(tokens) + 1] = np.cumsum([len(token) for token in tokens])
        for index, token in enumerate(tokens):
            added = token.removeprefix(prefix) or token
            self.token_hashes[index] = (_hash(token), _hash(added), len(added))
            self._enter(token, index)
        for token in forbidden:
            self._enter(token, loop.NOT_A_TOKEN)

    def _enter(self, token: bytes, index: int) -> None:
        mask, value = len(self.spelled) - 1, _hash(token)
        at = (int(value) >> 20) & mask
        while self.spelled[at] and self.spelled[at] != value:
            at = (at + 1) & mask
        self.spelled[at], self.spelled_ids[at] = value, index

    def run(self, progress: Callable[[float], None] = lambda fraction: None) -> NDArray[np.int32]:
        """Learn until the wanted number of tokens; int32 ``(n, 3)``: left, right, result, first symbols from 0
        on.
        """
        n_first = int(self.state[loop.N_TOKENS])
        pause_at = _PAUSE
        growers = self._growers()
        while True:
            reason = int(self._step(pause_at))
            if reason == loop.DONE:
                break
            if reason == loop.PAUSED:
                pause_at += _PAUSE
                progress((int(self.state[loop.N_TOKENS]) - n_first) / max(1, self.n_wanted - n_first))
            else:
                growers[reason]()
        return self.merges[: 3 * int(self.state[loop.N_MERGES])].reshape(-1, 3).copy()

    def _step(self, pause_at: int) -> int:
        reason: int = loop.learn_merges(
            self.records,
            self.heavy,
            self.pairs,
            self.chunks,
            self.heap_counts,
            self.heap_keys,
            self.heap_extras,
            self.positions,
            self.touched,
            self.lengths,
            self.token_hashes.reshape(-1),
            self.spelled,
            self.spelled_ids,
            self.starts,
            self.spelling,
            self.merges,
            self.state,
            self.rule,
            self.minimum,
            self.longest,
            self.n_wanted,
            pause_at,
        )
        return reason

    def _growers(self) -> dict[int, Callable[[], None]]:
        """What makes room, by what the kernel stopped for."""
        return {
            loop.PAIRS_FULL: self._grow_pairs,
            loop.CHUNKS_FULL: self._grow_chunks,
            loop.HEAP_FULL: self._grow_heap,
            loop.POSITIONS_FULL: self._grow_positions,
            loop.TOUCHED_FULL: self._grow_touched,
            loop.MERGES_FULL: self._grow_merges,
            loop.SPELLING_FULL: self._grow_spelling,
        }

    def _grow_pairs(self) -> None:
        larger = _pair_table((len(self.pairs) // 4).bit_length())
        rehash(self.pairs, larger, self.chunks, self.state)
        self.pairs = larger

    def _grow_chunks(self) -> None:
        self.chunks = grown(self.chunks, unit=4)

    def _grow_heap(self) -> None:
        self.heap_counts = grown(self.heap_counts)
        self.heap_keys = grown(self.heap_keys)
        self.heap_extras = grown(self.heap_extras)

    def _grow_positions(self) -> None:
        self.positions = grown(self.positions)

    def _grow_touched(self) -> None:
        self.touched = grown(self.touched)

    def _grow_merges(self) -> None:
        self.merges = grown(self.merges, unit=3)

    def _grow_spelling(self) -> None:
        self.spelling = grown(self.spelling, more=4096)


def _hash(token: bytes) -> np.uint64:
    value = loop.spelling_hash(np.frombuffer(token, np.uint8))
    return np.uint64(value)


def _pair_table(bits: int) -> NDArray[np.int64]:
    pairs = np.empty((1 << bits, 4), np.int64)
    pairs[:, 0] = -1
    return pairs.reshape(-1)


def grown(array: NDArray[Number], *, unit: int = 1, more: int = 0) -> NDArray[Number]:
    """The array in a larger one: half as much again."""
    rows = len(array) // unit
    larger = np.empty((rows + rows // 2 + 64) * unit + more, array.dtype)
    larger[: len(array)] = array
    return larger


def _records(
    symbols: NDArray[np.int32], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The linked records of all words, and the weights that do not fit into them."""
    n = len(symbols)
    records = np.empty((n, 4), np.int32)
    records[:, 0] = symbols
    records[:, 1] = np.arange(1, n + 1, dtype=np.int32)
    records[:, 2] = np.arange(-1, n - 1, dtype=np.int32)
    begins = starts[:-1][np.diff(starts) > 0]
    records[begins, 2] = -1
    records[begins[1:] - 1, 1] = -1
    if n:
        records[n - 1, 1] = -1
    too_heavy = np.flatnonzero(counts > _INT32)
    weights = np.minimum(counts, _INT32).astype(np.int32)
    weights[too_heavy] = -1 - np.arange(len(too_heavy), dtype=np.int32)
    records[:, 3] = np.repeat(weights, np.diff(starts))
    heavy = counts[too_heavy] if len(too_heavy) else np.zeros(1, np.int64)
    return records.reshape(-1), heavy
