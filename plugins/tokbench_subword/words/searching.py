"""The interface of a model's search: a function that encodes one word that is not in the cache.

    search(block, text, start, length, out, o)

encodes the word ``text[start:start + length]`` to ``out[o:]`` and returns the new end. The loops of `encoding`
call it by its address and enter the word in the cache. So these loops are compiled once for all models.
"""

from __future__ import annotations

from numba import types

from tokbench.kernels.by_address import BLOCK, NUMBER, ByAddress, called_at
from tokbench_subword.words.slots import LONGEST_WORD


class Search(ByAddress):
    """A search; words of more than `longest_kept` bytes are not cached."""

    takes = (BLOCK, types.CPointer(types.uint8), NUMBER, NUMBER, types.CPointer(types.int32), NUMBER)
    longest_kept = LONGEST_WORD


class DocumentSearch(Search):
    """A search over whole documents, which are seldom repeated: it caches their parts instead."""

    longest_kept = 0


search_at = called_at(Search.takes)
"""The search at an address, called."""
