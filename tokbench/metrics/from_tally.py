"""From a tally to the `Counts` that metrics compute with: once for the figure, once on all resamples.

The same formula gives both: counts are whole numbers for the figure, and arrays over the resamples for its
interval.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tokbench.metrics.context import MeasureContext
from tokbench.metrics.counts import Counts
from tokbench.metrics.measurement import CellKey
from tokbench.metrics.morphemes import MorphCounts
from tokbench.metrics.resampling import Floats, Ints, resampled_rows
from tokbench.tally.counters import GROUPS, NAMES, TEXT_COUNTERS
from tokbench.tally.tally import Tally
from tokbench.tally.wordsample import WordSample

ESTIMATED = ("tokens", *TEXT_COUNTERS)
"""What is known of a tokenizer whose numbers of tokens are estimated."""


def known_of(key: CellKey, context: MeasureContext, languages: Sequence[str]) -> dict[str, Any]:
    """What is the same for the figure and for its resamples; `languages` are those that were added up."""
    of_model = context.model.context if context.model else None
    gold = [context.morphology.get((key.tokenizer, language)) for language in languages]
    return {
        "vocab_size": context.vocab_sizes.get(key.tokenizer),
        "price": None if context.prices is None else context.prices.of(key.tokenizer),
        "currency": "" if context.prices is None else context.prices.currency,
        "context_length": context.context_length or of_model,
        "model": context.model,
        "audit": context.audits.get(key.tokenizer),
        "morphology": MorphCounts.sum(gold),
        "language": key.language,
        "languages": len(languages),
        "code": context.kinds.get(key.dataset) == "code",
        "consecutive": key.dataset in context.consecutive,
        "estimated": key.tokenizer in context.estimates,
    }


def as_counted(tally: Tally, known: Mapping[str, Any]) -> Counts:
    """The counts of a tally, for a figure; `known` is what `known_of` gives."""
    if known["estimated"]:
        counts = {name: tally.totals[name] for name in ESTIMATED}
        return Counts(**counts, document_tokens=tally.document_tokens, clusters=tally.clusters, **known)
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
        **known,
    )


def errors_of(key: CellKey, context: MeasureContext) -> Floats:
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


def resampled(tally: Tally, key: CellKey, context: MeasureContext, known: Mapping[str, Any]) -> Counts | None:
    """The counts of a tally over again, float64 over its resamples; None where no resamples were asked for.

    `known` is what `known_of` gives. One document is enough: figures over words have intervals by those,
    however few the documents.
    """
    if context.replicates <= 0:
        return None
    drawn = {"seed": context.seed, "n": context.replicates}
    if known["morphology"] is not None:
        known = {**known, "morphology": known["morphology"].resampled(**drawn)}
    # all at once: to work out only what some metric asks for is no quicker where the whole catalogue is asked
    names = ESTIMATED if known["estimated"] else NAMES
    sums = dict(zip(names, tally.groups.dense(names), strict=True))
    if not known["estimated"]:
        sums |= _isolated(tally.word_sample) | {**tally.own.sums}
    rows = resampled_rows(sums, **drawn)
    if known["estimated"]:
        rows["tokens"] = rows["tokens"] * errors_of(key, context)
    return Counts(**rows, **known)


def _isolated(sample: WordSample) -> dict[str, Ints]:
    """How many sampled words fall into each bootstrap group, by their hash, and how many tokens those take."""
    group = (sample.hashes % np.uint64(GROUPS)).astype(np.int64)
    tokens = np.bincount(group, weights=sample.tokens, minlength=GROUPS)
    return {
        "isolated_words": np.bincount(group, minlength=GROUPS),
        "isolated_tokens": tokens.astype(np.int64),
    }
