"""Workers started before anybody needs them."""

from __future__ import annotations

import importlib
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tokbench.workers.calls import CallFailed, Limits, WorkerLost
from tokbench.workers.parent import Worker
from tokbench.workers.pool import borrowed, close_idle, start_ahead

SECONDS = 0.7
CALLED = f"""
import time
slept = []
def slow(emit):
    time.sleep({SECONDS})
    emit(("slept", True))
    slept.append(True)
def raising(emit):
    raise ValueError("not today")
def compiles(emit):
    from numba import njit
    from tokbench.kernels.compiling import when_compiling
    from tokbench.workers.calls import Compiling
    when_compiling(lambda: emit(Compiling()))
    njit(lambda x: x + 1)(1)
    njit(lambda x: x + 2)(1)
def where(emit):
    from pathlib import Path
    return str(Path.cwd())
def how_often(emit):
    return len(slept)
def fills(emit):
    import os
    kept = [bytearray(100_000) for _ in range(2_000)]
    slept.append(bytearray(100))  # behind them
    return os.getpid()
"""


@pytest.fixture(autouse=True)
def _no_workers() -> Iterator[None]:
    close_idle()
    yield
    close_idle()


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module that workers can import too."""
    (tmp_path / "called_in_workers.py").write_text(CALLED)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "called_in_workers", raising=False)
    return importlib.import_module("called_in_workers")


@pytest.fixture
def worker(called: Any) -> Iterator[Worker]:
    started = Worker()
    yield started
    started.close()


def test_a_worker_says_once_that_it_compiles(worker: Worker, called: Any) -> None:
    said: list[bool] = []
    worker.begin(called.compiles, lambda: said.append(True))
    heard: list[object] = []
    assert worker.call(called.how_often, on_event=heard.append) == 0
    assert (said, heard) == ([True], [])


def test_what_was_begun_is_over_before_the_next_call_and_not_timed(worker: Worker, called: Any) -> None:
    heard: list[object] = []
    worker.begin(called.slow)
    worker.begin(called.slow)
    assert worker.call(called.how_often, limits=Limits(seconds=SECONDS), on_event=heard.append) == 2
    assert heard == [], "an event of what was begun is nothing to the call"
    assert worker.call(called.how_often) == 2


def test_an_error_in_what_was_begun_is_told_to_whoever_calls_it_again(worker: Worker, called: Any) -> None:
    worker.begin(called.raising)
    assert worker.call(called.how_often) == 0
    with pytest.raises(CallFailed, match="not today"):
        worker.call(called.raising)


def test_a_process_that_ends_meanwhile_is_found_lost_by_the_next_call(worker: Worker, called: Any) -> None:
    worker.begin(called.slow)
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerLost, match="SIGKILL"):
        worker.call(called.how_often)
    worker.begin(called.slow)
    with pytest.raises(WorkerLost):
        worker.call(called.how_often)


def test_a_process_that_ends_by_a_signal_without_a_name_is_lost(worker: Worker, called: Any) -> None:
    worker.begin(called.slow)
    os.kill(worker.pid, 40)
    with pytest.raises(WorkerLost, match="by signal 40"):
        worker.call(called.how_often)


def test_a_limit_of_memory_is_told_in_a_unit_that_suits_it(worker: Worker, called: Any) -> None:
    with pytest.raises(WorkerLost, match=r"held \d+ MB, above the limit of 819 bytes"):
        worker.call(called.slow, limits=Limits(memory=819))


def test_a_kept_worker_works_in_the_folder_that_its_parent_is_in(
    called: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    for folder in (tmp_path, tmp_path / "other", tmp_path):
        monkeypatch.chdir(folder)
        with borrowed() as one:
            assert one.call(called.where) == str(folder)


def test_as_many_are_started_as_are_missing_and_those_are_borrowed(called: Any) -> None:
    with borrowed() as first:
        pass
    started = set()
    for missing in (3, 2):  # the second time there are enough
        start_ahead(missing, called.slow)
        with borrowed() as one, borrowed() as two, borrowed() as three:
            assert sorted(worker.call(called.how_often) for worker in (one, two, three)) == [0, 1, 1]
            started |= {worker.pid for worker in (one, two, three)}
    assert len(started) == 3
    assert first.pid in started


_HOLES = """
import psutil
from tokbench.workers.memory import give_back
held = [bytes(1000) for _ in range(100_000)]
full = psutil.Process().memory_info().rss
held = held[::1000]
kept = psutil.Process().memory_info().rss
give_back()
print(full - kept, full - psutil.Process().memory_info().rss)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_memory_between_what_is_kept_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", _HOLES], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert before < 20e6  # else there would be nothing to do
    assert after > 60e6


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be asked to give memory back")
def test_a_worker_that_waits_gives_memory_back(called: Any, worker: Worker) -> None:
    def held() -> int:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    pid = worker.call(called.fills)
    full = held()
    for _ in range(100):
        if held() < full - 150_000_000:
            return
        time.sleep(0.1)
    pytest.fail(f"it holds {held():,} bytes still, of {full:,}")
