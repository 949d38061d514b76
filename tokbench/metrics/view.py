"""From a tally to the `Counts` that metrics compute with: once for the figure, once on all resamples.

The same formula gives both: counts are whole numbers for the figure, and arrays over the resamples for its
interval.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.metrics.context import MeasureContext
from tokbench.metrics.counts import Counts, EstimatedCounts
from tokbench.metrics.metric import CellKey
from tokbench.metrics.resampling import resampled_rows
from tokbench.tally import Tally
from tokbench.tally.counters import GROUPS, NAMES, TEXT_COUNTERS
from tokbench.tally.wordsample import WordSample


def settings(key: CellKey, context: MeasureContext, languages: int = 1) -> dict[str, Any]:
    """What is the same for the figure and for its resamples; `languages` is how many were added up."""
    of_model = context.model.context if context.model else None
    return {
        "vocab_size": context.vocab_sizes.get(key.tokenizer),
        "price": None if context.prices is None else context.prices.of(key.tokenizer),
        "currency": "" if context.prices is None else context.prices.currency,
        "context_length": context.context_length or of_model,
        "model": context.model,
        "audit": context.audits.get(key.tokenizer),
        "morphology": context.morphology.get((key.tokenizer, key.language)),
        "language": key.language,
        "languages": languages,
        "code": context.kinds.get(key.dataset) == "code",
        "consecutive": key.dataset in context.consecutive,
    }


def point(tally: Tally, key: CellKey, context: MeasureContext, languages: int = 1) -> Counts:
    """The counts of a tally, for a figure."""
    if key.tokenizer in context.estimates:
        known = {name: tally.totals[name] for name in ("tokens", *TEXT_COUNTERS)}
        return EstimatedCounts(
            **known,
            document_tokens=tally.document_tokens,
            clusters=tally.clusters,
            **settings(key, context, languages),
        )
    return Counts(
        **tally.totals,
        **tally.own.totals(),
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
        clusters=tally.clusters,
        **settings(key, context, languages),
    )


class Resamples(Counts):
    """Counts on resamples: every counter of a tally, float64 over its resamples, and nothing of histograms."""

    def one(self, index: int) -> Counts:
        """One resample alone, for metrics whose code takes numbers only."""
        counts = vars(self).items()
        return Counts(**{name: own[index] if isinstance(own, np.ndarray) else own for name, own in counts})


class EstimatedResamples(EstimatedCounts, Resamples):
    """Counts on resamples where numbers of tokens are estimated."""


def errors(key: CellKey, context: MeasureContext) -> NDArray[np.float64]:
    """By how much the true number of tokens may differ from the estimate: a factor for each resample drawn.

    Log-normal about 1, 95 % of it within the wider of the estimate's two bounds. Half of its variance is common
    to all languages of a dataset, so that neither their mean nor their differences look better known than they
    are. What is computed without one group, and of the whole text, stays as it is.
    """
    wide = max(abs(np.log(bound)) for bound in context.estimates[key.tokenizer]) / 1.96
    drawn = np.zeros(context.replicates)
    for names in (key[:2], key):
        seed = [context.seed, zlib.crc32("\0".join(names).encode("utf-8", "surrogatepass"))]
        drawn += np.random.default_rng(seed).normal(0.0, wide / np.sqrt(2), context.replicates)
    return np.append(np.exp(drawn), np.ones(GROUPS + 1))


def resampled(tally: Tally, key: CellKey, context: MeasureContext, languages: int = 1) -> Resamples | None:
    """The counts of a tally over again; None where no resamples were asked for.

    One document is enough for those: figures over words have intervals by them, however few the documents.
    """
    if context.replicates <= 0:
        return None
    drawn = {"seed": context.seed, "n": context.replicates}
    known = settings(key, context, languages)
    if known["morphology"] is not None:
        known["morphology"] = known["morphology"].resampled(**drawn)
    estimated = key.tokenizer in context.estimates
    names = ("tokens", *TEXT_COUNTERS) if estimated else NAMES
    sums = dict(zip(names, tally.groups.dense(names), strict=True))
    if estimated:
        rows = resampled_rows(sums, **drawn)
        rows["tokens"] = rows["tokens"] * errors(key, context)
        return EstimatedResamples(**rows, **known)
    # all at once: to work out only what some metric asks for is no quicker where the whole catalogue is asked
    return Resamples(
        **resampled_rows(sums | _isolated(tally.word_sample) | {**tally.own.sums}, **drawn), **known
    )


def _isolated(sample: WordSample) -> dict[str, NDArray[np.int64]]:
    """How many sampled words fall into each bootstrap group, by their hash, and how many tokens those take."""
    group = (sample.hashes % np.uint64(GROUPS)).astype(np.int64)
    tokens = np.bincount(group, weights=sample.tokens, minlength=GROUPS)
    return {
        "isolated_words": np.bincount(group, minlength=GROUPS),
        "isolated_tokens": tokens.astype(np.int64),
    }
