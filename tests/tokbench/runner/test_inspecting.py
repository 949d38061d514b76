"""Looking at tokenizers beside the counting, or after it, shows the same."""

from __future__ import annotations

import json
from pathlib import Path

from tokbench.metrics.metric import CellKey
from tokbench.registry import build_registry, default_context
from tokbench.results.folder import RunFolder
from tokbench.runner.inspecting import Inspector, run_audit
from tokbench.runner.plan import Plan, make_plan
from tokbench.runner.shelter import Stop
from tokbench.runner.subjects import Subject, make_ready
from tokbench.runner.suite import load_suite


def made_ready(tmp_path: Path, *specs: str) -> tuple[Plan, list[Subject]]:
    text = tmp_path / "text.txt"
    text.write_text("A line that is long enough to be shown to somebody who wants to see tokens.\n", "utf-8")
    changes = {"tokenizers": list(specs), "datasets": [f"text:{text}"], "cache": False, "jobs": 1}
    plan = make_plan(load_suite(None, changes), build_registry(context=default_context()))
    return plan, make_ready(plan, tmp_path / "trained", Stop(), lambda text: None)


def written(folder: RunFolder) -> list[str]:
    return [path.read_text("utf-8") for path in (folder.samples, folder.audits, folder.diffs)]


def test_before_or_after_is_the_same(tmp_path: Path) -> None:
    (broken := tmp_path / "broken.json").write_text("{}")
    plan, subjects = made_ready(tmp_path, "bytes", "chars", f"bpe:{broken}")
    after, before = RunFolder(tmp_path / "after"), RunFolder(tmp_path / "before")
    found = Inspector(plan, subjects).finish(after, ())
    inspector = Inspector(plan, subjects)
    tasks = inspector.audits()
    assert set(tasks) == {subject.entry.key for subject in subjects if subject.ready}
    for task in reversed(tasks.values()):
        inspector.take(task, run_audit(task))
    beside = inspector.finish(before, ())
    assert written(after) == written(before)
    assert list(beside.audits) == list(found.audits)
    assert "bytes" in found.audits


def test_failed_cells_are_not_shown(tmp_path: Path) -> None:
    plan, subjects = made_ready(tmp_path, "bytes", "chars")
    [corpus] = plan.corpora
    [language] = corpus.shards
    folder = RunFolder(tmp_path / "run")
    Inspector(plan, subjects).finish(folder, {CellKey("bytes", corpus.recipe.key, language)})
    [sample] = json.loads(folder.samples.read_text("utf-8"))
    assert [view["tokenizer"] for view in sample["tokenizations"]] == ["chars"]
