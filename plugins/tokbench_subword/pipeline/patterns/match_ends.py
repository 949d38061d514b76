"""What the state of an automaton implies: whether a match is certain, and where the last one ended.

`machine_building` uses it to decide as early as possible, and to remember as few characters as possible.
"""

from __future__ import annotations

from tokbench_subword.pipeline.patterns.automaton import DEAD, Automaton


class MatchEnds:
    """The states of an automaton, and what each of them implies about matches.

    Example:
        >>> from tokbench_subword.pipeline.patterns.automaton import automaton_of
        >>> from tokbench_subword.pipeline.patterns.simplifying import tree_of
        >>> automaton = automaton_of(tree_of("[ab]c*d?e|f"))
        >>> a, f = (automaton.following[automaton.starts[automaton.edge]][automaton.classes[ord(one)]][0]
        ...     for one in "af")
        >>> a in MatchEnds(automaton).sure, f in MatchEnds(automaton).sure
        (False, True)
    """

    def __init__(self, automaton: Automaton) -> None:
        self.sure = _sure_states(automaton)
        self._at_once = {state for state, row in enumerate(automaton.following) if all(ends for _, ends in row)}
        self._edges = [
            (before, one, following, ends)
            for before, row in enumerate(automaton.following)
            for one, (following, ends) in enumerate(row)
            if following != DEAD
        ]
        self._since: dict[int, frozenset[int] | None] = {}
        self._findable: dict[int, bool] = {}

    def since(self, state: int) -> frozenset[int] | None:
        """The classes of the characters that may have been read since the last match ended, up to a state.

        None if the match itself may end with a character of one of these classes. Otherwise its end can be
        found again: it is after the last character of any other class.
        """
        if state not in self._since:
            sources, size = {state}, 0
            while len(sources) > size:
                size = len(sources)
                sources |= {at for at, _, following, ends in self._edges if following in sources and not ends}
            ended = {at for at, _, following, ends in self._edges if ends and following in sources}
            here = sources | ended
            since = {one for at, one, following, _ in self._edges if following in sources and at in here}
            last = {one for _, one, following, _ in self._edges if following in ended}
            self._since[state] = None if since & last else frozenset(since)
        return self._since[state]

    def findable(self, state: int) -> bool:
        """Whether `since` will find the end of the last match, as long as no longer match ends."""
        if state not in self._findable:
            ahead, size = {state}, 0
            while len(ahead) > size:
                size = len(ahead)
                ahead |= {following for at, _, following, ends in self._edges if at in ahead and not ends}
            self._findable[state] = all(self.since(one) is not None for one in ahead - self._at_once)
        return self._findable[state]


def _sure_states(automaton: Automaton) -> frozenset[int]:
    """The states from which a match will end before the automaton dies, whatever is read."""
    sure = set(range(1, len(automaton.following)))
    while True:
        doubtful = {
            state
            for state in sure
            if any(not ends and following not in sure for following, ends in automaton.following[state])
        }
        if not doubtful:
            return frozenset(sure)
        sure -= doubtful
