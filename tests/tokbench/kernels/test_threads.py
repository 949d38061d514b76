"""Parts of a job in threads: each is done once, errors are passed on, and no thread is left behind."""

from __future__ import annotations

import threading
import time

import pytest

from tokbench.kernels.threads import in_threads, kept_threads


@pytest.mark.parametrize("threads", [2, 5])
def test_each_part_is_done_once_by_the_threads_at_hand(threads: int) -> None:
    crew = set()

    def do(part: int) -> int:
        crew.add(threading.current_thread())
        return sum(in_threads(lambda one: one + 1, range(part), 3))

    expected = [sum(range(1, part + 1)) for part in range(7)]
    before = threading.active_count()
    assert in_threads(do, range(7), threads) == expected
    assert len(crew) <= threads
    with kept_threads(threads):
        crew.clear()
        for _ in range(50):
            assert in_threads(do, range(7), threads) == expected
            assert in_threads(do, iter([3, 4]), 100) == [6, 10]
            assert in_threads(do, [], threads) == []
        assert len(crew) <= threads
        assert threading.current_thread() in crew
    assert threading.active_count() == before


def test_one_thread_is_the_calling_one() -> None:
    with kept_threads(1):
        assert in_threads(lambda _: threading.current_thread(), range(3), 1) == [threading.current_thread()] * 3


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("in_caller", [True, False])
@pytest.mark.parametrize("kept", [True, False])
def test_an_error_ends_all_threads_and_is_raised(
    error: type[BaseException], in_caller: bool, kept: bool
) -> None:
    caller, before = threading.current_thread(), threading.active_count()
    all_there = threading.Barrier(3)
    begun, ended = [], []

    def do(part: int) -> None:
        begun.append(part)
        if part < 3:
            all_there.wait(10)  # each thread has one of these parts
            if (threading.current_thread() is caller) == in_caller:
                raise error("at work")
        time.sleep(0.02)
        ended.append(part)

    with kept_threads(3 if kept else 1):
        with pytest.raises(error, match="at work"):
            in_threads(do, range(1000), 3)
        failed = 1 if in_caller else 2
        assert len(begun) < 20  # the others did not go on to the end
        assert len(ended) == len(begun) - failed  # and have finished what they had begun
        assert in_threads(abs, [-1, -2, -3], 3) == [1, 2, 3]
    assert threading.active_count() == before
