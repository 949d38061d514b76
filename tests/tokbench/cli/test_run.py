"""`tokbench run` and `tokbench runs`: exit statuses, messages, and what is printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runs import FAULTY
from tokbench.cli import main
from tokbench.cli.headline import print_headline
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.reports.decision import decide
from tokbench.reports.figures import decimals


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("the cat sat on the mat\ntrigger something\n" * 30, encoding="utf-8")
    return path


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit status of `tokbench` with these arguments."""
    monkeypatch.setattr("sys.argv", ["tokbench", *arguments])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_all_measured(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    monkeypatch.setenv("COLUMNS", "120")
    status = call(
        monkeypatch, "run", "-t", "bytes", "-t", "chars", "-d", str(text), "-o", str(out), "--no-speed",
        "--no-report", "-m", "compression_ratio",
    )  # fmt: skip
    assert status == 0
    printed = capsys.readouterr().out
    assert "bytes/token" in printed
    assert "1.00" in printed
    for name in ("run.json", "measurements.parquet", "measurements.csv", "comparisons.parquet"):
        assert (out / name).is_file()
    manifest = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert manifest["status"] == "finished"
    assert manifest["suite"]["metrics"] == ["compression_ratio"]
    assert manifest["metrics"][:2] == ["compression_ratio", "round_trip"]  # losses are always counted
    [dataset] = manifest["datasets"]
    [language] = dataset["languages"].values()
    assert len(language["sha256"]) == 64
    assert language["shards"][0]["sha256"]


def test_something_failed(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status = call(
        monkeypatch, "run", "-t", "bytes", "-t", "raises", "-d", f"text:{text}", "-o", str(tmp_path / "out"),
        "--no-speed", "--no-report", "--plugin", str(FAULTY / "faults.py"),
    )  # fmt: skip
    assert status == 1
    assert "no such merge" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-t", "bites", "-d", "bundled:prose"], "did you mean 'bytes'"),
        (["-t", "bytes", "-d", "text:nowhere.txt"], "nowhere.txt"),
        (["-t", "bytes", "-t", "bpe:nowhere/tokenizer.json", "-d", "bundled:prose"], "nor a folder nowhere"),
        (["-t", "owner/name", "-d", "bundled:prose"], "A model of the hub is transformers:owner/name"),
        (["-t", "transformers:wrong.txt", "-d", "bundled:prose"], "there is no such file or folder"),
        (["-t", "wordpiece:./none", "-d", "bundled:prose"], "there is no such file or folder"),
        (["-t", "bytes", "-d", "bundled:prose", "-m", "gino"], "did you mean 'gini'"),
        (["nowhere.toml"], "no such suite file"),
        (["-t", "bytes", "-d", "bundled:prose", "--prices", "nowhere.toml"], "nowhere.toml"),
        (["-t", "bytes", "-d", "bundled:prose", "--address", "tcp://host:8786"], "has no scheduler"),
        (["-t", "bytes", "-d", "bundled:prose", "--plugin", "nowhere.py"], "no such file"),
    ],
)
def test_a_wrong_request_is_said_before_anything_runs(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(monkeypatch, "run", *arguments, "-o", str(tmp_path / "out")) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_run_is_left_alone(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    assert call(monkeypatch, "run", "-t", "bytes", "-d", str(text), "-o", str(tmp_path / "mine")) == 2
    assert "not empty and not the folder of a run" in capsys.readouterr().err


def test_undecodable_bytes_are_a_failure_with_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.txt").write_bytes(b"fine\n" * 20_000 + b"not \xff fine\n")  # beyond what a plan looks at
    status = call(
        monkeypatch, "run", "-t", "bytes", "-d", f"text:{tmp_path / 'bad.txt'}", "-o", str(tmp_path / "out"),
        "--no-speed", "--no-report",
    )  # fmt: skip
    assert status == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "bad.txt" in printed
    assert "byte" in printed


def test_a_full_disk_is_said(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import errno
    import os

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    status = call(monkeypatch, "run", "-t", "bytes", "-d", str(text), "-o", str(tmp_path / "out"), "--no-speed")
    assert status == 1
    assert "the disk is full" in capsys.readouterr().err


@pytest.mark.long
def test_runs_are_listed_and_compared(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["-t", "bytes", "-d", str(text), "--no-speed", "--no-report"]
    for name in ("one", "two"):
        assert call(monkeypatch, "run", *arguments, "-o", str(tmp_path / "runs" / name)) == 0
    capsys.readouterr()
    assert call(monkeypatch, "list", "runs", str(tmp_path / "runs"), "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    one, two = str(tmp_path / "runs" / "one"), str(tmp_path / "runs" / "two")
    assert call(monkeypatch, "runs", "compare", one, two) == 0
    assert "same" in capsys.readouterr().out
    page, of = tmp_path / "page.html", ["-m", "compression_ratio", "--totals"]
    assert call(monkeypatch, "runs", "compare", one, two, *of, "--page", str(page)) == 0
    assert "all figures (1) are the same" in page.read_text("utf-8"), "the page has what the terminal shows"
    text.write_text("héhéhé\n" * 30, encoding="utf-8")
    assert call(monkeypatch, "run", *arguments[:-2], *arguments[-2:], "-t", "chars", "-o", one, "--force") == 0
    assert call(monkeypatch, "runs", "compare", one, two) == 1, "what chars measured has vanished"
    assert call(monkeypatch, "runs", "compare", one, two, "--threshold", "lots") == 2


@pytest.mark.long
def test_without_a_folder_an_unfinished_run_is_taken_up(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["run", "-t", "bytes", "-d", "text.txt", "--no-speed", "--no-report"]
    assert call(monkeypatch, *arguments) == 0
    [first] = (tmp_path / "reports").iterdir()
    manifest = json.loads((first / "run.json").read_text(encoding="utf-8"))
    (first / "run.json").write_text(json.dumps({**manifest, "status": "unfinished"}), encoding="utf-8")
    assert call(monkeypatch, *arguments) == 0
    assert list((tmp_path / "reports").iterdir()) == [first]
    assert call(monkeypatch, *arguments) == 0
    assert len(list((tmp_path / "reports").iterdir())) == 2


def test_cache_info_and_clear(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: Path) -> None:
    monkeypatch.setenv("TOKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    out = str(tmp_path / "out")
    assert call(monkeypatch, "run", "-t", "bytes", "-d", str(text), "-o", out, "--no-speed", "--no-report") == 0
    assert list((tmp_path / "cache" / "tallies").rglob("*.tally"))
    assert call(monkeypatch, "cache", "info") == 0
    assert call(monkeypatch, "cache", "clear") == 0
    assert not list((tmp_path / "cache").rglob("*.tally"))


@pytest.mark.long
def test_two_runs_are_compared_tokenizer_by_tokenizer_and_no_name_is_cut(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    metrics = ["-m", "compression_ratio", "-m", "shannon_entropy_miller_madow", "-m", "tokens_per_line"]
    arguments = ["-t", "bytes", "-d", str(text), *metrics, "--no-speed", "--no-report"]
    assert call(monkeypatch, "run", *arguments, "-t", "chars", "-o", one) == 0
    text.write_text("the cat\n" * 30, encoding="utf-8")
    assert call(monkeypatch, "run", *arguments, "-o", two) == 0
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "80")
    page = str(tmp_path / "page.html")
    assert call(monkeypatch, "runs", "compare", one, two, "--page", page) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "shannon_entropy_miller_madow" in shown
    assert "metric verdict change before after" in shown
    assert f"chars · text:{text}: only in BEFORE (22 figures)" in shown
    assert "suite.tokenizers: - chars" in shown
    assert "None" not in shown
    assert shown.endswith(page)
    assert call(monkeypatch, "runs", "compare", one, two, "-m", "gni", "--page", str(tmp_path / "no")) == 2
    assert not (tmp_path / "no").exists(), "a wrong request is said before anything is written"
    compare = ("runs", "compare", one, two)
    assert call(monkeypatch, *compare, "-m", "premium") == 2, "nothing is compared, so nothing is well"
    assert "has figures of premium" in capsys.readouterr().err
    assert call(monkeypatch, *compare, "-m", "tokens_per_line", "--budget", "compression_ratio=1%") == 2
    assert "add -m compression_ratio" in capsys.readouterr().err
    call(monkeypatch, *compare, "-m", "compression_ratio")
    assert f"text:{text} has another text in the two runs" in " ".join(capsys.readouterr().out.split())


def test_a_budget_over_two_currencies_cannot_be_judged(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = []
    for currency in ("EUR", "USD"):
        prices, out = tmp_path / f"{currency}.toml", str(tmp_path / currency)
        prices.write_text(f'currency = "{currency}"\n[prices]\nbytes = 2.0\n')
        asked = ["-t", "bytes", "-d", str(text), "-m", "cost", "--prices", str(prices), "-o", out]
        assert call(monkeypatch, "run", *asked, "--no-speed", "--no-report") == 0
        runs.append(out)
    assert call(monkeypatch, "runs", "compare", *runs, "-m", "cost") == 0
    assert call(monkeypatch, "runs", "compare", *runs, "-m", "cost", "--strict") == 1
    assert call(monkeypatch, "runs", "compare", *runs, "--budget", "cost=1%") == 2
    assert "--budget cost: the runs have it in two units, EUR → USD" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "\n\n", " \n\t\n\u3000"])
def test_a_dataset_without_text_is_refused_before_any_work(
    content: str,
    text: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    blank = tmp_path / "blank.txt"
    blank.write_text(content, encoding="utf-8")
    arguments = ("-t", "bytes", "-o", str(tmp_path / "out"), "--no-speed", "--no-report")
    assert call(monkeypatch, "run", *arguments, "-d", str(text), "-d", str(blank)) == 2
    assert ("there is no text in it" if content else "empty, so there is no text") in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_a_large_dataset_without_a_document_is_a_failure_with_its_remedy(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blank = tmp_path / "blank.txt"
    blank.write_text("\n" * 600_000)
    arguments = ("-t", "bytes", "-o", str(tmp_path / "out"), "--no-speed", "--no-report")
    for _ in ("counted", "found counted"):
        assert call(monkeypatch, "run", *arguments, "-d", str(blank), "-d", str(text)) == 1
        printed = "".join(capsys.readouterr().out.split())  # lines are broken anywhere
        assert printed.count("failed:bytes·") == 1
        assert "blank.txt·und:empty:thereisnodocumentinit" in printed
        assert "leavethedatasetout" in printed


def test_a_vocabulary_smaller_than_asked_for_is_told(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("-t", "bytes", "-t", "whitespace:vocab_size=99k", "-d", str(text), "--train-on", str(text))
    assert call(monkeypatch, "run", *arguments, "-o", str(tmp_path / "out"), "--no-speed") == 0
    said = "whitespace 99k: 99,000 tokens were asked for; training ended at"
    assert said in " ".join(capsys.readouterr().out.split())
    for name in ("report.md", "report.html"):
        report = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert said in report
        assert "bytes: " not in report.partition("training ended at")[2].partition("\n")[0]


def test_a_language_of_several_may_be_blank(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "eng_Latn.txt").write_text("a line\n")
    (folder / "deu_Latn.txt").write_text("\n \n")
    arguments = ("-t", "bytes", "-o", str(tmp_path / "out"), "--no-speed", "--no-report")
    assert call(monkeypatch, "run", *arguments, "-d", str(folder)) == 0


@pytest.mark.long
def test_no_report_of_earlier_figures_is_left_beside_new_ones(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text.write_text(text.read_text() * 90)  # as much as is drawn
    out = tmp_path / "out"
    arguments = ("run", "-d", str(text), "-o", str(out), "--no-speed", "-m", "compression_ratio")
    assert call(monkeypatch, *arguments, "-t", "bytes") == 0
    assert call(monkeypatch, "report", str(out), "--format", "latex") == 0
    assert (out / "report.tex").is_file()
    (out / "notes.txt").write_text("the user's own")
    assert (out / "report.html").is_file()
    assert any((out / "plots").iterdir())
    assert call(monkeypatch, *arguments, "-t", "chars", "--no-report") == 2, "that is another run"
    assert call(monkeypatch, *arguments, "-t", "chars", "--no-report", "--force") == 0
    assert not list(out.glob("report.*"))
    assert not list(out.glob("plots/*"))
    assert (out / "notes.txt").is_file()


def test_a_seed_below_nothing_is_a_wrong_request(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        call(monkeypatch, "run", "-t", "bytes", "-d", str(text), "-o", str(tmp_path / "x"), "--seed", "-1") == 2
    )


@pytest.mark.parametrize("beside", [False, True], ids=["usual", "asked for more"])
@pytest.mark.parametrize("columns", [40, 76, 80, 109, 110, 130, 200])
def test_every_figure_is_shown_in_a_terminal_of_any_width(
    columns: int,
    beside: bool,
    made_up_run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    run = made_up_run(
        2, 3, specs=["bytes", "chars", "bpe:a/long/path/to/a/folder/of/vocabularies/tokenizer.json"]
    )
    run.manifest["failures"] = []
    asked = ["tokens_per_line", "chars_per_token", "token_length"] if beside else []
    run.manifest["suite"]["metrics"] = asked
    print_headline(run)
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert "MB/ " not in printed  # a unit is whole
    assert max(map(len, printed.splitlines())) <= columns
    overall = run.frame[(run.frame.language == "all") & (run.frame.dataset == "bundled:parallel")]
    usual = [metric.name for metric in CATALOGUE if "terminal" in metric.shown]
    for metric in [*usual, *asked]:
        rows = overall[overall.metric == metric].dropna(subset=["value"])
        for value, unit in zip(rows.value, rows.unit, strict=True):
            places = decimals(rows.value)
            figure = f"{100 * value:.1f}".removesuffix(".0") if unit == "share" else f"{value:.{places}f}"
            assert figure in printed, metric


def test_a_share_that_is_not_zero_is_not_printed_as_zero(
    made_up_run: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_up_run(2, 2)
    run.frame.loc[run.frame["metric"] == "vocab_utilization", "value"] = 1e-5
    run.manifest["suite"]["metrics"] = ["vocab_utilization"]
    print_headline(run)
    assert "< 0.1%" in capsys.readouterr().out


def test_the_terminal_names_tokenizers_as_reports_do(
    made_up_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    specs = ["bytes", "wordpiece:/some/folder/vocab_8k.txt", "bpe:pattern=o200k,vocab_size=32000"]
    run = made_up_run(2, 3, specs=specs)
    run.manifest["tokenizers"][2]["label"] = "ours 32k"
    print_headline(run)
    printed = capsys.readouterr().out
    summary = printed.partition("failed: ")[0]
    assert "\n ours 32k " in printed
    assert "\n wordpiece vocab_8k † " in printed
    assert "\nwordpiece vocab_8k †: " in printed
    assert not any(spec in summary for spec in specs[1:])


def test_the_terminal_tells_the_choice(
    made_up_run: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_up_run(3, 3)
    decision = decide(run)
    assert decision is not None
    print_headline(run)
    assert decision.sentences[0] in " ".join(capsys.readouterr().out.split())


@pytest.mark.long
def test_what_was_asked_for_by_name_is_in_the_headline(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    prices = tmp_path / "prices.toml"
    prices.write_text('currency = "EUR"\n[prices]\nbytes = 2.5\n', encoding="utf-8")
    given = ("run", "-t", "bytes", "-d", str(text), "--prices", str(prices), "--no-speed")
    assert call(monkeypatch, *given, "-m", "cost", "-m", "split_characters", "-o", str(tmp_path / "a")) == 0
    printed = capsys.readouterr().out
    size = text.stat().st_size - 60  # the ends of its lines are no text
    assert "cost (EUR)" in printed
    assert f"{size * 2.5e-6:.5f}" in printed  # a byte is a token
    assert "split characters" in printed
    report = (tmp_path / "a" / "report.md").read_text(encoding="utf-8")
    assert "| tokenizer | cost (EUR) | split characters (% of tokens) | vocabulary (ids) |" in report
    assert call(monkeypatch, *given, "-o", str(tmp_path / "b"), "--no-report") == 0
    assert "cost (EUR)" in capsys.readouterr().out  # with no metric named: prices were


def test_a_tokenizer_that_is_skipped_or_fails_is_named_once(
    tmp_path: Path,
    made_up_run: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    run = made_up_run(2, 2)
    run.manifest["skipped"] = [{"spec": "tiktoken:gpt2", "reason": "tiktoken:gpt2: not at hand", "remedy": ""}]
    run.manifest["failures"] = [
        dict(run.failures[0], tokenizer="bpe:x.json", message="bpe:x.json: no such file")
    ]
    print_headline(run)
    printed = capsys.readouterr().out
    assert "skipped: tiktoken:gpt2: not at hand" in printed
    assert printed.count("bpe:x.json") == 1


def test_what_failed_alike_for_all_tokenizers_is_told_once(
    made_up_run: Callable[..., Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    run = made_up_run(2, 3)
    of = {"dataset": "text:blank.txt", "language": "und", "kind": "empty", "message": "no text", "remedy": "x"}
    run.manifest["failures"] = [{**of, "tokenizer": name} for name in run.tokenizers]
    run.manifest["failures"] += [{**of, "tokenizer": name, "language": "eng"} for name in run.tokenizers[:2]]
    print_headline(run)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("failed: ")]
    assert lines[0] == "failed: all 3 tokenizers · text:blank.txt · und: empty: no text (x)"
    assert [line.partition(" · ")[0] for line in lines[1:]] == [
        f"failed: {name}" for name in run.tokenizers[:2]
    ]
