"""Progress of a training: maps the progress of each stage to the progress of the whole."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.family import Progress

COUNTING_SHARE = 0.6
"""The share of reading and counting in the progress of a training by merges."""


def stage(
    progress: Progress, what: str, begin: float, end: float, of: float | None = 1.0
) -> Callable[[float], None]:
    """A function that reports how much of `of` a stage has done; the stage is `begin` to `end` of the whole.

    Example:
        >>> stage(lambda share, what: print(f"{share:.0%} {what}"), "counting", 0.0, 0.6, of=1000)(500)
        30% counting
    """
    return lambda done: progress(begin + (end - begin) * (min(1.0, done / of) if of else 0.0), what)
