"""One merge: rewrites the pair wherever it occurs, and updates the counts of the pairs with its neighbours.

There are two steps. *Rewriting* merges the cells and writes an event for each neighbour. It also adds up
weights by neighbouring symbol, so that the pair table is looked up once per symbol, not once per position.
*Applying* changes the counts, and distributes the events to one run for each new pair.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Block, Ids, Int, Ints, i32_in, i64_in, prefetch
from tokbench_subword.training import layout as at
from tokbench_subword.training.cells import merge_at, stands_at, token_before, weight_of
from tokbench_subword.training.pairs import (
    RUN_HEAD,
    find_or_add_pair,
    find_pair,
    gather_runs,
    new_run,
    pair_key,
    prefetch_pair,
)
from tokbench_subword.training.ties import HF

_LOW_32 = np.int64(0xFFFFFFFF)
BEFORE, AFTER = 0, 1
POSITIONS_AHEAD, _MET_AHEAD = 12, 4
"""How many positions, or met symbols, ahead memory is prefetched. Without it, training takes 1.15 times as long
on 20 MB of 30 languages."""


@inline
def take_positions(block: Block, run: Int) -> Int:
    """Set the positions of the current merge: a single run stays in `RUNS`, several are copied to `POSITIONS`.

    Returns `DONE`, or `POSITIONS_FULL` if there is no room for the positions or their events.
    """
    runs, state, sizes = i32_in(block, at.RUNS), i64_in(block, at.STATE), i64_in(block, at.SIZES)
    if run >= 0 and runs[run] < 0:
        state[at.GATHERED], state[at.FROM], state[at.N_POSITIONS] = 0, run + RUN_HEAD, np.int64(runs[run + 1])
    else:
        count = gather_runs(runs, run, i32_in(block, at.POSITIONS), sizes[at.POSITIONS])
        if count < 0:
            return at.POSITIONS_FULL
        state[at.GATHERED], state[at.FROM], state[at.N_POSITIONS] = 1, 0, count
    if 2 * state[at.N_POSITIONS] > sizes[at.EVENTS]:
        return at.POSITIONS_FULL
    return at.DONE


@inline
def note(
    events: Ints,
    n_events: np.int64,
    tallies: Ints,
    tally: Int,
    met: Ids,
    n_met: np.int64,
    symbol: Int,
    position: Int,
    weight: Int,
) -> tuple[np.int64, np.int64]:
    """Write an event and add it to its symbol's tally; return the new numbers of events and of met symbols."""
    slot = tally + 2 * symbol
    if tallies[slot + 1] == 0:
        met[n_met] = np.int32(symbol)
        n_met += 1
    tallies[slot] += weight
    tallies[slot + 1] += 1
    events[n_events] = (symbol << 32) | position
    return n_events + 1, n_met


@inline
def rewrite(block: Block) -> None:
    """Merge at the current positions, from left to right, where the pair still occurs.

    Sets `OWN` to the weight of these places; the pair's count falls by that, except with the rule `hf` (see
    `ties`). Also sets `N_EVENTS` and `N_MET` for both sides. For each side, `TALLIES` has the weight and number
    of neighbours by symbol, and `MET` the symbols in order of first occurrence.
    """
    cells, weights, state = i32_in(block, at.CELLS), i64_in(block, at.WEIGHTS), i64_in(block, at.STATE)
    sizes, events = i64_in(block, at.SIZES), i64_in(block, at.EVENTS)
    source = i32_in(block, at.POSITIONS) if state[at.GATHERED] == 1 else i32_in(block, at.RUNS)
    tallies, met = i64_in(block, at.TALLIES), i32_in(block, at.MET)
    n_symbols, half, singles = sizes[at.LENGTHS], sizes[at.EVENTS] // 2, state[at.SINGLES]
    left, right, new = state[at.LEFT], state[at.RIGHT], state[at.NEW]
    n_before, n_after = np.int64(0), half
    met_before, met_after = np.int64(0), n_symbols
    own = np.int64(0)
    end = state[at.FROM] + state[at.N_POSITIONS]
    for index in range(state[at.FROM], end):
        if index + POSITIONS_AHEAD < end:
            ahead = np.int64(source[index + POSITIONS_AHEAD])
            prefetch(cells, 2 * ahead)
            if ahead < singles:
                prefetch(weights, ahead)
        position = np.int64(source[index])
        if not stands_at(cells, position, left, right):
            continue
        weight = weight_of(weights, singles, position)
        following = merge_at(cells, position, new)
        own += weight
        symbol = np.int64(cells[2 * (position - 1)])
        if symbol >= 0:
            before = token_before(cells, position)
            n_before, met_before = note(
                events, n_before, tallies, np.int64(0), met, met_before, symbol, before, weight
            )
        symbol = np.int64(cells[2 * following])
        if symbol >= 0:
            n_after, met_after = note(
                events, n_after, tallies, 2 * n_symbols, met, met_after, symbol, position, weight
            )
    state[at.OWN] = own
    if state[at.RULE] != HF:
        pairs = i64_in(block, at.PAIRS)
        pairs[find_pair(pairs, sizes[at.PAIRS] // 4 - 1, pair_key(left, right)) + at.COUNT] -= own
    state[at.N_EVENTS + BEFORE], state[at.N_EVENTS + AFTER] = n_before, n_after - half
    state[at.N_MET + BEFORE], state[at.N_MET + AFTER] = met_before, met_after - n_symbols


@inline
def pairs_beside(side: Int, symbol: Int, left: Int, right: Int, new: Int) -> tuple[np.int64, np.int64]:
    """The pair of a neighbour on one side before the merge, and its new pair after the merge."""
    if side == BEFORE:
        return pair_key(symbol, left), pair_key(symbol, new)
    return pair_key(right, symbol), pair_key(new, symbol)


@inline
def apply_side(block: Block, side: Int) -> None:
    """Update the counts of the pairs with the neighbours on one side, and write the runs of new pairs."""
    state, sizes, lengths = i64_in(block, at.STATE), i64_in(block, at.SIZES), i64_in(block, at.LENGTHS)
    pairs, runs, tallies = i64_in(block, at.PAIRS), i32_in(block, at.RUNS), i64_in(block, at.TALLIES)
    met, touched = i32_in(block, at.MET), i64_in(block, at.TOUCHED)
    mask, n_symbols, stamp = sizes[at.PAIRS] // 4 - 1, sizes[at.LENGTHS], state[at.N_MERGES]
    left, right, new = state[at.LEFT], state[at.RIGHT], state[at.NEW]
    tally, first_met = 2 * n_symbols * side, n_symbols * side
    end = first_met + state[at.N_MET + side]
    for index in range(first_met, end):
        if index + _MET_AHEAD < end:
            old, gained = pairs_beside(side, np.int64(met[index + _MET_AHEAD]), left, right, new)
            prefetch_pair(pairs, mask, gained)
            prefetch_pair(pairs, mask, old)
        symbol = np.int64(met[index])
        slot = tally + 2 * symbol
        weight = tallies[slot]
        old, gained = pairs_beside(side, symbol, left, right, new)
        row = find_pair(pairs, mask, old)
        if pairs[row] == old:
            pairs[row + at.COUNT] -= weight
        tallies[slot] = -1
        if weight >= state[at.FLOOR] and lengths[symbol] + lengths[new] < state[at.LONGEST]:
            row = find_or_add_pair(pairs, mask, gained, state)
            pairs[row + at.COUNT] += weight
            # from now on, the index in `runs` to write to
            tallies[slot] = new_run(pairs, row, runs, state, tallies[slot + 1]) + RUN_HEAD
            if pairs[row + at.STAMP] != stamp:
                pairs[row + at.STAMP] = stamp
                touched[state[at.N_TOUCHED]] = row
                state[at.N_TOUCHED] += 1
    _spread_events(block, side)


@inline
def _spread_events(block: Block, side: Int) -> None:
    """Write each event of a side to its symbol's run, whose index is in the tally (-1: none); clear tallies."""
    state, sizes = i64_in(block, at.STATE), i64_in(block, at.SIZES)
    runs, tallies = i32_in(block, at.RUNS), i64_in(block, at.TALLIES)
    met, events = i32_in(block, at.MET), i64_in(block, at.EVENTS)
    n_symbols = sizes[at.LENGTHS]
    tally, first_met, first_event = 2 * n_symbols * side, n_symbols * side, sizes[at.EVENTS] // 2 * side
    for index in range(first_event, first_event + state[at.N_EVENTS + side]):
        slot = tally + 2 * (events[index] >> 32)
        place = tallies[slot]
        if place >= 0:
            runs[place] = np.int32(events[index] & _LOW_32)
            tallies[slot] = place + 1
    for index in range(first_met, first_met + state[at.N_MET + side]):
        slot = tally + 2 * np.int64(met[index])
        tallies[slot] = tallies[slot + 1] = 0


@inline
def lacks_room(block: Block, more_pairs: Int, more_runs: Int) -> Int:
    """`PAIRS_FULL` or `RUNS_FULL` if `apply`, plus these additions, may not have room; else `DONE`."""
    state, sizes = i64_in(block, at.STATE), i64_in(block, at.SIZES)
    n_met = state[at.N_MET + BEFORE] + state[at.N_MET + AFTER]
    n_events = state[at.N_EVENTS + BEFORE] + state[at.N_EVENTS + AFTER]
    if state[at.N_PAIRS] + n_met + more_pairs > sizes[at.PAIRS] // 4 * 5 // 8:
        return at.PAIRS_FULL
    if state[at.RUNS_USED] + n_events + RUN_HEAD * n_met + more_runs > sizes[at.RUNS]:
        return at.RUNS_FULL
    return at.DONE


@inline
def apply(block: Block) -> Int:
    """Update the counts that `rewrite` has changed; sets `TOUCHED`, the rows of new pairs, and `N_TOUCHED`.

    Returns `DONE`, or `PAIRS_FULL` or `RUNS_FULL`, without changing anything, if there may not be room. A new
    pair is counted only if its count is at least `FLOOR`, and its sides together are shorter than `LONGEST`.
    """
    reason = lacks_room(block, 0, 0)
    if reason != at.DONE:
        return reason
    i64_in(block, at.STATE)[at.N_TOUCHED] = 0
    # Right neighbours first: in "aaaa" they add the pair (aa, a), which left neighbours remove again.
    apply_side(block, AFTER)
    apply_side(block, BEFORE)
    return at.DONE
