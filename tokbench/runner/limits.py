"""What a worker process may take, and how it may end: limits, thread pools held, losses as exceptions."""

from __future__ import annotations

from dataclasses import dataclass

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(256 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
"""Variables by which glibc keeps what was freed: arrays for one batch are those for the next, and to hand the
pages back and have them again takes as long as a tenth of the counting. Not for processes that are timed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a step may take (seconds) and how much memory its process may hold (bytes); None: no limit.

    A step ends where the callee emits an event ``("begin", …)``: the clock then starts anew.
    """

    seconds: float | None = None
    memory: int | None = None


NO_LIMITS = Limits()


class WorkerLost(Exception):
    """The process is gone: `kind` is ``timeout``, ``memory``, ``crashed`` or ``interrupted``."""

    def __init__(self, kind: str, message: str, output: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.output = output


class CallFailed(Exception):
    """What was called raised: kind, message and traceback as text, and what was printed meanwhile."""

    def __init__(self, kind: str, message: str, traceback: str, output: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.traceback = traceback
        self.output = output


def thread_environment(threads: int) -> dict[str, str]:
    """The variables that hold the thread pools inside libraries to `threads`."""
    held = dict.fromkeys(_THREAD_VARIABLES, str(threads))
    return held | {"TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false"}
