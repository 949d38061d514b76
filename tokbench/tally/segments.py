"""Grapheme clusters and words of UAX #29 (Unicode 16), by whole-array operations.

Both functions take the code points of a text and say before which of them a segment begins. The text must
end in a line feed; documents are kept apart by a line feed between them, around which both rule sets always
break. A class per code point comes from `tokbench.tally.characters`, and the rules are numbered as in the
annex (https://www.unicode.org/reports/tr29/).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.tally.characters import Grapheme, Kind, Word, characters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]


def _members(*classes: int) -> NDArray[np.bool_]:
    import numpy as np

    table = np.zeros(32, np.bool_)
    table[list(classes)] = True
    return table


def _last_where(flags: Flags) -> NDArray[np.int32]:
    """For each position, the last position up to it where `flags` is true, or -1."""
    import numpy as np

    where = np.where(flags, np.arange(len(flags), dtype=np.int32), np.int32(-1))
    result: NDArray[np.int32] = np.maximum.accumulate(where)
    return result


def _odd_in_run(flags: Flags) -> Flags:
    """Whether a position is the 2nd, 4th, … of a run of true flags (the second half of a flag emoji)."""
    import numpy as np

    outside = _last_where(~flags)
    second: Flags = flags & ((np.arange(len(flags), dtype=np.int32) - outside) % 2 == 0)
    return second


def grapheme_starts(points: NDArray[np.uint32]) -> Flags:
    r"""Before which code points an extended grapheme cluster begins, bool of shape ``(len(points),)``.

    Example:
        >>> import numpy as np
        >>> text = np.frombuffer("e\u0301\n".encode("utf-32-le"), np.uint32)
        >>> grapheme_starts(text).tolist()
        [True, False, True]
    """
    import numpy as np

    tables = characters()
    tables.know(points)
    kind = tables.grapheme[points]
    starts: Flags = np.ones(len(points), np.bool_)
    if len(points) < 2:
        return starts
    # GB9, GB9a: never break before these, unless a control comes first (below)
    joins = _members(Grapheme.EXTEND, Grapheme.ZWJ, Grapheme.SPACINGMARK)[kind]
    present: NDArray[np.intp] = np.bincount(kind, minlength=32)
    before, after = kind[:-1], kind[1:]
    if present[Grapheme.PREPEND]:
        joins[1:] |= before == Grapheme.PREPEND  # GB9b
    if present[[Grapheme.L, Grapheme.V, Grapheme.T, Grapheme.LV, Grapheme.LVT]].any():
        v_t = _members(Grapheme.V, Grapheme.T)
        after_l = _members(Grapheme.L, Grapheme.V, Grapheme.LV, Grapheme.LVT)
        joins[1:] |= (before == Grapheme.L) & after_l[after]  # GB6
        joins[1:] |= _members(Grapheme.LV, Grapheme.V)[before] & v_t[after]  # GB7
        joins[1:] |= _members(Grapheme.LVT, Grapheme.T)[before] & (after == Grapheme.T)  # GB8
    if present[Grapheme.CONSONANT]:
        joins |= _conjuncts(points, kind)  # GB9c
    if present[Grapheme.ZWJ] and present[Grapheme.PICTOGRAPHIC]:
        # GB11: pictograph, extenders, ZWJ × pictograph
        base = _last_where(kind != Grapheme.EXTEND)
        zwj = np.flatnonzero((before == Grapheme.ZWJ) & (after == Grapheme.PICTOGRAPHIC))
        zwj = zwj[zwj > 0]
        joins[zwj[kind[base[zwj - 1]] == Grapheme.PICTOGRAPHIC] + 1] = True
    if present[Grapheme.REGIONAL_INDICATOR]:
        joins |= _odd_in_run(kind == Grapheme.REGIONAL_INDICATOR)  # GB12, GB13
    control = _members(Grapheme.CR, Grapheme.LF, Grapheme.CONTROL)[kind]
    joins[1:] &= ~control[:-1]  # GB4
    joins &= ~control  # GB5
    joins[1:] |= (before == Grapheme.CR) & (after == Grapheme.LF)  # GB3
    starts[1:] = ~joins[1:]
    return starts


def _conjuncts(points: NDArray[np.uint32], kind: NDArray[np.uint8]) -> Flags:
    """GB9c: consonant, extenders with at least one linker among them × consonant."""
    import numpy as np

    inside = _members(Grapheme.EXTEND, Grapheme.ZWJ)[kind]
    linker = (characters().kind[points] & Kind.LINKER) != 0
    base = _last_where(~(inside | linker))
    last_linker = _last_where(linker)
    joins: Flags = np.zeros(len(points), np.bool_)
    candidate = np.flatnonzero((kind[1:] == Grapheme.CONSONANT) & (inside | linker)[:-1]) + 1
    previous = base[candidate - 1]
    good = (kind[previous] == Grapheme.CONSONANT) & (last_linker[candidate - 1] > previous) & (previous >= 0)
    joins[candidate[good]] = True
    return joins


def word_starts(points: NDArray[np.uint32]) -> Flags:
    r"""Before which code points a segment of UAX #29 begins, bool of shape ``(len(points),)``.

    Segments are words, but also the spaces and the punctuation between them.

    Example:
        >>> import numpy as np
        >>> text = np.frombuffer("can't 3.5\n".encode("utf-32-le"), np.uint32)
        >>> np.flatnonzero(word_starts(text)).tolist()
        [0, 5, 6, 9]
    """
    import numpy as np

    tables = characters()
    tables.know(points)
    kind = tables.word[points]
    starts: Flags = np.ones(len(points), np.bool_)
    if len(points) < 2:
        return starts
    ignored = _members(Word.EXTEND, Word.FORMAT, Word.ZWJ)[kind]
    newline = _members(Word.CR, Word.LF, Word.NEWLINE)[kind]
    # WB4: extenders belong to what they follow, except at the start of a line
    attached = ignored.copy()
    attached[0] = False
    attached[1:] &= ~newline[:-1]
    kept = np.flatnonzero(~attached)
    joined = np.zeros(len(points), np.bool_)
    joined[kept] = _word_joins(kind[kept])
    starts[1:] = ~(joined | attached)[1:]
    space = kind == Word.WSEGSPACE
    starts[1:] &= ~(space[:-1] & space[1:])  # WB3d, on neighbours in the text itself
    starts[1:] &= ~((kind[:-1] == Word.CR) & (kind[1:] == Word.LF))  # WB3
    zwj = np.flatnonzero(kind[:-1] == Word.ZWJ)
    if len(zwj):  # WB3c
        pictograph = (tables.kind[points[zwj + 1]] & Kind.PICTOGRAPHIC) != 0
        starts[zwj[pictograph] + 1] = False
    return starts


def _word_joins(kind: NDArray[np.uint8]) -> Flags:
    """WB5 to WB16 on the classes that remain when ignored characters are taken out: no break before."""
    import numpy as np

    letter = _members(Word.ALETTER, Word.HEBREW_LETTER)[kind]
    number = kind == Word.NUMERIC
    joins: Flags = np.zeros(len(kind), np.bool_)
    alnum = letter | number
    joins[1:] = alnum[:-1] & alnum[1:]  # WB5, WB8, WB9, WB10
    present = np.bincount(kind, minlength=32)
    mid_letter = _members(Word.MIDLETTER, Word.MIDNUMLET, Word.SINGLE_QUOTE)[kind]
    mid_number = _members(Word.MIDNUM, Word.MIDNUMLET, Word.SINGLE_QUOTE)[kind]
    for middle, side in ((mid_letter, letter), (mid_number, number)):  # WB6, WB7, WB11, WB12
        within = np.flatnonzero(middle[1:-1] & side[:-2] & side[2:]) + 1
        joins[within] = True
        joins[within + 1] = True
    if present[Word.HEBREW_LETTER]:
        hebrew = kind == Word.HEBREW_LETTER
        joins[1:] |= hebrew[:-1] & (kind[1:] == Word.SINGLE_QUOTE)  # WB7a
        within = np.flatnonzero((kind[1:-1] == Word.DOUBLE_QUOTE) & hebrew[:-2] & hebrew[2:]) + 1
        joins[within] = True  # WB7b
        joins[within + 1] = True  # WB7c
    katakana = kind == Word.KATAKANA
    if present[Word.KATAKANA]:
        joins[1:] |= katakana[:-1] & katakana[1:]  # WB13
    if present[Word.EXTENDNUMLET]:
        extend = kind == Word.EXTENDNUMLET
        some = alnum | katakana | extend
        joins[1:] |= some[:-1] & extend[1:]  # WB13a
        joins[1:] |= extend[:-1] & some[1:]  # WB13b
    if present[Word.REGIONAL_INDICATOR]:
        joins |= _odd_in_run(kind == Word.REGIONAL_INDICATOR)  # WB15, WB16
    return joins
