"""A vocabulary as a double-array trie over UTF-8 bytes: one comparison and two loads for each byte of a word.

Every node is a row of `nodes`: ``nodes[n, 0]`` is its base, ``nodes[n, 1]`` the node it is a child of. The
child of `n` by byte `b` is ``base + b`` if that row names `n` as its parent. A base is kept as ``base << 1 |
final``; `values` has the token id of final nodes. Aoe, "An efficient digital search algorithm by using a
double-array structure" (1989).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.kernels.compiling import inline, kernel

ROOT = 0
NOWHERE = -1
_FREE = -1
_TRIES = 48
"""How many free rows are tried for a family of children before it is put at the end; the gaps are filled later.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Trie:
    """`nodes` is int32 of shape ``(n, 2)``, `values` int32 ``(n,)``; see above."""

    nodes: NDArray[np.int32]
    values: NDArray[np.int32]

    @classmethod
    def of(cls, vocabulary: Mapping[bytes, int]) -> Trie:
        """The trie of a vocabulary; the empty token is no path and is left out.

        Example:
            >>> trie = Trie.of({b"un": 0, b"unhappy": 1})
            >>> trie.get(b"un"), trie.get(b"unh"), trie.walk(b"x")
            (0, None, -1)
        """
        entries = sorted((key, value) for key, value in vocabulary.items() if key)
        keys = np.frombuffer(b"".join(key for key, _ in entries) + b"\0", np.uint8)
        ends = np.zeros(len(entries) + 1, np.int64)
        np.cumsum([len(key) for key, _ in entries], out=ends[1:])
        ids = np.array([value for _, value in entries] or [0], np.int32)
        capacity = 1024 + 2 * len(keys)
        while True:
            nodes = np.empty((capacity, 2), np.int32)
            values = np.full(capacity, NOWHERE, np.int32)
            size = int(_build(keys, ends, ids, len(entries), nodes, values))
            if size >= 0:
                # Room for any child of the last node: a look-up never leaves the array.
                return cls(nodes[: size + 256].copy(), values[: size + 256].copy())
            capacity *= 2

    def walk(self, path: bytes, start: int = ROOT) -> int:
        """The node that `path` leads to from `start`, or -1."""
        node = start
        for byte in path:
            child = (int(self.nodes[node, 0]) >> 1) + byte
            if int(self.nodes[node, 0]) >> 1 == 0 or self.nodes[child, 1] != node:
                return NOWHERE
            node = child
        return node

    def get(self, key: bytes) -> int | None:
        """The id of one token."""
        node = self.walk(key)
        return None if node < 0 or self.values[node] < 0 else int(self.values[node])


@kernel
def _build(keys, ends, ids, n_keys, nodes, values):  # type: ignore[no-untyped-def]
    """Place every node, depth first; returns one more than the last used row, or -1 where the room is too
    small.

    Free rows form a doubly linked list, so that looking for room never walks over taken ones.
    """
    capacity = nodes.shape[0]
    nodes[:, 0] = 0
    nodes[:, 1] = _FREE
    nodes[0, 1] = -2  # the root is taken, and nobody's child
    after = np.arange(1, capacity + 1).astype(np.int32)  # row 0 is the head of the list
    before = np.arange(-1, capacity - 1).astype(np.int32)
    # Nodes waiting to be placed: siblings along one path.
    longest = np.int64(0)
    for key in range(n_keys):
        longest = max(longest, ends[key + 1] - ends[key])
    stack = np.empty((256 * (longest + 2), 4), np.int64)
    labels = np.empty(256, np.int64)
    firsts = np.empty(257, np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, n_keys, 0  # node, keys below it, depth
    waiting = 1
    size = np.int64(1)
    while waiting > 0:
        waiting -= 1
        node, low, high, depth = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        if low < high and ends[low + 1] - ends[low] == depth:
            values[node] = ids[low]
            nodes[node, 0] |= 1
            low += 1
        if low >= high:
            continue
        n_labels = 0
        last = np.int64(-1)
        for key in range(low, high):
            label = np.int64(keys[ends[key] + depth])
            if label != last:
                labels[n_labels] = label
                firsts[n_labels] = key
                n_labels += 1
                last = label
        firsts[n_labels] = high
        base = _free_base(nodes, after, labels, n_labels, size)
        if base + 256 >= capacity:
            return -1
        nodes[node, 0] |= base << 1
        for index in range(n_labels):
            child = base + labels[index]
            nodes[child, 1] = node
            after[before[child]] = after[child]
            if after[child] < capacity:
                before[after[child]] = before[child]
            size = max(size, child + 1)
        for index in range(n_labels - 1, -1, -1):
            stack[waiting, 0], stack[waiting, 1] = base + labels[index], firsts[index]
            stack[waiting, 2], stack[waiting, 3] = firsts[index + 1], depth + 1
            waiting += 1
    return size


@inline
def _free_base(nodes, after, labels, n_labels, size):  # type: ignore[no-untyped-def]
    """A base, not 0, at which the rows of all children are free: among the first free rows, or at the end."""
    row = np.int64(after[0])
    for _ in range(_TRIES):
        base = row - labels[0]
        if row >= size:
            break
        if base > 0:
            index = 1
            while index < n_labels and nodes[base + labels[index], 1] == _FREE:
                index += 1
            if index == n_labels:
                return base
        row = np.int64(after[row])
    return max(np.int64(1), size - labels[0])
