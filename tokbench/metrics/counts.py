"""The argument of a metric's `compute`: the counts of one tokenizer on some text, by name."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tokbench.errors import Undefined
from tokbench.metrics.entropy import Spectrum
from tokbench.tally.counters import TextCounters, TokenCounters
from tokbench.tally.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from tokbench.inspection.audit import VocabularyAudit
    from tokbench.metrics.metric import Metric
    from tokbench.metrics.model import Model
    from tokbench.metrics.morphemes import MorphCounts
    from tokbench.tally.counters import Count
    from tokbench.tally.examples import Loss
    from tokbench.tally.histogram import NGrams
    from tokbench.tally.wordsample import WordSample


class Counts(TextCounters, TokenCounters):
    """Counts by name: whole numbers for the figure itself, float64 arrays over resamples for its interval.

    They include every counter of `tokbench.tally.counters`. Resamples have no histograms (`clusters`, `ids` and
    the attributes after them), so that a metric that needs them has no interval. Unknown attributes of the
    tokenizer and the dataset are None or empty. A tokenizer whose token counts are `estimated` has only
    `tokens` and the counts of the text.

    Example:
        >>> counts = Counts(bytes=12, tokens=4, estimated=True)
        >>> counts.bytes / counts.tokens
        3.0
        >>> counts.round_trips
        Traceback (most recent call last):
        tokbench.errors.Undefined: only numbers of tokens, estimated, are known of this tokenizer
    """

    # words encoded on their own
    isolated_words: Count
    isolated_tokens: Count
    # of the text as a whole: not on resamples
    clusters: int
    ids: Histogram
    word_tokens_histogram: Histogram
    document_tokens: Histogram
    token_bytes: Histogram
    lengths: NDArray[np.int64]
    ngrams: NGrams
    word_sample: WordSample
    losses: tuple[Loss, ...]
    # of the tokenizer and the dataset
    vocab_size: int | None
    price: float | None
    currency: str
    context_length: int | None
    model: Model | None
    audit: VocabularyAudit | None
    morphology: MorphCounts | None
    language: str
    languages: int
    code: bool
    # of the metric itself: every option with its value
    options: Mapping[str, Any]

    estimated = False

    def __init__(self, **counts: Any) -> None:
        vars(self).update(counts)

    def __getattr__(self, name: str) -> Any:
        if self.estimated and not name.startswith("__"):  # Python looks these up itself
            raise Undefined("only numbers of tokens, estimated, are known of this tokenizer")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def of_metric(self, metric: Metric) -> Counts:
        """The counts as `metric` sees them: with its own counters by name, and `options`, each with a value.

        In a tally such a counter stands as ``METRIC:OPTIONS.NAME``; the metric itself reads it as ``t.NAME``.

        Example:
            >>> from tokbench.metrics import Metric
            >>> from tokbench.spec import Option, Spec
            >>> long = Metric(name="long", unit="share", better="none", summary="Long words.", needs=("words",),
            ...               counters={"long": "long words"}, options=(Option("least", "int", 8),),
            ...               count=lambda texts, options: [0 for text in texts],
            ...               compute=lambda t: t.long / t.words)
            >>> asked = long.asked_as(Spec.parse("long:least=9"))
            >>> seen = Counts(words=10, **{"long:least=9.long": 3}).of_metric(asked)
            >>> seen.long, seen.words, seen.options
            (3, 10, {'least': 9})
        """
        if not (metric.counters or metric.options):
            return self
        known, names = vars(self), {name: f"{metric.name}.{name}" for name in metric.counters}
        own = {name: known[full] for name, full in names.items() if full in known}
        return Counts(**{**known, **own, "options": metric.settings})

    def one(self, index: int) -> Counts:
        """One of the resamples alone, for metrics whose code takes numbers only."""
        import numpy as np

        counts = vars(self).items()
        return Counts(**{name: own[index] if isinstance(own, np.ndarray) else own for name, own in counts})

    @cached_property
    def id_spectrum(self) -> Spectrum:
        """The spectrum of id frequencies: how many ids occur how often."""
        return Spectrum.of(self.ids.counts)

    @cached_property
    def ngram_spectra(self) -> dict[str, Spectrum]:
        """The spectra of pairs and triples of consecutive ids in the sample of text."""
        levels = {"bigram": self.ngrams.bigrams, "trigram": self.ngrams.trigrams}
        return {order: Spectrum.of(Histogram.sum(each.values()).counts) for order, each in levels.items()}
