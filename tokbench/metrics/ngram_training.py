"""Trains an n-gram model on a tokenizer's ids of a text, and notes which documents the text has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice

from tokbench.batch import TokenBatch
from tokbench.corpus import Document
from tokbench.errors import CorpusError
from tokbench.metrics.ngram import NgramModel
from tokbench.tokenizer import Tokenizer, encode_batch
from tokbench.wording import data_size

_AT_ONCE = 1000  # documents that are encoded together
LIMIT = 20_000_000
"""Tokens of training text, ends of documents included; more is an error. At `TOKEN_MEMORY` each: 4.8 GB."""
TOKEN_MEMORY = 240
"""Bytes of memory for a token at most, at order 3, when no two n-grams are alike; half in common text."""


@dataclass(slots=True)
class TrainedOn:
    """What was trained on: a digest of every document's text, and how much it is."""

    seen: set[bytes] = field(default_factory=set)
    documents: int = 0
    n_bytes: int = 0

    def add(self, encoded: list[bytes]) -> None:
        """Count some documents' UTF-8."""
        self.seen.update(map(digest, encoded))
        self.documents += len(encoded)
        self.n_bytes += sum(map(len, encoded))


def trained_model(
    name: str,
    tokenizer: Tokenizer,
    texts: Iterable[str],
    *,
    order: int,
    limit: int = LIMIT,
    training: TrainedOn | None = None,
    progress: Callable[[int], None] = lambda documents: None,
) -> NgramModel:
    """The model of a tokenizer's ids of some texts; `training` is told what they are, `progress` how many.

    Raises `CorpusError` for no text, and for text of more than `limit` tokens.
    """
    batches: list[TokenBatch] = []
    tokens = done = 0
    for some in with_text(Document(text) for text in texts):
        batches.append(encode_batch(tokenizer, [document.text for document in some]))
        tokens += len(batches[-1].ids) + len(some)
        if tokens > limit:
            raise CorpusError(
                f"{name}: the training text makes more than {limit:,} tokens, for which counts would take "
                f"up to {data_size(limit * TOKEN_MEMORY)}; train on a part of it, or set a higher limit"
            )
        if training is not None:
            training.add([utf8_of(document.text) for document in some])
        progress(done := done + len(some))
    return NgramModel.fit(batches, tokenizer.vocab_size, order=order, name=name)


def with_text(documents: Iterator[Document]) -> Iterator[list[Document]]:
    """The documents that have text, some at once."""
    having = (document for document in documents if document.text)
    while some := list(islice(having, _AT_ONCE)):
        yield some


def utf8_of(text: str) -> bytes:
    """The bytes of a text."""
    return text.encode("utf-8", "surrogatepass")


def digest(data: bytes) -> bytes:
    """What tells a document from another."""
    return blake2b(data, digest_size=16).digest()
