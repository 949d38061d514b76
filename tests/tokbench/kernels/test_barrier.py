"""The barrier: nobody passes before all have come, what was written before is seen, all can be called off."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tokbench.kernels.barrier import all_there, apart, arrive, call_off, counters, is_last
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import pointer


@kernel
def _cross(arrivals_, threads, me, first, last, slots, wrong):
    """Write to a slot of one's own, cross, read those of all; two slots a thread, in turn. How far it came."""
    arrivals = pointer(arrivals_)
    for number in range(first, last + 1):
        slot = 2 * me + number % 2
        slots[16 * slot] = number
        arrive(arrivals, me, number)
        if not all_there(arrivals, threads, number):
            return number - 1
        for other in range(threads):
            wrong[0] += slots[16 * (2 * other + number % 2)] != number
        if is_last(arrivals, threads, number):
            wrong[1] = 1
            return number
    return last


def crossed(threads: int, last: int, steps: int) -> tuple[list[int], int]:
    """Let threads cross barriers, so many `steps` a call; how far each came, and how often one read wrong."""
    arrivals, slots = counters(threads), apart(32 * threads)
    wrong = [apart(2) for _ in range(threads)]
    came = [0] * threads

    def work(me: int) -> None:
        while came[me] < last and not wrong[me][1]:
            end = min(came[me] + steps, last)
            came[me] = _cross(arrivals, threads, me, came[me] + 1, end, slots, wrong[me])
            come = min(came[me] + 1, end)  # the barrier where it looked in vain, or the last it has passed
            if me == 0 and last > 100 and come >= last // 2:
                call_off(arrivals, come)
            time.sleep(0)

    others = [threading.Thread(target=work, args=(me,)) for me in range(threads)]
    for other in others:
        other.start()
    for other in others:
        other.join(60)
    assert not any(other.is_alive() for other in others)
    return came, sum(int(count[0]) for count in wrong)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("steps", [1, 3, 1000])
def test_what_was_written_before_is_read_after(threads: int, steps: int) -> None:
    assert crossed(threads, 60, steps) == ([60] * threads, 0)


@pytest.mark.parametrize("threads", [2, 5])
def test_all_leave_at_the_same_barrier_when_called_off(threads: int) -> None:
    came, wrong = crossed(threads, 400, 7)
    assert len(set(came)) == 1
    assert 200 < came[0] < 400
    assert wrong == 0


@kernel
def _look(arrivals_, threads, number):
    return all_there(pointer(arrivals_), threads, number)


def test_who_is_alone_does_not_wait_for_ever() -> None:
    arrivals = counters(2)
    arrivals[0] = 1
    begun = time.perf_counter()
    assert not _look(arrivals, 2, 1)
    assert time.perf_counter() - begun < 30
    arrivals[16] = 5
    assert _look(arrivals, 2, 1)


def test_only_the_first_call_counts() -> None:
    arrivals = counters(3)
    call_off(arrivals, 7)
    call_off(arrivals, 9)
    assert arrivals[-16] == 8


def test_nothing_else_lies_in_the_cache_lines() -> None:
    rooms = [apart(3) for _ in range(5)]
    assert all(room.ctypes.data % 128 == 0 for room in rooms)
    begins = sorted(room.ctypes.data for room in rooms)
    assert np.diff(begins).min() >= 128
