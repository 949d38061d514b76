r"""What names of classes and properties stand for in other libraries' patterns, as the inside of brackets.

`regex` follows a later Unicode than they do, and some names mean other characters to it. Of words, Oniguruma
has letters, marks, ``\p{Nd}``, connectors and ² ³ ¹ ¼ ½ ¾, Rust all but these numbers and the two joiners.
"""

from __future__ import annotations

import re
from typing import Literal

from tokbench.kernels.unicode_classes import CATEGORIES

Dialect = Literal["oniguruma", "rust"]
"""The libraries whose patterns are read: that of `tokenizers`, and that of tiktoken."""
_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
POSIX_CLASSES = {
    "alnum": r"\p{Alphabetic}\p{Nd}",
    "alpha": r"\p{Alphabetic}",
    "blank": r"\p{Zs}\t",
    "cntrl": r"\p{Cc}",
    "digit": r"\p{Nd}",
    "graph": r"[^\s\p{Cc}\p{Cn}\p{Cs}]",
    "lower": r"\p{Lowercase}ʕ",
    "print": r"[^\p{Cc}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]",
    "punct": r"\p{P}\p{S}",
    "space": r"\s",
    "upper": r"\p{Uppercase}",
    "word": _WORD,
    "xdigit": "0-9a-fA-F",
}
"""POSIX classes as Oniguruma has them."""
_PROPERTIES = {
    **{name: POSIX_CLASSES[name] for name in ("xdigit", "lower")},
    "lowercase": POSIX_CLASSES["lower"],
    "cased": r"\p{Cased}ʕ",
    "lc": r"\p{Lu}\p{Ll}\p{Lt}",
    "any": r"\s\S",
    "idc": r"\p{ID_Continue}",  # to `regex` a block
    "vs": r"\p{Variation_Selector}",  # the same
    "posixpunct": POSIX_CLASSES["punct"],
    "other": r"\p{C}",
    "unassigned": r"\p{Cn}",
    "casedletter": r"\p{Lu}\p{Ll}\p{Lt}",
    "lowercaseletter": r"\p{Ll}",
    "otherletter": r"\p{Lo}",
}
"""Properties that `regex` knows otherwise, by their names in small letters."""
_CATEGORIES = {name.lower(): name for category in CATEGORIES for name in (category, category[0])}
_UNTOLD = (
    *("extendedpictographic", "extpict", "diacritic", "dia", "unknown", "zzzz", "patternsyntax", "patsyn"),
    *("l&", "changeswhencasemapped", "cwcm", "changeswhentitlecased", "cwt", "changeswhenuppercased", "cwu"),
)


def word_members(dialect: Dialect, *, in_class: bool) -> str:
    r"""The characters of ``\w``, outside of brackets or, `in_class`, inside them."""
    return _WORD + (r"\u200C\u200D" if dialect == "rust" else "" if in_class else "²³¹¼½¾")


def property_members(name: str, dialect: Dialect, *, in_class: bool) -> str | None:
    r"""The characters of ``\p{name}``; None for what `regex` knows by this name.

    Example:
        >>> [property_members(name, "rust", in_class=True) for name in ("Lower case", "Lu")]
        ['\\p{Lowercase}ʕ', None]
    """
    key = _key(name)
    return word_members(dialect, in_class=in_class) if key == "word" else _PROPERTIES.get(key)


def canonical(name: str) -> str:
    """The name of a property; of a general category as Unicode has it for short.

    Example:
        >>> canonical("LL"), canonical("gc=lu"), canonical("Han")
        ('Ll', 'Lu', 'Han')
    """
    return _CATEGORIES.get(_key(name), name)


def is_untold(name: str, dialect: Dialect) -> bool:
    """Whether nothing at hand tells the characters of a property in Unicode 16.0."""
    key = _key(name)
    kind, _, value = key.rpartition("=")
    known = kind in ("", "sc", "script", "age")  # what else has a value, as scx=Latn, has changed since
    return not known or value in _UNTOLD or (dialect == "rust" and key in ("graph", "print"))


def _key(name: str) -> str:
    key = re.sub("[ _-]", "", name).lower()
    return key.removeprefix("gc=").removeprefix("generalcategory=")
