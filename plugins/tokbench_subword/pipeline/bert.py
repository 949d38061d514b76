"""The rules of BERT's normalizer, and the sets of characters that they need.

The rules refer to Unicode properties. `tokenizers`, whose ids this plugin must give, has several versions of
Unicode built in: general categories of 8.0, canonical decomposition and ordering of 9.0, lower case of 17.0.
Python's `unicodedata` has a single version, which changes with each release. So the categories are shipped
(`unicode_tables`), and the rest is in `normal_forms`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tokbench_subword.pipeline import normal_forms, unicode_tables

IDEOGRAPHS = (
    *(range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00), range(0x20000, 0x2A6E0)),
    *(range(0x2A700, 0x2B820), range(0x2B920, 0x2CEB0), range(0x2F800, 0x2FA20)),
)
"""The code points that get spaces around them. BERT and `tokenizers` have Extension E begin at U+2B920, which
is 0x100 too late; their ids depend on it, so ours do, too.
"""


@lru_cache(maxsize=1)
def marks() -> frozenset[int]:
    """Nonspacing marks (Mn): what `strip_accents` removes after decomposition."""
    return frozenset(normal_forms.points_of(unicode_tables.BERT_MARKS))


@dataclass(frozen=True, slots=True, kw_only=True)
class BertRules:
    """Which of BERT's four normalizations apply, in this order: clean, space ideographs, strip accents, lower.

    `strip_accents` is always set here; in configuration files "not set" means "as `lowercase`".
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool = True
    lowercase: bool = True

    @classmethod
    def of(cls, **settings: bool | None) -> BertRules:
        """Rules from settings by their names; a missing setting, or None, means BERT's default.

        Example:
            >>> BertRules.of(lowercase=False, clean_text=None)
            BertRules(clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=False)
        """
        given = {name: value for name, value in settings.items() if value is not None}
        return cls(**{"strip_accents": given.get("lowercase", True), **given})

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> BertRules:
        """The rules of a ``BertNormalizer`` in `tokenizer.json`."""
        return cls.of(**{name: config.get(name) for name in RULES})

    @property
    def on(self) -> list[str]:
        """The names of the rules that apply, in order."""
        return [name for name in RULES if getattr(self, name)]


RULES = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
"""The names of the rules, as `tokenizer.json` has them."""

NO_RULES = BertRules(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
"""Nothing is normalized: for pipelines without a normalizer."""
