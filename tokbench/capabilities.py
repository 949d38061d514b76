"""What a tokenizer may offer beside `tokbench.tokenizer.Tokenizer`: each optional capability is a protocol.

Used where present; where absent, the functions of `tokbench.tokenizer` derive what can be derived, so that
nobody else asks "can this tokenizer …?".
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
    """Encodes many documents from their bytes, so that nobody makes a string of each."""

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> TokenBatch:
        """The ids of every document ``data[offsets[i]:offsets[i + 1]]``, as `encode` gives them.

        `data` is valid UTF-8, the layout that of an Arrow string array; 64 more bytes can be read after it.
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
    """Knows the bytes of many tokens at once, so that a whole vocabulary is asked for by a few calls."""

    def token_bytes_batch(self, ids: Sequence[int]) -> Sequence[bytes]:
        """The bytes of every one of `ids`, from 0 to below `vocab_size`, as `token_bytes` gives them."""


@runtime_checkable
class OffsetEncoder(Protocol):
    """Gives, for each token of ``encode(text)``, its (start, end) in code points of `text`: int64, ``(n, 2)``.

    Tokens that share one character (byte-level pieces of it) carry that character's span each.
    """

    def offsets(self, text: str) -> NDArray[np.int64]:
        """The span of each token of `text`."""


@runtime_checkable
class BatchOffsetEncoder(Protocol):
    """Gives the spans of many texts' tokens in one call."""

    def offsets_batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens, ``(total, 2)``; text i has those from ``limits[i]`` to ``limits[i + 1]``."""


@runtime_checkable
class EncoderWithOffsets(Protocol):
    """Encodes many texts and tells where each token lies, by one call: dearer than the one for ids alone."""

    def encode_with_offsets(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of every text, as `encode` gives them, and all spans, ``(total, 2)``, as `offsets` does."""


class SpansFromEncoding:
    """The other two calls for spans, of a tokenizer that is an `EncoderWithOffsets`."""

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

    `tokens` is the whole sequence after the step, as bytes pieces; `changed` the index of the piece the step
    made; `detail` what the algorithm weighed (rank, score, candidates …), ready for JSON.
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
    """Shows what text has become after each stage before the model, so that two programs can be told apart."""

    def stages(self, text: str) -> Mapping[str, Sequence[str]]:
        """The pieces of `text` after ``added tokens``, ``normalizer`` and ``pre-tokenizer``, in this order."""


@runtime_checkable
class Savable(Protocol):
    """Writes itself to a file or folder that its family's `load` opens as the spec's variant."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer to `path`."""


@runtime_checkable
class TellsUnsaid(Protocol):
    """Tells what a format that it is saved in leaves to be said, as ranks do how text is cut."""

    def unsaid_in(self, path: str | os.PathLike[str]) -> Mapping[str, str]:
        """The options of its family with which what was saved at `path` opens as it was, none spare."""


@runtime_checkable
class ShortestSpeller(Protocol):
    """Tells the fewest tokens with which its vocabulary could spell the pre-tokens of texts."""

    def fewest_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The fewest tokens of each text, int64 ``(n,)``; an added token that is found in it is one."""


@runtime_checkable
class Prunable(Protocol):
    """Gives itself with fewer tokens."""

    def pruned(self, counts: Sequence[int], vocab_size: int) -> tuple[Self, NDArray[np.int64]]:
        """The tokenizer with `vocab_size` tokens, and the new id of each old one, -1 where it is gone.

        `counts` says how often some text uses each id; what is used least goes.
        """


@runtime_checkable
class TokenEstimator(Protocol):
    """Estimates how many tokens texts are, and not which: of a tokenizer that is not at hand. `encode` refuses.

    `estimated` says in a few words from what; of 95 % of texts the true number over the estimate is within
    `bounds`. Figures that follow from numbers of tokens alone are measured of it, and marked as estimated.
    """

    @property
    def estimated(self) -> str:
        """What it is estimated from."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most of the true number over the estimate, at 95 %."""

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The estimated number of tokens of each text, int64 ``(n,)``; the same text gives the same number."""


@runtime_checkable
class Describable(Protocol):
    """States its facts: algorithm, normalizer, pre_tokenizer, byte_fallback, special_tokens, library, files …

    Keys follow `tokbench.inspection.facts`; values are ready for JSON.
    """

    def facts(self) -> Mapping[str, Any]:
        """The facts, ready for JSON."""
