"""`tokbench runs`: what is listed and compared, and with which exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest

from tests.command import output
from tests.tokbench.results.made_up import ROWS, make_run
from tokbench.errors import ResultsError
from tokbench.results import Run

Call = Callable[..., int]


@pytest.mark.long
def test_runs_are_listed_and_compared(
    text: Path, tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["-t", "bytes", "-d", str(text), "--no-speed", "--no-report"]
    for name in ("one", "two"):
        assert call("run", *arguments, "-o", str(tmp_path / "runs" / name)) == 0
    capsys.readouterr()
    assert call("list", "runs", str(tmp_path / "runs"), "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    one, two = str(tmp_path / "runs" / "one"), str(tmp_path / "runs" / "two")
    assert call("runs", "compare", one, two) == 0
    assert "same" in capsys.readouterr().out
    page, of = tmp_path / "page.html", ["-m", "compression_ratio", "--totals"]
    assert call("runs", "compare", one, two, *of, "--page", str(page)) == 0
    assert "all figures (1) are the same" in page.read_text("utf-8"), "the page has what the terminal shows"
    text.write_text("héhéhé\n" * 30, encoding="utf-8")
    assert call("run", *arguments[:-2], *arguments[-2:], "-t", "chars", "-o", one, "--force") == 0
    assert call("runs", "compare", one, two) == 1, "what chars measured has vanished"
    assert call("runs", "compare", one, two, "--threshold", "lots") == 2


def test_a_chart_says_which_runs_it_lacks(finished: Run, tmp_path: Path) -> None:
    one, other, chart = finished.path, copytree(finished.path, tmp_path / "other"), tmp_path / "chart.svg"
    for runs in ([one], [one, one / ".." / one.name]):
        with pytest.raises(
            ResultsError, match=r"needs two or more runs, oldest first, and only .*tokbench plot"
        ):
            output("runs", "chart", *runs, "-o", chart)
    with pytest.raises(ResultsError, match=r"no tokenizer has premium on text:.* \(0 in .*, 0 in .*\).*\(-d\)"):
        output("runs", "chart", one, other, "-m", "premium", "-o", chart)
    assert output("runs", "chart", one, other, "-m", "fertility", "-o", chart) == f"{chart}\n"


def test_a_chart_says_through_which_runs_no_curve_goes(
    finished: Run, tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs of another text left no trace in the figure, and nothing was said of them."""
    same = copytree(finished.path, tmp_path / "same")
    other = make_run(tmp_path / "other", ROWS).path
    asked = ["runs", "chart", *map(str, (other, finished.path, same)), "-m", "fertility"]
    assert call(*asked, "-o", str(tmp_path / "chart.svg")) == 0
    spec = finished.datasets[0]
    said = f"fertility on {spec} is not in other, through which no curve goes\n"
    assert capsys.readouterr().err == said


def test_figures_of_single_languages_are_no_total(
    tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").mkdir()
    for language in ("deu_Latn", "eng_Latn"):
        (tmp_path / "text" / f"{language}.txt").write_text("some words\n" * 30)
    run = str(tmp_path / "run")
    asked = ["-t", "bytes", "-d", f"parallel:{tmp_path}/text", "-m", "premium", "--no-speed", "--no-report"]
    assert call("run", *asked, "-o", run) == 0
    assert call("runs", "compare", run, run, "-m", "premium") == 0
    assert call("runs", "compare", run, run, "-m", "premium", "--totals") == 2
    assert "premium but of single languages, and --totals leaves these out" in capsys.readouterr().err
    other, chart = copytree(run, tmp_path / "other"), tmp_path / "chart.svg"
    with pytest.raises(ResultsError, match="premium is a figure of single languages"):
        output("runs", "chart", run, other, "-m", "premium", "-o", chart)


@pytest.mark.long
def test_two_runs_are_compared_tokenizer_by_tokenizer_and_no_name_is_cut(
    text: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    metrics = ["-m", "compression_ratio", "-m", "shannon_entropy_miller_madow", "-m", "tokens_per_line"]
    arguments = ["-t", "bytes", "-d", str(text), *metrics, "--no-speed", "--no-report"]
    assert call("run", *arguments, "-t", "chars", "-o", one) == 0
    text.write_text("the cat\n" * 30, encoding="utf-8")
    assert call("run", *arguments, "--weights", "price=5", "-o", two) == 0
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "80")
    page = str(tmp_path / "page.html")
    assert call("runs", "compare", one, two, "--page", page) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "shannon_entropy_miller_madow" in shown
    assert "metric verdict change before after" in shown
    assert f"chars · text:{text}: only in BEFORE (11 figures)" in shown
    assert "suite.tokenizers: - chars" in shown
    assert "suite.weights: price none → 5, fairness none → 2" in shown
    assert "None" not in shown
    assert shown.endswith(page)
    assert "{&#x27;price" not in Path(page).read_text(encoding="utf-8")
    assert ">price 5, fairness 2, " in Path(page).read_text(encoding="utf-8")
    assert call("runs", "compare", one, two, "-m", "gni", "--page", str(tmp_path / "no")) == 2
    assert not (tmp_path / "no").exists(), "a wrong request is said before anything is written"
    compare = ("runs", "compare", one, two)
    assert call(*compare, "-m", "premium") == 2, "nothing is compared, so nothing is well"
    assert "has figures of premium" in capsys.readouterr().err
    assert call(*compare, "-m", "tokens_per_line", "--budget", "compression_ratio=1%") == 2
    assert "add -m compression_ratio" in capsys.readouterr().err
    call(*compare, "-m", "compression_ratio")
    assert f"text:{text} has another text in the two runs" in " ".join(capsys.readouterr().out.split())


def test_a_budget_over_two_currencies_cannot_be_judged(
    text: Path, tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = []
    for currency in ("EUR", "USD"):
        prices, out = tmp_path / f"{currency}.toml", str(tmp_path / currency)
        prices.write_text(f'currency = "{currency}"\n[prices]\nbytes = 2.0\n')
        asked = ["-t", "bytes", "-d", str(text), "-m", "cost", "--prices", str(prices), "-o", out]
        assert call("run", *asked, "--no-speed", "--no-report") == 0
        runs.append(out)
    assert call("runs", "compare", *runs, "-m", "cost") == 0
    assert call("runs", "compare", *runs, "-m", "cost", "--strict") == 1
    assert call("runs", "compare", *runs, "--budget", "cost=1%") == 2
    assert "--budget cost: the runs have it in two units, EUR → USD" in capsys.readouterr().err
