"""Ids to bytes: one gather, in a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.kernels.compiling import kernel


@kernel
def gather(blob, starts, ids, out):  # type: ignore[no-untyped-def]
    """Write the bytes of each id, ``blob[starts[id]:starts[id + 1]]``, one after the other; return how many."""
    o = 0
    for i in range(len(ids)):
        token = ids[i]
        for b in range(starts[token], starts[token + 1]):
            out[o] = blob[b]
            o += 1
    return o


def joined(blob: NDArray[np.uint8], starts: NDArray[np.int64], ids: NDArray[np.int64]) -> bytes:
    """The bytes of all `ids`, which must be in range."""
    size = int((starts[ids + 1] - starts[ids]).sum())  # of these ids alone: a vocabulary is long, a line is not
    out = np.empty(size, np.uint8)
    gather(blob, starts, ids, out)
    return out.tobytes()
