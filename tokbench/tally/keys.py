"""The key of each document, a hash of its text, which places it in a bootstrap group and in the samples.

The hash is the text's crc32, mixed (MurmurHash3's finaliser), since a checksum alone is linear and leaves
similar texts in patterns.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_POLYNOMIAL = 0xEDB88320


def document_keys(
    data: NDArray[np.uint8], starts: Ints, ends: Ints, lines: Sequence[int | None] = ()
) -> NDArray[np.uint32]:
    """A 32-bit key of each document: of its text, or of its line where `lines` gives one.

    `data` is followed by padding.
    """
    import numpy as np

    from tokbench.tally.compiling import windows
    from tokbench.tally.documents import crc32

    keys = np.empty(len(starts), np.uint32)
    crc32(data, windows(data), starts, ends, crc_tables(), keys)
    for index, line in enumerate(lines):
        if line is not None:
            keys[index] = zlib.crc32(b"%d" % line)
    keys ^= keys >> np.uint32(16)
    keys *= np.uint32(0x85EBCA6B)
    keys ^= keys >> np.uint32(13)
    keys *= np.uint32(0xC2B2AE35)
    keys ^= keys >> np.uint32(16)
    return keys


@cache
def crc_tables() -> NDArray[np.uint32]:
    """What a byte adds to the crc32 with 0 to 15 bytes after it: uint32, 256 for each number."""
    import numpy as np

    tables = np.zeros((16, 256), np.uint32)
    values = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = np.where(values & 1, values >> 1 ^ np.uint32(_POLYNOMIAL), values >> 1)
    tables[0] = values
    for place in range(1, 16):
        before = tables[place - 1]
        tables[place] = before >> np.uint32(8) ^ tables[0][before & 0xFF]
    return tables.ravel()
