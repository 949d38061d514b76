r"""Which alternatives of a pattern can match any text: a proof by the pattern's automaton.

Each alternative has its own accepting state. An alternative wins if it has matched and all earlier alternatives
fail on the following text. The search visits all pairs of a state and the last winner; these are few, since the
states are few.
"""

from __future__ import annotations

from tokbench_subword.pipeline.patterns.automaton import MOST_STATES, Builder, State, classes_of
from tokbench_subword.pipeline.patterns.tree import Either, Node, NotExpressible


def winners(tree: Node) -> list[bool]:
    r"""Whether each alternative of a pattern (or the pattern, without any) is the match of some text.

    Raises `NotExpressible` if the pattern has no automaton, or too large a one.

    Example:
        >>> from tokbench_subword.pipeline.patterns.simplifying import tree_of
        >>> winners(tree_of(r"\p{L}+|\p{Lu}+|\d")), winners(tree_of(r"[^\s\S]+"))
        ([True, False, True], [False])
    """
    parts = tree.parts if isinstance(tree, Either) else (tree,)
    _, sets, edge = classes_of(tree)
    builder = Builder(sets, edge)
    goals = [builder.another_match() for _ in parts]
    roots = [builder.add(part, goal) for part, goal in zip(parts, goals, strict=True)]
    looks_behind = builder.looks_behind
    won: set[int] = set()
    seen: set[tuple[State, int, int | None]] = set()
    waiting: list[tuple[State, int, int | None]] = [
        (builder.reached(roots, before), before, None) for before in range(edge + 1)
    ]
    while waiting and len(won) < len(parts):
        now = waiting.pop()
        if now in seen:
            continue
        seen.add(now)
        if len(seen) > MOST_STATES * (len(parts) + 1):
            raise NotExpressible("too many states")
        state, last, winner = now
        for read in range(edge + 1):
            following, matched = builder.step(state, last, read)
            best = winner if matched is None else matched
            if read == edge or not following:
                if best is not None:
                    won.add(best)
            else:
                waiting.append((following, read if looks_behind else -1, best))
    return [goal in won for goal in goals]
