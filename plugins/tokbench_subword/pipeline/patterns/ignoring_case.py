r"""Letters and sets in all their cases: the meaning of ``(?i)`` in Oniguruma and in Rust.

`regex` follows a later Unicode than these libraries, and treats i, İ and ı as one letter. Rust folds characters
one by one (Unicode's simple case folding). So does Oniguruma, but there a row of characters also matches a
character that folds to it, as ``ss`` matches ß: the longest such row from the left.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tokbench_subword.pipeline.patterns.point_sets import folded, of_text
from tokbench_subword.pipeline.patterns.tree import Either, Node, One, characters, in_order


@lru_cache(maxsize=1)
def _of_rows() -> Mapping[str, str]:
    """The characters that fold to several characters, by the row that they fold to."""
    found: dict[str, str] = {}
    for one in map(chr, (*range(0xD800), *range(0xE000, 0x10000))):
        if len(row := one.casefold()) > 1:
            found[row] = found.get(row, "") + one
    return found


@lru_cache(maxsize=1024)
def _cases(letter: str) -> str:
    """A character in all its cases."""
    return folded(of_text(letter)).text()


@lru_cache(maxsize=1024)
def has_cases(letter: str) -> bool:
    """Whether, ignoring case, a character matches anything but itself, alone or as part of a row."""
    return _cases(letter) != letter or len(letter.casefold()) > 1 or any(letter in row for row in _of_rows())


def may_be_one(letters: str) -> bool:
    """Whether letters are a row that one character folds to, or part of such a row."""
    return any(letters.casefold() in row for row in _of_rows())


def in_all_cases(letters: str, *, rows: bool) -> Node:
    """A pattern for letters side by side, in any case; with `rows`, as Oniguruma matches rows.

    Example:
        >>> from tokbench_subword.pipeline.patterns.writing import written
        >>> written(in_all_cases("as", rows=False)), written(in_all_cases("ss", rows=True))
        ('[Aa][Ssſ]', '[Ssſ][Ssſ]|[ßẞ]')
    """
    parts: list[Node] = []
    at = 0
    while at < len(letters):
        size, row = 1, letters[at].casefold()
        for several in (letters[at : at + n] for n in (2, 3)) if rows and len(row) == 1 else ():
            folded_row = several.casefold()
            if len(folded_row) == len(several) and folded_row in _of_rows():
                size, row = len(several), folded_row
        if rows and len(row) > 1:
            parts.append(Either((in_all_cases(row, rows=False), characters(_of_rows()[row]))))
        else:
            parts.append(characters(_cases(letters[at])))
        at += size
    return in_order(parts)


@lru_cache(maxsize=256)
def set_in_all_cases(one: One) -> One:
    """The set `one`, extended by the other cases of its characters.

    Example:
        >>> set_in_all_cases(characters("abc")).written
        '[[abc]ABC]'
    """
    every = folded(one.points)
    more = (every & ~one.points).text()
    return One(every, f"[{one.written}{more}]") if more else one


def rows_of_set(one: One, *, repeated: bool) -> list[Node]:
    """The rows that Oniguruma also matches for a set, such as ``ss`` if ß is in it; alternatives to go last.

    If the set is `repeated` without end, rows of its own characters are left out, since they change nothing.

    Example:
        >>> len(rows_of_set(characters("aß"), repeated=False)), rows_of_set(characters("asß"), repeated=True)
        (1, [])
    """
    every, found = folded(one.points), []
    for row, ones in sorted(_of_rows().items(), key=lambda item: len(item[0])):
        if one.points.holds([ord(letter) for letter in ones]).any():
            needless = repeated and every.holds([ord(letter) for letter in row]).all()
            found += [] if needless else [in_all_cases(row, rows=False)]
    return found
