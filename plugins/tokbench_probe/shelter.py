"""Run trainings in separate processes, some at once: a crash in one does not end the others.

Each has one thread. So the same seed gives the same figure whatever else runs, and on two cores two trainings
side by side take less time than one after another.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tokbench import CorpusError, TokbenchError, Tokenizer
from tokbench.workers.calls import Emit, Limits, NoAnswer
from tokbench.workers.parent import Worker, allow, stop_now
from tokbench_probe.shape import Budget, Course, Shape, fitted
from tokbench_probe.streams import ProbeTexts, Streams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Nats = NDArray[np.float64]

ONE_THREAD = {
    "JAX_PLATFORMS": "cpu",
    "NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "OMP_NUM_THREADS": "1",
}


def need_jax() -> None:
    """Raise `TokbenchError`, with the remedy, if JAX is not installed."""
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
        """The task for some texts and a budget; raises `CorpusError` for less training text than a context."""
        streams = Streams.of(name, tokenizer, texts)
        shape = fitted(name, streams.symbols, (len(streams.train) - 1) / texts.train_bytes, budget)
        if len(streams.train) <= shape.context:
            raise CorpusError(
                f"the training text has {texts.train_bytes:,} bytes, less than a context of {budget.context}"
            )
        return cls(streams, shape, budget.course, seeds)


def trained_apart(
    tasks: Mapping[str, ProbeTask], jobs: int, timeout: float, told: Callable[[str, float], None]
) -> dict[str, Nats | str]:
    """The losses of each task, ``(seeds, symbols read)``, or a message why it failed.

    `told` is called with the name of a task and the share done, 0 during compilation. A task that takes longer
    than `timeout` seconds is ended.
    """
    allow()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            begun = {name: pool.submit(_one, name, task, timeout, told) for name, task in tasks.items()}
            return {name: each.result() for name, each in begun.items()}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            stop_now()
            raise


def _one(name: str, task: ProbeTask, timeout: float, told: Callable[[str, float], None]) -> Nats | str:
    """Train one in a process, and wait for it."""
    hear = partial(told, name)
    hear(0.0)
    with closing(Worker(ONE_THREAD)) as worker:
        try:
            return worker.call(losses, task, limits=Limits(timeout), on_event=hear)
        except NoAnswer as error:
            first = error.output.strip().partition("\n")[0]
            return f"{error}: {first}" if error.kind == "crashed" and first else str(error)


def losses(emit: Emit, task: ProbeTask) -> Nats:
    """In a worker: the losses in nats of each seed, ``(seeds, symbols read)``; events are shares done."""
    import numpy as np

    from tokbench_probe.learning import read, trained

    streams, shape, course = task.streams, task.shape, task.course
    found = []
    for number, seed in enumerate(task.seeds):

        def told(step: int, number: int = number) -> None:
            if step == 1 or step % 10 == 0:
                emit((number + step / course.steps) / len(task.seeds))

        parameters = trained(streams.train, shape, course, seed, told)
        found.append(read(parameters, streams.read, shape.context, course.batch))
    return np.stack(found)
