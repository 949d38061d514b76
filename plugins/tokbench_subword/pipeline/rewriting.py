"""Normalizers that look at one code point only, as tables; neighbouring ones make one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.pointers import PADDING
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.kernels.utf8 import encodable
from tokbench_subword.pipeline.normal_form_tables import FIRST_SYLLABLE, N_SYLLABLES, lead_steps
from tokbench_subword.pipeline.normal_forms import Form, changing, combining_classes
from tokbench_subword.pipeline.normalizers import SELF
from tokbench_subword.pipeline.rewriting_kernel import LOOK_UP, SHORT

_MOST_ORDERED = 256


@dataclass(frozen=True, slots=True, eq=False)
class Rewriting:
    """What becomes of each code point: ``becomes[numbers[point]]``, where 0 is the character as it is.

    `numbers` is int32 of shape ``(0x110000,)``. Where two characters of `ordered` meet, what becomes of them
    also depends on which has the higher combining class, which is not told here.

    Example:
        >>> both = Rewriting.of({0x41: "a"}).then(Rewriting.of({0x61: f"-{SELF}-", 0x42: ""}))
        >>> both.rewritten("ABC")
        '-a-C'
    """

    numbers: NDArray[np.int32]
    becomes: tuple[str, ...] = (SELF,)
    ordered: frozenset[int] = frozenset()

    @classmethod
    def of(cls, changes: Mapping[int, str]) -> Rewriting:
        """A rewriting of some code points."""
        numbers = np.zeros(N_CODE_POINTS, np.int32)
        number_of = {new: number for number, new in enumerate(dict.fromkeys((SELF, *changes.values())))}
        each = np.fromiter(map(number_of.__getitem__, changes.values()), np.int32)
        numbers[np.fromiter(changes, np.int64)] = each
        return cls(numbers, tuple(number_of))._without_what_stays()

    def rewritten(self, text: str) -> str:
        """What becomes of some text."""
        return "".join(self.becomes[self.numbers[ord(one)]].replace(SELF, one) for one in text)

    def then(self, later: Rewriting) -> Rewriting:
        """Both as one: `later` works on what this one makes."""
        points = np.flatnonzero(self.numbers | later.numbers)
        mine, stays = self.numbers[points], np.array([SELF in new for new in self.becomes])
        # a key is a number of mine and, where the character stays in what becomes of it, one of `later`
        keys = mine * np.int64(len(later.becomes)) + stays[mine] * later.numbers[points]
        begins = np.flatnonzero(np.diff(keys, prepend=-1))  # neighbours mostly become the same: fewer to sort
        several, which = np.unique(keys[begins], return_inverse=True)
        mine_too = set("".join(self.becomes)) - {SELF}
        again = {ord(one): made for one in mine_too if (made := later.rewritten(one)) != one}
        both = (divmod(key, len(later.becomes)) for key in several.tolist())
        new = [self.becomes[k].translate(again).replace(SELF, later.becomes[j]) for k, j in both]
        number_of = {one: number for number, one in enumerate(dict.fromkeys((SELF, *new)))}
        numbers = np.zeros(N_CODE_POINTS, np.int32)
        each = np.array([number_of[one] for one in new], np.int32)[which]
        numbers[points] = np.repeat(each, np.diff(begins, append=len(keys)))
        return Rewriting(numbers, tuple(number_of))._without_what_stays()

    def around(self, form: Form, later: Rewriting) -> Rewriting | None:
        """All three as one: this, then NFD or NFKD, then `later`; None where too many may be reordered.

        Those are marks, and nearly all are gone where `later` strips accents.
        """
        classes = combining_classes()
        left = {character for character in classes if later.rewritten(character)}
        if len(left) > _MOST_ORDERED:
            return None
        apart = self.then(_taken_apart(form))
        ordered = {ord(one) for one in left if SELF in apart.becomes[apart.numbers[ord(one)]]}
        kinds = [number for number, new in enumerate(apart.becomes) if not left.isdisjoint(new)]
        ordered.update(np.flatnonzero(np.isin(apart.numbers, kinds)).tolist() if kinds else ())
        return replace(apart.then(later), ordered=frozenset(ordered))

    def _without_what_stays(self) -> Rewriting:
        for number, new in enumerate(self.becomes):
            if len(new) == 1 and new != SELF and self.numbers[ord(new)] == number:
                self.numbers[ord(new)] = 0
        return self


def rewriting_tables(rewriting: Rewriting) -> tuple[NDArray[Any], ...]:
    """The tables of a `Rewriting` (a few ms)."""
    signs = np.array([1, *(-1 if SELF in new else 1 for new in rewriting.becomes[1:])], np.int32)
    entries = rewriting.numbers * signs[rewriting.numbers]
    ordered = sorted(rewriting.ordered)
    entries[ordered] = np.arange(len(ordered)) + len(rewriting.becomes)
    halves = [b"", b""]
    for new in (*rewriting.becomes[1:], *(rewriting.rewritten(chr(point)) for point in ordered)):
        before, _, behind = new.partition(SELF)
        halves += [encodable(before), encodable(behind)]
    starts = np.cumsum([0, *map(len, halves)], dtype=np.int32)
    blob = np.frombuffer(bytearray(b"".join(halves) + bytes(PADDING)), np.uint8)
    lengths, short = np.full(256, LOOK_UP, np.uint8), np.zeros((256, SHORT), np.uint8)
    for byte in set(range(0x80)) - rewriting.ordered:
        becomes = encodable(rewriting.rewritten(chr(byte)))
        if 0 < len(becomes) <= SHORT:
            lengths[byte], short[byte, : len(becomes)] = len(becomes), list(becomes)
    ordered_from = np.array([len(rewriting.becomes)])
    return lengths, lead_steps(entries != 0), entries, starts, blob, ordered_from, short.reshape(-1)


@lru_cache(maxsize=2)
def _taken_apart(form: Form) -> Rewriting:
    """NFD or NFKD of each character by itself."""
    syllables = range(FIRST_SYLLABLE, FIRST_SYLLABLE + N_SYLLABLES)
    return Rewriting.of({point: normalize(form, chr(point)) for point in (*sorted(changing()), *syllables)})
