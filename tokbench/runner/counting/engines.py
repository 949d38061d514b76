"""Engines: where tasks run. Local processes, a Dask cluster, a Ray cluster; plugins may add others.

Each gives a `concurrent.futures.Executor`; scheduling is theirs. The tokenizer itself always runs in yet
another process (see `tokbench.workers.parent`), so the local engine needs only threads that wait.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from tokbench.errors import SpecError
from tokbench.extension import Engine
from tokbench.workers.parent import allow, stop_now

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
    Engine(
        name="dask",
        summary="a Dask cluster (extra: dask)",
        open=open_dask,
        shared=True,
        package="distributed",
        install="tokbench[dask]",
    ),
    Engine(
        name="ray",
        summary="a Ray cluster (extra: ray)",
        open=open_ray,
        shared=True,
        package="ray",
        install="tokbench[ray]",
    ),
)
