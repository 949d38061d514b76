"""Ids before speed: whether a tokenizer's ways of encoding agree, and a digest to compare with others'."""

from __future__ import annotations

import hashlib

from tokbench.batch import TokenBatch
from tokbench.errors import TokenizerError
from tokbench.runner.passages import Passage
from tokbench.tokenizer import Tokenizer, encode_batch


def verified(tokenizer: Tokenizer, passage: Passage) -> TokenBatch:
    """The ids of every document of a passage, the same each time and by every way of asking.

    Raises `TokenizerError` where the second call gives other ids than the first, or single calls other ids than
    the batch, on the passage's documents or on all of them as one.
    """
    import numpy as np

    batch = encode_batch(tokenizer, passage.documents)
    again = encode_batch(tokenizer, passage.documents)
    if not (np.array_equal(batch.ids, again.ids) and np.array_equal(batch.offsets, again.offsets)):
        raise TokenizerError(
            f"{tokenizer.name}: encoding {passage.dataset} twice gives other ids the second time; "
            f"a tokenizer that draws at random has no one speed"
        )
    _same_alone(tokenizer, passage, passage.documents, batch)
    _same_alone(tokenizer, passage, passage.long, encode_batch(tokenizer, passage.long))
    return batch


def _same_alone(tokenizer: Tokenizer, passage: Passage, texts: tuple[str, ...], batch: TokenBatch) -> None:
    import numpy as np

    for index, text in enumerate(texts):
        if not np.array_equal(np.asarray(tokenizer.encode(text), np.int64), batch[index]):
            raise TokenizerError(
                f"{tokenizer.name}: encode and encode_batch disagree on {passage.dataset}, "
                f"document {index}: {text[:60]!r}; a speed of either would not be of the same work"
            )


def digest_of_ids(batch: TokenBatch) -> bytes:
    """A digest of ids and of where documents end; equal for tokenizers that did the same work."""
    return hashlib.sha256(batch.ids.tobytes() + batch.offsets.tobytes()).digest()
