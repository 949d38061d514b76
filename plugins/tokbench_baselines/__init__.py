"""Baselines: what every subword tokenizer should be measured against, and nothing that needs a download.

Bytes and code points are the two ends of losslessness; words split at white space or by Unicode's rules show
what a closed vocabulary costs; greedy longest match shows what a vocabulary is worth without merges or scores.
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
