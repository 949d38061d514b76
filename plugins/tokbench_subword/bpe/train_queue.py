"""The trainers' priority queue: a binary heap of pairs, most frequent first, with a rule for ties.

Entries are not moved when counts change. An entry that comes up with an outdated count is put back with the
true one; since counts of a pair only fall between two pushes, whatever comes up with its true count is the
maximum.
"""

from __future__ import annotations

import numpy as np

from tokbench_subword.bpe.ties import FIRST_SEEN, LEXICOGRAPHIC
from tokbench_subword.kernels.compiling import inline

_LOW_32 = np.int64(0xFFFFFFFF)


@inline
def _spelled_before(key_a, key_b, starts, lengths, spelling):  # type: ignore[no-untyped-def]
    """-1, 0 or 1: how the merged tokens of two pairs compare, the shorter first, then by their bytes.

    `lengths` is in symbols. ``spelling[starts[t]:starts[t + 1]]`` is token t.
    """
    a1, a2 = key_a >> 32, key_a & _LOW_32
    b1, b2 = key_b >> 32, key_b & _LOW_32
    symbols_a, symbols_b = lengths[a1] + lengths[a2], lengths[b1] + lengths[b2]
    if symbols_a != symbols_b:
        return -1 if symbols_a < symbols_b else 1
    size_a = starts[a1 + 1] - starts[a1]
    size_b = starts[b1 + 1] - starts[b1]
    total_a = size_a + starts[a2 + 1] - starts[a2]
    total_b = size_b + starts[b2 + 1] - starts[b2]
    for index in range(min(total_a, total_b)):
        byte_a = spelling[starts[a1] + index] if index < size_a else spelling[starts[a2] + index - size_a]
        byte_b = spelling[starts[b1] + index] if index < size_b else spelling[starts[b2] + index - size_b]
        if byte_a != byte_b:
            return -1 if byte_a < byte_b else 1
    if total_a != total_b:
        return -1 if total_a < total_b else 1
    return 0


@inline
def _before(count_a, key_a, extra_a, count_b, key_b, extra_b, rule, starts, lengths, spelling):  # type: ignore[no-untyped-def]
    """Whether entry a comes out of the queue before entry b."""
    if count_a != count_b:
        return count_a > count_b
    if rule == FIRST_SEEN:
        if extra_a != extra_b:
            return extra_a < extra_b
    elif rule == LEXICOGRAPHIC:
        order = _spelled_before(key_a, key_b, starts, lengths, spelling)
        if order != 0:
            return order < 0
    return key_a < key_b


@inline
def push(counts, keys, extras, size, count, key, extra, rule, starts, lengths, spelling):  # type: ignore[no-untyped-def]
    """Add an entry to a heap of `size` entries."""
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if not _before(
            count, key, extra, counts[parent], keys[parent], extras[parent], rule, starts, lengths, spelling
        ):
            break
        counts[at], keys[at], extras[at] = counts[parent], keys[parent], extras[parent]
        at = parent
    counts[at], keys[at], extras[at] = count, key, extra


@inline
def replace_top(counts, keys, extras, size, count, key, extra, rule, starts, lengths, spelling):  # type: ignore[no-untyped-def]
    """Put an entry in place of the first one of a heap of `size` entries."""
    at = np.int64(0)
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(
            counts[child + 1],
            keys[child + 1],
            extras[child + 1],
            counts[child],
            keys[child],
            extras[child],
            rule,
            starts,
            lengths,
            spelling,
        ):
            child += 1
        if not _before(
            counts[child], keys[child], extras[child], count, key, extra, rule, starts, lengths, spelling
        ):
            break
        counts[at], keys[at], extras[at] = counts[child], keys[child], extras[child]
        at = child
    counts[at], keys[at], extras[at] = count, key, extra
