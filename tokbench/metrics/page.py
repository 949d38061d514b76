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

**Intervals** are at 95 %, of a Poisson bootstrap with 1,000 replicates. Documents fall into 1,024 groups by a
hash of their text, by their line in a parallel dataset; each replicate gives every group a Poisson(1) weight.
Up to about a thousand documents that is the bootstrap over documents itself; above, random groups leave the
variance unbiased. What belongs together is in one group: rows of the same `cluster`, and blocks of some 32
consecutive lines or paragraphs of plain text. Of 997 lines of a novel, intervals at 95 % of independent lines
held the whole novel's figure in 26 to 42 % of cases, of such blocks in 42 to 69 %: a text of one book is one
observation of books, and where a dataset does not say what belongs together, intervals are too narrow.
The weights are the same for all tokenizers and, on parallel text, for all languages, so
differences and ratios between them are *paired*.

The plain percentile interval of a bootstrap is too narrow for few documents and for documents of unequal
length. It is read further out: at the percentiles of Student's t (the *expanded percentile interval*:
Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69, 2015), with the
degrees of freedom that the variance of the figure has (Satterthwaite 1946; Pan and Wall, Small-sample
adjustments in using the sandwich variance estimator, Statistics in Medicine 21, 2002): n − 1 where all
documents bear on the figure alike, far fewer where some long ones decide it. Share of 1,000 samples of
documents, in per cent, whose interval holds the truth:

| documents | 20 | 50 | 100 | 400 | 4,000 |
|---|---|---|---|---|---|
| nearly one length | 94.8 | 94.1 | 94.8 | 97.0 | 95.6 |
| log-normal lengths, σ = 1 | 96.1 | 96.2 | 95.5 | 94.4 | 93.9 |
| log-normal lengths, σ = 1.5 | 95.7 | 96.9 | 96.3 | 95.5 | 94.6 |
| ten tokens of head on each, σ = 1 | 92.9 | 94.1 | 94.7 | 94.0 | 94.3 |
| share of words that are cut, σ = 1 | 96.4 | 95.9 | 95.7 | 95.1 | 94.8 |
| difference of two tokenizers, σ = 1 | 96.8 | 96.0 | 96.1 | 97.0 | 94.8 |

What no interval can mend: where few documents of very unequal length decide a figure that changes with their
length, it holds the truth too seldom (tokens growing with bytes to the power 0.9: 90 % at 20 documents, 94 %
at 400 for σ = 1; 67 % and 88 % for σ = 1.5). Take more documents, or cut long ones. With fewer than six
documents that bear on a figure there is no interval. Nor is there one where every document gives the same
figure, since what never varied may be rare rather than impossible; only a share of documents that is 0 or 1
then has the exact binomial interval. Between tokenizers, and between languages, a difference that is the same
in every document is that difference, and its interval is a point. Figures that are no sums over documents
(entropies, quantiles, slopes, distinct ids) have none, and say why.

**Differences** between tokenizers come with paired intervals and two-sided bootstrap p-values, `p` of the one
difference and `p_adjusted` of all that a reader sees together: every pair, metric and language compared on one
dataset is one family. The correction asks how often the largest of all these differences, each in units of its
own spread, would be as large by chance alone (Westfall and Young, Resampling-Based Multiple Testing, 1993: the
single-step maxT method), so it holds for any number of comparisons, and counts once what hangs together. No
p-value is below what B replicates can tell apart: 2 / (B + 1) for one, 1 / (B + 1) for the family. Over ten
languages without any difference, one in ten or fewer families has a p below 0.05 where single p-values give an
alarm in a quarter to a third of them; `tests/tokbench/metrics/test_families.py` shows it.

**Bold** in tables is the best figure and those that the paired test does not tell apart from it. Where no
test was made, nothing is bold; figures of different languages are never compared that way.

**Several languages** are added up in two ways. `compression_ratio` of `all` pools: a language weighs by its
bytes. `compression_ratio_macro` is the mean over the languages, each counting alike, and is what tables of
several languages are ranked by. Words of scripts with spaces and single characters of scripts without are no
one unit, so figures over words have no value for languages of both kinds together.

**Lossy tokenizers.** A tokenizer that drops text looks better than it is. So `round_trip`, `unk_rate` and the
kinds of loss (`lost_form`, `lost_spaces`, `lost_text`) are measured whatever metrics are asked for. † marks
what loses text and is ranked with nothing; ‡ what gives all text back in another form (case, accents, normal
form, spaces), which is ranked with what loses the same. With `exclude_lossy` all of them keep their fidelity
figures only.
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
    if metric.no_interval:
        lines += ["", f"No interval: {metric.no_interval}"]
    if metric.needs:
        needed = [metric.counters.get(need) or _need(need) for need in metric.needs]
        lines += ["", f"Null without: {'; '.join(needed)}."]
    if metric.on_request:
        lines += ["", f"Measured where a run asks for it: `-m {metric.name}`."]
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
    "model": "a model (`--model`)",
    "audit": "the audit of the vocabulary",
    "morphology": "gold segmentations for the language",
    "code": "a dataset of code",
    "ngrams": "text in the sample for n-grams",
    "token_bytes": "a tokenizer that tells the bytes of its tokens",
    "unk_places": "the places of all unknown tokens",
    "isolated_words": "words to encode on their own",
    "several": "two or more languages",
    "one_word": "words of one kind, cut at spaces or single characters, where languages are added up",
}


def main(path: str) -> None:
    """Write the page to `path`."""
    from tokbench.metrics.catalogue import CATALOGUE

    Path(path).write_text(render(CATALOGUE), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:2])
