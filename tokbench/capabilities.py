"""Optional capabilities of a tokenizer, beyond `tokbench.tokenizer.Tokenizer`: each is a protocol.

The functions of `tokbench.tokenizer` use a capability if the tokenizer has it, and otherwise derive the answer
if that is possible. So no other code needs to ask what a tokenizer can do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from tokbench.batch import TokenBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class BatchEncoder(Protocol):
    """Encodes many documents in one call."""

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text."""


@runtime_checkable
class Utf8Encoder(Protocol):
    """Encodes many documents from their UTF-8, without a Python string for each."""

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> TokenBatch:
        """The ids of every document ``data[offsets[i]:offsets[i + 1]]``, as `encode` gives them.

        `data` is valid UTF-8, laid out as an Arrow string array; 64 readable bytes follow it.
        """


@runtime_checkable
class BatchDecoder(Protocol):
    """Decodes many documents in one call."""

    def decode_batch(self, batch: TokenBatch) -> list[str]:
        """The text of every document, as `decode` gives it."""


@runtime_checkable
class TokenByter(Protocol):
    """Knows the bytes a token stands for (empty for special tokens)."""

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token."""


@runtime_checkable
class BatchTokenByter(Protocol):
    """Knows the bytes of many tokens at once, so that a few calls cover a whole vocabulary."""

    def token_bytes_batch(self, ids: Sequence[int]) -> Sequence[bytes]:
        """The bytes of each of `ids`, which are from 0 to below `vocab_size`, as `token_bytes` gives them."""


@runtime_checkable
class OffsetEncoder(Protocol):
    """Gives, for each token of ``encode(text)``, its (start, end) in code points of `text`: int64, ``(n, 2)``.

    Tokens that share a character (byte-level pieces of it) each have the span of that character.
    """

    def offsets(self, text: str) -> NDArray[np.int64]:
        """The span of each token of `text`."""


@runtime_checkable
class BatchOffsetEncoder(Protocol):
    """Gives the spans of the tokens of many texts in one call."""

    def offsets_batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens, ``(total, 2)``; text i has those from ``limits[i]`` to ``limits[i + 1]``."""


@runtime_checkable
class EncoderWithOffsets(Protocol):
    """Gives ids and spans of many texts in one call, which costs more than the call for ids alone."""

    def encode_with_offsets(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of every text, as `encode` gives them, and all spans, ``(total, 2)``, as `offsets` does."""


class SpansFromEncoding:
    """Gives an `EncoderWithOffsets` the other two calls for spans."""

    def offsets(self: EncoderWithOffsets, text: str) -> NDArray[np.int64]:
        """(start, end) of each token in code points of `text`: int64 ``(tokens, 2)``."""
        return self.encode_with_offsets([text])[1]

    def offsets_batch(
        self: EncoderWithOffsets, texts: Sequence[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens, ``(total, 2)``; text i has those from ``limits[i]`` to ``limits[i + 1]``."""
        tokens, spans = self.encode_with_offsets(texts)
        return spans, tokens.offsets


@runtime_checkable
class Sampler(Protocol):
    """Draws one segmentation at random (BPE-dropout, Unigram sampling); `alpha` is the method's own knob."""

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> Sequence[int]:
        """The ids of one random segmentation."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an algorithm at work, for `tokbench trace` and the live page.

    `tokens` is the whole sequence after the step, each token as bytes; `changed` the index of the token that
    the step made; `detail` what the algorithm compared (rank, score, candidates …), ready for JSON.
    """

    kind: str
    tokens: tuple[bytes, ...]
    changed: int | None = None
    note: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Traceable(Protocol):
    """Shows its algorithm at work, step by step."""

    def trace(self, text: str) -> Iterable[Step]:
        """The steps that lead to ``encode(text)``."""


@runtime_checkable
class Staged(Protocol):
    """Shows the text after each stage before the model, to find where two programs differ."""

    def stages(self, text: str) -> Mapping[str, Sequence[str]]:
        """The pieces of `text` after ``added tokens``, ``normalizer`` and ``pre-tokenizer``, in this order."""


@runtime_checkable
class Savable(Protocol):
    """Writes itself to a file or folder that its family can `load` as the variant of a spec."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer to `path`."""


@runtime_checkable
class TellsUnsaid(Protocol):
    """Knows the options that a saved file cannot store, such as the pre-token pattern of ranks."""

    def unsaid_in(self, path: str | os.PathLike[str]) -> Mapping[str, str]:
        """The options with which its family opens the file saved at `path` as the same tokenizer; no others."""


@runtime_checkable
class ShortestSpeller(Protocol):
    """Knows the fewest tokens of its vocabulary that can spell the pre-tokens of texts."""

    def fewest_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The fewest tokens of each text, int64 ``(n,)``; an added token in it counts as one."""


@runtime_checkable
class Prunable(Protocol):
    """Makes a smaller tokenizer of itself."""

    def pruned(self, counts: Sequence[int], vocab_size: int) -> tuple[Self, NDArray[np.int64]]:
        """The tokenizer with `vocab_size` tokens, and the new id of each old one, -1 if it was removed.

        `counts` is how often some text uses each id; the tokens used least are removed.
        """


@runtime_checkable
class TokenEstimator(Protocol):
    """Estimates the token counts of a tokenizer that is not available; its `encode` raises an error.

    `estimated` says in a few words what the estimate is based on. For 95 % of texts the true count divided by
    the estimate is within `bounds`. Metrics that need only token counts are measured, and marked as estimated.
    """

    @property
    def estimated(self) -> str:
        """What the estimate is based on."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest ratio of the true count to the estimate, at 95 %."""

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The estimated number of tokens of each text, int64 ``(n,)``; the same text gives the same number."""


@runtime_checkable
class Describable(Protocol):
    """States its facts: algorithm, normalizer, pre_tokenizer, byte_fallback, special_tokens, library, files …

    Keys follow `tokbench.inspection.facts`; values are ready for JSON.
    """

    def facts(self) -> Mapping[str, Any]:
        """The facts, ready for JSON."""
