"""An automaton made to run over text once, without going back: the tables of the kernel that cuts.

An `Automaton` finds one match at a time: where it dies, the match is what it last told, and the next search
begins behind that, at characters already read. Here what it would do then is worked out beforehand. A
*configuration* is a state of the automaton, the classes of the characters read since the last match told, and
the kind of the piece before, where its end is not yet decided. Reading a character leads from one configuration
to the next, and decides the ends of some pieces: mostly none, or one right before the character read.

What becomes of matches, and of the gaps between them, is the *behavior* of `Split` in a `tokenizer.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.pipeline.automaton import DEAD, Automaton
from tokbench_subword.pipeline.pattern_tree import NotExpressible

Behavior = Literal["Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"]

GAP, MATCH = 0, 1
KEEP, BEGIN, SLOW_SHIFT, ROW_SHIFT = 1, 2, 2, 12
"""What an entry of the table holds: bit 0, a piece that is kept ends before this character; bit 1, the next
begins there; then the number of a list of ends that are further back (0: none); and from bit 12 on where the
row of the next configuration begins."""
_READ_AGAIN = (4, 2, 1)
_MOST_CONFIGURATIONS, _MOST_ACTIONS = 512, 1 << (ROW_SHIFT - SLOW_SHIFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Which neighbouring pieces are cut apart, and which are kept.

    `apart` holds pairs of kinds between which there is a cut; a cut behind every match is told at once.
    """

    apart: frozenset[tuple[int, int]]
    keeps_matches: bool = True
    keeps_gaps: bool = True

    @classmethod
    def of(cls, behavior: str, *, invert: bool = False) -> Rules:
        """The rules of a behavior; `invert` has matches and gaps change places.

        Example:
            >>> Rules.of("Removed", invert=True).keeps_gaps
            False
        """
        after_match = {(MATCH, MATCH), (MATCH, GAP)}
        if invert and behavior in ("MergedWithPrevious", "MergedWithNext"):
            behavior = "MergedWithNext" if behavior == "MergedWithPrevious" else "MergedWithPrevious"
        if behavior in ("Isolated", "Removed"):
            removed = behavior == "Removed"
            return cls(
                apart=frozenset(after_match | {(GAP, MATCH)}),
                keeps_matches=not removed or invert,
                keeps_gaps=not removed or not invert,
            )
        apart: Mapping[str, set[tuple[int, int]]] = {
            "Contiguous": {(GAP, MATCH), (MATCH, GAP)},
            "MergedWithPrevious": after_match,
            "MergedWithNext": {(MATCH, MATCH), (GAP, MATCH)},
        }
        if behavior not in apart:
            raise NotExpressible(f"the behavior {behavior!r}")
        return cls(apart=frozenset(apart[behavior]))

    @property
    def ends_matches(self) -> bool:
        """Whether there is a cut behind every match, whatever follows."""
        return {(MATCH, MATCH), (MATCH, GAP)} <= self.apart


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Machine:
    """The tables of the kernel in `cutting`, each contiguous.

    A *row* is ``width`` entries of `table`, one for each class of code points and one for the end of the text.
    Where a
    match was told and too much has been read since, an action says so: the kernel then reads on by `following`,
    the states of the automaton, until it dies, and begins anew at the row of the class before the match's end.
    So it does where nothing was told as yet; without a match, it begins anew behind the first character. Where
    one attempt after the other fails far away, that takes quadratic time, as it does the libraries.
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
    `CUT_IF_MATCH` and its kin; then as many pairs of how many characters back an end is and whether it is
    kept."""
    following: NDArray[np.uint16]
    """For each state and class the next state, doubled, and 1 where a match ends before the character."""
    rows: NDArray[np.int64]
    """For each class of the character before, the row where a piece begins behind a match."""
    gap_rows: NDArray[np.int64]
    """The same where it begins behind a character that is part of no match."""
    meetings: NDArray[np.uint32]
    """``(width * width,)``: for the classes of two neighbouring characters, the entry of the second, where that
    is the same in whichever configuration the first was read, and a piece begins with the second; else 0."""
    settings: NDArray[np.int64]
    """`WIDTH`, and whether there is a cut behind every match and whether it is kept."""

    def __len__(self) -> int:
        return len(self.table) // int(self.settings[WIDTH])

    def arrays(self) -> list[NDArray[Any]]:
        """All of them, in the order of their fields."""
        return [getattr(self, one.name) for one in fields(self)]


WIDTH, ENDS_MATCHES, KEEPS_MATCHES = range(3)
N_ENDS, READ_ON, SINCE, BEFORE, UNTOLD, FIRST_END = range(6)
NOT_TOLD, CUT_IF_MATCH, CUT_IF_GAP, KEEP_BEFORE = 1, 2, 4, 8
"""What an action says where no match was told: that it is so, whether there is a cut before the match that may
be found, and before the gap if there is none, and whether the piece before that is kept."""
ACTION = FIRST_END + 2 * 8
"""Numbers in an action: there are at most eight ends, of what is read again."""


_BEGINS, _NONE, _EMPTY, _SOME = range(4)
"""What has been told of a match: nothing, and nothing was read; nothing; one of no length; one of what was read
before `read`."""


class _Configuration(NamedTuple):
    state: int
    told: int  # `_BEGINS` to `_SOME`
    read: tuple[int, ...]  # classes since then, or since the piece began
    before: int  # class before those, where the automaton looks there; else -1
    open: int  # kind of the piece before whose end is not decided, or -1


Ends = tuple[tuple[int, bool], ...]
"""Ends of pieces: how many characters before the one just read each lies, and whether the piece is kept."""


def machine_of(automaton: Automaton, rules: Rules) -> Machine:
    """The tables for an automaton and a behavior; raises `NotExpressible` where they would be too large.

    Example:
        >>> from tokbench_subword.pipeline.automaton import automaton_of
        >>> from tokbench_subword.pipeline.pattern_reading import tree_of
        >>> machine = machine_of(automaton_of(tree_of("a+")), Rules.of("Isolated"))
        >>> len(machine), machine.settings[WIDTH].item()
        (4, 3)
    """
    sure = _sure_states(automaton)
    for most in _READ_AGAIN:
        try:
            return _tables(_Runner(automaton, rules, most, sure))
        except _TooLarge:
            continue
    raise NotExpressible("too many configurations")


def _sure_states(automaton: Automaton) -> frozenset[int]:
    """The states in which a match will be told before the automaton dies, whatever is read."""
    sure = set(range(1, len(automaton.following)))
    while True:
        doubtful = {
            state
            for state in sure
            if any(not told and following not in sure for following, told in automaton.following[state])
        }
        if not doubtful:
            return frozenset(sure)
        sure -= doubtful


class _TooLarge(Exception):
    """There are too many configurations: fewer characters may be read again."""


def _tables(runner: _Runner) -> Machine:
    """The tables of all configurations that can be reached."""
    automaton, rules = runner.automaton, runner.rules
    width = automaton.edge + 1
    behind = -1 if rules.ends_matches else MATCH
    begins = [runner.beginning(c, kind) for kind in (behind, GAP) for c in range(width)]
    order = list(dict.fromkeys([runner.first(), *begins]))
    numbers = {configuration: number for number, configuration in enumerate(order)}
    actions: dict[tuple[int, ...], int] = {(0, 0, 0, 0, 0): 0}
    table: list[int] = []
    for configuration in order:  # grows while it is gone through
        for read in range(width):
            following, ends = runner.step(configuration, read)
            since = (0, 0, 0, 0)
            if len(following.read) > runner.most:
                flags = 0 if following.told == _SOME else runner.untold(following)
                since = (following.state, len(following.read) - 1, max(following.before, 0), flags)
                following = order[0]
            elif following not in numbers:
                numbers[following] = len(order)
                order.append(following)
                if len(order) > _MOST_CONFIGURATIONS:
                    raise _TooLarge
            entry = numbers[following] * width << ROW_SHIFT
            if len(ends) == 1 and ends[0][0] == 0 and not since[0]:
                entry |= BEGIN | (KEEP if ends[0][1] else 0)
            else:
                action = (len(ends), *since, *(int(value) for end in ends for value in end))
                entry |= actions.setdefault(action, len(actions)) << SLOW_SHIFT
            table.append(entry)
    if len(actions) > _MOST_ACTIONS or len(table) >= 1 << (32 - ROW_SHIFT) or max(map(len, actions)) > ACTION:
        raise _TooLarge
    listed = np.zeros((len(actions), ACTION), np.int32)
    for action, number in actions.items():
        listed[number, : len(action)] = action
    pages: dict[bytes, int] = {}
    numbered = [pages.setdefault(page.tobytes(), len(pages)) for page in automaton.classes.reshape(-1, 256)]
    entries = np.array(table, np.uint32)
    return Machine(
        table=entries,
        ascii_classes=np.ascontiguousarray(automaton.classes[:128]),
        pages=np.array(numbered, np.uint16),
        classes=np.frombuffer(b"".join(pages), np.uint8),
        actions=listed.reshape(-1),
        following=np.array(
            [[2 * state + told for state, told in row] for row in automaton.following], np.uint16
        ).reshape(-1),
        rows=np.array([numbers[one] * width for one in begins[:width]], np.int64),
        gap_rows=np.array([numbers[one] * width for one in begins[width:]], np.int64),
        meetings=_meetings(automaton, entries.reshape(-1, width), listed),
        settings=np.array([width, rules.ends_matches, rules.keeps_matches], np.int64),
    )


def _meetings(
    automaton: Automaton, entries: NDArray[np.uint32], actions: NDArray[np.int32]
) -> NDArray[np.uint32]:
    """`Machine.meetings` of a table with a row for each configuration.

    Reading on, the kernel is in states of the automaton that no row may stand for: it must not come across.
    """
    width = entries.shape[1]
    states = np.array([[state for state, _ in row] for row in automaton.following], np.int64)
    numbers = (entries & ((1 << ROW_SHIFT) - 1)) >> SLOW_SHIFT
    found = np.zeros((width, width), np.uint32)
    for first in range(width - 1):
        if actions[numbers[:, first], READ_ON].any():  # where that leads is not in the table
            continue
        reached = entries[np.unique(entries[:, first] >> ROW_SHIFT) // width]
        same = (reached == reached[0]).all(axis=0) & ((reached[0] & BEGIN) != 0)
        same &= (states[states[:, first]] == DEAD).all(axis=0)
        found[first, same] = reached[0, same]
    found[:, width - 1] = 0
    return found.reshape(-1)


@dataclass(frozen=True, slots=True)
class _Runner:
    """What the automaton does, searching again and again, told character by character."""

    automaton: Automaton
    rules: Rules
    most: int
    """Characters that are read again, at the most; where more would be, the kernel goes back itself."""
    sure: frozenset[int]
    """States in which a match, or a longer one, will be told whatever follows."""

    def first(self) -> _Configuration:
        """The configuration at the beginning of a text."""
        return self.beginning(self.automaton.edge, -1)

    def beginning(self, before: int, open_: int) -> _Configuration:
        """The configuration where a piece begins behind a character of class `before`."""
        looks_behind = len(set(self.automaton.starts)) > 1
        return _Configuration(self.automaton.starts[before], _BEGINS, (), before if looks_behind else -1, open_)

    def untold(self, at: _Configuration) -> int:
        """What an action says of a configuration where no match was told, and the kernel reads on."""
        cut_if_match = at.open >= 0 and self._cut(at.open, MATCH)
        cut_if_gap = at.open >= 0 and (self._cut(at.open, GAP) or (at.open == GAP and at.told == _EMPTY))
        kept = at.open >= 0 and self._kept(at.open)
        return NOT_TOLD | CUT_IF_MATCH * cut_if_match | CUT_IF_GAP * cut_if_gap | KEEP_BEFORE * kept

    def _cut(self, kind: int, following: int) -> bool:
        return (kind, following) in self.rules.apart

    def _kept(self, kind: int) -> bool:
        return self.rules.keeps_matches if kind == MATCH else self.rules.keeps_gaps

    def step(self, at: _Configuration, read: int) -> tuple[_Configuration, Ends]:
        """The configuration behind a character of class `read`, and the ends it decides."""
        edge = self.automaton.edge
        ends: list[tuple[int, bool]] = []
        waiting = [read]
        while waiting:
            one = waiting.pop(0)
            back = len(waiting)  # how many characters `one` is before the one just read
            state, told = self.automaton.following[at.state][one]
            if told and at.told == _BEGINS:
                at = at._replace(told=_EMPTY)
            elif told:
                if at.told != _SOME and at.open >= 0:
                    if self._cut(at.open, MATCH):
                        ends.append((back + len(at.read), self._kept(at.open)))
                    at = at._replace(open=-1)
                before = at.read[-1] if at.read and at.before >= 0 else at.before
                at = at._replace(told=_SOME, read=(), before=before)
            if state != DEAD:
                # what is dropped may end wherever the next piece might begin
                if at.open == GAP and not self.rules.keeps_gaps and not at.read and at.told != _SOME:
                    ends.append((back, False))
                    at = at._replace(open=-1)
                at = at._replace(state=state, read=(*at.read, one), told=at.told or _NONE)
                if state in self.sure:  # what was read will be part of a match: none of it is read again
                    if at.told != _SOME and at.open >= 0:
                        if self._cut(at.open, MATCH):
                            ends.append((back + len(at.read) - 1, self._kept(at.open)))
                        at = at._replace(open=-1)
                    at = at._replace(read=(one,) if at.before >= 0 else ())
                continue
            if at.told == _SOME:
                if self.rules.ends_matches:
                    ends.append((back + len(at.read), self.rules.keeps_matches))
                waiting = [*at.read, one, *waiting]
                at = self.beginning(at.before, -1 if self.rules.ends_matches else MATCH)
                continue
            if at.told == _EMPTY and at.open == GAP:  # not where a match has just ended: there is none again
                ends.append((back + len(at.read), self.rules.keeps_gaps))
                at = at._replace(open=-1)
            skipped, *again = *at.read, one
            if skipped == edge:
                if at.open >= 0:
                    ends.append((back, self._kept(at.open)))
                break
            if at.open >= 0 and self._cut(at.open, GAP):
                ends.append((back + len(at.read), self._kept(at.open)))
            waiting = [*again, *waiting]
            at = self.beginning(skipped, GAP)
        return (self.first() if read == edge else at), tuple(ends)
