r"""Builds the `Machine` that searches a text for all matches of an automaton in a single pass.

An `Automaton` finds one match at a time: when it dies, the match is the last one that it reported, and the next
search begins after that match, at characters already read. A `Runner` computes what happens next without going
back. A *configuration* is a state of the automaton, the classes of the characters read since the last match
ended, and the kind of the piece before if its end is not decided yet. Reading a character leads from one
configuration to the next, and decides the ends of some pieces: mostly none, or one right before that character.
All configurations together are the rows of a `Machine`.

Whether there is a longer match may be decided far away: for ``\s*\n``, spaces after a line end are read up to
the next character that is not white space. What the next search would do with these spaces is then computed at
the same time (`Configuration.behind`). A single machine gains little by that, but only so can it be composed
with others (`composing`): otherwise DeepSeek-V3's three cutters would become two, not one, and a first pass
would take 1.2 (English) to 2 times as long (Chinese), a later one 1.4 to 2.7 times.

`behaviors.Rules` define what happens to matches and to the gaps between them.
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
"""The most entries of an automaton for which the search after a match runs beside that for a longer match; the
time for this is quadratic in their number. Published patterns have up to 837 entries."""


_BEGINS, _NONE, _EMPTY, _SOME = range(4)
"""The match found so far: none, and nothing was read yet; none; an empty match; a match that ends before the
characters of `read`."""


class Configuration(NamedTuple):
    """The configuration of a `Runner`: see the module's docstring."""

    state: int
    found: int  # `_BEGINS` to `_SOME`: the match found so far
    read: tuple[int, ...]  # classes of the characters since that match, or since the piece began
    before: int  # class of the character before those if the automaton looks behind; else -1
    open: int  # kind of the piece before if its end is not decided, or -1
    behind: Configuration | None = None  # of the search after that match, which has read the same characters


@dataclass(frozen=True, slots=True)
class Runner:
    """Computes, character by character, what repeated searches of the automaton do."""

    automaton: Automaton
    rules: Rules
    most: int
    """The most characters that are read again; if there would be more, the kernel goes back itself."""
    match_ends: MatchEnds
    twice: bool
    """Whether the search after the last match also runs if more than one character would be read again."""

    def first(self) -> Configuration:
        """The configuration at the beginning of a text."""
        return self.beginning(self.automaton.edge, -1)

    def beginning(self, before: int, open_: int) -> Configuration:
        """The configuration at the start of a piece after a character of class `before`."""
        looks_behind = len(set(self.automaton.starts)) > 1
        return Configuration(self.automaton.starts[before], _BEGINS, (), before if looks_behind else -1, open_)

    def piece_before(self, at: Configuration) -> tuple[bool, bool, bool] | None:
        """If no match has ended yet, what happens to the piece before; None if a match has ended.

        That is: whether there is a cut before the match, if one is found; whether there is a cut before the
        gap, if none is; and whether the piece before the cut is kept.
        """
        if at.found == _SOME:
            return None
        if at.open < 0:
            return False, False, False
        cut_if_gap = self._cut(at.open, GAP) or (at.open == GAP and at.found == _EMPTY)
        return self._cut(at.open, MATCH), cut_if_gap, self.rules.keeps(at.open)

    def _cut(self, kind: int, following: int) -> bool:
        return (kind, following) in self.rules.apart

    def step(self, at: Configuration, read: int) -> tuple[Configuration, Ends]:
        """The configuration after a character of class `read`, and the ends that it decides."""
        ends: list[End] = []
        waiting = [read]
        while waiting:
            one = waiting.pop(0)
            back = len(waiting)  # distance in characters from `one` to the one just read
            state, matched = self.automaton.following[at.state][one]
            if matched:
                at = self._matched(at, back, ends)
            if state != DEAD:
                at = self._alive(at, one, state, back, ends)
            else:
                at, again = self._dead(at, one, back, ends)
                waiting = [*again, *waiting]
        return (self.first() if read == self.automaton.edge else at), tuple(ends)

    def _matched(self, at: Configuration, back: int, ends: list[End]) -> Configuration:
        """The configuration after a match has ended, `back` characters before the one just read."""
        if at.found == _BEGINS:
            return at._replace(found=_EMPTY)
        at = self._cut_off(at, back + len(at.read), ends)
        before = at.read[-1] if at.read and at.before >= 0 else at.before
        return at._replace(found=_SOME, read=(), before=before, behind=None)

    def _cut_off(self, at: Configuration, back: int, ends: list[End]) -> Configuration:
        """Decide whether the piece before ends where a match certainly begins, `back` characters before."""
        if at.found == _SOME or at.open < 0:
            return at
        if self._cut(at.open, MATCH):
            ends.append(End(back, self.rules.keeps(at.open)))
        return at._replace(open=-1)

    def _alive(self, at: Configuration, one: int, state: int, back: int, ends: list[End]) -> Configuration:
        """The configuration after a character of class `one` has led to a `state` that is not dead."""
        # a dropped piece may be ended wherever the next piece might begin
        if at.open == GAP and not self.rules.keeps_gaps and not at.read and at.found != _SOME:
            ends.append(End(back, False))
            at = at._replace(open=-1)
        at = at._replace(state=state, found=at.found or _NONE, **self._noted(at, one, state))
        if state in self.match_ends.sure:  # all that was read will be in a match, so none of it is read again
            at = self._cut_off(at, back + len(at.read) - 1, ends)
            at = at._replace(read=(one,) if at.before >= 0 else (), behind=None)
        return at

    def _dead(
        self, at: Configuration, one: int, back: int, ends: list[End]
    ) -> tuple[Configuration, tuple[int, ...]]:
        """After the automaton dies at `one`: the configuration of the next search, and what it reads again."""
        if at.behind is not None:
            since = self.match_ends.since(at.state)
            assert since is not None  # `_goes_on` made sure of it
            ends.append(End(back, self.rules.keeps_matches, since))
            return at.behind, (one,)
        if at.found == _SOME:
            if self.rules.ends_matches:
                ends.append(End(back + len(at.read), self.rules.keeps_matches))
            return self.beginning(at.before, -1 if self.rules.ends_matches else MATCH), (*at.read, one)
        if at.found == _EMPTY and at.open == GAP:  # no empty match right after another match
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
        """The new `read` and `behind` after reading one more class, which leads to `state`."""
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
        """Whether the search after the last match runs as well once the other search is in `state`."""
        return (
            at.found == _SOME
            and len(read) > 1
            and at.before < 0
            and self.rules.ends_matches
            and state not in self.match_ends.sure
            and self.match_ends.findable(state)
        )


def machine_of(automaton: Automaton, rules: Rules) -> Machine:
    """The machine for an automaton and a behavior; raises `NotExpressible` if it would be too large.

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
            if len(machine) <= LANES or not twice:  # with more rows than lanes, kernels read one by one
                return machine
    raise too_large


def _machine(runner: Runner) -> Machine:
    """The machine of all reachable configurations."""
    automaton, rules, first = runner.automaton, runner.rules, runner.first()
    behind = -1 if rules.ends_matches else MATCH
    begins = [runner.beginning(c, kind) for kind in (behind, GAP) for c in range(automaton.edge + 1)]
    found = Configurations([first, *begins])
    for configuration in found.order:  # grows during the loop
        for read in range(automaton.edge + 1):
            following, ends = runner.step(configuration, read)
            if len(following.read) <= runner.most:
                found.write(following, ends)
                continue
            piece, flags = runner.piece_before(following), 0
            if piece is not None:
                cut_if_match, cut_if_gap, kept = piece
                flags = NOT_TOLD | CUT_IF_MATCH * cut_if_match | CUT_IF_GAP * cut_if_gap | KEEP_BEFORE * kept
            since = len(following.read) - 1
            found.write(first, ends, (following.state, since, max(following.before, 0), flags))
    pages: dict[bytes, int] = {}
    numbered = [pages.setdefault(page.tobytes(), len(pages)) for page in automaton.classes.reshape(-1, PAGE)]
    return found.machine(
        automaton.edge,
        np.array(numbered, np.uint16),
        np.frombuffer(b"".join(pages), np.uint8),
        following=[2 * state + matched for row in automaton.following for state, matched in row],
        begins=begins,
        ends_matches=rules.ends_matches,
        keeps_matches=rules.keeps_matches,
    )
