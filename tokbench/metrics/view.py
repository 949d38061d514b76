"""The `Counts` of a tally, for a figure and for its resamples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tokbench.metrics.context import MeasureContext
from tokbench.metrics.counts import Counts
from tokbench.metrics.metric import CellKey
from tokbench.metrics.resampling import Resampler
from tokbench.tally import Tally
from tokbench.tally.groups import NAMES
from tokbench.tally.text import GROUPS
from tokbench.tally.wordsample import WordSample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_ISOLATED = ("isolated_words", "isolated_tokens")
RESAMPLED = (*NAMES, *_ISOLATED)
"""What there is of resamples."""


def settings(key: CellKey, context: MeasureContext, languages: int = 1) -> dict[str, Any]:
    """What is the same for the figure and for its resamples; `languages` is how many were added up."""
    return {
        "vocab_size": context.vocab_sizes.get(key.tokenizer),
        "price": None if context.prices is None else context.prices.of(key.tokenizer),
        "currency": "" if context.prices is None else context.prices.currency,
        "context_length": context_of(context),
        "model": context.model,
        "audit": context.audits.get(key.tokenizer),
        "morphology": context.morphology.get((key.tokenizer, key.language)),
        "language": key.language,
        "languages": languages,
        "code": context.kinds.get(key.dataset) == "code",
    }


def context_of(context: MeasureContext) -> int | None:
    """The tokens of context: those that were given, else the model's."""
    return context.context_length or (context.model.context if context.model else None)


def point(tally: Tally, key: CellKey, context: MeasureContext, languages: int = 1) -> Counts:
    """The counts of a tally, for a figure."""
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
        clusters=len(tally.groups.rows),
        **settings(key, context, languages),
    )


class Resamples(Counts):
    """Counts on resamples, worked out when first asked for, together with what was asked of other texts.

    So all that the metrics need of some texts, and no more, is one product of matrices.
    """

    def __init__(self, tally: Tally, resampler: Resampler, **known: Any) -> None:
        super().__init__(**known)
        self._groups, self._words, self._own = tally.groups, tally.word_sample, tally.own.sums
        self._resampler = resampler

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        if name not in RESAMPLED and name not in self._own:
            raise AttributeError(f"resamples have no {name}")
        self._resampler.asked[name] = None
        foresee([self])
        found: NDArray[np.float64] = vars(self)[name]
        return found

    def unknown_sums(self) -> dict[str, NDArray[np.int64]]:
        """The sums by group that were asked of any text, but for those that are known on resamples."""
        names = [each for each in self._resampler.asked if each not in vars(self)]
        counted = [name for name in names if name in NAMES]
        sums = dict(zip(counted, self._groups.dense(counted), strict=True))
        sums |= {name: self._own[name] for name in names if name in self._own}
        if any(name in _ISOLATED for name in names):
            sums |= dict(zip(_ISOLATED, _isolated(self._words), strict=True))
        return sums

    def one(self, index: int) -> Counts:
        """One resample alone, for metrics whose code takes numbers only."""
        counts = {name: getattr(self, name)[index] for name in (*RESAMPLED, *self._own)}
        return Counts(**{name: value for name, value in vars(self).items() if name[0] != "_"} | counts)


def foresee(some: Sequence[Resamples]) -> None:
    """Work out, for texts with one resampler, whatever was asked of any text: it will be asked of these too."""
    if some:
        resampler = some[0]._resampler
        for each, rows in zip(some, resampler.rows_of([each.unknown_sums() for each in some]), strict=True):
            vars(each).update(rows)


def resampled(
    tally: Tally, key: CellKey, context: MeasureContext, resampler: Resampler, languages: int = 1
) -> Resamples | None:
    """The counts of a tally over again; None where there are too few documents for that."""
    if resampler.n <= 0 or len(tally.groups.rows) < 2:
        return None
    known = settings(key, context, languages)
    if known["morphology"] is not None:
        known["morphology"] = known["morphology"].resampled(seed=resampler.seed, n=resampler.n)
    return Resamples(tally, resampler, **known)


def _isolated(sample: WordSample) -> NDArray[np.int64]:
    """The sampled words and their tokens by bootstrap group, where each word is an observation of its own."""
    import numpy as np

    group = (sample.hashes % np.uint64(GROUPS)).astype(np.int64)
    words = np.bincount(group, minlength=GROUPS)
    return np.stack([words, np.bincount(group, weights=sample.tokens, minlength=GROUPS).astype(np.int64)])
