"""`tokbench plugins new`, from an installed wheel, in an empty folder: install, test, run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import invoke
from tokbench.errors import TokbenchError
from tokbench.scaffold import KINDS, write_plugin

ROOT = Path(__file__).parents[3]

Shell = Callable[..., str]


def call(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with tokbench from its wheel; the libraries it needs come from the parent's."""
    pytest.importorskip("setuptools", minversion="77", reason="building the wheel needs setuptools>=77")
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    build = folder / "build"
    call("git", "clone", "--quiet", "--no-hardlinks", ROOT, build, cwd=folder)
    call(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, build, cwd=folder)
    call(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    site = next((folder / "venv" / "lib").glob("python*")) / "site-packages"
    (site / "parent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = folder / "venv" / "bin" / "python"
    call(*pip, "--python", python, "install", "--no-deps", *folder.glob("*.whl"), cwd=folder)
    place = call(python, "-c", "import tokbench; print(tokbench.__file__)", cwd=folder)
    assert Path(place.strip()).is_relative_to(site), "the environment must use the wheel, not the checkout"
    return folder / "venv" / "bin"


@pytest.fixture
def shell(wheel_environment: Path, tmp_path: Path) -> Shell:
    """Runs a command of that environment in an empty folder."""

    def run(command: str, *arguments: str, cwd: Path = tmp_path) -> str:
        if command == "pip":
            pip = [sys.executable, "-m", "pip", "--quiet", "--python", str(wheel_environment / "python")]
            return call(*pip, *arguments, cwd=cwd)
        if command == "pytest":
            return call(wheel_environment / "python", "-m", "pytest", *arguments, cwd=cwd)
        return call(wheel_environment / command, *arguments, cwd=cwd)

    return run


@pytest.mark.long
def test_a_tokenizer_plugin_installs_passes_its_tests_and_runs(shell: Shell, tmp_path: Path) -> None:
    shell("tokbench", "plugins", "new", "demo")
    folder = tmp_path / "demo"
    shell("pip", "install", "--no-deps", "--no-build-isolation", "-e", ".", cwd=folder)
    assert "passed" in shell("pytest", cwd=folder)
    rows = {row["name"]: row for row in json.loads(shell("tokbench", "plugins", "list", "--json"))}
    assert rows["demo"]["status"] == "loaded"
    shell("tokbench", "run", "-t", "demo", "-d", "bundled:tricky", "--no-speed", "-o", "out", cwd=tmp_path)
    assert "demo" in (tmp_path / "out" / "measurements.csv").read_text()


@pytest.mark.long
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "tokenizer"])
def test_every_other_kind_passes_its_own_tests(shell: Shell, tmp_path: Path, kind: str) -> None:
    name = f"my-{kind}"
    shell("tokbench", "plugins", "new", name, "--kind", kind)
    folder = tmp_path / name
    shell("pip", "install", "--no-deps", "--no-build-isolation", "-e", ".", cwd=folder)
    try:
        assert "passed" in shell("pytest", cwd=folder)
    finally:
        shell("pip", "uninstall", "-y", f"tokbench-{name}")


@pytest.mark.parametrize("name", ["Demo", "1st", "a b", "class", "", "../x"])
def test_a_wrong_name_is_refused(name: str, tmp_path: Path) -> None:
    rules = "cannot be the name of a plugin: .* begin with a letter; do not use a keyword of Python"
    with pytest.raises(TokbenchError, match=rules):
        write_plugin(name, folder=tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("mine")
    with pytest.raises(TokbenchError, match="not empty"):
        write_plugin("demo", folder=tmp_path)
    with pytest.raises(TokbenchError, match="did you mean 'metric'"):
        write_plugin("demo", "metrik", folder=tmp_path / "x")


def test_a_file_in_the_way_and_a_name_that_is_taken_are_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TokbenchError, match="file is a file; name a folder"):
        write_plugin("demo", folder=tmp_path / "file")
    with pytest.raises(TokbenchError, match=r"cannot write .*Not a directory"):
        write_plugin("demo", folder=tmp_path / "file" / "inside")
    for name, kind, said in (
        ("bytes", "tokenizer", "tokenizer named 'bytes'"),
        ("bpe", "trainable", "tokenizer named 'bpe'"),
        ("compression-ratio", "metric", "metric named 'compression_ratio'"),
        ("zipf", "plot", "plot named 'zipf'"),
        ("md", "report", "report named 'md'"),
    ):
        with pytest.raises(TokbenchError, match=f"there is already a {said}"):
            invoke("plugins", "new", name, "--kind", kind, "-o", tmp_path / "new", catch=False)
    assert not (tmp_path / "new").exists()
