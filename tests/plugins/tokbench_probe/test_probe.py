"""What surrounds the transformer: equal compute, exact bytes, ranks, processes apart, the command."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import psutil
import pytest
import typer
from tokbench_probe import shelter
from tokbench_probe.command import probe
from tokbench_probe.ranks import rows_of
from tokbench_probe.shape import Budget, Course, Shape, fitted
from tokbench_probe.shelter import ProbeTask, trained_apart
from tokbench_probe.streams import ProbeTexts, Streams
from typer.testing import CliRunner

import tokbench

PARALLEL = Path(__file__).parents[3] / "datasets" / "parallel"
needs_jax = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="needs jax: pip install 'tokbench[probe]'"
)
app = typer.Typer()
app.command()(probe)


class Words:
    """Words by number; what is no word is lost."""

    name, vocab_size = "words", 6
    words = ("a", "b", "c", "d", "e")

    def encode(self, text: str) -> list[int]:
        return [self.words.index(word) if word in self.words else 5 for word in text.split(" ")]

    def decode(self, ids: Any) -> str:
        return " ".join("abcde?"[i] for i in ids)


@pytest.mark.parametrize(
    ("symbols", "tokens_per_byte"), [(258, 1.0), (1000, 0.4), (8000, 0.25), (20_000, 0.23)]
)
def test_all_have_the_same_operations_for_a_byte(symbols: int, tokens_per_byte: float) -> None:
    budget = Budget()
    shape = fitted("x", symbols, tokens_per_byte, budget)
    assert 0.99 * budget.operations < shape.operations * tokens_per_byte <= budget.operations
    assert shape.context == pytest.approx(budget.context * tokens_per_byte, abs=1)


def test_a_vocabulary_that_is_too_large_is_refused_with_what_to_do() -> None:
    with pytest.raises(tokbench.TokenizerError, match=r"big: 200,000 symbols .* --operations"):
        fitted("big", 200_000, 0.25, Budget())


def test_bits_are_exact_and_all_ids_have_a_chance() -> None:
    texts = ProbeTexts(["a b a", "b a d"], ["a c b", "é", "e"], 0)
    assert texts.read_bytes == 3 + 2 + 1 + 2
    streams = Streams.of("words", Words(), texts)
    # a, b, the end, and one symbol for c, d, e and the unknown, of which only d was seen, once
    assert streams.symbols == 4
    assert streams.train.tolist() == [2, 0, 1, 0, 2, 1, 0, 3, 2]
    assert streams.read.tolist() == [2, 0, 3, 1, 2, 3, 2, 3, 2]
    nats = np.full(8, math.log(4.0))  # each symbol as likely as another
    assert streams.bits(nats).tolist() == pytest.approx([4 * 2 + 2, 2 * 2 + 2, 2 * 2 + 2])
    chances = [1 / 4, 1 / 4, 1 / 4, *[1 / 4 * 2**-streams.rare_bits] * 4]  # a, b, the end, c, d, e, unknown
    assert sum(chances) == pytest.approx(1)
    assert streams.lost == 1  # é


def test_documents_that_are_trained_on_are_not_read() -> None:
    train = tokbench.TrainingCorpus.of_texts(["one", "two", ""])
    other = tokbench.TrainingCorpus.of_texts(["two", "three", "", "two"]).dataset
    texts = ProbeTexts.of(train, other)
    assert (texts.train, texts.read, texts.excluded) == (["one", "two"], ["three"], 2)
    with pytest.raises(tokbench.CorpusError, match="every document of it occurs in the training text"):
        ProbeTexts.of(train, tokbench.TrainingCorpus.of_texts(["one"]).dataset)


def test_ranks_leave_out_who_loses_text_and_who_failed() -> None:
    texts = ProbeTexts(["a b a", "b a d"], ["a c b", "e"], 0)
    streams = Streams.of("words", Words(), texts)
    lossy = Streams(**{name: getattr(streams, name) for name in Streams.__slots__} | {"lost": 1})
    shape = Shape(4, 1, 8, 32, 2)
    tasks = {
        name: ProbeTask(own, shape, Course(1, 1, 0.1), [0, 1, 2])
        for name, own in {
            "good": streams,
            "same": streams,
            "bad": streams,
            "lossy": lossy,
            "gone": streams,
        }.items()
    }
    losses = np.arange(1.0, 4.0)[:, None] * np.ones(len(streams.read) - 1)
    found = {"good": losses, "same": losses + 0.1, "bad": losses + 9, "lossy": losses / 9, "gone": "it fell"}
    rows = rows_of(tasks, found, texts)
    assert [(row.tokenizer, row.rank) for row in rows] == [
        ("good", (1, 2)), ("same", (1, 2)), ("bad", (3, 3)), ("lossy", None)
    ]  # fmt: skip
    bits = (len(streams.read) - 1) / math.log(2) + streams.rare_bits * 2
    assert rows[0].runs[0] == pytest.approx(bits / texts.read_bytes)


def tiny(name: str = "bytes", **changed: Any) -> ProbeTask:
    texts = ProbeTexts(["one two three four " * 9], ["two one"], 0)
    budget = Budget(operations=10_000, context=16, layers=1, train_bytes=512, rate=0.01)
    return ProbeTask.of(name, tokbench.load(name), texts, budget._replace(**changed), [0, 1])


TRAININGS = """
import os, sys, time
def breaks(emit, task):
    print("no such thing", file=sys.stderr, flush=True)
    os._exit(1)
def fails(emit, task):
    raise MemoryError("too wide")
def hangs(emit, task):
    emit(os.getpid())
    time.sleep(600)
"""
"""In place of `shelter.losses`."""


@pytest.fixture
def trainings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "trainings_for_probe.py").write_text(TRAININGS)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("trainings_for_probe")
    del sys.modules["trainings_for_probe"]


@pytest.mark.parametrize(
    ("training", "seconds", "said"),
    [
        ("breaks", 60, "the process ended with exit status 1: no such thing"),
        ("fails", 60, "MemoryError: too wide"),
        ("hangs", 0.3, "no result within 0.3 s"),
    ],
)
def test_a_training_that_comes_to_nothing_is_a_row_and_ends_no_other(
    training: str, seconds: float, said: str, trainings: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelter, "losses", getattr(trainings, training))
    found = trained_apart({"a": tiny(), "b": tiny()}, 2, seconds, lambda name, share: None)
    assert found == dict.fromkeys("ab", said)


COMMAND = """
import signal, tokbench, trainings_for_probe
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background is without
from tokbench_probe import shelter, shape, streams
shelter.losses = trainings_for_probe.hangs
texts = streams.ProbeTexts(["one two three four " * 9], ["two one"], 0)
budget = shape.Budget(operations=10_000, context=16, layers=1, train_bytes=512)
task = shelter.ProbeTask.of("bytes", tokbench.load("bytes"), texts, budget, [0, 1])
shelter.trained_apart({"a": task}, 1, 600, lambda name, share: print(int(share), flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_training_ends_with_the_command_however_that_ends(
    number: signal.Signals, trainings: ModuleType
) -> None:
    path = {**os.environ, "PYTHONPATH": str(Path(str(trainings.__file__)).parent)}
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND], stdout=subprocess.PIPE, text=True, env=path
    ) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == "0\n"
        training = psutil.Process(int(command.stdout.readline()))  # it is at work, and says no more
        command.send_signal(number)
        try:
            command.wait(timeout=30)
        finally:
            command.kill()
    training.wait(timeout=30)


def test_less_text_than_a_context_is_refused() -> None:
    with pytest.raises(tokbench.CorpusError, match="less than a context"):
        tiny(context=4096, operations=1_000_000)


@pytest.mark.parametrize("option", ["--rate", "--timeout"])
@pytest.mark.parametrize("value", ["inf", "nan"])
def test_numbers_are_finite(option: str, value: str) -> None:
    done = CliRunner().invoke(app, ["bytes", "--train-on", "x", "-d", "x", option, value])
    assert (done.exit_code, f"Invalid value for '{option}'" in done.output) == (2, True)


@needs_jax
def test_a_seed_gives_the_same_figure_in_any_process() -> None:
    told: list[tuple[str, float]] = []
    found = trained_apart({"a": tiny(), "b": tiny()}, 2, 300, lambda *each: told.append(each))
    assert found["a"].shape == (2, len(tiny().streams.read) - 1)
    assert np.array_equal(found["a"], found["b"])
    assert not np.array_equal(found["a"][0], found["a"][1])
    assert ("a", 0.0) in told
    assert ("b", 1.0) in told


def test_without_jax_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = CliRunner().invoke(app, ["bytes", "--train-on", "nothing", "-d", "nothing"])
    assert (
        str(done.exception) == "tokbench probe needs jax, which is not installed: pip install 'tokbench[probe]'"
    )


@needs_jax
def test_the_command_shows_ranks_and_what_they_are_not(tmp_path: Path) -> None:
    lines = (PARALLEL / "eng_Latn.txt").read_text(encoding="utf-8").splitlines()
    (tmp_path / "train.txt").write_text("\n".join(lines[:40]), encoding="utf-8")
    (tmp_path / "read.txt").write_text("\n".join(lines[39:60]), encoding="utf-8")
    asked = ["bytes", "chars", "--train-on", f"text:{tmp_path}/train.txt", "-d", f"text:{tmp_path}/read.txt"]
    small = ["--train-bytes", "3000", "--operations", "20000", "--context", "32", "--layers", "1"]
    done = CliRunner().invoke(app, [*asked, *small, "--json"])
    assert done.exit_code == 0, done.output
    whole = json.loads(done.stdout)
    assert whole["bytes"] == sum(len(line.encode()) for line in lines[40:60])
    assert (whole["excluded"], whole["seeds"], whole["failed"]) == (1, [0, 1, 2], {})
    for row in whole["figures"]:
        assert row["bits_per_byte"] == pytest.approx(sum(row["runs"]) / 3)
        assert 2 < row["bits_per_byte"] < 8
        assert row["operations_per_byte"] == pytest.approx(20_000, rel=0.02)
    shown = CliRunner().invoke(app, [*asked, *small]).output
    assert "documents left out, as they occur in the training text: 1" in shown
    assert "no measure of a tokenizer's quality" in " ".join(shown.split())


def test_the_plugin_offers_the_command() -> None:
    import tokbench_probe

    assert [each.name for each in tokbench_probe.tokbench_commands()] == ["probe"]
