"""Processes that work side by side: with nothing in common but the machine, they reach all that threads can.

A script calls itself in so many processes, which do the same thing whenever they are asked.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence


class SideBySide:
    """So many processes of one command, which calls `whenever_asked`; they are ready when this is made."""

    def __init__(self, number: int, command: Sequence[str]) -> None:
        self._processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(number)
        ]
        self._wait(self._processes)

    def seconds(self, number: int) -> float:
        """How long so many of them take, by the clock on the wall, if they begin together."""
        some = self._processes[:number]
        start = time.perf_counter()
        for process in some:
            print("go", file=process.stdin, flush=True)
        self._wait(some)
        return time.perf_counter() - start

    def leave(self) -> None:
        """Send them home."""
        for process in self._processes:
            process.communicate()

    def _wait(self, some: Sequence[subprocess.Popen[str]]) -> None:
        for process in some:
            if not (process.stdout and process.stdout.readline()):
                raise SystemExit("a process at work beside others has failed")


def whenever_asked(work: Callable[[], object]) -> None:
    """Work once, and once more for each line on stdin; print a line whenever done."""
    work()
    print("done", flush=True)
    for _line in sys.stdin:
        work()
        print("done", flush=True)
