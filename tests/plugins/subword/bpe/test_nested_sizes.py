"""Every smaller vocabulary is a prefix of a larger one's training, and a sweep over sizes trains once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.trainer import learn, train_bpe
from tokbench_subword.pipeline.patterns import Pattern

from tokbench.counts import WordCounts
from tokbench.registry import build_registry
from tokbench.results import Run
from tokbench.runner.planning.plan import make_plan
from tokbench.runner.planning.suite import load_suite
from tokbench.runner.run import run_suite
from tokbench.runner.training.stage import _size_groups

_words = st.dictionaries(
    st.text("abc", min_size=1, max_size=20), st.integers(1, 2**40), min_size=1, max_size=12
)


@settings(max_examples=30)
@given(_words, st.sampled_from(["hf", "bytes"]), st.integers(0, 2))
def test_each_size_is_as_trained_for_itself(words: dict[str, int], ties: str, n_special: int) -> None:
    special = ["<a>", "<b>"][:n_special]
    settings = {"pattern": Pattern.of("none"), "ties": ties, "special_tokens": special, "initial_alphabet": ()}
    learned = learn(WordCounts.of(words), vocab_size=40, **settings)  # type: ignore[arg-type]
    for size in range(n_special + len(learned.tokens), 41):
        alone, nested = train_bpe(WordCounts.of(words), vocab_size=size, **settings), learned.model(size)
        assert (alone.vocabulary, alone.merges.tolist()) == (nested.vocabulary, nested.merges.tolist())


@pytest.fixture
def sweep(tmp_path: Path) -> Run:
    text = tmp_path / "text.txt"
    text.write_text("low lower lowest new newer newest wide wider\n" * 50, encoding="utf-8")
    specs = [f"bpe:vocab_size={size}" for size in (262, 270)]
    options = {"speed": False, "audit": False, "cache": False, "jobs": 2}
    return run_suite(
        None, specs, [f"text:{text}"], tmp_path / "run", train_on=f"text:{text}", report=False, **options
    )


@pytest.mark.long
def test_a_sweep_trains_once_and_says_so(sweep: Run) -> None:
    known = {entry["spec"]: entry["training"] for entry in sweep.manifest["tokenizers"] if entry["training"]}
    assert known["bpe:vocab_size=262"]["nested_in"] == "bpe:vocab_size=270"
    assert "seconds" not in known["bpe:vocab_size=262"]
    assert known["bpe:vocab_size=270"]["seconds"] > 0
    assert {entry["vocab_size"] for entry in known.values()} == {262, 270}
    assert not any(entry["reused"] for entry in known.values())
    assert not sweep.failures


@pytest.mark.parametrize(("speed", "groups"), [(False, 1), (True, 0)])
def test_where_speed_is_measured_each_size_is_trained_and_timed_by_itself(speed: bool, groups: int) -> None:
    specs = [f"bpe:vocab_size={size}" for size in (262, 270)]
    given = {"tokenizers": specs, "datasets": ["bundled:prose"], "train_on": "bundled:tricky", "speed": speed}
    plan = make_plan(load_suite(None, given), build_registry())
    assert len(_size_groups(plan, [entry.spec for entry in plan.entries])) == groups
