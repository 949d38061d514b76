"""Scripts of characters: a piece does not mix them, where sentencepiece's rule is followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPACE_SCRIPT, INHERITED, COMMON = -2, -1, 0
"""In place of a script: for the space, for what takes the script before it; and the one of digits and signs."""


def scripts_of(alphabet: NDArray[np.uint32]) -> NDArray[np.int32]:
    """A number for the script of each character; the ideographic and the kana count as one."""
    import regex

    scripts = np.zeros(len(alphabet), np.int32)
    names = regex.findall(r"\w+", _SCRIPTS)
    patterns = [(number, regex.compile(rf"\p{{Script={name}}}")) for number, name in enumerate(names, 1)]
    common, inherited = regex.compile(r"\p{Script=Common}"), regex.compile(r"\p{Script=Inherited}")
    last: list[tuple[int, Any]] = []
    for index, point in enumerate(alphabet.tolist()):
        character = chr(point)
        if character == " ":
            scripts[index] = SPACE_SCRIPT
        elif point == 0x30FC or regex.match(r"[\p{Han}\p{Hiragana}\p{Katakana}]", character):
            scripts[index] = len(names) + 1
        elif common.match(character):
            scripts[index] = COMMON
        elif inherited.match(character):
            scripts[index] = INHERITED
        else:
            for number, pattern in [*last, *patterns]:
                if pattern.match(character):
                    scripts[index], last = number, [(number, pattern)]
                    break
    return scripts


_SCRIPTS = (
    "Latin Cyrillic Greek Arabic Hebrew Devanagari Bengali Hangul Thai Armenian Georgian Tamil Telugu "
    "Kannada Malayalam Gujarati Gurmukhi Oriya Sinhala Lao Tibetan Myanmar Ethiopic Khmer Mongolian "
    "Cherokee Canadian_Aboriginal Ogham Runic Tagalog Hanunoo Buhid Tagbanwa Limbu Tai_Le Linear_B "
    "Ugaritic Shavian Osmanya Cypriot Braille Buginese Coptic New_Tai_Lue Glagolitic Tifinagh "
    "Syloti_Nagri Old_Persian Kharoshthi Balinese Cuneiform Phoenician Phags_Pa Nko Sundanese Lepcha "
    "Ol_Chiki Vai Saurashtra Kayah_Li Rejang Lycian Carian Lydian Cham Tai_Tham Tai_Viet Avestan "
    "Egyptian_Hieroglyphs Samaritan Lisu Bamum Javanese Meetei_Mayek Imperial_Aramaic Old_South_Arabian "
    "Inscriptional_Parthian Inscriptional_Pahlavi Old_Turkic Kaithi Batak Brahmi Mandaic Chakma "
    "Meroitic_Cursive Meroitic_Hieroglyphs Miao Sharada Sora_Sompeng Takri Caucasian_Albanian Bassa_Vah "
    "Duployan Elbasan Grantha Pahawh_Hmong Khojki Linear_A Mahajani Manichaean Mende_Kikakui Modi Mro "
    "Old_North_Arabian Nabataean Palmyrene Pau_Cin_Hau Old_Permic Psalter_Pahlavi Siddham Khudawadi "
    "Tirhuta Warang_Citi Ahom Anatolian_Hieroglyphs Hatran Multani Old_Hungarian SignWriting Adlam "
    "Bhaiksuki Marchen Newa Osage Tangut Masaram_Gondi Nushu Soyombo Zanabazar_Square Dogra Gunjala_Gondi "
    "Makasar Medefaidrin Hanifi_Rohingya Sogdian Old_Sogdian Elymaic Nandinagari Nyiakeng_Puachue_Hmong "
    "Wancho Chorasmian Dives_Akuru Khitan_Small_Script Yezidi Bopomofo Yi Deseret Gothic Thaana Syriac "
)
