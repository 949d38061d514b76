"""Normal forms, marks and case as `tokenizers` has them, on every Python the same.

Normal forms and marks are those of Unicode 9.0, lower case that of 17.0.

What a character is taken apart into, and how it is put in order, never changes once it is in the standard
(Unicode's stability policy), but new characters come. So the normal forms are Python's for the characters that
9.0 takes apart, puts in order or composes (`unicode_tables`); later ones stand for themselves, and nothing
meets across them.
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
"""A character and its change, as `Stretch.leading_after` has them."""
LONG_RUN = 128
"""From so many marks in a row on, they are put in order here rather than by Python."""


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
    letters = "\n".join(map(chr, np.flatnonzero(cased).tolist()))  # apart: a sigma at a word's end has another
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
    """Code points that are taken apart, put in order, or composed with another, but Hangul syllables."""
    return frozenset(points_of(unicode_tables.CHANGING))


@lru_cache(maxsize=1)
def marks() -> frozenset[int]:
    """Code points of what `StripAccents` removes."""
    return frozenset(points_of(unicode_tables.MARKS))


@lru_cache(maxsize=1)
def combining_classes() -> Mapping[str, int]:
    """The canonical combining classes of all characters that have one but 0."""
    classes = {character: unicodedata.combining(character) for character in map(chr, sorted(changing()))}
    return {character: number for character, number in classes.items() if number}


@lru_cache(maxsize=2)
def parts_of(*, compatible: bool) -> Mapping[str, str]:
    """What NFD, or NFKD, makes of the characters that it takes apart, but Hangul syllables."""
    form: Form = "NFKD" if compatible else "NFD"
    parts = {character: unicodedata.normalize(form, character) for character in map(chr, sorted(changing()))}
    return {character: those for character, those in parts.items() if those != character}


def pairs() -> list[str]:
    """Two characters and what NFC makes of them, but Hangul syllables."""
    return [
        unicodedata.normalize("NFC", parts[:-1]) + parts[-1] + whole
        for whole, parts in parts_of(compatible=False).items()
        if len(parts) > 1 and unicodedata.normalize("NFC", whole) == whole
    ]


@lru_cache(maxsize=4)
def joining(form: Form) -> frozenset[str]:
    """The characters that can affect, or be affected by, what is before them in a form."""
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
    """Characters that Python would take apart, put in order or compose, since it knows a later version."""
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
    """The text with its long runs of marks taken apart and in canonical order, which alters no normal form.

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
    """Long runs of characters all of whose parts are put in order by their combining classes."""
    parts, classes = parts_of(compatible=compatible), combining_classes()
    marks = [one for one in {*classes, *parts} if all(part in classes for part in parts.get(one, one))]
    return re.compile(f"[{''.join(map(re.escape, sorted(marks)))}]{{{LONG_RUN},}}")


def changes(text: str, form: Form) -> Iterator[int]:
    r"""The change that `tokenizers` notes of each character of the normal form of `text`.

    Which of them count as standing where the input begins (see `Stretch.leading`) is no affair of the standard:
    each part notes whether it is the first of its character, keeps the note where it is put elsewhere, and the
    notes are then read in the order that came out.

    Example:
        >>> list(changes("\u00e9e\u0301", "NFD")), list(changes("\u00e9e\u0301", "NFC"))
        ([0, 1, 0, 0], [0, -1])
    """
    parts = decomposed(text, "NFKD" if form in ("NFKC", "NFKD") else "NFD")
    return (change for _, change in (_composed(parts) if form in ("NFC", "NFKC") else parts))


def decomposed(text: str, form: Form) -> Iterator[Noted]:
    """The parts of the characters, runs of combining ones sorted by class: 0 for the first of its character."""
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
    """The parts with each starter and the characters behind it composed, where there is one for both."""
    starter: Noted | None = None
    waiting: list[Noted] = []  # behind the starter, and not composed with it
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
