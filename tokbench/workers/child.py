"""The child's side of a worker process: answers requests until the parent closes the pipe.

`tokbench.workers.parent` starts it. Requests come in on stdin; replies leave on a private copy of stdout,
and stdout itself is then tied to stderr, which the parent collects: whatever a tokenizer prints, from Python
or from C, ends up there and never between two messages. A message is a pickle: only between a process and the
child it started itself.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, BinaryIO

from tokbench.workers.calls import Emit, describe
from tokbench.workers.memory import give_back

_SOON = 0.5
"""Seconds that a worker waits for the next request before it gives memory back."""


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    requests, replies = _private_streams()
    faulthandler.enable(sys.stderr)
    # Ctrl-C reaches the whole terminal group; only the coordinator decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    # When the parent is gone, killed perhaps, we leave at once rather than linger.
    receive(requests, inbox, lambda: os._exit(0))
    while True:
        folder, function, arguments = _next(inbox)
        reply = _answer(folder, function, arguments, lambda event: send(replies, ("event", event)))
        _flush()
        send(replies, reply)


def _next(inbox: queue.SimpleQueue[Any]) -> Any:
    """The next request. Memory that was freed goes back to the system where none comes soon."""
    try:
        return inbox.get(timeout=_SOON)
    except queue.Empty:
        give_back()
        return inbox.get()


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, replies


def _answer(
    folder: Path, function: Callable[..., Any], arguments: tuple[Any, ...], emit: Emit
) -> tuple[str, Any]:
    """The reply to a request: the result of the function, called in the parent's folder, or its error."""
    try:
        os.chdir(folder)  # the parent may have gone to another one, and so may the last function
        return "value", function(emit, *arguments)
    except BaseException as error:  # SystemExit too: a tokenizer must not end its worker politely
        return "error", describe(error)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # a tokenizer may have replaced or closed it
            continue


def receive(stream: IO[bytes], inbox: queue.SimpleQueue[Any], at_end: Callable[[], object]) -> None:
    """Have a thread put every message of a stream into an inbox, and call `at_end` when there are no more."""

    def read() -> None:
        with contextlib.suppress(Exception), stream:
            while True:
                inbox.put(pickle.load(stream))
        at_end()

    threading.Thread(target=read, daemon=True).start()


def send(stream: IO[bytes], message: object) -> None:
    """Write one message and flush it."""
    # Not `pickle.dump`: what cannot be pickled must leave nothing in the stream.
    stream.write(pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))
    stream.flush()
