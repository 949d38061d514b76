"""Normalizers that look at one code point only, as tables; neighbouring ones make one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.pointers import PADDING
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.kernels.utf8 import encodable
from tokbench_subword.pipeline import bert, normal_forms
from tokbench_subword.pipeline.added_tokens import SPACE
from tokbench_subword.pipeline.normal_form_kernel import FIRST_SYLLABLE, N_SYLLABLES, lead_steps
from tokbench_subword.pipeline.normal_forms import Form, changing, combining_classes, marks
from tokbench_subword.pipeline.precompiled import NMT

(
    LENGTHS,  # uint8 (256,): how many bytes an ASCII character becomes, those of its row in SHORTS, or LOOK_UP
    STEPS,  # uint8 (256,): the bytes of a character that begins with some byte, 0 where one of those is changed
    ENTRIES,  # int32 (0x110000,): see below
    STARTS,  # int32
    BLOB,  # uint8
    ORDERED_FROM,  # int64 (1,): two characters with entries from this one on must not meet
    SHORTS,  # uint8 (256 * SHORT,)
) = range(7)
"""The tables of a `Rewriting`. Of ENTRIES, 0 says that a character stays; k that it becomes
``BLOB[STARTS[2 * k]:STARTS[2 * k + 2]]``; -k that it stays and that is put around it, what begins at
``STARTS[2 * k + 1]`` behind it.
"""
LOOK_UP, SHORT = 0xFF, 16
"""In LENGTHS: the byte is no whole character, or becomes nothing or more than SHORT bytes."""
SELF = "\ud800"
"""In what characters become: the character itself. Text has no surrogates."""
_MOST_ORDERED = 256


@dataclass(frozen=True, slots=True, eq=False)
class Rewriting:
    """What becomes of each code point: ``becomes[numbers[point]]``, where 0 is the character as it is.

    `numbers` is int32 of shape ``(0x110000,)``. What becomes of two characters of `ordered`, where they meet,
    depends on which of them has the higher combining class: that is not told here.

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
        n_mine, n_later = len(self.becomes), len(later.becomes)
        kept = [number for number, new in enumerate(self.becomes) if SELF in new]
        # a key is a number of mine; where the character stays in what becomes of it, also one of `later`
        first_key, stays = np.arange(n_mine), np.zeros(n_mine, np.int32)
        first_key[kept], stays[kept] = n_mine + n_later * np.arange(len(kept)), 1
        points = np.flatnonzero(self.numbers | later.numbers)
        mine = self.numbers[points]
        keys = first_key[mine] + stays[mine] * later.numbers[points]
        number_of_key = np.zeros(n_mine + n_later * len(kept), np.int32)
        number_of_key[keys] = 1
        becomes = {SELF: 0}
        again = {one: later.rewritten(one) for one in set("".join(self.becomes)) - {SELF}}
        for key in np.flatnonzero(number_of_key).tolist():
            index, other = divmod(key - n_mine, n_later) if key >= n_mine else (0, 0)
            text = self.becomes[kept[index] if key >= n_mine else key]
            new = "".join([again.get(one, later.becomes[other]) for one in text])
            number_of_key[key] = becomes.setdefault(new, len(becomes))
        numbers = np.zeros(N_CODE_POINTS, np.int32)
        numbers[points] = number_of_key[keys]
        return Rewriting(numbers, tuple(becomes))._without_what_stays()

    def around(self, form: Form, later: Rewriting) -> Rewriting | None:
        """Before NFD or NFKD, and `later` behind: as one. None where too many characters may be put in order.

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


@lru_cache(maxsize=1)
def lowered() -> Rewriting:
    """``Lowercase``."""
    upper = (point for point in range(0x20000) if normal_forms.lowered(chr(point)) != chr(point))
    return Rewriting.of({point: normal_forms.lowered(chr(point)) for point in upper})


@lru_cache(maxsize=1)
def without_marks() -> Rewriting:
    """``StripAccents``."""
    return Rewriting.of_all(marks(), "")


def nmt() -> Rewriting:
    """``Nmt``."""
    return Rewriting.of(NMT)


def bert_cleaned(*, clean: bool, spaced: bool) -> Rewriting:
    """The first two rules of ``BertNormalizer``: `clean_text`, `handle_chinese_chars`."""
    ideographs = (point for first, last in bert.IDEOGRAPHS for point in range(first, last + 1))
    dropped = Rewriting.of_all(bert.controls() if clean else (), "")
    spaces = Rewriting.of_all(map(ord, SPACE if clean else ""), " ")
    return dropped.then(spaces).then(Rewriting.of_all(ideographs if spaced else (), f" {SELF} "))


def without_nonspacing_marks() -> Rewriting:
    """The third rule of ``BertNormalizer``, `strip_accents`, after NFD."""
    return Rewriting.of_all(bert.marks(), "")
