"""Which array and which setting stands where in the block the encoding kernels take (see `pointers.block`).

Arrays up to `SETTINGS` belong to the model and are shared by all threads; those after it are one thread's own.
"""

from __future__ import annotations

from tokbench.kernels.text import MOST_BYTES

(
    MACHINE,  # addresses: the block of what cuts, see `pipeline.cutting`; empty where nothing does
    BYTE_IDS,  # uint32 (1024,): byte -> id; bare, prefixed, suffixed, both
    BYTE_PAIRS,  # uint32 (65536,): Pieces.byte_pairs
    PAIRS,  # uint64: PairTable.table
    BLOOM,  # uint32: PairTable.bloom
    RESULTS,  # uint32: rank -> id
    JOINS,  # uint64: JoinTable.table
    JOIN_BLOOM,  # uint32: JoinTable.bloom
    ASCII_JOINS,  # uint8 (16384,): JoinTable.ascii
    TOKENS,  # uint64: TokenTable.table
    TOKEN_BLOOM,  # uint32: TokenTable.bloom
    TOKEN_BYTES,  # uint8: TokenTable.blob
    TOKEN_STARTS,  # int64: TokenTable.starts
    SHORT_TOKENS,  # uint64: ShortTokens.table
    CHARACTERS,  # uint32 (4 * points,): code point -> id; bare, prefixed, suffixed, both
    FALLBACK,  # uint32 (256,): byte -> id of its <0x00> token
    PIECE_IDS,  # uint32: Pieces.ids; this and the next three are empty where there are no pieces
    RECORDS,  # uint32: Pieces.records
    TRIE,  # uint64: Pieces.trie
    SECOND,  # uint32 (65536,): Pieces.second
    RIVALS,  # uint32 (131072,): Pieces.rivals
    SETTINGS,  # int64
    WORDS,  # the block of the word cache; see `tokbench_subword.words`
    COUNTERS,  # int64
    SYMBOLS,  # uint32 (SHORT,)
    KEYS,  # uint32 (SHORT,)
    FOLLOWING,  # uint8 (SHORT,)
    BEFORE,  # uint8 (SHORT,)
    CUT_PLACES,  # int64 (CUTS + 1,)
    STARTS,  # int64 (2 * SECOND,): where words begin, see `pipeline.cutting`
    ENDS,  # int64 (2 * SECOND,): where they end
    WORD_KEYS,  # uint64 (2 * GROUP,): their keys
    HOMES,  # int64 (GROUP,): the slots where they are looked for first
    IDS_END,  # int64 (GROUP + 1,): where the ids of each word end
    DOCUMENT_ENDS,  # int64 (GROUP,): how many words there are to the end of each document
    MARKS,  # uint64: backtracking's marks
    TEXT,  # uint8 (TEXT_SIZE + PADDING,): a short text that is encoded by itself
    IDS,  # int32 (TEXT_SIZE + SPARE_IDS,): and its ids
) = range(38)

(
    PAIR_SHIFT,
    JOIN_MASK,
    TOKEN_MASK,
    SHORT_TOKEN_SHIFT,
    LONGEST,  # bytes of the longest token
    WHOLE_TOKENS,  # 1: a pre-token that is a token is that token
    CUT,  # 1: long pre-tokens may be cut where no token joins
    BYTE_LEVEL,  # 1: symbols are bytes, each with an id; 2: bytes, some without or with affixes; 0: characters
    POINTS,  # code points in each part of CHARACTERS
    UNK,  # id, or -1
    FUSE_UNK,
    BYTE_FALLBACK,
    PREFIX,  # 1: there is a continuing-subword prefix
    SUFFIX,  # 1: there is an end-of-word suffix
    N_PIECES,  # 0: there are no `pieces`, symbols are ids
    TRIE_SHIFT,
) = range(16)

(
    FETCHED,  # 1 when memory was asked for on behalf of the words of the group at hand
    BUSY,  # 1 while a text is encoded by itself
    N_IDS,  # of the last one
) = range(3)

N_COUNTERS = 3
N_SETTINGS = 16

GROUP = 128
"""Words that are cut and looked up together."""
CUTS = 1024
"""Bytes of a long pre-token whose boundaries are found at a time."""
TEXT_CHARACTERS = 1 << 14
"""Characters of texts that are encoded without arrays of their own."""
TEXT_SIZE = MOST_BYTES * TEXT_CHARACTERS
"""Bytes that these are at the most."""
HEADS = 512
"""Results of fewer ids are copied from views at hand, since making one takes as long as copying it."""
