"""All ways to cut each token of a vocabulary into two tokens of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import kernel
from tokbench.kernels.hashing import hash_bytes
from tokbench.kernels.pointers import pointer
from tokbench_subword.bpe.tables import NONE, TokenTable, token_id


@kernel
def _splits(table, bloom, blob, starts, out):  # type: ignore[no-untyped-def]
    """Write the splits into `out` (or only count them, where it has no rows); return how many there are."""
    mask = len(table) - 1
    tokens, filter_, data, begins = pointer(table), pointer(bloom), pointer(blob), pointer(starts)
    count = 0
    for token in range(len(starts) - 1):
        begin, end = starts[token], starts[token + 1]
        for at in range(begin + 1, end):
            hashed = hash_bytes(data, begin, at - begin)
            left = token_id(tokens, mask, filter_, data, begins, data, begin, at - begin, hashed)
            if left == NONE:
                continue
            hashed = hash_bytes(data, at, end - at)
            right = token_id(tokens, mask, filter_, data, begins, data, at, end - at, hashed)
            if right == NONE:
                continue
            if len(out):
                out[count, 0] = left
                out[count, 1] = right
                out[count, 2] = token
            count += 1
    return count


def splits(tokens: TokenTable) -> NDArray[np.int32]:
    """int32 ``(n, 3)``: left, right, token; in order of token, then of the place of the cut."""
    none = np.empty((0, 3), np.int32)
    found = np.empty((_splits(tokens.table, tokens.bloom, tokens.blob, tokens.starts, none), 3), np.int32)
    _splits(tokens.table, tokens.bloom, tokens.blob, tokens.starts, found)
    return found
