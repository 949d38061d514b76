"""Composes two machines that cut one after the other, the second within the pieces of the first, into one.

For the second machine, a piece of the first is a whole text. So a pair of rows, and a class for each pair of
classes, determine what both do with the next character; where the first cuts, the second reads the end of its
text and begins again. If the first reports an end late, the second has to wait: the characters before which
there may still be a cut are part of the configuration, and the second reads them once that is decided. The same
holds for the characters of a piece while the first has not decided whether to keep it.

With this, consecutive pre-tokenizers of a `tokenizer.json` need one pass over the text. If numbers, then
ideographs, then words are cut, a cold pass takes 0.7 (code) to 0.9 (21 languages) of the time of one cutter
after the other, a warm one 0.55 (code) and 0.35 (Chinese, Japanese and Thai).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tokbench_subword.pipeline.patterns.automaton import MOST_CLASSES
from tokbench_subword.pipeline.patterns.machine import EDGE, PAGE, Configurations, End, Ends, Machine
from tokbench_subword.pipeline.patterns.tree import NotExpressible

_MOST_WAITING = 8
"""The most characters that the second machine may have to wait for."""
_TOO_LATE = "a match whose end is certain too late for the cutters beside it"


class _Steps:
    """The steps of a machine, by row and class."""

    def __init__(self, machine: Machine) -> None:
        self.rows, self.edge = machine.next_rows, int(machine.settings[EDGE])
        self._ends = machine.ends

    def told(self, row: int, read: int) -> Ends:
        """The ends reported; raises `NotExpressible` if the machine has to read on."""
        ends = self._ends[row][read]
        if ends is None:
            raise NotExpressible(_TOO_LATE)
        return ends

    def undecided(self) -> list[int]:
        """For each row, the number of last characters before or between which there may still be a cut."""
        reads = range(self.edge + 1)
        told = [[end for read in reads for end in self.told(row, read)] for row in range(len(self.rows))]
        if any(end.over for ends in told for end in ends):
            raise NotExpressible(_TOO_LATE)
        latest = [max((end.back for end in ends), default=0) for ends in told]
        most = latest
        while most != (
            later := [max(latest[k], *(most[one] - 1 for one in row)) for k, row in enumerate(self.rows)]
        ):
            most = later
        return most

    def kept(self) -> list[frozenset[bool]]:
        """For each row, whether the current piece may still be kept, or dropped."""
        found = [frozenset[bool]()] * len(self.rows)
        while found != (later := [self._kept(row, found) for row in range(len(self.rows))]):
            found = later
        return found

    def _kept(self, row: int, later: list[frozenset[bool]]) -> frozenset[bool]:
        """Whether the piece may be kept or dropped, as far as the next character, or `later`, determines it."""
        told = [self.told(row, read) for read in range(self.edge + 1)]
        at_once = {ends[0].kept for ends in told if ends}
        onward = [later[one] for one, ends in zip(self.rows[row][:-1], told, strict=False) if not ends]
        return frozenset(at_once).union(*onward)


class _Both(NamedTuple):
    """A configuration of two machines: their rows, and the classes of the characters that the second waits
    for.
    """

    first: int
    second: int
    waiting: tuple[int, ...]


class _Composition:
    """Two machines, the second running within the pieces of the first.

    `classes` are, for each joint class, the classes of both machines; the last are those of the end of a text.
    """

    def __init__(self, first: Machine, second: Machine, classes: Sequence[tuple[int, int]]) -> None:
        self._first, self._second, self._classes = _Steps(first), _Steps(second), classes
        self._undecided, self._kept = self._first.undecided(), self._first.kept()

    def step(self, at: _Both, read: int) -> tuple[_Both, Ends]:
        """The configuration after `read`, and the ends that are decided."""
        one, _ = self._classes[read]
        row, ends = at.second, list[End]()
        # each with its distance from this character
        waiting = [(each, len(at.waiting) - k) for k, each in enumerate((*at.waiting, read))]
        for back, kept, _ in self._first.told(at.first, one):
            piece = [each for each in waiting if each[1] > back]
            if kept:
                row = self._cut(row, [*piece, (len(self._classes) - 1, back)], ends)
            else:
                ends.append(End(back, False))
            waiting = waiting[len(piece) :]
        following = self._first.rows[at.first][one]
        if one == self._first.edge:
            return _Both(following, 0, ()), tuple(ends)
        known = self._kept[following]
        ready = max(len(waiting) - self._undecided[following], 0) if len(known) < 2 else 0
        if known != {False}:
            row = self._cut(row, waiting[:ready], ends)
        left = tuple(each for each, _ in waiting[ready:])
        if len(left) > _MOST_WAITING:
            raise NotExpressible("a piece for which it is known too late whether it is kept")
        return _Both(following, row, left), tuple(ends)

    def _cut(self, row: int, reading: Sequence[tuple[int, int]], ends: list[End]) -> int:
        """Run the second machine on, and list the ends that it reports; returns its row."""
        for each, behind in reading:
            other = self._classes[each][1]
            for back, kept, over in self._second.told(row, other):
                both = frozenset(k for k, (_, one) in enumerate(self._classes) if one in over)
                ends.append(End(behind + back, kept, both))
            row = self._second.rows[row][other]
        return row


def composed(first: Machine, second: Machine) -> Machine:
    """The machine that cuts the pieces that `second` makes of those of `first`.

    Raises `NotExpressible` if one of them has to read on, if the first reports an end by going back over
    characters (`End.over`), or if both together would be too large.

    Example:
        >>> from tokbench_subword.pipeline.patterns.cutters import MachineCutter, cutter_of
        >>> first, second = (cutter_of(source, "oniguruma").machine for source in ("[0-9]+", "[a-z]1?"))
        >>> MachineCutter(composed(first, second)).spans(b"a1 b").tolist()
        [[0, 1], [1, 2], [2, 3], [3, 4]]
    """
    n_others = int(second.settings[EDGE])
    pages, numbers = np.unique(np.stack([first.pages, second.pages]), axis=1, return_inverse=True)
    some, others = (
        one.classes.reshape(-1, PAGE)[row].astype(np.int64)
        for one, row in zip((first, second), pages, strict=True)
    )
    pairs, classes = np.unique(some * n_others + others, return_inverse=True)
    if len(pairs) > MOST_CLASSES:
        raise NotExpressible(f"more than {MOST_CLASSES} classes of characters")
    edges = int(first.settings[EDGE]), n_others
    pair = _Composition(first, second, [*(divmod(one, n_others) for one in pairs.tolist()), edges])
    found = Configurations([_Both(0, 0, ())])
    for configuration in found.order:  # grows while it is gone through
        for read in range(len(pairs) + 1):
            found.write(*pair.step(configuration, read))
    numbered, listed = numbers.reshape(-1).astype(np.uint16), classes.reshape(-1).astype(np.uint8)
    return found.machine(len(pairs), numbered, listed)
