"""Finds what metrics of code ask for beside words: identifiers, operators, indentation, a parser's tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.tally.characters import UNSPACED_SCRIPTS
from tokbench.tally.counters import CorpusFacts
from tokbench.tally.grammar import leaf_gaps, parser_of
from tokbench.tally.text import Flags, InnerCuts, Spans, TextBatch

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Bytes


_INDENT = re.compile(rb"(?m)^[ \t]+(?=\S)")


def with_code(batch: TextBatch, facts: CorpusFacts) -> TextBatch:
    """`batch` with the structure of code found and counted."""
    joined = batch.data.tobytes()
    spans = {
        "identifiers": _spans(_identifiers(joined), batch),
        # by document: an unclosed comment ends with its own
        "operators": _spans(_each(batch, joined, lambda text: operators(text, facts.language)), batch),
        "indents": _spans((match.span() for match in _INDENT.finditer(joined)), batch),
    }
    cuts = identifier_cuts(batch.data, spans["identifiers"])
    counts = {name: found.counts for name, found in spans.items()}
    counts["identifier_gold"] = np.bincount(cuts.document[cuts.gold], minlength=len(batch))
    syntax = None
    parser = parser_of(facts.language)
    if parser is not None:
        syntax = _spans(_each(batch, joined, lambda text: leaf_gaps(parser, text)), batch)
        counts["parsed_documents"] = np.ones(len(batch), np.int64)
        counts["syntax_gold"] = syntax.counts
    return replace(
        batch,
        counts={**batch.counts, **counts},
        spans={**batch.spans, **spans},
        cuts={**batch.cuts, "identifier": cuts},
        syntax=syntax,
    )


def _spans(pairs: Iterable[tuple[int, int]], batch: TextBatch) -> Spans:
    """Pairs in ascending order as spans."""
    start, end = np.array(list(pairs), np.int64).reshape(-1, 2).T
    return Spans(start, end, np.append(np.searchsorted(start, batch.starts), len(start)))


def _each(
    batch: TextBatch, joined: bytes, find: Callable[[bytes], Iterable[tuple[int, int]]]
) -> Iterator[tuple[int, int]]:
    """What `find` finds in each document by itself, from the first byte of the batch on."""
    for start, end in zip(batch.starts.tolist(), batch.ends.tolist(), strict=True):
        for first, last in find(joined[start:end]):
            yield start + first, start + last


@cache
def _identifier() -> Any:
    """Names as UAX #31 has them, but for scripts without spaces: those are prose, of comments and strings."""
    import regex

    return regex.compile(rf"(?<!\p{{XIDC}})(?!\p{{XIDC}}*[{UNSPACED_SCRIPTS}])[\p{{XIDS}}_]\p{{XIDC}}*+")


def _identifiers(joined: bytes) -> Iterable[tuple[int, int]]:
    """Where each identifier begins and ends, in bytes."""
    text = joined.decode("utf-8", "surrogatepass")
    found = [match.span() for match in _identifier().finditer(text)]
    if len(text) == len(joined):
        return found
    first_bytes = np.flatnonzero((np.frombuffer(joined, np.uint8) & 0xC0) != 0x80)
    places = np.append(first_bytes, len(joined))[np.array(found, np.int64).reshape(-1, 2)]
    return list(map(tuple, places.tolist()))


def identifier_cuts(data: Bytes, identifiers: Spans) -> InnerCuts:
    """Every place inside an identifier, with whether one of its parts begins there.

    Parts begin at a capital after anything but a capital, at the last of several capitals before a small letter
    (HTTP|Server), and at either side of a run of underscores.
    """
    lengths = identifiers.end - identifiers.start
    inner = (lengths - 1).clip(0)
    first = np.cumsum(inner) - inner
    at = np.arange(inner.sum()) - np.repeat(first - identifiers.start - 1, inner)
    upper, lower = _cases(data)
    width = 1 + (data[at] >= 0xC0).astype(np.int64) + (data[at] >= 0xE0) + (data[at] >= 0xF0)
    last = np.repeat(identifiers.end, inner)
    before_small = (at + width < last) & lower[np.minimum(at + width, len(data) - 1)]
    underscore = (data[at - 1] == ord("_")) != (data[at] == ord("_"))
    capital = upper[at] & (~upper[at - 1] | before_small)
    begins = (data[at] & 0xC0) != 0x80
    return InnerCuts(at, np.repeat(identifiers.document, inner), begins & (underscore | capital))


def _cases(data: Bytes) -> tuple[Flags, Flags]:
    """Of each byte of a text, whether its character is a capital, and whether it is a small letter."""
    upper = (data >= ord("A")) & (data <= ord("Z"))
    lower = (data >= ord("a")) & (data <= ord("z"))
    if (data < 0x80).all():
        return upper, lower
    text = data.tobytes().decode("utf-8", "surrogatepass")
    of_character = np.cumsum((data & 0xC0) != 0x80) - 1
    for flags, is_case in ((upper, str.isupper), (lower, str.islower)):
        flags[:] = np.fromiter(map(is_case, text), np.bool_, len(text))[of_character]
    return upper, lower


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
    ("/*", "*/"): (
        "c cpp csharp css dart go java javascript kotlin objectivec php rust scala sql swift typescript"
    ),
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
"""A character literal, in languages where a single quote has other uses too."""


def operators(code: bytes, language: str | None) -> Iterator[tuple[int, int]]:
    """Where each operator of two characters or more begins and ends, outside of comments and strings.

    ``//`` is a comment in C and a division in Python, ``--`` a comment in SQL and a decrement in C. So what
    begins a comment or a string, to be passed over, depends on the language. Where that is not known, what
    begins a comment in some language is no operator.

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
    """Comments and strings, to be passed over, then operators: where several match, the first one counts."""
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
