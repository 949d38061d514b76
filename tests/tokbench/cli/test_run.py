"""`tokbench run`: exit statuses, messages, and what is printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runs import FAULTY, planned

Call = Callable[..., int]


def test_all_measured(
    text: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    monkeypatch.setenv("COLUMNS", "120")
    status = call(
        "run", "-t", "bytes", "-t", "chars", "-d", str(text), "-o", str(out), "--no-speed",
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


@pytest.mark.parametrize("bars", ["0", "1"])
def test_something_failed(
    bars: str,
    text: Path,
    tmp_path: Path,
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Why is said at the end, and in a log as it happens too; on a terminal, where both are read, once."""
    monkeypatch.setenv("TTY_COMPATIBLE", bars)
    status = call(
        "run", "-t", "bytes", "-t", "raises", "-d", f"text:{text}", "-o", str(tmp_path / "out"),
        "--no-speed", "--no-report", "--plugin", str(FAULTY / "faults.py"),
    )  # fmt: skip
    assert status == 1
    printed = capsys.readouterr()
    assert printed.out.count("no such merge") == 1
    assert printed.err.count("no such merge") == (bars == "0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-t", "bites", "-d", "bundled:prose"], "did you mean 'bytes'"),
        (["-t", "bytes", "-d", "text:nowhere.txt"], "nowhere.txt"),
        (["-t", "bytes", "-t", "bpe:nowhere/tokenizer.json", "-d", "bundled:prose"], "nor a folder nowhere"),
        (["-t", "owner/name", "-d", "bundled:prose"], "A model of the hub is transformers:owner/name"),
        (["-t", "transformers:wrong.txt", "-d", "bundled:prose"], "there is no such file or folder"),
        (["-t", "wordpiece:./none", "-d", "bundled:prose"], "there is no such file or folder"),
        (["-t", "bpe:none", "-d", "bundled:prose"], "bpe:none: there is no file none; name one, or a folder"),
        (["-t", "wordpiece:{tmp}", "-d", "bundled:prose"], "has no tokenizer.json or vocab.txt; name the file"),
        (["-t", "sentencepiece:none", "-d", "bundled:prose"], "sentencepiece:none: there is no such file"),
        (["-t", "rwkv:none", "-d", "bundled:prose"], "rwkv:none: there is no such file"),
        (["-t", "calibrated:none", "-d", "bundled:prose"], "none: cannot be read: No such file"),
        (["-t", "tiktoken:none", "-d", "bundled:prose"], "unknown tiktoken encoding or model 'none'"),
        (["-t", "bytes", "-d", "bundled:prose", "-m", "gino"], "did you mean 'gini'"),
        (["-t", "bytes", "-d", "bundled:prose", "--reference", "en"], "did you mean 'eng_Latn'"),
        (["nowhere.toml"], "no such suite file"),
        (["-t", "bytes", "-d", "bundled:prose", "--prices", "nowhere.toml"], "nowhere.toml"),
        (["-t", "bytes", "-d", "bundled:prose", "--address", "tcp://host:8786"], "has no scheduler"),
        (["-t", "bytes", "-d", "bundled:prose", "--plugin", "nowhere.py"], "no such file"),
    ],
)
def test_a_wrong_request_is_said_before_anything_runs(
    arguments: list[str], message: str, tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    named = [argument.replace("{tmp}", str(tmp_path)) for argument in arguments]
    assert call("run", *named, "-o", str(tmp_path / "out")) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_run_is_left_alone(
    text: Path, tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    assert call("run", "-t", "bytes", "-d", str(text), "-o", str(tmp_path / "mine")) == 2
    assert "not empty and not the folder of a run" in capsys.readouterr().err


def test_undecodable_bytes_are_a_failure_with_the_place(
    tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.txt").write_bytes(b"fine\n" * 20_000 + b"not \xff fine\n")  # beyond what a plan looks at
    status = call(
        "run", "-t", "bytes", "-d", f"text:{tmp_path / 'bad.txt'}", "-o", str(tmp_path / "out"),
        "--no-speed", "--no-report",
    )  # fmt: skip
    assert status == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "bad.txt" in printed
    assert "byte" in printed


def test_a_full_disk_is_said(
    text: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import errno
    import os

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    status = call("run", "-t", "bytes", "-d", str(text), "-o", str(tmp_path / "out"), "--no-speed")
    assert status == 1
    said = "the disk is full; free some space and run the same command again, it resumes\n"
    assert capsys.readouterr().err.endswith(said)


@pytest.mark.long
def test_without_a_folder_an_unfinished_run_is_taken_up(
    text: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["run", "-t", "bytes", "-d", "text.txt", "--no-speed", "--no-report"]
    assert call(*arguments) == 0
    [first] = (tmp_path / "reports").iterdir()
    manifest = json.loads((first / "run.json").read_text(encoding="utf-8"))
    (first / "run.json").write_text(json.dumps({**manifest, "status": "unfinished"}), encoding="utf-8")
    assert call(*arguments) == 0
    assert list((tmp_path / "reports").iterdir()) == [first]
    assert call(*arguments) == 0
    assert len(list((tmp_path / "reports").iterdir())) == 2


def test_cache_info_and_clear(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: Path) -> None:
    monkeypatch.setenv("TOKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    out = str(tmp_path / "out")
    assert call("run", "-t", "bytes", "-d", str(text), "-o", out, "--no-speed", "--no-report") == 0
    assert list((tmp_path / "cache" / "tallies").rglob("*.tally"))
    assert call("cache", "info") == 0
    assert call("cache", "clear") == 0
    assert not list((tmp_path / "cache").rglob("*.tally"))


@pytest.mark.parametrize("content", ["", "\n\n", " \n\t\n\u3000"])
def test_a_dataset_without_text_is_refused_before_any_work(
    content: str, text: Path, tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    blank = tmp_path / "blank.txt"
    blank.write_text(content, encoding="utf-8")
    arguments = ("-t", "bytes", "-o", str(tmp_path / "out"), "--no-speed", "--no-report")
    assert call("run", *arguments, "-d", str(text), "-d", str(blank)) == 2
    assert ("there is no text in it" if content else "empty, so there is no text") in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_a_large_dataset_without_a_document_is_a_failure_with_its_remedy(
    text: Path, tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    blank = tmp_path / "blank.txt"
    blank.write_text("\n" * 600_000)
    arguments = ("-t", "bytes", "-o", str(tmp_path / "out"), "--no-speed", "--no-report")
    for _ in ("counted", "found counted"):
        assert call("run", *arguments, "-d", str(blank), "-d", str(text)) == 1
        printed = "".join(capsys.readouterr().out.split())  # lines are broken anywhere
        assert printed.count("failed:bytes·") == 1
        assert "blank.txt·und:empty:thereisnodocumentinit" in printed
        assert "leavethedatasetout" in printed


def test_a_vocabulary_smaller_than_asked_for_is_told(
    text: Path, tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("-t", "bytes", "-t", "whitespace:vocab_size=99k", "-d", str(text), "--train-on", str(text))
    assert call("run", *arguments, "-o", str(tmp_path / "out"), "--no-speed") == 0
    said = "whitespace 99k: 99,000 tokens were asked for; training ended at"
    assert said in " ".join(capsys.readouterr().out.split())
    for name in ("report.md", "report.html"):
        report = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert said in report
        assert "bytes: " not in report.partition("training ended at")[2].partition("\n")[0]


def test_a_language_of_several_may_be_blank(tmp_path: Path, call: Call) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "eng_Latn.txt").write_text("a line\n")
    (folder / "deu_Latn.txt").write_text("\n \n")
    arguments = ("-t", "bytes", "-o", str(tmp_path / "out"), "--no-speed", "--no-report")
    assert call("run", *arguments, "-d", str(folder)) == 0


@pytest.mark.long
def test_no_report_of_earlier_figures_is_left_beside_new_ones(text: Path, tmp_path: Path, call: Call) -> None:
    text.write_text(text.read_text() * 90)  # as much as is drawn
    out = tmp_path / "out"
    arguments = ("run", "-d", str(text), "-o", str(out), "--no-speed", "-m", "compression_ratio")
    assert call(*arguments, "-t", "bytes") == 0
    assert call("report", str(out), "--format", "latex") == 0
    assert (out / "report.tex").is_file()
    (out / "notes.txt").write_text("the user's own")
    assert (out / "report.html").is_file()
    assert any((out / "plots").iterdir())
    assert call(*arguments, "-t", "chars", "--no-report") == 2, "that is another run"
    assert call(*arguments, "-t", "chars", "--no-report", "--force") == 0
    assert not list(out.glob("report.*"))
    assert not list(out.glob("plots/*"))
    assert (out / "notes.txt").is_file()


def test_a_seed_below_nothing_is_a_wrong_request(text: Path, tmp_path: Path, call: Call) -> None:
    assert call("run", "-t", "bytes", "-d", str(text), "-o", str(tmp_path / "x"), "--seed", "-1") == 2


@pytest.mark.long
def test_what_was_asked_for_by_name_is_in_the_headline(
    text: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    prices = tmp_path / "prices.toml"
    prices.write_text('currency = "EUR"\n[prices]\nbytes = 2.5\n', encoding="utf-8")
    given = ("run", "-t", "bytes", "-d", str(text), "--prices", str(prices), "--no-speed")
    assert call(*given, "-m", "cost", "-m", "split_characters", "-o", str(tmp_path / "a")) == 0
    printed = capsys.readouterr().out
    size = text.stat().st_size - 60  # the ends of its lines are no text
    assert "cost (EUR)" in printed
    assert f"{size * 2.5e-6:.5f}" in printed  # a byte is a token
    assert "split characters" in printed
    report = (tmp_path / "a" / "report.md").read_text(encoding="utf-8")
    assert "| tokenizer | cost (EUR) | split characters (% of tokens) | vocabulary (ids) |" in report
    assert call(*given, "-o", str(tmp_path / "b"), "--no-report") == 0
    assert "cost (EUR)" in capsys.readouterr().out  # with no metric named: prices were


def test_no_bar_is_of_timing_where_nothing_is_timed() -> None:
    from tokbench.cli.bars import Bars
    from tokbench.results import RunFolder

    plan, bars = planned({"tokenizers": ["bytes"], "datasets": ["bundled:code"], "speed": False}), Bars()
    bars.begin(plan, RunFolder(Path("somewhere")))
    shown = {}
    for stage in ("quality", "speed", "figures"):
        bars.stage(stage)
        shown[stage] = len(bars._progress.tasks)
    bars.end()
    assert shown == {"quality": 1, "speed": 0, "figures": 1}
