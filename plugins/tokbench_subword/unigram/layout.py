"""What lies where in the block of addresses that an encoding kernel gets (see `kernels.pointers.block`)."""

MAP_UNITS, TARGETS, CLASSES, PLAIN, SYMBOLS, SYMBOL_STARTS = range(6)
"""The normaliser: uint32, then uint8, with SYMBOLS uint64."""
UNITS, BYTE_IDS, CUT_CLASSES, CHARACTERS, BEFORE_SPACE, PAIRS, LENGTHS, NUMBERS = range(6, 14)
"""What every algorithm has: the trie, uint64; int32; uint8; int32; two of uint8; int32; int64, see below."""
SCORES = 14
"""What Unigram has besides: float."""
PAIR_KEYS, PAIR_VALUES, RANKS, DEFINED = range(14, 18)
"""What BPE has instead: uint64; int32; int32; uint64."""
CACHE, OUTPUT, TEXT, BEST, LINKS, SCRATCH, EXACT, STATE, SPANS, ORIGINS = range(18, 28)
"""A work space: uint64; int32; uint8; float; int64; int64; float64; int64, see below; and two of int64, which
have room only where places are asked for."""
N_SHARED = CACHE

FLAGS, N_MAP_UNITS, N_TARGETS, N_SYMBOLS, UNK_ID, FUSED, FALLBACK, ESCAPED = range(8)
PAIR_MASK, N_PIECES, N_DEFINED, N_NUMBERS = range(8, 12)
"""Members of NUMBERS. `FLAGS` is negative where text comes normalised."""

DOCUMENT, WRITTEN, SIZE, TEXT_ROOM, SEARCH_ROOM, OUTPUT_ROOM, N_STATE = range(7)
"""Members of STATE: the next document, the ids written, the last document's size, and the room there is."""

UNKNOWN, THRESHOLD, LARGEST, ULP, N_PARAMETERS = range(5)
"""Members of the parameters, in the precision of the scores (see `unigram_algorithm.Lexicon`)."""
