"""What a worker tells of itself."""

from __future__ import annotations

import subprocess
import sys


def test_peak_memory_is_not_the_parents() -> None:
    held = bytearray(b"x") * 400_000_000
    code = "from tokbench.workers.memory import peak_memory; print(peak_memory())"
    said = subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True)
    assert 5_000_000 < int(said.stdout) < len(held)
