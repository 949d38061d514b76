"""The merge loop: take the first pair from the queue, merge it everywhere, count anew what that touched.

`learn_merges` is a kernel that stops whenever an array is full, says which, and continues where it was when
called again with a larger one. So the arrays start small and fit any corpus; and the caller can report progress
in between.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import i32_in, i64_in, u8_in
from tokbench_subword.training.layout import (
    APPLYING,
    CELLS,
    CHOOSING,
    COUNT,
    DONE,
    DRAINING,
    HEAP_COUNTS,
    HEAP_EXTRAS,
    HEAP_FULL,
    HEAP_KEYS,
    HEAP_SIZE,
    LEFT,
    MERGES,
    MERGES_FULL,
    MINIMUM,
    N_MERGES,
    N_PAIRS,
    N_TOKENS,
    N_TOUCHED,
    N_WANTED,
    NEW,
    OWN,
    PAIRS,
    PAUSE_AT,
    PAUSED,
    QUEUING,
    RIGHT,
    RULE,
    RUN,
    RUNS,
    SIZES,
    SPELLING,
    SPELLING_FULL,
    STAGE,
    STARTS,
    STATE,
    TOUCHED,
    WAITING,
    WAITING_FULL,
    WAITING_USED,
)
from tokbench_subword.training.pairs import find_pair, first_standing, pair_key, sides, take_runs
from tokbench_subword.training.queue import call_waiting, drop_top, enqueue, queue_again
from tokbench_subword.training.rewrite import apply, rewrite, take_positions
from tokbench_subword.training.spelling import NOT_A_TOKEN, enter_token
from tokbench_subword.training.ties import FIRST_SEEN, HF, LEXICOGRAPHIC


@inline
def _extra(block, row):  # type: ignore[no-untyped-def]
    """What an entry carries beside count and key: its runs (hf), or where the pair comes first (first_seen)."""
    pairs, rule = i64_in(block, PAIRS), i64_in(block, STATE)[RULE]
    if rule == HF:
        return take_runs(pairs, row)
    if rule == FIRST_SEEN:
        left, right = sides(pairs[row])
        return first_standing(i32_in(block, CELLS), i32_in(block, RUNS), pairs[row + RUN], left, right)
    return np.int64(0)


@inline
def spell(block, left, right, new):  # type: ignore[no-untyped-def]
    """Write down the bytes of a new token, after those of all tokens before it."""
    starts, spelling = i64_in(block, STARTS), u8_in(block, SPELLING)
    end = starts[new]
    for part in (left, right):
        for index in range(starts[part], starts[part + 1]):
            spelling[end] = spelling[index]
            end += 1
    starts[new + 1] = end


@inline
def note_merge(block, left, right, new):  # type: ignore[no-untyped-def]
    """Write down a merge, and make it the one at hand."""
    merges, state = i32_in(block, MERGES), i64_in(block, STATE)
    number = state[N_MERGES]
    merges[3 * number], merges[3 * number + 1] = np.int32(left), np.int32(right)
    merges[3 * number + 2] = np.int32(new)
    state[N_MERGES] = number + 1
    state[LEFT], state[RIGHT], state[NEW] = left, right, new


@inline
def why_stop(state, sizes):  # type: ignore[no-untyped-def]
    """Before a merge: `DONE` where nothing is left to do, a reason to pause, or -1."""
    if state[N_TOKENS] >= state[N_WANTED] or state[HEAP_SIZE] == 0:
        return DONE
    if state[N_MERGES] >= state[PAUSE_AT]:
        return PAUSED
    if state[N_MERGES] >= sizes[MERGES] // 3:
        return MERGES_FULL
    return -1


@inline
def fill_queue(block):  # type: ignore[no-untyped-def]
    """Queue the pairs of the corpus as it is; `WAITING_FULL` where there is no room."""
    state, sizes, pairs = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, PAIRS)
    if 4 * state[N_PAIRS] > sizes[WAITING]:
        return WAITING_FULL
    for row in range(0, sizes[PAIRS], 4):
        if pairs[row] >= 0 and pairs[row + COUNT] > 0:
            enqueue(block, pairs[row + COUNT], pairs[row], _extra(block, row))
    return DONE


@inline
def queue_touched(block):  # type: ignore[no-untyped-def]
    """Queue the pairs that a merge made; returns what has no room, changing nothing then."""
    state, sizes, pairs = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, PAIRS)
    touched, rule = i64_in(block, TOUCHED), state[RULE]
    if state[HEAP_SIZE] + state[N_TOUCHED] > sizes[HEAP_KEYS]:
        return HEAP_FULL
    if state[WAITING_USED] + 4 * (state[N_TOUCHED] + state[HEAP_SIZE]) > sizes[WAITING]:
        return WAITING_FULL
    for index in range(state[N_TOUCHED]):
        row = touched[index]
        if pairs[row + COUNT] > 0:
            extra = _extra(block, row)
            if rule != HF or extra >= 0:
                enqueue(block, pairs[row + COUNT], pairs[row], extra)
    return DONE


@inline
def no_room_to_spell(block, left, right):  # type: ignore[no-untyped-def]
    """Whether the bytes of a pair have no place behind those of all tokens."""
    state, sizes, starts = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, STARTS)
    total = starts[left + 1] - starts[left] + starts[right + 1] - starts[right]
    return starts[state[N_TOKENS]] + total > sizes[SPELLING]


@inline
def _choose(block):  # type: ignore[no-untyped-def]
    """Take the next merge from the queue and make it the one at hand; returns -1, or what to stop for."""
    state, sizes, pairs = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, PAIRS)
    counts, keys, extras = i64_in(block, HEAP_COUNTS), i64_in(block, HEAP_KEYS), i64_in(block, HEAP_EXTRAS)
    rule, mask = state[RULE], sizes[PAIRS] // 4 - 1
    while True:
        if not call_waiting(block):
            return HEAP_FULL
        reason = why_stop(state, sizes)
        if reason >= 0:
            return reason
        key = keys[0]
        left, right = sides(key)
        row = find_pair(pairs, mask, key)
        count = pairs[row + COUNT] if pairs[row] == key else np.int64(0)
        extra = extras[0]
        if rule == FIRST_SEEN and count > 0:
            extra = _extra(block, row)
        if count != counts[0] or extra != extras[0]:
            if count > 0:
                queue_again(block, count, key, extra)
            else:
                drop_top(block)
            continue
        if count < state[MINIMUM]:
            return DONE
        reason = take_positions(block, extra if rule == HF else pairs[row + RUN])
        if reason != DONE:
            return reason
        if rule == LEXICOGRAPHIC and no_room_to_spell(block, left, right):
            return SPELLING_FULL
        take_runs(pairs, row)
        drop_top(block)
        n_tokens = state[N_TOKENS]
        new = enter_token(block, left, right)
        if new == NOT_A_TOKEN:
            continue
        if rule == LEXICOGRAPHIC and new == n_tokens:
            spell(block, left, right, new)
        note_merge(block, left, right, new)
        return -1


@kernel
def learn_merges(block):  # type: ignore[no-untyped-def]
    """Learn merges until there are `N_WANTED` tokens, none is left, or `PAUSE_AT` merges; returns why it
    stopped. The arrays are those of `layout`.
    """
    state, sizes, pairs = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, PAIRS)
    mask, rule = sizes[PAIRS] // 4 - 1, state[RULE]

    if state[STAGE] == QUEUING:
        reason = fill_queue(block)
        if reason != DONE:
            return reason
        state[STAGE] = CHOOSING

    while True:
        if state[STAGE] == CHOOSING:
            reason = _choose(block)
            if reason >= 0:
                return reason
            rewrite(block)
            if rule != HF:
                pairs[find_pair(pairs, mask, pair_key(state[LEFT], state[RIGHT])) + COUNT] -= state[OWN]
            state[STAGE] = APPLYING

        if state[STAGE] == APPLYING:
            reason = apply(block)
            if reason != DONE:
                return reason
            state[STAGE] = DRAINING

        reason = queue_touched(block)
        if reason != DONE:
            return reason
        state[STAGE] = CHOOSING
