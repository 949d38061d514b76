"""The merge loop: take the first pair from the queue, merge it everywhere, count anew what that touched.

`learn_merges` is a kernel that stops whenever an array is full, says which, and continues where it was when
called again with a larger one. So the arrays start small, grow by doubling, and fit any corpus; and the caller
can report progress in between.
"""

from __future__ import annotations

import numpy as np

from tokbench_subword.bpe.ties import FIRST_SEEN, HF, LEXICOGRAPHIC
from tokbench_subword.bpe.train_pairs import (
    COUNT,
    FIRST,
    FREE_CHUNK,
    FRESH_CHUNK,
    LINK,
    N_PAIRS,
    NEXT,
    add_occurrence,
    find_pair,
    free_list,
    merge_at,
    pair_key,
    read_list,
    sort_positions,
    take_list,
    weight_of,
)
from tokbench_subword.bpe.train_queue import push, replace_top
from tokbench_subword.kernels.compiling import inline, kernel
from tokbench_subword.kernels.pointers import pointer

# State, int64; the first three belong to `train_pairs`.
HEAP_SIZE, N_TOKENS, N_MERGES, STAGE = range(3, 7)
AT, N_POSITIONS, N_TOUCHED, LEFT, RIGHT, NEW, ROW, N_DRAINED = range(7, 15)
STATE_SIZE = 16

# Stages of the loop.
COUNTING, QUEUING, CHOOSING, MERGING, DRAINING = range(5)

# What the kernel stopped for.
DONE, PAUSED, PAIRS_FULL, CHUNKS_FULL, HEAP_FULL, POSITIONS_FULL, TOUCHED_FULL, MERGES_FULL, SPELLING_FULL = (
    range(9)
)

_BASE = np.uint64(0xD6E8FEB86659FD93)  # odd, of the polynomial that tells spelled tokens apart
_ONE = np.uint64(1)
_FREE = np.uint64(0)
NOT_A_TOKEN = -2
"""The id in the table of spellings that forbids a token: a merge never makes the text of a special token."""


@inline
def _power(exponent):  # type: ignore[no-untyped-def]
    """`_BASE` to a power, modulo 2**64."""
    result, base = _ONE, _BASE
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@inline
def find_spelling(hashes, mask, value):  # type: ignore[no-untyped-def]
    """Where a spelling's hash is in the table of spellings, or where it would go; 0 means free."""
    at = np.int64(value >> np.uint64(20)) & mask
    while hashes[at] != value and hashes[at] != _FREE:
        at = (at + 1) & mask
    return at


@inline
def enter_token(token_hashes, spelled, spelled_ids, mask, lengths, state, left, right):  # type: ignore[no-untyped-def]
    """The token that a pair spells: a known one, `NOT_A_TOKEN`, or the next new one, entered in the tables."""
    added = np.int64(token_hashes[3 * right + 2])
    shift = _power(added)
    value = token_hashes[3 * left] * shift + token_hashes[3 * right + 1]
    place = find_spelling(spelled, mask, value)
    if spelled[place] == value:
        return np.int64(spelled_ids[place])
    new = state[N_TOKENS]
    state[N_TOKENS] += 1
    spelled[place] = value
    spelled_ids[place] = np.int32(new)
    token_hashes[3 * new] = value
    token_hashes[3 * new + 1] = token_hashes[3 * left + 1] * shift + token_hashes[3 * right + 1]
    token_hashes[3 * new + 2] = token_hashes[3 * left + 2] + token_hashes[3 * right + 2]
    lengths[new] = lengths[left] + lengths[right]
    return new


@inline
def _spell(starts, spelling, new, left, right):  # type: ignore[no-untyped-def]
    """Write down the bytes of a new token, after those of all tokens before it."""
    end = starts[new]
    for part in (left, right):
        for index in range(starts[part], starts[part + 1]):
            spelling[end] = spelling[index]
            end += 1
    starts[new + 1] = end


@kernel
def spelling_hash(data):  # type: ignore[no-untyped-def]
    """The hash of a token's bytes (uint8 array), by which equal tokens built from unequal pairs are one."""
    value = np.uint64(0)
    for byte in data:
        value = value * _BASE + np.uint64(byte) + _ONE
    return value


@inline
def _first_live(records, chunks, chunk, left, right):  # type: ignore[no-untyped-def]
    """The lowest position in a list at which the pair still stands, or -1."""
    lowest = np.int64(-1)
    while chunk >= 0:
        for index in range(3):
            position = np.int64(chunks[4 * chunk + index])
            if position < 0:
                break
            if records[4 * position] == left and (lowest < 0 or position < lowest):
                second = np.int64(records[4 * position + NEXT])
                if second >= 0 and records[4 * second] == right:
                    lowest = position
        chunk = np.int64(chunks[4 * chunk + LINK])
    return lowest


@inline
def _extra(rule, records, chunks, pairs, row):  # type: ignore[no-untyped-def]
    """What an entry carries beside count and key: its list (hf), or where the pair comes first (first_seen)."""
    if rule == HF:
        return take_list(pairs, row)
    if rule == FIRST_SEEN:
        first = (pairs[row + FIRST] & np.int64(0xFFFFFFFF)) - 1
        return _first_live(records, chunks, first, pairs[row] >> 32, pairs[row] & np.int64(0xFFFFFFFF))
    return np.int64(0)


@kernel
def learn_merges(  # type: ignore[no-untyped-def]
    records_,
    heavy_,
    pairs_,
    chunks_,
    heap_counts_,
    heap_keys_,
    heap_extras_,
    positions_,
    touched_,
    lengths_,
    token_hashes_,
    spelled_,
    spelled_ids_,
    starts_,
    spelling_,
    merges_,
    state_,
    rule,
    minimum,
    longest,
    n_wanted,
    pause_at,
):
    """Learn merges until there are `n_wanted` tokens, none is left, or `pause_at` merges; returns why it
    stopped.

    `records_`, `heavy_`, `pairs_` and `chunks_` are as `train_pairs` says. ``lengths_[t]`` is the length of
    token t in first symbols, ``token_hashes_[t]`` (uint64, ``(n, 3)``) the hash of its spelling, that of what
    it adds to the token before it (without its prefix), and how many bytes that is; `spelled_` and
    `spelled_ids_` are the table of spellings. ``starts_`` and `spelling_` hold the spellings themselves, where
    `rule` needs them. `merges_` is int32 ``(n, 3)``. A pair seen less than `minimum` times is not merged; see
    `train_pairs.merge_at` for `longest`.
    """
    records, heavy, pairs, chunks = pointer(records_), pointer(heavy_), pointer(pairs_), pointer(chunks_)
    heap_counts, heap_keys, heap_extras = pointer(heap_counts_), pointer(heap_keys_), pointer(heap_extras_)
    positions, touched, lengths = pointer(positions_), pointer(touched_), pointer(lengths_)
    token_hashes, spelled, spelled_ids = pointer(token_hashes_), pointer(spelled_), pointer(spelled_ids_)
    starts, spelling, merges, state = pointer(starts_), pointer(spelling_), pointer(merges_), pointer(state_)
    mask = np.int64(len(pairs_) // 4 - 1)
    most_pairs = len(pairs_) // 4 * 5 // 8
    most_chunks = len(chunks_) // 4
    most_entries = len(heap_counts_)
    spelled_mask = np.int64(len(spelled_) - 1)
    size = state[HEAP_SIZE]

    if state[STAGE] == COUNTING:
        at = state[AT]
        n_records = len(records_) // 4
        while at < n_records:
            second = np.int64(records[4 * at + NEXT])
            if second >= 0:
                if state[N_PAIRS] >= most_pairs:
                    state[AT] = at
                    return PAIRS_FULL
                if state[FRESH_CHUNK] >= most_chunks:
                    state[AT] = at
                    return CHUNKS_FULL
                key = pair_key(records[4 * at], records[4 * second])
                add_occurrence(pairs, mask, chunks, state, key, at, weight_of(records, at, heavy), 0)
            at += 1
        state[AT] = 0
        state[STAGE] = QUEUING

    if state[STAGE] == QUEUING:
        if state[N_PAIRS] > most_entries:
            return HEAP_FULL
        for row in range(0, len(pairs_), 4):
            if pairs[row] >= 0 and pairs[row + COUNT] > 0:
                extra = _extra(rule, records, chunks, pairs, row)
                count, key = pairs[row + COUNT], pairs[row]
                push(
                    heap_counts,
                    heap_keys,
                    heap_extras,
                    size,
                    count,
                    key,
                    extra,
                    rule,
                    starts,
                    lengths,
                    spelling,
                )
                size += 1
        state[HEAP_SIZE] = size
        state[STAGE] = CHOOSING

    while True:
        if state[STAGE] == CHOOSING:
            if state[N_TOKENS] >= n_wanted or size == 0:
                return DONE
            if state[N_MERGES] >= pause_at:
                return PAUSED
            if state[N_MERGES] >= len(merges_) // 3:
                return MERGES_FULL
            key = heap_keys[0]
            row = find_pair(pairs, mask, key)
            count = pairs[row + COUNT] if pairs[row] == key else np.int64(0)
            left, right = key >> 32, key & np.int64(0xFFFFFFFF)
            extra = heap_extras[0]
            if rule == FIRST_SEEN and count > 0:
                first = (pairs[row + FIRST] & np.int64(0xFFFFFFFF)) - 1
                extra = _first_live(records, chunks, first, left, right)
            if count != heap_counts[0] or extra != heap_extras[0]:
                if count > 0:
                    replace_top(
                        heap_counts,
                        heap_keys,
                        heap_extras,
                        size,
                        count,
                        key,
                        extra,
                        rule,
                        starts,
                        lengths,
                        spelling,
                    )
                else:
                    size = _drop_top(
                        heap_counts,
                        heap_keys,
                        heap_extras,
                        size,
                        rule,
                        starts,
                        lengths,
                        spelling,
                        chunks,
                        state,
                    )
                    state[HEAP_SIZE] = size
                continue
            if count < minimum:
                return DONE
            chain = extra if rule == HF else (pairs[row + FIRST] & np.int64(0xFFFFFFFF)) - 1
            n_positions, last = read_list(chunks, chain, positions, len(positions_))
            if n_positions < 0:
                return POSITIONS_FULL
            if rule == LEXICOGRAPHIC:
                total = starts[left + 1] - starts[left] + starts[right + 1] - starts[right]
                if starts[state[N_TOKENS]] + total > len(spelling_):
                    return SPELLING_FULL
            if chain >= 0:
                if rule != HF:
                    take_list(pairs, row)
                free_list(chunks, state, chain, last)
            # The entry's list, if it had one, has been given back: nothing of it is left to drop.
            size -= 1
            if size > 0:
                moved = size
                replace_top(
                    heap_counts,
                    heap_keys,
                    heap_extras,
                    size,
                    heap_counts[moved],
                    heap_keys[moved],
                    heap_extras[moved],
                    rule,
                    starts,
                    lengths,
                    spelling,
                )
            state[HEAP_SIZE] = size
            new = enter_token(token_hashes, spelled, spelled_ids, spelled_mask, lengths, state, left, right)
            if new == NOT_A_TOKEN:
                continue
            if rule == LEXICOGRAPHIC and new == state[N_TOKENS] - 1:
                _spell(starts, spelling, new, left, right)
            number = state[N_MERGES]
            merges[3 * number], merges[3 * number + 1] = np.int32(left), np.int32(right)
            merges[3 * number + 2] = np.int32(new)
            state[N_MERGES] = number + 1
            sort_positions(positions, n_positions)
            state[N_POSITIONS], state[LEFT], state[RIGHT], state[NEW] = n_positions, left, right, new
            state[AT], state[N_TOUCHED], state[N_DRAINED] = 0, 0, 0
            state[STAGE] = MERGING

        if state[STAGE] == MERGING:
            at, n_positions, n_touched = state[AT], state[N_POSITIONS], state[N_TOUCHED]
            left, right, new, stamp = state[LEFT], state[RIGHT], state[NEW], state[N_MERGES]
            own = np.int64(0)
            full = DONE
            while at < n_positions:
                if state[N_PAIRS] + 2 > most_pairs:
                    full = PAIRS_FULL
                    break
                free = state[FREE_CHUNK]
                if state[FRESH_CHUNK] + 2 > most_chunks and (free < 0 or chunks[4 * free + LINK] < 0):
                    full = CHUNKS_FULL
                    break
                if n_touched + 2 > len(touched_):
                    full = TOUCHED_FULL
                    break
                n_touched, weight = merge_at(
                    records,
                    heavy,
                    pairs,
                    mask,
                    chunks,
                    state,
                    touched,
                    n_touched,
                    np.int64(positions[at]),
                    left,
                    right,
                    new,
                    lengths,
                    longest,
                    stamp,
                )
                own += weight
                at += 1
            if rule != HF:
                row = find_pair(pairs, mask, pair_key(left, right))
                if pairs[row] >= 0:
                    pairs[row + COUNT] -= own
            state[AT], state[N_TOUCHED] = at, n_touched
            if full != DONE:
                return full
            state[STAGE] = DRAINING

        if state[STAGE] == DRAINING:
            drained = state[N_DRAINED]
            while drained < state[N_TOUCHED]:
                if size >= most_entries:
                    state[N_DRAINED], state[HEAP_SIZE] = drained, size
                    return HEAP_FULL
                row = find_pair(pairs, mask, touched[drained])
                if pairs[row] >= 0 and pairs[row + COUNT] > 0:
                    extra = _extra(rule, records, chunks, pairs, row)
                    count, key = pairs[row + COUNT], pairs[row]
                    if rule != HF or extra >= 0:
                        push(
                            heap_counts,
                            heap_keys,
                            heap_extras,
                            size,
                            count,
                            key,
                            extra,
                            rule,
                            starts,
                            lengths,
                            spelling,
                        )
                        size += 1
                drained += 1
            state[HEAP_SIZE] = size
            state[STAGE] = CHOOSING


@inline
def _drop_top(counts, keys, extras, size, rule, starts, lengths, spelling, chunks, state):  # type: ignore[no-untyped-def]
    """Take out the first entry, of a pair that is no more, and give back its list; returns the new size."""
    if rule == HF and extras[0] >= 0:
        last = extras[0]
        while chunks[4 * last + LINK] >= 0:
            last = np.int64(chunks[4 * last + LINK])
        free_list(chunks, state, extras[0], last)
    size -= 1
    if size > 0:
        replace_top(
            counts, keys, extras, size, counts[size], keys[size], extras[size], rule, starts, lengths, spelling
        )
    return size
