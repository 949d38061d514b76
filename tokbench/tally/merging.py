"""Tables of ascending keys joined into one, and the counts of equal keys added: the kernels of n-grams' levels.

To merge what is in order already takes half the time that sorting all of it again does.
"""

from __future__ import annotations

from typing import Any

from tokbench.kernels.compiling import kernel


@kernel
def merge(keys: Any, counts: Any, own_keys: Any, own_counts: Any, all_keys: Any, all_counts: Any) -> None:
    """Fill in the entries of two tables in ascending order of key, those of equal keys side by side.

    From both ends at once, towards the middle: neither waits for the other, so that the processor does two
    steps in the time of one; and without a branch on which key is the smaller, which nothing could foretell.
    """
    low = at_low = 0
    high, own_high, at_high = len(keys) - 1, len(own_keys) - 1, len(all_keys) - 1
    own_low = 0
    while low <= high and own_low <= own_high and at_low + 1 < at_high:
        first, own_first = keys[low], own_keys[own_low]
        other = own_first < first
        all_keys[at_low] = own_first if other else first
        all_counts[at_low] = own_counts[own_low] if other else counts[low]
        own_low += other
        low += 1 - other
        at_low += 1
        last, own_last = keys[high], own_keys[own_high]
        other = own_last >= last
        all_keys[at_high] = own_last if other else last
        all_counts[at_high] = own_counts[own_high] if other else counts[high]
        own_high -= other
        high -= 1 - other
        at_high -= 1
    while low <= high or own_low <= own_high:
        other = low > high or (own_low <= own_high and own_keys[own_low] < keys[low])
        all_keys[at_low] = own_keys[own_low] if other else keys[low]
        all_counts[at_low] = own_counts[own_low] if other else counts[low]
        own_low += other
        low += 1 - other
        at_low += 1


@kernel
def add_equal(keys: Any, counts: Any, sums: Any) -> int:
    """Fill in the sum of the counts of each distinct one of the ascending `keys`; say how many there are."""
    n = 0
    total: Any = 0
    for index in range(len(keys)):
        total += counts[index]
        sums[n] = total
        last = index + 1 == len(keys) or keys[index] != keys[index + 1]
        n += last
        total = 0 if last else total
    return n
