"""Which array stands where in the block of Unigram's encoding kernels, behind those of `words.layout`."""

from __future__ import annotations

from tokbench_subword.words.layout import MODEL

(
    UNITS,  # uint64: the trie of pieces; for BPE that of single characters
    SCORES,  # float32 or float64: by id; none for BPE
    LENGTHS,  # int32: bytes of each piece, by id
    BYTE_IDS,  # int32 (256,): byte -> id of its token; empty without byte fallback
    CHARACTERS,  # int32 (0x110000,): `segments.SafeCuts`, and the next three
    ASCII_CUTS,  # uint8 (128 * 128,)
    PAIRS,  # uint8
    PAIR_SHIFT,  # uint64 (1,)
    PARAMETERS,  # of the type of the scores, see below
    SETTINGS,  # int64, see below
    PAIR_KEYS,  # uint64: for BPE, see `spm_bpe`, and the next three
    PAIR_VALUES,  # int32
    RANKS,  # int32
    DEFINED,  # uint64: the trie of user-defined symbols
    PARTS,  # int64 (`GROUP` + 1,): where parts of a text end; from here on, arrays are one thread's own
    PART_KEYS,  # uint64 (2 * GROUP,)
    PART_HOMES,  # int64 (GROUP,)
    EXACT,  # float64 (2 * (LONGEST_PART + 1),)
    BEST,  # as SCORES: the best score up to each byte of what is searched
    LINKS,  # int64: the last piece of the path up to it; once found, the path, see `paths`
    SCRATCH,  # int64: what merging needs
    FOUND,  # int32: ids on their way, where places are asked for
    SPANS,  # int32: and their places, two numbers each
) = range(MODEL, MODEL + 23)

UNK_ID, FALLBACK, ESCAPED, PAIR_MASK, N_PIECES, N_DEFINED, N_SETTINGS = range(7)
"""Members of SETTINGS: the id of unknown characters, or -1; whether they are spelled in bytes instead; whether
U+2581 is the byte of a space; and of BPE, the size of its table of pairs less one, of its vocabulary, and how
many symbols are user-defined."""

UNKNOWN, THRESHOLD, LARGEST, ULP = range(4)
"""Members of PARAMETERS (see `unigram_algorithm.Lexicon`)."""

LONGEST_PART = 64
"""The longest part of a text that is kept, in bytes."""
