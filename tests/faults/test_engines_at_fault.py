"""A shared engine whose scheduler dies: a sentence that says so and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokbench.errors import PluginError
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


@pytest.mark.parametrize("at_once", [True, False])
def test_a_scheduler_that_does_not_answer_is_said_before_anything_is_written(
    text: Path, run: Callable[..., Run], plugin: Callable[[str, str], str], at_once: bool, tmp_path: Path
) -> None:
    named = plugin("dying", ENGINE.format(lives=0, at_once=at_once))
    with pytest.raises(RunError, match=r"the engine dying failed: Connection.*gone; nothing was written"):
        run(["bytes"], [f"text:{text}"], engine="dying", plugins=[named])
    source = ENGINE.replace("    yield ", "    raise OSError('no')\n    yield ").format(lives=0, at_once=True)
    named = plugin("unheard", source)
    with pytest.raises(PluginError, match="the engine 'dying': OSError: no"):
        run(["bytes"], [f"text:{text}"], engine="dying", plugins=[named])
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_was_killed_is_said_and_the_run_goes_on_later(
    text: Path, run: Callable[..., Run], plugin: Callable[[str, str], str]
) -> None:
    asked = ["bytes", "chars"], [f"text:{text}"]
    for lives in (5, 0):
        # of another size: Python takes a file of the same second and size for the one that it has compiled
        path = plugin("dying", ENGINE.format(lives=lives, at_once=False) + lives * "\n")
        with pytest.raises(RunError, match=r"dying failed: ConnectionError.*; the same command goes on"):
            run(*asked, engine="dying", plugins=[path], jobs=1)
    assert not run(*asked, plugins=[path], jobs=1).failures, "elsewhere, too"
