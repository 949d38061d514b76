"""Long pre-tokens in parts: cut where no token reaches across two characters.

A Chinese sentence is one pre-token, and no sentence comes twice; its words do. Cutting is exact: no merge could
have joined the two sides.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import subroutine
from tokbench.kernels.pointers import i64_in, u8_in, u32_in, u64_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.layout import CUTS
from tokbench_subword.bpe.tables import joins
from tokbench_subword.bpe.uncached import encode_uncached
from tokbench_subword.words.layout import WORDS
from tokbench_subword.words.slots import (
    LONGEST_WORD,
    MASK,
    PART,
    SHIFT,
    SLOTS,
    STATE,
    recall,
    remember,
    word_home,
    word_key,
)


@subroutine
def _joined(block, text, boundary, length, following_length):  # type: ignore[no-untyped-def]
    """Whether some token joins two neighbouring characters, not both of them ASCII."""
    table, bloom, mask = (
        u64_in(block, at.JOINS),
        u32_in(block, at.JOIN_BLOOM),
        i64_in(block, at.SETTINGS)[at.JOIN_MASK],
    )
    return joins(table, bloom, mask, text, boundary, length, following_length)


@subroutine
def encode_cut(block, text, start, end, out, o):  # type: ignore[no-untyped-def]
    """Encode a pre-token in parts; return the new end of `out`.

    Boundaries are found for `CUTS` bytes at a time, before any part is looked up: their look-ups do not
    depend on each other, and so overlap.
    """
    words, cuts = u64_in(block, WORDS), i64_in(block, at.CUT_PLACES)
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    ascii_joins = u8_in(block, at.ASCII_JOINS)
    byte_ids, plain = u32_in(block, at.BYTE_IDS), i64_in(block, at.SETTINGS)[at.BYTE_LEVEL] == 1
    part = start
    point, length = code_point(text, start)
    i = start + length
    while part < end:
        count = 0
        stop = min(end, i + CUTS)
        while i < stop:
            following, following_length = code_point(text, i)
            cuts[count] = i
            if (point | following) < 128:
                count += ascii_joins[(point << 7) | following] == 0
            else:
                count += not _joined(block, text, i, length, following_length)
            point, length = following, following_length
            i += length
        if i >= end:
            cuts[count] = end
            count += 1
        for k in range(count):
            size = cuts[k] - part
            if size == 1 and plain:  # every byte is a symbol: no need to look it up
                out[o] = byte_ids[text[part]]
                o += 1
            else:
                low, high = word_key(text, part, min(size, LONGEST_WORD), PART)
                after = np.int64(-1)
                if size <= LONGEST_WORD:
                    home = word_home(low, high, state[SHIFT])
                    after = recall(words, slots, state[MASK], low, high, home, text, part, out, o)
                if after < 0:
                    after = encode_uncached(block, text, part, part + size, out, o)
                    if size <= LONGEST_WORD:
                        remember(words, low, high, text, part, out, o, after - o)
                o = after
            part = cuts[k]
    return o
