"""How token boundaries inside words agree with morpheme boundaries: figures of `tokbench.metrics.morphemes`."""

from __future__ import annotations

from functools import partial
from typing import Any

from tokbench.errors import Undefined
from tokbench.metrics.metric import catalogued
from tokbench.metrics.structure import f1


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
    "Words are encoded alone; in context they may be cut differently, if the space belongs to the token. The "
    "interval is over the gold words."
)
_EVERYWHERE = (
    "No direction: a vocabulary that cuts everywhere, into bytes or characters, hits every boundary and "
    "reaches 1 without any knowledge. Rank by morph_f1, in which each wrong cut counts."
)
_of_gold_words = partial(catalogued, needs=("morphology",), group="morphology")
_morph_scores = partial(_of_gold_words, source=_ARNETT)

METRICS = (
    _of_gold_words(
        "gold_words", "words", "none",
        "Gold words that were scored: the N of the figures below.",
        "|W|", lambda t: t.morphology.words,
        no_interval="The size of what was measured; nothing is estimated.",
        caveat=(
            "Left out are words that the tokenizer rewrites beyond recognition, rows whose parts do not spell "
            "the word, rows with an empty part (MorphScore), and a word's second row. The figure over all "
            "languages is given only if each of them has gold words."
        ),
    ),
    _of_gold_words(
        "morph_f1", "F1", "higher",
        "How well token boundaries inside words agree with morpheme boundaries, over all words.",
        r"\frac{2\,|B \cap M|}{|B| + |M|}",
        lambda t: f1(t.morphology.hits, t.morphology.made, t.morphology.gold),
        caveat=(
            "Words of one token have no token boundary, which lowers recall. In words of one morpheme every "
            "cut lowers precision; data without such words (MorphScore's) makes precision look better. "
            f"{_ALONE}"
        ),
    ),
    _of_gold_words(
        "morph_f1_split", "F1", "higher",
        "As morph_f1, but only over words of two or more tokens.",
        r"\frac{2\,|B \cap M|}{|B| + |M|},\ |t(w)| \geq 2",
        lambda t: f1(t.morphology.hits, t.morphology.made, t.morphology.gold_split),
        caveat=f"With a large vocabulary only rare words are left to be judged. {_ALONE}",
    ),
    _of_gold_words(
        "morph_precision", "share of boundaries", "none",
        "Share of the token boundaries inside words that are morpheme boundaries.",
        r"\frac{|B \cap M|}{|B|}", lambda t: t.morphology.hits / t.morphology.made,
        caveat=f"No direction: high for a tokenizer that seldom cuts. Rank by morph_f1. {_ALONE}",
    ),
    _of_gold_words(
        "morph_recall", "share of boundaries", "none",
        "Share of the morpheme boundaries that are token boundaries, over all words.",
        r"\frac{|B \cap M|}{|M|}", lambda t: t.morphology.hits / t.morphology.gold,
        caveat=f"{_EVERYWHERE} {_ALONE}",
    ),
    _morph_scores(
        "morph_score", "0..1", "none",
        "MorphScore, version 1: share of words cut at their morpheme boundary, words of one token left out.",
        (
            r"\frac{1}{|W_2|} \sum_{w \in W_2} \frac{|B(w) \cap M(w)|}{|M(w)|},"
            r"\ W_2 = \{w : |t(w)| \geq 2, |M(w)| \geq 1\}"
        ),
        _morph_score,
        caveat=(
            f"{_EVERYWHERE} The authors' script (version 1, commit fb7d677) decodes tokens one by one, and "
            "gives the same figure only if they spell the word, as those of GPT-2 and other byte-level "
            "vocabularies do in English. It gives less if a token is not whole UTF-8, if the parts do not "
            "spell the word, or if words begin with a token of the space alone, which it counts as a cut (T5: "
            "0.669 against 0.780 here), and nearly 0 if tokens carry a mark such as ## (BERT: 0.006 against "
            "0.613). Version 2 (70 languages) has other settings, and its figures are not comparable. "
            f"{_ALONE}"
        ),
    ),
    _morph_scores(
        "morph_score_all", "0..1", "none",
        "MorphScore in which words of one token count as missed.",
        r"\frac{1}{|W|} \sum_{w \in W} \frac{|B(w) \cap M(w)|}{|M(w)|},\ W = \{w : |M(w)| \geq 1\}",
        lambda t: t.morphology.recalls / t.morphology.cut,
        caveat=f"Penalizes vocabularies that contain whole words. {_EVERYWHERE} {_ALONE}",
    ),
)  # fmt: skip
