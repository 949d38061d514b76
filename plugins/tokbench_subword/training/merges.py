"""The merge loop: take the first pair from the queue, merge it everywhere, update the counts that changed.

The kernel `learn_merges` stops whenever an array is full, and returns which. Called again with a larger array,
it continues where it stopped. So arrays start small and fit any corpus. It also pauses for progress reports.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Block, Int, i32_in, i64_in, u8_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.pairs import find_pair, first_standing, sides, take_runs
from tokbench_subword.training.queue import call_waiting, drop_top, enqueue, heap_of, queue_again, room_to_queue
from tokbench_subword.training.rewrite import apply, rewrite, take_positions
from tokbench_subword.training.spelling import NOT_A_TOKEN, enter_token
from tokbench_subword.training.ties import FIRST_SEEN, GREATEST, HF, LEXICOGRAPHIC


@inline
def _extra(block: Block, row: Int) -> np.int64:
    """The third field of a queue entry: the pair's runs (hf), its first position (first_seen), else 0."""
    pairs, rule = i64_in(block, at.PAIRS), i64_in(block, at.STATE)[at.RULE]
    if rule == HF:
        return take_runs(pairs, row)
    if rule == FIRST_SEEN:
        left, right = sides(pairs[row])
        return first_standing(i32_in(block, at.CELLS), i32_in(block, at.RUNS), pairs[row + at.RUN], left, right)
    return np.int64(0)


@inline
def _spell(block: Block, left: Int, right: Int, new: Int) -> None:
    """Append the bytes of a new token to `SPELLING`."""
    starts, spelling = i64_in(block, at.STARTS), u8_in(block, at.SPELLING)
    end = starts[new]
    for part in (left, right):
        for index in range(starts[part], starts[part + 1]):
            spelling[end] = spelling[index]
            end += 1
    starts[new + 1] = end


@inline
def _note_merge(block: Block, left: Int, right: Int, new: Int) -> None:
    """Append a merge to `MERGES`, and make it the current one."""
    merges, state = i32_in(block, at.MERGES), i64_in(block, at.STATE)
    number = state[at.N_MERGES]
    merges[3 * number], merges[3 * number + 1] = np.int32(left), np.int32(right)
    merges[3 * number + 2] = np.int32(new)
    state[at.N_MERGES] = number + 1
    state[at.LEFT], state[at.RIGHT], state[at.NEW] = left, right, new


@inline
def fill_queue(block: Block) -> Int:
    """Queue the pairs of the corpus, unless that was done; returns `DONE` or `WAITING_FULL`."""
    state, sizes, pairs = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.PAIRS)
    if state[at.STAGE] == at.QUEUING:
        if 4 * state[at.N_PAIRS] > sizes[at.WAITING]:
            return at.WAITING_FULL
        for row in range(0, sizes[at.PAIRS], 4):
            if pairs[row] >= 0 and pairs[row + at.COUNT] > 0:
                enqueue(block, pairs[row + at.COUNT], pairs[row], _extra(block, row))
        state[at.STAGE] = at.CHOOSING
    return at.DONE


@inline
def _queue_touched(block: Block) -> Int:
    """Queue the pairs that a merge made; returns `DONE`, or which array is full, without changing anything."""
    state, pairs = i64_in(block, at.STATE), i64_in(block, at.PAIRS)
    touched, rule = i64_in(block, at.TOUCHED), state[at.RULE]
    reason = room_to_queue(state, i64_in(block, at.SIZES))
    if reason != at.DONE:
        return reason
    for index in range(state[at.N_TOUCHED]):
        row = touched[index]
        if pairs[row + at.COUNT] > 0:
            extra = _extra(block, row)
            if rule != HF or extra >= 0:
                enqueue(block, pairs[row + at.COUNT], pairs[row], extra)
    return at.DONE


@inline
def count_anew(block: Block) -> Int:
    """Update counts after the current merge, and queue new pairs; returns `DONE`, or which array is full."""
    state = i64_in(block, at.STATE)
    if state[at.STAGE] == at.APPLYING:
        reason = apply(block)
        if reason != at.DONE:
            return reason
        state[at.STAGE] = at.DRAINING
    reason = _queue_touched(block)
    if reason == at.DONE:
        state[at.STAGE] = at.CHOOSING
    return reason


@inline
def make_token(block: Block, left: Int, right: Int) -> Int:
    """Make a token from a pair, append the merge to `MERGES` as the current one, and set `NEW` to the token.

    If the token is forbidden, `NEW` is `NOT_A_TOKEN` and nothing is written. Returns `DONE`, or which array is
    full.
    """
    state, sizes, starts = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.STARTS)
    spells, n_tokens = state[at.RULE] == LEXICOGRAPHIC or state[at.RULE] == GREATEST, state[at.N_TOKENS]
    if state[at.N_MERGES] >= sizes[at.MERGES] // 3:
        return at.MERGES_FULL
    if spells:
        total = starts[left + 1] - starts[left] + starts[right + 1] - starts[right]
        if starts[n_tokens] + total > sizes[at.SPELLING]:
            return at.SPELLING_FULL
    new = enter_token(block, left, right)
    state[at.NEW] = new
    if new != NOT_A_TOKEN:
        if spells and new == n_tokens:
            _spell(block, left, right, new)
        _note_merge(block, left, right, new)
    return at.DONE


@inline
def merge_first(block: Block) -> Int:
    """Take the first pair from the queue and make a token of it by `make_token`, as the current merge.

    Returns -1, or `NOT_A_TOKEN` if that token is forbidden. Otherwise it leaves the queue unchanged and returns
    the reason for stopping: `DONE` if nothing is left to do, `PAUSED`, or which array is full.
    """
    state, sizes, pairs = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.PAIRS)
    counts, keys, extras = heap_of(block)
    if state[at.N_TOKENS] >= state[at.N_WANTED] or state[at.HEAP_SIZE] == 0:
        return at.DONE
    if state[at.N_MERGES] >= state[at.PAUSE_AT]:
        return at.PAUSED
    if counts[0] < state[at.MINIMUM]:
        return at.DONE
    row = find_pair(pairs, sizes[at.PAIRS] // 4 - 1, keys[0])
    reason = take_positions(block, extras[0] if state[at.RULE] == HF else pairs[row + at.RUN])
    if reason == at.DONE:
        left, right = sides(keys[0])
        reason = make_token(block, left, right)
    if reason != at.DONE:
        return reason
    take_runs(pairs, row)
    drop_top(block)
    return np.int64(NOT_A_TOKEN if state[at.NEW] == NOT_A_TOKEN else -1)


@inline
def first_pair(block: Block) -> Int:
    """Update the queue until its first entry has its true count; returns `DONE` or `HEAP_FULL`."""
    state, sizes, pairs = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.PAIRS)
    counts, keys, extras = heap_of(block)
    while True:
        if not call_waiting(block):
            return at.HEAP_FULL
        if state[at.HEAP_SIZE] == 0:
            return at.DONE
        key, extra = keys[0], extras[0]
        row = find_pair(pairs, sizes[at.PAIRS] // 4 - 1, key)
        count = pairs[row + at.COUNT] if pairs[row] == key else np.int64(0)
        if state[at.RULE] == FIRST_SEEN and count > 0:
            extra = _extra(block, row)
        if count == counts[0] and extra == extras[0]:
            return at.DONE
        queue_again(block, count, key, extra)


@inline
def choose(block: Block) -> Int:
    """Take the next merge from the queue as the current one; return -1, or the reason for stopping."""
    while True:
        reason = first_pair(block)
        if reason == at.DONE:
            reason = merge_first(block)
        if reason != NOT_A_TOKEN:
            return reason


@kernel
def learn_merges(block: Block) -> Int:
    """Learn merges up to `N_WANTED` tokens, the last pair, or `PAUSE_AT` merges; return why it stopped."""
    state = i64_in(block, at.STATE)
    reason = fill_queue(block)
    while reason == at.DONE:
        if state[at.STAGE] == at.CHOOSING:
            reason = choose(block)
            if reason >= 0:
                return reason
            rewrite(block)
            state[at.STAGE] = at.APPLYING
        reason = count_anew(block)
    return reason
