"""How far a tokenizer is from the shortest encoding that its own vocabulary allows, with intervals.

The figure is tokens divided by the fewest tokens of the same vocabulary that spell the same pre-tokens, which
is the cost of the order of merges. 1 is the optimum; the rest is not due to the vocabulary, but to how it is
applied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokbench.capabilities import ShortestSpeller
from tokbench.corpus import Dataset
from tokbench.errors import CorpusError, TokenizerError
from tokbench.metrics.context import CONFIDENCE, REPLICATES
from tokbench.metrics.metric import catalogued
from tokbench.tally.counters import GROUPS
from tokbench.tokenizer import Tokenizer, encode_batch

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Ints
    from tokbench.metrics.intervals import Interval


def fewest_tokens(texts: Sequence[str], tokenizer: Tokenizer) -> Ints:
    """The fewest tokens of each text; 0 if the tokenizer cannot compute it."""
    import numpy as np

    try:
        if isinstance(tokenizer, ShortestSpeller):
            return tokenizer.fewest_tokens(texts)
    except TokenizerError:  # not for this vocabulary
        pass
    return np.zeros(len(texts), np.int64)


@dataclass(frozen=True, slots=True)
class Distance:
    """The tokens and the fewest possible tokens of a language, and the interval of their ratio, or None."""

    language: str
    documents: int
    tokens: int
    fewest: int
    interval: Interval | None

    @property
    def ratio(self) -> float:
        """Tokens divided by the fewest possible: 1 or more."""
        return self.tokens / self.fewest


def distances(
    tokenizer: Tokenizer,
    dataset: Dataset,
    *,
    seed: int = 0,
    progress: Callable[[int], None] = lambda documents: None,
) -> list[Distance]:
    """The distance of each language of a dataset; intervals are by bootstrap over documents.

    Raises `TokenizerError` for a tokenizer that cannot compute the fewest tokens.
    """
    import numpy as np

    from tokbench.metrics.intervals import intervals
    from tokbench.metrics.resampling import resampled_sums
    from tokbench.tally.grouping import in_groups

    if not isinstance(tokenizer, ShortestSpeller):
        raise TokenizerError(
            f"{tokenizer.name}: it does not tell the fewest tokens of its pre-tokens; a BPE opened in-house "
            "does: bpe:FILE"
        )
    found: list[Distance] = []
    done = 0
    for language in dataset.languages:
        sums = np.zeros((2, GROUPS), np.int64)
        documents = 0
        for some, groups in in_groups(dataset, language):
            texts = [document.text for document in some]
            np.add.at(sums[0], groups, encode_batch(tokenizer, texts).lengths())
            np.add.at(sums[1], groups, tokenizer.fewest_tokens(texts))
            documents += len(some)
            done += len(some)
            progress(done)
        tokens, fewest = sums.sum(axis=1).tolist()
        if fewest:
            again = resampled_sums(sums, seed=seed, n=REPLICATES)
            with np.errstate(all="ignore"):
                limits = intervals([again[0] / again[1]], CONFIDENCE, documents)[0]
            found.append(Distance(language, documents, tokens, fewest, limits))
    if not found:
        raise CorpusError(f"{dataset.name}: no text in it, so there is nothing to divide by")
    return found


METRICS = (
    catalogued(
        "optimum", "tokens/fewest tokens", "lower",
        "Tokens divided by the fewest tokens of the same vocabulary that spell the same pre-tokens.",
        r"\frac{|T|}{|T^*|},\ T^* = \text{a shortest spelling in } V", lambda t: t.tokens / t.fewest,
        counters={"fewest": "the fewest tokens of the vocabulary that spell the pre-tokens, where it tells"},
        count=fewest_tokens, needs=("fewest",), group="compression", on_request=True,
        source="Schmidt et al., Tokenization Is More Than Compression, EMNLP 2024 (shortest paths)",
        caveat=(
            "The excess over 1 is the cost of how text is encoded (the order of merges), not of the "
            "vocabulary. Known for the in-house byte-level families bpe, greedtok, pickybpe and pathpiece."
        ),
    ),
)  # fmt: skip
