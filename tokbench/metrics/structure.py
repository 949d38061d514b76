"""What tokens do to the structure of text: characters, numbers, and code."""

from __future__ import annotations

from functools import partial
from typing import Any

from tokbench.metrics.metric import Metric

_SINGH = (
    "Singh and Strouse, Tokenization counts: the impact of tokenization on arithmetic in frontier LLMs, 2024"
)
_CODE = "Only on datasets of code."


def f1(hits: Any, made: Any, gold: Any) -> Any:
    """Harmonic mean of precision (hits / made) and recall (hits / gold), as 2 hits / (made + gold).

    Example:
        >>> f1(1, 1, 3)
        0.5
    """
    return 2 * hits / (made + gold)


_of_text = partial(Metric, group="structure")
_of_code = partial(Metric, group="code")
_agreement = partial(Metric, unit="F1", better="higher", formula=r"\frac{2\,|B \cap G|}{|B| + |G|}")
_parsed = partial(_of_code, better="higher", source="tree-sitter, https://tree-sitter.github.io")

METRICS = (
    _of_text(
        name="split_characters",
        unit="share of tokens",
        better="lower",
        summary="Share of tokens that are not whole UTF-8 characters.",
        formula=r"\frac{|\{t : t \text{ is not valid UTF-8}\}|}{|T|}",
        caveat=(
            "Byte-level vocabularies split rare characters. For a tokenizer that does not tell its tokens' "
            "bytes, those that decode to a replacement character are counted."
        ),
        compute=lambda t: t.split_tokens / t.tokens,
        needs=("tokens",),
    ),
    _of_text(
        name="cut_characters",
        unit="share of boundaries",
        better="lower",
        summary="Share of the boundaries between tokens that fall inside a character's UTF-8.",
        formula=r"\frac{|B \cap \text{inside characters}|}{|B|}",
        caveat=(
            "Exact where the tokens' bytes are the text's, be it after a space put before it, and in "
            "characters that a normaliser leaves as they are. In one that it rewrites, a cut falls on a byte "
            "of the text it was made from, where that has bytes enough; else it is not seen."
        ),
        compute=lambda t: t.cut_chars / t.boundaries,
        needs=("boundaries", "aligned_documents"),
    ),
    _of_text(
        name="cut_graphemes",
        unit="share of boundaries",
        better="lower",
        summary="Share of the boundaries between tokens that fall inside a grapheme cluster (UAX #29).",
        formula=r"\frac{|B \cap \text{inside graphemes}|}{|B|}",
        caveat="A vowel sign or an accent cut from its letter is not what a reader calls a character.",
        compute=lambda t: t.cut_graphemes / t.boundaries,
        needs=("boundaries", "aligned_documents"),
    ),
    _agreement(
        name="digit_alignment",
        summary="How well boundaries inside numbers agree with groups of three digits counted from the right.",
        source=_SINGH,
        caveat=(
            "G holds the places with 3, 6, … digits to their right, in runs of decimal digits; numbers of up "
            "to three digits have none, and every boundary inside them counts against, as does one inside the "
            "bytes of a digit. Runs of four digits from 1000 to 2099, which may be years, are left out."
        ),
        compute=lambda t: f1(t.digit_hits, t.digit_cuts, t.digit_reach),
        needs=("numbers", "digit_reach", "aligned_numbers"),
        group="structure",
    ),
    _of_text(
        name="whole_numbers",
        unit="share of numbers",
        better="none",
        summary="Share of runs of digits that one token covers.",
        formula=r"\frac{|\{n : |t(n)| = 1\}|}{|N|}",
        source=_SINGH,
        caveat="High where years and prices are tokens of their own: shorter, but harder arithmetic.",
        compute=lambda t: t.whole_numbers / t.aligned_numbers,
        needs=("numbers", "aligned_numbers"),
    ),
    _of_code(
        name="whole_operators",
        unit="share of operators",
        better="higher",
        summary="Share of operators of two or more characters (==, ->, +=, …) that one token covers.",
        formula=r"\frac{|\{o : |t(o)| = 1\}|}{|O|}",
        caveat=f"{_CODE} Operators in comments and strings are left out.",
        compute=lambda t: t.whole_operators / t.aligned_operators,
        needs=("code", "operators", "aligned_operators"),
    ),
    _of_code(
        name="indentation_tokens",
        unit="tokens/indented line",
        better="lower",
        summary="Tokens that touch the indentation of a line, averaged over indented lines.",
        formula=r"\frac{\sum_l |t(\mathrm{indent}(l))|}{|L|}",
        caveat=f"{_CODE} A token that also holds the line feed before counts.",
        compute=lambda t: t.indent_tokens / t.aligned_indents,
        needs=("code", "indents", "aligned_indents"),
    ),
    _of_code(
        name="identifier_fragmentation",
        unit="tokens/identifier",
        better="lower",
        summary="Tokens that touch an identifier, on average.",
        formula=r"\frac{\sum_i |t(i)|}{|I|}",
        caveat=f"{_CODE} Keywords and names alike; comments and strings are not set apart.",
        compute=lambda t: t.identifier_tokens / t.aligned_identifiers,
        needs=("code", "identifiers", "aligned_identifiers"),
    ),
    _agreement(
        name="identifier_alignment",
        summary="How well boundaries inside identifiers agree with their camelCase and snake_case parts.",
        caveat=(
            f"{_CODE} Parts begin at a capital after anything but a capital, at the last of several capitals "
            "before a small letter (HTTP|Server), and at either side of a run of underscores."
        ),
        compute=lambda t: f1(t.identifier_hits, t.identifier_cuts, t.identifier_reach),
        needs=("code", "identifiers", "identifier_reach", "aligned_identifiers"),
        group="code",
    ),
    _parsed(
        name="syntax_alignment",
        unit="F1",
        summary="How well token boundaries agree with those of the language's own parser (tree-sitter).",
        formula=r"\frac{2\,|\{g : B \cap g \neq \emptyset\}|}{|B| + |G|}",
        caveat=(
            f"{_CODE} One boundary anywhere in the white space between two of the parser's tokens is right. "
            "Needs the packages tree-sitter and tree-sitter-LANGUAGE."
        ),
        compute=lambda t: f1(t.syntax_hits, t.syntax_cuts, t.syntax_reach),
        needs=("code", "parsed_documents", "syntax_reach", "syntax_cuts"),
    ),
    _parsed(
        name="syntax_recall",
        unit="share of boundaries",
        summary="Share of the gaps between the parser's tokens in which a token boundary falls.",
        formula=r"\frac{|\{g : B \cap g \neq \emptyset\}|}{|G|}",
        caveat=f"{_CODE} Single bytes as tokens reach 1.",
        compute=lambda t: t.syntax_hits / t.syntax_reach,
        needs=("code", "parsed_documents", "syntax_reach"),
    ),
)
