"""Calls timed side by side: one after another in every round, so that what disturbs one disturbs all."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping

LEAST_SECONDS = 0.05  # what is faster is repeated


def interleaved(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """The CPU seconds of each call in each round; every other round goes the other way round."""
    repeats = {name: 1 + int(LEAST_SECONDS / max(_taken(call, 1), 1e-6)) for name, call in calls.items()}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds):
        gc.collect()
        gc.disable()
        for name in list(calls)[:: 1 if turn % 2 else -1]:
            seconds[name].append(_taken(calls[name], repeats[name]))
        gc.enable()
    return seconds


def _taken(call: Callable[[], object], repeats: int) -> float:
    """CPU seconds of a call, the mean of so many in a row."""
    start = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - start) / repeats
