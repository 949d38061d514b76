r"""Patterns of other libraries rewritten for `regex`, and those of Rust's for Oniguruma.

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

and what cannot be is refused by name rather than guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from tokbench.errors import TokenizerError
from tokbench.kernels.unicode_classes import moved, ranges

Dialect = Literal["oniguruma", "rust", "regex"]

_WORD = (r"\p{Alphabetic}", r"\p{M}", r"\p{Nd}", r"\p{Pc}")
_JOINERS = {"oniguruma": "", "rust": r"\u200C\u200D", "regex": r"\u200C\u200D"}
_LATIN_1_WORD = {"oniguruma": "²³¹¼½¾", "rust": "", "regex": ""}  # words outside brackets, not inside them
_REFUSED = {"g": "subexpression call", "K": "keep", "R": "line break", "X": "grapheme"}
_ANCHORS = {r"\A": r"\A", r"\Z": r"\z"}
"""Ends of the text as Oniguruma writes them."""


def quoted(text: str) -> str:
    r"""An expression of any dialect that matches `text` and nothing else.

    Example:
        >>> print(quoted("a.b"))
        a\.b
    """
    return "".join(f"\\{one}" if one in r"\.^$*+?{}[]|()-#&~" else one for one in text)


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
        return "".join(map(exact_class, _WORD) if self.exact else _WORD) + _JOINERS[self.dialect]

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


def in_ruby(source: str) -> str:
    r"""A pattern for tiktoken as `tokenizers`, which runs Oniguruma, must be told it.

    What means something else there is spelled out: a possessive ``{1,3}+`` becomes ``(?>…{1,3})``, ``^`` and
    ``$`` the ends of the text, ``\w`` and ``\b`` the characters that Rust counts as words. Raises
    `TokenizerError` where that cannot be.

    Example:
        >>> in_ruby(r"\p{N}{1,3}+|\S+$")
        '(?>\\p{N}{1,3})|\\S+\\z'
    """
    return _ToRuby(source, "rust", exact=False).run()


class _ToRuby(Translator):
    """The same pass as the one towards `regex`, with what Oniguruma does not share written out."""

    def _plain(self, text: str) -> str:
        return super()._plain(_ANCHORS.get(text, text))

    def _escape(self, *, in_class: bool) -> str:
        begin, letter = self.at, self.source[self.at + 1 : self.at + 2]
        translated = super()._escape(in_class=in_class)
        return translated if letter in "wWbB" else self.source[begin : self.at]

    def _quantified(self, atom: str) -> str:
        begin = self.at
        end = self._interval() if self.source.startswith("{", begin) else 0
        if end and self.source.startswith("+", end):
            self.at = end + 1
            return super()._quantified(f"(?>{atom}{self.source[begin:end]})")
        return super()._quantified(atom)

    def _group(self) -> None:
        begin = self.at
        super()._group()
        flags = (
            self.source[begin + 2 : self.at - 1].replace("-", "") if self.source.startswith("(?", begin) else ""
        )
        if flags.isalpha() and set(flags) - {"i"}:
            raise self._refused(f"the flags {flags!r}")
