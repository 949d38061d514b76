"""BERT's text rules as one look-up per code point, for the kernel.

Almost everything the rules do depends on one character alone: it is dropped, ends a word, stands on its own, or
adds some bytes to the word. The one exception is canonical reordering of combining characters; such characters
are marked, and text where two of them meet goes the way of `normalizer` instead.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tokbench_subword.wordpiece import characters
from tokbench_subword.wordpiece.normalizer import BertRules, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

N_CODE_POINTS = 0x110000
N_MAPPED = 0x30000
"""Every code point that decomposes or has a lower case lies below."""

# What a character does; from SPACE on, it ends the word before it.
LETTER, DROPPED, LETTER_MAPPED, ORDERED, SPACE, ALONE, ALONE_MAPPED = range(7)


@dataclass(frozen=True, slots=True, eq=False)
class CharacterTable:
    """What each code point does under some `BertRules`.

    `kinds` is uint8 of shape ``(0x110000,)``; `ascii` uint8 ``(128,)``, the byte that an ASCII character
    becomes; `slots` int32 ``(0x30000,)``, where in `mapped` (uint8) the replacement of a mapped character
    stands: its length in bytes, then its UTF-8.
    """

    kinds: NDArray[np.uint8]
    ascii: NDArray[np.uint8]
    slots: NDArray[np.int32]
    mapped: NDArray[np.uint8]


@lru_cache(maxsize=4)
def character_table(rules: BertRules) -> CharacterTable:
    """The table of some rules, made once per process (some 0.1 s)."""
    import numpy as np

    kinds = np.full(N_CODE_POINTS, LETTER, np.uint8)
    if rules.handle_chinese_chars:
        for first, last in characters.CJK_RANGES:
            kinds[first : last + 1] = ALONE
    kinds[_array(characters.punctuation())] = ALONE
    kinds[_array(characters.WHITESPACE)] = SPACE
    ascii_bytes = np.arange(128, dtype=np.uint8)
    slots = np.zeros(N_MAPPED, np.int32)
    mapped = bytearray(b"\0")
    for point in _changed(rules):
        if kinds[point] == SPACE:  # some decompose into other spaces
            continue
        pieces = [word.text for word in words(chr(point), rules)]
        if not pieces:
            kinds[point] = DROPPED
        elif point < 128:
            ascii_bytes[point] = ord(pieces[0])
        else:
            kind = ALONE if kinds[point] == ALONE or ord(pieces[0][0]) in characters.punctuation() else LETTER
            kinds[point] = ALONE_MAPPED if kind == ALONE else LETTER_MAPPED
            slots[point] = len(mapped)
            replacement = pieces[0].encode()
            mapped += bytes([len(replacement)]) + replacement
    if rules.strip_accents:
        _mark_ordered(kinds, slots, mapped, rules)
    if rules.clean_text:
        kinds[_array(characters.controls())] = DROPPED
    return CharacterTable(kinds, ascii_bytes, slots, np.frombuffer(bytes(mapped), np.uint8))


def _array(points: Iterable[int]) -> NDArray[np.int64]:
    import numpy as np

    return np.array(sorted(points), np.int64)


def _changed(rules: BertRules) -> list[int]:
    """The code points that accents and case rules change or remove, but those they only reorder."""
    changed: set[int] = set()
    if rules.strip_accents:
        changed |= characters.marks() | {
            point
            for point in range(0x80, N_MAPPED)
            if not 0xD800 <= point < 0xE000 and not unicodedata.is_normalized("NFD", chr(point))
        }
    if rules.lowercase:
        changed |= {point for point in range(0x20000) if characters.lowered(chr(point)) != chr(point)}
    return sorted(changed)


def _mark_ordered(
    kinds: NDArray[np.uint8], slots: NDArray[np.int32], mapped: bytearray, rules: BertRules
) -> None:
    """Mark what may have to be reordered, alone or at the end of what it decomposes into."""
    musical = [
        point for first, last in ((0x1D15E, 0x1D164), (0x1D1BB, 0x1D1C0)) for point in range(first, last + 1)
    ]
    for point in sorted([*characters.ordered(), *musical]):
        replacement = next(words(chr(point), rules)).text.encode()
        kinds[point] = ORDERED
        slots[point] = len(mapped)
        mapped += bytes([len(replacement)]) + replacement
