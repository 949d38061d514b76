"""The code points of many pieces of text at once, with the bytes among them that are no whole characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ESCAPES = 0xDC80, 0xDCFF
"""The code points by which ``surrogateescape`` writes bytes that are no UTF-8."""


def code_points(pieces: Sequence[bytes]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    r"""The code points (uint32) of all pieces, a line feed after each, and the places of those line feeds.

    Bytes that are no UTF-8 are `ESCAPES`, among them, as Python has it, those of surrogates.

    Example:
        >>> points, ends = code_points([b"ab", b"", "é".encode()[:1]])
        >>> [hex(point) for point in points.tolist()], ends.tolist()
        (['0x61', '0x62', '0xa', '0xa', '0xdcc3', '0xa'], [2, 3, 5])
    """
    import numpy as np

    text = b"\n".join([*pieces, b""]).decode("utf-8", "surrogateescape")
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    widths = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    widths[escaped(points)] = 1
    line_feeds = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)) + 1)
    return points, np.searchsorted(np.cumsum(widths), line_feeds)


def escaped(points: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which of the points are bytes that are no UTF-8."""
    found: NDArray[np.bool_] = (points >= ESCAPES[0]) & (points <= ESCAPES[1])
    return found
