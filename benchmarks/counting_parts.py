"""What each part of a quality pass costs beside encoding: seconds of CPU for 100 MB, and shares of it.

    TIKTOKEN_CACHE_DIR=FOLDER python benchmarks/counting_parts.py [--tokenizer SPEC]… [--megabytes N]

Without ``--tokenizer`` it takes GPT-2's vocabulary, by tiktoken (whose files FOLDER has, or the network) and by
in-house BPE. The text is that of `runner_overhead.py`. One process does what a worker does, a shard after
another: hash it, lay out its lines, count what is in the text, make strings, encode, place the tokens, count.
The functions that do these parts are wrapped in clocks; a part is the time in its functions without that in
functions of other parts. The clocks themselves cost a few microseconds a batch.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from runner_overhead import SMALL, write_text

PARTS = {
    "hashing the file": ["tokbench.corpora.dataset:FileDataset.digest"],
    "words, clusters, numbers, characters": ["tokbench.tally.prepare:read_batch"],
    "keys of documents": ["tokbench.tally.grouping:document_keys"],
    "sample of words": ["tokbench.tally.collect:WordSampler.add"],
    "strings": ["tokbench.tally.text:TextBatch.texts", "tokbench.tally.collect:without_line_feeds"],
    "encoding": ["tokbench.tally.collect:Counter._encode"],
    "placing tokens": ["tokbench.tally.places:Aligner.align"],
    "tokens against words": ["tokbench.tally.collect:touch"],
    "round trips": ["tokbench.tally.roundtrip:RoundTrips.count"],
    "n-grams": ["tokbench.tally.collect:NGramCounter.add"],
    "sums": ["tokbench.tally.collect:Counter.add"],
    "tally": ["tokbench.tally.collect:Counter.result"],
}
LINES, ELSE, ENCODING = "laying out lines", "what is left", "encoding"


class Clocks:
    """Seconds by part: of what is running, the innermost is charged."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys([LINES, *PARTS, ELSE], 0.0)
        self._running = [ELSE]
        self._since = time.process_time()

    def _turn(self) -> None:
        now = time.process_time()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def reset(self) -> None:
        """Begin anew."""
        self.seconds = dict.fromkeys(self.seconds, 0.0)
        self._since = time.process_time()

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, whose time is that of a part."""

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            self._turn()
            self._running.append(part)
            try:
                return function(*arguments, **options)
            finally:
                self._turn()
                self._running.pop()

        return call

    def each(self, part: str, items: Iterable[Any]) -> Iterator[Any]:
        """The items, whose making is a part."""
        following = self.timed(part, iter(items).__next__)
        while True:
            try:
                item = following()
            except StopIteration:
                return
            yield item

    def wrap(self, part: str, place: str) -> None:
        """Put a clock around a function or property, ``module:name`` or ``module:Class.name``."""
        module, _, path = place.partition(":")
        owner: Any = importlib.import_module(module)
        *outer, name = path.split(".")
        for each in outer:
            owner = getattr(owner, each)
        known = vars(owner)[name]
        if isinstance(known, functools.cached_property):
            known.func = self.timed(part, known.func)
        else:
            setattr(owner, name, self.timed(part, known))


def main() -> int:
    """Print the parts of a pass for each tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tokenizer", action="append", help="a tokenizer spec")
    parser.add_argument("--megabytes", type=float, default=100.0)
    options = parser.parse_args()
    folder = Path(os.environ.get("TOKBENCH_TEST_DATA") or sys.exit("set TOKBENCH_TEST_DATA"))
    specs = options.tokenizer or ["tiktoken:gpt2", f"bpe:{folder}/vocabs/gpt2/hf/tokenizer.json"]
    clocks = Clocks()
    for part, places in PARTS.items():
        for place in places:
            clocks.wrap(part, place)
    with tempfile.TemporaryDirectory() as aside:
        path = Path(aside, "text.txt")
        size = write_text(folder / "corpora" / "novels", path, int(options.megabytes * 1e6))
        for spec in specs:
            count(spec, path, clocks)
            tell(spec, size, clocks.seconds)
    return 0


def count(spec: str, path: Path, clocks: Clocks) -> None:
    """Count the text with one tokenizer, by the clocks."""
    import tokbench
    from tokbench.corpora.lines import lines_of
    from tokbench.corpus import read_text
    from tokbench.registry import build_registry, default_context
    from tokbench.tally.collect import collect

    tokenizer = tokbench.load(spec)
    collect(tokenizer, [lines_of(SMALL.encode() * 1000)])
    dataset = build_registry(context=default_context()).dataset(f"text:{path}")
    shards = [shard for language in dataset.languages for shard in dataset.shards(language)]
    clocks.reset()
    for shard in shards:
        dataset.digest(shard)
        collect(tokenizer, clocks.each(LINES, read_text(dataset, shard)))


def tell(spec: str, size: int, seconds: dict[str, float]) -> None:
    """Print the parts, the costliest first."""
    encoding = seconds[ENCODING]
    print(f"\n{spec}, {size / 1e6:.0f} MB; encoding {encoding / size * 1e8:.2f} s for 100 MB")
    others = {part: taken for part, taken in seconds.items() if part != ENCODING}
    for part, taken in [
        *sorted(others.items(), key=lambda one: -one[1]),
        ("all of these", sum(others.values())),
    ]:
        print(f"  {part:38} {taken / size * 1e8:6.3f} s  {taken / encoding:6.1%}")


if __name__ == "__main__":
    sys.exit(main())
