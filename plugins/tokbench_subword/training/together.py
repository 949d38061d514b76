"""The merge loop of a thread: it takes its shards through three stages, and meets the other threads twice.

All choose the next batch from what every shard shows; each merges it in its own words and posts what changes;
*barrier*; each takes the messages to the pairs it is home of, and shows what comes first now; *barrier*. What a
shard writes for others to read is written in one stage and read in the other, so nothing is read while it is
written. A thread whose shard needs more room leaves its kernel for it, and comes back; the others wait.
"""

from __future__ import annotations

from tokbench.kernels.barrier import all_there, arrive, is_last
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import i64_in, pointer, u64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.batch import choose_batch, show_front
from tokbench_subword.training.exchange import merge_batch, take_messages

# `turn`, int64, of one thread: its number, how many threads there are, its first shard and the one after its
# last; and how far it is: stage, shard, barriers it has come to.
THREAD, THREADS, FIRST, END, TURN_STAGE, AT_SHARD, BARRIERS = range(7)
TURN_SIZE = 7
TAKING, MEETING_TO_CHOOSE, CHOOSING_BATCH, MERGING, MEETING_TO_TAKE = range(5)


@kernel
def learn_in_shards(team, turn, arrivals_):  # type: ignore[no-untyped-def]
    """Learn merges in some shards until there are enough, or none is left; returns why it stopped.

    `team` is a block of the blocks of all shards (see `layout`), `arrivals_` the counters of a barrier.
    Where a shard needs more room it is ``turn[AT_SHARD]``. Called again, it goes on where it stopped.
    """
    arrivals = pointer(arrivals_)
    while True:
        stage = turn[TURN_STAGE]
        if stage in (MEETING_TO_CHOOSE, MEETING_TO_TAKE):
            if not all_there(arrivals, turn[THREADS], turn[BARRIERS]):
                return at.AWAITING
            turn[TURN_STAGE] = CHOOSING_BATCH if stage == MEETING_TO_CHOOSE else TAKING
            if is_last(arrivals, turn[THREADS], turn[BARRIERS]):
                return at.DISBANDED
            state = i64_in(u64_in(team, turn[FIRST]), at.STATE)
            if stage == MEETING_TO_CHOOSE and state[at.N_MERGES] >= state[at.PAUSE_AT]:
                return at.PAUSED
            continue
        while turn[AT_SHARD] < turn[END]:
            block = u64_in(team, turn[AT_SHARD])
            if stage == TAKING:
                reason = take_messages(team, block)
                if reason == at.DONE:
                    reason = show_front(block)
                if reason != at.DONE:
                    return reason
            elif stage == CHOOSING_BATCH:
                reason = choose_batch(team, block)
                if reason >= 0:
                    return reason
            else:
                reason = merge_batch(team, block)
                if reason != at.DONE:
                    return reason
            turn[AT_SHARD] += 1
        turn[AT_SHARD] = turn[FIRST]
        if stage == CHOOSING_BATCH:
            turn[TURN_STAGE] = MERGING
        else:
            turn[BARRIERS] += 1
            arrive(arrivals, turn[THREAD], turn[BARRIERS])
            turn[TURN_STAGE] = MEETING_TO_TAKE if stage == MERGING else MEETING_TO_CHOOSE
