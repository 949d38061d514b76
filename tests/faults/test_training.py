"""Training that hangs, is killed, or has ended: said as it is, and no worker stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokbench.results import Run

RunIt = Callable[..., Run]
Write = Callable[[str, str], str]


@pytest.mark.long
def test_training_that_hangs_is_a_failure(text: Path, run: RunIt, plugin: Write) -> None:
    path = plugin(
        "hangs",
        "import time\ndef train(corpus, options, progress):\n    time.sleep(60)\n"
        "@tokbench.hookimpl\ndef tokbench_tokenizers():\n"
        "    return [tokbench.TokenizerFamily(name='hangs', summary='', load=print, train=train)]",
    )
    done = run(["bytes", "hangs"], [f"text:{text}"], plugins=[path], train_on=f"text:{text}", timeout=3)
    assert [(entry["tokenizer"], entry["kind"]) for entry in done.failures] == [("hangs", "timeout")]


@pytest.mark.long
def test_training_leaves_no_worker_behind(text: Path, run: RunIt, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokbench.runner import run as module
    from tokbench.workers import pool

    idle: list[int] = []
    make_ready = module.make_ready

    def counted(*arguments: object, **options: object) -> object:
        made = make_ready(*arguments, **options)  # type: ignore[arg-type]
        idle.append(len(pool._idle))
        return made

    monkeypatch.setattr(module, "make_ready", counted)
    specs = [f"words:vocab_size={size}" for size in (30, 31, 32)]
    run(specs, [f"text:{text}"], train_on=f"text:{text}", cache=False, jobs=1)
    assert idle[0] <= 1


@pytest.mark.parametrize(
    ("kind", "message", "said"),
    [
        ("crashed", "ended by signal SIGKILL", "SIGKILL; the same command goes on"),
        ("memory", "it held 2 GB", "held 2 GB; allow more with --memory-limit; the same command goes on"),
        ("timeout", "no result within 1 s", "1 s; give it longer with --timeout; the same command goes on"),
    ],
)
def test_a_worker_that_is_lost_twice_while_it_reads_is_no_wrong_request(
    text: Path, run: RunIt, monkeypatch: pytest.MonkeyPatch, kind: str, message: str, said: str
) -> None:
    from tokbench.results import TaskFailure
    from tokbench.runner.run import RunError
    from tokbench.runner.training import stage as training_stage

    killed = TaskFailure(kind, message)
    monkeypatch.setattr(training_stage, "attempt", lambda *_, **__: killed)
    with pytest.raises(RunError, match=said):
        run(["words:vocab_size=30"], [f"text:{text}"], train_on=f"text:{text}")
