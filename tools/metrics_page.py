"""Writes docs/metrics.md from tools/metrics_page.md and the catalogue: ``python tools/metrics_page.py``."""

from __future__ import annotations

from pathlib import Path

from tokbench.metrics.catalogue import CATALOGUE, GROUPS
from tokbench.metrics.metric import Metric
from tokbench.metrics.needs import CONDITIONS
from tokbench.tally.counters import COUNTERS

PAGE = Path(__file__).parent.parent / "docs" / "metrics.md"
TEXT = Path(__file__).parent / "metrics_page.md"

_BETTER = {
    "higher": "higher is better",
    "lower": "lower is better",
    "parity": "1 is parity",
    "none": "neither high nor low is better",
}
_LEVEL = {
    "cell": "each language, and all together",
    "languages": "all languages together",
    "tokenizers": "each language, and all together, against the baseline tokenizer",
    "vocabulary": "the vocabulary",
    "speed": "the speed pass",
}


def page() -> str:
    """The page: what is written by hand, then a section for each metric, grouped under headings."""
    parts = [TEXT.read_text(encoding="utf-8")]
    for group in dict.fromkeys(metric.group for metric in CATALOGUE):
        parts.append(f"\n## {GROUPS.get(group, 'Other')}\n")
        parts += [section(metric) for metric in CATALOGUE if metric.group == group]
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
        lines += ["", f"Note: {metric.caveat}"]
    if metric.no_interval:
        lines += ["", f"No interval: {metric.no_interval}"]
    if metric.needs:
        needed = [metric.counters.get(need) or _need(need) for need in metric.needs]
        lines += ["", f"Empty without: {'; '.join(needed)}."]
    if metric.on_request:
        lines += ["", f"Only measured on request: `-m {metric.name}`."]
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
    "token_bytes": "a tokenizer that gives the bytes of its tokens",
    "unk_places": "the places of all unknown tokens",
    "isolated_words": "words to encode on their own",
    "several": "two or more languages",
    "one_word": "words of one kind, cut at spaces or single characters, where languages are added up",
}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
