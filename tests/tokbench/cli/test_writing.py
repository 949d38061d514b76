"""Where commands write: never over what they read, one file of a run or another, and told before any work."""

from __future__ import annotations

import errno
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import tokbench
from tests.command import invoke
from tokbench.errors import ResultsError, SpecError
from tokbench.results import Run


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer as a file and as a folder, some text, a plugin, and links to them."""
    folder = tmp_path_factory.mktemp("kept")
    made: Any = tokbench.load("bpe:vocab_size=262", train_on=["some words"] * 9)
    made.save(folder / "a.json")
    made.save(folder / "v")
    plugin = "import tokbench\n@tokbench.hookimpl\ndef tokbench_tokenizers():\n    return []\n"
    for name, content in {
        "a.txt": "some words, some more\n" * 30,
        "b.txt": "more words\n",
        "counts.csv": "file,tokens\n" + "b.txt,3\na.txt,90\n" * 10,
        "plugin.py": plugin,
    }.items():
        (folder / name).write_text(content)
    for name, to in {
        "link.json": "a.json",
        "b.json": "b.txt",
        "link": "v",
        "leads_in.json": "v/vocab.json",
        "v/leads_out.json": "../a.json",
    }.items():
        (folder / name).symlink_to(to)
    return folder


@pytest.fixture
def given(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of that folder is where commands are called."""
    monkeypatch.chdir(shutil.copytree(kept, tmp_path / "given", symlinks=True))


@pytest.mark.parametrize(
    "asked",
    [
        "runs compare no_run no_run --junit x --page ./x",
        "runs compare no_run no_run --summary x --page x",
        "trace no:such text --html x --svg x",
        "trace no:such text --html - --json",
        "prune no:such -d no:such --vocab-size 300 -o x --map x",
        "prune no:such -d no:such --vocab-size 300 -o folder --map folder/merges.txt",
    ],
)
def test_two_options_that_write_one_file_are_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match=r"--\w+ and --\w+ both write [-./x\w]+; give each a file of its own"):
        invoke(*asked.split(), catch=False)


def test_two_report_formats_of_one_ending_are_not_written_over_each_other(
    finished: Run, tmp_path: Path
) -> None:
    plugin = tmp_path / "other_page.py"
    plugin.write_text(
        "import tokbench\n"
        "@tokbench.hookimpl\n"
        "def tokbench_report_writers():\n"
        "    write = lambda run, path: path.write_text('mine')\n"
        "    return [tokbench.ReportWriter(name='mine', suffix='.md', summary='mine', write=write)]\n"
    )
    asked = ("report", finished.path, "-f", "md", "-f", "mine", "--plugin", plugin)
    with pytest.raises(SpecError, match="--format md and --format mine both write"):
        invoke(*asked, catch=False)


@pytest.mark.usefixtures("given")
@pytest.mark.parametrize(
    ("command", "own"),
    [
        ("convert bpe:a.json a.json", "a.json"),
        ("convert bpe:a.json link.json", "link.json"),
        ("convert bpe:v v", "v"),
        ("prune bpe:a.json -d text:a.txt --vocab-size 260 -o a.json", "a.json"),
        ("prune bpe:a.json -d text:a.txt --vocab-size 260 -o b.json --map a.txt", "a.txt"),
        ("train bpe -d text:a.txt -o a.txt", "a.txt"),
        ("train bpe -d text:a.txt --option base=a.json -o a.json", "a.json"),
        ("count -d text:a.txt -o a.txt", "a.txt"),
        ("count --merge a.txt -o a.txt", "a.txt"),
        ("calibrate bytes --observed a.txt -o a.txt", "a.txt"),
        ("bytes bpe:a.json -o a.json", "a.json"),
        ("trace bpe:a.json text --html a.json", "a.json"),
        ("train words -d text:*.txt -o b.txt", "b.txt"),
        ("count -d text:*.txt -o b.txt", "b.txt"),
        ("calibrate bytes --observed counts.csv -o b.txt", "b.txt"),
        ("bytes bpe:vocab_size=262 --train-on text:*.txt -o b.json", "b.json"),
        ("bytes bpe:vocab_size=262,base=a.json --train-on text:a.txt -o a.json", "a.json"),
        ("convert bpe:a.json plugin.py --plugin plugin.py", "plugin.py"),
    ],
)
def test_what_a_command_reads_is_not_written_over_by_force(command: str, own: str) -> None:
    before = Path(own).read_bytes() if Path(own).is_file() else b""
    done = invoke(*command.split(), "--force")
    assert str(done.exception) == f"{own} is what this command reads, and would be lost; name another file"
    assert Path(own).is_dir() or Path(own).read_bytes() == before


@pytest.mark.usefixtures("given")
@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("convert bpe:v/vocab.json v", "v/vocab.json"),
        ("convert bpe:v/vocab.json ./v/../v", "v/vocab.json"),
        ("convert bpe:v/vocab.json link", "v/vocab.json"),
        ("convert bpe:link/vocab.json v", "link/vocab.json"),
        ("convert bpe:leads_in.json v", "leads_in.json"),
        ("convert bpe:v/leads_out.json v", "v/leads_out.json"),
        ("prune bpe:v/vocab.json -d text:a.txt --vocab-size 260 -o v", "v/vocab.json"),
        ("prune bpe:a.json -d text:v/merges.txt --vocab-size 260 -o v", "v/merges.txt"),
        ("train bpe -d text:v/merges.txt -o v", "v/merges.txt"),
        ("train bpe -d text:a.txt --option base=v/vocab.json -o v", "v/vocab.json"),
        ("golden make bpe:v/vocab.json -o v", "v/vocab.json"),
    ],
)
def test_nothing_is_written_into_a_folder_that_holds_what_is_read(command: str, read: str) -> None:
    before = {path: path.read_bytes() for path in Path("v").iterdir()}
    said = str(invoke(*command.split(), "--force").exception)
    assert re.search(f"holds {read}, which this command reads; name another folder$", said)
    assert {path: path.read_bytes() for path in Path("v").iterdir()} == before


@pytest.mark.parametrize(
    "asked",
    [
        "bytes bytes -o x.npy",
        "count -d a.txt -o x.npy",
        "calibrate bytes --observed a.txt -o x.npy",
        "prune bpe:no.json -d a.txt --vocab-size 300 -o m.json --map x.npy",
        "trace bpe:no.json text --html x.npy",
    ],
)
def test_a_folder_where_a_file_goes_is_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.npy").mkdir()
    with pytest.raises(SpecError, match=r"^cannot write x\.npy: it is a folder; name a file$"):
        invoke(*asked.split(), "--force", catch=False)
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


@pytest.mark.parametrize(
    "asked",
    [
        "train words -d a.txt -o -",
        "runs chart no_run -o -",
        "count -d a.txt -o -",
        "convert tiktoken:no -",
        "golden make bytes -o -",
        "calibrate bytes --observed a.txt -o -",
        "prune bpe:no.json -d a.txt --vocab-size 300 -o m.json --map -",
    ],
)
def test_a_command_that_writes_nothing_to_standard_output_makes_no_file_of_that_sign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("some words\n" * 30)
    with pytest.raises(SpecError, match="- means standard output, which this command cannot write to"):
        invoke(*asked.split(), catch=False)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("option", ["--junit", "--summary", "--page"])
def test_where_a_comparison_goes_is_a_file_in_a_folder_that_may_be_new(
    finished: Run, tmp_path: Path, option: str
) -> None:
    asked = ("runs", "compare", finished.path, finished.path, option)
    assert str(invoke(*asked, tmp_path).exception) == f"{tmp_path} is a folder; name a file"
    target = tmp_path / "new" / "file"
    assert invoke(*asked, target).exit_code == 0
    assert target.stat().st_size
    assert isinstance(invoke(*asked, target / "file").exception, ResultsError)
    if option != "--summary":  # which is added to what is there
        assert "new/file is there, and no ." in str(invoke(*asked, target).exception)


@pytest.mark.parametrize("option", ["--junit", "--page"])
def test_what_a_folder_refuses_may_go_elsewhere(
    finished: Run, tmp_path: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No option is named that the command lacks: `runs compare` has no -o."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tokbench.results.atomic.tempfile.mkstemp", refused)
    target = tmp_path / "file"
    done = invoke("runs", "compare", finished.path, finished.path, option, target)
    assert str(done.exception) == f"cannot write {target}: Permission denied; choose another place"


@pytest.mark.parametrize(
    ("name", "format_"), [("run.json", "json"), ("measurements.parquet", "parquet"), ("cells", "json")]
)
def test_no_report_is_written_over_a_file_of_the_run(finished: Run, name: str, format_: str) -> None:
    [path, *_] = [finished.path / name] if name != "cells" else [*(finished.path / "cells").iterdir()]
    before = path.read_bytes()
    for command in (
        ("report", finished.path, "-f", format_, "-o", path, "--force"),
        ("runs", "compare", finished.path, finished.path, "--page", path),
    ):
        assert "is a file of the run, and would be lost; name another" in str(invoke(*command).exception)
    with pytest.raises(ResultsError, match="is a file of the run"):
        finished.report(path, format_)
    assert path.read_bytes() == before
