"""Trainings in processes of their own, some at once: what one of them does ends none of the others.

Each has one thread: so that the same seed gives the same figure whatever else runs, and since two trainings
side by side take less time than one after another on two cores.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench import CorpusError, TokbenchError, Tokenizer
from tokbench_probe.shape import Budget, Course, Shape, fitted
from tokbench_probe.streams import ProbeTexts, Streams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Nats = NDArray[np.float64]

CHILD = ("-m", "tokbench_probe.child")
ONE_THREAD = {
    "JAX_PLATFORMS": "cpu",
    "NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "OMP_NUM_THREADS": "1",
}


def need_jax() -> None:
    """Raise `TokbenchError`, with what to do, where JAX is not installed."""
    if importlib.util.find_spec("jax") is None:
        raise TokbenchError("tokbench probe needs jax, which is not installed: pip install 'tokbench[probe]'")


@dataclass(frozen=True, slots=True)
class ProbeTask:
    """A transformer to train on a tokenizer's streams, once for each seed."""

    streams: Streams
    shape: Shape
    course: Course
    seeds: Sequence[int]

    @classmethod
    def of(
        cls, name: str, tokenizer: Tokenizer, texts: ProbeTexts, budget: Budget, seeds: Sequence[int]
    ) -> ProbeTask:
        """For some texts and a budget; raises `CorpusError` where there is less to train on than a context."""
        streams = Streams.of(name, tokenizer, texts)
        shape = fitted(name, streams.symbols, (len(streams.train) - 1) / texts.train_bytes, budget)
        if len(streams.train) <= shape.context:
            raise CorpusError(
                f"the training text has {texts.train_bytes:,} bytes, less than a context of {budget.context}"
            )
        return cls(streams, shape, budget.course, seeds)


@dataclass(slots=True)
class _Running:
    """The processes that run, and whether all are to end."""

    processes: set[subprocess.Popen[str]] = field(default_factory=set)
    stopped: bool = False

    def stop(self) -> None:
        self.stopped = True
        for process in list(self.processes):
            process.kill()


def trained_apart(
    tasks: Mapping[str, ProbeTask], jobs: int, timeout: float, told: Callable[[str, float], None]
) -> dict[str, Nats | str]:
    """The losses of each task, ``(seeds, symbols read)``, or why there are none.

    `told` hears the name of a task and the share of it that is done: 0 while it is being compiled. A task that
    takes longer than `timeout` seconds is ended.
    """
    running = _Running()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            begun = {
                name: pool.submit(_one, name, task, timeout, told, running) for name, task in tasks.items()
            }
            return {name: each.result() for name, each in begun.items()}
        except BaseException:
            running.stop()
            raise


def _one(
    name: str, task: ProbeTask, timeout: float, told: Callable[[str, float], None], running: _Running
) -> Nats | str:
    """Train one in a process, and wait for it."""
    import numpy as np

    with (
        tempfile.TemporaryDirectory(prefix="tokbench-probe-") as folder,
        tempfile.TemporaryFile("w+") as printed,
    ):
        if running.stopped:
            return "stopped"
        np.save(Path(folder, "train.npy"), task.streams.train)
        np.save(Path(folder, "read.npy"), task.streams.read)
        given = [json.dumps(each) for each in (task.shape, task.course, list(task.seeds))]
        process = subprocess.Popen(
            [sys.executable, "-P", *CHILD, folder, *given],
            stdin=subprocess.PIPE,  # nothing is written to it: it ends with us, and the training with it
            stdout=subprocess.PIPE,
            stderr=printed,
            text=True,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,  # a Ctrl-C at the terminal is for us alone
        )
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        running.processes.add(process)
        clock = threading.Timer(timeout, end)
        clock.start()
        told(name, 0.0)
        try:
            assert process.stdout is not None
            for line in process.stdout:
                told(name, float(line))
            code = process.wait()
        finally:
            clock.cancel()
            process.kill()
            with process:  # waits for it, and closes its pipes
                running.processes.discard(process)
        if late.is_set():
            return f"no result within {timeout:g} s"
        if code:
            printed.seek(0)
            last = printed.read().strip().rsplit("\n", 1)[-1]
            return f"the process ended with status {code}" + (f": {last}" if last else "")
        found: Nats = np.load(Path(folder, "nats.npy"))
        return found
