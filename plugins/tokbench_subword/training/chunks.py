"""Learns merges from long sequences of ids (`bpe.continuing`), first cut wherever no merge will cross.

Two new tokens are neighbours at most as often as the two given tokens at their border were. So if two given
tokens are neighbours less often than the count of the last merge, no merge crosses their border. Cutting there
does not change any count that matters. The rest of a text is chunks of a few tokens with, above all, few
different pairs (90 thousand of 2.5 million in 100 MB of English). Their table fits the processor's caches, and
merging superwords takes a third of the time.

The count of the last merge is a guess, which is checked afterwards. A second check is that no token was made by
two merges, since two kinds of borders would then count as one. If either check fails, training starts again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.hashing import spread
from tokbench.kernels.pointers import Bytes, Ids, Int, Ints, pointer
from tokbench_subword.training.session import MergeSession

_BUCKETS = 1 << 20
"""The number of border counters. Pairs share counters, so a counter is an upper bound for each of its pairs."""
_SHIFT, _HIGH = np.uint64(64 - 20), np.uint64(32)
_BORDERS_A_MERGE = 4
"""The guess: the last of n merges has at least the count of pair 4 n in the list of all pairs, sorted by count.
For English, pair 2.4 n would be enough.
"""
_LOWER = 4


@inline
def _bucket(left: Int, right: Int) -> np.int64:
    """The index of the counter for two neighbouring tokens."""
    return np.int64(spread((np.uint64(left) << _HIGH) | np.uint64(right)) >> _SHIFT)


@kernel
def _count_borders(ids_: Ids, starts: Ints, borders_: Ints) -> None:
    """Add the borders of all sequences to the counters."""
    ids, borders = pointer(ids_), pointer(borders_)
    for sequence in range(len(starts) - 1):
        for place in range(starts[sequence], starts[sequence + 1] - 1):
            borders[_bucket(ids[place], ids[place + 1])] += 1


@kernel
def _cut(ids_: Ids, starts: Ints, rare_: Bytes, count: Int, chunks_: Ids, chunk_starts: Ints) -> Int:
    """Append the chunks of at least two tokens to the `count` existing ones; return the new number of chunks.

    `rare_` has a bit for each counter. The loop has no branch on it, since that branch would be unpredictable:
    every token is written, and `cut` and `kept`, 0 or 1, determine where the next one goes.
    """
    ids, rare, chunks, ends = pointer(ids_), pointer(rare_), pointer(chunks_), pointer(chunk_starts)
    start = end = ends[count]
    for sequence in range(len(starts) - 1):
        last = starts[sequence + 1] - 1
        for place in range(starts[sequence], last + 1):
            chunks[end] = ids[place]
            end += 1
            bucket = _bucket(ids[place], ids[min(place + 1, last)])  # never reads past the last id
            cut = np.int64(place == last) | (np.int64(rare[bucket >> 3]) >> (bucket & 7)) & 1
            kept = cut & np.int64(end > start + 1)
            count += kept
            start += (end - start) & -kept
            end += (start - end) & -cut
            ends[count] = start
    return count


def learn_from_sequences(
    batches: Sequence[TokenBatch],
    *,
    tokens: Sequence[bytes],
    n_wanted: int,
    minimum: int,
    progress: Callable[[float], None] = lambda share: None,
    **options: Any,
) -> NDArray[np.int32]:
    """The merges that a `MergeSession` learns from the ids of documents, each counted once.

    The other arguments are those of `training.session.MergeSession`.
    """
    wanted = n_wanted - len(tokens)
    borders = np.zeros(_BUCKETS, np.int64)
    for batch in batches:
        _count_borders(batch.ids, batch.offsets, borders)
    place = max(0, _BUCKETS - 1 - _BORDERS_A_MERGE * wanted)
    minimum = max(minimum, 1)
    least = max(minimum, int(np.partition(borders, place)[place]))
    while True:
        options.update(tokens=tokens, n_wanted=n_wanted, minimum=max(least, minimum), made_once=least > 1)
        merges = _session(batches, borders < least, **options).run(progress)
        made_once = np.array_equal(merges[:, 2], np.arange(len(tokens), len(tokens) + len(merges)))
        enough = len(merges) == wanted or least == minimum
        if least == 1 or (made_once and enough):
            return merges
        least = max(minimum, least // _LOWER) if made_once else 1


def _session(batches: Sequence[TokenBatch], rare: NDArray[np.bool_], **options: Any) -> MergeSession:
    """A `MergeSession` over the chunks between rare borders."""
    count: Int = 0
    n_ids, bits = sum(len(batch.ids) for batch in batches), np.packbits(rare, bitorder="little")
    chunks, starts = np.empty(n_ids + 1, np.int32), np.zeros(n_ids // 2 + 1, np.int64)
    for batch in batches:
        count = _cut(batch.ids, batch.offsets, bits, count, chunks, starts)
    return MergeSession(chunks[: starts[count]], starts[: count + 1], np.ones(count, np.int64), **options)
