"""What a run of many tokenizers takes: memory at its highest by stage, and the sizes of what it writes.

    python benchmarks/many_tokenizers.py [--tokenizers N] [--datasets N] [--keep FOLDER] [-- OPTION…]

One `tokbench run` of N tokenizers on M datasets (50 on 5 unless told), with its report; what follows ``--``
goes to it. Tokenizers are vocabularies from the folder that TOKBENCH_TEST_DATA names, each by every family that
opens it, and as many trained ones as are missing; without the variable, trained ones alone. Datasets are what
is bundled, then the standard library.

Memory is the sum of the proportional set sizes (PSS: a page that several processes share is shared out among
them) of the run and all its workers, looked at every second. Exit status 1 where the run takes more than 2 GB,
or its report more than 4 MB, which is what 50 tokenizers on 5 datasets are to fit in.

The CSV has a row a figure: of 194,000 rows, with specs of 46 characters on average (most are paths), what they
are of (tokenizer, dataset, language, metric) takes 16 MB, numbers 4 MB, units 2, commas 2, statuses 1, the name
of the run 1, what is estimated 1: 28 MB. Nine digits instead of all would save 1.6 MB, and would not read back
as the same figures. Parquet has the same rows in 1 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMITS = {"memory": 2e9, "report.html": 4e6}
DATASETS = ["bundled:parallel", "bundled:prose", "bundled:code", "bundled:tricky", "stdlib:docs"]
TIKTOKEN = ["gpt2", "r50k_base", "p50k_base", "cl100k_base", "o200k_base"]
FILES = {
    "hf/tokenizer.json": ["bpe", "unigram", "wordpiece", "transformers"],
    "spiece.model": ["unigram", "sentencepiece"],
    "tokenizer.model": ["bpe", "sentencepiece"],
    "vocab.txt": ["wordpiece"],
}


def main() -> int:
    """Make the run, print what it took, and say by the exit status whether that is within the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tokenizers", type=int, default=50)
    parser.add_argument("--datasets", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="write the run here, and leave it")
    parser.add_argument("option", nargs="*", help="given to `tokbench run`")
    options = parser.parse_args()
    specs, datasets = choose(options.tokenizers), DATASETS[: options.datasets]
    with tempfile.TemporaryDirectory() as aside:
        folder = options.keep or Path(aside, "run")
        command = [sys.executable, "-m", "tokbench", "run", "-o", str(folder)]
        command += [part for spec in specs for part in ("-t", spec)]
        command += [part for dataset in datasets for part in ("-d", dataset)]
        begun = time.time()
        seconds, seen = watch([*command, *options.option], Path(aside, "output.txt"))
        manifest = json.loads((folder / "run.json").read_text("utf-8"))
        counted = (folder / "measurements.csv").stat().st_mtime  # all but the report is done
        sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir()) if path.is_file()}
        rows = (folder / "measurements.csv").read_text("utf-8").count("\n") - 1
    print(f"{len(specs)} tokenizers × {len(datasets)} datasets, {rows:,} rows, {seconds:.0f} s")
    at = counted - begun - sum(manifest["timings"].values())
    for stage, lasted in [*manifest["timings"].items(), ("report", seconds)]:
        within = [one for one in seen if at <= one[0] < at + lasted]
        at += lasted
        if within:
            _, own, workers = max(within, key=lambda one: one[1] + sum(one[2]))
            largest = max(workers, default=0)
            print(
                f"  {stage:8} {(own + sum(workers)) / 1e6:7,.0f} MB: {own / 1e6:,.0f} of the coordinator, "
                f"{sum(workers) / 1e6:,.0f} of {len(workers)} workers, the largest {largest / 1e6:,.0f}"
            )
    for name, size in sizes.items():
        print(f"  {name:22} {size / 1e6:6.2f} MB")
    took = {"memory": max(own + sum(workers) for _, own, workers in seen), **sizes}
    over = [name for name, most in LIMITS.items() if took[name] > most]
    print(f"beyond its limit: {', '.join(over)}" if over else "within the limits")
    return int(bool(over))


def choose(number: int) -> list[str]:
    """Specs of so many tokenizers, of vocabularies at hand first."""
    found = []
    folder = os.environ.get("TOKBENCH_TEST_DATA")
    if folder:
        found = [f"tiktoken:{name}" for name in TIKTOKEN]
        for name, families in FILES.items():
            for path in sorted(Path(folder, "vocabs").glob(f"*/{name}")):
                found += [f"{family}:{path}" for family in families if opens(family, path)]
    sizes = range(500, 500 * (number + 1), 500)
    trained = [f"{family}:vocab_size={size}" for size in sizes for family in ("bpe", "wordpiece")]
    return [*found, *trained][:number]


def opens(family: str, path: Path) -> bool:
    """Whether the family takes this vocabulary."""
    import tokbench
    from tokbench.errors import TokbenchError

    try:
        tokbench.load(f"{family}:{path}")
    except TokbenchError:
        return False
    return True


def watch(command: list[str], output: Path) -> tuple[float, list[tuple[float, int, list[int]]]]:
    """Seconds it took; at seconds since its start, the PSS of the command and of its children, in bytes."""
    import psutil

    seen = []
    begun = time.monotonic()
    with output.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
    us = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            workers = [pss(child.pid) for child in us.children(recursive=True)]
            seen.append((time.monotonic() - begun, pss(us.pid), workers))
        except psutil.Error:
            continue
        time.sleep(1)
    if process.returncode != 0:
        print(output.read_text("utf-8")[-4000:], file=sys.stderr)
    return time.monotonic() - begun, seen


def pss(pid: int) -> int:
    """The proportional set size of a process in bytes; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


if __name__ == "__main__":
    sys.exit(main())
