"""`Cutter`: cuts texts into pieces, with kernels if its pattern has an automaton, else in Python.

Both have the same results and differ only in speed; `Cutter.reason` says why a cutter runs in Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.copies import Stays
from tokbench.kernels.pointers import PADDING, block, frozen
from tokbench_subword.pipeline.patterns.automaton import automaton_of
from tokbench_subword.pipeline.patterns.behaviors import Rules
from tokbench_subword.pipeline.patterns.class_names import Dialect
from tokbench_subword.pipeline.patterns.composing import composed
from tokbench_subword.pipeline.patterns.lookarounds import Labels, label_texts, labelled_automaton
from tokbench_subword.pipeline.patterns.machine import Machine
from tokbench_subword.pipeline.patterns.machine_building import machine_of
from tokbench_subword.pipeline.patterns.regexes import compile_regex
from tokbench_subword.pipeline.patterns.simd_cutting import BEYOND, cut_texts
from tokbench_subword.pipeline.patterns.simplifying import tree_of
from tokbench_subword.pipeline.patterns.tree import Around, NotExpressible, all_of

Places = NDArray[np.int64]
"""Begins and ends in bytes: int64 ``(n, 2)``."""
_AT_A_TIME = 1 << 15
"""The number of pieces that are found at a time."""


class Cutter(ABC):
    """Cuts texts into pieces.

    Example:
        >>> cutter_of(r"[a-z]+", "oniguruma").spans(b"ab, c").tolist()
        [[0, 2], [2, 4], [4, 5]]
    """

    block: NDArray[np.uint64] | None = None
    """Tables with which other kernels can make the same cuts; None if there are none."""
    reason = ""
    """The part of the pattern that no kernel supports; empty if kernels cut."""

    @abstractmethod
    def pieces(self, data: NDArray[np.uint8], units: Places) -> Iterator[tuple[Places, Places]]:
        """The pieces of the texts ``data[units[u, 0]:units[u, 1]]``.

        Kernels yield some tens of thousands at a time. `data` is valid UTF-8 with `PADDING` readable bytes
        after the last text. Pieces are int64 ``(n, 2)``: begin and end. With them comes the number of pieces up
        to the end of each text, int64 ``(len(units) + 1,)``, which is valid for texts that are done.
        """

    def cut(self, data: NDArray[np.uint8], units: Places) -> tuple[Places, Places]:
        """All pieces of `pieces`, and their number up to the end of each text."""
        found = list(self.pieces(data, units))
        if not found:
            return np.zeros((0, 2), np.int64), np.zeros(len(units) + 1, np.int64)
        some, counts = zip(*found, strict=True)
        return some[0] if len(some) == 1 else np.concatenate(some), counts[-1]

    def spans(self, text: bytes) -> Places:
        """The begin and end of the pieces of a text in UTF-8: int64 ``(n, 2)``."""
        data = np.frombuffer(text + bytes(PADDING), np.uint8)
        return self.cut(data, np.array([[0, len(text)]], np.int64))[0]


class MachineCutter(Cutter, Stays):
    """Cuts with a `Machine`."""

    block: NDArray[np.uint64]

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._arrays = machine.arrays()
        self.block = block(self._arrays)

    def pieces(self, data: NDArray[np.uint8], units: Places) -> Iterator[tuple[Places, Places]]:
        """See `Cutter.pieces`."""
        data, units = frozen(data), np.ascontiguousarray(units)  # kernels are compiled for read-only arrays
        n_bytes = int((units[:, 1] - units[:, 0]).sum())
        starts, ends = np.empty((2, min(n_bytes, _AT_A_TIME) + BEYOND + 1), np.int64)
        counts, before = np.zeros(len(units) + 1, np.int64), 0
        position = np.zeros(4, np.int64)
        if len(units):
            position[1] = position[2] = units[0, 0]
        while (unit := int(position[0])) < len(units):
            found = int(cut_texts(self.block, data, units, position, starts, ends, counts))
            counts[unit + 1 : position[0] + 1] += before
            before += found
            yield np.stack([starts[:found], ends[:found]], axis=1), counts


class LabelsCutter(Cutter):
    """Cuts with a `Machine` that reads labels of characters: see `lookarounds`."""

    def __init__(self, machine: Machine, labels: Labels) -> None:
        self._machine, self._labels = MachineCutter(machine), labels

    def pieces(self, data: NDArray[np.uint8], units: Places) -> Iterator[tuple[Places, Places]]:
        """See `Cutter.pieces`."""
        room = int((units[:, 1] - units[:, 0]).sum()) + len(units) + PADDING
        labels, classes, places = np.empty(room, np.uint8), np.empty(room, np.uint8), np.empty(room, np.int64)
        units = label_texts(frozen(data), np.ascontiguousarray(units), self._labels, classes, labels, places)
        for pieces, counts in self._machine.pieces(labels, units):
            yield places[pieces], counts


Find = Callable[[str], Iterable[tuple[int, int]]]
"""A function from a text to its pieces: begin and end of each in code points."""


@dataclass(frozen=True)
class PlainCutter(Cutter):
    """Cuts in Python, text by text."""

    find: Find
    reason: str

    def pieces(self, data: NDArray[np.uint8], units: Places) -> Iterator[tuple[Places, Places]]:
        """See `Cutter.pieces`."""
        counts, found = np.zeros(len(units) + 1, np.int64), [np.zeros((0, 2), np.int64)]
        for unit, (begin, end) in enumerate(units.tolist()):
            text = data[begin:end].tobytes()
            places = np.array(list(self.find(text.decode())), np.int64).reshape(-1, 2)
            begins = np.flatnonzero((np.frombuffer(text, np.uint8) & 0xC0) != 0x80)  # of code points
            found.append(begin + np.append(begins, len(text))[places])
            counts[unit + 1] = counts[unit] + len(places)
        yield np.concatenate(found), counts


def units_of(offsets: NDArray[np.int64]) -> Places:
    """The begin and end of each text between `offsets`: int64 ``(n, 2)``."""
    return np.ascontiguousarray(np.stack([offsets[:-1], offsets[1:]], axis=1))


def cut_in_turn(cutters: Sequence[Cutter], data: NDArray[np.uint8], units: Places) -> tuple[Places, Places]:
    """The pieces after all cutters, each cutting those of the one before, and their number up to each unit."""
    before = np.arange(len(units) + 1)
    for cutter in cutters:
        units, counts = cutter.cut(data, units)
        before = counts[before]
    return units, before


@lru_cache(maxsize=64)
def cutter_of(source: str, dialect: Dialect, behavior: str = "Isolated", invert: bool = False) -> Cutter:
    """The cutter that cuts by a regular expression as `Split` of `tokenizers` would; cached for the process."""
    rules = Rules.of(behavior, invert=invert)
    try:
        tree = tree_of(source, dialect)
        if any(isinstance(node, Around) for node in all_of(tree)):
            automaton, labels = labelled_automaton(tree)
            return LabelsCutter(machine_of(automaton, rules), labels)
        return MachineCutter(machine_of(automaton_of(tree), rules))
    except NotExpressible as reason:
        return PlainCutter(partial(compile_regex(source, dialect).split, rules=rules), str(reason))


@lru_cache(maxsize=64)
def leaves_no_gaps(source: str, dialect: Dialect) -> bool:
    r"""Whether an automaton can prove that the matches of an expression cover any text completely.

    Example:
        >>> leaves_no_gaps(r"\S+|\s+", "rust"), leaves_no_gaps(r"\w+|\s+", "rust")
        (True, False)
    """
    try:
        return automaton_of(tree_of(source, dialect)).leaves_no_gaps
    except NotExpressible:
        return False


@lru_cache(maxsize=64)
def _both(first: Cutter, second: Cutter) -> Cutter | None:
    """A cutter that cuts as `second` cuts the pieces of `first`, in one pass; None if no machine can do so."""
    if not (isinstance(first, MachineCutter) and isinstance(second, MachineCutter)):
        return None
    try:
        return MachineCutter(composed(first.machine, second.machine))
    except NotExpressible:
        return None


def joined_cutters(cutters: Iterable[Cutter]) -> tuple[Cutter, ...]:
    """The same cutters, neighbours joined into one where possible; each cuts the pieces of the one before."""
    few: list[Cutter] = []
    for cutter in cutters:
        both = _both(few[-1], cutter) if few else None
        few[-1:] = [both] if both else [*few[-1:], cutter]
    return tuple(few)


@lru_cache(maxsize=64)
def finder_of(source: str) -> MachineCutter:
    """A cutter whose pieces are the matches of an expression of Oniguruma; raises `NotExpressible` if it has no
    automaton or may match nothing.
    """
    automaton = automaton_of(tree_of(source, "oniguruma"))
    if automaton.matches_nothing:
        raise NotExpressible("an empty match")
    return MachineCutter(machine_of(automaton, Rules.of("Removed", invert=True)))
