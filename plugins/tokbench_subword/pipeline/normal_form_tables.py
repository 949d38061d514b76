"""The tables of a normal form, for its kernels: how each character decomposes and composes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.kernels.utf8 import widths_by_first_byte
from tokbench_subword.pipeline import normal_forms
from tokbench_subword.pipeline.normal_forms import Form

(
    WIDTHS,  # uint8 (256,): `widths_by_first_byte`, 0 where a character may be SPECIAL
    ABOUT,  # uint32 (0x110000,): flags, and above them where in PARTS the character's parts stand
    PARTS,  # uint32: the parts of characters, after their number
    PAIRS,  # int64 (`PAIR_SLOTS`,), a hash table: two characters, and above 21 bits what they compose to
    COMPOSES,  # int64 (1,): 0 for NFD and NFKD
) = range(5)
"""The tables of one form."""
CLASS = 0xFF
"""Mask of a character's canonical combining class, in its number of `ABOUT`."""
NEVER, SECOND, FIRST, TAKEN_APART, JOINS = 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12
"""Flags of a character: it never occurs in the form; it may compose with the one before it; with the one after
it; it decomposes; it can affect, or be affected by, the text before it.
"""
SPECIAL = CLASS | NEVER | SECOND | JOINS
"""A character without any of these is independent of the text before it."""
PARTS_SHIFT = 13
MOST_PARTS = 18
"""The most parts that a character decomposes into (U+FDFA)."""
PAIR_SLOTS = 4096

FIRST_L, FIRST_V, BEFORE_T, FIRST_SYLLABLE = 0x1100, 0x1161, 0x11A7, 0xAC00
N_L, N_V, N_T = 19, 21, 28
N_SYLLABLES = N_L * N_V * N_T


@lru_cache(maxsize=4)
def normal_form_tables(form: Form) -> tuple[NDArray[Any], ...]:
    """The tables of a form, made once per process (some 20 ms)."""
    composes, compatible = form in ("NFC", "NFKC"), form in ("NFKC", "NFKD")
    classes, taken_apart = normal_forms.combining_classes(), normal_forms.parts_of(compatible=compatible)
    composing = normal_forms.pairs()
    about = np.zeros(N_CODE_POINTS, np.uint32)

    def mark(points: Any, flags: int) -> None:
        about[points] |= np.uint32(flags)

    for character, number in classes.items():
        mark(ord(character), number)
    mark(_points(normal_forms.joining(form)), JOINS)
    syllables = np.arange(FIRST_SYLLABLE, FIRST_SYLLABLE + N_SYLLABLES)
    mark(syllables, TAKEN_APART if composes else TAKEN_APART | NEVER)
    composed: set[str] = set()
    if composes:
        canonical = normal_forms.parts_of(compatible=False)
        composed = {pair[2] for pair in composing if taken_apart[pair[2]] == canonical[pair[2]]}
        mark(_points({pair[0] for pair in composing}), FIRST)
        mark(np.arange(FIRST_L, FIRST_L + N_L), FIRST)
        mark(syllables[::N_T], FIRST)
        mark(_points({*normal_forms.VOWELS, *normal_forms.FINALS, *(pair[1] for pair in composing)}), SECOND)
    parts = [0]
    for character, those in taken_apart.items():
        flags = TAKEN_APART | (0 if character in composed else NEVER)
        about[ord(character)] |= flags | len(parts) << PARTS_SHIFT
        parts += [len(those), *map(ord, those)]
    widths, numbers = widths_by_first_byte(about & np.uint32(SPECIAL) != 0), np.array([composes], np.int64)
    return widths, about, np.array(parts, np.uint32), _hashed(composing), numbers


def pair_slot(first: Any, second: Any) -> Any:
    """The slot at which the search for a pair of code points begins."""
    return (first * 2654435761 + second * 40503 >> 8) & (PAIR_SLOTS - 1)


def _points(characters: Any) -> NDArray[np.int64]:
    return np.fromiter(map(ord, characters), np.int64)


def _hashed(composing: list[str]) -> NDArray[np.int64]:
    table = np.zeros(PAIR_SLOTS, np.int64)
    for pair in composing:
        first, second, whole = map(ord, pair)
        slot = pair_slot(first, second)
        while table[slot]:
            slot = (slot + 1) & (PAIR_SLOTS - 1)
        table[slot] = first << 42 | second << 21 | whole
    return table
