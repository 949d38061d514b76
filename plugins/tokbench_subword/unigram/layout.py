"""The order of arrays in the block of Unigram's encoding kernels, after those of `words.layout`."""

from __future__ import annotations

from tokbench_subword.words.layout import MODEL

(
    UNITS,  # uint64: the trie of pieces; none for BPE
    SCORES,  # float32 or float64: by id plus one; the first, for "no piece", is -inf; none for BPE
    LENGTHS,  # int32: bytes of each piece, by id
    BYTE_IDS,  # int32 (256,): byte -> id of its token; empty without byte fallback
    CHARACTERS,  # int32 (0x110000,): `words.safe_cuts.SafeCuts`, and the next three
    ASCII_CUTS,  # uint8 (128 * 128,)
    PAIRS,  # uint8
    CUT_NUMBERS,  # uint64 (2,)
    PARAMETERS,  # of the type of the scores, see below
    SETTINGS,  # int64, see below
    FIRST,  # uint32 (0x110000,): code point -> symbol; this and the next six: `sentencepiece.spm_bpe_tables`
    SYMBOL_IDS,  # int32: symbol -> id, or -1
    MERGES,  # uint64: `PairTable.table` of all pairs that spell a piece, by the first of its rank
    MERGE_BLOOM,  # uint32: `PairTable.bloom`
    MERGE_SHIFT,  # uint64 (1,): `PairTable.shift`
    RESULTS,  # uint32: what a merge of each rank makes, see `bpe.merging.merge_short`
    DEFINED,  # uint64: the trie of user-defined symbols
    PARTS,  # int64 (`GROUP` + 1,): where parts of a text end; from here on, arrays are one thread's own
    PART_KEYS,  # uint64 (NOTED * (GROUP + 1),)
    SYMBOLS,  # uint32 (SHORT + 1,): `bpe.merging.scratch`, and the next three
    KEYS,  # uint32 (SHORT + 1,)
    FOLLOWING,  # uint8 (SHORT + 1,)
    BEFORE,  # uint8 (SHORT + 1,)
    BEST,  # as SCORES: the best score up to each byte of what is searched, or from it on, see `viterbi`
    LINKS,  # int64: the last piece of the path up to it; once found, the path, see `paths`
    FOUND,  # int32: ids on their way, where places are asked for
    SPANS,  # int32: and their places, two numbers each
) = range(MODEL, MODEL + 27)

UNK_ID, FALLBACK, ESCAPED, FIRST_TIED, N_DEFINED, N_SETTINGS = range(6)
"""Members of SETTINGS: the id of unknown characters, or -1; whether they are spelled in bytes instead; whether
U+2581 is the byte of a space; and of BPE, the first rank that pieces share, and how many symbols are
user-defined."""

UNKNOWN, THRESHOLD, LARGEST, ULP = range(4)
"""Members of PARAMETERS (see `unigram_algorithm.Unigram`)."""
