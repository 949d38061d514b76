"""How token boundaries inside words agree with morpheme boundaries, on words encoded alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tokbench.corpus import Document
from tokbench.errors import Undefined
from tokbench.metrics.gold import GoldWord
from tokbench.metrics.metric import catalogued
from tokbench.metrics.structure import f1
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
            if not places.aligned[index]:
                unplaced += 1
                continue
            first = int(batch.starts[index])
            made = set((np.flatnonzero(begins[first : int(batch.ends[index])])).tolist()) - {0}
            wanted = {len(word.word[:cut].encode("utf-8", "surrogatepass")) for cut in word.cuts}
            hits, split, cut = len(made & wanted), bool(made), bool(wanted)
            groups.append(int(batch.groups[index]))
            share = hits / len(wanted) if cut else 0.0
            of_words.append(
                (1, cut, cut and not split, len(wanted), split * len(wanted), len(made), hits, share)
            )
    sums = np.zeros((GROUPS, len(SUMMED)))
    counted = np.array(of_words, np.float64).reshape(-1, len(SUMMED))
    np.add.at(sums, np.array(groups, np.int64), counted)
    *counts, recalls = map(math.fsum, counted.T)
    return MorphCounts(
        **dict(zip(SUMMED, map(int, counts), strict=False)), unplaced=unplaced, recalls=recalls, groups=sums
    )


def _morph_score(t: Any) -> Any:
    import numpy as np

    split = t.morphology.cut - t.morphology.cut_whole
    if not np.any(split):
        raise Undefined("every gold word with a boundary is one token, and those are left out")
    return t.morphology.recalls / split


_ARNETT = (
    "Arnett and Bergen, Why do language models perform worse for morphologically complex languages?, COLING "
    "2025; Arnett, Hudspeth and O'Connor, Evaluating Morphological Alignment of Tokenizers in 70 Languages, "
    "2025"
)
_ALONE = (
    "Words are encoded alone, which differs from words in context where the space belongs to the token. The "
    "interval is over the gold words."
)
_EVERYWHERE = (
    "No direction: a vocabulary that cuts everywhere, into bytes or characters, meets every boundary and "
    "reaches 1 without knowing one. Rank by morph_f1, in which each wrong cut counts."
)
_of_gold_words = partial(catalogued, needs=("morphology",), group="morphology")
_morph_scores = partial(_of_gold_words, source=_ARNETT)

METRICS = (
    _of_gold_words(
        "gold_words", "words", "none",
        "Gold words that were scored: the N of the figures below.",
        "|W|", lambda t: t.morphology.words,
        no_interval="It is the size of what was measured: nothing is estimated.",
        caveat="Words that the tokenizer rewrites in a way that cannot be followed are left out.",
    ),
    _of_gold_words(
        "morph_f1", "F1", "higher",
        "How well token boundaries inside words agree with morpheme boundaries, all words counted.",
        r"\frac{2\,|B \cap M|}{|B| + |M|}",
        lambda t: f1(t.morphology.hits, t.morphology.made, t.morphology.gold),
        caveat=(
            "Words of one token make no boundary, so they cost recall; words of one morpheme have none, so "
            "each cut in them costs precision. Data without the latter (MorphScore's) flatters precision. "
            f"{_ALONE}"
        ),
    ),
    _of_gold_words(
        "morph_f1_split", "F1", "higher",
        "The same over words of two or more tokens only.",
        r"\frac{2\,|B \cap M|}{|B| + |M|},\ |t(w)| \geq 2",
        lambda t: f1(t.morphology.hits, t.morphology.made, t.morphology.gold_split),
        caveat=f"A large vocabulary leaves only its rare words to be judged. {_ALONE}",
    ),
    _of_gold_words(
        "morph_precision", "share of boundaries", "none",
        "Share of the token boundaries inside words that are morpheme boundaries.",
        r"\frac{|B \cap M|}{|B|}", lambda t: t.morphology.hits / t.morphology.made,
        caveat=f"No direction: high for a tokenizer that seldom cuts. Rank by morph_f1. {_ALONE}",
    ),
    _of_gold_words(
        "morph_recall", "share of boundaries", "none",
        "Share of the morpheme boundaries that are token boundaries, all words counted.",
        r"\frac{|B \cap M|}{|M|}", lambda t: t.morphology.hits / t.morphology.gold,
        caveat=f"{_EVERYWHERE} {_ALONE}",
    ),
    _morph_scores(
        "morph_score", "0..1", "none",
        "MorphScore, version 1: share of words cut at their morpheme boundary, words of one token left out.",
        (
            r"\frac{1}{|W_2|} \sum_{w \in W_2} \frac{|B(w) \cap M(w)|}{|M(w)|},"
            r"\ W_2 = \{w : |t(w)| \geq 2\}"
        ),
        _morph_score,
        caveat=(
            f"{_EVERYWHERE} The authors' script (version 1, commit fb7d677) decodes tokens one by one, and "
            "gives the same only where those spell the word: for GPT-2's and other byte-level vocabularies in "
            "English. It gives less where a token is not whole UTF-8, where the parts do not spell the word, "
            "where words begin with a token for the space alone, which it takes for a cut (T5: 0.669 against "
            "0.780 here), and nearly nothing where tokens carry a mark such as ## (BERT: 0.006 against 0.613). "
            "Version 2 (70 languages) has settings of its own, and figures that are not these. "
            f"{_ALONE}"
        ),
    ),
    _morph_scores(
        "morph_score_all", "0..1", "none",
        "MorphScore with words of one token counted as missed.",
        r"\frac{1}{|W|} \sum_{w \in W} \frac{|B(w) \cap M(w)|}{|M(w)|}",
        lambda t: t.morphology.recalls / t.morphology.cut,
        caveat=f"Punishes vocabularies that hold whole words. {_EVERYWHERE} {_ALONE}",
    ),
)  # fmt: skip
