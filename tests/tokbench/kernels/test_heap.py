"""The heap of the merge loops gives its entries back in order, whatever is added on the way."""

from __future__ import annotations

import heapq

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokbench.kernels.compiling import kernel
from tokbench.kernels.heap import heapify, pop, push
from tokbench.kernels.pointers import pointer


@kernel
def _run(entries, size, steps, out):
    """Make a heap, then for each step push it, or where it is negative take the least out."""
    heap, taken = pointer(entries), 0
    heapify(heap, size)
    for step in steps:
        if step >= 0:
            size = push(heap, size, step)
        elif size > 0:
            out[taken] = pop(heap, size)
            size -= 1
            taken += 1
    while size > 0:
        out[taken] = pop(heap, size)
        size -= 1
        taken += 1
    return taken


@given(st.lists(st.integers(0, 50), max_size=30), st.lists(st.integers(-30, 50), max_size=40))
def test_least_first(entries, steps):
    room, out = np.zeros(100, np.int64), np.zeros(100, np.int64)
    room[: len(entries)] = entries
    taken = _run(room, len(entries), np.array(steps, np.int64), out)
    queue, want = list(entries), []
    heapq.heapify(queue)
    for step in steps:
        if step >= 0:
            heapq.heappush(queue, step)
        elif queue:
            want.append(heapq.heappop(queue))
    want += sorted(queue)
    assert out[:taken].tolist() == want
