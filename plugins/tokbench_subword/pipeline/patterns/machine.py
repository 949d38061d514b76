"""`Machine`: the tables with which the kernels cut a text in one pass, without going back.

A machine is a finite-state transducer: it reports the ends of pieces as it reads. Everything is computed
beforehand, for every possible configuration: each is a row of a table, with an entry for each class of
characters. The configurations come from an automaton that searches (`machine_building`), or from two machines,
one in the pieces of the other (`composing`). Equivalent configurations are merged (Moore 1956,
"Gedanken-Experiments on Sequential Machines"): the 17 to 53 of published patterns become 12 to 26.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.lanes import LANES, THERE
from tokbench_subword.pipeline.patterns.tree import NotExpressible

KEEP, BEGIN, SLOW_SHIFT, ROW_SHIFT = 1, 2, 2, 12
"""The bits of a table entry. Bit 0: a piece that is kept ends before this character. Bit 1: the next piece
begins there. Then the number of a list of ends that are further back (0: none). From bit 12 on: the begin of
the next row."""
SYMBOLS, WIDE, NOTHING, MARK, MORE, ONE_BACK = 256, 128, 255, 0x80, 0x40, 0x20
"""The input of `Machine.steps`: an ASCII byte; `WIDE` plus the class of another character, or of the end of a
text; or `NOTHING`. And the flags of a step beside the next row. `MARK`: pieces end, or the text. `ONE_BACK`:
one kept piece ends, one character before this one. `MORE`: anything else but one kept piece that ends right
before this character."""
PAGE = 256
"""How many code points form a page of `Machine.classes`."""
_MOST_CONFIGURATIONS, _MOST_ACTIONS = 512, 1 << (ROW_SHIFT - SLOW_SHIFT)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Machine:
    """The tables of the kernels in `cutting` and `simd_cutting`, each contiguous.

    A *row* is ``1 << shift`` entries of `table`: one for each class of code points, then one for the end of the
    text. If too many characters follow a match before its end is certain, an action says so. Then the kernel
    follows the states of the automaton (`following`) until it dies, and begins again after the match, at the
    row for the class before that place. It does the same if no match was found yet; without any match, it
    begins again after the first character. If one attempt after another fails far away, that takes quadratic
    time, as in the libraries.
    """

    table: NDArray[np.uint32]
    """The entries, row after row; a text begins at the first row."""
    ascii_classes: NDArray[np.uint8]
    """The classes of the first 128 code points."""
    pages: NDArray[np.uint16]
    """For every 256 code points the number of their page in `classes`: ``(0x1100,)``."""
    classes: NDArray[np.uint8]
    """The distinct pages, each with the classes of 256 code points."""
    actions: NDArray[np.int32]
    """``(n, ACTION)``: the number of ends; for reading on, the state (0: do not read on), the characters since
    the match and the class before it; if no match was found yet, flags for the piece before (`NOT_TOLD`,
    `CUT_IF_MATCH` …), else 0; then for each end: how many characters back it is, whether its piece is kept, and
    a set in `over`."""
    over: NDArray[np.uint8]
    """For each set of classes (the first is empty) and each class, whether the set contains it: see
    `End.over`."""
    following: NDArray[np.uint16]
    """For each state and class the next state, doubled, plus 1 if a match ends before the character."""
    rows: NDArray[np.int64]
    """For each class of the character before, the row at which to begin after a match."""
    gap_rows: NDArray[np.int64]
    """The same, to begin after a character that is not in any match."""
    steps: NDArray[np.uint8]
    """``(SYMBOLS * LANES,)``: for each input and each row, the number of the next row, with flags; empty if
    there are more rows than lanes, or if the processor has no such lanes."""
    settings: NDArray[np.int64]
    """By how much the number of a row is shifted to give its begin; the class of the end of a text; whether
    every match is followed by a cut; whether matches are kept; whether there are `steps`."""
    next_rows: list[list[int]]
    """For `composing`, instead of the table: the next row, by row and class."""
    ends: list[list[Ends | None]]
    """For `composing`: the ends reported, by row and class; None if the kernel has to read on."""

    def __len__(self) -> int:
        return len(self.next_rows)

    def arrays(self) -> list[NDArray[Any]]:
        """The arrays that the kernels take, in the order of their fields."""
        return [getattr(self, one.name) for one in fields(self)[: SETTINGS + 1]]


TABLE, ASCII_CLASSES, PAGES, CLASSES, ACTIONS, OVER, FOLLOWING, ROWS, GAP_ROWS, STEPS, SETTINGS = range(11)
"""The place of each array of a `Machine` in its block."""
SHIFT, EDGE, ENDS_MATCHES, KEEPS_MATCHES, HAS_STEPS = range(5)
N_ENDS, READ_ON, SINCE, BEFORE, UNTOLD, FIRST_END = range(6)
NOT_TOLD, CUT_IF_MATCH, CUT_IF_GAP, KEEP_BEFORE = 1, 2, 4, 8
"""Flags of an action if no match was found yet: that this is so; whether there is a cut before the match that
may still be found; before the gap if there is none; and whether the piece before that cut is kept."""
AN_END = 3
"""Numbers of an end in an action."""
ACTION = FIRST_END + AN_END * 8
"""Numbers in an action, which has up to eight ends."""
_END_ONE_BACK = np.zeros(ACTION, np.int32)
_END_ONE_BACK[[N_ENDS, FIRST_END, FIRST_END + 1]] = 1


class End(NamedTuple):
    """The end of a piece: how many characters before the one just read it is, and whether the piece is kept.

    With `over`, the end is further back: before all adjacent characters of these classes.
    """

    back: int
    kept: bool
    over: frozenset[int] = frozenset()


Ends = tuple[End, ...]
"""Ends that are reported together, in order."""


_T = TypeVar("_T", bound=Hashable)
"""The type of a configuration."""


class TooLarge(NotExpressible):
    """There are more configurations, or more actions, than a machine may have."""


class Configurations(Generic[_T]):
    """Builds the rows of a machine: one for each configuration, in the order in which they were found.

    The caller goes through the configurations and writes, for each class, the next one and the ends reported.
    """

    def __init__(self, begins: Iterable[_T]) -> None:
        self.order = list(dict.fromkeys(begins))
        self._numbers = {one: number for number, one in enumerate(self.order)}
        self._actions: dict[tuple[int, ...], int] = {(0, 0, 0, 0, 0): 0}
        self._ends: dict[int, Ends | None] = {}  # by what an entry holds of them
        self._over: dict[frozenset[int], int] = {frozenset(): 0}
        self._entries: list[tuple[int, int]] = []

    def row(self, configuration: _T) -> int:
        """The number of the row of a configuration."""
        number = self._numbers.setdefault(configuration, len(self.order))
        if number == len(self.order):
            self.order.append(configuration)
            if number >= _MOST_CONFIGURATIONS:
                raise TooLarge("too many configurations")
        return number

    def write(self, following: _T, ends: Ends, reading_on: tuple[int, int, int, int] = (0, 0, 0, 0)) -> None:
        """Write the next entry: the next configuration, the ends, and `READ_ON` to `UNTOLD` of its action."""
        if len(ends) == 1 and not (ends[0].back or ends[0].over or reading_on[0]):
            told = BEGIN | KEEP * ends[0].kept
        else:
            action: tuple[int, ...] = (len(ends), *reading_on)
            for back, kept, over in ends:
                action += back, int(kept), self._over.setdefault(over, len(self._over))
            told = self._actions.setdefault(action, len(self._actions)) << SLOW_SHIFT
            if len(self._actions) > _MOST_ACTIONS or len(action) > ACTION:
                raise TooLarge("too many ends of pieces at one character")
        self._ends[told] = None if reading_on[0] else ends
        self._entries.append((self.row(following), told))

    def machine(
        self,
        edge: int,
        pages: NDArray[np.uint16],
        classes: NDArray[np.uint8],
        *,
        following: Sequence[int] = (),
        begins: Sequence[_T] = (),
        ends_matches: bool = False,
        keeps_matches: bool = False,
    ) -> Machine:
        """The machine, once all entries are written.

        `pages` and `classes` are fields of the `Machine`, as are the arguments for entries that read on;
        `begins` gives its `rows` and `gap_rows`.
        """
        width = edge + 1
        listed = np.zeros((len(self._actions), ACTION), np.int32)
        for action, number in self._actions.items():
            listed[number, : len(action)] = action
        entries = np.array(self._entries, np.int64).reshape(len(self.order), width, 2)
        next_rows, told = entries[:, :, 0], entries[:, :, 1]
        merged, firsts = _merged(next_rows, told)
        shift = (width - 1).bit_length()
        table = np.zeros((len(firsts), 1 << shift), np.uint32)
        table[:, :width] = merged[next_rows[firsts]] << (shift + ROW_SHIFT) | told[firsts]
        ascii_classes = classes.reshape(-1, PAGE)[pages[0], :WIDE].copy()
        rows = table >> (shift + ROW_SHIFT)
        steps = _steps(table, rows, listed, ascii_classes, edge)
        begins_at = [merged[self._numbers[one]] << shift for one in begins]
        return Machine(
            table=table.reshape(-1),
            ascii_classes=ascii_classes,
            pages=pages,
            classes=classes,
            actions=listed.reshape(-1),
            over=np.array([[one in over for one in range(width)] for over in self._over], np.uint8).reshape(-1),
            following=np.array(following, np.uint16),
            rows=np.array(begins_at[:width], np.int64),
            gap_rows=np.array(begins_at[width:], np.int64),
            steps=steps,
            settings=np.array([shift, edge, ends_matches, keeps_matches, len(steps) > 0], np.int64),
            next_rows=rows[:, :width].tolist(),
            ends=[[self._ends[one] for one in row] for row in told[firsts].tolist()],
        )


def _merged(
    next_rows: NDArray[np.int64], told: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Merge equivalent rows: the new number of each row, and the first row of each number.

    Rows differ if they report different things, or lead to rows that differ; this is repeated until nothing
    changes. Numbers keep the order of the rows, so the first row stays the first.
    """
    numbers, count = np.zeros(len(told), np.int64), 0
    while True:
        _, firsts, kinds = np.unique(
            np.hstack([told, numbers[next_rows]]), axis=0, return_index=True, return_inverse=True
        )
        numbers = np.argsort(np.argsort(firsts))[kinds.reshape(-1)]
        if len(firsts) == count:
            return numbers, np.sort(firsts)
        count = len(firsts)


def _steps(
    table: NDArray[np.uint32],
    next_rows: NDArray[Any],
    actions: NDArray[np.int32],
    ascii_classes: NDArray[np.uint8],
    edge: int,
) -> NDArray[np.uint8]:
    """`Machine.steps` of a table, whose entries lead to `next_rows`."""
    if not THERE or len(table) > LANES:
        return np.zeros(0, np.uint8)
    told = table & ((1 << ROW_SHIFT) - 1)
    one_back = (actions[told >> SLOW_SHIFT] == _END_ONE_BACK).all(axis=2)
    marks, more = told != 0, ~one_back & (told != 0) & (told != (KEEP | BEGIN))
    marks[:, edge] = more[:, edge] = True  # the next text begins
    of_class = (next_rows | MARK * marks | MORE * more | ONE_BACK * one_back).astype(np.uint8).T
    steps = np.zeros((SYMBOLS, LANES), np.uint8)
    steps[:WIDE, : len(table)] = of_class[ascii_classes]
    steps[WIDE : WIDE + edge + 1, : len(table)] = of_class[: edge + 1]
    steps[NOTHING] = np.arange(LANES)
    return steps.reshape(-1)
