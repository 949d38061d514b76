"""Gold words encoded alone, and how many of their boundaries are those of morphemes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tokbench.corpus import Document
from tokbench.metrics.gold import GoldWord
from tokbench.tally.counters import GROUPS
from tokbench.tokenizer import Tokenizer, encode_batch

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Floats


@dataclass(frozen=True, slots=True)
class MorphCounts:
    """Boundaries counted over gold words.

    `words` were scored; `cut` of them have a boundary inside, and `cut_whole` of those are one token;
    `unplaced` words could not be scored because the tokenizer rewrites them. `gold` boundaries should be there,
    `made` are, `hits` are right; `gold_split` are the gold ones of words of two or more tokens, and `recalls`
    sums, over words, the share of gold boundaries that is there. `groups` are the sums of `SUMMED` over
    bootstrap groups of words, float64 of shape ``(GROUPS, len(SUMMED))``: a word falls into the group that a
    document of it would.
    """

    words: Any = 0
    cut: Any = 0
    cut_whole: Any = 0
    unplaced: int = 0
    gold: Any = 0
    gold_split: Any = 0
    made: Any = 0
    hits: Any = 0
    recalls: Any = 0.0
    groups: Floats | None = field(default=None, repr=False, compare=False)

    @classmethod
    def sum(cls, parts: Sequence[MorphCounts | None]) -> MorphCounts | None:
        """Those of several languages together; None where one of them has none."""
        import numpy as np

        known = [part for part in parts if part is not None]
        if not known or len(known) < len(parts):
            return None
        groups = [part.groups for part in known if part.groups is not None]
        return cls(
            **{name: sum(getattr(part, name) for part in known) for name in (*SUMMED, "unplaced")},
            groups=np.sum(groups, axis=0) if groups else None,
        )

    def resampled(self, *, seed: int, n: int) -> MorphCounts | None:
        """The counts over again, as `tokbench.metrics.resampling` does it; None without `groups`."""
        from tokbench.metrics.resampling import resampled_sums

        if self.groups is None:
            return None
        again = resampled_sums(self.groups.T, seed=seed, n=n)
        return replace(self, **dict(zip(SUMMED, again, strict=True)))


SUMMED = ("words", "cut", "cut_whole", "gold", "gold_split", "made", "hits", "recalls")


def score(tokenizer: Tokenizer, gold: Sequence[GoldWord]) -> MorphCounts:
    """Encode each word alone and compare boundaries.

    Example:
        >>> import tokbench
        >>> score(tokbench.load("bytes"), [GoldWord("cats", (3,))]).recalls
        1.0
    """
    import numpy as np

    from tokbench.tally.places import Aligner
    from tokbench.tally.prepare import prepare
    from tokbench.tally.vocabulary import table_of

    table = table_of(tokenizer)
    aligner = Aligner(tokenizer, table)
    of_words: list[tuple[float, ...]] = []
    groups: list[int] = []
    done = unplaced = 0
    for batch in prepare(Document(word.word) for word in gold):
        words = gold[done : done + len(batch)]
        done += len(batch)
        tokens = encode_batch(tokenizer, batch.texts)
        places = aligner.align(batch, tokens)
        begins = np.zeros(len(batch.data) + 1, np.bool_)
        begins[places.tokens.start] = True
        for index, word in enumerate(words):
            if places.aligned[index]:
                own = begins[batch.starts[index] : batch.ends[index]]
                of_words.append(_compared(word, set(np.flatnonzero(own).tolist()) - {0}))
                groups.append(int(batch.groups[index]))
            else:
                unplaced += 1
    sums = np.zeros((GROUPS, len(SUMMED)))
    counted = np.array(of_words, np.float64).reshape(-1, len(SUMMED))
    np.add.at(sums, np.array(groups, np.int64), counted)
    *counts, recalls = map(math.fsum, counted.T)
    return MorphCounts(
        **dict(zip(SUMMED, map(int, counts), strict=False)), unplaced=unplaced, recalls=recalls, groups=sums
    )


def _compared(word: GoldWord, made: set[int]) -> tuple[float, ...]:
    """The `SUMMED` of a word in which tokens begin at the bytes `made`, its first left out."""
    gold = {len(word.word[:cut].encode("utf-8", "surrogatepass")) for cut in word.cuts}
    hits, split, cut = len(made & gold), bool(made), bool(gold)
    share = hits / len(gold) if cut else 0.0
    return 1, cut, cut and not split, len(gold), split * len(gold), len(made), hits, share
