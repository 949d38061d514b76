"""Whatever one tokenizer does on one text, it is that cell's failure and nobody else's."""

from __future__ import annotations

import ast
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tokbench
from tests.runs import FAULTY, planned
from tokbench.cli.headline import print_headline
from tokbench.errors import SpecError, StorageError
from tokbench.metrics import CellKey
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.reports.markdown import document
from tokbench.results import Run
from tokbench.runner.unmeasured import failure_rows

RunIt = Callable[..., Run]

FAULTS = {
    "raises": ("raised", "ValueError: no such merge"),
    "speechless": ("raised", "Speechless: (what it says is not known: its __str__ raises RuntimeError)"),
    "wrong_shape": ("raised", "flat sequence of whole numbers"),
    "wrong_type": ("raised", "flat sequence of whole numbers"),
    "out_of_range": ("raised", "outside its vocabulary"),
    "politely_exits": ("raised", "SystemExit: enough"),
    "exits": ("crashed", "exit status 3"),
    "segfaults": ("crashed", "SIGSEGV"),
    "hangs": ("timeout", "no result within 5 s"),
    "hoards": ("memory", "above the limit of 700 MB"),
}


@pytest.fixture(scope="module")
def all_at_fault(run_once: RunIt) -> Run:
    """A run of one tokenizer that works, and of all that do not, side by side."""
    return run_once(["bytes", *FAULTS], faulty=["faults"], timeout=5, memory_limit=700_000_000)


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_a_failure_row_and_the_rest_is_measured(name: str, all_at_fault: Run) -> None:
    kind, message = FAULTS[name]
    [entry] = [each for each in all_at_fault.failures if each["tokenizer"] == name]
    assert (entry["language"], entry["kind"]) == ("deu_Latn", kind)
    assert message in entry["message"]
    assert entry["remedy"] or entry["traceback"]
    table = all_at_fault.table("compression_ratio")
    assert table.loc[["eng_Latn", "fra_Latn"], name].notna().all()
    frame = all_at_fault.frame
    frame = frame[frame["dataset"] != ""]  # a vocabulary has figures of its own
    failed = frame[(frame["tokenizer"] == name) & frame["language"].isin(["deu_Latn", "all"])]
    assert failed["value"].isna().all()
    assert failed["status"].str.startswith(f"failed: {kind}").all()
    assert len(failed) > 10


def test_failed_cells_and_their_dataset_have_every_row_they_would_have_had() -> None:
    names = ("compression_ratio", "nsl", "premium", "gini", "vocab_size")
    metrics = [next(each for each in CATALOGUE if each.name == name) for name in names]
    why = {CellKey("t", "d", "eng"): "failed: a", CellKey("t", "d", "deu"): "failed: b"}
    why[CellKey("t", "e", "fin")] = "failed: c"  # one alone says why by itself
    found = [(row.dataset, row.language, row.metric, row.status) for row in failure_rows(why, metrics)]
    totals = {"d": "failed: a (2 languages failed)", "e": "failed: c"}
    assert found == [
        *((*key[1:], name, status) for key, status in why.items() for name in names[:3]),
        *((dataset, "all", name, status) for dataset, status in totals.items() for name in names[:4]),
    ]


def test_a_failure_says_where_to_read_more(all_at_fault: Run) -> None:
    remedies = {entry["tokenizer"]: entry["remedy"] for entry in all_at_fault.failures}
    assert "run.json has the traceback" in remedies["raises"]
    assert "output is in run.json" in remedies["exits"]


def test_nobody_else_is_harmed(all_at_fault: Run) -> None:
    assert len(all_at_fault.failures) == len(FAULTS)
    assert all_at_fault.table("compression_ratio")["bytes"].notna().all()


def test_traceback_and_what_the_interpreter_said_are_kept(all_at_fault: Run) -> None:
    entries = {entry["tokenizer"]: entry for entry in all_at_fault.failures}
    assert "raise ValueError" in entries["raises"]["traceback"]
    assert "Segmentation fault" in entries["segfaults"]["output"]


@pytest.mark.long
def test_who_takes_three_workers_down_in_a_row_is_given_no_more(tmp_path: Path, run: RunIt) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for language in ("deu_Latn", "eng_Latn", "fra_Latn", "ita_Latn", "nld_Latn"):
        (folder / f"{language}.txt").write_text("trigger the fault\n", encoding="utf-8")
    done = run(["exits", "bytes"], [f"text:{folder}"], faulty=["faults"], jobs=1)
    messages = [entry["message"] for entry in done.failures]
    assert {entry["tokenizer"] for entry in done.failures} == {"exits"}
    assert [message.startswith("not tried after 3 such failures in a row") for message in messages] == [
        *(False, False, False),
        *(True, True),
    ]
    assert all("exit status 3" in message for message in messages)


@pytest.mark.long
def test_noise_on_stdout_reaches_nobody(corpus: Path, run: RunIt, capfd: pytest.CaptureFixture[str]) -> None:
    done = run(["talks"], [f"text:{corpus}"], faulty=["faults"])
    assert done.failures == []
    captured = capfd.readouterr()
    assert "chatter" not in captured.out + captured.err


def test_a_tokenizer_that_wanders_off_leads_nobody_astray(
    corpus: Path, run: RunIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus.parent)
    done = run(["wanders", "bytes"], ["text:corpus"], faulty=["faults"], jobs=1)
    assert done.failures == []
    assert done.table("compression_ratio").notna().all().all()
    assert Path.cwd() == Path(os.path.realpath(corpus.parent))


def test_a_tokenizer_that_does_not_load_is_one_failure(corpus: Path, run: RunIt) -> None:
    done = run(["load_raises", "bytes"], [f"text:{corpus}"], faulty=["faults"], jobs=1)
    [entry] = done.failures
    assert entry["tokenizer"] == "load_raises"
    assert entry["language"] is None
    assert "set FAULTY_HOME" in entry["message"]
    assert "load_raises" in done.tokenizers
    assert done.table("compression_ratio")["bytes"].notna().all()


def test_an_optional_tokenizer_that_is_not_at_hand_is_skipped(corpus: Path, run: RunIt) -> None:
    done = run(["bytes"], [f"text:{corpus}"], faulty=["faults"], optional=["load_raises"], jobs=1)
    assert done.failures == []
    assert done.tokenizers == ["bytes"]
    [skipped] = done.manifest["skipped"]
    assert skipped["spec"] == "load_raises"
    assert "set FAULTY_HOME" in skipped["reason"]


def test_an_optional_tokenizer_that_no_plugin_offers_is_skipped_and_told_of(
    corpus: Path, run: RunIt, capsys: pytest.CaptureFixture[str]
) -> None:
    optional = ["elsewhere:vocab_size=9", "./nowhere/tokenizer.json"]
    said_of_it = {"labels": {optional[0]: "theirs"}, "diff": [("bytes", optional[0]), ("bytes", "chars")]}
    done = run(["bytes", "chars"], [f"text:{corpus}"], optional=optional, jobs=1, **said_of_it)
    assert done.failures == []
    assert done.tokenizers == ["bytes", "chars"]
    assert [(pair["a"], pair["b"]) for pair in done.diffs["pairs"]] == [("bytes", "chars")]
    skipped = {entry["spec"]: entry["reason"] for entry in done.manifest["skipped"]}
    assert [*skipped] == optional
    assert "unknown tokenizer 'elsewhere:vocab_size=9'" in skipped[optional[0]]
    assert "there is no such file or folder" in skipped[optional[1]]
    print_headline(done)
    printed, report = capsys.readouterr().out, document(done)
    for name in optional:
        assert f"skipped: {name}: " in printed
    assert "## Failures and skips" in report
    assert "elsewhere:vocab\\_size=9" in report
    assert "install the plugin that offers it, or correct the name" in report


def test_what_no_plugin_could_offer_is_refused_though_optional(tmp_path: Path) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text("")
    given = {"tokenizers": ["bytes"], "datasets": ["bundled:tricky"]}
    for wrong, message in (("maxmatch:vocab_sise=9", "did you mean 'vocab_size'"), ("", "is not a spec")):
        with pytest.raises(SpecError, match=message):
            planned({**given, "optional": [wrong]})
    with pytest.raises(SpecError, match=r"no tokenizers: .*; elsewhere:x: unknown tokenizer .*'elsewhere"):
        planned({**given, "tokenizers": [], "optional": ["elsewhere:x"]}, suite)


@pytest.mark.parametrize("offline", [True, False])
def test_the_reason_why_nothing_was_downloaded_is_the_true_one(
    offline: bool, corpus: Path, run: RunIt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setenv("TOKBENCH_OFFLINE", "1" if offline else "0")
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    optional = ["tiktoken:p50k_base", "transformers:nobody/nothing"]
    done = run(["bytes"], [f"text:{corpus}"], optional=optional, jobs=1)
    reasons = [entry["reason"] for entry in done.manifest["skipped"]]
    assert len(reasons) == 2
    for reason in reasons:
        assert ("unset TOKBENCH_OFFLINE" in reason) == offline
        assert ("it is optional here, so it is not downloaded" in reason) == (not offline)


@pytest.mark.long
def test_a_hook_that_raises_disturbs_nobody(corpus: Path, run: RunIt) -> None:
    done = run(["bytes"], [f"text:{corpus}"], faulty=["hook_raises"])
    [entry] = done.failures
    assert entry["message"] == "hook_raises: tokbench_cell_finished: RuntimeError: cannot bear the news"
    assert done.table("compression_ratio").notna().all(axis=None)


def test_a_file_that_changes_during_the_run_is_noticed(
    corpus: Path, run: RunIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tokbench.runner import run as module

    original = module.make_ready

    def then_change(*arguments: object, **options: object) -> object:
        (corpus / "fra_Latn.txt").write_text("something else entirely\n", encoding="utf-8")
        (corpus / "deu_Latn.txt").unlink()
        return original(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "make_ready", then_change)
    done = run(["bytes"], [f"text:{corpus}"], jobs=1)
    assert {entry["language"] for entry in done.failures} == {"fra_Latn", "deu_Latn"}
    messages = " ".join(entry["message"] for entry in done.failures)
    assert "fra_Latn.txt" in messages
    assert "deu_Latn.txt" in messages
    assert done.table("compression_ratio").loc["eng_Latn"].notna().all()


@pytest.mark.long
def test_a_fault_in_the_speed_pass_is_a_failure_row_and_the_rest_is_timed(corpus: Path, run: RunIt) -> None:
    only = f"text:{corpus}/deu_Latn.txt"
    done = run(["bytes", "hangs", "exits"], [only], faulty=["faults"], timeout=3, speed={"rounds": 1})
    assert {(entry["tokenizer"], entry["kind"]) for entry in done.failures} == {
        ("hangs", "timeout"),
        ("exits", "crashed"),
    }
    speeds = done.frame[done.frame["metric"] == "encode_speed"].set_index("tokenizer")["value"]
    assert speeds["bytes"] > 0
    assert speeds[["hangs", "exits"]].isna().all()


@pytest.mark.long
@pytest.mark.parametrize("room", [1, 4])
def test_a_full_disk_stops_the_run_which_goes_on_once_there_is_room(
    room: int, corpus: Path, run: RunIt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("measurements.parquet", "measurements.csv")
    wanted = run(["bytes", "chars"], [f"text:{corpus}"], output=tmp_path / "roomy" / "out")
    fsync, written = os.fsync, 0

    def full(descriptor: int) -> None:
        nonlocal written
        written += 1
        if written > room:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="the disk is full; free some space and run the same command again"):
        run(["bytes", "chars"], [f"text:{corpus}"], cache=False)
    monkeypatch.undo()
    assert json.loads((tmp_path / "out" / "run.json").read_text())["status"] != "finished"
    done = run(["bytes", "chars"], [f"text:{corpus}"], cache=False)
    assert done.failures == []
    assert [(done.path / name).read_bytes() for name in names] == [
        (wanted.path / name).read_bytes() for name in names
    ]


@pytest.mark.long
def test_a_clock_that_jumps_misleads_nobody(corpus: Path, run: RunIt, tmp_path: Path) -> None:
    wanted = run(["bytes", "maxmatch:vocab_size=300"], [f"text:{corpus}"], train_on=f"text:{corpus}")
    command = [
        *(sys.executable, "-P", "-m", "tokbench", "run", "-t", "bytes", "-t", "maxmatch:vocab_size=300"),
        *("-t", "late", "--plugin", str(FAULTY / "clock_jumps.py")),
        *("-d", f"text:{corpus}", "--train-on", f"text:{corpus}"),
        *("--no-cache", "--no-report", "--timeout", "60", "--jobs", "2"),
    ]
    for _ in range(3):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    folders = sorted((tmp_path / "reports").iterdir())
    assert len(folders) == 3, "each run has a folder of its own, whatever the date"
    metrics = ["compression_ratio", "fertility", "round_trip"]
    for folder in folders:
        done = Run.open(folder)
        assert done.failures == []
        spans = [*done.manifest["timings"].values(), *done.speed["seconds"], *done.speed["cpu_seconds"]]
        spans += [entry["training"]["seconds"] for entry in done.manifest["tokenizers"] if entry["training"]]
        assert all(0 <= seconds < 600 for seconds in spans)
        for metric in metrics:
            assert done.table(metric)[wanted.tokenizers].equals(wanted.table(metric))
    broken = json.loads((folders[0] / "run.json").read_text())
    (folders[0] / "run.json").write_text(json.dumps({**broken, "status": "interrupted"}))
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert Run.open(folders[0]).manifest["status"] == "finished", "found by what was asked, not by its date"


def test_no_span_of_time_is_read_off_the_wall_clock() -> None:
    """`time.time` and `datetime.now` jump when the clock is set; spans come from clocks that do not."""
    for path in Path(tokbench.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                named = f"{node.value.id}.{node.attr}"
                assert named not in ("time.time", "time.time_ns", "datetime.now", "datetime.utcnow"), path
