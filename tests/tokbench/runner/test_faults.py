"""Whatever one tokenizer does on one text, it is that cell's failure and nobody else's."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tokbench.results import Run

RunIt = Callable[..., Run]

FAULTS = {
    "raises": ("raised", "ValueError: no such merge"),
    "wrong_shape": ("raised", "flat sequence of whole numbers"),
    "wrong_type": ("raised", "flat sequence of whole numbers"),
    "out_of_range": ("raised", "outside its vocabulary"),
    "politely_exits": ("raised", "SystemExit: enough"),
    "exits": ("crashed", "exit status 3"),
    "segfaults": ("crashed", "SIGSEGV"),
    "hangs": ("timeout", "no result within 3 s"),
    "hoards": ("memory", "above the limit of 700 MB"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_a_failure_row_and_the_rest_is_measured(name: str, corpus: Path, run: RunIt) -> None:
    kind, message = FAULTS[name]
    done = run(
        ["bytes", name],
        [f"text:{corpus}"],
        faulty=[name],
        timeout=3 if kind == "timeout" else 60,
        memory_limit=700_000_000,
        jobs=1,
    )
    [entry] = done.failures
    assert (entry["tokenizer"], entry["language"], entry["kind"]) == (name, "deu_Latn", kind)
    assert message in entry["message"]
    assert entry["remedy"] or entry["traceback"]
    table = done.table("compression_ratio")
    assert table["bytes"].notna().all()
    assert table.loc[["eng_Latn", "fra_Latn"], name].notna().all()
    frame = done.frame
    frame = frame[frame["dataset"] != ""]  # a vocabulary has figures of its own
    failed = frame[(frame["tokenizer"] == name) & frame["language"].isin(["deu_Latn", "all"])]
    assert failed["value"].isna().all()
    assert failed["status"].str.startswith(f"failed: {kind}").all()
    assert len(failed) > 10


def test_traceback_is_kept(corpus: Path, run: RunIt) -> None:
    done = run(["raises"], [f"text:{corpus}"], faulty=["raises"])
    assert "raise ValueError" in done.failures[0]["traceback"]


def test_segfault_keeps_what_the_interpreter_said(corpus: Path, run: RunIt) -> None:
    done = run(["segfaults"], [f"text:{corpus}"], faulty=["segfaults"])
    assert "Segmentation fault" in done.failures[0]["output"]


def test_noise_on_stdout_reaches_nobody(corpus: Path, run: RunIt, capfd: pytest.CaptureFixture[str]) -> None:
    done = run(["talks"], [f"text:{corpus}"], faulty=["talks"])
    assert done.failures == []
    captured = capfd.readouterr()
    assert "chatter" not in captured.out + captured.err


def test_a_tokenizer_that_wanders_off_leads_nobody_astray(
    corpus: Path, run: RunIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus.parent)
    done = run(["wanders", "bytes"], ["text:corpus"], faulty=["wanders"], jobs=1)
    assert done.failures == []
    assert done.table("compression_ratio").notna().all().all()
    assert Path.cwd() == Path(os.path.realpath(corpus.parent))


def test_a_tokenizer_that_does_not_load_is_one_failure(corpus: Path, run: RunIt) -> None:
    done = run(["load_raises", "bytes"], [f"text:{corpus}"], faulty=["load_raises"])
    [entry] = done.failures
    assert entry["tokenizer"] == "load_raises"
    assert entry["language"] is None
    assert "set FAULTY_HOME" in entry["message"]
    assert "load_raises" in done.tokenizers
    assert done.table("compression_ratio")["bytes"].notna().all()


def test_an_optional_tokenizer_that_is_not_at_hand_is_skipped(corpus: Path, run: RunIt) -> None:
    done = run(["bytes"], [f"text:{corpus}"], faulty=["load_raises"], optional=["load_raises"])
    assert done.failures == []
    assert done.tokenizers == ["bytes"]
    [skipped] = done.manifest["skipped"]
    assert skipped["spec"] == "load_raises"
    assert "set FAULTY_HOME" in skipped["reason"]


def test_a_hook_that_raises_disturbs_nobody(corpus: Path, run: RunIt) -> None:
    done = run(["bytes"], [f"text:{corpus}"], faulty=["hook_raises"])
    assert done.failures == []


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
    done = run(["bytes"], [f"text:{corpus}"])
    assert {entry["language"] for entry in done.failures} == {"fra_Latn", "deu_Latn"}
    messages = " ".join(entry["message"] for entry in done.failures)
    assert "fra_Latn.txt" in messages
    assert "deu_Latn.txt" in messages
    assert done.table("compression_ratio").loc["eng_Latn"].notna().all()
