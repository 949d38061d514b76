"""The interface of a model's search: a function that encodes one word that the cache does not hold.

    search(block, text, start, length, out, o)

encodes the word ``text[start:start + length]`` to ``out[o:]`` and returns the new end. The loops of `encoding`
call it by its address, and enter the word in the cache. So they are compiled once for all models, and know none
of them.
"""

from __future__ import annotations

from typing import Any

from numba import types

from tokbench.kernels.by_address import BLOCK, NUMBER, ByAddress, called_at
from tokbench.kernels.compiling import inline
from tokbench.kernels.utf8 import code_point
from tokbench_subword.words.slots import LONGEST_WORD

_UNCUT = 31
"""In alphabets of few letters, words of up to so many bytes are quicker searched whole than in parts: to cut
those of more than 7 bytes too takes up to 1.15 times as long over 21 languages (o200k)."""
_THREE_BYTES = 0xE0
"""First byte of characters from U+0800 on. To cut only long words takes 1.25 times as long over Chinese,
Japanese and Thai (GPT-2, o200k)."""


class Search(ByAddress):
    """A search; words of more than `longest_kept` bytes are not kept."""

    takes = (BLOCK, types.CPointer(types.uint8), NUMBER, NUMBER, types.CPointer(types.int32), NUMBER)
    longest_kept = LONGEST_WORD


class DocumentSearch(Search):
    """A search whose words are documents. They do not come again: it keeps their parts."""

    longest_kept = 0


search_at = called_at(Search.takes)
"""The search at an address, called."""


@inline
def quicker_in_parts(text: Any, start: Any, length: Any) -> Any:
    """Whether a new word is quicker encoded in parts: of a script of many characters, they are often known.

    The second character tells: the first may be a space, or the mark of one.
    """
    _, width = code_point(text, start)
    return length > _UNCUT or (width < length and text[start + width] >= _THREE_BYTES)
