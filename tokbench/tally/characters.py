"""What kind of character each code point is, as arrays: looked up once per code point, then gathered.

The properties come from the libraries that carry the Unicode tables (`uniseg` for the segmentation classes
of UAX #29, `regex` for general categories and scripts); only the code points that a text really contains are
ever asked for, so nothing is paid at import.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CODE_POINTS = 0x110000


class Grapheme(IntEnum):
    """Grapheme_Cluster_Break, with Extended_Pictographic and Indic_Conjunct_Break folded in."""

    OTHER = 1
    CR = 2
    LF = 3
    CONTROL = 4
    EXTEND = 5
    ZWJ = 6
    REGIONAL_INDICATOR = 7
    PREPEND = 8
    SPACINGMARK = 9
    L = 10
    V = 11
    T = 12
    LV = 13
    LVT = 14
    PICTOGRAPHIC = 15
    CONSONANT = 16


class Word(IntEnum):
    """Word_Break; `PICTOGRAPHIC` is an Extended_Pictographic of class Other or ALetter."""

    OTHER = 1
    CR = 2
    LF = 3
    NEWLINE = 4
    EXTEND = 5
    ZWJ = 6
    FORMAT = 7
    REGIONAL_INDICATOR = 8
    KATAKANA = 9
    HEBREW_LETTER = 10
    ALETTER = 11
    SINGLE_QUOTE = 12
    DOUBLE_QUOTE = 13
    MIDNUMLET = 14
    MIDLETTER = 15
    MIDNUM = 16
    NUMERIC = 17
    EXTENDNUMLET = 18
    WSEGSPACE = 19


class Kind(IntFlag):
    """What a text statistic asks of a character."""

    KNOWN = 1
    LETTER = 2
    MARK = 4
    DIGIT = 8
    """Decimal digits (category Nd)."""
    NUMBER = 16
    """Every N category, decimal digits included."""
    SPACE = 32
    """White_Space."""
    PUNCTUATION = 64
    SYMBOL = 128
    UNSPACED = 256
    """A letter of a script that is written without spaces between words."""
    LINKER = 512
    """Indic_Conjunct_Break=Linker."""
    PICTOGRAPHIC = 1024
    """Extended_Pictographic."""
    UPPER = 2048
    LOWER = 4096


UNSPACED_SCRIPTS = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tai_Tham", "Tibetan")
"""Scripts written without spaces between words: UAX #29 cuts them into characters or syllables, not words."""


class Characters:
    """The three tables over all code points, filled in as code points are met."""

    __slots__ = ("grapheme", "kind", "word")

    def __init__(self) -> None:
        import numpy as np

        self.grapheme: NDArray[np.uint8] = np.zeros(CODE_POINTS, np.uint8)
        self.word: NDArray[np.uint8] = np.zeros(CODE_POINTS, np.uint8)
        self.kind: NDArray[np.uint16] = np.zeros(CODE_POINTS, np.uint16)

    def know(self, points: NDArray[np.uint32]) -> None:
        """Look up whichever of the code points in `points` (uint32) are new."""
        import numpy as np

        known = self.kind[points]
        if known.size and not known.all():
            self._look_up(np.unique(points[known == 0]))

    def _look_up(self, points: NDArray[np.uint32]) -> None:
        import numpy as np
        from uniseg.derived import indic_conjunct_break
        from uniseg.emoji import extended_pictographic
        from uniseg.graphemecluster import grapheme_cluster_break
        from uniseg.wordbreak import word_break

        graphemes = {name.replace("_", ""): value for name, value in Grapheme.__members__.items()}
        words = {name.replace("_", ""): value for name, value in Word.__members__.items()}
        kinds = np.full(len(points), Kind.KNOWN, np.uint16)
        every = "".join(map(chr, points.tolist()))
        for flag, pattern in _patterns():
            kinds[[match.start() for match in pattern.finditer(every)]] |= np.uint16(flag)
        for index, character in enumerate(every):
            grapheme = graphemes[_plain(grapheme_cluster_break(character))]
            if extended_pictographic(character):
                kinds[index] |= np.uint16(Kind.PICTOGRAPHIC)
                if grapheme == Grapheme.OTHER:
                    grapheme = Grapheme.PICTOGRAPHIC
            conjunct = _plain(indic_conjunct_break(character))
            if conjunct == "LINKER":
                kinds[index] |= np.uint16(Kind.LINKER)
            elif conjunct == "CONSONANT" and grapheme == Grapheme.OTHER:
                grapheme = Grapheme.CONSONANT
            self.grapheme[points[index]] = grapheme
            self.word[points[index]] = words[_plain(word_break(character))]
        self.kind[points] = kinds


@cache
def _plain(value: Any) -> str:
    return str(value.value).replace("_", "").upper()


@cache
def _patterns() -> list[tuple[Kind, Any]]:
    import regex

    unspaced = "".join(rf"\p{{sc={script}}}" for script in UNSPACED_SCRIPTS)
    return [
        (flag, regex.compile(pattern))
        for flag, pattern in (
            (Kind.LETTER, r"\p{L}"),
            (Kind.MARK, r"\p{M}"),
            (Kind.DIGIT, r"\p{Nd}"),
            (Kind.NUMBER, r"\p{N}"),
            (Kind.SPACE, r"\p{White_Space}"),
            (Kind.PUNCTUATION, r"\p{P}"),
            (Kind.SYMBOL, r"\p{S}"),
            (Kind.UPPER, r"\p{Lu}"),
            (Kind.LOWER, r"\p{Ll}"),
            (Kind.UNSPACED, rf"(?=\p{{L}})[{unspaced}]"),
        )
    ]


@cache
def characters() -> Characters:
    """The process's one table."""
    return Characters()
