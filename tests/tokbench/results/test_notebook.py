"""A run in a notebook and at a prompt."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import tokbench
from tokbench.plots.files import write_plots
from tokbench.registry import build_registry
from tokbench.results import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("notebook")
    text = folder / "a<b.txt"
    text.write_text("".join(f"line {'é' * (i % 7)} {i}\n" for i in range(600)))
    return tokbench.run(["bytes", "chars"], [f"text:{text}"], output=folder / "run", speed=False, jobs=1)


def test_it_is_a_line_at_a_prompt_and_a_table_in_a_notebook(run: Run) -> None:
    assert repr(run) == f"<Run {run.path}: finished, 2 tokenizers, 1 dataset>"
    html = run._repr_html_()
    assert html.count("<tr>") == 3
    assert "<th>chars</th>" in html
    assert "a&lt;b" in html
    assert "<script" not in html
    assert "style=" not in html
    assert html.count("<small>") >= 2  # intervals


def test_a_run_that_is_not_finished_is_a_sentence(tmp_path: Path) -> None:
    assert "It is not finished" in Run(tmp_path, {"status": "unfinished"})._repr_html_()


def test_a_notebook_shows_a_plot_where_a_cell_ends_with_it(run: Run, tmp_path: Path) -> None:
    """IPython knows figures of pyplot alone, and asks others how they are shown."""
    figure = run.plot("compression")
    shown = figure._repr_svg_()
    assert shown.startswith("<?xml")
    [written] = write_plots(run, [build_registry().plots["compression"]], tmp_path)
    assert shown == written.read_text("utf-8")  # in the same style
    assert pickle.loads(pickle.dumps(figure))._repr_svg_() == shown
