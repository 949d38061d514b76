"""Characters on whose properties Unicode versions differ, and the library to ask about them.

`tokenizers` takes its patterns from Unicode 16.0, but its normal forms, accents and punctuation from tables of
several older versions, and letter case and digits from whichever Rust compiled it. Nearly all text holds no
character that this touches. Where one does occur, `tokenizers` itself does that step, so that the result is its
result; the functions here say which characters those are. They need one pass over all code points, made once a
process, when text beyond ASCII first meets such a step.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

_OLD = unicodedata.ucd_3_2_0  # normal forms of what was assigned then have been stable since


_ASTRAL = [0x10000, 0x10FFFF]


@dataclass(frozen=True, slots=True)
class CharacterClass:
    """Some code points, to be found in text.

    `re` looks code points up to U+FFFF up in a bitmap, and compares those beyond with one range after another.
    So all of these are one range to `coarse`, which nearly all text goes through once, without a find.
    """

    exact: re.Pattern[str]
    coarse: re.Pattern[str]

    @classmethod
    def of(cls, points: Iterable[int]) -> CharacterClass:
        """The class of some code points."""
        runs: list[list[int]] = []
        for point in sorted(points):
            if 0xD800 <= point < 0xE000:
                continue
            if runs and runs[-1][1] == point - 1 and point != _ASTRAL[0]:
                runs[-1][1] = point
            else:
                runs.append([point, point])
        return cls(_compiled(runs), _compiled([run for run in runs if run[0] < _ASTRAL[0]] + [_ASTRAL]))

    def occurs_in(self, text: str) -> bool:
        """Whether one of them is in `text`."""
        return self.coarse.search(text) is not None and self.exact.search(text) is not None


def _compiled(runs: list[list[int]]) -> re.Pattern[str]:
    return re.compile("[" + "".join(f"{re.escape(chr(a))}-{re.escape(chr(b))}" for a, b in runs) + "]")


def _points(wanted: Callable[[str], bool]) -> set[int]:
    """Code points unassigned in Unicode 3.2 for which `wanted` holds, in the blocks that are in use."""
    spans = (
        range(0x80, 0xD800),
        range(0xF900, 0x14700),
        range(0x16000, 0x19000),
        range(0x1A000, 0x20000),
        range(0x2F800, 0x34000),
        range(0xE0000, 0xE0200),
    )
    points = (point for span in spans for point in span)
    return {point for point in points if _OLD.category(chr(point)) == "Cn" and wanted(chr(point))}


def _unassigned(character: str) -> bool:
    return unicodedata.category(character) == "Cn"


@lru_cache(maxsize=1)
def unsettled_normal_form() -> CharacterClass:
    """Characters that some version decomposes, reorders or composes and another does not."""
    changing = _points(
        lambda c: _unassigned(c) or unicodedata.combining(c) > 0 or bool(unicodedata.decomposition(c))
    )
    parts = {
        int(part, 16)
        for point in changing
        for part in unicodedata.decomposition(chr(point)).split()
        if not part.startswith("<")
    }
    return CharacterClass.of(changing | {point for point in parts if _OLD.category(chr(point)) == "Cn"})


@lru_cache(maxsize=1)
def unsettled_case() -> CharacterClass:
    """Characters that Python does not know and another version may give a case."""
    return CharacterClass.of(_points(_unassigned))


@lru_cache(maxsize=1)
def unsettled_marks() -> CharacterClass:
    """Characters that some version calls a mark and another does not."""
    were = {0x1CF2, 0x1CF3}  # marks until Unicode 12, letters since
    return CharacterClass.of(
        were | _points(lambda c: _unassigned(c) or unicodedata.category(c).startswith("M"))
    )
