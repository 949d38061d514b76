"""Engines: where tasks run. Local processes, a Dask cluster, a Ray cluster; plugins may add others.

Each gives a `concurrent.futures.Executor`; scheduling is theirs. The tokenizer itself always runs in yet
another process (see `tokbench.workers.shelter`), so the local engine needs only threads that wait. Whether
workers have the versions that we have is checked before work is sent to them, and again by every task.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from tokbench.errors import PluginError, SpecError, StorageError, TokbenchError, described
from tokbench.extension import Engine
from tokbench.inspection.facts import versions
from tokbench.registry import Registry, registry_of
from tokbench.spec import LoadContext
from tokbench.workers.calls import Given, T, WorkerLost
from tokbench.workers.shelter import allow, stop_now

PATIENCE = "20s"
"""How long a scheduler may take to answer."""


@contextlib.contextmanager
def open_local(jobs: int, address: str | None) -> Iterator[Executor]:
    """`jobs` worker processes on this machine; there is no `address`."""
    executor = ThreadPoolExecutor(jobs, thread_name_prefix="tokbench")
    allow()
    try:
        yield executor
    except KeyboardInterrupt:
        stop_now()  # or the user waits for what is in flight
        raise
    finally:
        executor.shutdown(cancel_futures=True)  # the workers stay: they have tokenizers loaded to be looked at


@contextlib.contextmanager
def open_dask(jobs: int, address: str | None) -> Iterator[Executor]:
    """The Dask cluster at `address` (``tcp://host:8786``), or one of `jobs` workers on this machine."""
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        if address is None:
            cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None)
            address = stack.enter_context(cluster).scheduler_address
        try:
            client = stack.enter_context(Client(address, timeout=PATIENCE))
        except (OSError, TimeoutError) as error:
            raise SpecError(f"--engine dask: no scheduler answers at {address}: {error}") from error
        # pure=True, the default, takes two submissions of one task for the same and runs one.
        yield client.get_executor(pure=False)


@contextlib.contextmanager
def open_ray(jobs: int, address: str | None) -> Iterator[Executor]:
    """The Ray cluster at `address` (``auto``, ``ray://host:10001``), or one of `jobs` CPUs on this machine."""
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else Ray uses the network unasked
    ours = not ray.is_initialized()
    if ours:
        here: dict[str, Any] = {"num_cpus": jobs, "include_dashboard": False}
        try:
            ray.init(
                address=address, log_to_driver=False, logging_level=logging.ERROR, **({} if address else here)
            )
        except (ConnectionError, ValueError) as error:
            raise SpecError(f"--engine ray: no cluster answers at {address}: {error}") from error
    try:
        yield RayExecutor(ray)
    finally:
        if ours:
            ray.shutdown()


class RayExecutor(Executor):
    """Ray tasks as a `concurrent.futures.Executor`, one CPU each."""

    def __init__(self, ray: Any) -> None:
        self._call = ray.remote(_call).options(num_cpus=1, max_retries=3)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run ``fn(*args, **kwargs)`` somewhere in the cluster."""
        future: Future[Any] = self._call.remote(fn, args, kwargs).future()
        return future


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fn(*args, **kwargs)


ENGINES = (
    Engine(name="local", summary="worker processes on this machine", open=open_local),
    Engine(name="dask", summary="a Dask cluster (extra: dask)", open=open_dask, shared=True),
    Engine(name="ray", summary="a Ray cluster (extra: ray)", open=open_ray, shared=True),
)

_NEEDS = {"dask": "distributed", "ray": "ray"}
"""The package that an engine is opened with, where an extra of the engine's name brings it."""


def check_engine(engine: Engine, address: str | None, registry: Registry) -> None:
    """Raise `SpecError` where what the engine needs is not installed, or it has no scheduler at an address."""
    needed = _NEEDS.get(engine.name)
    if needed and importlib.util.find_spec(needed) is None:
        raise SpecError(
            f"--engine {engine.name} needs the package {needed!r}, which is not installed; "
            f"pip install 'tokbench[{engine.name}]'"
        )
    if address is not None and not engine.shared:
        shared = " or ".join(name for name, other in registry.engines.items() if other.shared)
        raise SpecError(
            f"address {address!r}: the engine {engine.name!r} has no scheduler; name one that has ({shared})"
        )


# --- the workers of a shared engine ------------------------------------------------------------------------

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


def check_here(executor: Executor, engine: str) -> None:
    """Raise `SpecError` where an engine that says it is not shared runs its tasks in other processes."""
    if executor.submit(os.getpid).result() != os.getpid():
        raise SpecError(f"the engine {engine!r} runs tasks in other processes: its plugin must say shared=True")


def executor_of(engine: Engine, jobs: int, address: str | None) -> contextlib.AbstractContextManager[Executor]:
    """What `engine.open` gives; raises `PluginError` where that is nothing to be used in a ``with``."""
    try:
        executor = engine.open(jobs, address)
    except TokbenchError:
        raise
    except Exception as error:
        raise PluginError(f"the engine {engine.name!r}: {described(error)}") from error
    if not isinstance(executor, contextlib.AbstractContextManager):
        raise PluginError(f"the engine {engine.name!r} opened {type(executor).__name__}, not an Executor")
    return executor


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
