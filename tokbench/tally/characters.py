"""The Unicode properties of code points that the scan of a text needs, in one table that grows as texts come.

The properties come from the libraries that carry the Unicode tables (`uniseg` for the segmentation classes
of UAX #29, `regex` for general categories and scripts). A code point is looked up when a text first has it,
so importing costs nothing.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.kernels.unicode_classes import N_CODE_POINTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tokbench.kernels.pointers import Keys


Grapheme = IntEnum(
    "Grapheme",
    "OTHER CR LF CONTROL EXTEND ZWJ REGIONAL_INDICATOR PREPEND SPACINGMARK L V T LV LVT PICTOGRAPHIC CONSONANT "
    "LINKER",
)
"""Grapheme_Cluster_Break; Extended_Pictographic and Indic_Conjunct_Break are folded in, LINKER is in Extend."""

Word = IntEnum(
    "Word",
    "OTHER CR LF NEWLINE EXTEND ZWJ FORMAT REGIONAL_INDICATOR KATAKANA HEBREW_LETTER ALETTER SINGLE_QUOTE "
    "DOUBLE_QUOTE MIDNUMLET MIDLETTER MIDNUM NUMERIC EXTENDNUMLET WSEGSPACE PICTOGRAPHIC PICTOGRAPHIC_LETTER",
)
"""Word_Break, with Extended_Pictographic folded in: PICTOGRAPHIC is Other too, PICTOGRAPHIC_LETTER ALetter."""


class CharacterKind(IntFlag):
    """What a text statistic asks of a character."""

    LETTER = 1
    """Categories L and M."""
    DIGIT = 2
    """Decimal digits (category Nd)."""
    WORD = 4
    """Categories L and N: what makes a segment of text a word."""
    SPACE = 8
    """White_Space."""
    PUNCTUATION = 16
    """Categories P and S."""
    UNSPACED = 32
    """A letter of a script that is written without spaces between words."""


UNSPACED_SCRIPTS = "".join(
    rf"\p{{sc={script}}}"
    for script in ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tai_Tham", "Tibetan")
)
"""Scripts written without spaces between words, to stand in a set of a pattern: UAX #29 cuts them into
characters or syllables, not words."""

_PATTERNS = {
    CharacterKind.LETTER: r"[\p{L}\p{M}]",
    CharacterKind.DIGIT: r"\p{Nd}",
    CharacterKind.WORD: r"[\p{L}\p{N}]",
    CharacterKind.SPACE: r"\p{White_Space}",
    CharacterKind.PUNCTUATION: r"[\p{P}\p{S}]",
    CharacterKind.UNSPACED: rf"(?=\p{{L}})[{UNSPACED_SCRIPTS}]",
}

GRAPHEME_SHIFT, KIND_SHIFT = 5, 10
"""Where a code point's properties hold its grapheme class and its kind; the lowest bits are the word class."""


class Characters:
    """The properties of the code points met so far: ``word | grapheme << 5 | kind << 10``, 0 if not met.

    `properties` is uint16 of shape ``(0x110000,)``. Whatever is in ASCII is there from the start.
    """

    def __init__(self) -> None:
        self.properties: NDArray[np.uint16] = np.zeros(N_CODE_POINTS, np.uint16)
        self.know(np.arange(128, dtype=np.uint32))

    def know(self, points: Keys) -> None:
        """Look up whichever of the code points in `points` (uint32) are new."""
        new = points[self.properties[points] == 0]
        if new.size:
            self._look_up(np.unique(new))

    def _look_up(self, points: Keys) -> None:
        import regex

        kinds = np.zeros(len(points), np.uint16)
        every = "".join(map(chr, points.tolist()))
        for flag, pattern in _PATTERNS.items():
            kinds[[match.start() for match in regex.finditer(pattern, every)]] |= np.uint16(flag)
        classes = [_word_class(character) | _grapheme_class(character) << GRAPHEME_SHIFT for character in every]
        self.properties[points] = np.array(classes, np.uint16) | kinds << KIND_SHIFT


def _grapheme_class(character: str) -> int:
    from uniseg.derived import indic_conjunct_break
    from uniseg.emoji import extended_pictographic
    from uniseg.graphemecluster import grapheme_cluster_break

    found = _named(Grapheme)[_plain(grapheme_cluster_break(character))]
    conjunct = _plain(indic_conjunct_break(character))
    if found == Grapheme.EXTEND and conjunct == "LINKER":
        return Grapheme.LINKER
    if found == Grapheme.OTHER and extended_pictographic(character):
        return Grapheme.PICTOGRAPHIC
    if found == Grapheme.OTHER and conjunct == "CONSONANT":
        return Grapheme.CONSONANT
    return found


def _word_class(character: str) -> int:
    from uniseg.emoji import extended_pictographic
    from uniseg.wordbreak import word_break

    found = _named(Word)[_plain(word_break(character))]
    if extended_pictographic(character):
        return {Word.OTHER: Word.PICTOGRAPHIC, Word.ALETTER: Word.PICTOGRAPHIC_LETTER}.get(Word(found), found)
    return found


@cache
def _named(classes: type[IntEnum]) -> dict[str, int]:
    return {name.replace("_", ""): int(value) for name, value in classes.__members__.items()}


@cache
def _plain(value: Any) -> str:
    return str(value.value).replace("_", "").upper()


@cache
def characters() -> Characters:
    """The process's one table."""
    return Characters()
