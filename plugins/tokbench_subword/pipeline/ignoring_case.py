r"""Letters and sets in all their cases, spelled out: what ``(?i)`` means to Oniguruma and to Rust.

`regex` follows a later Unicode than they do, and takes i, İ and ı for one letter. Rust folds characters one by
one (Unicode's simple case folding). So does Oniguruma, but it also takes characters in a row for one that folds
to them, as ``ss`` for ß: the longest such row from the left.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tokbench_subword.pipeline.pattern_reading import set_of
from tokbench_subword.pipeline.point_sets import folded, of_text


@lru_cache(maxsize=1)
def _of_rows() -> Mapping[str, str]:
    """The characters that fold to several, by these."""
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
    """Whether anything but the character itself matches it where case is ignored, by itself or in a row."""
    return _cases(letter) != letter or len(letter.casefold()) > 1 or any(letter in row for row in _of_rows())


def may_be_one(letters: str) -> bool:
    """Whether letters are a row that stands for one, or a part of one."""
    return any(letters.casefold() in row for row in _of_rows())


def in_all_cases(letters: str, *, rows: bool) -> str:
    """An expression for letters side by side, whatever their case; `rows` as Oniguruma has them.

    Example:
        >>> in_all_cases("as", rows=False), in_all_cases("ss", rows=True)
        ('[Aa][Ssſ]', '(?:[Ssſ][Ssſ]|[ßẞ])')
    """
    parts, at = [], 0
    while at < len(letters):
        size, row = 1, letters[at].casefold()
        for several in (letters[at : at + n] for n in (2, 3)) if rows and len(row) == 1 else ():
            folded_row = several.casefold()
            if len(folded_row) == len(several) and folded_row in _of_rows():
                size, row = len(several), folded_row
        if rows and len(row) > 1:
            parts.append(f"(?:{in_all_cases(row, rows=False)}|[{_of_rows()[row]}])")
        else:
            parts.append(f"[{_cases(letters[at])}]")
        at += size
    return "".join(parts)


def set_in_all_cases(brackets: str) -> str:
    """A set in brackets, not inverted, as one that also holds its characters in other cases.

    Raises `NotExpressible` for one that cannot be read.

    Example:
        >>> set_in_all_cases("[a-c]")
        '[[a-c]ABC]'
    """
    points = set_of(brackets)
    more = (folded(points) & ~points).text()
    return f"[{brackets}{more}]" if more else brackets


def rows_of_set(brackets: str, *, repeated: bool) -> str:
    """The rows that Oniguruma also takes for one of a set, ``ss`` where ß is in it: alternatives to come last.

    Where a set is `repeated` without end, those of its own characters are left out: they change nothing.

    Example:
        >>> rows_of_set("[aß]", repeated=False), rows_of_set("[a-zß]", repeated=True)
        ('|[Ssſ][Ssſ]', '')
    """
    points = set_of(brackets)
    every, found = folded(points), ""
    for row, ones in sorted(_of_rows().items(), key=lambda item: len(item[0])):
        if points.holds([ord(one) for one in ones]).any():
            needless = repeated and every.holds([ord(one) for one in row]).all()
            found += "" if needless else f"|{in_all_cases(row, rows=False)}"
    return found
