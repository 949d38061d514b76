"""What a quality pass of the runner costs beside encoding the same text, by CPU time, by time, and in memory.

    python benchmarks/runner_overhead.py [--tokenizer SPEC]… [--jobs N]… [--megabytes N] [--rounds N]

The text is made of the novels in the folder that TOKBENCH_TEST_DATA names (six languages, most of it English),
taken again from another line on until there is enough; a document is a line. Four ways are taken in turn, in
fresh processes: *bare* encodes strings in memory, in batches as large as the runner's, and does nothing else;
*read* hashes the file and lays out its lines, as a worker must before it encodes anything; *counted* encodes
and counts the same text, in memory too, without any runner; the *pass* is the runner's own: shards read and
hashed by workers, encoded, counted, checked for round trips, written as a cell. Loading is not timed, and every
process is warmed by a small text before.

The claim is that N workers need at most 1.1 times what bare encoding takes, divided by N, and at most 400 MB
each. A pass counts all that the catalogue of metrics asks, so that ratio is one to a tokenizer's own speed: the
faster it is, the more of the time is counting. Where *read* alone is more than a tenth of *bare*, nothing that
counts can hold it. The second ratio, pass to counted, is what the runner adds.

CPU time is that of the workers and of the coordinator; on a machine that does other work besides, it is the
figure to look at. Exit status 1 where the claim does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LIMIT_RATIO, LIMIT_MEMORY = 1.1, 400e6
SMALL = "A few lines to get ready, été 3.14.\n"


def main() -> int:
    """Take bare encoding and passes in turn, print their ratios, say by the exit status whether they hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tokenizer", action="append", help="a tokenizer spec")
    parser.add_argument("--jobs", action="append", type=int, help="numbers of workers (1 and 2)")
    parser.add_argument("--megabytes", type=float, default=200.0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--text", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        [spec] = options.tokenizer
        path = Path(options.text)
        alone = {"bare": bare, "read": read, "counted": counted}.get(options.way)
        found = alone(spec, path) if alone else quality_pass(spec, path, int(options.way))
        print(json.dumps(found))
        return 0
    folder = Path(os.environ.get("TOKBENCH_TEST_DATA") or sys.exit("set TOKBENCH_TEST_DATA"))
    specs = options.tokenizer or [
        "tiktoken:gpt2", "tiktoken:cl100k_base", f"bpe:{folder}/vocabs/gpt2/hf/tokenizer.json"
    ]  # fmt: skip
    holds = True
    with tempfile.TemporaryDirectory() as aside:
        path = Path(aside, "text.txt")
        size = write_text(folder / "corpora" / "novels", path, int(options.megabytes * 1e6))
        print(f"{size / 1e6:.0f} MB in lines, {options.rounds} rounds")
        for spec in specs:
            holds &= compare(spec, path, size, options.jobs or [1, 2], options.rounds)
    return int(not holds)


def compare(spec: str, path: Path, size: int, jobs: list[int], rounds: int) -> bool:
    """Print the figures of one tokenizer; whether all of them hold."""
    found: dict[str, list[dict[str, float]]] = {way: [] for way in ["bare", "read", "counted", *map(str, jobs)]}
    for _ in range(rounds):
        for way, results in found.items():
            command = [sys.executable, __file__, "--tokenizer", spec, "--text", str(path), "--way", way]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results.append(json.loads(done.stdout.splitlines()[-1]))
    median = {
        way: {key: statistics.median(each[key] for each in results) for key in results[0]}
        for way, results in found.items()
    }
    once, file, same = median.pop("bare"), median.pop("read"), median.pop("counted")
    print(spec)
    for name, one in (("bare", once), ("read", file), ("counted", same)):
        print(f"  {name:9} {one['cpu']:6.2f} s CPU  {one['wall']:6.2f} s  {size / 1e6 / one['cpu']:6.1f} MB/s")
    print(f"  counting alone {size / 1e6 / max(1e-9, same['cpu'] - once['cpu']):.0f} MB/s")
    print(f"  reading alone {file['cpu'] / once['cpu']:.2f} of bare by CPU")
    holds = True
    for way, one in median.items():
        cpu, wall = one["cpu"] / once["cpu"], one["wall"] * int(way) / once["wall"]
        added = one["cpu"] / same["cpu"]
        holds &= cpu <= LIMIT_RATIO and one["memory"] <= LIMIT_MEMORY
        print(
            f"  {way} workers {one['cpu']:6.2f} s CPU  {one['wall']:6.2f} s  "
            f"to bare {cpu:.2f} by CPU, {wall:.2f} by time (at most {LIMIT_RATIO}); to counted {added:.2f}; "
            f"{one['memory'] / 1e6:.0f} MB a worker (at most {LIMIT_MEMORY / 1e6:.0f})"
        )
    return holds


def write_text(novels: Path, path: Path, size: int) -> int:
    """Fill a file with `size` bytes of lines; gives how many bytes of text those are."""
    sources = [text.read_bytes().splitlines(keepends=True) for text in sorted(novels.glob("*_*.txt"))]
    written = turn = 0
    with path.open("wb") as out:
        while written < size:
            for lines in sources:
                first = 7919 * turn % len(lines)
                part = b"".join(lines[first:] + lines[:first])[: size - written]
                written += out.write(part.decode("utf-8", "ignore").encode())
            turn += 1
    return written


def bare(spec: str, path: Path) -> dict[str, float]:
    """Encode the text and do nothing else."""
    import tokbench
    from tokbench.tally.text import BATCH_BYTES
    from tokbench.tokenizer import encode_batch

    tokenizer = tokbench.load(spec)
    encode_batch(tokenizer, ["warm"] * 10)
    batches = list(in_batches(path, BATCH_BYTES))
    cpu, wall = time.process_time(), time.perf_counter()
    for texts in batches:
        encode_batch(tokenizer, texts)
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def read(spec: str, path: Path) -> dict[str, float]:
    """Hash the file and lay out its lines, and do nothing else; the tokenizer is of no matter."""
    from tokbench.corpus import read_text
    from tokbench.registry import build_registry, default_context
    from tokbench.runner.counting.count import get_ready

    get_ready(lambda event: None)
    dataset = build_registry(context=default_context()).dataset(f"text:{path}")
    shards = [shard for language in dataset.languages for shard in dataset.shards(language)]
    cpu, wall = time.process_time(), time.perf_counter()
    for shard in shards:
        dataset.digest(shard)
        for _ in read_text(dataset, shard):
            pass
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def counted(spec: str, path: Path) -> dict[str, float]:
    """Encode and count the text in this process, as the workers of a pass do."""
    import tokbench
    from tokbench.corpora.lines import lines_of
    from tokbench.tally.collect import collect
    from tokbench.tally.text import BATCH_BYTES

    tokenizer = tokbench.load(spec)
    collect(tokenizer, [lines_of(SMALL.encode() * 1000)])
    block = lines_of(path.read_bytes())
    cpu, wall = time.process_time(), time.perf_counter()
    collect(tokenizer, [block], batch_bytes=BATCH_BYTES)
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def in_batches(path: Path, size: int) -> Iterator[list[str]]:
    """The lines of a file in batches of about `size` bytes."""
    held: list[str] = []
    room = size
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            held.append(line.removesuffix("\n"))
            room -= len(line)
            if room <= 0:
                yield held
                held, room = [], size
    yield held


def quality_pass(spec: str, path: Path, jobs: int) -> dict[str, float]:
    """Count the text as a run does, after a small one that starts and warms the workers."""
    from concurrent.futures import ThreadPoolExecutor

    import psutil

    from tokbench.corpora.blocks import TARGET

    small = path.with_name(f"small-{jobs}.txt")
    small.write_text(SMALL * (jobs * 2 * TARGET // len(SMALL)), "utf-8")  # so that there is a task for each
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as executor:
        ready_pass(spec, small, Path(folder, "small"), jobs, executor)()
        count = ready_pass(spec, path, Path(folder, "large"), jobs, executor)
        us = psutil.Process()
        begun, wall = cpu_times(us), time.perf_counter()
        with Peak(us) as peak:
            count()
        wall = time.perf_counter() - wall
        spent = sum(seconds - begun.get(pid, 0.0) for pid, seconds in cpu_times(us).items())
    return {"cpu": spent, "wall": wall, "memory": peak.largest}


def ready_pass(spec: str, path: Path, folder: Path, jobs: int, executor: Any) -> Callable[[], None]:
    """The quality pass of one tokenizer on one file, planned, and its tokenizer known to load."""
    from tokbench.registry import build_registry, default_context
    from tokbench.results.folder import RunFolder
    from tokbench.runner.counting.cells import cut_into_tasks, make_cells
    from tokbench.runner.counting.quality import QualityPass
    from tokbench.runner.planning.plan import make_plan
    from tokbench.runner.planning.suite import load_suite
    from tokbench.runner.progress import Display
    from tokbench.runner.training.candidates import make_ready
    from tokbench.workers.calls import Limits
    from tokbench.workers.interrupt import Stop

    changes = {"tokenizers": [spec], "datasets": [f"text:{path}"], "jobs": jobs}
    plan = make_plan(load_suite(None, changes), build_registry(context=default_context()))
    cells = make_cells(plan, make_ready(plan, folder / "trained", Stop(), Display()))
    work = cut_into_tasks(cells, jobs, None, Limits(600, plan.memory_limit))

    def count() -> None:
        quality = QualityPass(cells, work, RunFolder(folder), Display(), tell=lambda cell: None)
        quality.run(executor, Stop(), jobs=jobs)
        assert not quality.failures, quality.failures

    return count


def cpu_times(process: Any) -> dict[int, float]:
    """CPU seconds so far of a process and its children, by process id."""
    found = {}
    for each in [process, *process.children(recursive=True)]:
        times = each.cpu_times()
        found[each.pid] = times.user + times.system
    return found


class Peak:
    """The most memory that any child of a process held while the block ran, in bytes."""

    def __init__(self, process: Any) -> None:
        self.largest = 0.0
        self._children = process.children(recursive=True)  # listed once: looking for them costs CPU time
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        import psutil

        while not self._done.wait(0.2):
            for child in self._children:
                try:
                    self.largest = max(self.largest, float(child.memory_info().rss))
                except psutil.Error:
                    continue

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


if __name__ == "__main__":
    sys.exit(main())
