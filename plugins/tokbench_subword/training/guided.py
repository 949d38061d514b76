"""Several trainings that learn the same merges; the caller chooses the next merge (see `bpe.parity`).

Each training has its own words, pairs and queue. All share the arrays of tokens, and the arrays of the current
merge, since only one training merges at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Block, Int, i64_in
from tokbench.kernels.pointers import block as block_of
from tokbench_subword.training import layout as at
from tokbench_subword.training.merges import count_anew, fill_queue, first_pair
from tokbench_subword.training.pairs import find_pair, pair_key, sides, take_runs
from tokbench_subword.training.rewrite import rewrite, take_positions
from tokbench_subword.training.session import MergeSession

SHARED = (
    *(at.LENGTHS, at.TOKEN_HASHES, at.SPELLED, at.SPELLED_IDS, at.STARTS, at.SPELLING, at.MERGES),
    *(at.POSITIONS, at.EVENTS, at.TALLIES, at.MET, at.TOUCHED),
)
"""The shared arrays."""


@inline
def best_pair(block: Block) -> Int:
    """Find the first pair of the queue; sets `LEFT`, `RIGHT`, and `OWN` to its count (0 without a pair)."""
    state = i64_in(block, at.STATE)
    reason = fill_queue(block)
    if reason == at.DONE:
        reason = first_pair(block)
    if reason == at.DONE:
        state[at.OWN] = 0
        if state[at.HEAP_SIZE] > 0:
            state[at.LEFT], state[at.RIGHT] = sides(i64_in(block, at.HEAP_KEYS)[0])
            state[at.OWN] = i64_in(block, at.HEAP_COUNTS)[0]
    return reason


@inline
def merge_given(block: Block, left: Int, right: Int, new: Int, n_merges: Int) -> Int:
    """Merge a pair wherever it occurs; sets `OWN` to how often. Returns the reason for stopping."""
    state, pairs = i64_in(block, at.STATE), i64_in(block, at.PAIRS)
    reason = fill_queue(block)
    if reason != at.DONE:
        return reason
    if state[at.STAGE] == at.CHOOSING:
        key = pair_key(left, right)
        row = find_pair(pairs, i64_in(block, at.SIZES)[at.PAIRS] // 4 - 1, key)
        state[at.OWN] = 0
        if pairs[row] != key or pairs[row + at.RUN] < 0:
            return at.DONE
        reason = take_positions(block, pairs[row + at.RUN])
        if reason != at.DONE:
            return reason
        take_runs(pairs, row)
        state[at.LEFT], state[at.RIGHT], state[at.NEW], state[at.N_MERGES] = left, right, new, n_merges
        rewrite(block)
        state[at.STAGE] = at.APPLYING
    return count_anew(block)


class Trainings:
    """Several trainings with the same first tokens, and their `blocks` for a kernel."""

    def __init__(self, sessions: Sequence[MergeSession]) -> None:
        self._sessions = list(sessions)
        self.leader = self._sessions[0]
        self._share(self.leader)
        self.blocks = block_of([session.work.block for session in sessions])

    def grow(self, number: int, reason: int) -> None:
        """Grow the array of training `number` for which its kernel stopped with `reason`."""
        session = self._sessions[number]
        session.growers()[reason]()
        self._share(session)

    def _share(self, source: MergeSession) -> None:
        for session in self._sessions:
            for number in SHARED:
                if session.work[number] is not source.work[number]:
                    session.work[number] = source.work[number]
