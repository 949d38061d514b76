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
