"""What a tokenizer is to tokbench: the protocol, and its optional capabilities.

A plugin's object needs only `Tokenizer`. Each optional capability is a protocol of its own, used when
present and derived when absent by the functions at the end of this file, so that nothing outside it asks
"can this tokenizer …?".
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tokbench.batch import Ids, TokenBatch
from tokbench.errors import TokenizerError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class Tokenizer(Protocol):
    """What a plugin's `load` returns: text to ids and back, content only (no BOS, EOS or template).

    `name` and `vocab_size` are only read: attributes, properties and fields of a frozen dataclass will do.
    """

    @property
    def name(self) -> str:
        """How it calls itself."""
        ...

    @property
    def vocab_size(self) -> int:
        """Every id is below it."""
        ...

    def encode(self, text: str, /) -> Ids:
        """The ids of `text`, a list, a tuple, an array; the text of a special token is ordinary text."""
        ...

    def decode(self, ids: Sequence[int], /) -> str:
        """The text of `ids`."""
        ...


# --- optional capabilities ---------------------------------------------------------------------------


@runtime_checkable
class BatchEncoder(Protocol):
    """Encodes many documents in one call."""

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text."""
        ...


@runtime_checkable
class Utf8Encoder(Protocol):
    """Encodes many documents from their bytes, so that nobody makes a string of each."""

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> TokenBatch:
        """The ids of every document ``data[offsets[i]:offsets[i + 1]]``, as `encode` gives them.

        `data` is valid UTF-8, the layout that of an Arrow string array; 64 more bytes can be read after it.
        """
        ...


@runtime_checkable
class BatchDecoder(Protocol):
    """Decodes many documents in one call."""

    def decode_batch(self, batch: TokenBatch) -> list[str]:
        """The text of every document, as `decode` gives it."""
        ...


@runtime_checkable
class TokenByter(Protocol):
    """Knows the bytes a token stands for (empty for special tokens)."""

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token."""
        ...


@runtime_checkable
class BatchTokenByter(Protocol):
    """Knows the bytes of many tokens at once, so that a whole vocabulary is asked for by a few calls."""

    def token_bytes_batch(self, ids: Sequence[int]) -> Sequence[bytes]:
        """The bytes of every one of `ids`, from 0 to below `vocab_size`, as `token_bytes` gives them."""
        ...


@runtime_checkable
class OffsetEncoder(Protocol):
    """Gives, for each token of ``encode(text)``, its (start, end) in code points of `text`: int64, ``(n, 2)``.

    Tokens that share one character (byte-level pieces of it) carry that character's span each.
    """

    def offsets(self, text: str) -> NDArray[np.int64]:
        """The span of each token of `text`."""
        ...


@runtime_checkable
class BatchOffsetEncoder(Protocol):
    """Gives the spans of many texts' tokens in one call."""

    def offsets_batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens, ``(total, 2)``; text i has those from ``limits[i]`` to ``limits[i + 1]``."""
        ...


@runtime_checkable
class EncoderWithOffsets(Protocol):
    """Encodes many texts and tells where each token lies, by one call: dearer than the one for ids alone."""

    def encode_with_offsets(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of every text, as `encode` gives them, and all spans, ``(total, 2)``, as `offsets` does."""
        ...


@runtime_checkable
class Sampler(Protocol):
    """Draws one segmentation at random (BPE-dropout, Unigram sampling); `alpha` is the method's own knob."""

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> Sequence[int]:
        """The ids of one random segmentation."""
        ...


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
        ...


@runtime_checkable
class Staged(Protocol):
    """Shows what text has become after each stage before the model, so that two programs can be told apart."""

    def stages(self, text: str) -> Mapping[str, Sequence[str]]:
        """The pieces of `text` after ``added tokens``, ``normalizer`` and ``pre-tokenizer``, in this order."""
        ...


@runtime_checkable
class Savable(Protocol):
    """Writes itself to a file or folder that its family's `load` opens as the spec's variant."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer to `path`."""
        ...


@runtime_checkable
class ShortestSpeller(Protocol):
    """Tells the fewest tokens with which its vocabulary could spell the pre-tokens of texts."""

    def fewest_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The fewest tokens of each text, int64 ``(n,)``; an added token that is found in it is one."""
        ...


@runtime_checkable
class Prunable(Protocol):
    """Gives itself with fewer tokens."""

    def pruned(self, counts: Sequence[int], vocab_size: int) -> tuple[Tokenizer, NDArray[np.int64]]:
        """The tokenizer with `vocab_size` tokens, and the new id of each old one, -1 where it is gone.

        `counts` says how often some text uses each id; what is used least goes.
        """
        ...


@runtime_checkable
class TokenEstimator(Protocol):
    """Estimates how many tokens texts are, and not which: of a tokenizer that is not at hand. `encode` refuses.

    `estimated` says in a few words from what; of 95 % of texts the true number over the estimate is within
    `bounds`. Figures that follow from numbers of tokens alone are measured of it, and marked as estimated.
    """

    @property
    def estimated(self) -> str:
        """What it is estimated from."""
        ...

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most of the true number over the estimate, at 95 %."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The estimated number of tokens of each text, int64 ``(n,)``; the same text gives the same number."""
        ...


@runtime_checkable
class Describable(Protocol):
    """States its facts: algorithm, normalizer, pre_tokenizer, byte_fallback, special_tokens, library, files …

    Keys follow `tokbench.inspection.facts`; values are ready for JSON.
    """

    def facts(self) -> Mapping[str, Any]:
        """The facts, ready for JSON."""
        ...


# Plain attributes, read with getattr where present:
#   special_ids: frozenset[int]     ids of special and control tokens
#   unk_id: int | None              the id for what the vocabulary lacks
#   lossless: bool                  declared: decode(encode(x)) == x for every text
#   decode_joins_bytes: bool        declared: decode(ids) is the UTF-8 text of token_bytes joined, for any ids
#                                   that are not special
#   decode_drops_space: bool        declared: the same without the first byte, where that is a space and what
#                                   follows is UTF-8 and begins with none


# --- what is derived when a capability is absent -----------------------------------------------------


def encode_batch(tokenizer: Tokenizer, texts: Sequence[str]) -> TokenBatch:
    """The ids of many texts, by the tokenizer's own batch call where it has one.

    That gets a list of its own: one that changes its texts must not change what they are compared with.
    """
    if isinstance(tokenizer, BatchEncoder):
        batch = tokenizer.encode_batch(list(texts))
        if not isinstance(batch, TokenBatch):
            raise TokenizerError(
                f"{tokenizer.name}: encode_batch returned {type(batch).__name__}, not a TokenBatch; "
                "TokenBatch.of makes one of any sequences of ids"
            )
        if len(batch) != len(texts):
            raise TokenizerError(
                f"{tokenizer.name}: encode_batch returned {len(batch)} documents for {len(texts)} texts"
            )
        return batch
    return TokenBatch.of(tokenizer.encode(text) for text in texts)


def decode_batch(tokenizer: Tokenizer, batch: TokenBatch) -> list[str]:
    """The text of every document, by the tokenizer's own batch call where it has one.

    Example:
        >>> import tokbench
        >>> decode_batch(tokbench.load("bytes"), TokenBatch.of([[104, 105], []]))
        ['hi', '']
    """
    if isinstance(tokenizer, BatchDecoder):
        texts = tokenizer.decode_batch(batch)
        if len(texts) != len(batch):
            raise TokenizerError(
                f"{tokenizer.name}: decode_batch returned {len(texts)} texts for {len(batch)} documents"
            )
    else:
        texts = [tokenizer.decode(ids) for ids in batch.to_lists()]
    for text in texts:
        if not isinstance(text, str):
            raise TokenizerError(f"{tokenizer.name}: decode returned {type(text).__name__}, not str")
    return texts


def token_bytes(tokenizer: Tokenizer, token_id: int) -> bytes:
    """The bytes of one token: the tokenizer's own answer, or the UTF-8 of what it decodes to."""
    if isinstance(tokenizer, TokenByter):
        found = tokenizer.token_bytes(token_id)
        if not isinstance(found, bytes):
            raise TokenizerError(f"{tokenizer.name}: token_bytes returned {type(found).__name__}, not bytes")
        return found
    return tokenizer.decode([token_id]).encode("utf-8", "surrogatepass")


def offsets_batch(
    tokenizer: OffsetEncoder, texts: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The spans of many texts' tokens and the limits of each text's, by the tokenizer's own batch call."""
    import numpy as np

    if isinstance(tokenizer, BatchOffsetEncoder):
        return tokenizer.offsets_batch(texts)
    found = [np.asarray(tokenizer.offsets(text), np.int64).reshape(-1, 2) for text in texts]
    limits = np.append(0, np.cumsum([len(spans) for spans in found]))
    return np.concatenate([np.zeros((0, 2), np.int64), *found]), limits


def text_of(data: bytes) -> str:
    """The text of some UTF-8: lone surrogates as ``surrogatepass`` wrote them; where there is no text, U+FFFD.

    For tokenizers whose tokens are bytes, and which lose nothing.

    Example:
        >>> text_of("né".encode()), text_of(bytes([0xED, 0xA0, 0x80])) == chr(0xD800)
        ('né', True)
    """
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def whole_text(data: bytes) -> str | None:
    """The text of some UTF-8, or None where it is not of whole characters.

    Example:
        >>> whole_text("né".encode()), whole_text("né".encode()[:2])
        ('né', None)
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def check_facts(tokenizer: Tokenizer) -> None:
    """Raise `TokenizerError` where what a tokenizer says of its vocabulary is not of the type it has to be.

    Example:
        >>> import tokbench
        >>> check_facts(tokbench.load("bytes"))
    """
    size = tokenizer.vocab_size
    if isinstance(size, bool) or not isinstance(size, Integral) or not 0 <= size < 1 << 31:
        raise TokenizerError(f"vocab_size: {size!r} is no whole number from 0 to 2³¹ − 1, as ids are int32")
    unknown = getattr(tokenizer, "unk_id", None)
    special = getattr(tokenizer, "special_ids", ())
    for what, ids in (("unk_id", [] if unknown is None else [unknown]), ("special_ids", special)):
        for each in ids:
            if isinstance(each, bool) or not isinstance(each, Integral):
                raise TokenizerError(f"{what}: {each!r} is no id, which is a whole number")


def special_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """The ids of special tokens; empty where the tokenizer names none."""
    return frozenset(getattr(tokenizer, "special_ids", ()))


def unk_id(tokenizer: Tokenizer) -> int | None:
    """The id of the unknown token, or None."""
    value = getattr(tokenizer, "unk_id", None)
    return None if value is None else int(value)
