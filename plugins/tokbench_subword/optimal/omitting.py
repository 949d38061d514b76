"""The value of each token of a vocabulary: how many more tokens its words would need without it.

Words are encoded in the fewest tokens. A forward pass finds a shortest path; a backward pass finds the fewest
tokens from each place to the end. Without the token from s to e, the best path either has a cut within it, or a
longer token over it. The shorter of these, minus the shortest path, is the cost of omitting the token there
(Schmidt et al. 2024). A token that another shortest path avoids costs 0, so any shortest path can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.kernels.compiling import kernel, subroutine
from tokbench.kernels.pointers import Bytes, Int, Ints, Words, pointer
from tokbench.kernels.threads import in_threads
from tokbench_subword.pipeline.trie import build_trie, descend, root_of
from tokbench_subword.unigram.paths import only_piece

_FAR = np.int64(1) << 40


FEWEST, LAST, LEFT = range(3)
"""The rows of a path, with an entry for each place in a word: the fewest tokens up to the place, the beginning
of the last of these tokens, and the fewest tokens from the place to the end.
"""


@subroutine
def _forward(data: Bytes, begin: Int, size: Int, units: Words, path: Ints) -> None:
    """Set `FEWEST` and `LAST`; of several possible last tokens, `LAST` is the longest."""
    path[FEWEST, 0] = 0
    for place in range(1, size + 1):
        path[FEWEST, place] = _FAR
    for start in range(size):
        node, cost = root_of(units), path[FEWEST, start] + 1
        for end in range(start + 1, size + 1):
            node, token = descend(units, node, np.int64(data[begin + end - 1]))
            is_token = end == start + 1 or token >= 0  # a single byte always is a token
            if is_token and cost < path[FEWEST, end]:
                path[FEWEST, end], path[LAST, end] = cost, start
            if node <= 0:
                break


@subroutine
def _backward(data: Bytes, begin: Int, size: Int, units: Words, path: Ints) -> None:
    """Set `LEFT`."""
    path[LEFT, size] = 0
    for back in range(size):
        start = size - 1 - back
        node, best = root_of(units), path[LEFT, start + 1] + 1
        for end in range(start + 1, size + 1):
            node, token = descend(units, node, np.int64(data[begin + end - 1]))
            if token >= 0:
                best = min(best, path[LEFT, end] + 1)
            if node <= 0:
                break
        path[LEFT, start] = best


@subroutine
def _without(
    data: Bytes, begin: Int, size: Int, units: Words, path: Ints, start: Int, end: Int, longest: Int
) -> np.int64:
    """The fewest tokens without the one from `start` to `end`: a cut within it, or a longer one over it."""
    least = _FAR
    for cut in range(start + 1, end):
        least = min(least, path[FEWEST, cut] + path[LEFT, cut])
    for other in range(max(np.int64(0), end - longest), start + 1):
        node = root_of(units)
        for stop in range(other + 1, size + 1):
            node, token = descend(units, node, np.int64(data[begin + stop - 1]))
            over = stop >= end and stop - other > end - start
            if over and token >= 0:
                least = min(least, path[FEWEST, other] + 1 + path[LEFT, stop])
            if node <= 0:
                break
    return least


@kernel
def _charge(
    words: tuple[Bytes, Ints, Ints], first: Int, behind: Int, units_: Words, longest: Int, charges: Ints
) -> None:
    """Add to each token's charge the cost of omitting it in the words ``first:behind``, times their counts.

    `words` are the bytes of all words, the start of each, and its count.
    """
    text, starts, counts = words
    data, units = pointer(text), pointer(units_)
    room = np.int64(1)
    for word in range(first, behind):
        room = max(room, starts[word + 1] - starts[word] + 1)
    path = np.empty((3, room), np.int64)
    for word in range(first, behind):
        begin, size = starts[word], starts[word + 1] - starts[word]
        _forward(data, begin, size, units, path)
        _backward(data, begin, size, units, path)
        end = size
        while end > 0:
            start = path[LAST, end]
            if end - start > 1:
                token = only_piece(data, begin + start, end - start, units)
                more = _without(data, begin, size, units, path, start, end, longest) - path[FEWEST, size]
                charges[token] += counts[word] * more
            end = start


def charges(tokens: Sequence[bytes], words: WordCounts, workers: int) -> NDArray[np.int64]:
    """How many more tokens `words` would need without each token, int64 ``(n,)``; 0 for unused tokens.

    `tokens` are those of two or more bytes, without NUL bytes; in addition, every byte is a token.
    """
    longest = max(map(len, tokens), default=1)
    units = build_trie({token: index for index, token in enumerate(tokens)})
    parts = np.searchsorted(words.starts, [len(words.data) * part // workers for part in range(1, workers)])

    def charged(part: tuple[int, int]) -> NDArray[np.int64]:
        found = np.zeros(len(tokens), np.int64)
        _charge((words.data, words.starts, words.counts), *part, units, longest, found)
        return found

    cuts = pairwise([0, *parts.tolist(), len(words)])
    every: NDArray[np.int64] = np.sum(in_threads(charged, cuts, workers), axis=0)
    return every
