r"""A pattern as an automaton over classes of code points, with the meaning that backtracking gives it.

The tree of a pattern becomes an ordered nondeterministic automaton (Thompson 1968; Pike's ordering): if there
are several ways to match, the first in the order of the pattern counts. A deterministic state is an ordered
list of positions, cut off after the first one that has matched. Whether a match ends before a character is
reported when that character is read. So a lookahead of one character is decided by the transition that reads
it. A lookbehind of one character is decided when a position is reached, since the last character is known then.

Code points that belong to the same sets of the pattern form one class. Cox 2007 ("Regular Expression Matching
Can Be Simple And Fast") and 2009 explain such automata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench_subword.pipeline.patterns.tree import (
    Around,
    Either,
    InOrder,
    Look,
    Node,
    NotExpressible,
    One,
    Repeat,
    all_of,
)

Classes = frozenset[int]
State = tuple[int, ...]
"""Positions of a `Builder`, in order."""
Key = tuple[State, int]
"""A state, and the class of the character before it if that matters."""
DEAD = 0
MOST_CLASSES, MOST_STATES = 120, 2000
_MOST_POSITIONS, _MOST_STEPS = 20_000, 4_000_000
"""Limits on building, some seconds; published patterns take a hundredth of that."""


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """Deterministic states over classes of code points.

    `classes` is the class of each code point (uint8, ``(0x110000,)``). The class `edge` = n_classes means that
    there is no character: before the text, and after it. ``following[state][class]`` is the next state, and
    whether a match ends before the character of that class. State 0 is dead; ``starts[class]`` is the state to
    begin in after a character of that class. A match may be empty: see `matches_nothing`.
    """

    classes: NDArray[np.uint8]
    edge: int
    following: list[list[tuple[int, bool]]]
    starts: list[int]

    @property
    def matches_nothing(self) -> bool:
        """Whether some match is empty."""
        return any(told for start in self.starts for _, told in self.following[start])

    @property
    def leaves_no_gaps(self) -> bool:
        """Whether the matches cover every text: a non-empty match begins at every place where one can end."""
        if self.matches_nothing:
            return False
        begun = {self.following[start][read][0] for start in self.starts for read in range(self.edge)}
        waiting = list(begun)  # no match has ended on the way to these
        for state in waiting:  # grows while it is gone through
            if state == DEAD:
                return False
            unmatched = {after for after, told in self.following[state] if not told} - begun
            begun |= unmatched
            waiting += unmatched
        return True


def automaton_of(tree: Node) -> Automaton:
    """The automaton of a pattern; raises `NotExpressible` if it would be too large.

    Example:
        >>> from tokbench_subword.pipeline.patterns.simplifying import tree_of
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
    """An automaton that reports at each character whether any match of the pattern ends there.

    Like ``Automaton.following``: the next state, and whether a match ended before the character, by state and
    class; a text begins in state 0. `sets` are the classes of the pattern's sets.
    """
    builder = Builder(sets, edge)
    root = builder.add(tree, builder.match)

    def onward(state: State, last: int) -> Iterator[tuple[Key, bool]]:
        for read in range(edge + 1):
            positions, ended = builder.step(state, last, read, every=True)
            begun = {*positions, *builder.reached([root], read)}
            yield (tuple(sorted(begun)), read if builder.looks_behind else edge), ended is not None

    first = tuple(sorted(builder.reached([root], edge))), edge
    return _table([first], onward)[1]


def _table(
    begins: Iterable[Key], onward: Callable[[State, int], Iterable[tuple[Key, bool]]]
) -> tuple[dict[Key, int], list[list[tuple[int, bool]]]]:
    """Number the states that can be reached, and make the row of each: for each class, the next state by
    `onward`, and what is reported there.
    """
    numbers = {key: number for number, key in enumerate(dict.fromkeys(begins))}
    order, rows, steps = list(numbers), [], 0
    for state, last in order:  # grows while it is gone through
        row = []
        for key, told in onward(state, last):
            if key not in numbers:
                numbers[key] = len(order)
                order.append(key)
            row.append((numbers[key], told))
        rows.append(row)
        steps += len(state) * len(row)
        if len(order) > MOST_STATES:
            raise NotExpressible(f"more than {MOST_STATES} states")
        if steps > _MOST_STEPS:
            raise NotExpressible(f"more than {_MOST_STEPS:,} steps to its states")
    return numbers, rows


def classes_of(tree: Node) -> tuple[NDArray[np.uint8], dict[int, Classes], int]:
    """The class of each code point, the classes of each set of the tree by its `id`, and their number."""
    sets = {id(node.points): node.points for node in all_of(tree) if isinstance(node, One | Look)}
    bounds = np.unique(np.concatenate([[0], *(points.bounds for points in sets.values())]))
    places = bounds[bounds < N_CODE_POINTS]
    members = np.array([points.holds(places) for points in sets.values()], np.bool_)
    members = members.reshape(len(sets), len(places))
    numbers: dict[bytes, int] = {}
    of_place = [
        numbers.setdefault(column.tobytes(), len(numbers)) for column in np.ascontiguousarray(members.T)
    ]
    if len(numbers) > MOST_CLASSES:
        raise NotExpressible(f"more than {MOST_CLASSES} classes of characters")
    numbered = np.array(of_place, np.uint8)
    classes = np.repeat(numbered, np.diff(places, append=N_CODE_POINTS))
    held = {key: frozenset(int(one) for one in numbered[row]) for key, row in zip(sets, members, strict=True)}
    return classes, held, len(numbers)


@dataclass(slots=True)
class Builder:
    """Builds the positions of the ordered automaton, and the states made of them.

    `sets` are the classes of each set of the pattern, and the labels of each `Around`, by their `id`. A
    position is ``(kind, classes, ways)``: it reads a character of some classes (``one``), tests the next
    character (``ahead``) or the one before (``behind``), tries several ways in order (``split``), or is the
    ``match``.
    """

    sets: dict[int, Classes]
    edge: int
    positions: list[tuple[str, Classes, list[int]]] = field(default_factory=list)
    match: int = 0

    def __post_init__(self) -> None:
        self.positions.append(("match", frozenset(), []))

    @property
    def looks_behind(self) -> bool:
        """Whether any position tests the character before it."""
        return any(kind == "behind" for kind, _, _ in self.positions)

    def another_match(self) -> int:
        """A new position that matches, to distinguish which part of a pattern has matched."""
        return self._new("match", frozenset(), [])

    def _new(self, kind: str, classes: Classes, ways: list[int]) -> int:
        self.positions.append((kind, classes, ways))
        if len(self.positions) > _MOST_POSITIONS:  # repetitions of repetitions multiply
            raise NotExpressible(f"more than {_MOST_POSITIONS} positions")
        return len(self.positions) - 1

    def add(self, node: Node, then: int) -> int:
        """Add positions for `node`, followed by the position `then`; returns the first."""
        match node:
            case One(points, _):
                return self._new("one", self.sets[id(points)], [then])
            case Look(points, edge, behind):
                asked = self.sets[id(points)] | ({self.edge} if edge else set())
                return self._new("behind" if behind else "ahead", frozenset(asked), [then])
            case Around(_, _, behind):
                if id(node) not in self.sets:
                    raise NotExpressible("a lookaround of more than one character")
                return self._new("behind" if behind else "ahead", self.sets[id(node)], [then])
            case InOrder(parts):
                for part in reversed(parts):
                    then = self.add(part, then)
                return then
            case Either(parts):
                return self._new("split", frozenset(), [self.add(part, then) for part in parts])
            case Repeat():
                return self._add_repeat(node, then)
        raise TypeError(f"{node} is not in terms of characters")

    def _add_repeat(self, node: Repeat, then: int) -> int:
        def either(again: int, on: int) -> list[int]:
            return [on, again] if node.lazy else [again, on]

        first = then
        if node.high is None:
            first = self._new("split", frozenset(), [])
            self.positions[first][2].extend(either(self.add(node.part, first), then))
        else:
            for _ in range(node.high - node.low):
                first = self._new("split", frozenset(), either(self.add(node.part, first), then))
        for _ in range(node.low):
            first = self.add(node.part, first)
        return first

    def reached(self, positions: Iterable[int], before: int, read: int = -1) -> State:
        """The positions that are reached without reading, in order, after a character of class `before`.

        If the class `read` of the next character is given, lookaheads are followed, too.
        """
        reached: list[int] = []
        seen: set[int] = set()
        waiting = list(positions)[::-1]
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            kind, classes, ways = self.positions[one]
            if kind == "split":
                waiting += ways[::-1]
            elif kind == "behind" or (kind == "ahead" and read >= 0):
                waiting += ways if (before if kind == "behind" else read) in classes else ()
            else:
                reached.append(one)
        return tuple(reached)

    def step(self, state: State, last: int, read: int, *, every: bool = False) -> tuple[State, int | None]:
        """The state after a character of class `read`, and the position that matches before it, or None.

        `last` is the class of the character before, for lookbehinds after a lookahead. With `every`, positions
        after a match in the order of the pattern count, too.
        """
        matched = None
        following: list[int] = []
        for one in self.reached(state, last, read):
            kind, classes, ways = self.positions[one]
            if kind == "match":
                matched = one
                if not every:
                    break
            elif read in classes:
                following += ways
        return self.reached(following, read), matched

    def determinized(self, root: int, classes: NDArray[np.uint8]) -> Automaton:
        """The automaton of all states that can be reached, if matches begin at `root`."""
        looks_behind, edge = self.looks_behind, self.edge

        def key_of(state: State, last: int) -> Key:
            return state, last if looks_behind and state else -1

        def onward(state: State, last: int) -> Iterator[tuple[Key, bool]]:
            for read in range(edge + 1):
                reached, matched = self.step(state, last, read)
                yield key_of(reached, read) if read < edge else key_of((), -1), matched is not None

        starts = [key_of(self.reached([root], before), before) for before in range(edge + 1)]
        numbers, following = _table([key_of((), -1), *starts], onward)
        return Automaton(classes, edge, following, [numbers[key] for key in starts])
