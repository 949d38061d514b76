"""What tokens do to the structure of text: characters, numbers, and code."""

from __future__ import annotations

from functools import partial
from typing import Any

from tokbench.metrics.metric import catalogued

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


_F1 = r"\frac{2\,|B \cap G|}{|B| + |G|}"

_of_text = partial(catalogued, group="structure")
_of_code = partial(catalogued, group="code")
_parsed = partial(_of_code, source="tree-sitter, https://tree-sitter.github.io")

METRICS = (
    _of_text(
        "split_characters", "share of tokens", "lower",
        "Share of tokens that are not whole UTF-8 characters.",
        r"\frac{|\{t : t \text{ is not valid UTF-8}\}|}{|T|}", lambda t: t.split_tokens / t.tokens,
        needs=("tokens",),
        caveat=(
            "Byte-level vocabularies split rare characters. If a tokenizer does not give the bytes of its "
            "tokens, those that decode to a replacement character are counted."
        ),
    ),
    _of_text(
        "cut_characters", "share of boundaries", "lower",
        "Share of the boundaries between tokens that fall inside a character's UTF-8.",
        r"\frac{|B \cap \text{inside characters}|}{|B|}", lambda t: t.cut_chars / t.boundaries,
        needs=("boundaries", "aligned_documents"),
        caveat=(
            "Exact if the bytes of the tokens are those of the text, perhaps after an added space, and in "
            "characters that a normalizer does not change. A cut in a rewritten character is placed on a byte "
            "of the text that it was made from; if that has too few bytes, it is missed."
        ),
    ),
    _of_text(
        "cut_graphemes", "share of boundaries", "lower",
        "Share of the boundaries between tokens that fall inside a grapheme cluster (UAX #29).",
        r"\frac{|B \cap \text{inside graphemes}|}{|B|}", lambda t: t.cut_graphemes / t.boundaries,
        needs=("boundaries", "aligned_documents"),
        caveat="A vowel sign or accent that is cut from its letter is not what a reader calls a character.",
    ),
    _of_text(
        "digit_alignment", "F1", "higher",
        "How well boundaries inside numbers agree with groups of three digits counted from the right.",
        _F1, lambda t: f1(t.digit_hits, t.digit_cuts, t.digit_reach),
        needs=("numbers", "digit_reach", "aligned_numbers"), source=_SINGH,
        caveat=(
            "G are the places with 3, 6, … digits to their right, in runs of decimal digits. Numbers of up to "
            "three digits have none, so that every boundary inside them is wrong, as is one inside the bytes "
            "of a digit. Runs of four digits from 1000 to 2099 are left out, because they may be years."
        ),
    ),
    _of_text(
        "whole_numbers", "share of numbers", "none",
        "Share of runs of digits that are covered by one token.",
        r"\frac{|\{n : |t(n)| = 1\}|}{|N|}", lambda t: t.whole_numbers / t.aligned_numbers,
        needs=("numbers", "aligned_numbers"), source=_SINGH,
        caveat="High if years and prices are tokens of their own: shorter, but arithmetic becomes harder.",
    ),
    _of_code(
        "whole_operators", "share of operators", "higher",
        "Share of operators of two or more characters (==, ->, +=, …) that are covered by one token.",
        r"\frac{|\{o : |t(o)| = 1\}|}{|O|}", lambda t: t.whole_operators / t.aligned_operators,
        needs=("code", "operators", "aligned_operators"),
        caveat=f"{_CODE} Operators in comments and strings are left out.",
    ),
    _of_code(
        "indentation_tokens", "tokens/indented line", "lower",
        "Average number of tokens that overlap the indentation of an indented line.",
        r"\frac{\sum_l |t(\mathrm{indent}(l))|}{|L|}", lambda t: t.indent_tokens / t.aligned_indents,
        needs=("code", "indents", "aligned_indents"),
        caveat=f"{_CODE} A token that also contains the line feed before it counts, too.",
    ),
    _of_code(
        "identifier_fragmentation", "tokens/identifier", "lower",
        "Average number of tokens that overlap an identifier.",
        r"\frac{\sum_i |t(i)|}{|I|}", lambda t: t.identifier_tokens / t.aligned_identifiers,
        needs=("code", "identifiers", "aligned_identifiers"),
        caveat=f"{_CODE} Keywords count as identifiers, and so do words in comments and strings.",
    ),
    _of_code(
        "identifier_alignment", "F1", "higher",
        "How well boundaries inside identifiers agree with their camelCase and snake_case parts.",
        _F1, lambda t: f1(t.identifier_hits, t.identifier_cuts, t.identifier_reach),
        needs=("code", "identifiers", "identifier_reach", "aligned_identifiers"),
        caveat=(
            f"{_CODE} A part begins at a capital that follows no capital, at the last of several capitals "
            "before a small letter (HTTP|Server), and on both sides of a run of underscores."
        ),
    ),
    _parsed(
        "syntax_alignment", "F1", "higher",
        "How well token boundaries agree with those of the language's own parser (tree-sitter).",
        r"\frac{2\,|\{g : B \cap g \neq \emptyset\}|}{|B| + |G|}",
        lambda t: f1(t.syntax_hits, t.syntax_cuts, t.syntax_reach),
        needs=("code", "parsed_documents", "syntax_reach", "syntax_cuts"),
        caveat=(
            f"{_CODE} One boundary anywhere in the white space between two tokens of the parser is right. "
            "Needs the packages tree-sitter and tree-sitter-LANGUAGE."
        ),
    ),
    _parsed(
        "syntax_recall", "share of boundaries", "higher",
        "Share of the gaps between the parser's tokens in which a token boundary falls.",
        r"\frac{|\{g : B \cap g \neq \emptyset\}|}{|G|}", lambda t: t.syntax_hits / t.syntax_reach,
        needs=("code", "parsed_documents", "syntax_reach"),
        caveat=f"{_CODE} A vocabulary of single bytes reaches 1.",
    ),
)  # fmt: skip
