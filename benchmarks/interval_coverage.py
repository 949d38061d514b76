"""How often 95 % intervals hold the truth: where lines belong together, and where documents are few.

``python benchmarks/interval_coverage.py SPEC BASELINE FILE [FILE ...]`` prints the tables of docs/trust.md.
Each file is one text of a document a line; the truth is the figure of the whole file. In the first table that
is bytes per token of SPEC, and samples are of two kinds:

- *contiguous*: n lines from a random place on, as somebody has them who measures the first pages of a book;
- *articles*: random stretches of 25 lines each, as a collection of articles has them.

What a replicate draws as one: each line; blocks of consecutive lines, 32 or 128 on average, with ends at
random, as `text:` has them (32); blocks as long as the sample's own autocorrelation says (Politis and White
2004, of what a line adds to the figure); ten equal blocks; of articles, each line or each article. Beside
these, of contiguous lines, intervals that are not tokbench's, for what else could be done: Student's t on the
figures of a few equal parts (Ibragimov and Müller, t-statistic based correlation and heterogeneity robust
inference, 2010), the bandwidth as long as the sample (Kiefer and Vogelsang 2005), and the variance that a
memory without end implies (Abadir, Distaso and Giraitis, Two estimators of the long-run variance, 2009, with
the local Whittle estimate of its exponent from n^0.65 frequencies). How wide an interval is, in per cent of
the figure (the median over samples, least and most of the texts), stands after its coverage.

In the second table single lines are drawn from anywhere, so that nothing belongs together, and the figures
are bytes per token, tokens per document, and the differences of both between SPEC and BASELINE on the same
lines. The intervals of this table are tokbench's own.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import tokbench
from tokbench.metrics.intervals import intervals
from tokbench.metrics.resampling import resampled_rows
from tokbench.tally.counters import GROUPS
from tokbench.tokenizer import encode_batch

SIZES, TRIALS, ARTICLE = (50, 100, 400, 997), 200, 25
CONTIGUOUS = ("each line", "blocks of 32", "blocks of 128", "blocks by autocorrelation", "ten blocks")
STUDENT = {"six parts, by t": (6, 2.571), "thirds, by t": (3, 4.303), "halves, by t": (2, 12.706)}
"""Parts, and the 97.5 % point of Student's t with one degree of freedom less."""
OTHERS = (*STUDENT, "bandwidth of the sample", "memory without end")
ARTICLES = ("each line", "each article")
FEW, FEW_TRIALS = (4, 6, 8, 10, 20, 50), 500
FIGURES = {
    "bytes per token": lambda of: of["bytes"] / of["tokens"],
    "tokens per document": lambda of: of["tokens"] / of["documents"],
    "difference in bytes per token": lambda of: of["bytes"] / of["tokens"] - of["bytes"] / of["others"],
    "difference in tokens per document": lambda of: (of["tokens"] - of["others"]) / of["documents"],
}


def block_length(lines: np.ndarray) -> int:
    """How many consecutive lines (bytes, tokens) to draw together, from how like their neighbours they are."""
    apart = lines[:, 0] - lines[:, 1] * lines[:, 0].sum() / lines[:, 1].sum()
    n, apart = len(apart), apart - apart.mean()
    alike = np.array([apart[lag:] @ apart[: n - lag] for lag in range(n // 2)]) / n
    near = np.abs(alike) < 2 * math.sqrt(math.log10(n) / n) * alike[0]
    run = max(5, math.ceil(math.sqrt(math.log10(n))))
    far = next((lag for lag in range(1, len(near) - run) if near[lag : lag + run].all()), len(near) - 1)
    lags = np.arange(1, min(2 * far, len(alike)))
    weights = np.minimum(1, 2 * (1 - lags / (2 * far))) * alike[lags]
    spread, drift = alike[0] + 2 * weights.sum(), 2 * (lags * weights).sum()
    length = (1.5 * (drift / spread) ** 2 * n) ** (1 / 3) if spread > 0 else n
    return min(max(math.ceil(length), 1), n)


def labels(scheme: str, lines: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What each of some lines is drawn with, numbered."""
    n = len(lines)
    if scheme == "blocks by autocorrelation":
        return np.arange(n) // block_length(lines)
    if scheme.startswith("blocks of"):
        return np.cumsum(rng.random(n) < 1 / int(scheme.rpartition(" ")[2]))
    size = {"each line": 1, "ten blocks": math.ceil(n / 10), "each article": ARTICLE}[scheme]
    return np.arange(n) // size


def half_width(lines: np.ndarray, scheme: str) -> float:
    """Half of the interval of bytes per token by one of `OTHERS`."""
    n = len(lines)
    adds = (lines[:, 0] - lines[:, 1] * lines[:, 0].sum() / lines[:, 1].sum()) / lines[:, 1].mean()
    if scheme in STUDENT:
        parts, t = STUDENT[scheme]
        place = np.arange(n) * parts // n
        means = np.bincount(place, adds) / np.bincount(place)
        return t * float(means.std(ddof=1)) / math.sqrt(parts)
    if scheme == "bandwidth of the sample":  # Bartlett's; its 97.5 % point is 4.771
        return 4.771 * math.sqrt(2 * float((np.cumsum(adds)[:-1] ** 2).sum()) / n**3)
    m = int(n**0.65)
    low = 2 * math.pi * np.arange(1, m + 1) / n
    power = np.abs(np.fft.fft(adds)[1 : m + 1]) ** 2 / (2 * math.pi * n)
    memories = np.linspace(0.001, 0.49, 200)
    levels = np.array([(power * low ** (2 * d)).mean() for d in memories])
    best = int((np.log(levels) - 2 * memories * np.log(low).mean()).argmin())
    d, level = float(memories[best]), float(levels[best])
    grows = 2 * math.gamma(1 - 2 * d) * math.sin(math.pi * d) / (d * (1 + 2 * d))
    return 1.96 * math.sqrt(grows * level * n ** (2 * d - 1))


def coverage(lines: np.ndarray, way: str, scheme: str, n: int) -> tuple[float, float, float]:
    """Of `TRIALS` samples of `lines`, (bytes, tokens) a row: shares with an interval, and that hold; the
    median width in per cent of the figure.
    """
    rng = np.random.default_rng(n)
    truth = lines[:, 0].sum() / lines[:, 1].sum()
    widths, held = [], 0
    for _ in range(TRIALS):
        if way == "contiguous":
            first = rng.integers(0, len(lines) - n + 1)
            sample = lines[first : first + n]
        else:
            starts = rng.choice(len(lines) // ARTICLE, max(n // ARTICLE, 1), replace=False) * ARTICLE
            sample = np.concatenate([lines[start : start + ARTICLE] for start in starts])
        if scheme in OTHERS:
            figure, half = sample[:, 0].sum() / sample[:, 1].sum(), half_width(sample, scheme)
            limits = figure - half, figure + half
        else:
            limits = bootstrapped(sample, labels(scheme, sample, rng), rng)
        if limits is not None:
            widths.append(100 * (limits[1] - limits[0]) / truth)
            held += limits[0] <= truth <= limits[1]
    given = len(widths)
    return given / TRIALS, held / given if given else math.nan, float(np.median(widths)) if given else math.nan


def bootstrapped(
    sample: np.ndarray, together: np.ndarray, rng: np.random.Generator
) -> tuple[float, float] | None:
    """The interval that tokbench has of bytes per token, of lines that are drawn `together`."""
    groups = rng.integers(0, GROUPS, together.max() + 1)[together]  # as hashes have them: two may meet
    sums = {
        name: np.bincount(groups, weights=sample[:, column], minlength=GROUPS).astype(np.int64)
        for column, name in enumerate(("bytes", "tokens"))
    }
    with np.errstate(all="ignore"):
        again = resampled_rows(sums, seed=0, n=1000)
        [limits] = intervals([again["bytes"] / again["tokens"]], 0.95, len(sample))
    return limits


def few(lines: np.ndarray, n: int) -> dict[str, tuple[float, float]]:
    """Of each figure, over samples of n lines (bytes, tokens, others) from anywhere: as `coverage`."""
    rng = np.random.default_rng(n)
    names = ("bytes", "tokens", "others", "documents")
    lines = np.column_stack([lines, np.ones(len(lines), np.int64)])
    whole = dict(zip(names, lines.sum(axis=0), strict=True))
    found = {name: np.zeros(2) for name in FIGURES}
    for _ in range(FEW_TRIALS):
        sample = lines[rng.choice(len(lines), n, replace=False)]
        groups = rng.choice(GROUPS, n, replace=False)
        sums = {name: np.zeros(GROUPS, np.int64) for name in names}
        for column, name in enumerate(names):
            sums[name][groups] = sample[:, column]
        with np.errstate(all="ignore"):
            again = resampled_rows(sums, seed=0, n=1000)
            drawn = intervals([figure(again) for figure in FIGURES.values()], 0.95, n)
        for (name, figure), limits in zip(FIGURES.items(), drawn, strict=True):
            if limits is not None:
                found[name] += 1, limits[0] <= figure(whole) <= limits[1]
    return {name: (given / FEW_TRIALS, held / max(given, 1)) for name, (given, held) in found.items()}


def cell(found: Sequence[tuple[float, ...]]) -> str:
    """The lowest and the highest coverage of the texts; where some had no interval; widths, where known."""
    held = [100 * share for given, share, *_ in found if given]
    none = 100 * (1 - np.mean([given for given, *_ in found]))
    said = f"{min(held):.0f} to {max(held):.0f}" if held else "–"
    wide = [width for given, _, *widths in found if given for width in widths]
    if wide:
        said += f"; {min(wide):.1f} to {max(wide):.1f}"
    return said + (f" ({none:.0f} % none)" if none > 0.5 else "")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", metavar="SPEC")
    parser.add_argument("baseline", metavar="BASELINE")
    parser.add_argument("paths", metavar="FILE", type=Path, nargs="+")
    asked = parser.parse_args()
    tokenizers = [tokbench.load(asked.spec), tokbench.load(asked.baseline)]
    texts = []
    for path in asked.paths:
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()][:20_000]
        sizes = [len(line.encode()) for line in lines]
        tokens = [encode_batch(tokenizer, lines).lengths() for tokenizer in tokenizers]
        texts.append(np.array([sizes, *tokens]).T)
    print(f"| lines | drawn as one | {' | '.join(f'n = {n}' for n in SIZES)} |")
    print("|---" * (len(SIZES) + 2) + "|")
    for way, schemes in (("contiguous", (*CONTIGUOUS, *OTHERS)), ("articles", ARTICLES)):
        for scheme in schemes:
            cells = [
                cell([coverage(lines, way, scheme, n) for lines in texts if len(lines) >= 2 * n]) for n in SIZES
            ]
            print(f"| {way} | {scheme} | {' | '.join(cells)} |", flush=True)
    print(f"\n| figure | {' | '.join(f'n = {n}' for n in FEW)} |")
    print("|---" * (len(FEW) + 1) + "|")
    by_size = [[few(lines, n) for lines in texts] for n in FEW]
    for name in FIGURES:
        print(f"| {name} | {' | '.join(cell([one[name] for one in found]) for found in by_size)} |", flush=True)


if __name__ == "__main__":
    main()
