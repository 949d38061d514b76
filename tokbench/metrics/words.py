"""How words fare: tokens that touch each word, in context."""

from __future__ import annotations

from functools import partial

from tokbench.metrics.metric import Metric

_RUST = (
    "Rust, Pfeiffer, Vulić, Ruder and Gurevych, How Good is Your Tokenizer? On the Monolingual Performance of "
    "Multilingual Language Models, ACL 2021"
)
_UNIT = (
    "Words are those the corpus marks, else the segments of UAX #29 that hold a letter or a number; in scripts "
    "written without spaces those are single characters, and the unit says so."
)

_of_words = partial(Metric, needs=("words", "aligned_words", "one_word"), group="words")

METRICS = (
    _of_words(
        name="fertility",
        unit="tokens/word",
        better="lower",
        summary="Tokens that touch a word where it stands in the text, on average.",
        formula=r"\frac{\sum_w |\{t : t \cap w \neq \emptyset\}|}{|W|}",
        source=_RUST,
        caveat=(
            f"{_UNIT} Tokens that hold several words count for each; spaces and punctuation between words "
            "count for none. fertility_isolated is the variant of words encoded on their own."
        ),
        compute=lambda t: t.word_tokens / t.aligned_words,
        shown=("headline", "terminal", "languages", "differences"),
        order=40,
        heading="tokens/word",
    ),
    _of_words(
        name="continued_words",
        unit="share of words",
        better="lower",
        summary="Share of words that more than one token touches (proportion of continued words).",
        formula=r"\frac{|\{w : |t(w)| \geq 2\}|}{|W|}",
        source=_RUST,
        caveat=_UNIT,
        compute=lambda t: t.continued_words / t.aligned_words,
        shown=("headline", "languages", "differences"),
        order=60,
    ),
    _of_words(
        name="single_token_words",
        unit="share of words",
        better="higher",
        summary="Share of words that one token covers (single-token retention rate).",
        formula=r"1 - \mathrm{continued\_words}",
        source="Single-token retention rate, arXiv:2510.09947",
        caveat=_UNIT,
        compute=lambda t: 1 - t.continued_words / t.aligned_words,
    ),
    _of_words(
        name="fertility_isolated",
        unit="tokens/word type",
        better="lower",
        summary="Tokens of a distinct word encoded on its own, averaged over a fixed sample of words.",
        formula=r"\frac{1}{|S|} \sum_{w \in S} |\mathrm{encode}(w)|",
        caveat=(
            "Without its context a word lacks the space before it, which many vocabularies fold into the "
            "token, and rare words weigh as much as common ones. The sample is the 256 distinct words of "
            "smallest hash; the interval is over words, not documents."
        ),
        compute=lambda t: t.isolated_tokens / t.isolated_words,
        needs=("words", "isolated_words", "one_word"),
    ),
    _of_words(
        name="cross_word_tokens",
        unit="share of tokens",
        better="none",
        summary="Share of tokens that touch two or more words.",
        formula=r"\frac{|\{t : |w(t)| \geq 2\}|}{|T|}",
        caveat=_UNIT,
        compute=lambda t: t.cross_words / t.aligned_tokens,
        needs=("words", "aligned_words"),
    ),
)
