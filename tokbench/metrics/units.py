"""The unit of a figure with its details: which words, which currency, how much of the text."""

from __future__ import annotations

from tokbench.metrics.counts import Counts
from tokbench.metrics.metric import Metric
from tokbench.metrics.needs import MIXED


def unit_of(metric: Metric, counts: Counts) -> str:
    """The metric's unit with its details: which words, clusters, sample of the text, currency.

    Example:
        >>> from tokbench.metrics import Metric
        >>> about = {"unit": "tokens/word", "better": "lower", "summary": "", "compute": len}
        >>> metric = Metric(name="f", needs=("words",), **about)
        >>> unit_of(metric, Counts(words=10, gold_words=10, unspaced_words=0))
        'tokens/word (gold)'
    """
    unit = metric.unit
    ngrams = vars(counts).get("ngrams")
    if "ngrams" in metric.needs and ngrams is not None and ngrams.n_bytes < counts.bytes:
        return f"{unit} (sample of {round(ngrams.n_bytes / 1024)} KiB)"
    if "prices" in metric.needs and counts.currency:
        unit = unit.replace("currency", counts.currency)
    if unit == "clusters" and vars(counts).get("consecutive"):
        return "blocks of consecutive documents"  # they resemble each other, so they are not independent
    if "word" not in unit or "words" not in metric.needs:
        return unit
    words, gold = getattr(counts, "words", 0), getattr(counts, "gold_words", 0)
    if words and gold == words:
        return f"{unit} (gold)"
    if words and not gold and counts.unspaced_words > MIXED * words:
        mixed = counts.unspaced_words < (1 - MIXED) * words
        which = "single characters in some scripts" if mixed else "one per character in this script"
        return f"{unit} (UAX #29: {which})"
    return f"{unit} (UAX #29)" if not gold else f"{unit} (gold where marked, else UAX #29)"
