"""PickyBPE's kernels on the words of a `MergeSession`: merge one pair, or split a symbol into several.

Both first change the cells, then the counts of pairs. A merge uses `training.rewrite`; a split has the same two
steps. The arrays are those of `training.layout`.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Block, Ids, Int, i32_in, i64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.cells import token_before, weight_of
from tokbench_subword.training.merges import choose, count_anew, fill_queue
from tokbench_subword.training.pairs import RUN_HEAD, find_or_add_pair, new_run, pair_key
from tokbench_subword.training.rewrite import AFTER, BEFORE, apply_side, lacks_room, note, rewrite


@kernel
def merge_next(block: Block) -> Int:
    """Merge the first pair in all words, without updating pair counts; return -1, or why it stopped."""
    reason = fill_queue(block)
    if reason == at.DONE:
        reason = choose(block)
    if reason < 0:
        rewrite(block)
        i64_in(block, at.STATE)[at.STAGE] = at.APPLYING
    return reason


@kernel
def count_merged(block: Block) -> Int:
    """Finish `merge_next` or `count_split`: update counts, queue new pairs; return `DONE`, or what is full."""
    return count_anew(block)


@kernel
def split_everywhere(block: Block, places: Ids, token: Int, parts: Ids) -> Int:
    """Split the symbol `token` into `parts` at those of the ascending `places` where it still occurs.

    Does not update pair counts. Moves the places where it was split to the beginning, and returns their number.
    `EVENTS` must have room for two events per place.
    """
    cells, weights, state = i32_in(block, at.CELLS), i64_in(block, at.WEIGHTS), i64_in(block, at.STATE)
    sizes, events, lengths = i64_in(block, at.SIZES), i64_in(block, at.EVENTS), i64_in(block, at.LENGTHS)
    tallies, met = i64_in(block, at.TALLIES), i32_in(block, at.MET)
    n_symbols, half, stood = sizes[at.LENGTHS], sizes[at.EVENTS] // 2, 0
    n_before, n_after, met_before, met_after = np.int64(0), half, np.int64(0), n_symbols
    state[at.LEFT], state[at.RIGHT], state[at.OWN] = token, token, 0
    for index in range(len(places)):
        place = np.int64(places[index])
        if cells[2 * place] != token or cells[2 * place + at.EXTENT] < 0:
            continue
        begin = end = place
        for part in parts:
            begin, end = end, end + lengths[part]
            cells[2 * begin], cells[2 * begin + at.EXTENT] = part, np.int32(end - begin)
            if end - begin > 1:
                cells[2 * end - 2], cells[2 * end - 2 + at.EXTENT] = part, np.int32(begin - end)
        weight, symbol = weight_of(weights, state[at.SINGLES], place), np.int64(cells[2 * (place - 1)])
        if symbol >= 0:
            before = token_before(cells, place)
            n_before, met_before = note(
                events, n_before, tallies, np.int64(0), met, met_before, symbol, before, weight
            )
        symbol = np.int64(cells[2 * end])
        if symbol >= 0:
            n_after, met_after = note(
                events, n_after, tallies, 2 * n_symbols, met, met_after, symbol, begin, weight
            )
        state[at.OWN] += weight
        places[stood] = np.int32(place)
        stood += 1
    state[at.N_EVENTS + BEFORE], state[at.N_EVENTS + AFTER] = n_before, n_after - half
    state[at.N_MET + BEFORE], state[at.N_MET + AFTER] = met_before, met_after - n_symbols
    state[at.N_MERGES] += 1  # a split has its own number, like a merge
    return stood


@kernel
def count_split(block: Block, places: Ids, parts: Ids) -> Int:
    """Update the counts of the pairs that `split_everywhere` changed; `count_merged` queues the pairs.

    Returns `DONE`, or which array is full, without changing anything.
    """
    state, sizes, lengths = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.LENGTHS)
    pairs, runs, touched = i64_in(block, at.PAIRS), i32_in(block, at.RUNS), i64_in(block, at.TOUCHED)
    within = len(parts) - 1
    reason = lacks_room(block, within, within * (len(places) + RUN_HEAD))
    if reason != at.DONE:
        return reason
    state[at.N_TOUCHED], state[at.NEW] = 0, parts[within]
    apply_side(block, AFTER)
    state[at.NEW] = parts[0]
    apply_side(block, BEFORE)
    behind = np.int64(0)
    for k in range(within):
        key = pair_key(parts[k], parts[k + 1])
        row = find_or_add_pair(pairs, sizes[at.PAIRS] // 4 - 1, key, state)
        pairs[row + at.COUNT] += state[at.OWN]
        run = new_run(pairs, row, runs, state, len(places))
        for index in range(len(places)):
            runs[run + RUN_HEAD + index] = np.int32(places[index] + behind)
        touched[state[at.N_TOUCHED]] = row
        state[at.N_TOUCHED] += 1
        behind += lengths[parts[k]]
    state[at.STAGE] = at.DRAINING
    return at.DONE
