"""What the kernel of normal forms looks up, made from those of `normal_forms`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tokbench.kernels.copies import Stays
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench_subword.pipeline.normal_forms import Form, combining_classes, pairs, parts_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLASS = 0xFF
"""Mask of a character's canonical combining class, in its number of `ABOUT`."""
NEVER, SECOND, FIRST, TAKEN_APART, JOINS = 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12
"""It never stands in the form; it may compose with one before; with one behind; has parts; or can affect, or be
affected by, what is before it.
"""
SPECIAL = CLASS | NEVER | SECOND | JOINS
"""A character without any of these begins anew: what is before it and what it begins do not meet."""
PARTS_SHIFT = 13
MOST_PARTS = 18
"""Parts of a character, at the most (U+FDFA)."""
PAIR_SLOTS = 4096

FIRST_L, FIRST_V, BEFORE_T, FIRST_SYLLABLE = 0x1100, 0x1161, 0x11A7, 0xAC00
N_L, N_V, N_T = 19, 21, 28
N_SYLLABLES = N_L * N_V * N_T


@dataclass(frozen=True, slots=True, eq=False)
class NormalFormTables(Stays):
    """The tables of one form.

    `steps` is uint8 of shape ``(256,)``: the bytes of a character that begins with some byte, or 0 where it may
    be a SPECIAL one. `about`, uint32 ``(0x110000,)``, has a character's flags, and above them where in `parts`
    (uint32) its parts stand, after their number. `pairs`, int64 ``(PAIR_SLOTS,)``, is a hash table: two
    characters and above 21 bits what they compose to. `composes`, int64 ``(1,)``: 0 for NFD and NFKD. `block`
    has the addresses of all.
    """

    steps: NDArray[np.uint8]
    about: NDArray[np.uint32]
    parts: NDArray[np.uint32]
    pairs: NDArray[np.int64]
    composes: NDArray[np.int64]
    block: Any


@lru_cache(maxsize=4)
def normal_form_tables(form: Form) -> NormalFormTables:
    """The tables of a form, made once per process (some 20 ms)."""
    import numpy as np

    from tokbench.kernels.pointers import block

    composes, compatible = form in ("NFC", "NFKC"), form in ("NFKC", "NFKD")
    classes, taken_apart = combining_classes(), parts_of(compatible=compatible)
    composing = pairs()
    about = np.zeros(N_CODE_POINTS, np.uint32)

    def mark(points: Any, flags: int) -> None:
        about[points] |= np.uint32(flags)

    for character, number in classes.items():
        mark(ord(character), number | JOINS)
    syllables = np.arange(FIRST_SYLLABLE, FIRST_SYLLABLE + N_SYLLABLES)
    mark(syllables, TAKEN_APART if composes else TAKEN_APART | NEVER)
    composed: set[str] = set()
    seconds = {pair[1] for pair in composing} | {chr(FIRST_V + index) for index in range(N_V)}
    seconds |= {chr(BEFORE_T + index) for index in range(1, N_T)}
    if composes:
        canonical = parts_of(compatible=False)
        composed = {pair[2] for pair in composing if taken_apart[pair[2]] == canonical[pair[2]]}
        mark(_points({pair[0] for pair in composing}), FIRST)
        mark(np.arange(FIRST_L, FIRST_L + N_L), FIRST)
        mark(syllables[::N_T], FIRST)
        mark(_points(seconds), SECOND | JOINS)
    parts = [0]
    for character, those in taken_apart.items():
        joins = those[0] in classes or (composes and those[0] in seconds)
        flags = TAKEN_APART | (0 if character in composed else NEVER) | (JOINS if joins else 0)
        about[ord(character)] |= flags | len(parts) << PARTS_SHIFT
        parts += [len(those), *map(ord, those)]
    steps, numbers = lead_steps(about & np.uint32(SPECIAL) != 0), np.array([composes], np.int64)
    arrays = (steps, about, np.array(parts, np.uint32), _hashed(composing), numbers)
    return NormalFormTables(*arrays, block(arrays))


def pair_slot(first: Any, second: Any) -> Any:
    """Where the search for a pair of code points begins."""
    return (first * 2654435761 + second * 40503 >> 8) & (PAIR_SLOTS - 1)


def _points(characters: Any) -> NDArray[np.int64]:
    import numpy as np

    return np.fromiter(map(ord, characters), np.int64)


def _hashed(composing: list[str]) -> NDArray[np.int64]:
    import numpy as np

    table = np.zeros(PAIR_SLOTS, np.int64)
    for pair in composing:
        first, second, whole = map(ord, pair)
        slot = pair_slot(first, second)
        while table[slot]:
            slot = (slot + 1) & (PAIR_SLOTS - 1)
        table[slot] = first << 42 | second << 21 | whole
    return table


def lead_steps(special: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """For each byte, how many bytes the characters have that begin with it, or 0 if one of them is special."""
    import numpy as np

    steps = np.zeros(256, np.uint8)
    for width, firsts, size in ((1, range(0x80), 1), (2, range(0xC2, 0xE0), 64), (3, range(0xE0, 0xF0), 4096)):
        for byte in firsts:
            begin = max((0, 0x80, 0x800)[width - 1], (byte - (0, 0xC0, 0xE0)[width - 1]) * size)
            end = (byte + 1 - (0, 0xC0, 0xE0)[width - 1]) * size
            steps[byte] = 0 if special[begin:end].any() else width
    return steps
