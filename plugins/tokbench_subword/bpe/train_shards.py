"""`ShardedSession`: one training by merges in several threads, each with words and pairs of its own.

What is learned does not depend on how many shards there are, nor on how many threads work on them. So threads
that find no free core lose nothing but time: the first one calls the others off and goes on alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.bpe import train_layout as at
from tokbench_subword.bpe import train_together as turns
from tokbench_subword.bpe.ties import BYTES, HF
from tokbench_subword.bpe.train_batch import MOST_SHOWN, MOST_TOGETHER
from tokbench_subword.bpe.train_exchange import MESSAGE, NOT_TAKEN, post_first_pairs
from tokbench_subword.bpe.train_session import PAUSE, MergeSession, Training
from tokbench_subword.bpe.train_together import learn_in_shards
from tokbench_subword.kernels.barrier import apart, call_off, counters
from tokbench_subword.kernels.compiling import announce
from tokbench_subword.kernels.pointers import block
from tokbench_subword.kernels.threads import in_threads, usable_cores

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


class Waits:
    """How long threads have waited for each other."""

    LONG = 0.0005
    """Seconds; what others do between two barriers rarely takes as long, but not having a core does."""
    MOST = 0.05
    """So many seconds of long waits are too much, if they are a quarter of the time besides."""

    def __init__(self, threads: int) -> None:
        self._begun = time.perf_counter()
        self._now = [(0, 0.0)] * threads  # of each thread: the barrier where it looked in vain last, first when
        self._long: list[dict[int, float]] = [{} for _ in range(threads)]  # its long waits by barrier

    def wait(self, thread: int, barrier: int) -> None:
        """Let others have the core of a thread that has looked in vain."""
        if self._now[thread][0] != barrier:
            self._now[thread] = barrier, time.perf_counter()
        _give_way()
        waited = time.perf_counter() - self._now[thread][1]
        if waited > self.LONG:
            self._long[thread][barrier] = waited

    def too_long(self) -> bool:
        """Whether one thread alone would be faster."""
        lost = sum(sum(list(long.values())) for long in self._long)
        return lost > max(self.MOST, (time.perf_counter() - self._begun) / 4)


class Shard(Training):
    """The words of one thread, and the pairs they begin with, posted to their homes."""

    def __init__(self, *words: Any, n_shards: int, **options: Any) -> None:
        super().__init__(*words, n_shards=n_shards, **options)
        work, state = self.work, self.work[at.STATE]
        state[at.TAKEN], state[at.STAGE], state[at.PAUSE_AT] = NOT_TAKEN, at.CHOOSING, _NEVER
        work[at.OUTBOX] = np.empty(n_shards * MESSAGE * (int(state[at.N_PAIRS]) + 1024), np.int64)
        work[at.OUTBOX_ENDS] = apart(MOST_TOGETHER * n_shards)
        work[at.FRONT], work[at.BATCH] = apart(3 * (MOST_SHOWN + 2)), apart(4 * MOST_TOGETHER)
        work[at.IN_BATCH], work[at.HEADS] = np.zeros(2 * self.n_wanted, np.int64), apart(n_shards)
        post_first_pairs(work.block)

    def growers(self) -> dict[int, Callable[[], None]]:
        """What makes room, by what the kernel stopped for."""
        return {**super().growers(), at.OUTBOX_FULL: self._grow_outbox}

    def _grow_outbox(self) -> None:
        state = self.work[at.STATE]
        parts = self.work[at.OUTBOX].reshape(int(state[at.N_SHARDS]), -1)
        larger = np.empty((len(parts), 2 * parts.shape[1] + int(state[at.NEEDED])), np.int64)
        larger[:, : parts.shape[1]] = parts
        ends = self.work[at.OUTBOX_ENDS].reshape(-1, len(parts))
        ends += np.arange(len(parts)) * (larger.shape[1] - parts.shape[1])
        self.work[at.OUTBOX] = larger.reshape(-1)


class ShardedSession:
    """Learns what `MergeSession` does, by the rules `hf` and `bytes`, in several threads.

    The arguments are those of `Training`, of which `shards` are made.
    """

    def __init__(self, *words: Any, shards: int, threads: int, **options: Any) -> None:
        announce(learn_in_shards)

        def shard(number: int) -> Shard:
            return Shard(*words, shard=number, n_shards=shards, **options)

        self.shards: Sequence[Shard] = in_threads(shard, range(shards), threads)
        most = sum(int(shard.work[at.STATE][at.N_PAIRS]) for shard in self.shards)
        for each in self.shards:
            each.work[at.TOUCHED] = np.empty(max(2 * each.n_wanted, most), np.int64)
        self._team = block([shard.work.block for shard in self.shards])
        self._threads = threads
        self._failed = Event()

    def run(self, progress: Progress = lambda fraction: None) -> NDArray[np.int32]:
        """Learn until the wanted number of tokens; int32 ``(n, 3)``: left, right, result, first symbols from 0
        on.
        """
        self.shards[0].work[at.STATE][at.PAUSE_AT] = PAUSE
        self._waits = Waits(self._threads)
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
        """Work in a thread each, this one for the first; what it stopped for."""
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
        first, thread = self.shards[0], int(turn[turns.THREAD])
        while not self._failed.is_set():
            reason = int(learn_in_shards(self._team, turn, arrivals))
            if reason in (at.DONE, at.DISBANDED):
                return reason
            if reason == at.PAUSED:
                first.work[at.STATE][at.PAUSE_AT] += PAUSE
                progress(first.done)
            elif reason == at.AWAITING:
                self._waits.wait(thread, int(turn[turns.BARRIERS]))
            else:
                growers[int(turn[turns.AT_SHARD])][reason]()
            if thread == 0 and turn[turns.THREADS] > 1 and self._waits.too_long():
                call_off(arrivals, int(turn[turns.BARRIERS]))
        return at.DONE


_give_way: Callable[[], object] = getattr(os, "sched_yield", lambda: time.sleep(0))
"""Let another thread have the core."""
