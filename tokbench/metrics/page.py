"""docs/metrics.md, written from the catalogue: ``python -m tokbench.metrics.page docs/metrics.md``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from tokbench.metrics.metric import Metric
from tokbench.metrics.needs import CONDITIONS
from tokbench.tally.counters import COUNTERS

_INTRODUCTION = """# Metrics

<!-- Written by `python -m tokbench.metrics.page docs/metrics.md` from the catalogue; edit that. -->

Every figure of tokbench, with its definition, where it comes from and what to beware of. `tokbench list
metrics` shows the same in the terminal. Metrics from plugins appear beside these in tables, plots and
reports.

## How figures are made

Each document is encoded once, and what was counted is kept as a *tally*: sums of whole numbers that add up
over documents, so shards may be counted in any order on any machine. Figures are ratios of such sums
(micro-averages: long documents weigh by their length) for each language, and for all languages of a dataset
together (`all`). What cannot be measured is null with the reason in the column `status`, never 0.

**Words** are those that the corpus marks; elsewhere the segments of [UAX
#29](https://www.unicode.org/reports/tr29/) that hold a letter or a number. Scripts written without spaces
(Thai, Lao, Khmer, Burmese, Tibetan, Chinese, Japanese) are never split at spaces: UAX #29 cuts them into
characters, and the unit of the figure then says so. A token counts for a word if it touches it where it
stands in the text.

**Places of tokens** come from the bytes of the tokens. Where a tokenizer rewrites its input (case, accents,
normal forms, spaces), both sides are folded and compared; around unknown tokens a place counts only if it is
the only possible one, else the tokenizer's own offsets decide. Figures that need places are given where at
least 95 % of the documents could be aligned, and are null otherwise.

**Intervals** are 95 % percentile intervals of a Poisson bootstrap with 1,000 replicates. Documents fall into
1,024 groups by a hash of their text, by their line in a parallel dataset; each replicate gives every group a
Poisson(1) weight. Up to about a thousand documents that is the bootstrap over documents itself; above, random
groups leave the variance unbiased. The weights are the same for all tokenizers and, on parallel text, for all
languages, so differences and ratios between them are *paired*. Figures of histograms (entropies, quantiles,
slopes) have no interval.

**Differences** between tokenizers come with paired intervals, two-sided bootstrap p-values, and Holm's
correction over all pairs and datasets compared in one metric and language.

**Lossy tokenizers.** A tokenizer that drops text looks better than it is: look at `round_trip` and `unk_rate`
beside every ranking. With `exclude_lossy` such tokenizers keep their fidelity figures only.
"""

_BETTER = {
    "higher": "higher is better",
    "lower": "lower is better",
    "parity": "1 is parity",
    "none": "neither high nor low is better",
}
_LEVEL = {
    "cell": "each language, and all together",
    "languages": "all languages together",
    "tokenizers": "each language, against the baseline tokenizer",
    "vocabulary": "the vocabulary",
    "speed": "the speed pass",
}


def render(metrics: Iterable[Metric]) -> str:
    """The page for some metrics, grouped under their headings.

    Example:
        >>> from tokbench.metrics.catalogue import CATALOGUE
        >>> render(CATALOGUE).splitlines()[0]
        '# Metrics'
    """
    from tokbench.metrics.catalogue import GROUPS

    metrics = list(metrics)
    parts = [_INTRODUCTION]
    for group in dict.fromkeys(metric.group for metric in metrics):
        parts.append(f"\n## {GROUPS.get(group, 'Other')}\n")
        parts += [section(metric) for metric in metrics if metric.group == group]
    return "".join(parts)


def section(metric: Metric) -> str:
    """One metric's section."""
    level = "each language" if metric.per_language else _LEVEL[metric.level]
    lines = [
        f"\n### `{metric.name}`\n",
        metric.summary,
        "",
        f"Unit: {metric.unit}; {_BETTER[metric.better]}; of {level}.",
    ]
    if metric.formula:
        lines += ["", "$$", metric.formula, "$$"]
    if metric.source:
        lines += ["", f"Source: {metric.source}."]
    if metric.caveat:
        lines += ["", f"Beware: {metric.caveat}"]
    if metric.needs:
        lines += ["", f"Null without: {'; '.join(map(_need, metric.needs))}."]
    return "\n".join(lines) + "\n"


def _need(need: str) -> str:
    """What a need means, in the words of the counter where it is one."""
    return COUNTERS.get(need) or _CONDITION.get(need) or CONDITIONS[need]


_CONDITION = {
    "parallel": "parallel text in two or more languages",
    "vocab_size": "the size of the vocabulary",
    "baseline": "a baseline tokenizer (`--baseline`)",
    "prices": "a price for the tokenizer",
    "context_length": "a context length",
    "audit": "the audit of the vocabulary",
    "morphology": "gold segmentations for the language",
    "code": "a dataset of code",
    "ngrams": "text in the sample for n-grams",
    "token_bytes": "a tokenizer that tells the bytes of its tokens",
    "unk_places": "the places of all unknown tokens",
    "word_sample": "words to encode on their own",
}


def main(path: str) -> None:
    """Write the page to `path`."""
    from tokbench.metrics.catalogue import CATALOGUE

    Path(path).write_text(render(CATALOGUE), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:2])
