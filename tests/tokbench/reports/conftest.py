"""What tests of reports share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.tokbench.reports.tested import HOSTILE, SPECS
from tokbench.inspection.diff import diff
from tokbench.inspection.pieces import as_json
from tokbench.reports.html import drawing
from tokbench.reports.html.page import write
from tokbench.results import COLUMNS


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without figures, which take nearly all of the time: for tests of what is written."""
    monkeypatch.setattr(drawing, "draw", lambda run, plot, sheet: None)


@pytest.fixture(scope="session")
def file(made_up_run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of six tokenizers and thirty languages, one name of which is an attack."""
    import tokbench

    run = made_up_run(30, 6, specs=SPECS)
    text = "né مرحبا 東京 <script>window.hurt=1</script>"
    view = {**as_json(tokbench.load("bytes"), text), "tokenizer": "bytes"}
    passage = {"title": "mixed", "dataset": "d", "language": "und", "text": text, "tokenizations": [view]}
    run.samples = [passage, {**passage, "title": "again"}]
    found = diff(tokbench.load("chars"), tokbench.load("bytes"), [(f"{HOSTILE} und 1", text)])
    budget = {"documents": 1, "bytes": 1000, "chars_per_document": 100}
    run.diffs = {"budget": budget, "pairs": [{**found.as_json(), "a": "chars", "b": HOSTILE, "named": True}]}
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(run, path)
    return path


@pytest.fixture
def page(browser: Any, file: Path) -> Iterator[Any]:
    """The report, opened from the file, offline: it says nothing on the console and runs nothing of a name."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True, accept_downloads=True)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "request", lambda request: request.url.startswith(("file:", "blob:")) or complaints.append(request.url)
    )
    opened.goto(file.as_uri())
    yield opened
    assert complaints == []
    assert opened.evaluate("window.hurt") is None
    context.close()


@pytest.fixture
def small(made_up_run) -> Callable[..., Any]:
    """A run of three tokenizers with the figures that a test gives: (value, half an interval) by metric."""

    def make(figures: dict[str, dict[str, tuple[float, float]]]) -> Any:
        names = ["bytes", "chars", "words"]
        run = made_up_run(2, 3, specs=names)
        run.datasets = run.datasets[:1]
        name, dataset = run.frame["run"].iloc[0], run.datasets[0]
        rows = [
            (name, spec, "" if metric == "embedding_share" else dataset, "all", metric,
             value, value - half, value + half, "", 50, "ok")
            for metric, by_spec in figures.items()
            for spec, (value, half) in by_spec.items()
        ]  # fmt: skip
        run.frame = pd.DataFrame(rows, columns=COLUMNS[:-1]).assign(estimated=False)
        run.comparisons = pd.DataFrame()
        return run

    return make
