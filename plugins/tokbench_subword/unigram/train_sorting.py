"""Sorting by keys longer than 64 bits: by their first bits, then items that are still equal by their next."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Int, Ints, Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

Item = TypeVar("Item", bound=np.generic)
NextKeys = Callable[["NDArray[Item]", int], "tuple[NDArray[np.uint64], int] | None"]
"""Given items and a number of bits, the next keys of these items and how many bits they take: so many or less.
None when there is nothing more to sort by."""


def in_order(
    items: NDArray[Item], keys: NDArray[np.uint64], next_keys: NextKeys[Item], going_on: int = 0
) -> NDArray[Item]:
    """`items` in the order of their `keys`; where these are equal, of their `next_keys`, again and again.

    `going_on`, where it is not 0, is a mask: a key with none of its bits is the last one of its item. Items
    that stay equal are in any order.

    Example:
        >>> keys = np.array([2, 1, 1], np.uint64)
        >>> in_order(np.array([5, 6, 7]), keys, lambda items, bits: ((8 - items).astype(np.uint64), 8))
        array([7, 6, 5])
    """
    by_key = np.argsort(keys)
    order, keys = items[by_key], keys[by_key]
    ranks = np.arange(len(order))
    while True:
        count, n_groups = _still_equal(keys, going_on, ranks)
        if not count:
            return order
        ranks, groups = ranks[:count], keys[:count]
        equals = order[ranks]
        found = next_keys(equals, 64 - int(n_groups).bit_length())
        if found is None:
            return order
        keys, bits = found
        keys |= groups << np.uint64(bits)
        by_key = np.argsort(keys)
        order[ranks], keys = equals[by_key], keys[by_key]


@kernel
def _still_equal(keys: Words, going_on: Int, ranks: Ints) -> tuple[int, int]:
    """Keep the ranks of keys that equal a neighbour, but not of last keys; how many, and of how many values.

    The first keys are overwritten with the numbers of these values.
    """
    n, count, n_groups = len(keys), 0, 0
    before, last = np.uint64(0), np.uint64(0)
    for index in range(n):
        key = keys[index]
        equal = (index > 0 and key == before) or (index + 1 < n and key == keys[index + 1])
        if equal and (going_on == 0 or key & np.uint64(going_on) != 0):
            if n_groups == 0 or key != last:
                last = key
                n_groups += 1
            keys[count], ranks[count] = n_groups, ranks[index]
            count += 1
        before = key
    return count, n_groups
