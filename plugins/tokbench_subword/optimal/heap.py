"""A binary heap in two arrays: the highest value comes first, and of equal values the lowest tie.

Entries do not change: a caller that finds the first one outdated removes it and inserts the current one.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Int, Ints


@inline
def _before(value_a: Int, tie_a: Int, value_b: Int, tie_b: Int) -> bool | np.bool_:
    """Whether entry a leaves the heap before entry b."""
    return value_a > value_b or (value_a == value_b and tie_a < tie_b)


@inline
def push(values: Ints, ties: Ints, size: Int, value: Int, tie: Int) -> None:
    """Add an entry to a heap of `size` entries; there must be room."""
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if not _before(value, tie, values[parent], ties[parent]):
            break
        values[at], ties[at] = values[parent], ties[parent]
        at = parent
    values[at], ties[at] = value, tie


@inline
def pop(values: Ints, ties: Ints, size: Int) -> None:
    """Remove the first of `size` entries; the place after the remaining ones is then free."""
    size -= 1
    value, tie, at = values[size], ties[size], np.int64(0)
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(values[child + 1], ties[child + 1], values[child], ties[child]):
            child += 1
        if not _before(values[child], ties[child], value, tie):
            break
        values[at], ties[at] = values[child], ties[child]
        at = child
    values[at], ties[at] = value, tie
