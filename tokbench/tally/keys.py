"""The key of each document, a hash of its text, which places it in a bootstrap group and in the samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def document_keys(
    data: NDArray[np.uint8], starts: Ints, ends: Ints, lines: Sequence[int | None] = ()
) -> NDArray[np.uint32]:
    """A 32-bit key of each document: of its text, or of its line where `lines` gives one.

    It is the lower half of the hash of `tokbench.kernels.hashing`, of the bytes of the text, or of the eight of
    the line's number. `data` is followed by padding.
    """
    import numpy as np

    from tokbench.kernels.hashing import hash_spans
    from tokbench.kernels.pointers import padded

    keys = np.empty(len(starts), np.uint64)
    hash_spans(data, starts, ends, keys)
    own = [index for index, line in enumerate(lines) if line is not None]
    if own:
        numbers = padded(np.array([lines[index] for index in own], "<i8").tobytes())
        first = np.arange(0, len(numbers), 8)
        of_lines = np.empty(len(own), np.uint64)
        hash_spans(numbers, first, first + 8, of_lines)
        keys[own] = of_lines
    return keys.astype(np.uint32)
