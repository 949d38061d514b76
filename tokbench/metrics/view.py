"""What a metric's `compute` is given: the counts of a tally as plain attributes."""

from __future__ import annotations

from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tokbench.metrics.context import MeasureContext
from tokbench.metrics.metric import CellKey, Measurement, Metric
from tokbench.metrics.resampling import resampled
from tokbench.tally import Tally
from tokbench.tally.groups import NAMES
from tokbench.tally.text import GROUPS
from tokbench.tally.wordsample import WordSample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokbench.metrics.measure import Cell


_RESAMPLED = (*NAMES, "isolated_words", "isolated_tokens")


class Counts(SimpleNamespace):
    """Counts by name: whole numbers for the figure itself, float64 arrays over resamples for its interval.

    For the figure itself there is also what resamples cannot have: `ids`, `word_tokens_histogram`,
    `document_tokens` and `token_bytes` (`Histogram`), `ngrams`, `word_sample`, `losses`, `lengths`. Both have
    `isolated_words` and `isolated_tokens`, of the sample of words encoded on their own, and `vocab_size`,
    `price`, `context_length`, `audit` and `morphology`, each None where it is not known.
    """

    @cached_property
    def bigrams(self) -> NDArray[np.int64]:
        """How often each distinct pair of consecutive ids occurs in the sample of text."""
        return self.ngrams.bigram_counts()  # type: ignore[no-any-return]

    @cached_property
    def trigrams(self) -> NDArray[np.int64]:
        """How often each distinct triple of consecutive ids occurs in the sample of text."""
        return self.ngrams.trigram_counts()  # type: ignore[no-any-return]


def settings(key: CellKey, context: MeasureContext) -> dict[str, Any]:
    """What is the same for the figure and for its resamples."""
    return {
        "vocab_size": context.vocab_sizes.get(key.tokenizer),
        "price": None if context.prices is None else context.prices.of(key.tokenizer),
        "currency": "" if context.prices is None else context.prices.currency,
        "context_length": context.context_length,
        "audit": context.audits.get(key.tokenizer),
        "morphology": context.morphology.get((key.tokenizer, key.language)),
        "language": key.language,
        "code": context.kinds.get(key.dataset) == "code",
    }


def point(tally: Tally, key: CellKey, context: MeasureContext) -> Counts:
    """The counts of a tally, for a figure."""
    return Counts(
        **tally.totals,
        ids=tally.ids,
        word_tokens_histogram=tally.word_tokens,
        document_tokens=tally.document_tokens,
        token_bytes=tally.token_bytes,
        lengths=tally.lengths,
        ngrams=tally.ngrams,
        word_sample=tally.word_sample,
        isolated_words=len(tally.word_sample.hashes),
        isolated_tokens=int(tally.word_sample.tokens.sum()),
        losses=tally.losses,
        **settings(key, context),
    )


def resampled_counts(tally: Tally, key: CellKey, context: MeasureContext) -> Counts | None:
    """The counts of a tally over again (`resampled`); None where there are too few documents for that."""
    if context.replicates <= 0 or len(tally.groups.rows) < 2:
        return None
    words = _isolated(tally.word_sample)
    values = resampled(tally.groups, seed=context.seed, n=context.replicates, more=words)
    known = settings(key, context)
    if known["morphology"] is not None:
        known["morphology"] = known["morphology"].resampled(seed=context.seed, n=context.replicates)
    return Counts(**dict(zip(_RESAMPLED, values, strict=True)), **known)


def _isolated(sample: WordSample) -> NDArray[np.int64]:
    """The sampled words and their tokens by bootstrap group, where each word is an observation of its own."""
    import numpy as np

    group = (sample.hashes % np.uint64(GROUPS)).astype(np.int64)
    words = np.bincount(group, minlength=GROUPS)
    return np.stack([words, np.bincount(group, weights=sample.tokens, minlength=GROUPS).astype(np.int64)])


def one_resample(counts: Counts, index: int) -> Counts:
    """One resample alone, for metrics whose code takes numbers only."""
    return Counts(
        **{name: value[index] if name in _RESAMPLED else value for name, value in vars(counts).items()}
    )


def measurement(cell: Cell, metric: Metric, unit: str, value: float | None, status: str = "ok") -> Measurement:
    """The row of a metric of a cell, without an interval."""
    tokenizer, dataset, language = cell.key
    return Measurement(
        tokenizer, dataset, language, metric.name, value, None, None, unit, cell.n_documents, status
    )
