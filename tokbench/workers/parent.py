"""The parent's side of a worker process: starts it, calls functions in it, kills it past a limit.

A `Worker` is one child process that does one thing at a time. Whoever calls it waits in `Worker.call`, which
watches the time limit and the memory limit, and learns exactly which call took a process down; that is why
tokenizers are not run in a `ProcessPoolExecutor`, where one death fails everything that was submitted.
The child is a fresh interpreter (not a fork, not the user's ``__main__``), so `tokbench.run` needs no
``if __name__ == "__main__"`` guard and works where children of daemonic processes are refused.
Most callers want `tokbench.workers.pool.attempt`, which borrows one and always has an answer.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tokbench.wording import data_size
from tokbench.workers.calls import NO_LIMITS, Begun, CallFailed, Compiling, Emit, Given, Limits, T, WorkerLost
from tokbench.workers.child import receive, send
from tokbench.workers.memory import KEEP_MEMORY

_TICK = 0.1
_OUTPUT_KEPT = 4_000
_OUTPUT_LIMIT = 16_000_000
_BOOTSTRAP = "import sys; sys.path[:] = {path!r}; from tokbench.workers.child import main; main()"

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


def thread_environment(threads: int) -> dict[str, str]:
    """The variables that hold the thread pools inside libraries to `threads`."""
    held = dict.fromkeys(_THREAD_VARIABLES, str(threads))
    return held | {"TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false"}


@dataclass(eq=False)
class Worker:
    """One child process; `environment` is added to ours. Not for use by two threads at once."""

    environment: Mapping[str, str] = field(default_factory=lambda: thread_environment(1) | KEEP_MEMORY)

    def __post_init__(self) -> None:
        import psutil  # here and below: workers import this module too, and start none

        # O_APPEND, so that the file can be cut back to nothing while the child still writes to it.
        handle, name = tempfile.mkstemp(prefix="tokbench-worker-")
        os.close(handle)
        self._output = Path(name).open("a+b", buffering=0)  # noqa: SIM115  (lives as long as we)
        if os.name == "posix":
            Path(name).unlink()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOTSTRAP.format(path=_search_path())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            env={**os.environ, **self.environment},
            start_new_session=True,  # a Ctrl-C at the terminal is for the coordinator alone
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        receive(self._process.stdout, self._inbox, partial(self._inbox.put, ("gone", None)))
        self._handle = psutil.Process(self._process.pid)
        self._printed_before = self._ahead = 0
        self._compiling: Callable[[], None] | None = None
        self._ended = False
        _living.add(self)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def call(
        self,
        function: Callable[[Emit, *Given], T],
        *arguments: *Given,
        limits: Limits = NO_LIMITS,
        on_event: Emit | None = None,
    ) -> T:
        """``function(emit, *arguments)`` in the child, and its value; events go to `on_event` as they come.

        Raises `CallFailed` where it raised, and `WorkerLost` where the process died or had to be killed.
        """
        if _halted.is_set():
            raise WorkerLost("interrupted", "stopped by the user")
        while self._ahead:
            self._ahead -= 1
            with contextlib.suppress(CallFailed):  # whoever needs it calls it again, and hears of it
                self._reply(NO_LIMITS, None)
        self._printed_before = self._output_size()
        try:
            send(self._requests, (Path.cwd(), function, arguments))
        except OSError:
            raise self._lost() from None
        value: T = self._reply(limits, on_event)
        return value

    def begin(self, function: Callable[[Emit], None], compiling: Callable[[], None] | None = None) -> None:
        """Have ``function(emit)`` called and wait for nothing: the next `call` does, without limits.

        `compiling` is called when the process says, in this or any later call, that it has to compile kernels.
        """
        self._compiling = compiling
        with contextlib.suppress(OSError):  # a process that is gone already is found gone by that call
            send(self._requests, (Path.cwd(), function, ()))
            self._ahead += 1

    def _reply(self, limits: Limits, on_event: Emit | None) -> Any:
        """Wait for the end of what was sent, within limits."""
        begun = time.monotonic()
        watched = begun
        while True:
            try:
                kind, content = self._inbox.get(timeout=_TICK)
            except queue.Empty:
                kind, content = "tick", None
            now = time.monotonic()
            if kind == "value":
                return content
            if kind == "error":
                failed, message, trace = content
                raise CallFailed(failed, message, trace, self.printed())
            if kind == "gone":
                raise self._lost()
            if kind == "event":
                if isinstance(content, Compiling) and self._compiling is not None:
                    self._compiling()
                if isinstance(content, Begun):
                    begun = now
                if on_event is not None:
                    on_event(content)
            if now - watched >= _TICK:
                watched = now
                self._watch(now - begun, limits)

    def _watch(self, seconds: float, limits: Limits) -> None:
        """Kill the process where it is past a limit, and say which."""
        if limits.seconds is not None and seconds > limits.seconds:
            self.kill()
            raise WorkerLost("timeout", f"no result within {limits.seconds:g} s", output=self.printed())
        memory = self._memory()
        if limits.memory is not None and memory > limits.memory:
            self.kill()
            held, most = data_size(memory), data_size(limits.memory)
            more = "more than" if held == most else f"{held}, above"
            raise WorkerLost("memory", f"the process held {more} the limit of {most}", output=self.printed())
        if self._output_size() > _OUTPUT_LIMIT:
            self._output.truncate(0)
            self._printed_before = 0

    def _memory(self) -> int:
        import psutil

        with contextlib.suppress(psutil.Error):
            return int(self._handle.memory_info().rss)
        return 0

    def _lost(self) -> WorkerLost:
        code = self._process.wait()
        how = f"with exit status {code}"
        if code < 0:  # real-time signals have no name
            named = -code in {*signal.Signals}
            how = f"by signal {signal.Signals(-code).name if named else -code}"
        self.kill()
        if _halted.is_set():
            return WorkerLost("interrupted", "stopped by the user", output=self.printed())
        return WorkerLost("crashed", f"the process ended {how}", output=self.printed())

    def printed(self) -> str:
        """The end of what the child printed since the last call began."""
        size = self._output_size()
        start = max(self._printed_before, size - _OUTPUT_KEPT)
        self._output.seek(start)
        return self._output.read(size - start).decode("utf-8", "replace")

    def _output_size(self) -> int:
        return os.fstat(self._output.fileno()).st_size

    def kill(self) -> None:
        """End the process, and what it started, now."""
        if self._ended:  # its number may be another's by now
            return
        self._ended = True
        _living.discard(self)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the process and free what it held."""
        with contextlib.suppress(OSError):
            self._requests.close()
        self.kill()
        self._output.close()


def _search_path() -> list[str]:
    """Our `sys.path` without the current directory, which would shadow packages by the data folders in it."""
    return [entry for entry in sys.path if entry]


# --- all workers of this process ------------------------------------------------------------------------

_living: set[Worker] = set()
_halted = threading.Event()


def stop_now() -> None:
    """Kill every worker of this process, and refuse to call any until `allow`.

    Those who wait for one get `WorkerLost` of kind ``interrupted``.
    """
    _halted.set()
    for worker in list(_living):
        worker.kill()


def allow() -> None:
    """Let workers be called again after `stop_now`."""
    _halted.clear()
