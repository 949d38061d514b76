"""Checks of an engine that opens without an address."""

from __future__ import annotations

import os

from tokbench.extension import Engine
from tokbench.testing.check import ConformanceCheck, Problem


@ConformanceCheck.of("works", "open(jobs, address) gives a concurrent.futures.Executor.")
def _works(engine: Engine) -> Problem:
    with engine.open(2, None) as executor:
        found = list(executor.map(_square, range(20)))
    return None if found == [n * n for n in range(20)] else f"twenty tasks gave {found}"


@ConformanceCheck.of("shared", "say shared=True where workers are processes of their own.")
def _says_where(engine: Engine) -> Problem:
    with engine.open(1, None) as executor:
        elsewhere = executor.submit(os.getpid).result() != os.getpid()
    if elsewhere == engine.shared:
        return None
    return f"tasks run in {'other processes' if elsewhere else 'this process'}; shared is {engine.shared}"


@ConformanceCheck.of("errors", "what a task raises must be its future's exception.")
def _raises(engine: Engine) -> Problem:
    with engine.open(1, None) as executor:
        error = executor.submit(_fail).exception()
    return None if isinstance(error, ZeroDivisionError) else f"a task that fails gave {error!r}"


def _square(number: int) -> int:
    return number * number


def _fail() -> None:
    raise ZeroDivisionError


ENGINE = (_works, _says_where, _raises)
