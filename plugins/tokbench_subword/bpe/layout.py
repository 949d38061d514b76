"""Which array and which setting of a BPE model stands where in the block of `words.layout`, from `MODEL` on.

Arrays up to `SETTINGS` are shared by all threads; those after it are one thread's own.
"""

from __future__ import annotations

from tokbench_subword.words.layout import MODEL

(
    FIRST_IDS,  # uint32 (4 * units,): byte or code point -> id; bare, prefixed, suffixed, both
    BYTE_PAIRS,  # uint32 (65536,): Pieces.byte_pairs, of pieces before the first superword
    PAIRS,  # uint64: PairTable.table
    BLOOM,  # uint32: PairTable.bloom
    SHIFT,  # uint64 (1,): PairTable.shift
    RESULTS,  # uint32: rank -> id; one zero for a model with pieces, whose numbers are ranks
    TOKENS,  # uint64: TokenBytes.table_of of the tokens that a pre-token may be and merging does not give
    TOKEN_BYTES,  # uint8: TokenBytes.blob
    TOKEN_STARTS,  # int64: TokenBytes.starts
    FALLBACK,  # uint32 (256,): byte -> id of its <0x00> token
    PIECE_IDS,  # uint32: Pieces.ids; empty where there are no pieces
    PIECE_SIDES,  # uint32: Pieces.sides, two numbers for each
    RIVALS,  # uint32 (131072,): Pieces.rivals
    WITHIN_PAIRS,  # uint64: PairTable.table of the merges before any that goes across words; see `superwords`
    WITHIN_BLOOM,  # uint32: its filter
    WITHIN_SHIFT,  # uint64 (1,): and its shift
    CUT_CHARACTERS,  # int32 (0x110000,): `words.safe_cuts.SafeCuts`, and the next three; a zero each unless CUT
    ASCII_CUTS,  # uint8 (128 * 128,)
    CUT_PAIRS,  # uint8
    CUT_NUMBERS,  # uint64 (2,)
    CHARACTERS,  # uint32 (65536,): Pieces.characters, as BYTE_PAIRS
    SETTINGS,  # int64
    SYMBOLS,  # uint32 (SHORT + 1,): `merging.scratch`, and the next three
    KEYS,  # uint32 (SHORT + 1,)
    FOLLOWING,  # uint8 (SHORT + 1,)
    BEFORE,  # uint8 (SHORT + 1,)
    PARTS,  # int64 (GROUP + 1,): where parts end, and for `words.parts.PartTables` the next
    PART_KEYS,  # uint64 (NOTED * (GROUP + 1),)
) = range(MODEL, MODEL + 28)

(
    TOKEN_MASK,
    LONGEST,  # bytes of the longest of TOKENS
    CUT,  # long pre-tokens may be cut where no token joins: 1: anywhere, 2: between characters that are tokens
    BYTEWISE,  # 1: first symbols are bytes, 0: characters
    UNITS,  # bytes or code points in each part of FIRST_IDS
    UNK,  # id, or -1
    FUSE_UNK,
    BYTE_FALLBACK,
    PREFIX,  # 1: there is a continuing-subword prefix
    SUFFIX,  # 1: there is an end-of-word suffix
    MERGER,  # the address of what merges: a `Search` of `merging_symbols`, `merging_pieces` or `superwords`
    ONWARD,  # the first piece from which on ids go on as numbers do, see `Pieces.onward`
    AHEAD,  # and how far these ids are ahead of the numbers
    N_SETTINGS,
) = range(14)
