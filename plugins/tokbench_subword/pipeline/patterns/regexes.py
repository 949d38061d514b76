r"""Runs regular expressions of other libraries with `regex`, with the same meaning.

Syntax that has another meaning in `regex` is translated (`parsing`, `writing`). The characters of a class are
always those of Unicode 16.0 (see `kernels.unicode_classes`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tokbench.errors import TokenizerError
from tokbench.kernels.copies import cached_property
from tokbench.kernels.unicode_classes import exact_class, has_moved
from tokbench_subword.pipeline.patterns.behaviors import GAP, MATCH, Rules

if TYPE_CHECKING:
    from tokbench_subword.pipeline.patterns.class_names import Dialect

_PROPERTY = re.compile(r"\\[pP]\{[^}]*\}")
_SECONDS, _CHARACTERS_A_SECOND = 5.0, 10_000
"""Limits of CPU time for a text: ordinary patterns need a hundredth; some patterns backtrack exponentially."""


@dataclass(frozen=True)
class Regex:
    """A pattern of some dialect, with its translation for `regex`.

    It is compiled when it first cuts a text, since kernels have their own form of most patterns.
    """

    source: str
    dialect: Dialect
    expression: str

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        r"""(start, end) of each match, in code points of `text`; no empty match right after another match.

        Matches may be empty: ``(?=(\d{3})+(?!\d))`` cuts numbers in threes from the right. Raises
        `TokenizerError` if a pattern backtracks for seconds (`tokenizers` then finds no match).
        """
        moved = not text.isascii() and has_moved().search(text) is not None
        compiled = self._exact if moved else self._usual
        seconds = _SECONDS + len(text) / _CHARACTERS_A_SECOND
        last = -1
        try:
            for match in compiled.finditer(text, timeout=seconds):
                start, end = match.span()
                if end == start:
                    break
                yield start, end
                last = end
            else:
                return
            # `regex` would search again at the place of an empty match; the other libraries go on after it
            at = max(last, 0)
            while at <= len(text) and (match := compiled.search(text, at, timeout=seconds)) is not None:
                start, end = match.span()
                if end > start or end != last:
                    yield start, end
                    last = end
                at = end + (end == start)
        except TimeoutError as error:
            raise TokenizerError(
                f"the pattern {self.source[:200]!r} backtracks too much on a text of {len(text):,} characters, "
                f"{text[max(last, 0) :][:40]!r} …: stopped after {seconds:.0f} s"
            ) from error

    def split(self, text: str, rules: Rules) -> list[tuple[int, int]]:
        """(start, end) of the pieces that the pre-tokenizer `Split` makes of a text at the matches."""
        found: list[tuple[int, int, int]] = []
        done = 0
        for start, end in self.spans(text):
            if start > done:
                found.append((done, start, GAP))
            found.append((start, end, MATCH))
            done = end
        if done < len(text):
            found.append((done, len(text), GAP))
        pieces: list[tuple[int, int]] = []
        kept, before = (rules.keeps_gaps, rules.keeps_matches), -1
        for start, end, kind in found:
            joined = pieces and (before, kind) not in rules.apart  # if any are joined, all are kept
            if kept[kind]:
                pieces.append((pieces.pop()[0] if joined else start, end))
            before = kind
        return [(start, end) for start, end in pieces if end > start]

    @cached_property
    def _usual(self) -> Any:
        return self._compiled(self.expression)

    @cached_property
    def _exact(self) -> Any:
        """The pattern with classes that differ in `regex` written out as in Unicode 16.0; slower."""
        return self._compiled(_PROPERTY.sub(lambda found: exact_class(found[0]), self.expression))

    def _compiled(self, expression: str) -> Any:
        import regex

        try:
            return regex.compile(expression, regex.VERSION1)
        except regex.error as error:
            raise TokenizerError(
                f"the pattern {self.source[:200]!r} is not a regular expression that can be run here: {error}"
            ) from error


@lru_cache(maxsize=256)
def compile_regex(source: str, dialect: Dialect = "rust") -> Regex:
    r"""The expression `source` in `dialect`, ready to run; raises `TokenizerError` if it cannot be run here.

    Example:
        >>> list(compile_regex(r"\p{N}{1,3}+", "oniguruma").spans("1234567"))
        [(0, 7)]
        >>> list(compile_regex(r"\p{N}{1,3}+", "rust").spans("1234567"))
        [(0, 3), (3, 6), (6, 7)]
    """
    from tokbench_subword.pipeline.patterns.parsing import read
    from tokbench_subword.pipeline.patterns.writing import written

    return Regex(source, dialect, written(read(source, dialect)))
