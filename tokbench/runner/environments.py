"""Is a worker on another machine the same as we are? Asked before work is sent, and again by every task."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from functools import lru_cache

from tokbench.errors import SpecError
from tokbench.registry import PluginChoice, Registry
from tokbench.runner.counting import failure
from tokbench.runner.recipe import environment, open_registry
from tokbench.runner.sheltered import run_task
from tokbench.runner.tasks import Outcome, Task
from tokbench.tokenizer import LoadContext

PROBES = 4
"""Questions for each job: an executor does not say which worker answers, so several are asked."""


def check_workers(executor: Executor, registry: Registry, jobs: int) -> None:
    """Raise `SpecError`, naming what differs, unless every worker that answers has what we have."""
    ours = environment(registry)
    asked = [executor.submit(environment_here, registry.choice, registry.context) for _ in range(PROBES * jobs)]
    for future in asked:
        different = difference(ours, future.result())
        if different:
            raise SpecError(f"a worker of the engine is not the same as here: {different}; nothing was sent")


@lru_cache(maxsize=4)
def environment_here(plugins: PluginChoice, context: LoadContext) -> dict[str, str]:
    """What this process has."""
    return environment(open_registry(plugins, context))


def difference(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """What differs, in words; empty where nothing does.

    Example:
        >>> difference({"tokbench": "1.0", "numpy": "2"}, {"tokbench": "0.9", "numpy": "2"})
        'tokbench is 0.9 there and 1.0 here'
    """
    names = dict.fromkeys([*ours, *theirs])
    return ", ".join(
        f"{name} is {theirs.get(name, 'absent')} there and {ours.get(name, 'absent')} here"
        for name in names
        if ours.get(name) != theirs.get(name)
    )


def run_checked(task: Task, expected: Mapping[str, str]) -> list[Outcome]:
    """`run_task` on a worker of a cluster, which may have joined after the others were asked."""
    different = difference(expected, environment_here(task.recipe.plugins, task.recipe.context))
    if different:
        why = failure("environment", f"the worker is not the same as the coordinator: {different}")
        return [Outcome(piece.cell, piece.part, failure=why) for piece in task.pieces]
    return run_task(task)
