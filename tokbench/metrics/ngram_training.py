"""Trains an n-gram model on a tokenizer's ids of a text, and notes which documents the text has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.corpus import in_batches
from tokbench.errors import CorpusError
from tokbench.metrics.ngram import NgramModel
from tokbench.tokenizer import Tokenizer, encode_batch
from tokbench.wording import data_size

LIMIT = 20_000_000
"""Tokens of training text, ends of documents included; more is an error. At `TOKEN_MEMORY` each: 4.8 GB."""
TOKEN_MEMORY = 240
"""Bytes of memory for a token at most, at order 3, when no two n-grams are alike; half in common text."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainedNgrams:
    """A model of a tokenizer's ids, and what it was trained on: a digest of every document, and how much."""

    model: NgramModel
    seen: frozenset[bytes]
    documents: int
    n_bytes: int

    def document_bits(self, batch: TokenBatch, name: str) -> NDArray[np.float64]:
        """The bits of each document, its end among them: float64 ``(documents,)``; `name` is for errors."""
        bits = self.model.bits(batch, name)
        found: NDArray[np.float64] = np.add.reduceat(bits, batch.offsets[:-1] + np.arange(len(batch)))
        return found


def trained_ngrams(
    name: str,
    tokenizer: Tokenizer,
    texts: Iterable[str],
    *,
    order: int,
    limit: int = LIMIT,
    progress: Callable[[int], None] = lambda documents: None,
) -> TrainedNgrams:
    """The model of a tokenizer's ids of some texts; `progress` is told how many.

    Raises `CorpusError` for no text, and for text of more than `limit` tokens.
    """
    batches: list[TokenBatch] = []
    seen: set[bytes] = set()
    tokens = done = n_bytes = 0
    for some in in_batches(filter(None, texts), progress):
        batches.append(encode_batch(tokenizer, some))
        tokens += len(batches[-1].ids) + len(some)
        if tokens > limit:
            raise CorpusError(
                f"{name}: the training text makes more than {limit:,} tokens, for which counts would take "
                f"up to {data_size(limit * TOKEN_MEMORY)}; train on a part of it, or set a higher limit"
            )
        encoded = [*map(utf8_of, some)]
        seen.update(map(digest, encoded))
        n_bytes += sum(map(len, encoded))
        done += len(some)
    model = NgramModel.fit(batches, tokenizer.vocab_size, order=order, name=name)
    return TrainedNgrams(model, frozenset(seen), done, n_bytes)


def utf8_of(text: str) -> bytes:
    """The bytes of a text."""
    return text.encode("utf-8", "surrogatepass")


def digest(data: bytes) -> bytes:
    """What tells a document from another."""
    return blake2b(data, digest_size=16).digest()
