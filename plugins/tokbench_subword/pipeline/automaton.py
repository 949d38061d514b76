r"""A pattern as an automaton over classes of code points, with the meaning that backtracking gives it.

The tree of a pattern becomes an ordered automaton (Thompson 1968; Pike's ordering): of several ways to match,
the first in the order of the pattern counts. Its states are made deterministic as ordered lists of positions,
cut off behind the first that has matched. Whether a match ends before a character is told when that character
is read, so that a lookahead of one character is decided by the transition that reads it; a lookbehind of one is
decided where a position is reached, since the character read last is known there.

Code points that no set of the pattern tells apart are one class. Cox 2007 ("Regular Expression Matching Can Be
Simple And Fast") and 2009 tell how such automata work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench_subword.pipeline.pattern_tree import (
    Either,
    Far,
    InOrder,
    Look,
    Node,
    NotExpressible,
    One,
    Repeat,
    may_be_empty,
    parts_of,
)
from tokbench_subword.pipeline.point_sets import Points

Classes = frozenset[int]
DEAD, START = 0, 1
_MOST_CLASSES, MOST_STATES = 120, 2000
_MOST_POSITIONS, _MOST_STEPS = 20_000, 4_000_000
"""What building may take, some seconds; published patterns take a hundredth."""


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """Deterministic states over classes of code points.

    `classes` gives the class of each code point (uint8, ``(0x110000,)``); the number `edge` = n_classes stands
    for there being no character: before the text, and behind it. ``following[state][class]`` is the next state
    and whether a match ends before the character of that class; state 0 is dead, and ``starts[class]`` is where
    to begin behind a character of that class. A match that ends where it began has no length: see
    `matches_nothing`.
    """

    classes: NDArray[np.uint8]
    edge: int
    following: list[list[tuple[int, bool]]]
    starts: list[int]

    @property
    def matches_nothing(self) -> bool:
        """Whether some match has no length."""
        return any(told for start in self.starts for _, told in self.following[start])


def automaton_of(tree: Node) -> Automaton:
    """The automaton of a pattern; raises `NotExpressible` where it would be too large.

    Example:
        >>> from tokbench_subword.pipeline.pattern_reading import tree_of
        >>> automaton = automaton_of(tree_of("ab?"))
        >>> a, b = automaton.classes[ord("a")], automaton.classes[ord("b")]
        >>> state, matched = automaton.following[automaton.starts[automaton.edge]][a]
        >>> matched, automaton.following[state][b][1], automaton.following[state][a][1]
        (False, True, True)
    """
    classes, sets, edge = classes_of(tree)
    builder = Builder(sets, edge)
    root = builder.add(tree, builder.match)
    return builder.determinized(root, classes)


def endings_of(tree: Node, sets: dict[int, Classes], edge: int) -> list[list[tuple[int, bool]]]:
    """What tells, character by character, whether some text that the pattern matches ends here.

    The next state, and whether one ended before the character, by state and class, as in an `Automaton`; a text
    begins in state 0. `sets` are the classes of the pattern's sets.
    """
    builder = Builder(sets, edge)
    root = builder.add(tree, builder.match)
    first = (tuple(sorted(builder.reached([root], edge))), edge)
    numbers = {first: 0}
    order, following = [first], []
    for state, last in order:  # grows while it is gone through
        row = []
        for read in range(edge + 1):
            positions, ended = builder.step(state, last, read, every=True)
            begun = {*positions, *builder.reached([root], read)}
            reached = tuple(sorted(begun)), read if builder.looks_behind else edge
            if reached not in numbers:
                numbers[reached] = len(order)
                order.append(reached)
                if len(order) > MOST_STATES:
                    raise NotExpressible(f"more than {MOST_STATES} states")
            row.append((numbers[reached], ended is not None))
        following.append(row)
    return following


def _sets_in(node: Node) -> Iterator[Points]:
    if isinstance(node, One | Look):
        yield node.points
    for part in parts_of(node):
        yield from _sets_in(part)


def classes_of(tree: Node) -> tuple[NDArray[np.uint8], dict[int, Classes], int]:
    """The class of each code point, the classes of each set of the tree by its `id`, and their number."""
    sets = {id(points): points for points in _sets_in(tree)}
    begins = np.zeros(N_CODE_POINTS, np.bool_)
    begins[0] = True
    for points in sets.values():
        begins[1:] |= points[1:] != points[:-1]
    places = np.flatnonzero(begins)
    members = np.array([points[places] for points in sets.values()], np.bool_).reshape(len(sets), len(places))
    numbers: dict[bytes, int] = {}
    of_place = [
        numbers.setdefault(column.tobytes(), len(numbers)) for column in np.ascontiguousarray(members.T)
    ]
    if len(numbers) > _MOST_CLASSES:
        raise NotExpressible(f"more than {_MOST_CLASSES} classes of characters")
    numbered = np.array(of_place, np.uint8)
    classes = np.repeat(numbered, np.diff(places, append=N_CODE_POINTS))
    held = {key: frozenset(int(one) for one in numbered[row]) for key, row in zip(sets, members, strict=True)}
    return classes, held, len(numbers)


State = tuple[int, ...]


@dataclass(slots=True)
class Builder:
    """Positions of the ordered automaton, each with where it leads, and the states made of them.

    `sets` gives the classes of each set of the pattern, `labels` those of each `Far`, by their `id`.
    A position is ``(kind, classes, ways)``: it reads a character of some classes (``one``), asks for the one
    behind it (``ahead``) or the one before (``behind``), tries several ways in order (``split``), or is the
    ``match``.
    """

    sets: dict[int, Classes]
    edge: int
    labels: dict[int, Classes] = field(default_factory=dict)
    positions: list[tuple[str, Classes, list[int]]] = field(default_factory=list)
    match: int = 0

    def __post_init__(self) -> None:
        self.positions.append(("match", frozenset(), []))

    @property
    def looks_behind(self) -> bool:
        """Whether any position asks for the character before it."""
        return any(kind == "behind" for kind, _, _ in self.positions)

    def another_match(self) -> int:
        """A position of its own that matches, to tell apart which part of a pattern has."""
        return self._new("match", frozenset(), [])

    def _new(self, kind: str, classes: Classes, ways: list[int]) -> int:
        self.positions.append((kind, classes, ways))
        if len(self.positions) > _MOST_POSITIONS:  # repetitions of repetitions multiply
            raise NotExpressible(f"more than {_MOST_POSITIONS} positions")
        return len(self.positions) - 1

    def add(self, node: Node, then: int) -> int:
        """Positions for `node`, which go on to the position `then`; returns the first."""
        match node:
            case One(points):
                return self._new("one", self.sets[id(points)], [then])
            case Look(points, edge, behind):
                asked = self.sets[id(points)] | ({self.edge} if edge else set())
                return self._new("behind" if behind else "ahead", frozenset(asked), [then])
            case Far(_, _, behind):
                if id(node) not in self.labels:
                    raise NotExpressible("a lookaround of more than one character")
                return self._new("behind" if behind else "ahead", self.labels[id(node)], [then])
            case InOrder(parts):
                for part in reversed(parts):
                    then = self.add(part, then)
                return then
            case Either(parts):
                return self._new("split", frozenset(), [self.add(part, then) for part in parts])
            case Repeat():
                return self._add_repeat(node, then)

    def _add_repeat(self, node: Repeat, then: int) -> int:
        def either(again: int, on: int) -> list[int]:
            return [on, again] if node.lazy else [again, on]

        first = then
        if node.high is None:
            if may_be_empty(node.part):
                raise NotExpressible("an endless repetition of what may be empty")
            first = self._new("split", frozenset(), [])
            self.positions[first][2].extend(either(self.add(node.part, first), then))
        else:
            for _ in range(node.high - node.low):
                first = self._new("split", frozenset(), either(self.add(node.part, first), then))
        for _ in range(node.low):
            first = self.add(node.part, first)
        return first

    def reached(self, positions: Iterable[int], before: int) -> State:
        """The positions that are reached without reading, in order, behind a character of class `before`."""
        reached: dict[int, None] = {}
        seen: set[int] = set()
        waiting = list(positions)[::-1]
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            kind, classes, ways = self.positions[one]
            if kind == "split" or (kind == "behind" and before in classes):
                waiting += ways[::-1]
            elif kind != "behind":
                reached[one] = None
        return tuple(reached)

    def step(self, state: State, last: int, read: int, *, every: bool = False) -> tuple[State, int | None]:
        """The state behind a character of class `read`, and the position that matches before it, or None.

        `last` is the class of the character before: what a lookahead opens may look behind. With `every`, what
        comes after a match in the order of the pattern counts as well.
        """
        matched = None
        following: list[int] = []
        seen: set[int] = set()
        waiting = list(state)[::-1]
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            kind, classes, ways = self.positions[one]
            if kind == "match":
                matched = one
                if not every:
                    break
                continue
            if kind == "ahead":
                if read in classes:
                    waiting += self.reached(ways, last)[::-1]
            elif read in classes:
                following += ways
        return self.reached(following, read), matched

    def determinized(self, root: int, classes: NDArray[np.uint8]) -> Automaton:
        """All states that can be reached, with `root` as where a match begins."""
        looks_behind = self.looks_behind
        numbers: dict[tuple[State, int], int] = {((), -1): DEAD}
        order: list[tuple[State, int]] = [((), -1)]

        def number_of(state: State, last: int) -> int:
            key = (state, last if looks_behind and state else -1)
            if key not in numbers:
                numbers[key] = len(order)
                order.append(key)
                if len(order) > MOST_STATES:
                    raise NotExpressible(f"more than {MOST_STATES} states")
            return numbers[key]

        starts = [number_of(self.reached([root], before), before) for before in range(self.edge + 1)]
        following: list[list[tuple[int, bool]]] = []
        steps = 0
        for state, last in order:  # grows while it is gone through
            row = []
            steps += len(state) * (self.edge + 1)
            if steps > _MOST_STEPS:
                raise NotExpressible(f"more than {_MOST_STEPS:,} steps to its states")
            for read in range(self.edge + 1):
                reached, matched = self.step(state, last, read)
                row.append((number_of(reached, read) if read < self.edge else DEAD, matched is not None))
            following.append(row)
        return Automaton(classes, self.edge, following, starts)
