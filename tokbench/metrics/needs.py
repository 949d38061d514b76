"""Why a figure is not there: what each metric needs, and the sentence for when it is missing."""

from __future__ import annotations

from tokbench.tally.counters import COUNTERS

CONDITIONS: dict[str, str] = {
    "parallel": "only on parallel text: the documents of other corpora do not say the same in each language",
    "several": "only of several languages together",
    "vocab_size": "the size of this tokenizer's vocabulary is not known",
    "baseline": "relative to a baseline tokenizer: name one with --baseline",
    "prices": "no price for this tokenizer: supply a price table",
    "context_length": "no context length given",
    "audit": "the vocabulary was not audited",
    "morphology": "no gold segmentation of words was given for this language",
    "code": "only on code",
    "parsed_documents": (
        "no tree-sitter grammar for this language was installed when the text was counted: "
        "pip install tree-sitter and tree-sitter-LANGUAGE"
    ),
    "ngrams": "the sample of text for n-grams is empty",
    "token_bytes": "this tokenizer does not tell the bytes of each of its tokens",
    "unk_places": "the text under some unknown tokens could not be located",
    "word_sample": "no words to encode on their own",
}
"""What a metric's `needs` may name beside the counters of a tally, and the reason given without it."""

ALIGNED_SHARE = 0.95
"""Figures that need tokens' places are given where at least this share of the text was aligned."""


class Undefined(Exception):
    """Raised by a metric's `compute` where it has no value; the message is the reason shown."""


def reason_for(need: str) -> str:
    """The sentence shown where `need` is missing.

    Example:
        >>> reason_for("words")
        'no words (words: gold where the document has them, else UAX #29 segments with a letter or number)'
    """
    if need in CONDITIONS:
        return CONDITIONS[need]
    return f"no {need.replace('_', ' ')} ({COUNTERS.get(need, 'nothing of that was counted')})"
