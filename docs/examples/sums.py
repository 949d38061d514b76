"""A dataset: lines of arithmetic, drawn anew from a seed wherever a worker reads them.

tokbench run --plugin docs/examples/sums.py -t bytes -t chars -d sums:lines=500
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import tokbench
from tokbench import CorpusError, DatasetFamily, Document, LoadContext, Option, Shard, Spec

LINES_PER_SHARD = 10_000


@dataclass(frozen=True)
class Sums:
    """`lines` lines such as ``417 + 36 = 453``; "zxx" is the tag for what is in no language."""

    name: str
    lines: int
    seed: int
    languages: Sequence[str] = ("zxx",)
    parallel: bool = False

    def shards(self, language: str) -> Sequence[Shard]:
        """Ranges of lines; about 18 bytes each."""
        starts = range(0, self.lines, LINES_PER_SHARD)
        stops = [min(start + LINES_PER_SHARD, self.lines) for start in starts]
        return [
            Shard(language, self.name, index, start, stop, n_bytes=18 * (stop - start))
            for index, (start, stop) in enumerate(zip(starts, stops, strict=True))
        ]

    def read(self, shard: Shard) -> Iterator[Document]:
        """The lines of one shard: a generator of its own makes shards independent of each other."""
        draw = random.Random(f"{self.seed} {shard.index}")
        for _ in range(shard.start, shard.stop):
            left, right = (draw.randrange(10 ** draw.randint(1, 6)) for _ in range(2))
            yield Document(f"{left} + {right} = {left + right}")

    def digest(self, shard: Shard) -> str:
        """What the lines depend on."""
        return hashlib.sha256(
            f"sums 1 {self.seed} {shard.index} {shard.start} {shard.stop}".encode()
        ).hexdigest()


def load(spec: Spec, context: LoadContext) -> Sums:
    """`sums` or `sums:lines=500,seed=7`."""
    lines, seed = spec.get("lines", 1000), spec.get("seed", 0)
    if lines < 1:
        raise CorpusError(f"{spec}: lines must be at least 1")
    return Sums(str(spec), lines, seed)


@tokbench.hookimpl
def tokbench_datasets() -> Iterable[DatasetFamily]:
    """Offer `sums`."""
    return [
        DatasetFamily(
            name="sums",
            summary="Lines of arithmetic from a seed",
            load=load,
            options=(Option("lines", "int", 1000, "how many"), Option("seed", "int", 0, "of the generator")),
            examples=("sums", "sums:lines=500,seed=7"),
        )
    ]
