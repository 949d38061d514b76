"""What is known of languages: name, family and script by tag, for grouping figures and labelling plots.

Tags are those of FLORES-200 (``tha_Thai``: ISO 639-3 and ISO 15924) or BCP 47 (``th``, ``zh-Hant``,
``pt-BR``). Names, codes and families are public facts, written down in ``languages.csv`` with the usual script
of each; families are the top level of the usual classifications.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Language:
    """One language as it is written in one script.

    `code` is ISO 639-3, `short` ISO 639-1 or empty, `script` ISO 15924.

    Example:
        >>> thai = lookup("tha_Thai")
        >>> thai.name, thai.family, thai.script_name
        ('Thai', 'Kra-Dai', 'Thai')
    """

    code: str
    short: str
    script: str
    family: str
    name: str

    @property
    def script_name(self) -> str:
        """The script's name in English."""
        return SCRIPTS.get(self.script, self.script)


SCRIPTS: dict[str, str] = {
    "Arab": "Arabic", "Armn": "Armenian", "Beng": "Bengali", "Cans": "Canadian Aboriginal",
    "Cher": "Cherokee", "Cyrl": "Cyrillic", "Deva": "Devanagari", "Ethi": "Ethiopic", "Geor": "Georgian",
    "Grek": "Greek", "Gujr": "Gujarati", "Guru": "Gurmukhi", "Hang": "Hangul", "Hans": "Han (simplified)",
    "Hant": "Han (traditional)", "Hebr": "Hebrew", "Jpan": "Japanese", "Khmr": "Khmer", "Knda": "Kannada",
    "Laoo": "Lao", "Latn": "Latin", "Mlym": "Malayalam", "Mong": "Mongolian", "Mtei": "Meetei Mayek",
    "Mymr": "Myanmar", "Nkoo": "Nko", "Olck": "Ol Chiki", "Orya": "Oriya", "Sinh": "Sinhala",
    "Syrc": "Syriac", "Taml": "Tamil", "Telu": "Telugu", "Tfng": "Tifinagh", "Thaa": "Thaana", "Thai": "Thai",
    "Tibt": "Tibetan",
}  # fmt: skip
"""ISO 15924 codes and English names of the scripts used here."""

UNICODE_SCRIPTS: dict[str, tuple[str, ...]] = {
    "Hans": ("Han",),
    "Hant": ("Han",),
    "Jpan": ("Han", "Hiragana", "Katakana"),
}
"""The Unicode scripts that make up a writing system, where they are not the one of the same name."""

_OTHER_CODES = {
    "ara": "arb", "aze": "azj", "aym": "ayr", "fas": "pes", "ful": "fuv", "iw": "heb", "in": "ind",
    "jw": "jav", "kau": "knc", "kur": "kmr", "mlg": "plt", "mon": "khk", "msa": "zsm", "nep": "npi",
    "no": "nob", "nor": "nob", "ori": "ory", "orm": "gaz", "pus": "pbt", "que": "quy", "fil": "tgl",
    "sqi": "als", "swa": "swh", "uzb": "uzn", "yid": "ydd", "din": "dik", "kok": "gom", "sr": "srp",
    "tw": "twi",
}  # fmt: skip
"""Macrolanguages and older codes, and the code in the table that they mean."""


def unicode_scripts(script: str) -> tuple[str, ...]:
    """The names of the Unicode scripts that an ISO 15924 code stands for.

    Example:
        >>> unicode_scripts("Jpan"), unicode_scripts("Olck")
        (('Han', 'Hiragana', 'Katakana'), ('Ol_Chiki',))
    """
    return UNICODE_SCRIPTS.get(script, (SCRIPTS.get(script, script).replace(" ", "_"),))


def lookup(tag: str) -> Language | None:
    """The language of a tag, or None where it is not in the table; a script in the tag wins over the usual one.

    Example:
        >>> lookup("zh-Hant").script, lookup("pt-BR").name, lookup("srp_Latn").script, lookup("all")
        ('Hant', 'Portuguese', 'Latn', None)
    """
    head, *rest = re.split(r"[-_]", tag.strip())
    known = _by_code().get(head.lower())
    if known is None:
        return None
    for part in rest:
        if part.title() in SCRIPTS:
            return replace(known, script=part.title())
    if known.code in ("zho", "cmn") and any(part.upper() in ("TW", "HK", "MO") for part in rest):
        return replace(known, script="Hant")
    return known


def same_language(asked: str, tags: Iterable[str]) -> list[str]:
    """Those of `tags` that are of the language asked for, by another code or by its English name.

    Example:
        >>> same_language("en", ["deu_Latn", "eng_Latn"]), same_language("German", ["deu_Latn"])
        (['eng_Latn'], ['deu_Latn'])
        >>> same_language("und", ["eng_Latn"])
        []
    """
    name = asked.strip().lower()
    meant = lookup(asked)
    known = ((tag, lookup(tag)) for tag in tags)
    return [
        tag
        for tag, found in known
        if found is not None and (found.code == meant.code if meant else found.name.lower() == name)
    ]


@cache
def languages() -> tuple[Language, ...]:
    """Every language of the table, in its usual script."""
    table = Path(__file__).with_suffix(".csv")
    with table.open(encoding="utf-8", newline="") as rows:
        return tuple(Language(**row) for row in csv.DictReader(rows))


@cache
def _by_code() -> dict[str, Language]:
    """Each language by ISO 639-3, ISO 639-1 and the codes that tags use for the same."""
    found = {language.code: language for language in languages()}
    others = {language.short: language for language in languages() if language.short}
    return {code: found[meant] for code, meant in _OTHER_CODES.items()} | others | found
