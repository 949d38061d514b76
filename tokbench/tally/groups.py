"""Sums of counts by bootstrap group, over which replicates draw weights (`tokbench.metrics.resampling`).

Each document falls into one of 1,024 groups: by a hash of its text; in a parallel dataset by its line, so that
replicates pair across languages as well as across tokenizers; where it has a cluster, by that. Where documents
follow one another in a text, a block of them shares a group, since the lines of a page are no independent
observations. The tally keeps the sum of every counter over each group; a replicate draws one
Poisson(1) weight per group and sums. Grouping documents at random leaves the variance of a ratio estimated
without bias, since the residuals of its linear form have mean zero, and it costs almost nothing per document:
the sums are whole numbers, so they are identical for any order and any sharding, and all replicates are one
matrix product when figures are made. On parallel text of up to 1,024 lines it is the Poisson bootstrap over
lines itself. Documents of identical text fall together, so that copies count as the one observation they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokbench.tally.counters import COUNTERS
from tokbench.tally.text import GROUPS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokbench.kernels.pointers import Ints

NAMES = tuple(COUNTERS)


@dataclass(frozen=True, slots=True, eq=False)
class GroupSums:
    """Counter sums of the groups that have any: `rows` names the groups, `columns` the counters.

    `rows` is int16 of shape ``(r,)`` ascending, `columns` int16 of shape ``(k,)`` indices into `NAMES`,
    `values` a whole-number array ``(r, k)`` of the smallest type that holds them.
    """

    rows: NDArray[np.int16]
    columns: NDArray[np.int16]
    values: NDArray[np.integer]

    @classmethod
    def of_dense(cls, dense: Ints) -> GroupSums:
        """The compact form of a ``(GROUPS, len(NAMES))`` array."""
        import numpy as np

        rows = np.flatnonzero(dense.any(axis=1)).astype(np.int16)
        columns = np.flatnonzero(dense.any(axis=0)).astype(np.int16)
        kind = np.min_scalar_type(int(dense.max(initial=0)))
        return cls(rows, columns, np.ascontiguousarray(dense.T[columns].astype(kind)[:, rows].T))

    @classmethod
    def sum(cls, parts: Iterable[GroupSums]) -> GroupSums:
        """All of `parts` together."""
        import numpy as np

        dense = np.zeros((GROUPS, len(NAMES)), np.int64)
        for part in parts:
            dense[np.ix_(part.rows, part.columns)] += part.values.astype(np.int64)  # unsigned, of any size
        return cls.of_dense(dense)

    def dense(self, names: Sequence[str]) -> Ints:
        """The sums of some counters by group, ``(len(names), GROUPS)``.

        Example:
            >>> import numpy as np
            >>> sums = np.arange(GROUPS * len(NAMES)).reshape(GROUPS, -1)
            >>> bool((GroupSums.of_dense(sums).dense(["bytes"])[0] == sums[:, NAMES.index("bytes")]).all())
            True
        """
        import numpy as np

        place = {NAMES.index(name): index for index, name in enumerate(names)}
        sums = np.zeros((len(names), GROUPS), np.int64)
        for index, column in enumerate(self.columns.tolist()):
            if column in place:
                sums[place[column], self.rows] = self.values[:, index]
        return sums

    def totals(self) -> dict[str, int]:
        """Every counter's sum over all groups."""
        import numpy as np

        totals = dict.fromkeys(NAMES, 0)
        for column, value in zip(
            self.columns.tolist(), self.values.sum(axis=0, dtype=np.int64).tolist(), strict=True
        ):
            totals[NAMES[column]] = value
        return totals
