"""What a model's search is: a function that encodes one word that the cache does not hold.

    search(block, text, start, length, k, count, out, o)

encodes the word ``text[start:start + length]``, number `k` of a group of `count`, to ``out[o:]`` and returns
the new end; it may enter the word in the cache. The loops of `encoding` call it by its address. So they are
compiled once for all models, and know none of them.
"""

from __future__ import annotations

from numba import types

from tokbench.kernels.by_address import BLOCK, NUMBER, ByAddress, called_at


class Search(ByAddress):
    """A search."""

    takes = (BLOCK, types.CPointer(types.uint8), *(NUMBER,) * 4, types.CPointer(types.int32), NUMBER)


search_at = called_at(Search.takes)
"""The search at an address, called."""
