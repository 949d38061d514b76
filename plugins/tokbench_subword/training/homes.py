"""Which words of a shard contain a pair: the lists that a merge walks through, kept apart for each shard.

Training in several shards splits the words among them. A pair of symbols may occur in the words of every
shard, so its total count needs one place: the shard that a hash of the pair names, its *home*. The home also
keeps where each shard's list of words with this pair begins. The lists themselves (*runs* of word numbers)
stay with the shard that has the words: when the pair is merged, each shard walks through its own list, all
shards at once.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import i32_in, i64_in, pointer, prefetch, u64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.pairs import (
    find_or_add_pair,
    find_pair,
    home_of,
    moved_runs,
    pair_key,
    prefetch_pair,
    runs_of_merge,
)
from tokbench_subword.training.ties import HF

_NONE = np.int32(-1)


@inline
def first_run_of(row, n_shards, shard):  # type: ignore[no-untyped-def]
    """Where `FIRST_RUNS` has the first run of a shard for the pair of a row."""
    return (row >> 2) * n_shards + shard


@inline
def pair_at_home(block, key):  # type: ignore[no-untyped-def]
    """The row of a pair that has gained, a new one without runs if need be."""
    state, pairs, first_runs = i64_in(block, at.STATE), i64_in(block, at.PAIRS), i32_in(block, at.FIRST_RUNS)
    known, n_shards = state[at.N_PAIRS], state[at.N_SHARDS]
    row = find_or_add_pair(pairs, i64_in(block, at.SIZES)[at.PAIRS] // 4 - 1, key, state)
    if state[at.N_PAIRS] > known:
        for shard in range(n_shards):
            first_runs[first_run_of(row, n_shards, shard)] = _NONE
    return row


@inline
def prefetch_at_home(block, key):  # type: ignore[no-untyped-def]
    """Ask for the row of a pair, and its first runs."""
    row = prefetch_pair(i64_in(block, at.PAIRS), i64_in(block, at.SIZES)[at.PAIRS] // 4 - 1, key)
    prefetch(i32_in(block, at.FIRST_RUNS), first_run_of(row, i64_in(block, at.STATE)[at.N_SHARDS], 0))


@inline
def hang_run(block, peer, shard, row, run):  # type: ignore[no-untyped-def]
    """Make a new run, of the shard whose block is `peer`, the first of the pair of a row at home."""
    first_runs = i32_in(block, at.FIRST_RUNS)
    slot = first_run_of(row, i64_in(block, at.STATE)[at.N_SHARDS], shard)
    if first_runs[slot] >= 0:  # of a new pair, as nearly all are, nothing is written to another shard's memory
        i32_in(peer, at.RUNS)[run] = first_runs[slot]
    first_runs[slot] = np.int32(run)


@inline
def _slot_at_home(team, block, merge):  # type: ignore[no-untyped-def]
    """The first runs at the home of the pair of a batch's merge, and which of them is this shard's."""
    state, batch, entry = i64_in(block, at.STATE), i64_in(block, at.BATCH), at.B_SIZE * merge
    home = home_of(pair_key(batch[entry + at.B_LEFT], batch[entry + at.B_RIGHT]), state[at.N_SHARDS])
    slot = first_run_of(batch[entry + at.B_ROW], state[at.N_SHARDS], state[at.SHARD])
    return i32_in(u64_in(team, home), at.FIRST_RUNS), slot


@inline
def take_from_home(team, block, merge):  # type: ignore[no-untyped-def]
    """The first of a shard's own runs of the pair of a batch's merge, or -1; its home is left without.

    By the rule `hf` those that one merge made (see `ties`), else all. Nothing of another shard's is read, since
    the batch has it already: to read what another core has written takes long.
    """
    entry = at.B_SIZE * merge
    batch, rule = i64_in(block, at.BATCH), i64_in(block, at.STATE)[at.RULE]
    taken, kept = batch[entry + at.B_RUN], np.int64(-1)
    if taken >= 0:
        if rule == HF:
            taken, kept = runs_of_merge(i32_in(block, at.RUNS), taken, batch[entry + at.B_EXTRA])
        first_runs, slot = _slot_at_home(team, block, merge)
        first_runs[slot] = np.int32(kept)
    return taken


@kernel
def rehang_runs(pairs_, first_runs, renewed, renewed_first_runs, n_shards):  # type: ignore[no-untyped-def]
    """Fill the first runs of a `renewed` table (see `rehash`) from those of the former one."""
    pairs, new = pointer(pairs_), pointer(renewed)
    mask = np.int64(len(renewed) // 4 - 1)
    for former in range(0, len(pairs_), 4):
        if pairs[former] >= 0:
            row = find_pair(new, mask, pairs[former])
            if new[row] == pairs[former]:
                for shard in range(n_shards):
                    slot = first_run_of(row, n_shards, shard)
                    renewed_first_runs[slot] = first_runs[first_run_of(former, n_shards, shard)]


@kernel
def compact_own_runs(team, block, target_):  # type: ignore[no-untyped-def]
    """`compact_runs` of a shard that has posted nothing of its batch yet: then all its runs hang on pairs."""
    state, cells, runs, target = (
        i64_in(block, at.STATE),
        i32_in(block, at.CELLS),
        i32_in(block, at.RUNS),
        pointer(target_),
    )
    n_shards, used, batch = state[at.N_SHARDS], np.int64(0), i64_in(block, at.BATCH)
    for shard in range(n_shards):
        home = u64_in(team, shard)
        pairs, first_runs = i64_in(home, at.PAIRS), i32_in(home, at.FIRST_RUNS)
        for row in range(0, i64_in(home, at.SIZES)[at.PAIRS], 4):
            slot = first_run_of(row, n_shards, state[at.SHARD])
            if pairs[row] >= 0 and first_runs[slot] >= 0:
                first, used = moved_runs(cells, runs, np.int64(first_runs[slot]), pairs[row], target, used)
                first_runs[slot] = np.int32(first)
    state[at.RUNS_USED] = used
    for merge in range(state[at.N_BATCH]):
        first_runs, slot = _slot_at_home(team, block, merge)
        batch[at.B_SIZE * merge + at.B_RUN] = np.int64(first_runs[slot])
