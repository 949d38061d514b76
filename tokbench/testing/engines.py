"""Checks of engines."""

from __future__ import annotations

import os

from tokbench.extension import Engine
from tokbench.testing.check import ConformanceCheck, Problem


def engine_checks(engine: Engine) -> list[ConformanceCheck]:
    """The checks of an engine that opens without an address."""

    @ConformanceCheck.of("works", "open(jobs, address) gives a concurrent.futures.Executor.")
    def works() -> Problem:
        with engine.open(2, None) as executor:
            found = list(executor.map(_square, range(20)))
        return None if found == [n * n for n in range(20)] else f"twenty tasks gave {found}"

    @ConformanceCheck.of("shared", "say shared=True where workers are processes of their own.")
    def says_where() -> Problem:
        with engine.open(1, None) as executor:
            elsewhere = executor.submit(os.getpid).result() != os.getpid()
        if elsewhere == engine.shared:
            return None
        return f"tasks run in {'other processes' if elsewhere else 'this process'}; shared is {engine.shared}"

    @ConformanceCheck.of("errors", "what a task raises must be its future's exception.")
    def raises() -> Problem:
        with engine.open(1, None) as executor:
            error = executor.submit(_fail).exception()
        return None if isinstance(error, ZeroDivisionError) else f"a task that fails gave {error!r}"

    return [works, says_where, raises]


def _square(number: int) -> int:
    return number * number


def _fail() -> None:
    raise ZeroDivisionError
