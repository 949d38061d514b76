"""What tests of reports share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tokbench.reports.tested import HOSTILE, SPECS
from tokbench.inspection.diff import diff
from tokbench.inspection.pieces import as_json
from tokbench.reports.html.drawing import Drawings
from tokbench.reports.html.page import write


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without figures, which take nearly all of the time: for tests of what is written."""
    monkeypatch.setattr(Drawings, "_draw", lambda drawings, plot: None)


@pytest.fixture(scope="session")
def file(made_up_run: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
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
