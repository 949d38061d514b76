"""Normal forms, marks and case as `tokenizers` has them, on every Python the same.

Normal forms and marks are those of Unicode 9.0, lower case that of 17.0.

Unicode's stability policy guarantees that the decomposition and ordering of a character never change, but new
characters are added. So Python's normal forms are used for the characters that 9.0 decomposes, reorders or
composes (`unicode_tables`); later characters are left as they are, and separate the text before them from the
text after.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal

from tokbench.kernels.unicode_classes import CATEGORIES, general_categories, unpacked
from tokbench_subword.pipeline import unicode_tables

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
Noted = tuple[str, int]
"""A character and its change, as in `Stretch.leading_after`."""
LONG_RUN = 128
"""Runs of this many marks or more are sorted here rather than by Python."""


# Lower case that came after the oldest Python we run on (Unicode 14.0): first, last, offset to the lower case.
_LATER_LOWER_CASE = (
    (0x1C89, 0x1C89, 1),
    (0xA7CB, 0xA7CB, 0x0264 - 0xA7CB),
    (0xA7CC, 0xA7CC, 1),
    (0xA7CE, 0xA7CE, 1),
    (0xA7D2, 0xA7D2, 1),
    (0xA7D4, 0xA7D4, 1),
    (0xA7DA, 0xA7DA, 1),
    (0xA7DC, 0xA7DC, 0x019B - 0xA7DC),
    (0x10D50, 0x10D65, 0x20),
    (0x16EA0, 0x16EB8, 0x1B),
)


@lru_cache(maxsize=1)
def lower_case() -> Mapping[int, str]:
    """The lower case of every code point that has one, without regard to its neighbours.

    Example:
        >>> [lower_case()[ord(one)] == two for one, two in (("Σ", "σ"), ("İ", "i" + chr(0x307)))]
        [True, True]
    """
    import numpy as np

    cased = np.array([name in ("Lu", "Lt", "Nl", "So") for name in CATEGORIES])[general_categories()]
    letters = "\n".join(
        map(chr, np.flatnonzero(cased).tolist())
    )  # one a line: at the end of a word, sigma has another lower case
    lower = dict(zip(map(ord, letters[::2]), letters.lower().split("\n"), strict=True))
    later = {
        point: chr(point + offset)
        for first, last, offset in _LATER_LOWER_CASE
        for point in range(first, last + 1)
    }
    return {point: new for point, new in lower.items() if new != chr(point)} | later


def points_of(packed: str) -> list[int]:
    """The code points of a table of `unicode_tables`, in order."""
    import numpy as np

    points: list[int] = np.flatnonzero(unpacked(packed)).tolist()
    return points


@lru_cache(maxsize=1)
def changing() -> frozenset[int]:
    """Code points that decompose, are reordered, or compose with another, except Hangul syllables."""
    return frozenset(points_of(unicode_tables.CHANGING))


@lru_cache(maxsize=1)
def marks() -> frozenset[int]:
    """The code points that `StripAccents` removes."""
    return frozenset(points_of(unicode_tables.MARKS))


@lru_cache(maxsize=1)
def combining_classes() -> Mapping[str, int]:
    """The canonical combining classes of all characters whose class is not 0."""
    classes = {character: unicodedata.combining(character) for character in map(chr, sorted(changing()))}
    return {character: number for character, number in classes.items() if number}


@lru_cache(maxsize=2)
def parts_of(*, compatible: bool) -> Mapping[str, str]:
    """The decompositions in NFD or NFKD of all characters that have one, except Hangul syllables."""
    form: Form = "NFKD" if compatible else "NFD"
    parts = {character: unicodedata.normalize(form, character) for character in map(chr, sorted(changing()))}
    return {character: those for character, those in parts.items() if those != character}


def pairs() -> list[str]:
    """All pairs of characters that NFC composes, each with the result, except Hangul syllables."""
    return [
        unicodedata.normalize("NFC", parts[:-1]) + parts[-1] + whole
        for whole, parts in parts_of(compatible=False).items()
        if len(parts) > 1 and unicodedata.normalize("NFC", whole) == whole
    ]


@lru_cache(maxsize=4)
def joining(form: Form) -> frozenset[str]:
    """The characters that can affect, or be affected by, the text before them in a form."""
    classes = combining_classes()
    seconds = {pair[1] for pair in pairs()} | set(VOWELS) | set(FINALS) if form in ("NFC", "NFKC") else set()
    parts = parts_of(compatible=form in ("NFKC", "NFKD"))
    begun = {one for one, those in parts.items() if those[0] in classes or those[0] in seconds}
    return frozenset(begun.union(classes, seconds))


VOWELS = "".join(map(chr, range(0x1161, 0x1176)))
FINALS = "".join(map(chr, range(0x11A8, 0x11C3)))
"""The vowels and final consonants of Hangul, which compose with what is before them."""


@lru_cache(maxsize=1)
def _later() -> re.Pattern[str]:
    """Characters that Python would change because it knows a later version of Unicode."""
    points = [*range(0x80, 0xD800), *range(0xF900, 0x34000), *range(0xE0000, 0xE1000)]
    new = [point for point in points if point not in changing()]
    found = {one for one in map(chr, new) if unicodedata.combining(one) or unicodedata.decomposition(one)}
    parts = {part for one in found for part in unicodedata.normalize("NFKD", one)}
    later = sorted(one for one in found | parts if ord(one) not in changing())
    return re.compile("([" + "".join(map(re.escape, later)) + "])" if later else "(?!)")


def normalized(text: str, form: Form) -> str:
    r"""A normal form of `text`.

    Example:
        >>> normalized("e\u0301", "NFC") == "\u00e9", normalized("\u32ff", "NFKC") == "\u32ff"
        (True, True)
    """
    parts = _later().split(text)
    return "".join(
        part if k % 2 else unicodedata.normalize(form, _runs_ordered(part, form))
        for k, part in enumerate(parts)
    )


def _runs_ordered(text: str, form: Form) -> str:
    """The text with its long runs of marks decomposed and sorted, which does not change its normal form.

    Python puts marks in order by insertion, in time that grows with the square of a run's length.
    """
    if len(text) < LONG_RUN:
        return text
    compatible = form in ("NFKC", "NFKD")
    parts, classes = parts_of(compatible=compatible), combining_classes()

    def ordered(run: re.Match[str]) -> str:
        return "".join(sorted("".join(parts.get(mark, mark) for mark in run[0]), key=classes.__getitem__))

    return _long_runs(compatible=compatible).sub(ordered, text)


@lru_cache(maxsize=2)
def _long_runs(*, compatible: bool) -> re.Pattern[str]:
    """Matches long runs of characters whose parts all have combining classes."""
    parts, classes = parts_of(compatible=compatible), combining_classes()
    marks = [one for one in {*classes, *parts} if all(part in classes for part in parts.get(one, one))]
    return re.compile(f"[{''.join(map(re.escape, sorted(marks)))}]{{{LONG_RUN},}}")


def changes(text: str, form: Form) -> Iterator[int]:
    r"""The change that `tokenizers` notes for each character of the normal form of `text`.

    The standard does not say which of them count as `Stretch.leading`. In `tokenizers` each part carries a note
    whether it is the first of its character, also when it is reordered; the notes are read in the final order.

    Example:
        >>> list(changes("\u00e9e\u0301", "NFD")), list(changes("\u00e9e\u0301", "NFC"))
        ([0, 1, 0, 0], [0, -1])
    """
    parts = decomposed(text, "NFKD" if form in ("NFKC", "NFKD") else "NFD")
    return (change for _, change in (_composed(parts) if form in ("NFC", "NFKC") else parts))


def decomposed(text: str, form: Form) -> Iterator[Noted]:
    """The parts of the characters in canonical order, each with its change: 0 for the first of its
    character.
    """
    run: list[Noted] = []
    for character in text:
        for index, part in enumerate(normalized(character, form)):
            noted = part, int(index > 0)
            if _class(noted):
                run.append(noted)
                continue
            yield from sorted(run, key=_class)
            run.clear()
            yield noted
    yield from sorted(run, key=_class)


def _composed(parts: Iterator[Noted]) -> Iterator[Noted]:
    """The parts, with each starter composed with the characters after it where possible."""
    starter: Noted | None = None
    waiting: list[Noted] = []  # parts after the starter that did not compose with it
    for noted in parts:
        combining = _class(noted)
        if starter is None:
            if combining:
                yield noted
            else:
                starter = noted
            continue
        blocked = bool(waiting) and _class(waiting[-1]) >= combining
        whole = "" if blocked else normalized(starter[0] + noted[0], "NFC")
        if len(whole) == 1:
            starter = whole, starter[1] + noted[1] - 1
        elif combining:
            waiting.append(noted)
        else:
            yield from (starter, *waiting)
            starter, waiting = noted, []
    if starter is not None:
        yield from (starter, *waiting)


def _class(noted: Noted) -> int:
    return combining_classes().get(noted[0], 0)
