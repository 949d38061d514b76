"""Is `tokbench run` slower than in another checkout? The same run by both in turn, by CPU time.

    python benchmarks/paired_runs.py ../old/.venv/bin/python .venv/bin/python [--rounds N] [-- RUN ARGUMENTS…]

What follows ``--`` is given to `tokbench run`; without it, that is the bundled suite with ``--no-speed``. Each
run begins with an empty cache of tallies and trained tokenizers; one run of each before the rounds, which does
not count, compiles kernels. Rounds begin with either in turn. CPU seconds are those of the coordinator and of
all its workers. The ratio is the new one's to the old one's, taken round by round.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path


def main() -> int:
    """Run both in turn and print what each took, and the ratio with its spread."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("old", help="the Python of one checkout's environment")
    parser.add_argument("new", help="the Python of the other's")
    parser.add_argument("--rounds", type=int, default=5)
    ours = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    options = parser.parse_args(ours)
    arguments = sys.argv[len(ours) + 2 :] or ["--no-speed"]
    took: dict[str, list[tuple[float, float]]] = {"old": [], "new": []}
    for number in range(-1, options.rounds):
        for side in ("old", "new") if number % 2 else ("new", "old"):
            seconds = one_run(getattr(options, side), arguments)
            if number >= 0:
                took[side].append(seconds)
                print(f"round {number + 1}, {side}: {seconds[0]:.2f} s of CPU, {seconds[1]:.2f} s", flush=True)
    for side, found in took.items():
        cpu, wall = (statistics.median(each) for each in zip(*found, strict=True))
        print(f"{side}: median {cpu:.2f} s of CPU, {wall:.2f} s")
    ratios = [new[0] / old[0] for old, new in zip(took["old"], took["new"], strict=True)]
    spread = f"median {statistics.median(ratios):.3f}, from {min(ratios):.3f} to {max(ratios):.3f}"
    print(f"new/old, CPU: {spread} in {len(ratios)} rounds")
    return 0


def one_run(python: str, arguments: Sequence[str]) -> tuple[float, float]:
    """The CPU seconds and the seconds of a run that nothing is kept for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # -P: tokbench is the environment's, wherever this is called from.
        command = [python, "-P", "-m", "tokbench", "run", *arguments, "-o", str(folder / "out")]
        environment = {**os.environ, "TOKBENCH_CACHE_DIR": str(folder / "cache")}
        with (folder / "said").open("w+b") as said:
            begun = time.perf_counter()
            process = subprocess.Popen(command, stdout=said, stderr=said, env=environment)
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - begun
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                said.seek(0)
                sys.exit(f"{' '.join(command)}:\n{said.read().decode('utf-8', 'replace')}")
    return used.ru_utime + used.ru_stime, wall


if __name__ == "__main__":
    sys.exit(main())
