"""Runs as tests make them, with plugins of theirs: no speed pass, and none of their workers is left behind."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest

from tokbench.registry import build_registry
from tokbench.results import Run
from tokbench.workers.pool import close_idle

if TYPE_CHECKING:
    from tokbench.runner.planning.plan import Plan

FAULTY = Path(__file__).parent / "faulty_plugins"


@pytest.fixture(autouse=True, scope="module")
def no_workers_left() -> Iterator[None]:
    """For a conftest to import: the workers that a module of tests has started end with it."""
    yield
    close_idle()


@pytest.fixture(scope="module")
def workers_stay() -> Iterator[None]:
    """The workers of a run wait for the next run of a module, as one takes most of a second to start.

    Not for tests of what a worker inherits from this process as it starts: its environment, its folder.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tokbench.runner.run.close_idle", lambda: None)
        yield
    close_idle()


def runs_into(output: Path, **usual: Any) -> Callable[..., Run]:
    """A function that runs some tokenizers on some text, with some of the faulty plugins, and gives the run."""
    from tokbench.runner.run import run_suite

    def call(
        tokenizers: Sequence[str], datasets: Sequence[str], *, faulty: Sequence[str] = (), **options: Any
    ) -> Run:
        options = {"speed": False, "output": output, "jobs": 2, "audit": False, **usual, **options}
        plugins = [*options.pop("plugins", ()), *(str(FAULTY / f"{name}.py") for name in faulty)]
        return run_suite(None, tokenizers, datasets, plugins=plugins, **options)

    return call


def planned(changes: Mapping[str, Any], suite: str | Path | None = None) -> Plan:
    """The plan of a suite with some keys changed, against what is installed."""
    from tokbench.runner.planning.plan import make_plan
    from tokbench.runner.planning.suite import load_suite

    return make_plan(load_suite(suite, changes), build_registry())


def made_up_text(folder: Path, languages: Sequence[str], lines: int) -> Path:
    """Write so many lines of made-up words in each language, large enough that a run has a middle."""
    folder.mkdir(exist_ok=True)
    rng = random.Random(7)
    for language in languages:
        words = ["".join(rng.choices("abcdefghijkl", k=rng.randint(2, 9))) for _ in range(900)]
        text = "".join(" ".join(rng.choices(words, k=9)) + "\n" for _ in range(lines))
        (folder / f"{language}.txt").write_text(text, encoding="utf-8")
    return folder


def tokenizer_plugin(path: Path, body: str) -> str:
    """Write a plugin file with a tokenizer of the file's name whose class has this body; gives its path."""
    path.write_text(
        f"import tokbench\n\nclass Made:\n    name = {path.stem!r}\n{indent(body, '    ')}\n\n"
        "@tokbench.hookimpl\ndef tokbench_tokenizers():\n    load = lambda spec, context: Made()\n"
        f"    return [tokbench.TokenizerFamily(name={path.stem!r}, summary='', load=load)]\n",
        encoding="utf-8",
    )
    return str(path)
