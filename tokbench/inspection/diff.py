"""Compares two tokenizers on the same documents: whether their ids are equal, and where and why they differ.

This shows whether one implementation can replace another: a port, a converted file, a newer version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.corpus import in_batches
from tokbench.errors import TokenizerError
from tokbench.inspection.divergence import CAUSES, Divergence, first_divergence
from tokbench.inspection.pieces import pieces
from tokbench.tokenizer import Tokenizer, encode_batch, token_bytes

EXAMPLES = 20
EXAMPLES_OF_A_CAUSE = 5


@dataclass(frozen=True, slots=True)
class TokenizerDiff:
    """The result of a diff.

    `causes` counts the differing documents by the cause of their first divergence; `divergences` are examples
    in document order, a few of each cause. `compared` says whether ids or the bytes of tokens were compared.
    """

    a: str
    b: str
    compared: str
    n_documents: int
    n_equal: int
    n_tokens_a: int
    n_tokens_b: int
    causes: dict[str, int]
    divergences: tuple[Divergence, ...]

    @property
    def equal(self) -> bool:
        """Whether every document got the same tokens from both."""
        return self.n_equal == self.n_documents

    @property
    def share_equal(self) -> float:
        """The share of documents with the same tokens; NaN without documents."""
        return self.n_equal / self.n_documents if self.n_documents else float("nan")

    def as_json(self) -> dict[str, Any]:
        """The diff in JSON's types, for `--json` and the report."""
        return {
            "a": self.a,
            "b": self.b,
            "compared": self.compared,
            "n_documents": self.n_documents,
            "n_equal": self.n_equal,
            "share_equal": self.share_equal if self.n_documents else None,
            "n_tokens": [self.n_tokens_a, self.n_tokens_b],
            "causes": self.causes,
            "divergences": [divergence.as_json() for divergence in self.divergences],
        }


def diff(
    a: Tokenizer,
    b: Tokenizer,
    documents: Iterable[tuple[str, str]],
    *,
    by_bytes: bool = False,
    examples: int = EXAMPLES,
    progress: Callable[[int, int], None] | None = None,
) -> TokenizerDiff:
    """Compare two tokenizers on (name, text) documents, streamed.

    With `by_bytes` the bytes of tokens are compared instead of ids, for vocabularies that number the same
    tokens differently. `progress` is called with the documents seen and those that differ.

    Example:
        >>> import tokbench
        >>> found = diff(tokbench.load("bytes"), tokbench.load("chars"), [("1", "abc"), ("2", "é")])
        >>> found.share_equal, found.causes
        (0.5, {'segmentation': 1})
    """
    same, key = (_same_bytes(a, b), attrgetter("bytes")) if by_bytes else (np.array_equal, attrgetter("id"))
    n_documents = n_equal = 0
    n_tokens = [0, 0]
    causes: Counter[str] = Counter()
    kept: list[Divergence] = []
    for chunk in in_batches(documents):
        texts = [text for _, text in chunk]
        batch_a, batch_b = encode_batch(a, texts), encode_batch(b, texts)
        n_tokens[0] += len(batch_a.ids)
        n_tokens[1] += len(batch_b.ids)
        for (name, text), ids_a, ids_b in zip(chunk, batch_a, batch_b, strict=True):
            n_documents += 1
            if same(ids_a, ids_b):
                n_equal += 1
                continue
            found = first_divergence(
                name, text, pieces(a, text, ids_a.tolist()), pieces(b, text, ids_b.tolist()), key
            )
            if found is None:  # the ids differ, so the plugin gave others in a second call
                raise TokenizerError(
                    f"{a.name} or {b.name}: encode_batch and encode give different ids for {name}"
                )
            causes[found.cause] += 1
            if len(kept) < examples and causes[found.cause] <= EXAMPLES_OF_A_CAUSE:
                kept.append(found)
        if progress:
            progress(n_documents, n_documents - n_equal)
    return TokenizerDiff(
        a=a.name,
        b=b.name,
        compared="bytes" if by_bytes else "ids",
        n_documents=n_documents,
        n_equal=n_equal,
        n_tokens_a=n_tokens[0],
        n_tokens_b=n_tokens[1],
        causes={name: causes[name] for name in CAUSES if causes[name]},
        divergences=tuple(kept),
    )


def _same_bytes(a: Tokenizer, b: Tokenizer) -> Callable[[NDArray[np.int32], NDArray[np.int32]], bool]:
    bytes_a, bytes_b = cache(partial(token_bytes, a)), cache(partial(token_bytes, b))
    return lambda ids_a, ids_b: [*map(bytes_a, ids_a.tolist())] == [*map(bytes_b, ids_b.tolist())]
