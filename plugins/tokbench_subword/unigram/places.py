"""Normalising within a kernel, and from places in normalised text to characters of the text as it was.

While a document is encoded, tokens lie in its normalised text, in bytes: ``spans[2 * t]`` and
``spans[2 * t + 1]`` are where token t begins and ends. `origins` says from which byte of the document each of
those bytes came, so that in the end the spans are of its code points.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import i64_in, u8_in, u32_in, u64_in
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.charsmap_kernels import normalize_into


@inline
def normalize_in(block, data, start, stop, origins):  # type: ignore[no-untyped-def]
    """Normalise ``data[start:stop]`` into TEXT of `block`; its bytes, or -1 where there is no room for them.

    Fills `origins`, of one more than these bytes, unless that is None.
    """
    numbers, state = i64_in(block, at.NUMBERS), i64_in(block, at.STATE)
    size = np.int64(0)
    if stop > start:
        size = normalize_into(
            data, start, stop, numbers[at.FLAGS], u32_in(block, at.MAP_UNITS), numbers[at.N_MAP_UNITS],
            u8_in(block, at.TARGETS), numbers[at.N_TARGETS], u32_in(block, at.CLASSES),
            u8_in(block, at.PLAIN), u64_in(block, at.SYMBOLS), numbers[at.N_SYMBOLS],
            u8_in(block, at.SYMBOL_STARTS), u8_in(block, at.TEXT), state[at.TEXT_ROOM], origins,
        )  # fmt: skip
    return size


@inline
def to_characters(data, start, origins, size, spans, first, last):  # type: ignore[no-untyped-def]
    """Turn the spans of tokens `first` to `last`, of `size` bytes, into code points behind ``data[start]``."""
    if first == last:
        return
    seen = characters = np.int64(0)
    for place in range(size + 1):  # origins never go back
        while seen < origins[place]:
            characters += (data[start + seen] & 0xC0) != 0x80
            seen += 1
        origins[place] = characters
    for token in range(first, last):
        spans[2 * token], spans[2 * token + 1] = origins[spans[2 * token]], origins[spans[2 * token + 1]]
