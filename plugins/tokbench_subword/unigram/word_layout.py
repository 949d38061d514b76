"""Which array of Unigram's stands where in the block of encoding kernels, behind those of `words.layout`."""

from __future__ import annotations

from tokbench_subword.words.layout import MODEL

(
    UNITS,  # uint64: the trie of pieces
    SCORES,  # float64: by id
    LENGTHS,  # int32: bytes of each piece, by id
    BYTE_IDS,  # int32 (256,): byte -> id of its token; empty without byte fallback
    CUT_CLASSES,  # uint8 (256,): `segments.Cuts`, and the next three
    CHARACTERS,  # int32 (0x110000,)
    BEFORE_SPACE,  # uint8 (256,)
    PAIRS,  # uint8
    PARAMETERS,  # float64, see `layout`
    SETTINGS,  # int64
    PARTS,  # int64 (`GROUP` + 1,): where parts of a long word end; from here on, arrays are one thread's own
    PART_KEYS,  # uint64 (2 * GROUP,)
    PART_HOMES,  # int64 (GROUP,)
    EXACT,  # float64 (2 * (LONGEST_PART + 1),)
    BEST,  # float64: the best score up to each byte of what is searched
    LINKS,  # int64: the last piece of the path up to it, see `stretches`
    FOUND,  # int32: ids on their way, where places are asked for
    SPANS,  # int32: and their places, two numbers each
) = range(MODEL, MODEL + 18)

UNK_ID, FALLBACK = range(2)
"""Members of SETTINGS: the id of unknown characters, or -1; whether characters are spelled in bytes instead."""

LONGEST_PART = 64
"""The longest part of a word that is kept, in bytes."""
