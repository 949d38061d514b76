"""What a vocabulary contains: how much of it can be used, how much two share, and which scripts it has."""

from __future__ import annotations

from functools import partial
from typing import Any

from tokbench.errors import Undefined
from tokbench.metrics.measurement import ALL
from tokbench.metrics.metric import catalogued

_MAGIKARP = (
    "Land and Bartolo, Fishing for Magikarp: Automatically Detecting Under-trained Tokens in Large Language "
    "Models, EMNLP 2024"
)
_WHOLE = "It is of the whole vocabulary: nothing is estimated."


def _overlap(t: Any, base: Any) -> float:
    """Shared byte strings divided by all byte strings of two vocabularies."""
    from tokbench.inspection.overlap import jaccard

    ours, theirs = t.audit.byte_strings(), base.audit.byte_strings()
    if not ours | theirs:
        raise Undefined("both vocabularies are empty")
    return jaccard(ours, theirs)


def _script_share(t: Any) -> float:
    """Share of the tokens with letters that are in the script of the text's language."""
    from tokbench.languages import lookup, unicode_scripts

    if t.language == ALL:
        raise Undefined("a figure of single languages")
    known = lookup(t.language)
    if known is None:
        raise Undefined(f"the script of the language {t.language!r} is not known")
    lettered = {script: n for script, n in t.audit.scripts.items() if script[0].isupper()}
    if not lettered:
        raise Undefined("no token of the vocabulary has a letter")
    own = sum(lettered.get(script, 0) for script in unicode_scripts(known.script))
    return float(own / sum(lettered.values()))


_of_vocabulary = partial(catalogued, no_interval=_WHOLE, level="vocabulary", group="vocabulary")
"""A figure of the vocabulary, independent of the text."""
_audited = partial(_of_vocabulary, source=_MAGIKARP, needs=("audit",))

METRICS = (
    _of_vocabulary(
        "vocab_size", "ids", "none",
        "Number of ids that the tokenizer declares, special tokens included.",
        "V", lambda t: t.vocab_size,
        needs=("vocab_size",),
    ),
    _audited(
        "unreachable_tokens", "share of ids", "lower",
        "Share of ids that no text tried gives: neither a token's own text nor that text next to other text.",
        r"\frac{|\{i : \text{no tried } a, b \text{ gives } i \in "
        r"\mathrm{encode}(a\,\mathrm{decode}(i)\,b)\}|}{V}",
        lambda t: t.audit.share("UNREACHABLE"),
        caveat=(
            "Only ids whose text is whole UTF-8 and that are not special count. Tried are the text alone "
            "and with 135 pairs of neighbours, so some other text may still give the id. Land and Bartolo try "
            "the text alone, and count more."
        ),
    ),
    _audited(
        "undecodable_tokens", "share of ids", "none",
        "Share of ids whose bytes are not whole UTF-8 characters.",
        r"\frac{|\{i : \mathrm{bytes}(i) \text{ is not valid UTF-8}\}|}{V}",
        lambda t: t.audit.share("UNDECODABLE"),
        caveat="They include the single bytes of a byte-level vocabulary, which are needed.",
    ),
    _audited(
        "special_tokens", "share of ids", "none",
        "Share of ids that are special or control tokens.",
        r"\frac{|\mathrm{special}|}{V}", lambda t: t.audit.share("SPECIAL"),
    ),
    _of_vocabulary(
        "vocab_overlap", "ratio", "none",
        "Jaccard index of the byte strings of the tokens and those of the baseline.",
        r"\frac{|V_a \cap V_b|}{|V_a \cup V_b|}", _overlap,
        needs=("baseline", "audit"), source="Jaccard 1901",
        caveat="Vocabularies of different sizes cannot reach 1.",
    ),
    catalogued(
        "script_share", "share of tokens", "none",
        "Share of the vocabulary's tokens that are in the language's script.",
        r"\frac{|\{i : \mathrm{script}(i) = \mathrm{script}(\ell)\}|}{|\{i : i \text{ has letters}\}|}",
        _script_share,
        per_language=True, needs=("audit",), group="vocabulary",
        no_interval=_WHOLE,
        caveat="A token is in the script of most of its letters; tokens without letters are left out.",
    ),
)  # fmt: skip
