"""What the state of an automaton tells of a search: whether a match is sure, and where the last one ended.

`machine_building` asks, to decide as early as it can, and to keep as little of what was read as it can.
"""

from __future__ import annotations

from tokbench_subword.pipeline.patterns.automaton import DEAD, Automaton


class MatchEnds:
    """The states of an automaton, and what each tells.

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
        self._at_once = {state for state, row in enumerate(automaton.following) if all(told for _, told in row)}
        self._edges = [
            (before, one, following, told)
            for before, row in enumerate(automaton.following)
            for one, (following, told) in enumerate(row)
            if following != DEAD
        ]
        self._since: dict[int, frozenset[int] | None] = {}
        self._findable: dict[int, bool] = {}

    def since(self, state: int) -> frozenset[int] | None:
        """The classes of what may have been read since a match was told, up to a state.

        None where the match may itself end with a character of one of these. Else its end can be found again:
        it is behind the last character of any other class.
        """
        if state not in self._since:
            sources, size = {state}, 0
            while len(sources) > size:
                size = len(sources)
                sources |= {at for at, _, following, told in self._edges if following in sources and not told}
            ended = {at for at, _, following, told in self._edges if told and following in sources}
            here = sources | ended
            since = {one for at, one, following, _ in self._edges if following in sources and at in here}
            last = {one for _, one, following, _ in self._edges if following in ended}
            self._since[state] = None if since & last else frozenset(since)
        return self._since[state]

    def findable(self, state: int) -> bool:
        """Whether the end of the last match will be known by `since`, as long as no longer one is told."""
        if state not in self._findable:
            ahead, size = {state}, 0
            while len(ahead) > size:
                size = len(ahead)
                ahead |= {following for at, _, following, told in self._edges if at in ahead and not told}
            self._findable[state] = all(self.since(one) is not None for one in ahead - self._at_once)
        return self._findable[state]


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
