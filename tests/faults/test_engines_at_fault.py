"""A shared engine whose scheduler dies: a sentence that says so and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokbench.results import Run
from tokbench.runner.run import RunError

ENGINE = """
import contextlib
from concurrent.futures import Executor, Future

class Dying(Executor):
    def __init__(self, lives, at_once):
        self.lives, self.at_once = lives, at_once

    def submit(self, function, *arguments):
        self.lives -= 1
        if self.lives < 0 and self.at_once:
            raise ConnectionError("the scheduler is gone")
        future = Future()
        if self.lives < 0:
            future.set_exception(ConnectionError("the scheduler is gone"))
        else:
            future.set_result(function(*arguments))
        return future

@contextlib.contextmanager
def dying(jobs, address, lives={lives}, at_once={at_once}):
    yield Dying(lives, at_once)

@tokbench.hookimpl
def tokbench_engines():
    return [tokbench.Engine(name="dying", summary="", open=dying, shared=True)]
"""


@pytest.mark.parametrize(("lives", "at_once"), [(0, True), (5, False)], ids=["from the start", "in the middle"])
def test_a_killed_scheduler_is_said_and_the_run_goes_on_later(
    text: Path, run: Callable[..., Run], plugin: Callable[[str, str], str], lives: int, at_once: bool
) -> None:
    named = plugin("dying", ENGINE.format(lives=lives, at_once=at_once))
    asked = ["bytes", "chars"], [f"text:{text}"]
    with pytest.raises(RunError, match=r"the engine dying failed: Connection.*gone; the same command goes on"):
        run(*asked, engine="dying", plugins=[named], jobs=1)
