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
        caveat=(
            "Words that the tokenizer rewrites so that they cannot be followed are left out; so are rows whose "
            "parts do not spell the word, rows with an empty part (MorphScore), and a word's second row. All "
            "together: of every language of the dataset, if each has gold words."
        ),
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
            r"\ W_2 = \{w : |t(w)| \geq 2, |M(w)| \geq 1\}"
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
        r"\frac{1}{|W|} \sum_{w \in W} \frac{|B(w) \cap M(w)|}{|M(w)|},\ W = \{w : |M(w)| \geq 1\}",
        lambda t: t.morphology.recalls / t.morphology.cut,
        caveat=f"Punishes vocabularies that hold whole words. {_EVERYWHERE} {_ALONE}",
    ),
)  # fmt: skip
