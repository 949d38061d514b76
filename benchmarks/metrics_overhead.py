"""What the whole catalogue of metrics costs beside a plain loop of `encode` calls, in CPU time and memory.

    python benchmarks/metrics_overhead.py [--tokenizer FILE]… [--text FILE]… [--rounds N] [--megabytes N]

Each way runs in a process of its own, which measures its CPU time (all threads) from after loading to the end
and its peak memory; the rounds of the two ways are interleaved and the medians compared. The plain loop is
what anybody would write with `tokenizers` alone: ``for line in lines: tokenizer.encode(line)``. The other way
counts, decodes and compares every document, computes the whole catalogue with intervals from 1,000 bootstrap
replicates for every language and all together. Writing tallies to bytes and reading them back when they are
asked for, as a run does to survive interruption and to save memory, is timed apart.

Without arguments it takes GPT-2 and Qwen2 and a multilingual text of about 7 MB from the folder that the
environment variable TOKBENCH_TEST_DATA names. Exit status 1 where the ratio is above 1.5 or the memory above
350 MiB.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

LIMIT_RATIO, LIMIT_MEMORY = 1.5, 350.0


def main() -> int:
    """Run both ways, print the comparison, and say by the exit status whether it holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tokenizer", action="append", type=Path, help="a tokenizer.json")
    parser.add_argument("--text", action="append", type=Path, help="a file of text, a document a line")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=7.0)
    parser.add_argument("--way", choices=["plain", "catalogue"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    tokenizers = options.tokenizer or default_tokenizers()
    texts = options.text or default_texts()
    if options.way:
        print(json.dumps(WAYS[options.way](tokenizers, read(texts, options.megabytes))))
        return 0
    command = [sys.executable, __file__, "--megabytes", str(options.megabytes)]
    command += [part for path in tokenizers for part in ("--tokenizer", str(path))]
    command += [part for path in texts for part in ("--text", str(path))]
    found: dict[str, list[dict[str, float]]] = {"plain": [], "catalogue": []}
    for _ in range(options.rounds):
        for way, results in found.items():
            done = subprocess.run([*command, "--way", way], check=True, capture_output=True, text=True)
            results.append(json.loads(done.stdout.splitlines()[-1]))
    seconds = {way: statistics.median(each["seconds"] for each in results) for way, results in found.items()}
    memory = {way: max(each["memory"] for each in results) for way, results in found.items()}
    ratio = seconds["catalogue"] / seconds["plain"]
    size = found["plain"][0]["bytes"] / 1e6
    names = ", ".join(path.parent.parent.name for path in tokenizers)
    print(f"{size:.2f} MB, {len(tokenizers)} vocabularies: {names}")
    print(f"plain loop   {seconds['plain']:6.2f} s CPU  {memory['plain']:5.0f} MiB")
    print(f"catalogue    {seconds['catalogue']:6.2f} s CPU  {memory['catalogue']:5.0f} MiB")
    stages = found["catalogue"][-1]
    print(f"             of which counting {stages['count']:.2f}, figures {stages['figures']:.2f}")
    print(f"             storing  {stages['store']:6.2f} s CPU, not counted above")
    print(f"ratio        {ratio:6.2f}   (at most {LIMIT_RATIO}; memory at most {LIMIT_MEMORY:.0f} MiB)")
    return int(ratio > LIMIT_RATIO or memory["catalogue"] > LIMIT_MEMORY)


def default_tokenizers() -> list[Path]:
    """Two byte-level vocabularies of `tokenizers`."""
    vocabs = data_folder() / "vocabs"
    return [vocabs / name / "hf" / "tokenizer.json" for name in ("gpt2", "qwen2")]


def default_texts() -> list[Path]:
    """The parallel sentences in 21 languages, then novels in six."""
    corpora = data_folder() / "corpora"
    return sorted((corpora / "pud").glob("*_*.txt")) + sorted((corpora / "novels").glob("*_*.txt"))


def data_folder() -> Path:
    """The folder of real data, or an exit that says what is missing."""
    named = os.environ.get("TOKBENCH_TEST_DATA")
    if not named:
        sys.exit("name --tokenizer and --text files, or set TOKBENCH_TEST_DATA")
    return Path(named)


def read(paths: list[Path], megabytes: float) -> dict[str, list[str]]:
    """The lines of each file, an equal share of each of those that are long."""
    share = megabytes * 1e6
    texts: dict[str, list[str]] = {}
    files = [path for path in paths if path.name != "sent_ids.txt"]
    for index, path in enumerate(sorted(files, key=lambda path: path.stat().st_size)):
        allowed = share / (len(files) - index)
        lines: list[str] = []
        for line in path.read_text("utf-8").split("\n"):
            if allowed <= 0:
                break
            if line:
                lines.append(line)
                allowed -= len(line.encode())
                share -= len(line.encode())
        texts[f"{path.stem} {path.parent.name}"] = lines
    return texts


def plain(tokenizers: list[Path], texts: dict[str, list[str]]) -> dict[str, float]:
    """The loop to compare with."""
    from tokenizers import Tokenizer

    loaded = [Tokenizer.from_file(str(path)) for path in tokenizers]
    begun = time.process_time()
    for tokenizer in loaded:
        for lines in texts.values():
            for line in lines:
                tokenizer.encode(line)
    return report(texts, time.process_time() - begun)


def catalogue(tokenizers: list[Path], texts: dict[str, list[str]]) -> dict[str, float]:
    """Every metric of the catalogue."""
    import tokbench

    loaded = {f"transformers:{path}": tokbench.load(f"transformers:{path}") for path in tokenizers}
    for tokenizer in loaded.values():
        getattr(tokenizer, "unk_id", None)  # parses the whole file once, as loading does elsewhere
    begun = time.process_time()
    from tokbench.corpus import Document
    from tokbench.metrics import CellKey
    from tokbench.metrics.catalogue import CATALOGUE
    from tokbench.metrics.context import MeasureContext
    from tokbench.metrics.measure import measure
    from tokbench.tally import Tally
    from tokbench.tally.collect import Counter
    from tokbench.tally.prepare import prepare
    from tokbench.tally.wordsample import WordSampler

    stored: dict[CellKey, bytes] = {}
    spent = {"count": 0.0, "figures": 0.0, "store": 0.0}
    for language, lines in texts.items():
        sampler, counters = WordSampler(), [*map(Counter, loaded.values())]
        for batch in prepare(map(Document, lines)):  # the text is prepared once, for all of them
            sampler.add(batch)
            for counter in counters:
                counter.add(batch)
        tallies = [counter.result(sampler.words) for counter in counters]
        counted = time.process_time()
        for spec, tally in zip(loaded, tallies, strict=True):
            stored[CellKey(spec, "text", language)] = tally.to_bytes()
        spent["store"] += time.process_time() - counted
    cells = Stored(stored, Tally.from_bytes)
    measuring = time.process_time()
    sizes = {spec: tokenizer.vocab_size for spec, tokenizer in loaded.items()}
    baseline = next(iter(loaded))
    rows = measure(cells, CATALOGUE, context=MeasureContext(vocab_sizes=sizes, baseline=baseline))
    spent["figures"] = time.process_time() - measuring - cells.seconds
    spent["store"] += cells.seconds
    assert sum(row.value is not None for row in rows) > 30 * len(cells)
    total = time.process_time() - begun
    spent["count"] = total - spent["figures"] - spent["store"]
    return report(texts, total - spent["store"]) | spent


class Stored(Mapping[Any, Any]):
    """Tallies by cell, read from their bytes whenever asked for; `seconds` is the CPU time that takes."""

    def __init__(self, stored: Mapping[Any, bytes], read: Callable[[bytes], Any]) -> None:
        self._stored, self._read = stored, read
        self.seconds = 0.0

    def __getitem__(self, key: Any) -> Any:
        begun = time.process_time()
        tally = self._read(self._stored[key])
        self.seconds += time.process_time() - begun
        return tally

    def __iter__(self) -> Iterator[Any]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


def report(texts: dict[str, list[str]], seconds: float) -> dict[str, float]:
    """What a way tells its parent."""
    return {
        "seconds": seconds,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "bytes": sum(len(line.encode()) for lines in texts.values() for line in lines),
    }


WAYS = {"plain": plain, "catalogue": catalogue}

if __name__ == "__main__":
    sys.exit(main())
