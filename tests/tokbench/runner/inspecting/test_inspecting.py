"""What a run shows of each tokenizer beside figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runs import planned
from tokbench.metrics.measurement import CellKey
from tokbench.results.folder import RunFolder
from tokbench.runner.inspecting.stage import inspect_all
from tokbench.runner.planning.plan import Plan
from tokbench.runner.progress import Display
from tokbench.runner.training.candidates import Candidate, make_ready
from tokbench.workers.interrupt import Stop


def made_ready(tmp_path: Path, *specs: str) -> tuple[Plan, list[Candidate]]:
    text = tmp_path / "text.txt"
    text.write_text("A line that is long enough to be shown to somebody who wants to see tokens.\n", "utf-8")
    plan = planned({"tokenizers": list(specs), "datasets": [f"text:{text}"], "cache": False, "jobs": 1})
    return plan, make_ready(plan, tmp_path / "trained", Stop(), Display())


def test_failed_cells_are_not_shown(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.json"
    damaged.write_text("{}")
    plan, candidates = made_ready(tmp_path, "bytes", "chars", f"bpe:{damaged}")
    [corpus] = plan.corpora
    [language] = corpus.shards
    folder = RunFolder(tmp_path / "run")
    found = inspect_all(plan, candidates, folder, {CellKey("bytes", corpus.recipe.key, language)}, Stop())
    [sample] = json.loads(folder.samples.read_text("utf-8"))
    assert [view["tokenizer"] for view in sample["tokenizations"]] == ["chars"]
    assert list(found.audits) == ["bytes"], "its vocabulary has not failed; chars has all of Unicode"
    with pytest.raises(KeyboardInterrupt):
        inspect_all(plan, candidates, folder, (), Stop(asked=True))
