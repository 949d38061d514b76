"""`ShardedSession`: one training by merges in several threads, each with words and pairs of its own.

A thread has a shard of the words, and the pairs in it, as a training in one thread has all (`session`).
Beside it is a *home*: of some pairs, how often they stand in all shards, and the queue of these. Threads go
through the loop of `together`; `exchange` is how homes learn what shards did, `batch` how shards choose what
to merge.

What is learned does not depend on how many shards there are, nor on how many threads work on them. So threads
that find no free core lose nothing but time: the first one calls the others off and goes on alone.

Merging, first pairs included, takes two threads 1.9 (10 MB of English) to 1.25 times (20 MB of 30 languages)
the CPU time of one, so it is 1.05 to 1.6 times as fast on two free cores. It is a fifth to a half of a
training. Without batches there would be ten times as many barriers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.barrier import apart, call_off, counters
from tokbench.kernels.compiling import announce
from tokbench.kernels.pointers import block
from tokbench.kernels.threads import in_threads, usable_cores
from tokbench_subword.training import layout as at
from tokbench_subword.training import together as turns
from tokbench_subword.training.batch import ENTRIES, ENTRY, MOST_SHOWN, MOST_TOGETHER
from tokbench_subword.training.exchange import MESSAGE, post_first_pairs
from tokbench_subword.training.initial import likely_pairs, pair_table, table_bits
from tokbench_subword.training.session import PAUSE, Growers, MergeSession, PairQueue, Training
from tokbench_subword.training.ties import BYTES, HF
from tokbench_subword.training.together import NOT_TAKEN, learn_in_shards

WORTH_SHARING = 1 << 16
"""Symbols of a corpus from which on several threads are faster than one."""

_NEVER = 2**62

Progress = Callable[[float], None]


def merge_session(
    symbols: NDArray[np.int32],
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    *,
    rule: int,
    workers: int = 1,
    **options: Any,
) -> MergeSession | ShardedSession:
    """A session that learns merges in as many threads as are of use; the arguments are those of `Training`.

    By the rules `lexicographic` and `first_seen` that is one.
    """
    threads = min(workers, usable_cores()) if rule in (HF, BYTES) and len(symbols) >= WORTH_SHARING else 1
    if threads > 1:
        return ShardedSession(symbols, starts, counts, rule=rule, shards=threads, threads=threads, **options)
    return MergeSession(symbols, starts, counts, rule=rule, workers=workers, **options)


class Starvation:
    """How long threads were without a core, though they had work or were waiting for it."""

    MOST = 0.05
    """More seconds than this are too much, if they are also more than a quarter of the time so far."""

    def __init__(self, threads: int) -> None:
        self._begun = time.perf_counter()
        self._lost = [0.0] * threads

    @contextmanager
    def watched(self, thread: int) -> Iterator[None]:
        """Add up, for a thread in this context, the time that passes less its time on a core."""
        clock, core = time.perf_counter(), time.thread_time()
        yield
        self._lost[thread] += time.perf_counter() - clock - (time.thread_time() - core)

    def too_much(self) -> bool:
        """Whether one thread alone would be faster."""
        return sum(self._lost) > max(self.MOST, (time.perf_counter() - self._begun) / 4)


class Home(PairQueue):
    """The pairs that a shard is home of, counted over the words of all, and the queue of them."""

    def __init__(self, words: Training, number: int, n_shards: int) -> None:
        state = words.work[at.STATE]
        super().__init__(rule=int(state[at.RULE]), n_wanted=words.n_wanted)
        likely = max(likely_pairs(words.work, n_shards), int(state[at.N_PAIRS]))
        self.work[at.PAIRS] = pair_table(table_bits(likely))
        self.work[at.WAITING] = np.empty(4 * (3 * likely + self.n_wanted), np.int64)
        self.work[at.FRONT] = apart(ENTRIES + ENTRY * MOST_SHOWN)
        state = self.work[at.STATE]
        state[at.SHARD], state[at.N_SHARDS] = number, n_shards
        state[at.N_MERGES] = -1  # since the pairs there are at first come as if a merge had made them


class WordShard(Training):
    """The words of one shard, whose first pairs are posted to their homes; and the home that goes with it."""

    def __init__(self, *words: Any, number: int, n_shards: int, **options: Any) -> None:
        super().__init__(*words, part=slice(number, None, n_shards), **options)
        work, state = self.work, self.work[at.STATE]
        state[at.SHARD], state[at.N_SHARDS] = number, n_shards
        state[at.TAKEN], state[at.STAGE], state[at.PAUSE_AT] = NOT_TAKEN, at.CHOOSING, _NEVER
        state[at.FLOOR] = 0  # a pair that is rare here may be frequent elsewhere
        work[at.OUTBOX] = np.empty(n_shards * MESSAGE * (int(state[at.N_PAIRS]) + 1024), np.int64)
        work[at.OUTBOX_ENDS], work[at.HEADS] = apart((MOST_TOGETHER + 1) * n_shards), apart(n_shards)
        work[at.BATCH] = apart(at.B_SIZE * MOST_TOGETHER)
        post_first_pairs(work.block)
        self.home = Home(self, number, n_shards)

    def growers(self) -> Growers:
        """What makes room, by what the kernel stopped for."""
        return {**super().growers(), at.OUTBOX_FULL: self._grow_outbox}

    def _grow_pairs(self) -> None:
        """As in all trainings; but since homes count pairs, those that stand nowhere here are dropped."""
        self._renew_runs()
        rows = self.work[at.PAIRS].reshape(-1, 4)
        rows[rows[:, at.RUN] < 0, at.COUNT] = 0
        super()._grow_pairs()

    def _grow_outbox(self) -> None:
        n_shards = int(self.work[at.STATE][at.N_SHARDS])
        parts = self.work[at.OUTBOX].reshape(n_shards, -1)
        larger = np.empty((n_shards, 2 * parts.shape[1] + 8 * self.n_wanted), np.int64)
        larger[:, : parts.shape[1]] = parts
        ends = self.work[at.OUTBOX_ENDS].reshape(-1, n_shards)
        ends += np.arange(n_shards) * (larger.shape[1] - parts.shape[1])
        self.work[at.OUTBOX] = larger.reshape(-1)


class ShardedSession:
    """Learns what `MergeSession` does, by the rules `hf` and `bytes`, in several threads.

    The arguments are those of `Training`, of which `shards` are made.
    """

    def __init__(self, *words: Any, shards: int, threads: int, **options: Any) -> None:
        announce(learn_in_shards)

        def shard(number: int) -> WordShard:
            return WordShard(*words, number=number, n_shards=shards, **options)

        self.shards: Sequence[WordShard] = in_threads(shard, range(shards), threads)
        homes = [shard.home for shard in self.shards]
        self._team = block([each.work.block for each in (*self.shards, *homes)])
        most = sum(int(shard.work[at.STATE][at.N_PAIRS]) for shard in self.shards)
        for home in homes:
            home.work[at.TOUCHED] = np.empty(max(2 * home.n_wanted, most), np.int64)
        self._threads = threads
        self._failed = Event()

    def run(self, progress: Progress = lambda fraction: None) -> NDArray[np.int32]:
        """Learn until the wanted number of tokens; int32 ``(n, 3)``: left, right, result, first symbols from 0
        on.
        """
        self.shards[0].work[at.STATE][at.PAUSE_AT] = PAUSE
        self._starvation = Starvation(self._threads)
        limits = [len(self.shards) * thread // self._threads for thread in range(self._threads + 1)]
        crew = [self._turn(thread, self._threads, *part) for thread, part in enumerate(pairwise(limits))]
        arrivals = counters(self._threads)
        if self._in_threads(crew, arrivals, progress) == at.DISBANDED:
            alone = self._turn(0, 1, 0, len(self.shards))
            alone[turns.TURN_STAGE] = crew[0][turns.TURN_STAGE]
            self._work(alone, counters(1), progress)
        return self.shards[0].merges()

    def _turn(self, thread: int, threads: int, first: int, end: int) -> NDArray[np.int64]:
        turn = apart(turns.TURN_SIZE)
        turn[[turns.THREAD, turns.THREADS]] = thread, threads
        turn[[turns.FIRST, turns.END, turns.AT_SHARD]] = first, end, first
        return turn

    def _in_threads(
        self, crew: Sequence[NDArray[np.int64]], arrivals: NDArray[np.int64], progress: Progress
    ) -> int:
        """Work through each turn in a thread of its own, the first in this one; returns why that stopped."""
        with ThreadPoolExecutor(max(1, len(crew) - 1)) as pool:
            try:
                others = [pool.submit(self._work, turn, arrivals, progress) for turn in crew[1:]]
                reason = self._work(crew[0], arrivals, progress)
            except BaseException:
                self._failed.set()  # or the others would wait for this one
                raise
        for other in others:
            other.result()
        return reason

    def _work(self, turn: NDArray[np.int64], arrivals: NDArray[np.int64], progress: Progress) -> int:
        """Take a thread's shards through the loop until all is done, or another thread has failed."""
        try:
            return self._until_done(turn, arrivals, progress)
        except BaseException:
            self._failed.set()
            raise

    def _until_done(self, turn: NDArray[np.int64], arrivals: NDArray[np.int64], progress: Progress) -> int:
        growers = [shard.growers() for shard in self.shards]
        of_homes = [shard.home.growers() for shard in self.shards]
        first, thread = self.shards[0], int(turn[turns.THREAD])
        while not self._failed.is_set():
            with self._starvation.watched(thread):
                reason = int(learn_in_shards(self._team, turn, arrivals))
                if reason == at.AWAITING:
                    _give_way()
            if reason in (at.DONE, at.DISBANDED):
                return reason
            if reason == at.PAUSED:
                first.work[at.STATE][at.PAUSE_AT] += PAUSE
                progress(first.done)
            elif reason != at.AWAITING:
                at_home = turn[turns.TURN_STAGE] in (turns.TAKING, turns.SHOWING)
                (of_homes if at_home else growers)[int(turn[turns.AT_SHARD])][reason]()
            if thread == 0 and turn[turns.THREADS] > 1 and self._starvation.too_much():
                call_off(arrivals, int(turn[turns.BARRIERS]))
        return at.DONE


_give_way: Callable[[], object] = getattr(os, "sched_yield", lambda: time.sleep(0))
"""Let another thread have the core."""
