"""How far a training is: each of its stages is a part of the whole."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.family import Progress

COUNTING_SHARE = 0.6
"""The part of a training by merges that reading and counting take; merges take the rest."""


def stage(
    progress: Progress, what: str, begin: float, end: float, of: float | None = 1.0
) -> Callable[[float], None]:
    """Where a stage that goes from `begin` to `end` of the whole tells how much it has done of `of`, if known.

    Example:
        >>> stage(lambda share, what: print(f"{share:.0%} {what}"), "counting", 0.0, 0.6, of=1000)(500)
        30% counting
    """
    return lambda done: progress(begin + (end - begin) * (min(1.0, done / of) if of else 0.0), what)
