"""What both sides of a call in a worker know: its limits, its events, and the ways it fails."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, TypeVarTuple

from tokbench.errors import TokbenchError, described
from tokbench.results.failure import TaskFailure

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
