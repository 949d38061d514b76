"""The order of a BPE model's arrays and settings in the block of `words.layout`, from `MODEL` on.

All threads share the arrays up to `SETTINGS`; each thread has its own copy of the later ones.
"""

from __future__ import annotations

from tokbench_subword.words.layout import MODEL

(
    FIRST_IDS,  # uint32 (4 * units,): byte or code point -> id; bare, with prefix, with suffix, with both
    BYTE_PAIRS,  # uint32 (65536,): Pieces.byte_pairs, of pieces before the first superword
    PAIRS,  # uint64: PairTable.table
    BLOOM,  # uint32: PairTable.bloom
    SHIFT,  # uint64 (1,): PairTable.shift
    RESULTS,  # uint32: rank -> id; one zero for a model with pieces, where rank and piece number are equal
    TOKENS,  # uint64: TokenBytes.table_of, of the tokens that a pre-token can match but merging cannot make
    TOKEN_BYTES,  # uint8: TokenBytes.blob
    TOKEN_STARTS,  # int64: TokenBytes.starts
    FALLBACK,  # uint32 (256,): byte -> id of its <0x00> token
    PIECE_IDS,  # uint32: Pieces.ids; empty without pieces
    PIECE_SIDES,  # uint32: Pieces.sides, two numbers for each
    RIVALS,  # uint32 (131072,): Pieces.rivals
    WITHIN_PAIRS,  # uint64: PairTable.table of the merges before the first across words; see `superwords`
    WITHIN_BLOOM,  # uint32: PairTable.bloom of the same
    WITHIN_SHIFT,  # uint64 (1,): PairTable.shift of the same
    CUT_CHARACTERS,  # int32 (0x110000,): this and the next three: `words.safe_cuts.SafeCuts`, if CUT
    ASCII_CUTS,  # uint8 (128 * 128,)
    CUT_PAIRS,  # uint8
    CUT_NUMBERS,  # uint64 (2,)
    CHARACTERS,  # uint32 (65536,): Pieces.characters, of the same pieces as BYTE_PAIRS
    SETTINGS,  # int64
    SYMBOLS,  # uint32 (SHORT + 1,): this and the next three: `merging.scratch`
    KEYS,  # uint32 (SHORT + 1,)
    FOLLOWING,  # uint8 (SHORT + 1,)
    BEFORE,  # uint8 (SHORT + 1,)
    PARTS,  # int64 (GROUP + 1,): the ends of parts; this and the next: `words.parts.PartTables`
    PART_KEYS,  # uint64 (NOTED * (GROUP + 1),)
) = range(MODEL, MODEL + 28)

(
    TOKEN_MASK,
    LONGEST,  # the length in bytes of the longest of TOKENS
    CUT,  # 1: a pre-token may be cut wherever no token joins; 2: only between characters that are tokens
    BYTEWISE,  # 1: first symbols are bytes, 0: characters
    UNITS,  # bytes or code points in each part of FIRST_IDS
    UNK,  # id, or -1
    FUSE_UNK,
    BYTE_FALLBACK,
    PREFIX,  # 1: there is a continuing-subword prefix
    SUFFIX,  # 1: there is an end-of-word suffix
    MERGER,  # the address of the `Search` that merges: `merging_symbols`, `merging_pieces` or `superwords`
    ONWARD,  # from this piece on, id = piece number + AHEAD; see `Pieces.onward`
    AHEAD,
    N_SETTINGS,
) = range(14)
