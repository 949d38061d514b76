r"""The rules of UAX #29 (Unicode 16) for words and grapheme clusters, as state machines.

A state is what the rules need to know of the text before a character. A machine is a table: the entry at
``state << 5 | class`` holds the next state and whether the text breaks before the character. Only one thing is
not known at once: whether *can't* breaks before the apostrophe shows at the letter after it. Such a break is
made, and the entry of that letter takes it back.

The rules are numbered as in the annex (https://www.unicode.org/reports/tr29/); classes are those of
`tokbench.tally.characters`. Both machines start in state 0, at the start of a text.

Example:
    >>> machine = word_machine()
    >>> state, breaks = 0, []
    >>> for kind in (Word.ALETTER, Word.SINGLE_QUOTE, Word.ALETTER):
    ...     entry = int(machine[state << CLASS_BITS | kind])
    ...     state = entry >> STATE_SHIFT
    ...     breaks.append("taken back" if entry & TAKE_BACK else not entry & JOIN)
    >>> breaks
    [True, True, 'taken back']
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import cache

import numpy as np

from tokbench.kernels.pointers import Bytes
from tokbench.tally.characters import Grapheme, Word

CLASS_BITS = 5
JOIN, TAKE_BACK, STATE_SHIFT = 1, 2, 2
"""An entry: bit 0, no break before the character; bit 1, the last break is taken back; then the next state."""


_W = IntEnum(
    "_W",
    "LINE_START CR OTHER LETTER HEBREW NUMBER KATAKANA EXTEND_NUM_LET REGIONAL LETTER_MIDDLE HEBREW_QUOTE "
    "HEBREW_DOUBLE_QUOTE NUMBER_MIDDLE SPACE",
    start=0,
)
"""What the word rules remember of the text so far, ignored characters (WB4) left out.

LETTER_MIDDLE is a letter and what may stand between two letters, NUMBER_MIDDLE the same of numbers.
"""
_AFTER_ZWJ = 16
"""Added to any of these."""
_WORDY = {_W.LETTER, _W.HEBREW, _W.NUMBER, _W.EXTEND_NUM_LET}
_OWN_STATE = {
    Word.ALETTER: _W.LETTER, Word.HEBREW_LETTER: _W.HEBREW, Word.NUMERIC: _W.NUMBER, Word.KATAKANA: _W.KATAKANA,
    Word.EXTENDNUMLET: _W.EXTEND_NUM_LET, Word.REGIONAL_INDICATOR: _W.REGIONAL, Word.WSEGSPACE: _W.SPACE,
    Word.CR: _W.CR, Word.LF: _W.LINE_START, Word.NEWLINE: _W.LINE_START,
}  # fmt: skip
_BEFORE = {
    Word.ALETTER: _WORDY | {_W.LETTER_MIDDLE, _W.HEBREW_QUOTE},  # WB5, WB7, WB10, WB13b
    Word.HEBREW_LETTER: _WORDY | {_W.LETTER_MIDDLE, _W.HEBREW_QUOTE, _W.HEBREW_DOUBLE_QUOTE},  # WB7c too
    Word.NUMERIC: _WORDY | {_W.NUMBER_MIDDLE},  # WB8, WB9, WB11, WB13b
    Word.KATAKANA: {_W.KATAKANA, _W.EXTEND_NUM_LET},  # WB13, WB13b
    Word.EXTENDNUMLET: _WORDY | {_W.KATAKANA},  # WB13a
    Word.REGIONAL_INDICATOR: {_W.REGIONAL},  # WB15, WB16
    Word.WSEGSPACE: {_W.SPACE},  # WB3d
    Word.LF: {_W.CR},  # WB3
    Word.SINGLE_QUOTE: {_W.HEBREW},  # WB7a
}
"""By class, the states after which there is no break."""
_UNDECIDED = {_W.LETTER_MIDDLE, _W.NUMBER_MIDDLE, _W.HEBREW_DOUBLE_QUOTE}
_BETWEEN_LETTERS = {Word.MIDLETTER, Word.MIDNUMLET, Word.SINGLE_QUOTE}
_BETWEEN_NUMBERS = {Word.MIDNUM, Word.MIDNUMLET, Word.SINGLE_QUOTE}


def _word_step(state: int, kind: int) -> tuple[int, int]:
    """The next state, and the flags of the entry."""
    after_zwj, state = state & _AFTER_ZWJ, state & ~_AFTER_ZWJ
    if kind in (Word.EXTEND, Word.FORMAT, Word.ZWJ):
        zwj = _AFTER_ZWJ if kind == Word.ZWJ else 0
        if state in (_W.LINE_START, _W.CR):
            return _W.OTHER | zwj, 0
        return (_W.OTHER if state == _W.SPACE else state) | zwj, JOIN  # WB4
    pictograph = kind in (Word.PICTOGRAPHIC, Word.PICTOGRAPHIC_LETTER)
    if kind == Word.PICTOGRAPHIC_LETTER:
        kind = Word.ALETTER
    flags = 0
    if state in _BEFORE.get(Word(kind), ()):
        flags = JOIN | TAKE_BACK if state in _UNDECIDED else JOIN
    if after_zwj and pictograph:
        flags |= JOIN  # WB3c
    following: int = _OWN_STATE.get(Word(kind), _W.OTHER)
    if kind == Word.REGIONAL_INDICATOR and flags:
        following = _W.OTHER  # a flag is two of them
    elif kind == Word.SINGLE_QUOTE and flags:
        following = _W.HEBREW_QUOTE
    elif kind in _BETWEEN_LETTERS and state in (_W.LETTER, _W.HEBREW):
        following = _W.LETTER_MIDDLE  # WB6
    elif kind in _BETWEEN_NUMBERS and state == _W.NUMBER:
        following = _W.NUMBER_MIDDLE  # WB12
    elif kind == Word.DOUBLE_QUOTE and state == _W.HEBREW:
        following = _W.HEBREW_DOUBLE_QUOTE  # WB7b
    return following, flags


_G = IntEnum(
    "_G",
    "CONTROL CR OTHER PREPEND L V T REGIONAL PICTOGRAPH PICTOGRAPH_ZWJ CONSONANT CONSONANT_LINKER",
    start=0,
)
"""What the grapheme rules remember of the text so far."""
_G_OWN = {
    Grapheme.CR: _G.CR, Grapheme.LF: _G.CONTROL, Grapheme.CONTROL: _G.CONTROL, Grapheme.PREPEND: _G.PREPEND,
    Grapheme.L: _G.L, Grapheme.V: _G.V, Grapheme.LV: _G.V, Grapheme.T: _G.T, Grapheme.LVT: _G.T,
    Grapheme.REGIONAL_INDICATOR: _G.REGIONAL, Grapheme.PICTOGRAPHIC: _G.PICTOGRAPH,
    Grapheme.CONSONANT: _G.CONSONANT,
}  # fmt: skip
_G_BEFORE = {
    Grapheme.L: {_G.L}, Grapheme.LV: {_G.L}, Grapheme.LVT: {_G.L},  # GB6
    Grapheme.V: {_G.L, _G.V}, Grapheme.T: {_G.V, _G.T},  # GB6, GB7, GB8
    Grapheme.CONSONANT: {_G.CONSONANT_LINKER},  # GB9c
    Grapheme.PICTOGRAPHIC: {_G.PICTOGRAPH_ZWJ},  # GB11
    Grapheme.REGIONAL_INDICATOR: {_G.REGIONAL},  # GB12, GB13
}  # fmt: skip
_EXTENDERS = {
    # GB9c: consonant, extenders with a linker among them; GB11: pictograph, extenders, ZWJ
    (_G.CONSONANT, Grapheme.EXTEND): _G.CONSONANT,
    (_G.CONSONANT, Grapheme.ZWJ): _G.CONSONANT,
    (_G.CONSONANT, Grapheme.LINKER): _G.CONSONANT_LINKER,
    (_G.CONSONANT_LINKER, Grapheme.EXTEND): _G.CONSONANT_LINKER,
    (_G.CONSONANT_LINKER, Grapheme.ZWJ): _G.CONSONANT_LINKER,
    (_G.CONSONANT_LINKER, Grapheme.LINKER): _G.CONSONANT_LINKER,
    (_G.PICTOGRAPH, Grapheme.EXTEND): _G.PICTOGRAPH,
    (_G.PICTOGRAPH, Grapheme.LINKER): _G.PICTOGRAPH,
    (_G.PICTOGRAPH, Grapheme.ZWJ): _G.PICTOGRAPH_ZWJ,
}


def _grapheme_step(state: int, kind: int) -> tuple[int, int]:
    """The next state, and the flags of the entry."""
    if kind in (Grapheme.EXTEND, Grapheme.LINKER, Grapheme.ZWJ, Grapheme.SPACINGMARK):
        joins = state not in (_G.CONTROL, _G.CR)  # GB4, GB9, GB9a
        return _EXTENDERS.get((_G(state), Grapheme(kind)), _G.OTHER), int(joins)
    following: int = _G_OWN.get(Grapheme(kind), _G.OTHER)
    if kind in (Grapheme.CR, Grapheme.LF, Grapheme.CONTROL):
        return following, int(state == _G.CR and kind == Grapheme.LF)  # GB3, GB5
    joins = state == _G.PREPEND or state in _G_BEFORE.get(Grapheme(kind), ())  # GB9b
    if kind == Grapheme.REGIONAL_INDICATOR and state == _G.REGIONAL:
        following = _G.OTHER  # a flag is two of them
    return following, int(joins)


AFTER_FEED = 0
WORD_AFTER_SPACE, GRAPHEME_AFTER_SPACE = int(_W.SPACE), int(_G.OTHER)
"""The states of both machines after a line feed, and of each after a space, whatever came before."""


def _machine(states: int, kinds: type[IntEnum], step: Callable[[int, int], tuple[int, int]]) -> Bytes:
    table = np.zeros(states << CLASS_BITS, np.uint8)
    for state in range(states):
        for kind in kinds:
            following, flags = step(state, kind)
            table[state << CLASS_BITS | kind] = following << STATE_SHIFT | flags
    return table


@cache
def word_machine() -> Bytes:
    """The machine of words, and of the spaces and punctuation between them."""
    return _machine(2 * _AFTER_ZWJ, Word, _word_step)


@cache
def grapheme_machine() -> Bytes:
    """The machine of extended grapheme clusters."""
    return _machine(len(_G), Grapheme, _grapheme_step)
