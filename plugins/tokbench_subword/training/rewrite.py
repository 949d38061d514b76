"""One merge: the pair is rewritten wherever it stands, and the pairs with its neighbours are counted anew.

It goes in two steps. *Rewriting* merges the cells and writes an event for each neighbour, adding up
weights by neighbour in a table over symbols, so that the table of pairs is asked once a symbol that is met, not
once a position. *Applying* changes the counts, and spreads the events into one run for each new pair.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import i32_in, i64_in, prefetch
from tokbench_subword.training.cells import merge_at, stands_at, token_before, weight_of
from tokbench_subword.training.layout import (
    CELLS,
    COUNT,
    DONE,
    EVENTS,
    FLOOR,
    FROM,
    GATHERED,
    LEFT,
    LENGTHS,
    LONGEST,
    MET,
    N_EVENTS,
    N_MERGES,
    N_MET,
    N_PAIRS,
    N_POSITIONS,
    N_TOUCHED,
    NEW,
    OWN,
    PAIRS,
    PAIRS_FULL,
    POSITIONS,
    POSITIONS_FULL,
    RIGHT,
    RUN,
    RUNS,
    RUNS_FULL,
    RUNS_USED,
    SINGLES,
    SIZES,
    STAMP,
    STATE,
    TALLIES,
    TOUCHED,
    WEIGHTS,
)
from tokbench_subword.training.pairs import (
    RUN_HEAD,
    find_or_add_pair,
    find_pair,
    gather_runs,
    new_run,
    pair_key,
    prefetch_pair,
)

_LOW_32 = np.int64(0xFFFFFFFF)
BEFORE, AFTER = 0, 1
POSITIONS_AHEAD, _MET_AHEAD = 12, 4
"""How many positions, or symbols met, ahead memory is asked for: about what is done while it comes. Without it,
training takes 1.15 times as long on 20 MB of 30 languages."""


@inline
def take_positions(block, run):  # type: ignore[no-untyped-def]
    """Make the positions of some runs those of the merge at hand: where they are, or sorted in `POSITIONS`.

    Returns `POSITIONS_FULL`, changing nothing else, where they or their events have no room.
    """
    runs, state, sizes = i32_in(block, RUNS), i64_in(block, STATE), i64_in(block, SIZES)
    if run >= 0 and runs[run] < 0:
        state[GATHERED], state[FROM], state[N_POSITIONS] = 0, run + RUN_HEAD, np.int64(runs[run + 1])
    else:
        count = gather_runs(runs, run, i32_in(block, POSITIONS), sizes[POSITIONS])
        if count < 0:
            return POSITIONS_FULL
        state[GATHERED], state[FROM], state[N_POSITIONS] = 1, 0, count
    if 2 * state[N_POSITIONS] > sizes[EVENTS]:
        return POSITIONS_FULL
    return DONE


@inline
def _note(events, n_events, tallies, tally, met, n_met, symbol, position, weight):  # type: ignore[no-untyped-def]
    """Write one event, and add it to the tally of its symbol; the new numbers of events and of symbols met."""
    slot = tally + 2 * symbol
    if tallies[slot + 1] == 0:
        met[n_met] = np.int32(symbol)
        n_met += 1
    tallies[slot] += weight
    tallies[slot + 1] += 1
    events[n_events] = (symbol << 32) | position
    return n_events + 1, n_met


@inline
def rewrite(block):  # type: ignore[no-untyped-def]
    """Merge at the positions at hand, from left to right, where the pair still stands.

    Sets `OWN`, how often it stood, and `N_EVENTS` and `N_MET` for both sides. Of each side, `TALLIES` has
    weight and number by symbol, `MET` the symbols in order of first sight.
    """
    cells, weights, state = i32_in(block, CELLS), i64_in(block, WEIGHTS), i64_in(block, STATE)
    sizes, events = i64_in(block, SIZES), i64_in(block, EVENTS)
    source = i32_in(block, POSITIONS) if state[GATHERED] == 1 else i32_in(block, RUNS)
    tallies, met = i64_in(block, TALLIES), i32_in(block, MET)
    n_symbols, half, singles = sizes[LENGTHS], sizes[EVENTS] // 2, state[SINGLES]
    left, right, new = state[LEFT], state[RIGHT], state[NEW]
    n_before, n_after = np.int64(0), half
    met_before, met_after = np.int64(0), n_symbols
    own = np.int64(0)
    end = state[FROM] + state[N_POSITIONS]
    for index in range(state[FROM], end):
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
            n_before, met_before = _note(
                events, n_before, tallies, np.int64(0), met, met_before, symbol, before, weight
            )
        symbol = np.int64(cells[2 * following])
        if symbol >= 0:
            n_after, met_after = _note(
                events, n_after, tallies, 2 * n_symbols, met, met_after, symbol, position, weight
            )
    state[OWN] = own
    state[N_EVENTS + BEFORE], state[N_EVENTS + AFTER] = n_before, n_after - half
    state[N_MET + BEFORE], state[N_MET + AFTER] = met_before, met_after - n_symbols


@inline
def _apply_side(block, side):  # type: ignore[no-untyped-def]
    """Change the counts of the pairs with the neighbours on one side, and write the runs of the new ones."""
    state, sizes, lengths = i64_in(block, STATE), i64_in(block, SIZES), i64_in(block, LENGTHS)
    pairs, runs, tallies = i64_in(block, PAIRS), i32_in(block, RUNS), i64_in(block, TALLIES)
    met, touched = i32_in(block, MET), i64_in(block, TOUCHED)
    mask, n_symbols, stamp = sizes[PAIRS] // 4 - 1, sizes[LENGTHS], state[N_MERGES]
    left, right, new = state[LEFT], state[RIGHT], state[NEW]
    tally, first_met = 2 * n_symbols * side, n_symbols * side
    end = first_met + state[N_MET + side]
    for index in range(first_met, end):
        if index + _MET_AHEAD < end:
            symbol = np.int64(met[index + _MET_AHEAD])
            prefetch_pair(pairs, mask, pair_key(symbol, left) if side == BEFORE else pair_key(right, symbol))
            prefetch_pair(pairs, mask, pair_key(symbol, new) if side == BEFORE else pair_key(new, symbol))
        symbol = np.int64(met[index])
        slot = tally + 2 * symbol
        weight = tallies[slot]
        old = pair_key(symbol, left) if side == BEFORE else pair_key(right, symbol)
        row = find_pair(pairs, mask, old)
        if pairs[row] == old:
            pairs[row + COUNT] -= weight
        tallies[slot] = -1
        if weight >= state[FLOOR] and lengths[symbol] + lengths[new] < state[LONGEST]:
            key = pair_key(symbol, new) if side == BEFORE else pair_key(new, symbol)
            row = find_or_add_pair(pairs, mask, key, state)
            pairs[row + COUNT] += weight
            run = new_run(runs, state, tallies[slot + 1], pairs[row + RUN])
            pairs[row + RUN] = run
            tallies[slot] = run + RUN_HEAD  # now a place to write to
            if pairs[row + STAMP] != stamp:
                pairs[row + STAMP] = stamp
                touched[state[N_TOUCHED]] = row
                state[N_TOUCHED] += 1
    spread_events(block, side)


@inline
def spread_events(block, side):  # type: ignore[no-untyped-def]
    """Write each event of a side to the place that the tally of its symbol now is, if any; clear tallies."""
    state, sizes = i64_in(block, STATE), i64_in(block, SIZES)
    runs, tallies, met, events = (
        i32_in(block, RUNS),
        i64_in(block, TALLIES),
        i32_in(block, MET),
        i64_in(block, EVENTS),
    )
    n_symbols = sizes[LENGTHS]
    tally, first_met, first_event = 2 * n_symbols * side, n_symbols * side, sizes[EVENTS] // 2 * side
    for index in range(first_event, first_event + state[N_EVENTS + side]):
        slot = tally + 2 * (events[index] >> 32)
        place = tallies[slot]
        if place >= 0:
            runs[place] = np.int32(events[index] & _LOW_32)
            tallies[slot] = place + 1
    for index in range(first_met, first_met + state[N_MET + side]):
        slot = tally + 2 * np.int64(met[index])
        tallies[slot] = tallies[slot + 1] = 0


@inline
def apply(block):  # type: ignore[no-untyped-def]
    """Count anew what `rewrite` has changed; sets `N_TOUCHED`, and lists the rows of pairs that gained.

    Returns `PAIRS_FULL` or `RUNS_FULL`, changing nothing, where there may not be room. A new pair is counted
    only if it is seen `FLOOR` times, and its two sides are shorter than `LONGEST` together. The count of the
    merged pair is left alone.
    """
    state, sizes = i64_in(block, STATE), i64_in(block, SIZES)
    n_met = state[N_MET + BEFORE] + state[N_MET + AFTER]
    n_events = state[N_EVENTS + BEFORE] + state[N_EVENTS + AFTER]
    if state[N_PAIRS] + n_met > sizes[PAIRS] // 4 * 5 // 8:
        return PAIRS_FULL
    if state[RUNS_USED] + n_events + RUN_HEAD * n_met > sizes[RUNS]:
        return RUNS_FULL
    state[N_TOUCHED] = 0
    # What stands to the right first: of "aaaa", pairs it makes are undone by what stands to the left.
    _apply_side(block, AFTER)
    _apply_side(block, BEFORE)
    return DONE
