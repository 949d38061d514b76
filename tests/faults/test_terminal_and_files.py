"""What names, manifests and reports may do to a terminal, a spreadsheet and the files around: nothing."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import invoke
from tokbench.errors import ResultsError, SpecError
from tokbench.results import Run
from tokbench.runner.run import run_suite

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("finished")
    (home / "text.txt").write_text("the cat sat on the mat\nand a second line\n" * 40)
    options = {"speed": False, "jobs": 1, "audit": False, "samples": 1}
    return run_suite(None, ["bytes", "chars"], [f"text:{home}/text.txt"], home / "run", **options).path


@pytest.fixture
def done(finished: Path, tmp_path: Path) -> Path:
    """A finished run, to do harm to."""
    return Path(shutil.copytree(finished, tmp_path / "runs" / "out"))


def edit(folder: Path, **changes: object) -> None:
    manifest = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**manifest, **changes}))


def test_names_draw_nothing_on_the_terminal(done: Path, plugin: Callable[..., str]) -> None:
    edit(done, status=HOSTILE, versions={"tokbench": HOSTILE})
    named = plugin(
        "named",
        "class Named:\n"
        f"    name, vocab_size = {'evil' + HOSTILE!r}, 256\n"
        "    encode = staticmethod(lambda text: list(text.encode()))\n"
        "    decode = staticmethod(lambda ids: bytes(ids).decode())\n"
        "@tokbench.hookimpl\n"
        "def tokbench_tokenizers():\n"
        f"    return [tokbench.TokenizerFamily(name='named', summary={HOSTILE!r}, load=lambda *_: Named())]",
    )
    for command in (
        ("list", "runs", done.parent),
        ("runs", "compare", done, done),
        ("compare", "named", "bytes", "a b", "--plugin", named),
        ("encode", "named", "a b", "--plugin", named),
        ("show", "named", "--plugin", named),
        ("list", "tokenizers", "--plugin", named),
    ):
        shown = invoke(*command)
        assert shown.exit_code == 0, (command, shown.output)
        assert not {"\x1b", "\x07", "\x9b"} & set(shown.output), command


def test_text_that_a_spreadsheet_would_run_is_marked(done: Path) -> None:
    """The plain CSV keeps every name as it is; the one for spreadsheets has nothing that is run."""
    opened = Run.open(done)
    opened.frame.loc[0, ["tokenizer", "dataset", "unit"]] = ["=1+1", "\x1b[2J", "@SUM(A1)"]
    opened.frame.loc[1, ["tokenizer", "value"]] = ["-2+3", -2.5]
    from tokbench.reports.files import write_csv, write_spreadsheet

    cells = {}
    for name, write in (("plain", write_csv), ("safe", write_spreadsheet)):
        write(opened, done / name)
        cells[name] = [*csv.DictReader(io.StringIO((done / name).read_text("utf-8"), newline=""))][:2]
    assert [cells["plain"][0][key] for key in ("tokenizer", "unit")] == ["=1+1", "@SUM(A1)"]
    assert [cells["safe"][0][key] for key in ("tokenizer", "dataset", "unit")] == [
        "'=1+1",
        "'\ufffd[2J",
        "'@SUM(A1)",
    ]
    assert [cells["safe"][1][key] for key in ("tokenizer", "value")] == ["'-2+3", "-2.5"]
    assert invoke("report", done, "--format", "spreadsheet").output.split() == [str(done / "report.sheet.csv")]


def test_files_of_others_are_overwritten_with_force_only(done: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "thesis.html"
    for command in (["report", done, "-o"], ["trace", "maxmatch:vocab.txt", "text", "--html"]):
        theirs.write_text("precious")
        refused = invoke(*command, theirs)
        assert isinstance(refused.exception, SpecError), command
        assert "--force" in str(refused.exception)
        assert theirs.read_text() == "precious"
    assert invoke("report", done, "-o", theirs, "--force").exit_code == 0
    assert theirs.read_text() != "precious"
    for _ in range(2):  # our own, unchanged: nobody is asked
        assert invoke("report", done, "--format", "md").exit_code == 0
    (done / "report.md").write_text("edited")
    assert isinstance(invoke("report", done, "--format", "md").exception, SpecError)


@pytest.mark.long
def test_tampered_manifests_are_said_in_a_sentence(done: Path) -> None:
    manifest = json.loads((done / "run.json").read_text())
    said = 0
    for number, key in enumerate(manifest):
        for instead in ([7], [None, "x", {"x": 7}, [{"spec": 7}]][number % 4]):
            edit(done, **{**manifest, key: instead})
            for command in (
                ["report", done, "--format", "md", "--force"],
                ["runs", "compare", done, done],
                ["list", "runs", done.parent],
            ):
                error = invoke(*command).exception
                assert error is None or isinstance(error, ResultsError | SystemExit), (key, instead, command)
                said += isinstance(error, ResultsError) and str(done) in str(error)
    assert said > 10


@pytest.mark.long
def test_names_that_are_not_utf8_lose_nothing(
    run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "h\udc80re"
    here.mkdir()
    monkeypatch.chdir(here)
    odd = here / "t\udc80xt.txt"
    odd.write_text("the cat sat\n" * 30)
    done = run(["bytes", "chars"], [f"text:{odd}"], report=True, output=tmp_path / "o\udc80t")
    assert done.frame[done.frame["metric"] == "compression_ratio"]["value"].notna().any()
    assert (done.path / "report.html").is_file()
    assert done.failures == []
    [dataset] = done.datasets
    assert int(done.tally("bytes", dataset).documents) == 30


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "2>&-"])
def test_closed_standard_output_is_as_good_as_thrown_away(closed: str) -> None:
    program = f'"{sys.executable}" -c "from tokbench.cli import main; main()" encode bytes hi {closed}'
    done = subprocess.run(program, shell=True, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_an_output_of_few_letters_lacks_is_spelt_out(encoding: str, tmp_path: Path) -> None:
    """Tables and pieces are printed all the same, and JSON stays JSON."""

    def printed(*arguments: str) -> str:
        command = [sys.executable, "-m", "tokbench", *arguments]
        told = {**os.environ, "PYTHONIOENCODING": encoding}
        done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=told, timeout=120, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode(encoding)

    assert r"\u0e01\u2083" in printed("compare", "bytes", "chars", "ก")
    assert json.loads(printed("encode", "chars", "ก", "--json"))["text"] == "ก"
