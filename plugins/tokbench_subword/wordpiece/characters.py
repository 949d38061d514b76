"""What BERT's normalizer and pre-tokenizer think of a character, on every Python the same.

BERT's rules are stated in Unicode properties, and `tokenizers`, whose ids this plugin must give, froze several
versions of Unicode in them: general categories of 8.0, canonical decomposition and ordering of 9.0, lower case
of 17.0. Python's `unicodedata` has one version, another with each release. So the categories are shipped
(`unicode_8`, `pipeline.unicode_9`), and what case gained since is listed here.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from tokbench_subword.pipeline.normal_forms import combining_classes, parts_of, unpacked
from tokbench_subword.wordpiece import unicode_8

# White_Space, the same in every version of Unicode.
WHITESPACE = frozenset(
    [
        *range(0x09, 0x0E),
        0x20,
        0x85,
        0xA0,
        0x1680,
        *range(0x2000, 0x200B),
        0x2028,
        0x2029,
        0x202F,
        0x205F,
        0x3000,
    ]
)

# Ideographs that get spaces around them. The block of Extension E is taken to begin at U+2B920, which is 0x100
# too late, in BERT as in `tokenizers`; ids follow it.
CJK_RANGES = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)

# Lower case that came after the oldest Python we run on (Unicode 14.0): first, last, offset to the lower case.
LATER_LOWER_CASE = (
    (0x1C89, 0x1C89, 1),
    (0xA7CB, 0xA7CB, 0x0264 - 0xA7CB),
    (0xA7CC, 0xA7CC, 1),
    (0xA7CE, 0xA7CE, 1),
    (0xA7D2, 0xA7D2, 1),
    (0xA7D4, 0xA7D4, 1),
    (0xA7DA, 0xA7DA, 1),
    (0xA7DC, 0xA7DC, 0x019B - 0xA7DC),
    (0x10D50, 0x10D65, 0x20),
    (0x16EA0, 0x16EB8, 0x1B),
)


@lru_cache(maxsize=1)
def marks() -> frozenset[int]:
    """Nonspacing marks (Mn): what `strip_accents` removes after decomposition."""
    return unpacked(unicode_8.MARKS)


@lru_cache(maxsize=1)
def controls() -> frozenset[int]:
    """What `clean_text` removes: NUL, U+FFFD, and Cc, Cf and Co but tab and line ends; unassigned stays."""
    return unpacked(unicode_8.CONTROLS)


@lru_cache(maxsize=1)
def punctuation() -> frozenset[int]:
    """What the pre-tokenizer sets apart: category P, and every ASCII symbol such as ``$`` or ``^``."""
    return unpacked(unicode_8.PUNCTUATION)


def is_cjk(point: int) -> bool:
    """Whether a code point is in the ideograph blocks that BERT's normalizer puts spaces around."""
    return any(first <= point <= last for first, last in CJK_RANGES)


@lru_cache(maxsize=1)
def ordered() -> frozenset[int]:
    """Characters that stay when accents go, yet take part in canonical ordering."""
    return frozenset(map(ord, combining_classes())) - marks()


def decomposed(character: str) -> str:
    """The canonical decomposition of one character, as of Unicode 9.0."""
    parts = parts_of(compatible=False).get(character)
    return parts or (
        unicodedata.normalize("NFD", character) if "\uac00" <= character <= "\ud7a3" else character
    )


def combining_class(character: str) -> int:
    """The canonical combining class of one character, as of Unicode 9.0."""
    return combining_classes().get(character, 0)


def lowered(character: str) -> str:
    """The lower case of one character, without regard to its neighbours.

    Example:
        >>> lowered("Σ"), lowered("İ") == "i" + chr(0x307), lowered(chr(0x1C89)) == chr(0x1C8A)
        ('σ', True, True)
    """
    lower = character.lower()
    if lower == character:
        point = ord(character)
        for first, last, offset in LATER_LOWER_CASE:
            if first <= point <= last:
                return chr(point + offset)
    return lower
