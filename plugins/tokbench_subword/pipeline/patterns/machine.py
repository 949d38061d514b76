"""What runs over text once, without going back, and cuts it: the tables of the kernels that cut.

Such a machine, which tells something as it reads, is a finite-state transducer. What is done on the way is
worked out beforehand, for all configurations there may be: each is a row of a table, with an entry for each
class of characters. They are those of an automaton that searches (`machine_building`), or of two machines, one
in the pieces of the other (`composing`). Configurations that do the same whatever follows are one (Moore 1956,
"Gedanken-Experiments on Sequential Machines"): of the 17 to 53 of published patterns 12 to 26 are left.
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
"""What an entry of the table holds: bit 0, a piece that is kept ends before this character; bit 1, the next
begins there; then the number of a list of ends that are further back (0: none); and from bit 12 on where the
row of the next configuration begins."""
SYMBOLS, WIDE, NOTHING, MARK, MORE, ONE_BACK = 256, 128, 255, 0x80, 0x40, 0x20
"""What is read in `Machine.steps`: a byte of ASCII; `WIDE` and the class of another character, or of the end of
a text; nothing. And what a step tells beside a row: `MARK`, that pieces end, or the text; `ONE_BACK`, that one
piece ends, one character before, and is kept; `MORE`, that it is neither that nor one kept piece that ends
right before the character."""
PAGE = 256
"""Code points whose classes stand together."""
_MOST_CONFIGURATIONS, _MOST_ACTIONS = 512, 1 << (ROW_SHIFT - SLOW_SHIFT)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Machine:
    """The tables of the kernels in `cutting` and `simd_cutting`, each contiguous.

    A *row* is ``1 << shift`` entries of `table`, one for each class of code points, then one for the end of the
    text. Where a match was told and too much has been read since, an action says so: the kernel then reads on
    by `following`, the states of the automaton, until it dies, and begins anew at the row of the class before
    the match's end. So it does where nothing was told as yet; without a match, it begins anew behind the first
    character. Where one attempt after the other fails far away, that takes quadratic time, as it does the
    libraries.
    """

    table: NDArray[np.uint32]
    """The entries, row after row; the first row is where a text begins."""
    ascii_classes: NDArray[np.uint8]
    """The classes of the first 128 code points."""
    pages: NDArray[np.uint16]
    """For each 256 code points, which 256 of `classes` are theirs: ``(0x1100,)``."""
    classes: NDArray[np.uint8]
    """Pages of the classes of 256 code points, each once."""
    actions: NDArray[np.int32]
    """``(n, ACTION)``: how many ends; state, characters since the match and class before it, where the kernel
    is to read on (state 0: it is not); 0, or, where no match was told as yet, what becomes of the piece before:
    `CUT_IF_MATCH` and its kin; then, as many times, how many characters back an end is, whether the piece is
    kept, and the number of a set in `over`."""
    over: NDArray[np.uint8]
    """For each set of classes, the first of them empty, and each class, whether it is in: see `End.over`."""
    following: NDArray[np.uint16]
    """For each state and class the next state, doubled, and 1 where a match ends before the character."""
    rows: NDArray[np.int64]
    """For each class of the character before, the row where a piece begins behind a match."""
    gap_rows: NDArray[np.int64]
    """The same where it begins behind a character that is part of no match."""
    steps: NDArray[np.uint8]
    """``(SYMBOLS * LANES,)``: for whatever can be read, the number of the next row by that of the row before,
    and what that tells; empty where there are more rows than lanes, or the processor has none."""
    settings: NDArray[np.int64]
    """How far the number of a row is shifted to give where it begins, the class of the end of a text, whether
    there is a cut behind every match, whether it is kept, and whether there are `steps`."""
    next_rows: list[list[int]]
    """What `composing` takes instead of the table: the next row, by row and class."""
    ends: list[list[Ends | None]]
    """The same of the ends told; None where the kernel has to read on."""

    def __len__(self) -> int:
        return len(self.next_rows)

    def arrays(self) -> list[NDArray[Any]]:
        """Those that the kernels take, in the order of their fields."""
        return [getattr(self, one.name) for one in fields(self)[: SETTINGS + 1]]


TABLE, ASCII_CLASSES, PAGES, CLASSES, ACTIONS, OVER, FOLLOWING, ROWS, GAP_ROWS, STEPS, SETTINGS = range(11)
"""Where each array of a `Machine` stands in its block."""
SHIFT, EDGE, ENDS_MATCHES, KEEPS_MATCHES, HAS_STEPS = range(5)
N_ENDS, READ_ON, SINCE, BEFORE, UNTOLD, FIRST_END = range(6)
NOT_TOLD, CUT_IF_MATCH, CUT_IF_GAP, KEEP_BEFORE = 1, 2, 4, 8
"""What an action says where no match was told: that it is so, whether there is a cut before the match that may
be found, and before the gap if there is none, and whether the piece before that is kept."""
AN_END = 3
"""Numbers of an end in an action."""
ACTION = FIRST_END + AN_END * 8
"""Numbers in an action: there are at most eight ends, of what is read again."""
_END_ONE_BACK = np.zeros(ACTION, np.int32)
_END_ONE_BACK[[N_ENDS, FIRST_END, FIRST_END + 1]] = 1


class End(NamedTuple):
    """The end of a piece: how many characters before the one just read it lies, and whether the piece is kept.

    With `over`, it lies further back: before all characters of these classes that stand there.
    """

    back: int
    kept: bool
    over: frozenset[int] = frozenset()


Ends = tuple[End, ...]
"""Those that are told together, in order."""


_T = TypeVar("_T", bound=Hashable)
"""What a configuration is."""


class TooLarge(NotExpressible):
    """There are more configurations, or more of what they tell, than a machine may have."""


class Configurations(Generic[_T]):
    """The rows of a machine to be: one for each configuration that has come up, in that order.

    Whoever goes through them writes for each, and each class, where it leads and what that tells.
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
        """Write the next entry: where it leads, the ends told, and `READ_ON` to `UNTOLD` of its action."""
        if len(ends) == 1 and not (ends[0].back or ends[0].over or reading_on[0]):
            told = BEGIN | KEEP * ends[0].kept
        else:
            action: tuple[int, ...] = (len(ends), *reading_on)
            for back, kept, over in ends:
                action += back, int(kept), self._over.setdefault(over, len(self._over))
            told = self._actions.setdefault(action, len(self._actions)) << SLOW_SHIFT
            if len(self._actions) > _MOST_ACTIONS or len(action) > ACTION:
                raise TooLarge("too many ends of pieces that are told at once")
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
        """The machine, when all entries are written.

        `pages` and `classes` are those of the `Machine`; so is what else it needs where an entry reads on, with
        `begins` for its `rows` and `gap_rows`.
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
    """The new number of each row, where rows that do the same are one, and the first row of each number.

    Rows are told apart by what they tell, then by whether they lead to rows that are told apart, until no more
    are. Numbers are in the order of the rows: the first stays the first.
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
