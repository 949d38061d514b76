r"""What an automaton does that searches a text again and again, told character by character.

An `Automaton` finds one match at a time: where it dies, the match is what it last told, and the next search
begins behind that, at characters already read. A `Runner` tells what it would do then without going back. A
*configuration* is a state of the automaton, the classes of the characters read since the last match told, and
the kind of the piece before, where its end is not yet decided. Reading a character leads from one configuration
to the next, and decides the ends of some pieces: mostly none, or one right before the character read. All
configurations together are the rows of a `Machine`.

A longer match than the one told may be decided far away: ``\s*\n`` has spaces behind a line end read up to
the next character that is none. What the next search would do with them is then followed at the same time
(`Configuration.behind`). A machine by itself hardly gains by that, but only so can it be composed with others
(`composing`): without it, DeepSeek-V3's three cutters would become two, not one, and a first pass would take
1.2 (English) to 2 times as long (Chinese), a later one 1.4 to 2.7 times.

What becomes of matches, and of the gaps between them, is said by `behaviors.Rules`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from tokbench.kernels.lanes import LANES
from tokbench_subword.pipeline.patterns.automaton import DEAD, Automaton
from tokbench_subword.pipeline.patterns.behaviors import GAP, MATCH, Rules
from tokbench_subword.pipeline.patterns.machine import (
    CUT_IF_GAP,
    CUT_IF_MATCH,
    KEEP_BEFORE,
    NOT_TOLD,
    PAGE,
    Configurations,
    End,
    Ends,
    Machine,
    TooLarge,
)
from tokbench_subword.pipeline.patterns.match_ends import MatchEnds

_READ_AGAIN = (4, 2, 1)
_MOST_ENTRIES = 4000
"""Entries of an automaton up to which the search behind a match is followed beside the one for a longer match;
published patterns have up to 837. What that takes grows with their square."""


_BEGINS, _NONE, _EMPTY, _SOME = range(4)
"""What has been told of a match: nothing, and nothing was read yet; nothing; one of no length; one that ends
before the characters of `read`."""


class Configuration(NamedTuple):
    """Where a `Runner` is: see the head of this module."""

    state: int
    told: int  # `_BEGINS` to `_SOME`
    read: tuple[int, ...]  # classes since then, or since the piece began
    before: int  # class before those, where the automaton looks there; else -1
    open: int  # kind of the piece before whose end is not decided, or -1
    behind: Configuration | None = None  # where a search behind the match told is, that has read what is since


@dataclass(frozen=True, slots=True)
class Runner:
    """What the automaton does, searching again and again, told character by character."""

    automaton: Automaton
    rules: Rules
    most: int
    """Characters that are read again, at the most; where more would be, the kernel goes back itself."""
    match_ends: MatchEnds
    twice: bool
    """Whether, where more than one would be read again, the search behind the match told goes on as well."""

    def first(self) -> Configuration:
        """The configuration at the beginning of a text."""
        return self.beginning(self.automaton.edge, -1)

    def beginning(self, before: int, open_: int) -> Configuration:
        """The configuration where a piece begins behind a character of class `before`."""
        looks_behind = len(set(self.automaton.starts)) > 1
        return Configuration(self.automaton.starts[before], _BEGINS, (), before if looks_behind else -1, open_)

    def untold(self, at: Configuration) -> tuple[bool, bool, bool] | None:
        """Where no match was told as yet, what becomes of the piece before; None where one was.

        That is whether there is a cut before the match that may be found, whether there is one before the gap
        if none is, and whether the piece before that is kept.
        """
        if at.told == _SOME:
            return None
        if at.open < 0:
            return False, False, False
        cut_if_gap = self._cut(at.open, GAP) or (at.open == GAP and at.told == _EMPTY)
        return self._cut(at.open, MATCH), cut_if_gap, self.rules.keeps(at.open)

    def _cut(self, kind: int, following: int) -> bool:
        return (kind, following) in self.rules.apart

    def step(self, at: Configuration, read: int) -> tuple[Configuration, Ends]:
        """The configuration behind a character of class `read`, and the ends it decides."""
        ends: list[End] = []
        waiting = [read]
        while waiting:
            one = waiting.pop(0)
            back = len(waiting)  # how many characters `one` is before the one just read
            state, told = self.automaton.following[at.state][one]
            if told:
                at = self._matched(at, back, ends)
            if state != DEAD:
                at = self._alive(at, one, state, back, ends)
            else:
                at, again = self._dead(at, one, back, ends)
                waiting = [*again, *waiting]
        return (self.first() if read == self.automaton.edge else at), tuple(ends)

    def _matched(self, at: Configuration, back: int, ends: list[End]) -> Configuration:
        """The configuration where a match has ended, `back` characters before the one just read."""
        if at.told == _BEGINS:
            return at._replace(told=_EMPTY)
        at = self._cut_off(at, back + len(at.read), ends)
        before = at.read[-1] if at.read and at.before >= 0 else at.before
        return at._replace(told=_SOME, read=(), before=before, behind=None)

    def _cut_off(self, at: Configuration, back: int, ends: list[End]) -> Configuration:
        """Decide whether the piece before ends where a match now surely begins, `back` characters before."""
        if at.told == _SOME or at.open < 0:
            return at
        if self._cut(at.open, MATCH):
            ends.append(End(back, self.rules.keeps(at.open)))
        return at._replace(open=-1)

    def _alive(self, at: Configuration, one: int, state: int, back: int, ends: list[End]) -> Configuration:
        """The configuration where a character of class `one` has led to a `state` that is not dead."""
        # what is dropped may end wherever the next piece might begin
        if at.open == GAP and not self.rules.keeps_gaps and not at.read and at.told != _SOME:
            ends.append(End(back, False))
            at = at._replace(open=-1)
        at = at._replace(state=state, told=at.told or _NONE, **self._noted(at, one, state))
        if state in self.match_ends.sure:  # what was read will be of a match: none of it is read again
            at = self._cut_off(at, back + len(at.read) - 1, ends)
            at = at._replace(read=(one,) if at.before >= 0 else (), behind=None)
        return at

    def _dead(
        self, at: Configuration, one: int, back: int, ends: list[End]
    ) -> tuple[Configuration, tuple[int, ...]]:
        """Where the automaton dies at a character of class `one`: the next search, and what it reads again."""
        if at.behind is not None:
            since = self.match_ends.since(at.state)
            assert since is not None  # or `_goes_on` would not have had it go on
            ends.append(End(back, self.rules.keeps_matches, since))
            return at.behind, (one,)
        if at.told == _SOME:
            if self.rules.ends_matches:
                ends.append(End(back + len(at.read), self.rules.keeps_matches))
            return self.beginning(at.before, -1 if self.rules.ends_matches else MATCH), (*at.read, one)
        if at.told == _EMPTY and at.open == GAP:  # not where a match has just ended: there is none again
            ends.append(End(back + len(at.read), self.rules.keeps_gaps))
            at = at._replace(open=-1)
        skipped, *again = *at.read, one
        if skipped == self.automaton.edge:
            if at.open >= 0:
                ends.append(End(back, self.rules.keeps(at.open)))
            return at, ()
        if at.open >= 0 and self._cut(at.open, GAP):
            ends.append(End(back + len(at.read), self.rules.keeps(at.open)))
        return self.beginning(skipped, GAP), tuple(again)

    def _noted(self, at: Configuration, one: int, state: int) -> dict[str, Any]:
        """What is `read` and `behind` when one more class has been read, which leads to `state`."""
        read = (*at.read, one)
        if at.behind is None and not (self.twice and self._goes_on(at, read, state)):
            return {"read": read}
        behind = at.behind or self.beginning(-1, -1)
        for each in read:
            behind, ends = self.step(behind, each)
            if ends or len(behind.read) > self.most:
                raise TooLarge("a piece that ends before it is known that it began")
        return {"read": (), "behind": behind}

    def _goes_on(self, at: Configuration, read: tuple[int, ...], state: int) -> bool:
        """Whether the search behind the match told is to go on as well, from `state` of the other on."""
        return (
            at.told == _SOME
            and len(read) > 1
            and at.before < 0
            and self.rules.ends_matches
            and state not in self.match_ends.sure
            and self.match_ends.findable(state)
        )


def machine_of(automaton: Automaton, rules: Rules) -> Machine:
    """The tables for an automaton and a behavior; raises `NotExpressible` where they would be too large.

    Example:
        >>> from tokbench_subword.pipeline.patterns.automaton import automaton_of
        >>> from tokbench_subword.pipeline.patterns.machine import EDGE
        >>> from tokbench_subword.pipeline.patterns.simplifying import tree_of
        >>> machine = machine_of(automaton_of(tree_of("a+")), Rules.of("Isolated"))
        >>> len(machine), machine.settings[EDGE].item()
        (3, 2)
    """
    match_ends = MatchEnds(automaton)
    small = len(automaton.following) * automaton.edge <= _MOST_ENTRIES
    for twice, most in product((True, False) if small else (False,), _READ_AGAIN):
        try:
            machine = _machine(Runner(automaton, rules, most, match_ends, twice))
        except TooLarge as reason:
            too_large = reason
        else:
            if len(machine) <= LANES or not twice:  # more rows than lanes are read one by one
                return machine
    raise too_large


def _machine(runner: Runner) -> Machine:
    """The machine of all configurations that can be reached."""
    automaton, rules, first = runner.automaton, runner.rules, runner.first()
    behind = -1 if rules.ends_matches else MATCH
    begins = [runner.beginning(c, kind) for kind in (behind, GAP) for c in range(automaton.edge + 1)]
    found = Configurations([first, *begins])
    for configuration in found.order:  # grows while it is gone through
        for read in range(automaton.edge + 1):
            following, ends = runner.step(configuration, read)
            if len(following.read) <= runner.most:
                found.write(following, ends)
                continue
            untold, flags = runner.untold(following), 0
            if untold is not None:
                cut_if_match, cut_if_gap, kept = untold
                flags = NOT_TOLD | CUT_IF_MATCH * cut_if_match | CUT_IF_GAP * cut_if_gap | KEEP_BEFORE * kept
            since = len(following.read) - 1
            found.write(first, ends, (following.state, since, max(following.before, 0), flags))
    pages: dict[bytes, int] = {}
    numbered = [pages.setdefault(page.tobytes(), len(pages)) for page in automaton.classes.reshape(-1, PAGE)]
    return found.machine(
        automaton.edge,
        np.array(numbered, np.uint16),
        np.frombuffer(b"".join(pages), np.uint8),
        following=[2 * state + told for row in automaton.following for state, told in row],
        begins=begins,
        ends_matches=rules.ends_matches,
        keeps_matches=rules.keeps_matches,
    )
