"""Runs of equal numbers in an ordered array, found in one pass: the kernel of `tokbench.tally.ngrams`."""

from __future__ import annotations

from typing import Any

from tokbench.tally.compiling import kernel


@kernel
def find_runs(ordered: Any, values: Any, lengths: Any) -> int:
    """Fill in the distinct values of `ordered` and how often each occurs; say how many there are."""
    n = 0
    first = 0
    for index in range(1, len(ordered) + 1):
        if index == len(ordered) or ordered[index] != ordered[first]:
            values[n] = ordered[first]
            lengths[n] = index - first
            n += 1
            first = index
    return n
