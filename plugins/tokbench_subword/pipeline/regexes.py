r"""Regular expressions of other libraries, executed by `regex` with the same meaning.

`tokenizers` hands patterns to Oniguruma (Ruby syntax), tiktoken to Rust's fancy-regex, and we to `regex`. Most
of what vocabularies use is written and means the same in all three. What differs is translated:

| written | Oniguruma | Rust | here |
|---|---|---|---|
| ``a{1,3}+`` | repeated ``a{1,3}`` | possessive | ``(?:a{1,3})+`` or possessive |
| ``$`` | end of any line | end of text | ``(?=\n\|\Z)`` or ``\Z`` |
| ``^`` | beginning of any line, but not the end | beginning of text | ``(?<=\n)(?!\Z)\|\A`` or ``\A`` |
| ``\Z``, ``\z`` | end or last newline, end | –, end | ``(?=\n?\Z)``, ``\Z`` |
| ``\h`` | hexadecimal digit | – | ``[0-9a-fA-F]`` |
| ``\w`` | letters, marks, ``\p{Nd}``, connectors and ² ³ ¹ ¼ ½ ¾ | those and the two joiners | by dialect |

and what cannot be is refused by name rather than guessed. Which characters a class holds follows Unicode 16.0
in every case (see `kernels.unicode_classes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from tokbench.errors import TokenizerError
from tokbench.kernels.copies import cached_property
from tokbench.kernels.unicode_classes import has_moved, moved, ranges

Dialect = Literal["oniguruma", "rust", "regex"]

_WORD = {
    "oniguruma": r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}",
    "rust": r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200C\u200D",
    "regex": r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200C\u200D",
}
_LATIN_1_WORD = {"oniguruma": "²³¹¼½¾", "rust": "", "regex": ""}  # words outside brackets, not inside them
_SECONDS, _CHARACTERS_A_SECOND = 5.0, 10_000
"""CPU time for a text: ordinary patterns need a hundredth; those that try every way of a split never end."""
_REFUSED = {"g": "subexpression call", "K": "keep", "R": "line break", "X": "grapheme"}


def quoted(text: str) -> str:
    r"""An expression of any dialect that matches `text` and nothing else.

    Example:
        >>> print(quoted("a.b"))
        a\.b
    """
    return "".join(f"\\{one}" if one in r"\.^$*+?{}[]|()-#&~" else one for one in text)


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
            at = max(
                last, 0
            )  # `regex` would look again where it found an empty match; the others go on behind it
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

    @cached_property
    def exact(self) -> Any:
        """The pattern with the classes of Unicode 16.0 spelled out where `regex` has others; slower."""
        return _compiled(self.source, self.dialect, exact=True)


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
        raise TokenizerError(f"the pattern {source[:200]!r} is not a regular expression: {error}") from error
    except RecursionError as error:
        raise TokenizerError(f"the pattern {source[:40]!r} … nests deeper than can be read") from error


def exact_class(text: str) -> str:
    r"""``\p{X}`` as a set in which characters that have moved since 16.0 are where they were."""
    name = text[3:-1].lstrip("^").replace("gc=", "")
    inverted = (text[1] == "P") != text[3:-1].startswith("^")
    members = {point for point, category in moved().items() if category.startswith(name)}
    strangers = {point for point, category in moved().items() if not category.startswith(name)}
    if len(name) > 2:  # a script or the like: what was unassigned in 16.0 had none
        strangers = {point for point, category in moved().items() if category == "Cn"}
        members = set()
    inside = f"\\p{{{name}}}"
    if strangers:
        inside = f"[{inside}--[{ranges(strangers)}]]"
    inside += ranges(members)
    return f"[^{inside}]" if inverted else f"[{inside}]"


class Translator:
    """One pass over a pattern: atoms are copied, what means something else in `regex` is rewritten."""

    def __init__(self, source: str, dialect: Dialect, exact: bool) -> None:
        self.source = source
        self.exact = exact
        self.dialect = dialect
        self.at = 0
        self.out: list[str] = []
        self.open: list[int] = []  # where in `out` each open group begins

    def run(self) -> str:
        """The pattern rewritten; raises `TokenizerError` for what cannot be."""
        rules: dict[str, Callable[[], str]] = {
            "\\": lambda: self._escape(in_class=False),
            "[": self._class,
            "^": lambda: self._plain(r"(?:(?<=\n)(?!\Z)|\A)" if self.dialect == "oniguruma" else r"\A"),
            "$": lambda: self._plain(r"(?=\n|\Z)" if self.dialect == "oniguruma" else r"\Z"),
        }
        while self.at < len(self.source):
            here = self.source[self.at]
            if here == "(":
                self._group()
                continue
            if here == ")":
                self.at += 1
                if not self.open:
                    raise TokenizerError(f"the pattern {self.source[:200]!r} closes a group it did not open")
                start = self.open.pop()
                atom = "".join(self.out[start:]) + ")"
                del self.out[start:]
            elif here == "|":
                self.at += 1
                self.out.append("|")
                continue
            else:
                atom = rules.get(here, lambda: self._plain(self.source[self.at]))()
            self.out.append(self._quantified(atom))
        return "".join(self.out)

    def _plain(self, text: str) -> str:
        self.at += 1
        return text

    def _group(self) -> None:
        """Copy what opens a group; flags mean different things in Ruby's syntax."""
        head = "("
        self.at += 1
        if self.source.startswith("?", self.at):
            end = self.at + 1
            while end < len(self.source) and self.source[end] not in ":=!>)<(":
                end += 1
            if self.source.startswith("<", end) and self.source[end + 1 : end + 2] in ("=", "!"):
                end += 1
            elif self.source.startswith("<", end) or self.source.startswith("?#", self.at):
                raise self._refused("a named group or a comment")
            flags = self.source[self.at + 1 : end].replace("-", "")
            if self.dialect == "oniguruma" and set(flags) - {"i"} and self.source[end] in ":)":
                raise self._refused(f"the flags {flags!r}")
            head += self.source[self.at : end + 1]
            self.at = end + 1
            if head.endswith(")"):  # "(?i)": flags for the rest
                self.out.append(head)
                return
        self.open.append(len(self.out))
        self.out.append(head)

    def _class(self) -> str:
        """Copy a bracket expression, translating the escapes and POSIX names in it."""
        parts = ["["]
        self.at += 1
        if self.source.startswith("^", self.at):
            parts.append(self._plain("^"))
        if self.source.startswith("]", self.at):
            parts.append(self._plain(r"\]"))
        while not self.source.startswith("]", self.at):
            if self.at >= len(self.source):
                raise TokenizerError(f"the pattern {self.source[:200]!r} has an unclosed bracket")
            here = self.source[self.at]
            if self.source.startswith("[:", self.at):
                raise self._refused("a POSIX class")
            if here == "\\":
                parts.append(self._escape(in_class=True))
            elif here == "[":
                parts.append(self._class())
            elif here in "-~|" and self.source.startswith(here * 2, self.at):  # set operators of regex alone
                parts.append("\\" + self._plain(here))
            else:
                parts.append(self._plain(here))
        parts.append(self._plain("]"))
        return "".join(parts)

    def _escape(self, *, in_class: bool) -> str:
        letter = self.source[self.at + 1 : self.at + 2]
        if letter in ("p", "P") and self.source.startswith("{", self.at + 2):
            end = self.source.find("}", self.at)
            text = self.source[self.at : end + 1]
            self.at = end + 1
            return exact_class(text) if self.exact else text
        if letter in ("x", "u") and self.source.startswith("{", self.at + 2):
            end = self.source.find("}", self.at)
            text = f"\\U{int(self.source[self.at + 3 : end], 16):08X}"
            self.at = end + 1
            return text
        if (letter in _REFUSED and self.dialect != "regex") or letter.isdigit():
            raise self._refused(f"\\{letter} ({_REFUSED.get(letter, 'back-reference')})")
        if letter in "bB" and not in_class:
            return self._boundary(letter)
        self.at += 2
        if letter in "dD" and self.exact:
            return exact_class("\\p{Nd}" if letter == "d" else "\\P{Nd}")
        if letter in "wW":
            members = self._word() + ("" if in_class else _LATIN_1_WORD[self.dialect])
            if letter == "W":
                return f"[^{members}]"
            return members if in_class else f"[{members}]"
        if letter in "hH" and self.dialect == "oniguruma":
            return "[0-9a-fA-F]" if letter == "h" else "[^0-9a-fA-F]"
        if letter == "Z" and self.dialect == "oniguruma":
            return r"(?=\n?\Z)"
        if letter == "z":
            return r"\Z"
        if letter == "X" and self.dialect == "regex":
            return r"\X"
        return "\\" + letter

    def _word(self) -> str:
        """The inside of a bracket expression of word characters."""
        if not self.exact:
            return _WORD[self.dialect]
        joiners = "" if self.dialect == "oniguruma" else r"\u200C\u200D"
        return "".join(map(exact_class, (r"\p{Alphabetic}", r"\p{M}", r"\p{Nd}", r"\p{Pc}"))) + joiners

    def _boundary(self, letter: str) -> str:
        self.at += 2
        word = f"[{self._word()}{_LATIN_1_WORD[self.dialect]}]"
        edge = f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
        return edge if letter == "b" else f"(?!{edge})"

    def _quantified(self, atom: str) -> str:
        """`atom` with the quantifiers that follow it."""
        first = True
        while self.at < len(self.source):
            here = self.source[self.at]
            if here in "*+?":
                mark = self._plain(here)
            elif here == "{" and (end := self._interval()) > 0:
                mark = self.source[self.at : end]
                self.at = end
                if first and self.dialect == "oniguruma" and self.source.startswith("+", self.at):
                    atom, first = f"(?:{atom}{mark})", True  # the + repeats the interval
                    continue
            else:
                break
            if self.source[self.at : self.at + 1] in ("?", "+"):
                mark += self._plain(self.source[self.at])
            atom, first = atom + mark, False
        return atom

    def _interval(self) -> int:
        """The end of ``{n}``, ``{n,}``, ``{,m}`` or ``{n,m}`` from here, or 0 where it is a brace."""
        end = self.source.find("}", self.at)
        body = self.source[self.at + 1 : end].split(",") if end > 0 else []
        fits = 1 <= len(body) <= 2 and all(not part or part.isdigit() for part in body) and any(body)
        return end + 1 if fits else 0

    def _refused(self, what: str) -> TokenizerError:
        return TokenizerError(
            f"the pattern {self.source[:200]!r} uses {what}, which this plugin does not translate; "
            f"load the tokenizer with the `transformers` family instead"
        )
