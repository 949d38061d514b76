"""Encodes many units (texts or pre-tokens) in runs: in several threads, with little memory besides the ids."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.threads import in_threads

Room = NDArray[np.int32] | None
"""An array that ids may be written to, or None."""
_ROOM = 16
"""Runs whose ids get room from the start, an id for each byte; room that is not written to takes no memory. If
it were made after the first run, Chinese, Japanese and Thai would take 1.1 (GPT-2) to 1.25 times (Llama-2's
`.model`) as long.
"""
_RUNS = 64
"""Runs that several threads encode before their ids are joined to the others."""


def in_runs(
    encode: Callable[[int, int, Room], TokenBatch],
    sizes: NDArray[np.int64],
    run: int,
    threads: int,
    room: Room = None,
) -> TokenBatch:
    """The ids of all units, from calls of ``encode(first, end, room)``, in up to `threads` threads.

    `sizes`, int64 ``(n + 1,)``, is the total size up to each unit. A run has a size of `run` at the most, or is
    a single unit. So intermediate results take the same memory for any amount of text, and are still in the
    processor's cache when they are read. The ids may be written to `room`; `encode` gets such an array too, or
    None.

    Example:
        >>> lengths = lambda first, last, room: TokenBatch.of([[k] * k for k in range(first, last)])
        >>> in_runs(lengths, np.array([0, 5, 9, 20, 21]), 10, threads=2).to_lists()
        [[], [1], [2, 2], [3, 3, 3]]
    """
    whole, n_units = int(sizes[-1]), len(sizes) - 1
    if whole <= run:
        return encode(0, n_units, room)
    ends = np.searchsorted(sizes, np.arange(run, whole, run), side="right") - 1
    cuts = np.unique([0, *ends.tolist(), n_units]).tolist()
    most = min(whole + run, _ROOM * run) if threads == 1 else 0
    ids = np.empty(most, np.int32) if room is None else room
    n_ids, offsets = 0, np.zeros(n_units + 1, np.int64)
    together = 1 if threads == 1 else _RUNS
    for begin in range(0, len(cuts) - 1, together):
        some = cuts[begin : begin + together + 1]
        behind = ids[n_ids:] if threads == 1 else None
        parts = [(first, last, behind) for first, last in pairwise(some)]
        done = in_threads(lambda part: encode(*part), parts, threads)
        wanted = n_ids + sum(len(batch.ids) for batch in done)
        if wanted > len(ids):  # room for the rest at once, if it is like the text so far
            longer = np.empty(int(1.1 * wanted * whole / max(1, sizes[some[-1]])) + 2 * run, np.int32)
            longer[:n_ids] = ids[:n_ids]
            ids = longer
        for first, batch in zip(some, done, strict=False):
            offsets[first + 1 : first + len(batch.offsets)] = n_ids + batch.offsets[1:]
            if behind is None or not np.may_share_memory(batch.ids, behind):
                ids[n_ids : n_ids + len(batch.ids)] = batch.ids
            n_ids += len(batch.ids)
    return TokenBatch(ids[:n_ids], offsets)
