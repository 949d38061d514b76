"""Baselines with which to compare subword tokenizers; none needs a download.

Bytes and code points are lossless without a vocabulary. Words split at white space or by Unicode's rules show
the cost of a closed vocabulary. Greedy longest match shows the value of a vocabulary without merges or scores.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokbench import TokenizerFamily, hookimpl


@hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """bytes, chars, whitespace, words, maxmatch."""
    from tokbench_baselines.codepoints import BYTES, CHARS
    from tokbench_baselines.maxmatch import MAXMATCH
    from tokbench_baselines.wordlist import WHITESPACE, WORDS

    return [BYTES, CHARS, WHITESPACE, WORDS, MAXMATCH]
