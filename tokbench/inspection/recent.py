r"""Characters that Unicode added or changed recently, on which libraries with different tables disagree.

What ``\p{L}`` means depends on the version of Unicode that a library was built with: `regex`, Python's
`unicodedata`, and the engines of tiktoken and tokenizers each have their own. Here a character is called recent
if `regex` and `unicodedata` classify it differently, or if Unicode 9 (2016) or later added its block.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from functools import cache

# First and last code point of letters by the version that brought them, from DerivedAge.txt, rounded to blocks.
_BLOCKS = (
    (0x1C80, 0x1C8F),  # Cyrillic Extended-C, 9 and 16
    (0x1C90, 0x1CBF),  # Georgian Mtavruli, 11
    (0xA7AE, 0xA7DC),  # Latin Extended-D, 9 to 16
    (0x10570, 0x105FF),  # Vithkuqi 14, Todhri 16
    (0x10780, 0x107BF),  # Latin Extended-F, 14
    (0x10940, 0x1095F),  # Sidetic, 17
    (0x10D00, 0x10D8F),  # Hanifi Rohingya 11, Garay 16
    (0x10E80, 0x10EFF),  # Yezidi, Arabic Extended-C, 13 to 17
    (0x10F00, 0x10FFF),  # Sogdian 11, Chorasmian 13, Old Uyghur 14
    (0x11380, 0x113FF),  # Tulu-Tigalari, 16
    (0x11400, 0x1147F),  # Newa, 9
    (0x11800, 0x1184F),  # Dogra, 11
    (0x11900, 0x11AAF),  # Dives Akuru 13, Nandinagari 12, Zanabazar Square, Soyombo 10
    (0x11BC0, 0x11BFF),  # Sunuwar, 16
    (0x11C00, 0x11CBF),  # Bhaiksuki, Marchen, 9
    (0x11D00, 0x11DEF),  # Masaram Gondi 10, Gunjala Gondi 11, Tolong Siki 17
    (0x11EE0, 0x11F5F),  # Makasar 11, Kawi 15
    (0x12F90, 0x12FFF),  # Cypro-Minoan, 14
    (0x13460, 0x143FF),  # Egyptian Hieroglyphs Extended-A, 16
    (0x16100, 0x1613F),  # Gurung Khema, 16
    (0x16A70, 0x16ACF),  # Tangsa, 14
    (0x16D40, 0x16D7F),  # Kirat Rai, 16
    (0x16E40, 0x16EDF),  # Medefaidrin 11, Beria Erfe 17
    (0x17000, 0x18DFF),  # Tangut 9, Khitan 13
    (0x1AFF0, 0x1B2FF),  # Kana Extended, Nushu, 10 to 14
    (0x1DF00, 0x1DFFF),  # Latin Extended-G, 14
    (0x1E000, 0x1E95F),  # Glagolitic Supplement 9 … Nag Mundari 15, Ol Onal 16, Tai Yo 17, Adlam 9
    (0x2CEB0, 0x2EE5F),  # CJK Extensions F 10 and I 15.1
    (0x30000, 0x3347F),  # CJK Extensions G 13, H 15, J 17
)
_STARTS = [first for first, _ in _BLOCKS]


@cache
def is_recent(char: str) -> bool:
    """Whether libraries may disagree on the general category of `char`.

    Example:
        >>> is_recent("a"), is_recent("\U0001e4d0")
        (False, True)
    """
    if char.isascii():
        return False
    index = bisect_right(_STARTS, ord(char)) - 1
    if index >= 0 and ord(char) <= _BLOCKS[index][1]:
        return True
    import regex

    letter, number = unicodedata.category(char)[0] == "L", unicodedata.category(char)[0] == "N"
    return bool(regex.match(r"\p{L}", char)) != letter or bool(regex.match(r"\p{N}", char)) != number
