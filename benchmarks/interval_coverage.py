"""How often 95 % intervals hold the truth where lines belong together, by what is drawn as one.

``python benchmarks/interval_coverage.py SPEC FILE [FILE ...]`` prints the table of docs/trust.md. Each file
is one text of a document a line; the figure is bytes per token, the truth that of the whole file. Samples are
of two kinds:

- *contiguous*: n lines from a random place on, as somebody has them who measures the first pages of a book;
- *articles*: random stretches of 25 lines each, as a collection of articles has them.

What a replicate draws as one: each line; blocks of consecutive lines, 32 or 128 on average, with ends at
random, as `text:` has them (32); ten equal blocks; of articles, each line or each article. The intervals are
tokbench's own.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

import tokbench
from tokbench.metrics.intervals import intervals
from tokbench.metrics.resampling import resampled_rows
from tokbench.tally.text import GROUPS
from tokbench.tokenizer import encode_batch

SIZES, TRIALS, ARTICLE = (50, 100, 400, 997), 200, 25
CONTIGUOUS = ("each line", "blocks of 32", "blocks of 128", "ten blocks")
ARTICLES = ("each line", "each article")


def labels(scheme: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """What each of n lines is drawn with, numbered."""
    if scheme.startswith("blocks of"):
        return np.cumsum(rng.random(n) < 1 / int(scheme.rpartition(" ")[2]))
    size = {"each line": 1, "ten blocks": math.ceil(n / 10), "each article": ARTICLE}[scheme]
    return np.arange(n) // size


def coverage(lines: np.ndarray, way: str, scheme: str, n: int) -> tuple[float, float]:
    """Of `TRIALS` samples of `lines`, (bytes, tokens) a row: shares with an interval, and that hold."""
    rng = np.random.default_rng(n)
    truth = lines[:, 0].sum() / lines[:, 1].sum()
    given = held = 0
    for _ in range(TRIALS):
        if way == "contiguous":
            first = rng.integers(0, len(lines) - n + 1)
            sample = lines[first : first + n]
        else:
            starts = rng.choice(len(lines) // ARTICLE, max(n // ARTICLE, 1), replace=False) * ARTICLE
            sample = np.concatenate([lines[start : start + ARTICLE] for start in starts])
        together = labels(scheme, len(sample), rng)
        groups = rng.integers(0, GROUPS, together.max() + 1)[together]  # as hashes have them: two may meet
        sums = {
            name: np.bincount(groups, weights=sample[:, column], minlength=GROUPS).astype(np.int64)
            for column, name in enumerate(("bytes", "tokens"))
        }
        with np.errstate(all="ignore"):
            again = resampled_rows(sums, seed=0, n=1000)
            [limits] = intervals([again["bytes"] / again["tokens"]], 0.95)
        if limits is not None:
            given += 1
            held += limits[0] <= truth <= limits[1]
    return given / TRIALS, held / given if given else math.nan


def main(spec: str, *paths: str) -> None:
    """Print the table: the lowest and the highest coverage of the files, and where some had no interval."""
    tokenizer = tokbench.load(spec)
    texts = []
    for path in paths:
        lines = [line for line in Path(path).read_text("utf-8").splitlines() if line.strip()][:20_000]
        sizes = [len(line.encode()) for line in lines]
        texts.append(np.array([sizes, encode_batch(tokenizer, lines).lengths()]).T)
    print(f"| lines | drawn as one | {' | '.join(f'n = {n}' for n in SIZES)} |")
    print("|---" * (len(SIZES) + 2) + "|")
    for way, schemes in (("contiguous", CONTIGUOUS), ("articles", ARTICLES)):
        for scheme in schemes:
            cells = []
            for n in SIZES:
                found = [coverage(lines, way, scheme, n) for lines in texts if len(lines) >= 2 * n]
                held = [100 * share for given, share in found if given]
                none = 100 * (1 - np.mean([given for given, _ in found]))
                said = f"{min(held):.0f} to {max(held):.0f}" if held else "–"
                cells.append(said + (f" ({none:.0f} % none)" if none > 0.5 else ""))
            print(f"| {way} | {scheme} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
