"""What a metric's `compute` is given: the counts of one tokenizer on some text, by name."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tokbench.errors import Undefined
from tokbench.metrics.entropy import Spectrum
from tokbench.tally.counters import TextCounters, TokenCounters

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from tokbench.inspection.audit import VocabularyAudit
    from tokbench.metrics.model import Model
    from tokbench.metrics.morphology import MorphCounts
    from tokbench.tally.counters import Count
    from tokbench.tally.histogram import Histogram, NGrams
    from tokbench.tally.loss import Loss
    from tokbench.tally.wordsample import WordSample


class Counts(TextCounters, TokenCounters):
    """Counts by name: whole numbers for the figure itself, float64 arrays over resamples for its interval.

    Every counter of `tokbench.tally.counters` is one of them. Resamples have no histograms (`clusters`, `ids`
    and what follows them): a metric that needs them has no interval. What is known of the tokenizer and the
    dataset is None or empty where it is not known.

    Example:
        >>> counts = Counts(bytes=12, tokens=4)
        >>> counts.bytes / counts.tokens
        3.0
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

    def __init__(self, **counts: Any) -> None:
        vars(self).update(counts)

    @cached_property
    def id_spectrum(self) -> Spectrum:
        """How many ids occur how often."""
        return Spectrum.of(self.ids.counts)

    @cached_property
    def bigram_spectrum(self) -> Spectrum:
        """How many pairs of consecutive ids occur how often in the sample of text."""
        return Spectrum.of(self.ngrams.bigram_counts())

    @cached_property
    def trigram_spectrum(self) -> Spectrum:
        """How many triples of consecutive ids occur how often in the sample of text."""
        return Spectrum.of(self.ngrams.trigram_counts())


class EstimatedCounts(Counts):
    """Counts of a tokenizer whose number of tokens is estimated: `tokens`, the counts of the text, no others.

    Example:
        >>> counts = EstimatedCounts(bytes=12, tokens=4)
        >>> counts.bytes / counts.tokens
        3.0
        >>> counts.round_trips
        Traceback (most recent call last):
        tokbench.errors.Undefined: only numbers of tokens, estimated, are known of this tokenizer
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python asks for these to find out what it has to do with
            raise AttributeError(name)
        raise Undefined("only numbers of tokens, estimated, are known of this tokenizer")
