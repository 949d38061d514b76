"""Tokenizers that are right but for one thing each."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.tokbench.testing.right_tokenizer import Right
from tokbench.batch import TokenBatch
from tokbench.capabilities import Step


class NoDecode:
    name = "no decode"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        return list(text.encode())


WRONG: list[tuple[type, str]] = [(NoDecode, "protocol")]
"""Every wrong tokenizer, with the check that must fail it."""


class Wrong(Right):
    def __init_subclass__(cls, fails: str) -> None:
        WRONG.append((cls, fails))


def wrong(name: str, fails: str, **parts: Any) -> type:
    """One whose attributes and methods are the right one's but for these."""
    made = type(name, (Right,), parts)
    WRONG.append((made, fails))
    return made


wrong("VocabSizeText", "protocol", vocab_size="256")
wrong("UnknownOutside", "protocol", unk_id=257)
wrong("LosslessText", "protocol", lossless="no")
wrong("FactsListed", "facts", facts=lambda self: [("algorithm", "bytes")])
wrong("FactsNotJson", "facts", facts=lambda self: {"special_tokens": {1, 2}})
wrong("ReturnsStrings", "encodes", encode=lambda self, text: list(text))
wrong("IdsBeyondVocabulary", "vocab_size", vocab_size=200, special_ids=frozenset())
wrong("Random", "deterministic", encode=lambda self, text: [random.randrange(256) for _ in text.encode()])
wrong("SamplesAnotherText", "sample", sample=lambda self, text, rng, alpha: [97, 98])
wrong("DecodeRaises", "decodes", lossless=False, decode=lambda self, ids: bytes(ids).decode("ascii"))
wrong("DecodeReturnsBytes", "decodes", lossless=False, decode=lambda self, ids: bytes(ids))
Lowercases = wrong("Lowercases", "lossless", encode=lambda self, text: list(text.lower().encode()))
wrong("BatchOfLists", "batch", encode_batch=lambda self, texts: [self.encode(text) for text in texts])
wrong("OffsetsOfLists", "offsets", offsets=lambda self, text: Right.offsets(self, text).tolist())
wrong("AddsBos", "content_only", lossless=False, encode=lambda self, text: [256, *Right.encode(self, text)])
wrong("WrongTokenBytes", "token_bytes", token_bytes=lambda self, token_id: b"?")
wrong("TraceShort", "trace", trace=lambda self, text: [Step("bytes", (text.encode(),))])
SpecialsOutside = wrong("SpecialsOutside", "special_ids", special_ids=frozenset({9999}))


class ReadsOn(Wrong, fails="encode_utf8"):
    """Takes the bytes up to the end for each document."""

    def encode_utf8(self, data: Any, offsets: Any) -> TokenBatch:
        return super().encode_utf8(data, np.append(offsets[:-1], len(data) - 1))


class FactsRaise(Wrong, fails="facts"):
    def facts(self) -> dict[str, Any]:
        raise KeyError("no facts")


class RaisesOnNul(Wrong, fails="encodes"):
    def encode(self, text: str) -> Any:
        if "\x00" in text:
            raise KeyError("\x00")
        return super().encode(text)


class SamplesFractions(Wrong, fails="sample"):
    lossless = False

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> Any:
        return [token + 0.5 for token in self.encode(text)]


class KeepsCount(Wrong, fails="deterministic"):
    """Has a token more at every seventh call: hypothesis sees a text fail, then pass, and gives up."""

    calls = 0

    def encode(self, text: str) -> Any:
        self.calls += 1
        return [*text.encode(), *([0] if self.calls % 7 == 0 else [])]


class BatchDiffers(Wrong, fails="batch"):
    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        return TokenBatch.of(self.encode(text.strip()) for text in texts)


class BatchInt64(Wrong, fails="batch"):
    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        batch = super().encode_batch(texts)
        return TokenBatch(batch.ids.astype(np.int64), batch.offsets)


class StripsInBatches(Wrong, fails="decode_batch"):
    def decode_batch(self, batch: TokenBatch) -> list[str]:
        return [self.decode(ids).strip() for ids in batch.to_lists()]


class DropsEmptyDocuments(Wrong, fails="decode_batch"):
    """Leaves out documents without tokens."""

    def decode_batch(self, batch: TokenBatch) -> list[str]:
        return [self.decode(ids) for ids in batch.to_lists() if ids]


class TidiesUp(Wrong, fails="decode_joins_bytes"):
    """Its decode is more than the joined bytes."""

    lossless = False

    def decode(self, ids: Sequence[int]) -> str:
        return super().decode(ids).replace(" ,", ",").capitalize()


class ParsesSpecials(Wrong, fails="special_text"):
    lossless = False

    def encode(self, text: str) -> Any:
        return [256] if text == "<s>" else super().encode(text)


class OffsetsOfTheBatch(Wrong, fails="offsets_batch"):
    """Counts the characters of the texts before as well."""

    def offsets_batch(self, texts: Sequence[str]) -> Any:
        spans = self.offsets("".join(texts))
        return spans, np.append(0, np.cumsum([len(self.encode(text)) for text in texts]))


class SkipsTheFirst(Wrong, fails="token_bytes_batch"):
    """Tells the bytes of many tokens, each those of the one before."""

    def token_bytes_batch(self, ids: Sequence[int]) -> Any:
        return [b"", *map(self.token_bytes, ids[:-1])]


class ForgetsLetters(Wrong, fails="encode_with_offsets"):
    """Encodes with offsets, and gives no ids for a single letter."""

    def encode_with_offsets(self, texts: Sequence[str]) -> Any:
        tokens = TokenBatch.of([self.encode(text) if len(text) != 1 else [] for text in texts])
        return tokens, np.concatenate([self.offsets(text) for text in texts])


class OffsetsOfNothing(Wrong, fails="encode_with_offsets"):
    """Encodes with offsets, and has every token at the beginning."""

    def encode_with_offsets(self, texts: Sequence[str]) -> Any:
        tokens = TokenBatch.of([self.encode(text) for text in texts])
        return tokens, np.zeros((len(tokens.ids), 2), np.int64)


class KeepsItsSpace(Wrong, fails="decode_drops_space"):
    """Says that decoding drops the space it puts before the text, and it does not."""

    lossless = decode_joins_bytes = False
    decode_drops_space = True
    offsets = None

    def encode(self, text: str) -> Any:
        return list(b" " + text.encode())


class SpellsAnother(Wrong, fails="token_bytes"):
    """Its bytes are not what it decodes to; that it loses text does not excuse it."""

    lossless = False
    decode_joins_bytes = False

    def decode(self, ids: Sequence[int]) -> str:
        return super().decode(ids).replace(" ", "▁")


class CountsFromTheEnd(Wrong, fails="unknown_ids"):
    """Takes negative ids for places in a list."""

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(range(256)[token] for token in ids).decode("utf-8", "replace")


class ForgetsWhenCopied(Wrong, fails="copies"):
    """Holds something that a copy does not take along."""

    shift = 0

    def __setstate__(self, state: Any) -> None:
        self.shift = 1

    def __getstate__(self) -> Any:
        return {"shift": self.shift}

    def encode(self, text: str) -> Any:
        return [byte + self.shift for byte in text.encode()]


class CrashesOnSurrogates(Wrong, fails="surrogates"):
    def encode(self, text: str) -> Any:
        if "\ud800" in text:
            raise RuntimeError("no surrogates")
        return super().encode(text)


class OffsetsOfTheTokenBefore(Wrong, fails="offsets"):
    def offsets(self, text: str) -> Any:
        spans = super().offsets(text)
        return np.concatenate([spans[:1], spans[:-1]])


class ByteOffsets(Wrong, fails="offsets"):
    def offsets(self, text: str) -> Any:
        count = len(text.encode())
        return np.stack([np.arange(count), np.arange(1, count + 1)], axis=1)


class SampleOwnSeed(Wrong, fails="sample"):
    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> Sequence[int]:
        return [random.randrange(256) for _ in range(len(text))]


class LastTokenForMinusOne(Wrong, fails="every_id"):
    """As a Python list answers to -1."""

    def token_bytes(self, token_id: int) -> bytes:
        return [*(bytes([byte]) for byte in range(256)), b"<end>"][token_id]


class SharedState(Wrong, fails="threads"):
    """Fills a buffer of its own that calls in other threads overwrite."""

    buffer: list[int] = []  # noqa: RUF012

    def encode(self, text: str) -> Any:
        self.buffer.clear()
        for byte in text.encode():
            self.buffer.append(byte)
            if byte == 32:
                time.sleep(0)
        return list(self.buffer)


class Prints(Wrong, fails="silent"):
    def encode(self, text: str) -> Any:
        print("encoding")
        return super().encode(text)


class MovesAway(Wrong, fails="silent"):
    def decode(self, ids: Sequence[int]) -> str:
        os.chdir("/")
        return super().decode(ids)


class Leaks(Wrong, fails="memory"):
    def __init__(self) -> None:
        self.kept: list[bytes] = []

    def encode(self, text: str) -> Any:
        self.kept.append(bytes(1 << 16) + os.urandom(1 << 15))
        return super().encode(text)


class Quadratic(Wrong, fails="speed"):
    def encode(self, text: str) -> Any:
        return _quadratic(text.encode())


def _quadratic(data: bytes) -> list[int]:
    rest, ids = data, []
    while rest:
        sum(rest[::16])  # as much to do as is left, on the quickest machine too
        ids.append(rest[0])
        rest = rest[1:]
    return ids


class Forgets(Wrong, fails="empty"):
    """Gives the empty text a token."""

    lossless = False

    def encode(self, text: str) -> Any:
        return super().encode(text) or [32]
