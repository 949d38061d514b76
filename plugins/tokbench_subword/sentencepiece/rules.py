"""The named normalisation rules: where their compiled character maps come from.

sentencepiece publishes `nmt_nfkc`, `nfkc` and their case-folding forms as compiled maps inside the library.
They are read from the installed library, so that models trained here and there normalize every character alike,
whatever Unicode version the library's makers used.
"""

from __future__ import annotations

from functools import lru_cache

from tokbench.errors import UnknownNameError
from tokbench_subword.files.sentencepiece_model import normalizer_in

RULES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")
"""The names of the rules; `identity` changes no character."""


@lru_cache(maxsize=8)
def charsmap_of(name: str) -> bytes:
    """The compiled character map of a rule, empty for `identity`; raises `TokenizerError` for an unknown one.

    Example:
        >>> charsmap_of("identity")
        b''
    """
    if name not in RULES:
        raise UnknownNameError.of("normalisation rule", name, RULES)
    if name == "identity":
        return b""
    import sentencepiece

    normalizer = sentencepiece.SentencePieceNormalizer(rule_name=name)
    return normalizer_in(normalizer.serialized_model_proto()).charsmap
