"""Tallies added up as they come, some at a time: to add each alone would be to copy all before it each time."""

from __future__ import annotations

from tokbench.tally import Tally

AT_ONCE = 16
"""Tallies held before they are added: each may take a megabyte or two."""


class Summing:
    """A sum of tallies that grows.

    Example:
        >>> growing = Summing()
        >>> growing.add(Tally.empty())
        >>> growing.total().documents
        0
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[Tally] = []

    def add(self, tally: Tally) -> None:
        """Add one more."""
        self._parts.append(tally)
        if len(self._parts) >= AT_ONCE:
            self._parts = [self.total()]

    def total(self) -> Tally:
        """The sum so far."""
        return Tally.sum(self._parts)
