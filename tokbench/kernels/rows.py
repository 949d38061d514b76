"""Lists of ids for decoders: what stands in a table for each of a few, and an array of many.

Python's lists count negative numbers from the end, which no id does. So a table of n rows goes on with n times
None, which cannot be joined: -1 to -n, such as the -100 of labels to be left out, are found to be no ids. What
is below -n comes round to the rows again: to look at each of a few ids first would take back what is gained
here. A kernel, which is sooner done with many, looks at each.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MANY = 1024
"""Ids of a list that are sooner made an array for a kernel than looked up one by one."""

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


def as_array(ids: Sequence[Any]) -> NDArray[np.int64]:
    """Ids as an array; raises `IndexError` or `TypeError` where something is none.

    By `array`, which takes a small part of the time that numpy does.

    Example:
        >>> as_array([3, 1]).tolist()
        [3, 1]
    """
    import numpy as np

    try:
        return np.frombuffer(array("Q", ids if type(ids) is list else list(ids)), np.int64)
    except OverflowError as error:
        raise IndexError("an id is negative, or beyond 64 bits") from error
