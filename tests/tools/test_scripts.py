"""Scripts that no other test starts, of `benchmarks/` and `tools/`: what they import of tokbench is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPORTS = """
import runpy, sys
for path in sys.argv[1:]:
    try:
        runpy.run_path(path, run_name="imported")
    except Exception as error:
        print(f"{path}: {type(error).__name__}: {error}")
"""


@pytest.mark.parametrize("folder", ["benchmarks", "tools"])
def test_every_script_finds_what_it_imports(folder: str) -> None:
    scripts = sorted(map(str, (ROOT / folder).glob("*.py")))
    assert len(scripts) > 10
    program = f"import sys; sys.path.insert(0, {str(ROOT / folder)!r}){IMPORTS}"
    done = subprocess.run([sys.executable, "-c", program, *scripts], capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_vocabularies_finds_files_whose_models_state_no_type_and_damaged_ones(tmp_path: Path) -> None:
    """It stopped with a KeyError at a `tokenizer.json` of which in-house opens what its parts say."""
    model = '{"model": {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}'
    (tmp_path / "tokenizer.json").write_text(model, encoding="utf-8")
    (tmp_path / "tokenizer.model").write_bytes(b"\n\x03\n\x01a\n\xff")
    program = (
        "import pathlib, vocabularies as v\nfor x in v.in_folder(pathlib.Path({!r})): print(x.specs[v.OURS])"
    )
    command = [sys.executable, "-c", program.format(str(tmp_path))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT / "benchmarks")
    assert done.stdout.split() == [f"bpe:{tmp_path}/tokenizer.{ending}" for ending in ("json", "model")]
