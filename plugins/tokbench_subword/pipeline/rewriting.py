"""Normalizers that look at single code points, as tables; neighbouring ones become one table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.pointers import PADDING
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.kernels.utf8 import widths_by_first_byte
from tokbench_subword.pipeline.normal_form_tables import FIRST_SYLLABLE, N_SYLLABLES
from tokbench_subword.pipeline.normal_forms import Form, changing, combining_classes
from tokbench_subword.pipeline.normalizers import SELF, by_text
from tokbench_subword.pipeline.rewriting_kernel import LOOK_UP, SHORT

_MOST_ORDERED = 256
_BETWEEN = "\ud801"
"""Separates texts that are processed as one; like `SELF`, it occurs in none of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Rewriting:
    """The result for each code point: from ``starts[k]`` to the next start it is ``becomes[numbers[k]]``.

    Number 0 means that the character stays. `starts` (the first is 0) and `numbers` are int64; most
    neighbouring code points have the same result. If two characters of `ordered` stand side by side, the result
    also depends on their combining classes, which these tables do not contain.

    Example:
        >>> both = Rewriting.of({0x41: "a"}).then(Rewriting.of({0x61: f"-{SELF}-", 0x42: ""}))
        >>> both.rewritten("ABC")
        '-a-C'
    """

    starts: NDArray[np.int64]
    numbers: NDArray[np.int64]
    becomes: tuple[str, ...] = (SELF,)
    ordered: frozenset[int] = frozenset()

    @classmethod
    def of(cls, changes: Mapping[int, str]) -> Rewriting:
        """A rewriting of some code points."""
        return cls.to(by_text(changes))

    @classmethod
    def to(cls, points: Mapping[str, Collection[int]]) -> Rewriting:
        """A rewriting from the code points for each text; if a point has several texts, the last counts."""
        becomes = (SELF, *points)
        given = np.fromiter(chain.from_iterable(points.values()), np.int64)
        given, numbers = _in_order(given, np.repeat(np.arange(1, len(becomes)), [*map(len, points.values())]))
        first = np.diff(given - numbers * N_CODE_POINTS, prepend=-1) != 1  # of a run of neighbours
        last = np.append(first[1:], True)[: len(first)]
        # what is given begins anew where the run before it ends
        starts = np.concatenate(([0], given[last] + 1, given[first]))
        numbers = np.append(np.zeros(1 + len(given[last]), np.int64), numbers[first])
        return cls(*_in_order(starts, numbers), becomes)._changing()

    def rewritten(self, text: str) -> str:
        """The result for a text."""
        return "".join(self.each(np.array([*map(ord, text)], np.int64)))

    def each(self, points: NDArray[np.int64]) -> list[str]:
        """The results for some code points."""
        found = zip(points.tolist(), self.numbers_of(points).tolist(), strict=True)
        return [self.becomes[number].replace(SELF, chr(point)) for point, number in found]

    def numbers_of(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the results for some code points."""
        return self.numbers[np.searchsorted(self.starts, points, "right") - 1]

    def then(self, later: Rewriting) -> Rewriting:
        """One rewriting that does the work of this one and then of `later`."""
        starts = np.union1d(self.starts, later.starts)
        mine, stays = self.numbers_of(starts), np.array([SELF in new for new in self.becomes])
        # a key is a number of mine and, where the character stays in what becomes of it, one of `later`
        keys, which = np.unique(
            mine * len(later.becomes) + stays[mine] * later.numbers_of(starts), return_inverse=True
        )
        of_mine, of_later = np.divmod(keys, len(later.becomes))
        made = self._all_rewritten(later)
        new = [made[number] for number in of_mine.tolist()]
        for k in np.flatnonzero(stays[of_mine]).tolist():
            new[k] = new[k].replace(SELF, later.becomes[of_later[k]])
        number_of = {one: number for number, one in enumerate(dict.fromkeys((SELF, *new)))}
        numbers = np.array([number_of[one] for one in new], np.int64)[which]
        return Rewriting(starts, numbers, tuple(number_of))._changing()

    def around(self, form: Form, later: Rewriting) -> Rewriting | None:
        """One rewriting for this, then NFD or NFKD, then `later`; None if too many characters may be reordered.

        Only marks are reordered, and nearly all of them are gone if `later` strips accents.
        """
        classes = combining_classes()
        marks = np.array([*map(ord, classes)], np.int64)
        left = {mark for mark, new in zip(classes, later.each(marks), strict=True) if new}
        if len(left) > _MOST_ORDERED:
            return None
        apart = self.then(_taken_apart(form))
        kept = np.array([SELF in new for new in apart.becomes])[apart.numbers_of(marks)]
        ordered = {int(mark) for mark in marks[kept] if chr(mark) in left}
        kinds = [number for number, new in enumerate(apart.becomes) if not left.isdisjoint(new)]
        ends = np.append(apart.starts[1:], N_CODE_POINTS)
        for run in np.flatnonzero(np.isin(apart.numbers, kinds)) if kinds else ():
            ordered.update(range(apart.starts[run], ends[run]))
        return replace(apart.then(later), ordered=frozenset(ordered))

    def _all_rewritten(self, later: Rewriting) -> list[str]:
        """The results of `later` for all of `becomes`; `SELF` stays `SELF`."""
        characters = np.array([ord(one) for one in {*"".join(self.becomes)} - {SELF}], np.int64)
        changing = characters[later.numbers_of(characters) != 0]
        again = dict(zip(changing.tolist(), later.each(changing), strict=True))
        # as one text: to translate thousands of short ones takes eight times as long
        return _BETWEEN.join(self.becomes).translate(again).split(_BETWEEN)

    def _changing(self) -> Rewriting:
        """The same rewriting, in which a character that becomes itself counts as one that stays."""
        single = [(ord(new), k) for k, new in enumerate(self.becomes) if len(new) == 1 and new != SELF]
        points, own = np.array(single, np.int64).reshape(-1, 2).T
        stays = self.numbers_of(points) == own
        points, own = points[stays], own[stays]
        starts = np.concatenate((points + 1, self.starts, points))
        numbers = np.concatenate((own, self.numbers, np.zeros_like(own)))
        return Rewriting(*_in_order(starts, numbers), self.becomes, self.ordered)


def _in_order(
    points: NDArray[np.int64], numbers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Points in order, each once, and their numbers: the last that each is given."""
    points, last = np.unique(points[::-1], return_index=True)
    return points, numbers[::-1][last]


def rewriting_tables(rewriting: Rewriting) -> tuple[NDArray[Any], ...]:
    """The tables of a `Rewriting` (a few ms)."""
    signs = np.array([1, *(-1 if SELF in new else 1 for new in rewriting.becomes[1:])], np.int32)
    entries = np.repeat(
        (rewriting.numbers * signs[rewriting.numbers]).astype(np.int32),
        np.diff(rewriting.starts, append=N_CODE_POINTS),
    )
    ordered = sorted(rewriting.ordered)
    entries[ordered] = np.arange(len(ordered)) + len(rewriting.becomes)
    changed = [*rewriting.becomes[1:], *rewriting.each(np.array(ordered, np.int64))]
    starts, blob = _halves(changed)
    lengths, short = np.full(256, LOOK_UP, np.uint8), np.zeros((256, SHORT), np.uint8)
    for byte, new in enumerate(rewriting.each(np.arange(0x80))):
        becomes = new.encode()
        if byte not in rewriting.ordered and 0 < len(becomes) <= SHORT:
            lengths[byte], short[byte, : len(becomes)] = len(becomes), list(becomes)
    ordered_from = np.array([len(rewriting.becomes)])
    return lengths, widths_by_first_byte(entries != 0), entries, starts, blob, ordered_from, short.reshape(-1)


def _halves(changed: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """The UTF-8 before and after `SELF` in each text, end to end, and where each half starts.

    The first two halves are empty: they belong to a character that stays.
    """
    both = [_BETWEEN, *(new.replace(SELF, _BETWEEN) if SELF in new else new + _BETWEEN for new in changed), ""]
    text = _BETWEEN.join(both)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    between = points == ord(_BETWEEN)
    sizes = 1 + np.sum([points >= least for least in (0x80, 0x800, 0x10000)], axis=0)
    ends = np.cumsum(np.where(between, 0, sizes), dtype=np.int32)[between]
    blob = text.replace(_BETWEEN, "").encode() + bytes(PADDING)
    return np.append(np.int32(0), ends), np.frombuffer(bytearray(blob), np.uint8)


@lru_cache(maxsize=2)
def _taken_apart(form: Form) -> Rewriting:
    """NFD or NFKD of each character by itself."""
    characters = map(chr, (*sorted(changing()), *range(FIRST_SYLLABLE, FIRST_SYLLABLE + N_SYLLABLES)))
    text = "\n".join(characters)  # nothing meets across a line end
    return Rewriting.of(dict(zip(map(ord, text[::2]), normalize(form, text).split("\n"), strict=True)))
