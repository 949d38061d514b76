"""The trainers' bookkeeping: symbols in linked records, pairs in a hash table, occurrences in chunked lists.

All of it is int32 and int64 arrays that grow by doubling, so that memory follows the text and nothing is tuned
to a corpus. The inline functions take pointers (see `kernels.pointers`); whoever calls them has seen to the
room.

**Records**, int32 ``(n, 4)``: the symbol at a position, the positions of its right and left neighbour in the
word (-1 at the ends), and the weight of the word. A weight beyond 31 bits is ``-1 - i``, and stands in
``heavy[i]``. A position that was merged into its left neighbour has the symbol -1.

**Pairs**, int64 ``(2**k, 4)``, open addressing: the key ``left << 32 | right`` (-1: free), the weighted count,
the list of occurrences as ``stamp << 32 | first chunk + 1``, and its last chunk. The stamp is the number of the
merge that last touched the pair.

**Chunks**, int32 ``(n, 4)``: three positions (-1: none) and the next chunk. Positions are never removed one by
one: a merge reads the list, drops what is no longer true, and frees the list as a whole.
"""

from __future__ import annotations

import numpy as np

from tokbench_subword.kernels.compiling import inline, kernel
from tokbench_subword.kernels.pointers import pointer

SYMBOL, NEXT, PREVIOUS, WEIGHT = range(4)
KEY, COUNT, FIRST, LAST = range(4)
LINK = 3

# Counters shared by the functions here, int64.
N_PAIRS, FREE_CHUNK, FRESH_CHUNK = range(3)

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HIGH = np.uint64(32)
_LOW_32 = np.int64(0xFFFFFFFF)


@inline
def pair_key(left, right):  # type: ignore[no-untyped-def]
    """Two symbols as one int64; ascending keys are ascending pairs."""
    return (np.int64(left) << 32) | np.int64(right)


@inline
def find_pair(pairs, mask, key):  # type: ignore[no-untyped-def]
    """Where the row of `key` begins in `pairs`, or the free row where it would go."""
    at = np.int64((np.uint64(key) * _SPREAD) >> _HIGH) & mask
    while True:
        found = pairs[4 * at]
        if found == key or found < 0:
            return 4 * at
        at = (at + 1) & mask


@inline
def weight_of(records, position, heavy):  # type: ignore[no-untyped-def]
    """How often the word of a position was seen."""
    weight = np.int64(records[4 * position + WEIGHT])
    if weight < 0:
        return heavy[-1 - weight]
    return weight


@inline
def add_occurrence(pairs, mask, chunks, counters, key, position, weight, stamp):  # type: ignore[no-untyped-def]
    """Count a pair once more and note where; returns whether it is the first time in this `stamp`.

    Takes at most one row and one chunk.
    """
    row = find_pair(pairs, mask, key)
    if pairs[row] != key:
        pairs[row] = key
        pairs[row + COUNT] = 0
        pairs[row + FIRST] = 0
        pairs[row + LAST] = -1
        counters[N_PAIRS] += 1
    pairs[row + COUNT] += weight
    head = pairs[row + FIRST]
    last = pairs[row + LAST]
    if (head & _LOW_32) != 0:
        if chunks[4 * last + 1] < 0:
            chunks[4 * last + 1] = np.int32(position)
        elif chunks[4 * last + 2] < 0:
            chunks[4 * last + 2] = np.int32(position)
        else:
            chunk = _new_chunk(chunks, counters, position)
            chunks[4 * last + LINK] = np.int32(chunk)
            pairs[row + LAST] = chunk
    else:
        chunk = _new_chunk(chunks, counters, position)
        head = (head & ~_LOW_32) | (chunk + 1)
        pairs[row + LAST] = chunk
    touched_before = (head >> 32) == stamp
    pairs[row + FIRST] = (stamp << 32) | (head & _LOW_32)
    return not touched_before


@inline
def _new_chunk(chunks, counters, position):  # type: ignore[no-untyped-def]
    """A chunk with one position: a freed one, else the next fresh one."""
    chunk = counters[FREE_CHUNK]
    if chunk >= 0:
        counters[FREE_CHUNK] = np.int64(chunks[4 * chunk + LINK])
    else:
        chunk = counters[FRESH_CHUNK]
        counters[FRESH_CHUNK] += 1
    chunks[4 * chunk] = np.int32(position)
    chunks[4 * chunk + 1] = -1
    chunks[4 * chunk + 2] = -1
    chunks[4 * chunk + LINK] = -1
    return chunk


@inline
def remove_count(pairs, mask, key, weight):  # type: ignore[no-untyped-def]
    """Count a pair `weight` times less; its list keeps the position, which will be found untrue when read."""
    row = find_pair(pairs, mask, key)
    if pairs[row] == key:
        pairs[row + COUNT] -= weight


@inline
def take_list(pairs, row):  # type: ignore[no-untyped-def]
    """The first chunk of a pair's list, or -1; the pair is left with an empty list."""
    head = pairs[row + FIRST]
    pairs[row + FIRST] = head & ~_LOW_32
    pairs[row + LAST] = -1
    return (head & _LOW_32) - 1


@inline
def read_list(chunks, chunk, positions, room):  # type: ignore[no-untyped-def]
    """Copy a list to `positions`; returns how many, or -1 where there is no `room`, and the last chunk."""
    count = np.int64(0)
    last = chunk
    while chunk >= 0:
        if count + 3 > room:
            return np.int64(-1), last
        for index in range(3):
            position = chunks[4 * chunk + index]
            if position < 0:
                break
            positions[count] = position
            count += 1
        last = chunk
        chunk = np.int64(chunks[4 * chunk + LINK])
    return count, last


@inline
def free_list(chunks, counters, chunk, last):  # type: ignore[no-untyped-def]
    """Give a whole list back."""
    chunks[4 * last + LINK] = np.int32(counters[FREE_CHUNK])
    counters[FREE_CHUNK] = chunk


@inline
def sort_positions(positions, count):  # type: ignore[no-untyped-def]
    """Sort ascending, in place. Lists are nearly always sorted already, so look first; else shell sort."""
    index = 1
    while index < count and positions[index - 1] <= positions[index]:
        index += 1
    if index >= count:
        return
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for start in range(gap, count):
            position = positions[start]
            at = start
            while at >= gap and positions[at - gap] > position:
                positions[at] = positions[at - gap]
                at -= gap
            positions[at] = position
        gap //= 3


@inline
def merge_at(  # type: ignore[no-untyped-def]
    records,
    heavy,
    pairs,
    mask,
    chunks,
    counters,
    touched,
    n_touched,
    position,
    left,
    right,
    new,
    lengths,
    longest,
    stamp,
):
    """Merge ``left right`` at `position` into `new`, if they still stand there; returns the new `n_touched`.

    The pairs with both neighbours are recounted; keys of those that gained go to `touched`, each once a stamp.
    A new pair is counted only while its two sides are shorter than `longest` together. Takes at most two rows,
    two chunks and two places in `touched`. The count of the pair itself is left alone.
    """
    if records[4 * position] != left:
        return n_touched, np.int64(0)
    second = np.int64(records[4 * position + NEXT])
    if second < 0 or records[4 * second] != right:
        return n_touched, np.int64(0)
    weight = weight_of(records, position, heavy)
    before = np.int64(records[4 * position + PREVIOUS])
    after = np.int64(records[4 * second + NEXT])
    records[4 * position] = np.int32(new)
    records[4 * position + NEXT] = np.int32(after)
    records[4 * second] = -1
    if before >= 0:
        other = np.int64(records[4 * before])
        remove_count(pairs, mask, pair_key(other, left), weight)
        if lengths[other] + lengths[new] < longest:
            key = pair_key(other, new)
            if add_occurrence(pairs, mask, chunks, counters, key, before, weight, stamp):
                touched[n_touched] = key
                n_touched += 1
    if after >= 0:
        records[4 * after + PREVIOUS] = np.int32(position)
        other = np.int64(records[4 * after])
        remove_count(pairs, mask, pair_key(right, other), weight)
        if lengths[other] + lengths[new] < longest:
            key = pair_key(new, other)
            if add_occurrence(pairs, mask, chunks, counters, key, position, weight, stamp):
                touched[n_touched] = key
                n_touched += 1
    return n_touched, weight


@kernel
def rehash(pairs, larger, chunks, counters):  # type: ignore[no-untyped-def]
    """Move the pairs into a `larger` table, freed of keys; pairs that have come to nothing are left behind."""
    old, new, lists = pointer(pairs), pointer(larger), pointer(chunks)
    mask = np.int64(len(larger) // 4 - 1)
    moved = np.int64(0)
    for at in range(0, len(pairs), 4):
        if old[at] < 0:
            continue
        first = (old[at + FIRST] & _LOW_32) - 1
        if old[at + COUNT] == 0:
            if first >= 0:
                free_list(lists, counters, first, old[at + LAST])
            continue
        row = find_pair(new, mask, old[at])
        for field in range(4):
            new[row + field] = old[at + field]
        moved += 1
    counters[N_PAIRS] = moved
