"""Killed at any moment, the same command goes on, and its figures are those of a run left alone."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runs import FAULTY, made_up_text
from tokbench.metrics import CellKey
from tokbench.results import Run, RunFolder
from tokbench.results.folder import locked
from tokbench.runner.counting.cells import CellFiles

RunIt = Callable[..., Run]
FIGURES = (
    "measurements.parquet",
    "measurements.csv",
    "comparisons.parquet",
    "samples.json",
    "audits.json",
    "diffs.json",
)
ALL_CELLS = 3 * 6


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    languages = ("eng_Latn", "deu_Latn", "fra_Latn", "rus_Cyrl", "ell_Grek", "spa_Latn")
    return made_up_text(tmp_path_factory.mktemp("text"), languages, 2_500)


def command(text: Path, out: Path, *more: str) -> list[str]:
    specs = [part for spec in ("bytes", "chars", "maxmatch:vocab_size=500") for part in ("-t", spec)]
    return [
        *(sys.executable, "-P", "-m", "tokbench", "run", *specs, "-d", f"text:{text}", "-o", str(out)),
        *("--train-on", f"text:{text}", "--no-speed", "--no-report", "--jobs", "2", *more),
    ]


def environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "TOKBENCH_CACHE_DIR": str(cache)}


def figures(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in FIGURES}


def started(text: Path, out: Path, env: dict[str, str], *more: str) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command(text, out, *more), env=env, stdout=quiet, stderr=quiet)


def finished_cells(out: Path) -> int:
    return len(list((out / "cells").glob("[!.]*.cell")))


def wait_for_cells(out: Path, number: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until so many cells are finished, and the run is not."""
    give_up = time.monotonic() + 60
    while finished_cells(out) < number or not (out / "run.json").exists():
        assert process.poll() is None, f"it ended with {finished_cells(out)} cells, before it had {number}"
        assert time.monotonic() < give_up
        time.sleep(0.002)


def killed_and_resumed(text: Path, folder: Path, cells: list[int], *more: str) -> dict[str, bytes]:
    """The figures after a kill at each number of finished cells, and one run to the end."""
    out, env = folder / "run", environment(folder / "cache")
    for number in cells:
        process = started(text, out, env, *more)
        wait_for_cells(out, number, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert json.loads((out / "run.json").read_text())["status"] == "unfinished"
    assert 0 < finished_cells(out) < ALL_CELLS, "it was cut in the middle"
    subprocess.run(command(text, out, *more), env=env, check=True, capture_output=True)
    assert finished_cells(out) == ALL_CELLS
    return figures(out)


@pytest.fixture(scope="module")
def undisturbed(text: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed")
    subprocess.run(
        command(text, folder / "run"), env=environment(folder / "cache"), check=True, capture_output=True
    )
    return figures(folder / "run")


@pytest.mark.long
@pytest.mark.parametrize("cached", [True, False])
def test_killed_coordinator(cached: bool, text: Path, tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    cells = [0, 1, 6]
    assert killed_and_resumed(text, tmp_path, cells, *([] if cached else ["--no-cache"])) == undisturbed


@pytest.mark.slow
def test_killed_at_fifty_random_moments(text: Path, tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    rng, env = random.Random(50), environment(tmp_path / "cache")
    for attempt in range(10):
        out = tmp_path / str(attempt) / "run"  # a run has its folder's name
        moments = [rng.uniform(0.3, 4.0) for _ in range(5)]
        for moment in moments:
            process = started(text, out, env, "--no-cache")
            time.sleep(moment)
            process.send_signal(signal.SIGKILL)
            process.wait()
        subprocess.run(command(text, out, "--no-cache"), env=env, check=True, capture_output=True)
        assert figures(out) == undisturbed, moments


def kill_workers(process: subprocess.Popen[bytes]) -> None:
    import psutil

    for child in psutil.Process(process.pid).children():
        child.kill()


@pytest.mark.parametrize(
    "times", [pytest.param(1, marks=pytest.mark.long), pytest.param(5, marks=pytest.mark.slow)]
)
def test_killed_workers_are_failures_that_the_next_run_makes_good(
    times: int, text: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    env = environment(tmp_path / "cache")
    for attempt in range(times):
        out = tmp_path / str(attempt) / "run"
        process = started(text, out, env, "--no-cache")
        for number in range(1, 4):  # a worker that waits for work when it is killed loses none
            wait_for_cells(out, number, process)
            kill_workers(process)
        assert process.wait() == 1, "what was being counted has failed"
        subprocess.run(command(text, out, "--no-cache"), env=env, check=True, capture_output=True)
        assert figures(out) == undisturbed


def test_only_unfinished_cells_are_computed_again(corpus: Path, run: RunIt) -> None:
    first = run(["bytes"], [f"text:{corpus}"], cache=False)
    before = {path.name: path.stat().st_mtime_ns for path in (first.path / "cells").iterdir()}
    lost = next((first.path / "cells").glob("*fra*"))
    lost.unlink()
    run(["bytes"], [f"text:{corpus}"], cache=False)
    after = {path.name: path.stat().st_mtime_ns for path in (first.path / "cells").iterdir()}
    assert set(after) == set(before)
    assert {name for name in before if before[name] != after[name]} == {lost.name}


def test_what_a_killed_run_was_writing_is_gone_after_the_next(corpus: Path, run: RunIt, tmp_path: Path) -> None:
    """Killed between the first byte of a file and its name; what is not surely a run's own stays."""
    out = tmp_path / "out"
    killed = f"""
import os, signal
from pathlib import Path
from tokbench.results.atomic import replacing
from tokbench.results.cell import cell_file_name
from tokbench.metrics.measurement import CellKey
cell = Path({str(out)!r}, "cells", cell_file_name(CellKey("bytes", "text:a", "fra_Latn")))
with replacing(cell), replacing(Path({str(out)!r}, "run.json")):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-P", "-c", killed]).returncode == -signal.SIGKILL
    assert len([*out.glob("cells/.*.cell"), *out.glob(".run.json.*")]) == 2
    assert run(["bytes"], [f"text:{corpus}"]).path == out, "they are no other run"
    assert not [*out.glob("cells/.*"), *out.glob(".*")]

    theirs = [out / ".notes.json", out / ".run.json.old.json", out / "cells" / ".notes.abcdefgh.cell"]
    for path in theirs:
        path.write_text("mine")
    with locked(RunFolder(out)):  # as every run does
        pass
    assert all(path.exists() for path in theirs)


@pytest.mark.long
def test_a_half_written_cell_is_computed_again(corpus: Path, run: RunIt) -> None:
    first = run(["bytes"], [f"text:{corpus}"], cache=False)
    expected = figures(first.path)
    for path in (first.path / "cells").iterdir():
        path.write_bytes(path.read_bytes()[:40])
    assert figures(run(["bytes"], [f"text:{corpus}"], cache=False).path) == expected


@pytest.mark.long
def test_a_changed_file_makes_its_cell_stale(corpus: Path, run: RunIt) -> None:
    first = run(["bytes"], [f"text:{corpus}"])
    n = first.tally("bytes", f"text:{corpus}", "eng_Latn").bytes
    path = corpus / "eng_Latn.txt"
    path.write_text(path.read_text(encoding="utf-8") * 2, encoding="utf-8")
    second = run(["bytes"], [f"text:{corpus}"])
    assert second.tally("bytes", f"text:{corpus}", "eng_Latn").bytes == 2 * n


def wait_until_it_works(out: Path) -> None:
    """Wait until a run has written its manifest, which is just before it listens to Ctrl-C."""
    wait_for(out / "run.json")
    time.sleep(0.3)


def wait_for(path: Path) -> None:
    """Wait until there is such a file."""
    give_up = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < give_up, f"nobody wrote {path.name}"
        time.sleep(0.05)


@pytest.mark.long
def test_ctrl_c_once_leaves_a_run_that_goes_on(
    text: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    out, env = tmp_path / "run", environment(tmp_path / "cache")
    process = subprocess.Popen(command(text, out), env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    wait_until_it_works(out)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"goes on from" in said
    assert json.loads((out / "run.json").read_text())["status"] == "interrupted"
    subprocess.run(command(text, out), env=env, check=True, capture_output=True)
    assert figures(out) == undisturbed


@pytest.mark.long
def test_ctrl_c_twice_stops_at_once(corpus: Path, tmp_path: Path) -> None:
    plugin, hanging = FAULTY / "faults.py", tmp_path / "hanging"
    process = subprocess.Popen(
        [
            *(sys.executable, "-P", "-m", "tokbench", "run", "-t", "hangs", "-d", f"text:{corpus}"),
            *("-o", str(tmp_path / "out"), "--plugin", str(plugin), "--no-speed", "--no-report"),
        ],
        env={**os.environ, "HANGS_SINCE": str(hanging)},
        stderr=subprocess.PIPE,
    )
    wait_for(hanging)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None, "it waits for what is in flight"
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert time.monotonic() - begun < 10
    assert process.returncode == 130


def test_asking_whether_a_cell_is_there_reads_none(tmp_path: Path) -> None:
    known, other = CellKey("bytes", "text:a", "eng_Latn"), CellKey("chars", "text:a", "eng_Latn")
    cells = CellFiles(RunFolder(tmp_path), [known])  # of which no file is there
    assert known in cells
    assert other not in cells
