r"""The characters of named classes and properties in patterns of other libraries, as the inside of brackets.

`regex` follows a later Unicode than these libraries, and gives some names another meaning. In Oniguruma, ``\w``
has letters, marks, ``\p{Nd}``, connectors and ² ³ ¹ ¼ ½ ¾; in Rust, the two joiners instead of these numbers.
"""

from __future__ import annotations

import re
from typing import Literal

from tokbench.kernels.unicode_classes import CATEGORIES

Dialect = Literal["oniguruma", "rust"]
"""The libraries whose patterns are read: `tokenizers` uses Oniguruma, tiktoken Rust's fancy-regex."""
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
"""POSIX classes as in Oniguruma."""
_PROPERTIES = {
    **{name: POSIX_CLASSES[name] for name in ("xdigit", "lower")},
    "lowercase": POSIX_CLASSES["lower"],
    "cased": r"\p{Cased}ʕ",
    "lc": r"\p{Lu}\p{Ll}\p{Lt}",
    "any": r"\s\S",
    "idc": r"\p{ID_Continue}",  # in `regex` the name of a block
    "vs": r"\p{Variation_Selector}",  # in `regex` the name of a block
    "posixpunct": POSIX_CLASSES["punct"],
    "other": r"\p{C}",
    "unassigned": r"\p{Cn}",
    "casedletter": r"\p{Lu}\p{Ll}\p{Lt}",
    "lowercaseletter": r"\p{Ll}",
    "otherletter": r"\p{Lo}",
}
"""Properties that differ in `regex`, by their names in lower case."""
_CATEGORIES = {name.lower(): name for category in CATEGORIES for name in (category, category[0])}
_UNKNOWN = (
    *("extendedpictographic", "extpict", "diacritic", "dia", "unknown", "zzzz", "patternsyntax", "patsyn"),
    *("l&", "changeswhencasemapped", "cwcm", "changeswhentitlecased", "cwt", "changeswhenuppercased", "cwu"),
)


def word_members(dialect: Dialect, *, in_class: bool) -> str:
    r"""The characters of ``\w``, outside of brackets or, with `in_class`, inside them."""
    return _WORD + (r"\u200C\u200D" if dialect == "rust" else "" if in_class else "²³¹¼½¾")


def property_members(name: str, dialect: Dialect, *, in_class: bool) -> str | None:
    r"""The characters of ``\p{name}``; None if the name has the same meaning in `regex`.

    Example:
        >>> [property_members(name, "rust", in_class=True) for name in ("Lower case", "Lu")]
        ['\\p{Lowercase}ʕ', None]
    """
    key = _key(name)
    return word_members(dialect, in_class=in_class) if key == "word" else _PROPERTIES.get(key)


def canonical(name: str) -> str:
    """The name of a property; for a general category, Unicode's short name.

    Example:
        >>> canonical("LL"), canonical("gc=lu"), canonical("Han")
        ('Ll', 'Lu', 'Han')
    """
    return _CATEGORIES.get(_key(name), name)


def is_unknown(name: str, dialect: Dialect) -> bool:
    """Whether the characters of a property in Unicode 16.0 cannot be found here."""
    key = _key(name)
    kind, _, value = key.rpartition("=")
    known = kind in ("", "sc", "script", "age")  # others with a value, as scx=Latn, have changed since
    return not known or value in _UNKNOWN or (dialect == "rust" and key in ("graph", "print"))


def _key(name: str) -> str:
    key = re.sub("[ _-]", "", name).lower()
    return key.removeprefix("gc=").removeprefix("generalcategory=")
