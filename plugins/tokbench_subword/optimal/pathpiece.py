"""PathPiece (Schmidt et al. 2024): reduces a large vocabulary to the tokens whose loss would cost most.

Words are always encoded in the fewest tokens. Each round computes for every token how many more tokens its
words would need without it (its charge, see `omitting`), and drops the sixteenth of all tokens with the lowest
charges. The result is a Unigram model with equal scores, so any library that opens a `tokenizer.json` finds the
same shortest paths.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from tokbench.counts import WordCounts
from tokbench_subword.bpe.tokenizer_json import document_around
from tokbench_subword.bpe.trainer import learn
from tokbench_subword.files.tokenizer_json import unigram_model
from tokbench_subword.optimal.omitting import charges
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.byte_alphabet import spelled
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.training.alphabet import byte_order
from tokbench_subword.training.ties import HF
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer

ROUND = 16
"""A round drops one in this many tokens; dropping fewer at a time gains less than a thousandth."""


def first_tokens(
    words: WordCounts, size: int, longest: int, forbidden: Collection[bytes] = (), workers: int = 1
) -> list[bytes]:
    """The tokens of two or more bytes that training starts from: those of a BPE vocabulary of `size` tokens.

    They are in the order of BPE's merges. Tokens with a NUL byte are left out, since tries cannot contain them.
    """
    learned = learn(
        words, vocab_size=max(size, 256), pattern=Pattern("none"), max_token_length=longest + 1, workers=workers
    )
    made = learned.model(max(size, 256)).vocabulary[256:]
    return [token for token in made if b"\0" not in token and token not in forbidden]


def chosen_tokens(
    words: WordCounts,
    tokens: Sequence[bytes],
    size: int,
    *,
    workers: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> list[bytes]:
    """The `size` tokens that remain after dropping the ones with the lowest charges, in their order.

    Of tokens with equal charges, the last are dropped first.

    Example:
        >>> words = WordCounts.of({"abab": 3, "abc": 1})
        >>> chosen_tokens(words, [b"ab", b"abc", b"abab"], 1)  # abab saves three tokens, abc one, ab none
        [b'abab']
    """
    kept, begun = list(tokens), len(tokens)
    while len(kept) > size:
        costs = charges(kept, words, workers)
        n_dropped = min(len(kept) - size, max(1, (len(kept) + 256) // ROUND))
        dropped = set(np.lexsort((-np.arange(len(kept)), costs))[:n_dropped].tolist())
        kept = [token for index, token in enumerate(kept) if index not in dropped]
        progress((begun - len(kept)) / (begun - size))
    return kept


def tokenizer_of(
    tokens: Sequence[bytes], pattern: Pattern, special: Iterable[str], *, name: str
) -> JsonUnigramTokenizer:
    """The tokenizer with the 256 bytes, then `tokens`, then the special tokens."""
    every = [*(bytes([byte]) for byte in byte_order(HF)), *tokens]
    model = unigram_model([[spelled(token), -1.0] for token in every], None, byte_fallback=False)
    added = tuple(
        AddedToken(text, len(every) + index, normalized=False, special=True)
        for index, text in enumerate(special)
    )
    document = replace(document_around(pattern, "byte"), added_tokens=added).with_model(model)
    return JsonUnigramTokenizer(document, name=name)
