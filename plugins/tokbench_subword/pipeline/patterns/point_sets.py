r"""Sets of code points: the meaning of ``\p{L}``, ``\s``, ``[a-z]`` and the like.

General categories and white space are those of Unicode 16.0, as in `tokenizers` and tiktoken (see
`tokbench.kernels.unicode_classes`). Other properties, such as scripts, come from `regex`, corrected to 16.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tokbench.kernels.unicode_classes import CATEGORIES, N_CODE_POINTS, general_categories, moved, white_space


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    r"""A set of code points as an inversion list: the begins and ends of its runs, alternately.

    `bounds` are int32, ascending: the first code point of a run, then the first one after it, for each run. So
    ``\p{L}`` takes 5 KB; with a bool for each code point, it would take 1 MB.

    Example:
        >>> vowels = of_text("aeiou")
        >>> vowels.bounds[:4].tolist(), vowels.holds([97, 98]).tolist(), bool(vowels & ~vowels)
        ([97, 98, 101, 102], [True, False], False)
    """

    bounds: NDArray[np.int32]

    @classmethod
    def of_flags(cls, flags: NDArray[np.bool_]) -> Points:
        """The code points whose entry in `flags`, bool ``(0x110000,)`` or shorter, is True."""
        return cls(np.flatnonzero(np.diff(flags, prepend=False, append=False)).astype(np.int32))

    def holds(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Whether each of some code points is in the set."""
        held: NDArray[np.bool_] = np.searchsorted(self.bounds, points, side="right") % 2 == 1
        return held

    def only(self) -> int | None:
        """The code point of a set that has only one, else None."""
        if len(self.bounds) == 2 and self.bounds[1] == self.bounds[0] + 1:
            return int(self.bounds[0])
        return None

    def text(self) -> str:
        """The characters of the set, ascending."""
        return "".join(chr(one) for run in self.bounds.reshape(-1, 2).tolist() for one in range(*run))

    def __bool__(self) -> bool:
        return len(self.bounds) > 0

    def __invert__(self) -> Points:
        return Points(np.setxor1d(self.bounds, _ALL, assume_unique=True))

    def __or__(self, other: Points) -> Points:
        return union([self, other])

    def __and__(self, other: Points) -> Points:
        return ~union([~self, ~other])


_ALL = np.array([0, N_CODE_POINTS], np.int32)
NOTHING = Points(np.empty(0, np.int32))
"""No code point at all."""


def union(sets: Iterable[Points]) -> Points:
    """The union of some sets.

    Example:
        >>> union([of_text("ab"), of_text("cx"), of_text("b")]).bounds.tolist()
        [97, 100, 120, 121]
    """
    runs = np.concatenate([NOTHING.bounds, *(one.bounds for one in sets)]).reshape(-1, 2)
    if not len(runs):
        return NOTHING
    runs = runs[np.argsort(runs[:, 0])]
    ends = np.maximum.accumulate(runs[:, 1])
    apart = np.append(True, runs[1:, 0] > ends[:-1])  # runs that begin after the end of all runs before
    return Points(np.stack([runs[apart, 0], ends[np.append(apart[1:], True)]], axis=1).reshape(-1))


def of_range(first: int, last: int) -> Points:
    """The code points from `first` to `last`, both included; none where `last` is before `first`."""
    return Points(np.array([first, last + 1], np.int32)) if first <= last else NOTHING


def of_text(text: str) -> Points:
    """The characters of `text`.

    Example:
        >>> of_text("ba").bounds.tolist()
        [97, 99]
    """
    flags = np.zeros(max(map(ord, text), default=0) + 1, np.bool_)
    flags[[ord(character) for character in text]] = True
    return Points.of_flags(flags)


@lru_cache(maxsize=64)
def of_property(name: str) -> Points:
    r"""The code points of a property by its name in ``\p{…}``: a general category, or one that `regex` knows.

    Raises `LookupError` for an unknown name.

    Example:
        >>> of_property("Lu").holds([ord("A"), ord("a")]).tolist(), bool(of_property("Han"))
        ([True, False], True)
    """
    wanted = [known.startswith(name) for known in CATEGORIES]
    if 0 < len(name) <= 2 and any(wanted):
        return Points.of_flags(np.array(wanted, np.bool_)[general_categories()])
    return _asked_of_regex(name)


def _asked_of_regex(name: str) -> Points:
    import regex

    try:
        members = regex.compile(f"\\p{{{name}}}+", regex.VERSION1)
    except regex.error as error:
        raise LookupError(name) from error
    flags = np.zeros(N_CODE_POINTS, np.bool_)
    for first, last in ((0, 0xD800), (0xE000, N_CODE_POINTS)):  # without surrogates
        text = np.arange(first, last, dtype="<u4").tobytes().decode("utf-32-le")
        for match in members.finditer(text):
            flags[first + match.start() : first + match.end()] = True
    flags[[point for point, category in moved().items() if category == "Cn"]] = False  # unassigned in 16.0
    return Points.of_flags(flags)


@lru_cache(maxsize=1)
def spaces() -> Points:
    r"""``\s``: the property White_Space."""
    return Points.of_flags(white_space())


@lru_cache(maxsize=1)
def _cased() -> str:
    """All characters that have another case; not İ and ı, which are cases of i only in Turkish."""
    import regex

    known = (general_categories()[:0x1E944] != CATEGORIES.index("Cn")).tolist()
    every = "".join(chr(point) for point, one in enumerate(known) if one and not 0xD800 <= point < 0xE000)
    cased = "".join(regex.findall(r"[\p{CWCM}\p{CWCF}]", every, regex.VERSION1))
    return cased.replace("İ", "").replace("ı", "")


def folded(points: Points) -> Points:
    """The set extended by all characters that differ only in case (Unicode's simple case folding).

    Example:
        >>> [chr(point) for point in range(1000) if folded(of_text("s")).holds(point)]
        ['S', 's', 'ſ']
    """
    import regex

    cased = _cased()
    held = points.holds([ord(character) for character in cased])
    members = "".join(character for character, one in zip(cased, held.tolist(), strict=True) if one)
    if not members:
        return points
    same = regex.compile(f"(?i:[{regex.escape(members)}])", regex.VERSION0)
    return of_text("".join(same.findall(cased))) | points
