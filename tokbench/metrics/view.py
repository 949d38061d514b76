"""What a metric's `compute` is given: the counts of a tally as plain attributes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tokbench.metrics.context import MeasureContext
from tokbench.metrics.metric import CellKey, Measurement, Metric
from tokbench.metrics.resampling import resampled
from tokbench.tally import Tally
from tokbench.tally.groups import NAMES

if TYPE_CHECKING:
    from tokbench.metrics.measure import Cell


class Counts(SimpleNamespace):
    """Counts by name: whole numbers for the figure itself, float64 arrays over resamples for its interval.

    For the figure itself there is also what resamples cannot have: `ids`, `word_tokens`, `document_tokens`
    and `token_bytes` (`Histogram`), `ngrams`, `word_sample`, `losses`, `lengths`. Both have `vocab_size`,
    `price`, `context_length`, `audit` and `morphology`, each None where it is not known.
    """


def settings(key: CellKey, context: MeasureContext) -> dict[str, Any]:
    """What is the same for the figure and for its resamples."""
    return {
        "vocab_size": context.vocab_sizes.get(key.tokenizer),
        "price": None if context.prices is None else context.prices.of(key.tokenizer),
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
        losses=tally.losses,
        **settings(key, context),
    )


def resampled_counts(tally: Tally, key: CellKey, context: MeasureContext) -> Counts | None:
    """The counts of a tally over again (`resampled`); None where there are too few documents for that."""
    if context.replicates <= 0 or len(tally.groups.rows) < 2:
        return None
    values = resampled(tally.groups, seed=context.seed, n=context.replicates)
    known = settings(key, context)
    if known["morphology"] is not None:
        known["morphology"] = known["morphology"].resampled(seed=context.seed, n=context.replicates)
    return Counts(**dict(zip(NAMES, values, strict=True)), **known)


def one_resample(counts: Counts, index: int) -> Counts:
    """One resample alone, for metrics whose code takes numbers only."""
    return Counts(**{name: value[index] if name in _NAMES else value for name, value in vars(counts).items()})


_NAMES = frozenset(NAMES)


def measurement(cell: Cell, metric: Metric, unit: str, value: float | None, status: str = "ok") -> Measurement:
    """The row of a metric of a cell, without an interval."""
    tokenizer, dataset, language = cell.key
    return Measurement(
        tokenizer, dataset, language, metric.name, value, None, None, unit, cell.n_documents, status
    )
