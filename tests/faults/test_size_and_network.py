"""Text of any size in bounded memory, and a network that nobody asked for."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tokbench.runner.counting.engines import open_ray

WHOLE = 400_000_000
COORDINATOR = """
import json, re, sys
from tokbench.runner.run import run_suite

if __name__ == "__main__":
    datasets, output = sys.argv[1:3], sys.argv[3]
    run = run_suite(None, ["bytes"], datasets, output=output, speed=False, jobs=1, memory_limit="300MB")
    peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
    measured = run.frame[run.frame["metric"].eq("compression_ratio") & run.frame["value"].notna()]
    print(json.dumps([peak, sorted(set(measured["dataset"])), sorted({f["kind"] for f in run.failures})]))
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
def test_one_line_larger_than_memory_is_held_by_no_coordinator(text: Path, tmp_path: Path) -> None:
    line = tmp_path / "line.txt.gz"
    with gzip.open(line, "wb", compresslevel=1) as packed:
        for _ in range(WHOLE // 1_000_000):
            packed.write(b"word " * 200_000)
    script = tmp_path / "coordinator.py"
    script.write_text(COORDINATOR)
    done = subprocess.run(
        [sys.executable, str(script), f"text:{text}", f"text:{line}", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TOKBENCH_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    peak, measured, failures = json.loads(done.stdout.splitlines()[-1])
    assert peak < WHOLE
    assert len(measured) == 1
    assert failures == ["memory"]


def test_ray_asks_no_network_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str | None] = []

    def init(**_: Any) -> None:
        told.append(os.environ.get("RAY_USAGE_STATS_ENABLED"))

    remote = SimpleNamespace(options=lambda **_: None)
    ray = SimpleNamespace(
        is_initialized=lambda: False, init=init, shutdown=lambda: None, remote=lambda function: remote
    )
    monkeypatch.setitem(sys.modules, "ray", ray)  # type: ignore[arg-type]
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED")  # and as it was afterwards
    with open_ray(1, None):
        pass
    assert told == ["0"]
