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


class ReadsOn(Right):
    """Takes the bytes up to the end for each document."""

    def encode_utf8(self, data: Any, offsets: Any) -> TokenBatch:
        return super().encode_utf8(data, np.append(offsets[:-1], len(data) - 1))


class NoDecode:
    name = "no decode"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        return list(text.encode())


class VocabSizeText(Right):
    vocab_size = "256"


class UnknownOutside(Right):
    unk_id = 257


class LosslessText(Right):
    lossless = "no"


class FactsRaise(Right):
    def facts(self) -> dict[str, Any]:
        raise KeyError("no facts")


class FactsListed(Right):
    def facts(self) -> Any:
        return [("algorithm", "bytes")]


class FactsNotJson(Right):
    def facts(self) -> dict[str, Any]:
        return {"special_tokens": {1, 2}}


class ReturnsStrings(Right):
    def encode(self, text: str) -> Any:
        return list(text)


class RaisesOnNul(Right):
    def encode(self, text: str) -> Any:
        if "\x00" in text:
            raise KeyError("\x00")
        return super().encode(text)


class IdsBeyondVocabulary(Right):
    vocab_size = 200
    special_ids = frozenset()


class Random(Right):
    def encode(self, text: str) -> Any:
        return [random.randrange(256) for _ in text.encode()]


class SamplesAnotherText(Right):
    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> Sequence[int]:
        return [97, 98]


class SamplesFractions(Right):
    lossless = False

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> Any:
        return [token + 0.5 for token in self.encode(text)]


class KeepsCount(Right):
    """Has a token more at every seventh call: hypothesis sees a text fail, then pass, and gives up."""

    calls = 0

    def encode(self, text: str) -> Any:
        self.calls += 1
        return [*text.encode(), *([0] if self.calls % 7 == 0 else [])]


class DecodeRaises(Right):
    lossless = False

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("ascii")


class DecodeReturnsBytes(Right):
    lossless = False

    def decode(self, ids: Sequence[int]) -> Any:
        return bytes(ids)


class Lowercases(Right):
    def encode(self, text: str) -> Any:
        return list(text.lower().encode())


class BatchDiffers(Right):
    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        return TokenBatch.of(self.encode(text.strip()) for text in texts)


class BatchOfLists(Right):
    def encode_batch(self, texts: Sequence[str]) -> Any:
        return [self.encode(text) for text in texts]


class OffsetsOfLists(Right):
    def offsets(self, text: str) -> Any:
        return super().offsets(text).tolist()


class BatchInt64(Right):
    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        batch = super().encode_batch(texts)
        return TokenBatch(batch.ids.astype(np.int64), batch.offsets)


class StripsInBatches(Right):
    def decode_batch(self, batch: TokenBatch) -> list[str]:
        return [self.decode(ids).strip() for ids in batch.to_lists()]


class DropsEmptyDocuments(Right):
    """Leaves out documents without tokens."""

    def decode_batch(self, batch: TokenBatch) -> list[str]:
        return [self.decode(ids) for ids in batch.to_lists() if ids]


class TidiesUp(Right):
    """Its decode is more than the joined bytes."""

    lossless = False

    def decode(self, ids: Sequence[int]) -> str:
        return super().decode(ids).replace(" ,", ",").capitalize()


class AddsBos(Right):
    lossless = False

    def encode(self, text: str) -> Any:
        return [256, *super().encode(text)]


class ParsesSpecials(Right):
    lossless = False

    def encode(self, text: str) -> Any:
        return [256] if text == "<s>" else super().encode(text)


class WrongTokenBytes(Right):
    def token_bytes(self, token_id: int) -> bytes:
        return b"?"


class OffsetsOfTheBatch(Right):
    """Counts the characters of the texts before as well."""

    def offsets_batch(self, texts: Sequence[str]) -> Any:
        spans = self.offsets("".join(texts))
        return spans, np.append(0, np.cumsum([len(self.encode(text)) for text in texts]))


class SkipsTheFirst(Right):
    """Tells the bytes of many tokens, each those of the one before."""

    def token_bytes_batch(self, ids: Sequence[int]) -> Any:
        return [b"", *map(self.token_bytes, ids[:-1])]


class ForgetsLetters(Right):
    """Encodes with offsets, and gives no ids for a single letter."""

    def encode_with_offsets(self, texts: Sequence[str]) -> Any:
        tokens = TokenBatch.of([self.encode(text) if len(text) != 1 else [] for text in texts])
        return tokens, np.concatenate([self.offsets(text) for text in texts])


class OffsetsOfNothing(Right):
    """Encodes with offsets, and has every token at the beginning."""

    def encode_with_offsets(self, texts: Sequence[str]) -> Any:
        tokens = TokenBatch.of([self.encode(text) for text in texts])
        return tokens, np.zeros((len(tokens.ids), 2), np.int64)


class KeepsItsSpace(Right):
    """Says that decoding drops the space it puts before the text, and it does not."""

    lossless = decode_joins_bytes = False
    decode_drops_space = True
    offsets = None

    def encode(self, text: str) -> Any:
        return list(b" " + text.encode())


class SpellsAnother(Right):
    """Its bytes are not what it decodes to; that it loses text does not excuse it."""

    lossless = False
    decode_joins_bytes = False

    def decode(self, ids: Sequence[int]) -> str:
        return super().decode(ids).replace(" ", "▁")


class CountsFromTheEnd(Right):
    """Takes negative ids for places in a list."""

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(range(256)[token] for token in ids).decode("utf-8", "replace")


class ForgetsWhenCopied(Right):
    """Holds something that a copy does not take along."""

    shift = 0

    def __setstate__(self, state: Any) -> None:
        self.shift = 1

    def __getstate__(self) -> Any:
        return {"shift": self.shift}

    def encode(self, text: str) -> Any:
        return [byte + self.shift for byte in text.encode()]


class CrashesOnSurrogates(Right):
    def encode(self, text: str) -> Any:
        if "\ud800" in text:
            raise RuntimeError("no surrogates")
        return super().encode(text)


class OffsetsOfTheTokenBefore(Right):
    def offsets(self, text: str) -> Any:
        spans = super().offsets(text)
        return np.concatenate([spans[:1], spans[:-1]])


class ByteOffsets(Right):
    def offsets(self, text: str) -> Any:
        count = len(text.encode())
        return np.stack([np.arange(count), np.arange(1, count + 1)], axis=1)


class SampleOwnSeed(Right):
    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> Sequence[int]:
        return [random.randrange(256) for _ in range(len(text))]


class TraceShort(Right):
    def trace(self, text: str) -> list[Step]:
        return [Step("bytes", (text.encode(),))]


class LastTokenForMinusOne(Right):
    """As a Python list answers to -1."""

    def token_bytes(self, token_id: int) -> bytes:
        return [*(bytes([byte]) for byte in range(256)), b"<end>"][token_id]


class SpecialsOutside(Right):
    special_ids = frozenset({9999})


class SharedState(Right):
    """Fills a buffer of its own that calls in other threads overwrite."""

    buffer: list[int] = []  # noqa: RUF012

    def encode(self, text: str) -> Any:
        self.buffer.clear()
        for byte in text.encode():
            self.buffer.append(byte)
            if byte == 32:
                time.sleep(0)
        return list(self.buffer)


class Prints(Right):
    def encode(self, text: str) -> Any:
        print("encoding")
        return super().encode(text)


class MovesAway(Right):
    def decode(self, ids: Sequence[int]) -> str:
        os.chdir("/")
        return super().decode(ids)


class Leaks(Right):
    def __init__(self) -> None:
        self.kept: list[bytes] = []

    def encode(self, text: str) -> Any:
        self.kept.append(bytes(1 << 16) + os.urandom(1 << 15))
        return super().encode(text)


class Quadratic(Right):
    def encode(self, text: str) -> Any:
        return _quadratic(text.encode())


def _quadratic(data: bytes) -> list[int]:
    rest, ids = data, []
    while rest:
        sum(rest[::16])  # as much to do as is left, on the quickest machine too
        ids.append(rest[0])
        rest = rest[1:]
    return ids


class Forgets(Right):
    """Gives the empty text a token."""

    lossless = False

    def encode(self, text: str) -> Any:
        return super().encode(text) or [32]


WRONG: list[tuple[type, str]] = [
    (NoDecode, "protocol"),
    (VocabSizeText, "protocol"),
    (UnknownOutside, "protocol"),
    (LosslessText, "protocol"),
    (FactsRaise, "facts"),
    (FactsListed, "facts"),
    (FactsNotJson, "facts"),
    (ReturnsStrings, "encodes"),
    (RaisesOnNul, "encodes"),
    (IdsBeyondVocabulary, "vocab_size"),
    (Random, "deterministic"),
    (SamplesFractions, "sample"),
    (KeepsCount, "deterministic"),
    (DecodeRaises, "decodes"),
    (DecodeReturnsBytes, "decodes"),
    (Lowercases, "lossless"),
    (BatchDiffers, "batch"),
    (BatchOfLists, "batch"),
    (OffsetsOfLists, "offsets"),
    (BatchInt64, "batch"),
    (ReadsOn, "encode_utf8"),
    (StripsInBatches, "decode_batch"),
    (DropsEmptyDocuments, "decode_batch"),
    (TidiesUp, "decode_joins_bytes"),
    (KeepsItsSpace, "decode_drops_space"),
    (AddsBos, "content_only"),
    (ParsesSpecials, "special_text"),
    (WrongTokenBytes, "token_bytes"),
    (SpellsAnother, "token_bytes"),
    (SkipsTheFirst, "token_bytes_batch"),
    (ByteOffsets, "offsets"),
    (OffsetsOfTheTokenBefore, "offsets"),
    (OffsetsOfTheBatch, "offsets_batch"),
    (ForgetsLetters, "encode_with_offsets"),
    (OffsetsOfNothing, "encode_with_offsets"),
    (CrashesOnSurrogates, "surrogates"),
    (CountsFromTheEnd, "unknown_ids"),
    (ForgetsWhenCopied, "copies"),
    (SampleOwnSeed, "sample"),
    (SamplesAnotherText, "sample"),
    (TraceShort, "trace"),
    (SpecialsOutside, "special_ids"),
    (LastTokenForMinusOne, "every_id"),
    (SharedState, "threads"),
    (Prints, "silent"),
    (MovesAway, "silent"),
    (Leaks, "memory"),
    (Quadratic, "speed"),
    (Forgets, "empty"),
]
