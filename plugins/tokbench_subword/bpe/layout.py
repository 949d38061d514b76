"""Which array and which setting stands where in the block the encoding kernels take (see `pointers.block`).

Arrays up to `SETTINGS` belong to the model and are shared by all threads; those after it are one thread's own.
"""

from __future__ import annotations

(
    CLASSES,  # uint8: code point -> class flags
    BYTE_IDS,  # uint32 (256,): byte -> id
    BYTE_PAIRS,  # uint32 (65536,): two bytes -> rank of their merge
    PAIRS,  # uint64: PairTable.table
    BLOOM,  # uint32: PairTable.bloom
    RESULTS,  # uint32: rank -> id
    JOINS,  # uint64: JoinTable.table
    JOIN_BLOOM,  # uint32: JoinTable.bloom
    ASCII_JOINS,  # uint8 (16384,): JoinTable.ascii
    TOKENS,  # uint64: TokenTable.table
    TOKEN_BYTES,  # uint8: TokenTable.blob
    TOKEN_STARTS,  # int64: TokenTable.starts
    CHARACTERS,  # uint32 (4 * points,): code point -> id; bare, prefixed, suffixed, both
    FALLBACK,  # uint32 (256,): byte -> id of its <0x00> token
    SETTINGS,  # int64
    SLOTS,  # uint64: the word cache, buckets of two slots of four
    ARENA,  # uint32: ids of words of more than three tokens
    JOIN_MEMO,  # uint64: recent answers of `joins`
    LONG_SLOTS,  # uint64: the cache of longer words, slots of four
    LONG_BYTES,  # uint8: their bytes
    LONG_ARENA,  # uint32: their ids
    COUNTERS,  # int64
    SYMBOLS,  # uint32 (SHORT,)
    RANKS,  # uint32 (SHORT,)
    CUT_PLACES,  # int64 (CUTS + 1,)
) = range(25)

(
    MACHINE,  # number of the state machine
    PAIR_SHIFT,
    JOIN_MASK,
    TOKEN_MASK,
    LONGEST,  # bytes of the longest token
    WHOLE_TOKENS,  # 1: a pre-token that is a token is that token
    CUT,  # 1: long pre-tokens may be cut where no token joins
    BYTE_LEVEL,  # 1: symbols are bytes, each with an id; 2: bytes, some without; 0: characters
    POINTS,  # code points in each part of CHARACTERS
    UNK,  # id, or -1
    FUSE_UNK,
    BYTE_FALLBACK,
    PREFIX,  # 1: there is a continuing-subword prefix
    SUFFIX,  # 1: there is an end-of-word suffix
    BUCKET_MASK,
    ARENA_SIZE,
    LONG_MASK,
    LONG_BYTES_SIZE,
    LONG_ARENA_SIZE,
) = range(19)

ARENA_USED, LONG_BYTES_USED, LONG_ARENA_USED = range(3)
N_COUNTERS = 3
N_SETTINGS = 19

CACHED = 15
"""Words of up to so many bytes are in the word cache: their bytes and length make a key of two words."""
LONG_CACHED = 64
"""Words of up to so many bytes are in the cache of longer words."""
FEW_PARTS = 4
"""A pre-token that was cut into more parts is not entered there: each part is found as a word anyway."""
CUTS = 1024
"""Bytes of a long pre-token whose boundaries are found at a time."""
MEMO_BITS = 17
