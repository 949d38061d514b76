"""Which array stands where in the block that the encoding kernels take (see `pointers.block`).

Those named here belong to one thread, whatever the model is. Behind them, from `MODEL` on, are the arrays of
the model: those that all threads share, then what its search needs for scratch.
"""

from __future__ import annotations

from tokbench.kernels.text import MOST_BYTES

(
    MACHINE,  # addresses: the block of the last cutter (`pipeline.patterns.machine`); empty where nothing cuts
    WORDS,  # the block of the word cache, see `slots`
    COUNTERS,  # int64
    STARTS,  # int64 (WORDS_AT_ONCE + BEYOND,): where words begin, see `pipeline.patterns.simd_cutting`
    ENDS,  # the same: where they end
    WORD_KEYS,  # uint64 (NOTED * GROUP,): their keys
    IDS_END,  # int64 (WORDS_AT_ONCE + BEYOND + 1,): where the ids of each word end
    TEXT,  # uint8 (TEXT_SIZE + PADDING,): a short text that is encoded by itself
    IDS,  # int32 (TEXT_SIZE + SPARE_IDS,): and its ids
    WRITERS,  # uint64 (2 * n,): the addresses of the stages before the cut of such a text, and of their tables
    FORTH,  # the block of a batch (see `pipeline.splicing`): `TEXT` is read, a second array of its size written
    BACK,  # the same, the two exchanged: each stage that changes the text reads what the one before wrote
    MODEL,
) = range(13)

(
    SEARCH,  # the address of the model's search, see `searching`
    LONGEST_KEPT,  # bytes of the longest word that is kept when it has been searched
    BUSY,  # 1 while a text is encoded by itself: making its result may run other Python, which may encode
    N_IDS,  # of the last one
    N_WRITERS,
    MOST,  # bytes of the longest text whose ids there is room for
    CUTS,  # 1 where there is a machine that cuts; else a text is one word
    N_COUNTERS,
) = range(8)

GROUP = 128
"""Words that are looked up together."""
WORDS_AT_ONCE = 256
"""Words that are cut before they are looked up."""
TEXT_CHARACTERS = 1 << 14
"""Characters of texts that are encoded without arrays of their own."""
TEXT_SIZE = MOST_BYTES * TEXT_CHARACTERS
"""Bytes that these are at the most."""
HEADS = 512
"""Results of fewer ids are copied from views made beforehand: making a view takes as long as copying it."""
