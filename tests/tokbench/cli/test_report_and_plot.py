"""`tokbench report` and `tokbench plot` on a real, small run."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import tokbench
from tests.command import invoke, output, refused
from tokbench.cli import main
from tokbench.errors import SpecError, TokbenchError, UnknownNameError
from tokbench.reports import WRITERS
from tokbench.reports.html.page import NOT_DRAWN, render
from tokbench.results import Run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("run")
    text = home / "text.txt"
    text.write_text(
        "\n".join(f"Line {number} of Übergrößenträger 東京." for number in range(40)), encoding="utf-8"
    )
    run = tokbench.run(["bytes", "chars"], [f"text:{text}"], output=home / "out", speed=False, jobs=1)
    return run.path


@pytest.mark.long
def test_html_is_what_one_gets_without_asking(folder: Path) -> None:
    assert output("report", str(folder)).split() == [str(folder / "report.html")]
    assert "packs the most text into a token" in (folder / "report.html").read_text("utf-8")


@pytest.mark.long
def test_every_format_can_be_asked_for(folder: Path) -> None:
    pytest.importorskip("openpyxl")
    asked = [part for writer in WRITERS for part in ("--format", writer.name)]
    output("report", str(folder), *asked)
    for writer in WRITERS:
        assert (folder / f"report{writer.suffix}").stat().st_size > 0


def test_one_file_cannot_hold_two_formats(folder: Path) -> None:
    refused(TokbenchError, "report", str(folder), "-f", "md", "-f", "csv", "-o", str(folder / "x"))


def test_plots_are_drawn_at_the_size_asked_for(folder: Path, tmp_path: Path) -> None:
    command = ["plot", str(folder), "compression", "zipf", "-f", "pdf", "-f", "svg", "--size", "column"]
    output(*command, "-o", str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {
        "compression.pdf", "compression.svg", "zipf.pdf", "zipf.svg",
    }  # fmt: skip
    assert 'width="244.8pt"' in (tmp_path / "compression.svg").read_text("utf-8")


def test_one_plot_is_written_as_the_file_that_is_named(folder: Path, tmp_path: Path) -> None:
    for name, begins in (("x.png", b"\x89PNG"), ("x.v2.PDF", b"%PDF"), ("x.svg", b"<?xml")):
        path = tmp_path / name
        done = invoke("plot", folder, "zipf", "zipf", "-o", path)
        assert (done.exit_code, done.output) == (0, f"{path}\n")
        assert path.read_bytes().startswith(begins)
        assert "exists; name another file" in str(invoke("plot", folder, "zipf", "-o", path).exception)
    assert invoke("plot", folder, "compression", "-f", "svg", "-o", path, "--force").exit_code == 0
    own = folder / "own.svg"
    assert [invoke("plot", folder, "zipf", "-o", own).exit_code for _ in range(2)] == [0, 0]
    (tmp_path / "folder.png").mkdir()
    for place in (tmp_path / "folder.png", tmp_path / "plots.v2"):
        assert invoke("plot", folder, "zipf", "-o", place).output == f"{place / 'zipf.svg'}\n"


def test_a_file_in_a_folder_is_overwritten_only_by_force_as_one_that_is_named(
    folder: Path, tmp_path: Path
) -> None:
    asked, mine = ("plot", folder, "zipf", "compression", "-o"), tmp_path / "zipf.svg"
    mine.write_text("mine")
    with pytest.raises(SpecError, match=r"zipf\.svg exists; name another file, or overwrite it with --force"):
        invoke(*asked, tmp_path, catch=False)
    assert (mine.read_text(), [*tmp_path.iterdir()]) == ("mine", [mine])
    assert invoke(*asked, tmp_path, "-f", "pdf").exit_code == 0  # writes no zipf.svg
    assert invoke(*asked, tmp_path, "--force").exit_code == 0
    assert mine.read_text("utf-8").startswith("<?xml")
    for _ in range(2):  # those of this run are its own
        assert invoke(*asked[:-1]).exit_code == 0
    (folder / "plots" / "zipf.svg").write_text("changed")
    assert "zipf.svg exists" in str(invoke(*asked[:-1]).exception)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["-o", "x.png"], r"x\.png is one file, for \d+ plots: name one of them, or a folder"),
        (["zipf", "compression", "-o", "x.png"], "for 2 plots"),
        (["zipf", "-f", "svg", "-o", "x.png"], r"x\.png is to be png, and --format says svg"),
        (["zipf", "-o", "x.jpg"], r"unknown figure format 'jpg'; .* There are: pdf, png, svg"),
        (["zipf", "-o", "-"], "- means standard output, which this command cannot write to"),
        (["zipf", "-o", "no/x.png"], "the folder no does not exist"),
    ],
)
def test_a_file_that_cannot_hold_what_is_asked_for_is_refused_before_anything_is_drawn(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match=message):
        invoke("plot", folder, *asked, catch=False)
    assert not list(tmp_path.iterdir())


def test_a_plot_without_data_is_named_with_what_it_needs(folder: Path) -> None:
    done = invoke("plot", str(folder), "fairness")
    assert done.exit_code == 1
    assert "premium" in done.output


def test_a_misspelt_name_is_answered_with_the_nearest(folder: Path) -> None:
    assert "compression" in refused(UnknownNameError, "plot", str(folder), "compresion")
    done = invoke("report", str(folder), "-f", "htm")
    assert "html" in str(done.exception)


def test_a_report_for_standard_output(folder: Path) -> None:
    written = (folder / "measurements.csv").read_text("utf-8")
    assert output("report", str(folder), "-f", "csv", "-o", "-") == written


@pytest.mark.long
def test_places_that_cannot_be_written_are_said_without_names_of_our_own(folder: Path, tmp_path: Path) -> None:
    done = invoke("report", str(folder), "-o", str(tmp_path))
    assert str(done.exception) == f"cannot write {tmp_path}: it is a folder; name a file"
    (tmp_path / "file").touch()
    done = invoke("plot", str(folder), "zipf", "-o", str(tmp_path / "file"))
    assert (
        str(done.exception)
        == f"cannot write {tmp_path / 'file' / 'zipf.svg'}: a file stands where a folder is needed"
    )
    done = invoke("report", str(tmp_path / "file"))
    assert "file: a file, not the folder of a run" in str(done.exception)
    done = invoke("report", str(tmp_path))
    assert "No such file or directory; is this the folder of a run?" in str(done.exception)
    assert "Errno" not in str(done.exception)


@pytest.mark.long
def test_the_ending_says_the_format(folder: Path, tmp_path: Path) -> None:
    for ending, begins in (
        (".md", "# tokbench report"),
        (".tex", "% Needs"),
        (".html", "<!doctype"),
        (".card.md", "---"),
        ("", "<!doctype"),
    ):
        path = tmp_path / f"x{ending}"
        assert invoke("report", str(folder), "-o", str(path)).exit_code == 0
        assert path.read_text("utf-8").startswith(begins)
    assert Run.open(folder).report(tmp_path / "y.md").read_text("utf-8").startswith("# tokbench report")
    assert invoke("report", str(folder), "-f", "md", "-o", str(path), "--force").exit_code == 0
    assert path.read_text("utf-8").startswith("# tokbench report")


def test_an_ending_that_no_format_has_is_refused_with_those_there_are(folder: Path, tmp_path: Path) -> None:
    done = invoke("report", folder, "-o", tmp_path / "x.unknown")
    assert (done.exit_code, type(done.exception)) == (1, SpecError)
    assert "no report format has the ending '.unknown'" in str(done.exception)
    assert ".tex (latex)" in str(done.exception)
    with pytest.raises(SpecError, match=r"'\.htm'; name the format, or give"):
        Run.open(folder).report(tmp_path / "x.htm")
    assert invoke("report", folder, "-f", "csv", "-o", tmp_path / "x.htm").exit_code == 0
    assert [each.name for each in tmp_path.iterdir()] == ["x.htm"]


def test_a_format_and_an_ending_that_contradict_are_refused_before_any_work(
    folder: Path, tmp_path: Path
) -> None:
    said = r"x\.csv is csv by its ending, and the format asked for is md \(\.md\): give one of both"
    with pytest.raises(SpecError, match=said):
        invoke("report", folder, "-f", "md", "-o", tmp_path / "x.csv", catch=False)
    with pytest.raises(SpecError, match=said):
        Run.open(folder).report(tmp_path / "x.csv", format="md")
    assert not list(tmp_path.iterdir())
    for format, name in (("card", "README.md"), ("spreadsheet", "x.CSV"), ("csv", "x.txt"), ("latex", "x")):
        assert invoke("report", folder, "-f", format, "-o", tmp_path / name).exit_code == 0


def test_weights_are_refused_by_formats_that_show_no_decision(folder: Path, tmp_path: Path) -> None:
    for writer in WRITERS:
        asked = ("report", folder, "-f", writer.name, "-o", tmp_path / "x", "--weights", "price=1", "--force")
        done = invoke(*asked)
        if writer.name in ("html", "md"):
            assert done.exit_code == 0
        else:
            said = f"--weights is for the formats with a decision, html and md, not {writer.name}"
            assert (type(done.exception), str(done.exception)) == (SpecError, said)


def test_a_format_of_a_plugin_takes_weights_where_it_says_that_it_decides(folder: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "formats.py"
    plugin.write_text(
        "import tokbench\n"
        "def write(run, path): path.write_text(str(run.manifest['suite']['weights']))\n"
        "@tokbench.hookimpl\n"
        "def tokbench_report_writers():\n"
        "    said = dict(summary='', write=write)\n"
        "    return [tokbench.ReportWriter(name='choice', suffix='.one', decides=True, **said),\n"
        "            tokbench.ReportWriter(name='plain', suffix='.two', **said)]\n"
    )
    asked = ("report", folder, "--plugin", plugin, "-o", tmp_path / "x", "--weights", "price=7", "-f")
    assert invoke(*asked, "choice").exit_code == 0
    assert "'price': 7" in (tmp_path / "x").read_text()
    said = "--weights is for the formats with a decision, html, md and choice, not plain"
    assert str(invoke(*asked, "plain").exception) == said


def test_a_label_of_nothing_in_the_run_is_refused(folder: Path) -> None:
    done = invoke("report", folder, "-f", "latex", "-o", "-", "--label", "byte=UTF-8")
    assert "unknown tokenizer or metric of this run, of a label 'byte'" in str(done.exception)
    output("report", folder, "-f", "latex", "-o", "-", "--label", "bytes=UTF-8", "--label", "tokens=T")


def test_a_full_disk_is_said_and_that_only_a_run_resumes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "x.md"
    monkeypatch.setattr("sys.argv", ["tokbench", "report", str(folder), "-o", str(path)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    said = f"error: cannot write {path}: the disk is full; free some space and run the same command again\n"
    assert capsys.readouterr().err == said


def test_two_tokenizers_on_little_text_are_not_drawn_unless_asked(folder: Path) -> None:
    run = Run.open(folder)
    page = render(run)
    assert "<svg role" not in page
    assert "packs the most text into a token" in page, "what is found is said without its figure"
    assert NOT_DRAWN in page
    known = run.manifest["datasets"][0]["languages"]["und"]
    known["bytes"] = 100_000
    page = render(run)
    assert "<svg role" in page
    assert NOT_DRAWN not in page


def test_what_a_plugin_brought_and_is_missing_now_is_said(folder: Path, tmp_path: Path) -> None:
    plugin, made = tmp_path / "draws.py", tmp_path / "made"
    plugin.write_text(
        "import tokbench\n@tokbench.hookimpl\ndef tokbench_plots():\n"
        "    return [tokbench.Plot(name='mine', title='Mine', summary='', draw=lambda run: None)]\n"
    )
    tokbench.run(
        "bytes", "bundled:code", plugins=[str(plugin)], output=made, speed=False, report=False,
        metrics=["tokens"],
    )  # fmt: skip
    missing = f"made with the plugin draws, whose plots are missing now: --plugin {plugin}"
    for asked in (["plot", str(made), "mine"], ["report", str(made), "-f", "md"]):
        assert missing in " ".join(invoke(*asked).stderr.split())
        assert "made with" not in invoke(*asked, "--plugin", str(plugin)).stderr
    assert "made with" not in invoke("report", str(folder), "-f", "md").stderr
