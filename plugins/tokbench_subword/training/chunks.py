"""Merges learned from long sequences of ids (`bpe.continuing`), cut first wherever no merge will reach across.

Two new tokens stand side by side at most as often as the two given tokens at their border did. So where those
did so less often than the last merge will be seen, no merge crosses the border, and it may be cut: no count
that decides anything changes. What is left of a text is chunks of a few tokens and, above all, few different
pairs (90 thousand of 2.5 million in 100 MB of English), so that their table fits the processor's caches: the
merges of superwords take a third of the time.

How often the last merge will be seen is guessed, and checked afterwards. So is that no token was made by two
merges, as two kinds of borders would then count as one. If either is wrong, the training begins anew.
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
"""Counters of borders. Many pairs share a counter, which says at least as much as each of them has."""
_SHIFT, _HIGH = np.uint64(64 - 20), np.uint64(32)
_BORDERS_A_MERGE = 4
"""The guess: of n merges, the last is seen at least as often as pair 4 n in a list of all pairs by count. For
English, pair 2.4 n would do.
"""
_LOWER = 4


@inline
def _bucket(left: Int, right: Int) -> np.int64:
    """The counter of two tokens."""
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
    """Write the chunks of two tokens or more behind the `count` already there; returns how many there are then.

    Without a branch, since no processor can guess which borders are `rare` (a bit for each counter): every
    token is written, and `cut` and `kept`, 0 or 1, set where the next one goes.
    """
    ids, rare, chunks, ends = pointer(ids_), pointer(rare_), pointer(chunks_), pointer(chunk_starts)
    start = end = ends[count]
    for sequence in range(len(starts) - 1):
        last = starts[sequence + 1] - 1
        for place in range(starts[sequence], last + 1):
            chunks[end] = ids[place]
            end += 1
            bucket = _bucket(ids[place], ids[min(place + 1, last)])  # nothing behind the last is read
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
    """What a `MergeSession` learns from the ids of some documents, each seen once.

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
    """A session over the chunks between rare borders."""
    count: Int = 0
    n_ids, bits = sum(len(batch.ids) for batch in batches), np.packbits(rare, bitorder="little")
    chunks, starts = np.empty(n_ids + 1, np.int32), np.zeros(n_ids // 2 + 1, np.int64)
    for batch in batches:
        count = _cut(batch.ids, batch.offsets, bits, count, chunks, starts)
    return MergeSession(chunks[: starts[count]], starts[: count + 1], np.ones(count, np.int64), **options)
