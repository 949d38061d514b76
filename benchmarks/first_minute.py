"""What a newcomer waits for: the first run on a machine, the next one, and a run over a page of text.

    python benchmarks/first_minute.py                 # all three, five times each: minutes
    python benchmarks/first_minute.py --only tiny
    python benchmarks/first_minute.py --only warm --rounds 3

``fresh`` runs the bundled suite with no kernel compiled and nothing counted or trained, ``warm`` once more
where that was done, into another folder; ``tiny`` runs ``bytes`` and ``chars`` over 10 kB, report included,
with kernels compiled and nothing counted. Printed are the medians of wall and CPU seconds (of all processes),
and their ranges; go by CPU where others use the machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

TINY = 10_000
ROOT = Path(__file__).parents[1]


class Took(NamedTuple):
    """Seconds of one run."""

    wall: float
    cpu: float


def run(home: Path, *arguments: str, **caches: Path) -> Took:
    """Run `tokbench run` in a folder, with these caches; raises where it fails."""
    named: Mapping[str, Path] = {"TOKBENCH_CACHE_DIR": home / "cache", **caches}
    environment = {**os.environ, **{name: str(path) for name, path in named.items()}}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else every run compiles every module, as nobody's does
    target = tempfile.mkdtemp(prefix="run-", dir=home)
    command = [sys.executable, "-m", "tokbench", "run", *arguments, "-o", str(Path(target, "out"))]
    begun = time.perf_counter()
    started = subprocess.Popen(command, env=environment, cwd=home, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(started.pid, 0)
    wall = time.perf_counter() - begun
    if os.waitstatus_to_exitcode(status) not in (0, 1):  # 1: something optional was not at hand
        raise SystemExit(f"{' '.join(command)}: it failed")
    return Took(wall, usage.ru_utime + usage.ru_stime)


def fresh(home: Path) -> Took:
    """The bundled suite, as if it had never been run here."""
    with tempfile.TemporaryDirectory(dir=home) as new:
        return run(home, NUMBA_CACHE_DIR=Path(new, "numba"), TOKBENCH_CACHE_DIR=Path(new, "cache"))


def warm(home: Path) -> Took:
    """The bundled suite, where it was run before."""
    if not (home / "cache").exists():
        run(home)
    return run(home)


def tiny(home: Path) -> Took:
    """Two tokenizers over a page of text."""
    text = home / "page.txt"
    text.write_bytes((ROOT / "README.md").read_bytes()[:TINY])
    with tempfile.TemporaryDirectory(dir=home) as new:
        return run(home, "-t", "bytes", "-t", "chars", "-d", f"text:{text}", TOKBENCH_CACHE_DIR=Path(new))


KINDS: Mapping[str, Callable[[Path], Took]] = {"fresh": fresh, "warm": warm, "tiny": tiny}


def main() -> int:
    """Time what is asked for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", choices=[*KINDS], help="one of them")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (5)")
    given = parser.parse_args()
    print(f"{'run':<6} {'wall s':>8} {'range':>15} {'CPU s':>8} {'range':>15}")
    with tempfile.TemporaryDirectory(prefix="tokbench-first-minute-") as folder:
        for name in [given.only] if given.only else KINDS:
            took = [KINDS[name](Path(folder)) for _ in range(given.rounds)]
            cells = []
            for each in zip(*took, strict=True):
                cells.append(f"{statistics.median(each):8.2f} {min(each):7.2f}-{max(each):7.2f}")
            print(f"{name:<6} {' '.join(cells)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
