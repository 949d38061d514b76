"""Hands tasks to an engine, whichever it is, and tells the engine's faults from those of tasks.

Whether the workers of a shared engine have the versions that we have is checked before work is sent to them,
and again by every task.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor, Future
from functools import lru_cache
from typing import Any

from tokbench.errors import PluginError, SpecError, StorageError, TokbenchError, described
from tokbench.extension import Engine
from tokbench.inspection.facts import versions
from tokbench.registry import Registry, registry_of
from tokbench.spec import LoadContext
from tokbench.workers.calls import Given, T, WorkerLost


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # the package that it is a part of
        return False


def check_engine(engine: Engine, address: str | None, registry: Registry) -> None:
    """Raise `SpecError` where its package is not installed, and for a scheduler's address where it has none."""
    if engine.package and not _is_installed(engine.package):
        raise SpecError(
            f"the engine {engine.name!r} needs the package {engine.package!r}, which is not installed; "
            f"pip install '{engine.install or engine.package}'"
        )
    if address is not None and not engine.shared:
        shared = " or ".join(name for name, other in registry.engines.items() if other.shared)
        raise SpecError(
            f"address {address!r}: the engine {engine.name!r} has no scheduler; choose another ({shared})"
        )


PROBES = 4
"""Questions for each job: an executor does not say which worker answers, so several are asked."""


class EngineLost(Exception):
    """A shared engine gives no results any more: its scheduler or its workers are gone."""


def result_of(future: Future[T], *, shared: bool) -> T:
    """What a task gives; on a shared engine, tasks return failures of tokenizers, and raise the engine's."""
    try:
        return future.result()
    except (WorkerLost, StorageError, CancelledError):
        raise
    except Exception as error:
        if not shared:
            raise
        raise EngineLost(described(error)) from error


def submitted(executor: Executor, function: Callable[[*Given], T], *arguments: *Given) -> Future[T]:
    """A task handed to a shared engine, which may be gone before it takes it."""
    try:
        return executor.submit(function, *arguments)
    except Exception as error:
        raise EngineLost(described(error)) from error


class OpenedEngine:
    """The executor of an engine, opened when it is first asked for, and closed where the ``with`` ends.

    `expected` is what the workers of a shared engine must have in common with us, once it is open.
    """

    def __init__(self, engine: Engine, jobs: int, address: str | None, registry: Registry) -> None:
        self._engine, self._jobs, self._address, self._registry = engine, jobs, address, registry
        self._open = contextlib.ExitStack()
        self._executor: Executor | None = None
        self.expected: Mapping[str, str] | None = None

    def __enter__(self) -> OpenedEngine:
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def executor(self) -> Executor:
        """The executor, once its workers have turned out to be where, and what, the engine says.

        Raises `SpecError` where they are not, `EngineLost` where none answers, and `PluginError` where the
        engine fails, or opens nothing to be used in a ``with``.
        """
        if self._executor is None:
            self._executor = self._entered()
            if self._engine.shared:
                self.expected = check_workers(self._executor, self._registry, self._jobs)
            else:
                check_here(self._executor, self._engine.name)
        return self._executor

    def _entered(self) -> Executor:
        try:
            opened = self._engine.open(self._jobs, self._address)
            if isinstance(opened, contextlib.AbstractContextManager):
                return self._open.enter_context(opened)
        except TokbenchError:
            raise
        except Exception as error:
            raise PluginError(f"the engine {self._engine.name!r}: {described(error)}") from error
        raise PluginError(f"the engine {self._engine.name!r} opened {type(opened).__name__}, not an Executor")


def check_here(executor: Executor, engine: str) -> None:
    """Raise `SpecError` where an engine that says it is not shared runs its tasks in other processes."""
    if executor.submit(os.getpid).result() != os.getpid():
        raise SpecError(f"the engine {engine!r} runs tasks in other processes: its plugin must say shared=True")


def check_workers(executor: Executor, registry: Registry, jobs: int) -> dict[str, str]:
    """Our environment, once the workers of a shared engine that answer have turned out to have the same.

    Raises `SpecError`, naming what differs, where one has another, `EngineLost` where none can answer.
    """
    ours = environment(registry)
    asked = [submitted(executor, environment_here, registry.context) for _ in range(PROBES * jobs)]
    for future in asked:
        theirs = result_of(future, shared=True)
        different = difference(ours, theirs)
        if different:
            raise SpecError(f"a worker of the engine is not the same as here: {different}; nothing was sent")
    return ours


def environment(registry: Registry) -> dict[str, str]:
    """What the workers of a shared engine must have in common with us before work is sent to them."""
    loaded = [plugin for plugin in registry.host.plugins.values() if plugin.status == "loaded"]
    return {
        "python": ".".join(map(str, sys.version_info[:2])),
        **versions(["tokbench", "numpy"]),
        **{f"plugin {plugin.name}": plugin.version for plugin in loaded},
    }


@lru_cache(maxsize=4)
def environment_here(context: LoadContext) -> dict[str, str]:
    """The `environment` of this process."""
    return environment(registry_of(context))


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
