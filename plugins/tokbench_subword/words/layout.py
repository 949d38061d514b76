"""The places of the arrays in the block that the encoding kernels take (see `pointers.block`).

The arrays named here belong to one thread, whatever the model is. After them, from `MODEL` on, come the arrays
of the model: first those that all threads share, then the scratch space of its search.
"""

from __future__ import annotations

from tokbench.kernels.text import MOST_BYTES

(
    MACHINE,  # addresses: the block of the last cutter (`pipeline.patterns.machine`); empty if nothing cuts
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
    BACK,  # the same with the two arrays exchanged: each stage that changes the text reads the result before
    MODEL,
) = range(13)

(
    SEARCH,  # the address of the model's search, see `searching`
    LONGEST_KEPT,  # bytes of the longest word that is cached
    BUSY,  # 1 while a text is encoded by itself: making its result may run other Python, which may encode
    N_IDS,  # the number of ids of the last such text
    N_WRITERS,
    MOST,  # bytes of the longest text for whose ids there is room
    CUTS,  # 1 if there is a machine that cuts; else a text is one word
    N_COUNTERS,
) = range(8)

GROUP = 128
"""Words that are looked up together."""
WORDS_AT_ONCE = 256
"""Words that are cut before they are looked up."""
TEXT_CHARACTERS = 1 << 14
"""The most characters of a text that is encoded singly, in the arrays of its thread."""
TEXT_SIZE = MOST_BYTES * TEXT_CHARACTERS
"""The most bytes of such a text."""
HEADS = 512
"""Results with fewer ids are copied from views made beforehand, since making a view takes as long as a copy."""
