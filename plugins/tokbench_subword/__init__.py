"""In-house BPE, WordPiece and Unigram: trainers, encoders and file formats, in Python and numba.

Each algorithm has a folder with its `family.py`; heavy imports wait until a tokenizer is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokbench import Check, TokenizerFamily, hookimpl


@hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """The subword algorithms."""
    from tokbench_subword.bpe.family import BPE
    from tokbench_subword.optimal.families import GREEDTOK, PATHPIECE, PICKYBPE
    from tokbench_subword.sentencepiece.family import UNIGRAM
    from tokbench_subword.wordpiece.family import WORDPIECE

    return [BPE, WORDPIECE, UNIGRAM, PATHPIECE, GREEDTOK, PICKYBPE]


@hookimpl
def tokbench_checks() -> Iterable[Check]:
    """The checks of patterns, of merges, and of llama.cpp's pre-tokenizers."""
    from tokbench_subword.checks import merges, patterns, serving

    return [*patterns.CHECKS, *merges.CHECKS, *serving.CHECKS]
