"""The characters of words, for trainers that begin with characters rather than bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts


def characters_of(words: WordCounts) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The code points of all words end to end, and at which of them each word begins (and the last ends).

    Example:
        >>> points, starts = characters_of(WordCounts.of({"aé": 2, "b": 1}))
        >>> points.tolist(), starts.tolist()
        ([97, 233, 98], [0, 2, 3])
    """
    begun = np.append(0, np.cumsum((words.data & 0xC0) != 0x80))  # characters before each byte
    points = np.frombuffer(words.data.tobytes().decode("utf-8").encode("utf-32-le"), np.uint32)
    return points, begun[words.starts]
