"""One row for each token of the vocabulary: its first bytes, its length and flags, and how often it was seen.

The loop over a text's tokens reads all of these for every token. In one row they cost one access to memory; in
four arrays they would cost four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.tally.histogram import Histogram
from tokbench.tally.vocabulary import TokenTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CACHE_LINE = 64


class TokenRows:
    """The tokens of a table, for `tokbench.tally.walk.match`, each with how often it was seen.

    `rows` is uint64 of shape ``(size, 4)``: a token's first 16 bytes, whatever is behind those of a shorter
    one; ``length << 8 | flags``, 0 where it is not known yet; how often it was seen. Two tokens share a cache
    line, and no token is in two.
    """

    __slots__ = ("rows", "table")

    def __init__(self, table: TokenTable) -> None:
        import numpy as np

        self.table = table
        try:  # those of somebody who is done
            self.rows: NDArray[np.uint64] = table.spare.pop()
        except IndexError:
            room = np.zeros(32 * table.size + _CACHE_LINE, np.uint8)
            first = -room.ctypes.data % _CACHE_LINE
            self.rows = room[first : first + 32 * table.size].view(np.uint64).reshape(-1, 4)
            self._copy(np.flatnonzero(table.flags))

    def know(self, ids: NDArray[np.int32]) -> None:
        """Have rows of all `ids`; raises `TokenizerError` for ids outside the vocabulary."""
        import numpy as np

        self.table.know(ids)
        if self.table.whole:
            self._copy(np.flatnonzero((self.rows[:, 2] == 0) & (self.table.flags > 0)))
        else:
            self._copy(np.unique(ids[self.rows[ids, 2] == 0]))

    def _copy(self, ids: NDArray[np.integer]) -> None:
        """Fill in the rows of some tokens that the table knows."""
        import numpy as np

        from tokbench.kernels.pointers import windows

        table = self.table
        begin, pieces = table.offset[ids], windows(table.blob)
        self.rows[ids, 0] = pieces[begin]
        self.rows[ids, 1] = pieces[np.minimum(begin + 8, len(table.blob))]
        self.rows[ids, 2] = table.length[ids].clip(0).astype(np.uint64) << np.uint64(8) | table.flags[ids]

    def seen(self) -> Histogram:
        """How often each token was seen; nothing can be counted afterwards, since the rows are given back."""
        import numpy as np

        found = Histogram.of_dense(self.rows[:, 3].view(np.int64))
        self.rows[found.keys, 3] = 0
        self.table.spare.append(self.rows)
        del self.rows
        return found
