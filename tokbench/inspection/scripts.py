"""The Unicode script of a token: that of its letters, or the kind of its characters if it has none.

Scripts are those of UAX #24, as the installed `regex` knows them; only characters that occur are looked up.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

PARTIAL, SPACE, DIGITS, SYMBOLS, OTHER = "part of a character", "white space", "digits", "symbols", "other"

# Most frequent in vocabularies first: the first that matches ends the search.
_NAMES = """
Latin Cyrillic Han Hangul Arabic Hiragana Katakana Greek Devanagari Thai Hebrew Bengali Tamil Telugu Kannada
Malayalam Gujarati Gurmukhi Oriya Sinhala Georgian Armenian Ethiopic Khmer Lao Myanmar Tibetan Mongolian
Thaana Syriac Cherokee Canadian_Aboriginal Bopomofo Yi Javanese Balinese Sundanese Tagalog Tifinagh Nko Vai
Ol_Chiki Meetei_Mayek Coptic Gothic Runic Ogham Glagolitic Cuneiform Egyptian_Hieroglyphs Braille Adlam Ahom
Anatolian_Hieroglyphs Avestan Bamum Bassa_Vah Batak Brahmi Buginese Buhid Carian Caucasian_Albanian Chakma
Cham Cypriot Deseret Duployan Elbasan Elymaic Grantha Gunjala_Gondi Hanifi_Rohingya Hanunoo Hatran
Imperial_Aramaic Inscriptional_Pahlavi Inscriptional_Parthian Kaithi Kayah_Li Kharoshthi Khojki Khudawadi
Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Mandaic Manichaean Marchen Masaram_Gondi
Medefaidrin Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mro Multani Nabataean Nandinagari
New_Tai_Lue Newa Nushu Nyiakeng_Puachue_Hmong Old_Hungarian Old_Italic Old_North_Arabian Old_Permic
Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau
Phags_Pa Phoenician Psalter_Pahlavi Rejang Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sogdian
Sora_Sompeng Soyombo Syloti_Nagri Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tangut Tirhuta Ugaritic Wancho
Warang_Citi Yezidi Zanabazar_Square
"""
_SCRIPTS = tuple(_NAMES.split())


def script_of(text: str) -> str:
    """The script of most letters of `text` (the first on a tie), or the kind of its characters without letters.

    Example:
        >>> script_of(" Straße"), script_of("東京"), script_of("１23"), script_of("  "), script_of("->")
        ('Latin', 'Han', 'digits', 'white space', 'symbols')
    """
    found = Counter(script for char in text if (script := _script(char)))
    if found:
        return found.most_common(1)[0][0]
    if text.isspace():
        return SPACE
    return DIGITS if any(char.isnumeric() for char in text) else SYMBOLS


@cache
def _script(char: str) -> str:
    """The script of a letter or mark; empty for characters common to all scripts."""
    match = _pattern().match(char)
    return _SCRIPTS[(match.lastindex or 1) - 1] if match else OTHER if char.isalpha() else ""


@cache
def _pattern() -> regex.Pattern[str]:
    import regex

    return regex.compile("|".join(rf"(\p{{Script={script}}})" for script in _SCRIPTS))
