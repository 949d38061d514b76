"""Patterns of all kinds, texts near to what they tell apart, and how texts are cut in tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from tokbench_subword.pipeline.patterns import CL100K_IN_RUBY, NAMED
from tokbench_subword.pipeline.patterns.cutters import Cutter
from tokbench_subword.pipeline.segments import Segments

from tokbench.kernels.text import utf8_of

PATTERNS = {
    **{name: (source, "rust") for name, source in NAMED.items()},
    "cl100k in Ruby": (CL100K_IN_RUBY, "oniguruma"),
    "clip": (
        r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
        "oniguruma",
    ),
    "punctuation first": (
        r"[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "oniguruma",
    ),
    "digits in threes": (r"\p{N}{1,3}", "oniguruma"),
    "digits in threes, greedily": (r"\p{N}{1,3}+", "oniguruma"),
    "digits in threes, nothing given back": (r"\p{N}{1,3}+", "rust"),
    "ideographs": (r"[一-龥\u3040-ゟ゠-ヿ]+", "oniguruma"),
    "a script": (r"\p{Han}+|\P{Han}", "rust"),
    "word boundaries": (r"\b\w+\b|[^\w\s]", "rust"),
    "words of Ruby": (r"\b\w+\b|[^\w\s]", "oniguruma"),
    "behind": (r"(?<=[a-z])[A-Z]+|(?<!\d)\d|[A-Z]", "rust"),
    "the ends of lines": (r"^[a-z]+|[0-9]$| ", "oniguruma"),
    "the ends of text": (r"^[a-z]+|[0-9]$| ", "rust"),
    "lazily": (r"a{1,2}?b|[a-z]{2,3}?|\n??\t", "rust"),
    "nested": (r"(?:(?:ab|a)(?:bc?|d)*|x{0,2}y)+", "rust"),
    "ignoring case": (r"(?i:traße|k+|[a-c]d|İ)", "rust"),
    "one character": (r",", "oniguruma"),
    "two characters": (r", |\n\n", "oniguruma"),
    "intersections": (r"[\w&&[^\d_]]+|[^\s&&[^\n]]", "rust"),
    "a match told late": (r"\s*[\r\n]|\s+(?!\S)|\s", "rust"),
    "edges of words": (r"\b", "oniguruma"),
    "humps": (r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=\D)|\s+", "oniguruma"),
    "spaces or nothing": (r"\s*", "oniguruma"),
    "rather nothing": (r"1??2|'*|[a-z]{2}", "rust"),
    "nothing before a long match": (r"|a", "oniguruma"),
    "atomic groups": (r"(?>'s|'t|'re| ?[a-z]+)S?|(?>\s+)(?!\S)|\s", "oniguruma"),
    "an atomic group that is not enough": (r"(?>1{1,3})1|(?>S1?)1", "oniguruma"),
    "threes from the right": (r"\d{1,3}(?=(?:\d{3})*\b)|\s+", "oniguruma"),
    "between threes from the right": (r"(?=(?:\d{3})+(?!\d))", "oniguruma"),
    "far behind": (r"(?<!aS|1)[^ ]+?(?<=S|a1)|(?<=\n[a-z]*) ", "rust"),
    "far ahead, and not": (r"[a-z](?!S| +\.)|\S+(?=\s*\n)|'(?=.*S)", "rust"),
    "far or nothing": (r"\w(?=S*$)|\s(?!(?:S|1)*$)", "rust"),
    "told late, if at all": (r"S[^1]*1|a", "oniguruma"),
    "lazily, to somewhere": (r"a.*?1|S*?\n| |S", "oniguruma"),
    "late or nothing": (r"(?:S[^\n]*\n)?|a", "oniguruma"),
    "late behind": (r"(?<!S)a[^1]*1|(?<=1)'+", "oniguruma"),
    "edges, repeated": (r"(?:\b)+.", "rust"),
    "nothing at last, repeated": (r"(?:a*S?)*1|(?:(?:'|1?){2,3} )+?\.?", "oniguruma"),
    "many apostrophes": (r"'(?:[sdmt]|ll|ve|re)|[^\s']+|'+|\s++$|\s", "rust"),
}
BEHAVIORS = ["Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"]

_NEAR = st.text("abcdtsRELVMKKk  '''0129.,(!_-/<|>\n\r\t\x0b\x1f\u00a0éßſЖя中ぁ\u0301“”😀٣İı", max_size=60)
TEXTS = _NEAR | st.text(max_size=30)


def cut(cutters: Sequence[Cutter], texts: list[str], changes: Sequence[Any] = ()) -> list[list[bytes]]:
    """The pieces of many texts, changed and cut in one call."""
    changed = Segments(*utf8_of(texts))
    for change in changes:
        changed = change(changed)
    units, before = changed.pieces(cutters)
    whole, before = changed.data.tobytes(), before[changed.limits]
    pieces = [whole[begin:end] for begin, end in units.tolist()]
    return [pieces[a:b] for a, b in zip(before[:-1].tolist(), before[1:].tolist(), strict=True)]
