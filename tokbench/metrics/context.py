"""What metrics need in addition to tallies: vocabulary sizes, which text is parallel, prices, the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokbench.inspection.audit import VocabularyAudit
    from tokbench.metrics.cost import PriceTable
    from tokbench.metrics.model import Model
    from tokbench.metrics.morphemes import MorphCounts

CHEAPEST = "cheapest"
"""The reference that means the cheapest language of each tokenizer; also the default."""
REPLICATES, CONFIDENCE = 1000, 0.95
"""The defaults of the bootstrap and its intervals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureContext:
    """What `measure` and `differences` use in addition to tallies. Keys are canonical specs.

    `vocab_sizes` by tokenizer; `parallel` and `kinds` ("text" or "code") by dataset; `consecutive` are the
    datasets of which intervals draw blocks of documents that follow one another. `reference` is the
    language premiums are relative to (default: the cheapest); `baseline` the tokenizer that relative figures
    are against. `audits` are the vocabulary audits by tokenizer.
    `morphology` holds what `tokbench.metrics.morphemes.score` found, by (tokenizer, language).
    `replicates` bootstrap replicates are drawn with `seed`, for intervals at `confidence`; 0 for none.
    `estimates` are the tokenizers whose numbers of tokens are estimated, with the bounds of the true number
    over the estimate at 95 %. `model` is the model whose costs are computed. With `exclude_lossy`, tokenizers
    that lose text get no figures in which less text would look better.

    Example:
        >>> MeasureContext(vocab_sizes={"bytes": 256}).confidence
        0.95
    """

    vocab_sizes: Mapping[str, int] = field(default_factory=dict)
    parallel: Mapping[str, bool] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    consecutive: frozenset[str] = frozenset()
    reference: str | None = None
    baseline: str | None = None
    audits: Mapping[str, VocabularyAudit] = field(default_factory=dict)
    morphology: Mapping[tuple[str, str], MorphCounts] = field(default_factory=dict)
    estimates: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    prices: PriceTable | None = None
    context_length: int | None = None
    model: Model | None = None
    renyi_alphas: tuple[float, ...] = ()
    seed: int = 0
    replicates: int = REPLICATES
    confidence: float = CONFIDENCE
    exclude_lossy: bool = False
