r"""Patterns that cut text into pre-tokens: read, compiled, and run over UTF-8.

An expression is parsed to a tree (`parsing`, `set_parsing`) and simplified (`simplifying`). The tree becomes an
automaton (`automaton`, `lookarounds`), then the tables of a machine (`machine_building`, `composing`), with
which kernels cut (`cutting`, `simd_cutting`). An expression without an automaton is rewritten for `regex`
(`writing`, `regexes`) and cut in Python. A `cutters.Cutter` is one or the other. `behaviors` defines what
becomes of matches and of the gaps between them.

A `Pattern` cuts text before BPE: a name (gpt2, cl100k, o200k …) or any regular expression.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from tokbench.kernels.copies import Rebuilt, cached_property
from tokbench_subword.pipeline.patterns.regexes import compile_regex

if TYPE_CHECKING:
    from tokbench_subword.pipeline.patterns.class_names import Dialect
    from tokbench_subword.pipeline.patterns.cutters import Cutter

_GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
SUFFIXES = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
"""English contractions, which most published patterns cut off."""
_LLAMA3 = SUFFIXES + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
"""The letters of the first part of a word, and of its lower-case part, in o200k and similar patterns."""
_O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{SUFFIXES}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{SUFFIXES}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
CL100K_IN_RUBY = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s+\z|\s*[\r\n]|\s+(?!\S)|\s"
)
"""tiktoken's cl100k pattern, written for Oniguruma, where possessive intervals are not possessive."""
WHITESPACE = r"\s*\S+|\s+"
"""Each word with the white space before it; nothing is lost."""

NAMED: Mapping[str, str] = MappingProxyType(
    {
        "gpt2": _GPT2,
        "cl100k": _CL100K,
        "llama3": _LLAMA3,
        "qwen2": _LLAMA3.replace("{1,3}", ""),
        "o200k": _O200K,
        "whitespace": WHITESPACE,
    }
)
"""The expression of each name, in tiktoken's dialect. ``none`` has none: a text is one pre-token."""

_SPELLINGS = {
    # Other spellings of the same cuts, by dialect; a test checks that each equals the named one.
    "oniguruma": {CL100K_IN_RUBY if name == "cl100k" else source: name for name, source in NAMED.items()},
    "rust": {
        **{source: name for name, source in NAMED.items()},
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": "gpt2",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"
        r"|\s+(?!\S)|\s+": "llama3",
    },
}


@dataclass(frozen=True)
class Pattern(Rebuilt):
    r"""A way to cut text into pre-tokens.

    `name` is a name of `NAMED`, ``none``, or empty for an expression of one's own, given as `source` in
    `dialect`. With `keep_gaps`, text between matches is a pre-token of its own; otherwise it is dropped, as
    tiktoken does.

    Example:
        >>> Pattern.of("gpt2").pieces("Hello world's 12")
        ['Hello', ' world', "'s", ' 12']
        >>> Pattern.of(r"\d").pieces("a1b")
        ['a', '1', 'b']
    """

    name: str
    source: str = ""
    dialect: Dialect = "oniguruma"
    keep_gaps: bool = True

    @classmethod
    def of(cls, text: str, *, dialect: Dialect = "oniguruma", keep_gaps: bool = True) -> Pattern:
        """The pattern of a name, or of an expression in `dialect`; raises `TokenizerError` for a wrong one.

        An expression that equals a named pattern becomes that pattern.
        """
        if text in NAMED or text == "none":
            return cls(text)
        name = _SPELLINGS.get(dialect, {}).get(text, "")
        if name:
            return cls(name)
        compile_regex(text, dialect)
        return cls("", text, dialect, keep_gaps)

    def __str__(self) -> str:
        return self.name or self.source

    def as_rust(self) -> str:
        """The expression in tiktoken's dialect; empty if it is in another one."""
        if self.name:
            return {**NAMED, "none": r"(?s:.+)"}[self.name]
        return self.source if self.dialect == "rust" else ""

    @cached_property
    def cutters(self) -> tuple[Cutter, ...]:
        """The cutters that make these cuts in UTF-8; none for ``none``."""
        if self.name == "none":
            return ()
        from tokbench_subword.pipeline.patterns.cutters import cutter_of

        behavior = "Isolated" if self.keep_gaps else "Removed"
        dialect: Dialect = "rust" if self.name else self.dialect
        return (cutter_of(NAMED.get(self.name, self.source), dialect, behavior, not self.keep_gaps),)

    def pieces(self, text: str) -> list[str]:
        """The pre-tokens of `text`."""
        from tokbench.kernels.utf8 import encodable

        data = encodable(text)
        spans = self.cutters[0].spans(data).tolist() if self.cutters else [(0, len(data))][: len(data)]
        return [data[start:end].decode() for start, end in spans]
