"""Each example plugin does what its docstring says, loaded as a user would load it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tokbench
from tokbench.registry import build_registry
from tokbench.tally.collect import get_ready
from tokbench.testing import check_tokenizer

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def example(name: str) -> str:
    return str(EXAMPLES / f"{name}.py")


@pytest.mark.long
@pytest.mark.parametrize("spec", ["digit-groups", "digit-groups:width=2"])
def test_the_tokenizer_conforms(spec: str) -> None:
    check_tokenizer(spec, registry=build_registry(plugin_files=[example("digit_groups")]))


def test_the_tokenizer_groups_from_the_right() -> None:
    tokenizer = tokbench.load("digit-groups", plugins=[example("digit_groups")])
    ids = tokenizer.encode("x1234567")
    assert [tokenizer.token_bytes(token) for token in ids] == [b"x", b"1", b"234", b"567"]  # type: ignore[attr-defined]


@pytest.mark.long
def test_a_method_of_ones_own_is_trained_and_conforms(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("of the people, by the people, for the people\n" * 30)
    registry = build_registry(plugin_files=[example("superbpe")])
    skip = ["memory", "speed", "threads", "recipe"]
    check_tokenizer(
        "superbpe:vocab_size=320", examples=5, skip=skip, registry=registry, train_on=f"text:{text}"
    )


@pytest.mark.slow
def test_examples_and_scaffolds_pass_mypy_strict(tmp_path: Path) -> None:
    sources = [str(path) for path in scaffolds(tmp_path) if path.parent.name != "tests"]
    sources += map(str, EXAMPLES.glob("*.py"))
    mypy = [sys.executable, "-m", "mypy", "--strict", "--scripts-are-modules", *sources]
    done = subprocess.run(mypy, capture_output=True, text=True, cwd=EXAMPLES.parents[1], timeout=400)
    assert done.returncode == 0, done.stdout


@pytest.mark.long
def test_examples_and_scaffolds_pass_pyright_strict(tmp_path: Path) -> None:
    pyright = shutil.which("pyright") or os.environ.get("TOKBENCH_PYRIGHT")
    if pyright is None:
        pytest.skip("needs pyright: npm install pyright, on the path or named by TOKBENCH_PYRIGHT")
    written = scaffolds(tmp_path)
    root = EXAMPLES.parents[1]
    config = {
        "include": [*map(str, written), str(EXAMPLES)],
        "extraPaths": [str(root), str(root / "plugins"), *{str(path.parents[1]) for path in written}],
        "typeCheckingMode": "strict",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    command = [pyright, "--project", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout


def scaffolds(folder: Path) -> list[Path]:
    """The Python files of a new plugin of every kind."""
    from tokbench.scaffold import KINDS, write_plugin

    written = [file for kind in KINDS for file in write_plugin(f"a-{kind}", kind, folder / kind)]
    return [path for path in written if path.suffix == ".py"]


@pytest.fixture(scope="module")
def sums_run(tmp_path_factory: pytest.TempPathFactory) -> tokbench.results.Run:  # type: ignore[name-defined]
    get_ready()  # else each worker of what may be the first run of a machine compiles all that counts
    return tokbench.run(
        ["bytes", "digit-groups"],
        ["sums:lines=300"],
        metrics=["tokens_per_grapheme", "compression_ratio"],
        plugins=[example(name) for name in ("sums", "digit_groups", "tokens_per_grapheme", "bars")],
        output=tmp_path_factory.mktemp("run") / "sums",
        speed=False,
    )


def test_the_dataset_and_the_metric_are_measured(sums_run: tokbench.results.Run) -> None:  # type: ignore[name-defined]
    frame = sums_run.frame.query("metric == 'tokens_per_grapheme' and language == 'all'").set_index("tokenizer")
    assert frame.loc["bytes", "value"] == 1.0
    assert frame.loc["digit-groups", "ci_low"] < frame.loc["digit-groups", "value"] < 1.0


def test_the_report_writer_draws_bars(sums_run: tokbench.results.Run, tmp_path: Path) -> None:  # type: ignore[name-defined]
    sums_run.report(tmp_path / "bars.txt", format="bars", plugins=[example("bars")])
    title, best, worst = (tmp_path / "bars.txt").read_text().splitlines()
    assert title == "sums:lines=300: bytes per token"
    assert "digit-groups" in best
    assert worst.count("█") < best.count("█")
