"""A vocabulary as a double-array trie over bytes: one load and one comparison for each of a word.

The symbol of a byte is its value and one. A node's children sit at ``base + symbol``; a unit carries the symbol
it was reached by, so that a wrong guess is seen without a second table (Aoe, "An efficient digital search
algorithm by using a double-array structure", 1989; no two nodes share a base, which makes the symbol a
sufficient check). The rows below the number of symbols stay empty: that is where the children of a node without
a base, 0, would be.

    bits  0..20   the symbol that leads here, `EMPTY` for a row that is not in use
    bit  21       a token ends here
    bit  22       no token goes on from here
    bits 23..63   base of the children; at the end of a token that none goes on from, its id

Where a token ends and others go on, its id is in the row of the base itself, where no child can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel

SYMBOL_MASK = (1 << 21) - 1
EMPTY = SYMBOL_MASK
FINAL, LEAF = 1 << 21, 1 << 22
BASE_SHIFT = 23
ROOT = 0
NOWHERE = -1
_N_SYMBOLS = 256
_TRIES = 48
"""How many free rows are tried for a family of children before it is put at the end; the gaps are filled later.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Trie:
    """`units` is uint64 of shape ``(n,)``; see above."""

    units: NDArray[np.uint64]

    @classmethod
    def of(cls, vocabulary: Mapping[str, int]) -> Trie:
        """The trie of a vocabulary; the empty token is no path and is left out.

        Example:
            >>> trie = Trie.of({"un": 0, "unhappy": 1})
            >>> trie.get("un"), trie.get("unh"), trie.walk(b"x")
            (0, None, -1)
        """
        return cls.of_keys({_utf8(token): index for token, index in vocabulary.items()})

    @classmethod
    def of_keys(cls, vocabulary: Mapping[bytes, int]) -> Trie:
        """The same of bytes."""
        keys = sorted(key for key in vocabulary if key)
        symbols = np.frombuffer(b"".join(keys), np.uint8) + np.int32(1)
        ends = np.zeros(len(keys) + 1, np.int64)
        np.cumsum([len(key) for key in keys], out=ends[1:])
        ids = np.array([vocabulary[key] for key in keys], np.int32)
        capacity = 1024 + 2 * len(symbols)
        while True:
            units = np.full(capacity, EMPTY, np.uint64)
            size = int(_build(symbols, ends, ids, _N_SYMBOLS, units))
            if size >= 0:
                # Room for any child of the last node: a look-up never leaves the array.
                return cls(units[: size + _N_SYMBOLS + 1].copy())
            capacity *= 2

    def walk(self, path: bytes, start: int = ROOT) -> int:
        """The node that `path` leads to from `start`, or -1."""
        node = start
        for byte in path:
            symbol, base = byte + 1, self.base(node)
            node = base + symbol
            if not base or int(self.units[node]) & SYMBOL_MASK != symbol:
                return NOWHERE
        return node

    def base(self, node: int) -> int:
        """Where the children of a node are, 0 where it has none."""
        unit = int(self.units[node]) if node != NOWHERE else LEAF
        return 0 if unit & LEAF else unit >> BASE_SHIFT

    def get(self, key: str) -> int | None:
        """The id of one token."""
        node = self.walk(_utf8(key))
        unit = int(self.units[node]) if node != NOWHERE else 0
        if not unit & FINAL:
            return None
        return unit >> BASE_SHIFT if unit & LEAF else int(self.units[unit >> BASE_SHIFT]) >> BASE_SHIFT


def _utf8(token: str) -> bytes:
    return token.encode("utf-8", "surrogatepass")


@kernel
def _build(keys, ends, ids, n_symbols, units):  # type: ignore[no-untyped-def]
    """Place every node, depth first; returns one more than the last used row, or -1 where the room is too
    small.

    Free rows form a doubly linked list, so that looking for room never walks over taken ones.
    """
    capacity, n_keys = len(units), len(ids)
    used_bases = np.zeros(capacity, np.uint8)
    after = np.arange(1, capacity + 1).astype(np.int32)  # row 0 is the head of the list
    before = np.arange(-1, capacity - 1).astype(np.int32)
    after[0], before[n_symbols + 1] = n_symbols + 1, 0
    # Nodes waiting to be placed: siblings along one path.
    stack = np.empty((1024, 4), np.int64)
    labels = np.empty(n_symbols + 1, np.int64)
    firsts = np.empty(n_symbols + 2, np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, n_keys, 0  # node, keys below it, depth
    waiting = 1
    size = np.int64(n_symbols + 1)
    while waiting > 0:
        waiting -= 1
        node, low, high, depth = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        n_labels = 0
        final = low < high and ends[low + 1] - ends[low] == depth
        if final:
            units[node] |= np.uint64(FINAL)
            low += 1
            if low >= high:
                units[node] |= np.uint64(LEAF) | np.uint64(ids[low - 1]) << np.uint64(BASE_SHIFT)
                continue
            labels[0], firsts[0], n_labels = 0, low, 1  # the row of the base is for the id
        if low >= high:
            continue
        last = np.int64(-1)
        for key in range(low, high):
            label = np.int64(keys[ends[key] + depth])
            if label != last:
                labels[n_labels] = label
                firsts[n_labels] = key
                n_labels += 1
                last = label
        firsts[n_labels] = high
        base = _free_base(units, after, used_bases, labels, n_labels, size)
        if base + n_symbols + 1 >= capacity:
            return -1
        used_bases[base] = 1
        units[node] |= np.uint64(base) << np.uint64(BASE_SHIFT)
        for index in range(n_labels):
            child = base + labels[index]
            units[child] = np.uint64(labels[index])
            if labels[index] == 0:
                units[child] = np.uint64(EMPTY | FINAL) | np.uint64(ids[low - 1]) << np.uint64(BASE_SHIFT)
            after[before[child]] = after[child]
            if after[child] < capacity:
                before[after[child]] = before[child]
            size = max(size, child + 1)
        if waiting + n_labels > len(stack):
            grown = np.empty((2 * (waiting + n_labels), 4), np.int64)
            for row in range(waiting):  # not as slices, which take two seconds to compile
                for k in range(4):
                    grown[row, k] = stack[row, k]
            stack = grown
        for index in range(n_labels - 1, 0 if final else -1, -1):
            stack[waiting, 0], stack[waiting, 1] = base + labels[index], firsts[index]
            stack[waiting, 2], stack[waiting, 3] = firsts[index + 1], depth + 1
            waiting += 1
    return size


@inline
def _free_base(units, after, used_bases, labels, n_labels, size):  # type: ignore[no-untyped-def]
    """A base nobody has at which all children have free rows: among the first free ones, or at the end."""
    row = np.int64(after[0])
    for _ in range(_TRIES):
        if row >= size or row + labels[n_labels - 1] >= len(units):
            break
        base = row - labels[0]
        if used_bases[base] == 0:
            index = 1
            while index < n_labels and units[base + labels[index]] == np.uint64(EMPTY):
                index += 1
            if index == n_labels:
                return base
        row = np.int64(after[row])
    base = size - labels[0]
    while used_bases[base] != 0:
        base += 1
    return base
