"""A binary heap in an array, the least entry first: the queue of loops that merge."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Int

Heap = NDArray[Any]
"""Entries of one kind, whole numbers mostly."""
Size = TypeVar("Size", int, np.int64)


@inline
def sink(heap: Heap, size: Int, at: Int) -> None:
    """Move the entry `at` down to where no entry is less than the one above it."""
    value = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value


@inline
def heapify(heap: Heap, size: Int) -> None:
    """Make a heap of `size` entries in any order."""
    for at in range(size // 2 - 1, -1, -1):
        sink(heap, size, at)


@inline
def push(heap: Heap, size: Size, value: Any) -> Size:
    """Add an entry to a heap of `size`; return the new size."""
    at = size
    while at > 0 and heap[(at - 1) >> 1] > value:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = value
    return size + 1


@inline
def pop(heap: Heap, size: Int) -> Any:
    """Take the least entry of a heap of `size` out, and return it."""
    least = heap[0]
    heap[0] = heap[size - 1]
    sink(heap, size - 1, 0)
    return least
