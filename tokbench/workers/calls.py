"""What both sides of a call in a worker know: its limits, its events, and the ways it fails.

Also what a process can say and do about its memory.
"""

from __future__ import annotations

import ctypes
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from tokbench.errors import TokbenchError, described
from tokbench.results.cell import TaskFailure

T = TypeVar("T")
Given = TypeVarTuple("Given")
"""The types of what is called in a worker: what it gives, and what it is given after `emit`."""
Emit = Callable[[object], None]
"""Sends an event to whoever called; the first argument of everything that is called in a worker."""


@dataclass(frozen=True, slots=True)
class Begun:
    """An event: a step of the call begins, and with it the clock of the time limit."""


@dataclass(frozen=True, slots=True)
class Compiling:
    """An event: kernels have to be compiled, which takes a while once on a machine."""


_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(256 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
"""Variables that have glibc keep freed memory for the arrays of the next batch: giving pages back to the system
and asking for them again takes a tenth of the counting. Not for processes that are timed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a step may take (seconds) and how much memory its process may hold (bytes); None: no limit.

    A step ends where the callee emits `Begun`: the clock then starts anew.
    """

    seconds: float | None = None
    memory: int | None = None


NO_LIMITS = Limits()


class NoAnswer(Exception):
    """A call in a worker has no value: `traceback` says where it raised, `output` what was printed."""

    def __init__(self, kind: str, message: str, traceback: str = "", output: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.traceback = traceback
        self.output = output


class WorkerLost(NoAnswer):
    """The process is gone: `kind` is ``timeout``, ``memory``, ``crashed`` or ``interrupted``."""


class CallFailed(NoAnswer):
    """What was called raised: `kind` is ``raised`` or ``memory``."""


def thread_environment(threads: int) -> dict[str, str]:
    """The variables that hold the thread pools inside libraries to `threads`."""
    held = dict.fromkeys(_THREAD_VARIABLES, str(threads))
    return held | {"TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false"}


def peak_memory() -> int:
    """The most memory this process has held, in bytes; 0 where the system does not tell.

    On Linux from ``/proc``: `getrusage` there begins with what the parent held when it started us.
    """
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def give_back() -> None:
    """Hand memory that was freed back to the system, where the C library can (glibc).

    It keeps what lies between pieces in use otherwise: a worker that had held 25 vocabularies, one after
    another, was a third larger.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def describe(error: BaseException) -> tuple[str, str, str]:
    """An exception as (kind, message, traceback), which cross processes where the object might not."""
    kind = "memory" if isinstance(error, MemoryError) else "raised"
    message = str(error) if isinstance(error, TokbenchError) else described(error)
    return kind, message, "".join(traceback.format_exception(error))


_REMEDIES = {
    "timeout": "give it longer with --timeout, or leave the tokenizer out",
    "memory": "allow more with --memory-limit, or run fewer at once with --jobs",
    "crashed": "the library took its process down; the others are unharmed; its last output is in run.json",
    "environment": "install the same versions there; the other workers are not concerned",
    "raised": "run.json has the traceback; `tokbench plugins check SPEC` tests a tokenizer by itself",
}


def failure_of(error: BaseException) -> TaskFailure:
    """What went wrong while a tokenizer was at work, with what to do about it."""
    kind, message, trace = describe(error)
    # Our own errors say what to do themselves.
    remedy = "" if isinstance(error, TokbenchError) else _REMEDIES[kind]
    return TaskFailure(kind, message, remedy, trace)


def failure(kind: str, message: str, *, traceback: str = "", output: str = "") -> TaskFailure:
    """A failure of one of the usual kinds, with its remedy."""
    return TaskFailure(kind, message, _REMEDIES.get(kind, ""), traceback, output)


def failure_from(error: NoAnswer, doing: str = "") -> TaskFailure:
    """Why a call in a worker has no answer; raises `error` again where that is because the user stopped it."""
    if error.kind == "interrupted":
        raise error
    message = f"{doing}: {error}" if doing else str(error)
    return failure(error.kind, message, traceback=error.traceback, output=error.output)
