"""Folders and caches are trusted for their content, never for their names; what is not ours stays."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import tokbench
from tokbench.errors import ResultsError, SpecError, StorageError
from tokbench.metrics.measurement import CellKey
from tokbench.registry import cache_dir
from tokbench.results import CellResult, Run, TaskFailure
from tokbench.results import cell as cells
from tokbench.results.cell import read_cell, write_cell
from tokbench.runner.planning.suite import load_suite
from tokbench.workers.pool import close_idle

RunIt = Callable[..., Run]


def figures(run: Run) -> bytes:
    return (run.path / "measurements.csv").read_bytes().replace(b"\n" + run.name.encode(), b"\nNAME")


@pytest.mark.long
def test_a_damaged_trained_model_is_trained_anew(
    text: Path, run: RunIt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    specs, data = ["bpe:vocab_size=300"], [f"text:{text}"]
    wanted = figures(run(specs, data, train_on=f"text:{text}", output=tmp_path / "first"))
    [model] = (cache_dir() / "trained").glob("*/bpe.json")
    merges = json.loads(model.read_text())["model"]["merges"]
    content = json.loads(model.read_text())
    content["model"]["merges"] = merges[:-20]
    model.write_text(json.dumps(content))
    again = run(specs, data, train_on=f"text:{text}", output=tmp_path / "second")
    assert figures(again) == wanted
    assert again.failures == []
    assert json.loads(model.read_text())["model"]["merges"] == merges


@pytest.mark.long
def test_a_tokenizer_file_swapped_during_a_run_is_a_failure(
    text: Path, run: RunIt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tokbench.runner import run as module

    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("[UNK]\nthe\ncat\n##s\n")
    make_ready = module.make_ready

    def then_swap(*arguments: object, **options: object) -> object:
        made = make_ready(*arguments, **options)  # type: ignore[arg-type]
        vocabulary.write_text("[UNK]\nmat\nsat\n##t\n")
        close_idle()  # who has read it goes on with what was hashed
        return made

    monkeypatch.setattr(module, "make_ready", then_swap)
    done = run([f"wordpiece:{vocabulary}"], [f"text:{text}"], cache=False)
    assert done.failures
    assert all("has changed since the run began" in entry["message"] for entry in done.failures)


@pytest.mark.long
def test_only_what_is_ours_is_removed(text: Path, run: RunIt, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(["bytes", "chars"], [f"text:{text}"]).report(format="md")
    theirs = [out / "cells/a.h5ad", out / "cells/notes.cell", out / "plots/mine.svg", out / "report.odt"]
    for path in theirs:
        path.parent.mkdir(exist_ok=True)
        path.write_text("precious")
    run(["bytes"], [f"text:{text}"], force=True)
    assert all(path.read_text() == "precious" for path in theirs)
    assert not (out / "report.md").exists(), "a report of other figures"
    assert len([path for path in (out / "cells").glob("*.cell") if path not in theirs]) == 1


@pytest.mark.long
def test_a_report_that_was_edited_stays(text: Path, run: RunIt) -> None:
    report = run(["bytes"], [f"text:{text}"]).report(format="md")
    report.write_text("my own words")
    run(["chars"], [f"text:{text}"], force=True)
    assert report.read_text() == "my own words"


def test_a_list_of_what_was_written_leads_nowhere_else(text: Path, run: RunIt, tmp_path: Path) -> None:
    done = run(["bytes"], [f"text:{text}"], metrics=["tokens"])
    outside = tmp_path / "outside.txt"
    outside.write_text("precious")
    digest = hashlib.sha256(b"precious").hexdigest()
    done.folder.written.write_text(json.dumps({"../outside.txt": digest, str(outside): digest}))
    run(["chars"], [f"text:{text}"], metrics=["tokens"], force=True)
    assert outside.exists()


@pytest.mark.long
def test_another_run_is_replaced_only_when_that_is_said(text: Path, run: RunIt) -> None:
    run(["bytes"], [f"text:{text}"])
    with pytest.raises(ResultsError, match=r"holds another run, 'out', .* replace it with --force"):
        run(["chars"], [f"text:{text}"])
    assert run(["bytes"], [f"text:{text}"], jobs=1, timeout=99.0).tokenizers == ["bytes"], "the same request"
    assert run(["chars"], [f"text:{text}"], force=True).tokenizers == ["chars"]


@pytest.mark.parametrize("content", ["{}", "[]", '{"schema": 1, "name": "of another program"}', "{"])
def test_a_run_json_of_somebody_else_makes_no_run(content: str, text: Path, run: RunIt, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.json").write_text(content)
    for force in (False, True):
        with pytest.raises(ResultsError):
            run(["bytes"], [f"text:{text}"], force=force)
    assert [path.name for path in out.iterdir()] == ["run.json"]


def test_a_suite_file_cannot_allow_remote_code(tmp_path: Path) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text('tokenizers = ["bytes"]\ndatasets = ["bundled:tricky"]\nallow_remote_code = true\n')
    with pytest.raises(SpecError, match="says --allow-remote-code"):
        load_suite(suite)
    suite.write_text('tokenizers = ["bytes"]\ndatasets = ["bundled:tricky"]\n')
    assert load_suite(suite, {"allow_remote_code": True}).allow_remote_code


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [(b'"digests"', b'"digestx"'), (b'"bytes"', b'"chars"')])
def test_a_tampered_cell_is_counted_anew(old: bytes, new: bytes, text: Path, run: RunIt) -> None:
    first = run(["bytes"], [f"text:{text}"])
    wanted = figures(first)
    [path] = (first.path / "cells").iterdir()
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(ResultsError, match="damaged"):
        read_cell(path, with_tally=False)
    assert figures(run(["bytes"], [f"text:{text}"])) == wanted
    assert read_cell(path, with_tally=False).failure is None


def test_a_sealed_head_that_is_none_of_a_cell_is_said(tmp_path: Path) -> None:
    path = write_cell(tmp_path, CellResult(CellKey("a", "b", "c"), failure=TaskFailure("raised", "no")))
    line = b'{"key": ["a"]}\n'
    path.write_bytes(cells._MAGIC + cells._seal(line, b"") + line)
    with pytest.raises(ResultsError, match="does not begin like the file of a cell"):
        read_cell(path, with_tally=False)


@pytest.mark.long
def test_a_file_rewritten_with_the_same_size_and_time_is_read_again(text: Path, run: RunIt) -> None:
    before = figures(run(["chars"], [f"text:{text}"], cache=False))
    stat = text.stat()
    text.write_text(text.read_text().replace("cat", "cät").replace("mat", "mt"), encoding="utf-8")
    assert text.stat().st_size == stat.st_size
    os.utime(text, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert figures(run(["chars"], [f"text:{text}"], cache=False)) != before


def test_a_cache_that_cannot_be_written_is_said_with_a_remedy_that_helps(
    text: Path, run: RunIt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOKBENCH_CACHE_DIR", str(tmp_path / "file" / "cache"))
    done = run(["words:vocab_size=30"], [f"text:{text}"], train_on=f"text:{text}")
    assert done.failures == []
    with pytest.raises(StorageError, match=r"TOKBENCH_CACHE_DIR, or train once with `tokbench train -o FILE`"):
        tokbench.load("words:vocab_size=30", train_on=["one text and another"])
    monkeypatch.setenv("TOKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    assert tokbench.load("words:vocab_size=30", train_on=["one text and another"]).encode("one")


def test_a_cache_that_is_full_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKBENCH_CACHE_DIR", str(tmp_path))

    def full(*given: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(StorageError, match=r"No space left on device; name a folder .*TOKBENCH_CACHE_DIR"):
        tokbench.load("words:vocab_size=30", train_on=["one text and another"])
    assert not [*(tmp_path / "trained").iterdir()]
