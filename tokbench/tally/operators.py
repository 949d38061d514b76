"""The operators of code, for the metric `whole_operators`: those of two characters or more, by language.

``//`` is a comment in C and a division in Python, ``--`` a comment in SQL and a decrement in C. So what begins
a comment or a string is told by language, and both are passed over. Where the language is not known, what would
be a comment in some language is no operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain

_EVERYWHERE = frozenset({
    ">>>=", "<<=", ">>=", ">>>", "===", "!==", "**=", "//=", "&&=", "||=", "??=", "...", "<=>", "->", "=>",
    "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
    "<<", ">>", "::", ":=", "**", "//", "..", "|>",
})  # fmt: skip
_NOWHERE = frozenset({"css", "html", "json", "markdown", "tex", "toml", "xml", "yaml"})
"""Languages without operators of several characters, whatever their text has."""
_ARROWS = frozenset({"elixir", "erlang", "fsharp", "go", "haskell", "julia", "ocaml", "r", "scala"})
"""Languages with ``<-``; elsewhere it is a comparison with something negative."""

_LINE_COMMENTS = {
    "//": "c cpp csharp dart fsharp go java javascript kotlin objectivec php rust scala swift typescript zig",
    "#": "elixir julia makefile perl php powershell python r ruby shell",
    "--": "ada elm haskell lua sql",
    ";": "assembly clojure lisp scheme",
    "%": "erlang matlab prolog",
    "!": "fortran",
}
_BLOCK_COMMENTS = {
    (
        "/*",
        "*/",
    ): "c cpp csharp css dart go java javascript kotlin objectivec php rust scala sql swift typescript",
    ("--[[", "]]"): "lua",
    ("{-", "-}"): "elm haskell",
    ("(*", "*)"): "fsharp ocaml",
    ("#=", "=#"): "julia",
}
_QUOTES = {
    '"': "ada assembly c clojure cpp csharp dart elixir elm erlang fortran fsharp go haskell java javascript "
    "julia kotlin lisp lua matlab objectivec ocaml perl php powershell python r ruby rust scala scheme shell "
    "sql swift typescript zig",
    "'": "dart fortran javascript lua matlab perl php powershell python r ruby shell sql typescript",
    "`": "go javascript typescript",
}
_LONG_QUOTES = '"""', "'''"
_WITH_LONG_QUOTES = frozenset({"dart", "elixir", "julia", "kotlin", "python", "scala", "swift"})
_LETTER_IN_QUOTES = r"'(?:\\[^\n]{1,8}?|[^\\'\n])'"
"""A character, in languages where a single quote is other things too."""


def operators(code: bytes, language: str | None) -> Iterator[tuple[int, int]]:
    """Where each operator of two characters or more begins and ends, outside of comments and strings.

    Example:
        >>> text = b"a += b // c  # -> d"
        >>> [text[start:end] for start, end in operators(text, "python")]
        [b'+=', b'//']
        >>> [text[start:end] for start, end in operators(text, "go")]
        [b'+=']
    """
    language = (language or "").lower()
    if language in _NOWHERE:
        return
    for match in _pattern(language).finditer(code):
        if match.lastgroup == "operator":
            yield match.span()


@cache
def _pattern(language: str) -> re.Pattern[bytes]:
    """What is passed over, before operators: of all that begin in one place, the first counts."""
    lines = [mark for mark, names in _LINE_COMMENTS.items() if language in names.split()]
    blocks = [marks for marks, names in _BLOCK_COMMENTS.items() if language in names.split()]
    quotes = [mark for mark, names in _QUOTES.items() if language in names.split()]
    passed = [f"{re.escape(begin)}.*?(?:{re.escape(end)}|\\Z)" for begin, end in blocks]
    passed += [f"{re.escape(mark)}[^\n]*" for mark in lines]
    if language in _WITH_LONG_QUOTES:
        passed += [f"{mark}(?:\\\\.|.)*?(?:{mark}|\\Z)" for mark in _LONG_QUOTES]
    for mark in quotes:
        within = r"[^`\\]" if mark == "`" else rf"[^{mark}\\\n]"
        passed.append(rf"{mark}(?:\\.|{within})*{mark}")
    if quotes and "'" not in quotes:
        passed.append(_LETTER_IN_QUOTES)
    known = _EVERYWHERE - set(lines)
    if not lines and not blocks and not quotes:
        known -= _LINE_COMMENTS.keys()
    if language in _ARROWS:
        known |= {"<-", "<<-", "->>"} if language == "r" else {"<-"}
    longest_first = sorted(known, key=lambda each: (-len(each), each))
    parts = chain(
        (f"(?:{each})" for each in passed), [f"(?P<operator>{'|'.join(map(re.escape, longest_first))})"]
    )
    return re.compile("|".join(parts).encode(), re.DOTALL)
