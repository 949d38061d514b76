"""What a metric's `compute` is given: the counts of one tokenizer on some text, by name."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tokbench.errors import Undefined
from tokbench.metrics.entropy import Spectrum

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from tokbench.inspection.audit import VocabularyAudit
    from tokbench.metrics.model import Model
    from tokbench.metrics.morphology import MorphCounts
    from tokbench.tally.histogram import Histogram, NGrams
    from tokbench.tally.loss import Loss
    from tokbench.tally.wordsample import WordSample

    Count = int | NDArray[np.float64]


class Counts:
    """Counts by name: whole numbers for the figure itself, float64 arrays over resamples for its interval.

    `tokbench.tally.counters` says what each counts. Resamples have no histograms (`clusters`, `ids` and what
    follows them): a metric that needs them has no interval. What is known of the
    tokenizer and the dataset is None or empty where it is not known.

    Example:
        >>> counts = Counts(bytes=12, tokens=4)
        >>> counts.bytes / counts.tokens
        3.0
    """

    # of the text, whatever the tokenizer
    documents: Count
    bytes: Count
    chars: Count
    graphemes: Count
    lines: Count
    words: Count
    gold_words: Count
    unspaced_words: Count
    letters: Count
    digits: Count
    spaces: Count
    punctuation: Count
    non_ascii: Count
    numbers: Count
    digit_gold: Count
    operators: Count
    indents: Count
    identifiers: Count
    identifier_gold: Count
    parsed_documents: Count
    syntax_gold: Count
    # of what the tokenizer made of it
    tokens: Count
    aligned_documents: Count
    aligned_words: Count
    aligned_bytes: Count
    aligned_tokens: Count
    word_tokens: Count
    continued_words: Count
    boundaries: Count
    cut_chars: Count
    cut_graphemes: Count
    cross_words: Count
    split_tokens: Count
    round_trips: Count
    whitespace_kept: Count
    lossy_chars: Count
    unk_tokens: Count
    unk_chars: Count
    unk_unknown: Count
    digit_cuts: Count
    digit_hits: Count
    digit_reach: Count
    aligned_numbers: Count
    whole_numbers: Count
    aligned_operators: Count
    whole_operators: Count
    aligned_indents: Count
    indent_tokens: Count
    aligned_identifiers: Count
    identifier_tokens: Count
    identifier_cuts: Count
    identifier_hits: Count
    identifier_reach: Count
    syntax_reach: Count
    syntax_hits: Count
    syntax_cuts: Count
    syntax_right: Count
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
