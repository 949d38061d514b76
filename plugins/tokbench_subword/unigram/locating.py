"""Ids with the places of tokens, whatever the search: the loop over texts, compiled once for all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from tokbench.kernels.by_address import BLOCK, NUMBER, ByAddress, called_at
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Ints, i32_in, pointer
from tokbench_subword.unigram import layout as at
from tokbench_subword.words.searching import Search


class Locate(ByAddress):
    """A search ``locate(block, text, size, ids, places)`` that tells places as well; it returns how many."""

    takes = (BLOCK, types.CPointer(types.uint8), NUMBER, *2 * (types.CPointer(types.int32),))


_locate_at = called_at(Locate.takes)


class SearchForms(NamedTuple):
    """The compiled forms of one way to search: behind the word cache, and with places."""

    word: Search
    locate: Locate


@kernel
def locate_units(
    address: Int, arrays: Block, text: Bytes, units: Ints, first: Int, last: Int, out: Ids, ends: Ints
) -> np.int64:
    """`encode_spans` by the `Locate` at an address: a row of three numbers for each token, its id, and where it
    begins and ends in its text.
    """
    block, rows, o = pointer(arrays), pointer(out), np.int64(0)
    ids, places = i32_in(block, at.FOUND), i32_in(block, at.SPANS)
    for p in range(first, last):
        source, size = pointer(text[units[p, 0] :]), units[p, 1] - units[p, 0]
        for k in range(_locate_at(address, (block, source, size, ids, places))):
            rows[o], rows[o + 1], rows[o + 2] = ids[k], places[2 * k], places[2 * k + 1]
            o += 3
        ends[p + 1] = o
    return o
