"""Metrics with counters of their own: in runs, with intervals, from the cache, and where they go wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.runs import planned
from tokbench.errors import PluginError, SpecError
from tokbench.metrics.metric import Metric
from tokbench.results import Run
from tokbench.runner.counting.cells import own_counters

PLUGIN = """
import time
import tokbench
from tokbench import Metric, Option

calls = 0

def letters(texts, batch, options, language, tokenizer):
    assert len(texts) == len(batch) and language and tokenizer.vocab_size > 255
    return [options["times"] * len(text) for text in texts]

def two(texts, batch):
    return {"all": batch.lengths(), "odd": [sum(1 for token in ids if token % 2) for ids in batch]}

def hang(texts):
    time.sleep(60)

def metric(name, count, counters, compute, **more):
    return Metric(name=name, unit="u", better="lower", summary=name, count=count, counters=counters,
                  compute=compute, **more)

@tokbench.hookimpl
def tokbench_metrics():
    times = Option("times", "int", 1)
    yield metric("letters", letters, {"letter": "letters"}, lambda t: t.letter / t.tokens / t.options["times"],
                 options=(times,))
    yield metric("odd_share", two, {"all": "tokens", "odd": "of odd id"}, lambda t: t.odd / t.all)
    yield metric("broken", lambda texts: [0.5] * len(texts), {"x": "x"}, lambda t: t.x)
    yield metric("short", lambda texts: [1], {"x": "x"}, lambda t: t.x)
    yield metric("hanging", hang, {"x": "x"}, lambda t: t.x)
"""


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    file = tmp_path / "own.py"
    file.write_text(PLUGIN)
    return str(file)


@pytest.fixture
def measured(plugin: str, tmp_path: Path) -> Callable[..., Run]:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{'é' * (i % 7)} line {i} {'of words ' * (i % 5)}\n" for i in range(400)))

    def call(*metrics: str, **options: Any) -> Run:
        from tokbench.runner.run import run_suite

        options = {"speed": False, "output": tmp_path / "out", "jobs": 1, "audit": False, **options}
        return run_suite(
            None, ["bytes", "chars"], [f"text:{text}"], plugins=[plugin], metrics=list(metrics), **options
        )

    return call


def rows(run: Run, metric: str) -> Any:
    frame = run.frame[run.frame["metric"] == metric]
    return frame.set_index(["tokenizer", "language"])[["value", "ci_low", "ci_high", "status"]]


def test_what_it_counts_itself_has_the_value_and_the_interval_of_what_is_built_in(
    measured: Callable[..., Run],
) -> None:
    run = measured("letters", "letters:times=3", "chars_per_token", "odd_share")
    built_in = rows(run, "chars_per_token")
    assert built_in.loc["bytes", "ci_low"].notna().all()
    assert rows(run, "letters").equals(built_in)
    # three times as many of each, by three
    pd.testing.assert_frame_equal(rows(run, "letters:times=3"), built_in)
    assert rows(run, "odd_share")["value"].between(0, 1).all()
    assert set(run.comparisons["metric"]) >= {"letters", "letters:times=3"}


@pytest.mark.long
def test_another_metric_is_counted_anew_and_the_same_one_comes_from_the_cache(
    measured: Callable[..., Run], tmp_path: Path
) -> None:
    first = measured("letters", output=tmp_path / "a")
    again = measured("letters", output=tmp_path / "b")
    other = measured("odd_share", output=tmp_path / "c")
    assert rows(first, "letters").equals(rows(again, "letters"))
    assert rows(other, "odd_share")["status"].eq("ok").all()


@pytest.mark.long
def test_what_its_count_does_wrong_is_its_own_failure(measured: Callable[..., Run]) -> None:
    run = measured("broken", "short", "hanging", "letters", timeout=4.0)
    said = {name: rows(run, name)["status"].iloc[0] for name in ("broken", "short", "hanging", "letters")}
    assert said["broken"] == "failed: count: ValueError: x: float64 numbers; counts are whole numbers"
    assert "(1,) numbers for 400 documents" in said["short"]
    assert said["hanging"].startswith("failed: count: TimeoutError")
    assert said["letters"] == "ok"
    assert any("'broken' of the plugin 'own'" in failure["message"] for failure in run.failures)


def test_an_option_that_it_has_not_is_refused_before_any_work(measured: Callable[..., Run]) -> None:
    with pytest.raises(SpecError, match="unknown option of letters: 'tims'; did you mean 'times'"):
        measured("letters:tims=3")
    with pytest.raises(SpecError, match="takes a whole number"):
        measured("letters:times=often")


GOOD: dict[str, Any] = {
    "name": "good",
    "unit": "u",
    "better": "lower",
    "summary": "s",
    "compute": lambda t: t.tokens,
    "counters": {"mine": "mine"},
    "count": lambda texts: [0 for _ in texts],
}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"better": "lowest"}, "better: 'lowest' is none; did you mean 'lower'"),
        ({"level": "cells"}, "level: 'cells' is none; did you mean 'cell'"),
        ({"needs": ("wrods",)}, "needs: 'wrods' is none; did you mean 'words'"),
        ({"name": "two words"}, "a name is letters"),
        ({"count": None}, "counters and count go together"),
        ({"counters": {}}, "counters and count go together"),
        ({"counters": {"tokens": "x"}}, "'tokens' is no name for one"),
        ({"counters": {"two words": "x"}}, "'two words' is no name for one"),
        ({"count": lambda texts, tokens: []}, "count has a parameter 'tokens'"),
        ({"level": "languages"}, "for levels 'cell' and 'tokenizers', not 'languages'"),
        ({"compute": 3}, "compute is int"),
    ],
)
def test_what_cannot_be_is_said_when_the_metric_is_made(wrong: dict[str, Any], said: str) -> None:
    assert Metric(**GOOD).counters
    with pytest.raises(PluginError, match=said):
        Metric(**{**GOOD, **wrong})


def test_the_text_that_a_metric_is_trained_on_is_part_of_what_it_counts_by(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"

    def counted(content: str) -> object:
        text.write_text(content)
        asked = [f"ngram_bpb:train_on=text:{text}"]
        return own_counters(planned({"tokenizers": ["bytes"], "datasets": ["bundled:code"], "metrics": asked}))

    assert counted("the cat sat\n") == counted("the cat sat\n") != counted("a dog came\n")
