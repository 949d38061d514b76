"""Ctrl-C during a run: the first lets what is in flight finish, the second ends it at once."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType

from tokbench.workers.parent import allow, stop_now


@dataclass
class Stop:
    """Whether the user asked to stop."""

    asked: bool = False


@contextlib.contextmanager
def stopping(say: Callable[[str], None]) -> Iterator[Stop]:
    """Within the block, the first SIGINT sets `asked`; the second, or a SIGTERM, ends workers and raises
    `KeyboardInterrupt`.

    Outside the main thread, where signals do not arrive, nobody ever asks.
    """
    stop = Stop()
    allow()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.asked or number == signal.SIGTERM:
            stop_now()
            raise KeyboardInterrupt
        stop.asked = True
        say("stopping: finishing what is in flight; press Ctrl-C again to stop now")

    signals = [signal.SIGINT, signal.SIGTERM]
    before = {number: signal.signal(number, handle) for number in signals}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
