"""Normalizers that look at one code point only, as tables; neighbouring ones make one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.pointers import PADDING, block
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.kernels.utf8 import encodable
from tokbench_subword.pipeline import unicode_9
from tokbench_subword.pipeline.normal_form_tables import entries, lead_steps
from tokbench_subword.pipeline.precompiled import NMT

LOOK_UP = 0xFF
"""In `RewritingTables.bytes`: what becomes of it is not one byte, or the byte is no whole character."""
SELF = "\ud800"
"""In what characters become: the character itself. Text has no surrogates."""


@dataclass(frozen=True, slots=True, eq=False)
class Rewriting:
    """What becomes of each code point: ``becomes[numbers[point]]``, where 0 is the character as it is.

    `numbers` is int32 of shape ``(0x110000,)``.

    Example:
        >>> both = Rewriting.of({0x41: "a"}).then(Rewriting.of({0x61: f"-{SELF}-", 0x42: ""}))
        >>> both.rewritten("ABC")
        '-a-C'
    """

    numbers: NDArray[np.int32]
    becomes: tuple[str, ...] = (SELF,)

    @classmethod
    def of(cls, changes: Mapping[int, str]) -> Rewriting:
        """A rewriting of some code points."""
        numbers = np.zeros(N_CODE_POINTS, np.int32)
        number_of = {new: number for number, new in enumerate(dict.fromkeys((SELF, *changes.values())))}
        numbers[np.fromiter(changes, np.int64)] = [number_of[new] for new in changes.values()]
        return cls(numbers, tuple(number_of))._without_what_stays()

    @classmethod
    def of_all(cls, points: Iterable[int], new: str) -> Rewriting:
        """A rewriting of code points to the same."""
        numbers = np.zeros(N_CODE_POINTS, np.int32)
        numbers[np.fromiter(points, np.int64)] = 1
        return cls(numbers, (SELF, new))._without_what_stays()

    def rewritten(self, text: str) -> str:
        """What becomes of some text."""
        return "".join(self.becomes[self.numbers[ord(one)]].replace(SELF, one) for one in text)

    def then(self, later: Rewriting) -> Rewriting:
        """Both, the other on what this one makes."""
        points = np.flatnonzero(self.numbers | later.numbers)
        pairs = self.numbers[points].astype(np.int64) << 32 | later.numbers[points]
        kinds, inverse = np.unique(pairs, return_inverse=True)
        becomes = {SELF: 0}
        numbers_of_kinds = []
        for kind in kinds.tolist():
            parts = self.becomes[kind >> 32].split(SELF)
            new = later.becomes[kind & 0xFFFFFFFF].join(later.rewritten(part) for part in parts)
            numbers_of_kinds.append(becomes.setdefault(new, len(becomes)))
        numbers = np.zeros(N_CODE_POINTS, np.int32)
        numbers[points] = np.array(numbers_of_kinds, np.int32)[inverse]
        return Rewriting(numbers, tuple(becomes))._without_what_stays()

    def _without_what_stays(self) -> Rewriting:
        for number, new in enumerate(self.becomes):
            if len(new) == 1 and new != SELF and self.numbers[ord(new)] == number:
                self.numbers[ord(new)] = 0
        return self


@dataclass(frozen=True, slots=True, eq=False)
class RewritingTables:
    """A `Rewriting` as the kernel looks it up.

    `bytes` is uint8 of shape ``(256,)``: the byte that an ASCII character becomes, or LOOK_UP. `steps`, uint8
    ``(256,)``: how many bytes a character has that begins with this one, if none that does is changed, else 0.
    `entries`, int32 ``(0x110000,)``: 0 where a character stays; k where it becomes
    ``blob[starts[2 * k]:starts[2 * k + 2]]``; -k where it stays and that is put around it, what begins at
    ``starts[2 * k + 1]`` behind it. `block` has the addresses of all.
    """

    bytes: NDArray[np.uint8]
    steps: NDArray[np.uint8]
    entries: NDArray[np.int32]
    starts: NDArray[np.int32]
    blob: NDArray[np.uint8]
    block: Any


def rewriting_tables(rewriting: Rewriting) -> RewritingTables:
    """The tables of a `Rewriting` (a few ms)."""
    entries = rewriting.numbers
    signs = np.array([1, *(-1 if SELF in new else 1 for new in rewriting.becomes[1:])], np.int32)
    if signs.min() < 0:
        entries = entries * signs[entries]
    halves = [b"", b""]
    for new in rewriting.becomes[1:]:
        before, _, behind = new.partition(SELF)
        halves += [encodable(before), encodable(behind)]
    starts = np.cumsum([0, *map(len, halves)], dtype=np.int32)
    blob = np.frombuffer(bytearray(b"".join(halves) + bytes(PADDING)), np.uint8)
    single = np.full(256, LOOK_UP, np.uint8)
    for byte in range(0x80):
        new = rewriting.rewritten(chr(byte))
        if len(new) == 1 and new.isascii():
            single[byte] = ord(new)
    arrays = (single, lead_steps(entries != 0), entries, starts, blob)
    return RewritingTables(*arrays, block(arrays))


@lru_cache(maxsize=1)
def lowered() -> Rewriting:
    """``Lowercase``."""
    from tokbench_subword.wordpiece.characters import LATER_LOWER_CASE

    later = {
        point: chr(point + offset)
        for first, last, offset in LATER_LOWER_CASE
        for point in range(first, last + 1)
    }
    return Rewriting.of(
        later | {point: low for point in range(0x20000) if (low := chr(point).lower()) != chr(point)}
    )


@lru_cache(maxsize=1)
def without_marks() -> Rewriting:
    """``StripAccents``."""
    return Rewriting.of_all(map(ord, entries(unicode_9.MARKS)[0]), "")


def nmt() -> Rewriting:
    """``Nmt``."""
    return Rewriting.of(NMT)


def bert_cleaned(*, clean: bool, spaced: bool) -> Rewriting:
    """The first two rules of ``BertNormalizer``: `clean_text`, `handle_chinese_chars`."""
    from tokbench_subword.wordpiece.characters import CJK_RANGES, WHITESPACE, controls

    ideographs = (point for first, last in CJK_RANGES for point in range(first, last + 1))
    dropped = Rewriting.of_all(controls() if clean else (), "")
    spaces = Rewriting.of_all(WHITESPACE if clean else (), " ")
    return dropped.then(spaces).then(Rewriting.of_all(ideographs if spaced else (), f" {SELF} "))


def without_nonspacing_marks() -> Rewriting:
    """The third rule of ``BertNormalizer``, `strip_accents`, after NFD."""
    from tokbench_subword.wordpiece.characters import marks

    return Rewriting.of_all(marks(), "")
