"""How token boundaries inside words agree with morpheme boundaries, on words encoded alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokbench.corpus import Document
from tokbench.metrics.gold import GoldWord
from tokbench.metrics.metric import Metric
from tokbench.metrics.needs import Undefined
from tokbench.metrics.structure import f1
from tokbench.tally.places import Aligner
from tokbench.tally.text import prepare
from tokbench.tally.vocabulary import table_of
from tokbench.tokenizer import Tokenizer, encode_batch


@dataclass(frozen=True, slots=True)
class MorphCounts:
    """Boundaries counted over gold words.

    `words` were scored and `whole` of them are one token; `unplaced` words could not be scored because the
    tokenizer rewrites them. `gold` boundaries should be there, `made` are, `hits` are right; `gold_split` are
    those of words of two or more tokens, and `recalls` the sum over such words of the share of their
    boundaries that is there.
    """

    words: int = 0
    whole: int = 0
    unplaced: int = 0
    gold: int = 0
    gold_split: int = 0
    made: int = 0
    hits: int = 0
    recalls: float = 0.0


def score(tokenizer: Tokenizer, gold: Sequence[GoldWord], *, leading_space: bool = False) -> MorphCounts:
    """Encode each word alone and compare boundaries; with `leading_space`, as it stands after a space.

    Example:
        >>> import tokbench
        >>> score(tokbench.load("bytes"), [GoldWord("cats", (3,))]).recalls
        1.0
    """
    import numpy as np

    lead = " " if leading_space else ""
    table = table_of(tokenizer)
    aligner = Aligner(tokenizer, table)
    counts = dict.fromkeys(("words", "whole", "unplaced", "gold", "gold_split", "made", "hits"), 0)
    recalls: list[float] = []
    done = 0
    for batch in prepare(Document(lead + word.word) for word in gold):
        words = gold[done : done + len(batch)]
        done += len(batch)
        tokens = encode_batch(tokenizer, batch.texts)
        table.know(tokens.ids)
        places = aligner.align(batch, tokens)
        begins = np.zeros(len(batch.data) + 1, np.bool_)
        begins[places.start] = True
        for index, word in enumerate(words):
            if not places.aligned[index]:
                counts["unplaced"] += 1
                continue
            first = int(batch.starts[index]) + len(lead)
            made = set((np.flatnonzero(begins[first : int(batch.ends[index])])).tolist()) - {0}
            wanted = {len(word.word[:cut].encode("utf-8", "surrogatepass")) for cut in word.cuts}
            counts["words"] += 1
            counts["gold"] += len(wanted)
            counts["made"] += len(made)
            counts["hits"] += len(made & wanted)
            if made:
                counts["gold_split"] += len(wanted)
                recalls.append(len(made & wanted) / len(wanted))
            else:
                counts["whole"] += 1
    return MorphCounts(**counts, recalls=math.fsum(recalls))


def _morph_score(t: Any) -> float:
    split = t.morphology.words - t.morphology.whole
    if not split:
        raise Undefined("every gold word is one token, and those are left out")
    return float(t.morphology.recalls / split)


_ARNETT = (
    "Arnett and Bergen, Why do language models perform worse for morphologically complex languages?, COLING "
    "2025; Arnett, Hudspeth and O'Connor, Evaluating Morphological Alignment of Tokenizers in 70 Languages, "
    "2025"
)
_ALONE = "Words are encoded alone, which differs from words in context where the space belongs to the token."


def _metric(
    name: str, summary: str, formula: str, compute: Any, *, unit: str, caveat: str, source: str = ""
) -> Metric:
    return Metric(
        name=name,
        unit=unit,
        better="higher",
        summary=summary,
        formula=formula,
        source=source,
        caveat=f"{caveat} {_ALONE}",
        compute=compute,
        needs=("morphology",),
        group="morphology",
    )


METRICS = (
    _metric(
        "morph_f1",
        "How well token boundaries inside words agree with morpheme boundaries, all words counted.",
        r"\frac{2\,|B \cap M|}{|B| + |M|}",
        lambda t: f1(t.morphology.hits, t.morphology.made, t.morphology.gold),
        unit="F1",
        caveat="Words of one token make no boundary, so they cost recall.",
    ),
    _metric(
        "morph_f1_split",
        "The same over words of two or more tokens only.",
        r"\frac{2\,|B \cap M|}{|B| + |M|},\ |t(w)| \geq 2",
        lambda t: f1(t.morphology.hits, t.morphology.made, t.morphology.gold_split),
        unit="F1",
        caveat="A large vocabulary leaves only its rare words to be judged.",
    ),
    _metric(
        "morph_precision",
        "Share of the token boundaries inside words that are morpheme boundaries.",
        r"\frac{|B \cap M|}{|B|}",
        lambda t: t.morphology.hits / t.morphology.made,
        unit="share of boundaries",
        caveat="High for a tokenizer that seldom cuts.",
    ),
    _metric(
        "morph_recall",
        "Share of the morpheme boundaries that are token boundaries, all words counted.",
        r"\frac{|B \cap M|}{|M|}",
        lambda t: t.morphology.hits / t.morphology.gold,
        unit="share of boundaries",
        caveat="Single characters as tokens reach 1.",
    ),
    _metric(
        "morph_score",
        "MorphScore: share of words cut at their morpheme boundary, words of one token left out.",
        r"\frac{1}{|W_2|} \sum_{w \in W_2} \frac{|B(w) \cap M(w)|}{|M(w)|},\ W_2 = \{w : |t(w)| \geq 2\}",
        _morph_score,
        unit="0..1",
        caveat="Other boundaries in the word do not count against it: single characters as tokens reach 1.",
        source=_ARNETT,
    ),
    _metric(
        "morph_score_all",
        "MorphScore with words of one token counted as missed.",
        r"\frac{1}{|W|} \sum_{w \in W} \frac{|B(w) \cap M(w)|}{|M(w)|}",
        lambda t: t.morphology.recalls / t.morphology.words,
        unit="0..1",
        caveat="Punishes vocabularies that hold whole words.",
        source=_ARNETT,
    ),
)
