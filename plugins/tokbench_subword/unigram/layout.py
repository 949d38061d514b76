"""What lies where in the block of addresses that the encoding kernel gets (see `kernels.pointers.block`)."""

MAP_UNITS, TARGETS, CLASSES, FOLLOWS, PLAIN, SYMBOLS, SYMBOL_STARTS = range(7)
"""The normaliser: uint32, then uint8, with SYMBOLS uint64."""
UNITS, SCORES, BYTE_IDS, CUT_CLASSES, INNER, BEFORE_SPACE, NUMBERS = range(7, 14)
"""The vocabulary: uint64; float; int32; three of uint8; and int64, see below."""
CACHE, TEXT, BEST, LINKS, EXACT, STATE = range(14, 20)
"""A work space: uint64; uint8; float; int64; float64; and int64, see below."""

FLAGS, N_MAP_UNITS, N_TARGETS, N_SYMBOLS, UNK_ID, FUSED, FALLBACK, N_NUMBERS = range(8)
"""Members of NUMBERS. `FLAGS` is negative where text comes normalised."""

DOCUMENT, WRITTEN, SIZE, TEXT_ROOM, SEARCH_ROOM, N_STATE = range(6)
"""Members of STATE: the next document, the ids written, the last document's size, and what there is room for."""

UNKNOWN, THRESHOLD, LARGEST, ULP, N_PARAMETERS = range(5)
"""Members of the parameters, in the precision of the scores (see `engine.Lexicon`)."""
