"""How words fare: tokens that touch each word, in context."""

from __future__ import annotations

from functools import partial

from tokbench.metrics.metric import catalogued

_RUST = (
    "Rust, Pfeiffer, Vulić, Ruder and Gurevych, How Good is Your Tokenizer? On the Monolingual Performance of "
    "Multilingual Language Models, ACL 2021"
)
_UNIT = (
    "Words are those that the corpus marks, or else the segments of UAX #29 that contain a letter or number. "
    "In scripts written without spaces these are single characters; the unit then says so."
)

_of_words = partial(catalogued, needs=("words", "aligned_words", "one_word"), group="words")

METRICS = (
    _of_words(
        "fertility", "tokens/word", "lower",
        "Average number of tokens that overlap a word in the text.",
        r"\frac{\sum_w |\{t : t \cap w \neq \emptyset\}|}{|W|}", lambda t: t.word_tokens / t.aligned_words,
        source=_RUST, shown=("headline", "terminal", "languages", "differences"), order=40,
        heading="tokens/word",
        caveat=(
            f"{_UNIT} A token that contains several words counts for each of them; tokens of spaces and "
            "punctuation between words count for none. fertility_isolated encodes words on their own instead."
        ),
    ),
    _of_words(
        "continued_words", "share of words", "lower",
        "Share of words that overlap more than one token (proportion of continued words).",
        r"\frac{|\{w : |t(w)| \geq 2\}|}{|W|}", lambda t: t.continued_words / t.aligned_words,
        source=_RUST, shown=("headline", "languages", "differences"), order=60,
        caveat=_UNIT,
    ),
    _of_words(
        "single_token_words", "share of words", "higher",
        "Share of words that are covered by one token (single-token retention rate).",
        r"1 - \mathrm{continued\_words}", lambda t: 1 - t.continued_words / t.aligned_words,
        source="Single-token retention rate, arXiv:2510.09947",
        caveat=_UNIT,
    ),
    _of_words(
        "fertility_isolated", "tokens/word type", "lower",
        "Average number of tokens of a word encoded on its own, over a fixed sample of distinct words.",
        r"\frac{1}{|S|} \sum_{w \in S} |\mathrm{encode}(w)|", lambda t: t.isolated_tokens / t.isolated_words,
        needs=("words", "isolated_words", "one_word"),
        caveat=(
            "A word on its own lacks the space before it, which many vocabularies make part of the token, and "
            "rare words weigh as much as common ones. The sample is the 256 distinct words with the "
            "smallest hash; the interval is over words, not documents."
        ),
    ),
    _of_words(
        "cross_word_tokens", "share of tokens", "none",
        "Share of tokens that overlap two or more words.",
        r"\frac{|\{t : |w(t)| \geq 2\}|}{|T|}", lambda t: t.cross_words / t.aligned_tokens,
        needs=("words", "aligned_words"),
        caveat=_UNIT,
    ),
)  # fmt: skip
