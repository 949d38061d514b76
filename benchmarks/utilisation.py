"""Are all cores busy, whether the text comes as a thousand small files or as one large one?

Writes 1,000 files of 1 MB, runs tokbench over them, joins them to one file of 1 GB, and runs again, without
cache, report or speed pass. Utilisation is the time for which workers ran, or waited for a core that somebody
else had, over workers x wall time of the whole command, its start and end included. Counting the wait makes it
true on a shared machine too: a worker that has nothing to do neither runs nor waits. Linux only.

    python benchmarks/utilisation.py                          # about 2 GB of disk, removed again
    python benchmarks/utilisation.py --files 200 -t bytes
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import psutil

MEGABYTE = 1_000_000
TICK = 0.1


@dataclass(frozen=True, slots=True)
class Usage:
    """Seconds: of wall time, for which workers ran, and for which they waited for a core."""

    wall: float
    ran: float
    waited: float


def lines(n_bytes: int, seed: int) -> Iterator[str]:
    """Lines of made-up words, as frequent as words are, about `n_bytes` in all."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(2, 9))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    summed = list(accumulate(weights))
    while n_bytes > 0:
        line = " ".join(rng.choices(words, cum_weights=summed, k=30))
        n_bytes -= len(line) + 1
        yield line


def write_files(folder: Path, count: int) -> None:
    """`count` files of a megabyte: a few texts, each file beginning elsewhere in one of them."""
    folder.mkdir()
    texts = ["\n".join(lines(2 * MEGABYTE, seed)).encode() for seed in range(4)]
    rng = random.Random(0)
    for index in range(count):
        start = rng.randrange(MEGABYTE)
        text = texts[index % len(texts)][start : start + MEGABYTE - 1]
        (folder / f"part-{index:04}.txt").write_bytes(text + b"\n")


def joined(folder: Path, path: Path) -> None:
    """All files of `folder` as one."""
    with path.open("wb") as whole:
        for part in sorted(folder.iterdir()):
            with part.open("rb") as stream:
                shutil.copyfileobj(stream, whole)


def measured(command: list[str]) -> Usage:
    """Run a command to its end, and look at its workers meanwhile."""
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    known = psutil.Process(process.pid)
    spans: dict[int, tuple[int, int]] = {}
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            for worker in known.children(recursive=True):
                with contextlib.suppress(OSError):
                    nanoseconds = Path(f"/proc/{worker.pid}/schedstat").read_text(encoding="ascii").split()
                    spans[worker.pid] = int(nanoseconds[0]), int(nanoseconds[1])
        time.sleep(TICK)
    wall = time.monotonic() - begun
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}")
    return Usage(
        wall, sum(ran for ran, _ in spans.values()) / 1e9, sum(wait for _, wait in spans.values()) / 1e9
    )


def main() -> None:
    """Measure both, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000, help="megabytes, and small files (%(default)s)")
    parser.add_argument("-t", "--tokenizer", default="tiktoken:gpt2")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tokbench-utilisation-") as name:
        folder = Path(name)
        if shutil.disk_usage(folder).free < 3 * given.files * MEGABYTE:
            raise SystemExit(f"not enough room in {folder}: set TMPDIR")
        write_files(folder / "many", given.files)
        joined(folder / "many", folder / "one.txt")
        for label, source in (("many files", "many"), ("one file", "one.txt")):
            command = [
                *(sys.executable, "-P", "-m", "tokbench", "run", "-t", given.tokenizer),
                *("-m", "compression_ratio", "-d", f"text:{folder / source}"),
                *("-o", str(folder / f"run-{source}"), "--jobs", str(given.jobs)),
                *("--no-speed", "--no-cache", "--no-report"),
            ]
            usage = measured(command)
            share = (usage.ran + usage.waited) / (given.jobs * usage.wall)
            print(
                f"{given.tokenizer}, {given.files} MB, {label}, {given.jobs} workers: utilisation {share:.1%} "
                f"({usage.wall:.0f} s wall; ran {usage.ran:.0f} s, waited for others {usage.waited:.0f} s; "
                f"{given.files / usage.ran:.1f} MB/s and core)",
                flush=True,
            )


if __name__ == "__main__":
    main()
