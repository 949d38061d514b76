"""What stands in a table for each id of a list, for decoders: an array of it would cost more than it saves.

Python's lists count negative numbers from the end, which no id does. So a table of n rows goes on with n times
None, which cannot be joined: -1 to -n, such as the -100 of labels to be left out, are found to be no ids. What
is below -n comes round to the rows again: to look at every id first would take back what is gained here.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, TypeVar

Row = TypeVar("Row")


def guarded(rows: Sequence[Row | None]) -> list[Row | None]:
    """A table of `rows` by id, for `picked`.

    Example:
        >>> guarded(["a", "b"])
        ['a', 'b', None, None]
    """
    return [*rows, *(None for _ in rows)]


def picked(table: list[Row | None], ids: Sequence[Any]) -> Sequence[Any]:
    """The rows of some ids, None for -1 to -n; raises `IndexError` or `TypeError` where there is no row.

    Example:
        >>> picked(guarded(["a", "b"]), [1, 1, -1])
        ('b', 'b', None)
    """
    if len(ids) < 2:  # an `itemgetter` of one item gives no tuple
        return [table[index] for index in ids]
    return itemgetter(*ids)(table)  # type: ignore[no-any-return]
