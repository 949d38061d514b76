r"""Sets of code points: what ``\p{L}``, ``\s``, ``[a-z]`` and their kin stand for, as arrays of truth values.

A set is a bool array of shape ``(0x110000,)``. General categories and white space are those of Unicode 16.0, as
`tokenizers` and tiktoken have them (see `tokbench.kernels.unicode_classes`); what else a pattern may name, such
as scripts, is asked of `regex` once, corrected to the same version.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.unicode_classes import CATEGORIES, N_CODE_POINTS, SPACE, class_table, general_categories
from tokbench_subword.pipeline.translating import exact_class

Points = NDArray[np.bool_]
"""A set of code points: bool of shape ``(0x110000,)``."""


NOTHING: Points = np.zeros(N_CODE_POINTS, np.bool_)
"""No code point at all."""
NOTHING.flags.writeable = False


def of_range(first: int, last: int) -> Points:
    """The code points from `first` to `last`, both included."""
    points = NOTHING.copy()
    points[first : last + 1] = True
    return points


def of_text(text: str) -> Points:
    """The characters of `text`.

    Example:
        >>> np.flatnonzero(of_text("ba")).tolist()
        [97, 98]
    """
    points = NOTHING.copy()
    points[[ord(character) for character in text]] = True
    return points


@lru_cache(maxsize=64)
def of_property(name: str) -> Points:
    r"""The code points of a property as ``\p{…}`` names it: a general category, or what `regex` knows.

    Raises `regex.error` for a name that nobody knows.

    Example:
        >>> bool(of_property("Lu")[ord("A")]), bool(of_property("Han")[0x4E00])
        (True, True)
    """
    category = name.removeprefix("gc=").removeprefix("General_Category=")
    wanted = [known.startswith(category) for known in CATEGORIES]
    if category and len(category) <= 2 and any(wanted):
        points = np.array(wanted, np.bool_)[general_categories()]
    else:
        points = _asked_of_regex(name)
    points.flags.writeable = False
    return points


def _asked_of_regex(name: str) -> Points:
    import regex

    members = regex.compile(exact_class("\\p{" + name + "}") + "+", regex.VERSION1)
    points = NOTHING.copy()
    for first in (0, 0xE000):  # without the surrogates, which are no characters
        last = 0xD800 if first == 0 else N_CODE_POINTS
        for match in members.finditer("".join(map(chr, range(first, last)))):
            points[first + match.start() : first + match.end()] = True
    return points


@lru_cache(maxsize=1)
def spaces() -> Points:
    r"""``\s``: the property White_Space."""
    points: Points = (class_table() & SPACE) != 0
    points.flags.writeable = False
    return points


@lru_cache(maxsize=1)
def _cased() -> str:
    """All characters that have another case."""
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x1E944)]))
    return "".join(one for one in every if one.lower() != one or one.upper() != one or one.casefold() != one)


def folded(points: Points) -> Points:
    """The set with every character that is one of it but for its case (Unicode's simple case folding).

    Example:
        >>> [chr(point) for point in np.flatnonzero(folded(of_text("s")))]
        ['S', 's', 'ſ']
    """
    import regex

    cased = _cased()
    members = "".join(character for character in cased if points[ord(character)])
    if not members:
        return points
    same = regex.compile(f"(?i:[{regex.escape(members)}])", regex.VERSION0)
    others: Points = of_text("".join(same.findall(cased)))
    others |= points
    return others
