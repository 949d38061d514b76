r"""Regular expressions of other libraries, executed by `regex` with the same meaning.

Which characters a class holds follows Unicode 16.0 in every case (see `kernels.unicode_classes`); what else has
another meaning there is rewritten by `translating`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tokbench.errors import TokenizerError
from tokbench.kernels.copies import cached_property
from tokbench.kernels.unicode_classes import has_moved
from tokbench_subword.pipeline.translating import Dialect, Translator

_SECONDS, _CHARACTERS_A_SECOND = 5.0, 10_000
"""CPU time for a text: ordinary patterns need a hundredth; those that try every way of a split never end."""


@dataclass(frozen=True)
class Regex:
    """A compiled pattern of some dialect, with the source it came from."""

    source: str
    dialect: Dialect
    compiled: Any

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        r"""(start, end) of each match, in code points of `text`; an empty one never where one has just ended.

        Some patterns only look around: ``(?=(\d{3})+(?!\d))`` cuts numbers in threes from the right. Raises
        `TokenizerError` for one that backtracks for seconds (`tokenizers` finds no match then).
        """
        moved = not text.isascii() and has_moved().search(text) is not None
        compiled = self.exact if moved else self.compiled
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
            # `regex` would look again where it found an empty match; the others go on behind it
            at = max(last, 0)
            while at <= len(text) and (match := compiled.search(text, at, timeout=seconds)) is not None:
                start, end = match.span()
                if end > start or end != last:
                    yield start, end
                    last = end
                at = end + (end == start)
        except TimeoutError as error:
            raise TokenizerError(
                f"the pattern {self.source[:200]!r} tries so many ways on a text of {len(text):,} characters, "
                f"{text[max(last, 0) :][:40]!r} …, that it was given up after {seconds:.0f} s"
            ) from error

    def split(self, text: str, behavior: str, invert: bool) -> list[tuple[int, int]]:
        """(start, end) of the pieces that the pre-tokenizer `Split` makes of a text at the matches."""
        found: list[tuple[int, int, bool]] = []
        done = 0
        for start, end in self.spans(text):
            if start > done:
                found.append((done, start, invert))
            found.append((start, end, not invert))
            done = end
        if done < len(text):
            found.append((done, len(text), invert))
        return [(start, end) for start, end in _arranged(found, behavior) if end > start]

    @cached_property
    def exact(self) -> Any:
        """The pattern with the classes of Unicode 16.0 spelled out where `regex` has others; slower."""
        return _compiled(self.source, self.dialect, exact=True)


def _arranged(found: list[tuple[int, int, bool]], behavior: str) -> list[tuple[int, int]]:
    """What becomes of matches and of the gaps between them."""
    if behavior == "Removed":
        return [(start, end) for start, end, match in found if not match]
    if behavior == "Isolated":
        return [(start, end) for start, end, _ in found]
    contiguous, backwards = behavior == "Contiguous", behavior == "MergedWithNext"
    pieces: list[tuple[int, int]] = []
    before = False
    for start, end, match in reversed(found) if backwards else found:
        if pieces and (match == before if contiguous else match and not before):
            first, last = pieces.pop()
            start, end = min(start, first), max(end, last)
        pieces.append((start, end))
        before = match
    return pieces[::-1] if backwards else pieces


@lru_cache(maxsize=256)
def compile_regex(source: str, dialect: Dialect = "regex") -> Regex:
    r"""`source`, written in `dialect`, ready to run; raises `TokenizerError` for what cannot be run here.

    Example:
        >>> list(compile_regex(r"\p{N}{1,3}+", "oniguruma").spans("1234567"))
        [(0, 7)]
        >>> list(compile_regex(r"\p{N}{1,3}+", "rust").spans("1234567"))
        [(0, 3), (3, 6), (6, 7)]
    """
    return Regex(source, dialect, _compiled(source, dialect, exact=False))


def _compiled(source: str, dialect: Dialect, *, exact: bool) -> Any:
    import regex

    as_it_is = dialect == "regex" and not exact
    try:
        translated = source if as_it_is else Translator(source, dialect, exact).run()
        return regex.compile(translated, regex.VERSION0 if as_it_is else regex.VERSION1)
    except regex.error as error:
        raise TokenizerError(
            f"the pattern {source[:200]!r} is not a regular expression that can be run here: {error}"
        ) from error
    except RecursionError as error:
        raise TokenizerError(f"the pattern {source[:40]!r} … nests deeper than can be read") from error
