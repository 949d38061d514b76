"""Checks of a tokenizer's optional methods (batches, offsets, token bytes …), where it has them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np

from tokbench.batch import TokenBatch
from tokbench.capabilities import (
    BatchDecoder,
    BatchEncoder,
    BatchOffsetEncoder,
    BatchTokenByter,
    EncoderWithOffsets,
    OffsetEncoder,
    Sampler,
    TokenByter,
    Traceable,
    Utf8Encoder,
)
from tokbench.testing.check import ConformanceCheck, Problem, ids_of
from tokbench.tokenizer import Tokenizer, special_ids, whole_text
from tokbench.wording import counted


@ConformanceCheck.of(
    "batch", "encode_batch must give, in a TokenBatch (TokenBatch.of makes one), what encode gives for each."
)
def _batch_is_single(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, BatchEncoder):
        return None
    batch = tokenizer.encode_batch([text, "", text, "a"])
    if not isinstance(batch, TokenBatch):
        return f"encode_batch returned {type(batch).__name__}, not TokenBatch"
    if batch.ids.dtype != "int32" or batch.offsets.dtype != "int64":
        return f"the batch has dtypes {batch.ids.dtype} and {batch.offsets.dtype}, not int32 and int64"
    if len(batch) != 4 or batch.offsets[0] != 0 or batch.offsets[-1] != len(batch.ids):
        return f"offsets {batch.offsets.tolist()[:6]} do not cut {len(batch.ids)} ids into 4 documents"
    single = [ids_of(tokenizer, part) for part in (text, "", text, "a")]
    return _apart(batch.to_lists(), single, "in a batch {}, alone {}")


@ConformanceCheck.of("encode_utf8", "encode_utf8 must give what encode gives for each document.")
def _utf8_is_text(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, Utf8Encoder):
        return None
    parts = [part.encode("utf-8", "ignore") for part in (text, "", text, "a")]  # lone surrogates are no UTF-8
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    data = np.frombuffer(b"".join([*parts, bytes(64)]), np.uint8)[: offsets[-1]]
    together = tokenizer.encode_utf8(data, offsets).to_lists()
    single = [ids_of(tokenizer, part.decode()) for part in parts]
    return _apart(together, single, "from bytes {}, from the text {}")


@ConformanceCheck.of("decode_batch", "decode_batch must give what decode gives for each document.")
def _decode_batch_is_single(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, BatchDecoder):
        return None
    documents = [ids_of(tokenizer, part) for part in (text, "", text, "a")]
    together = tokenizer.decode_batch(TokenBatch.of(documents))
    single = [tokenizer.decode(ids) for ids in documents]
    if len(together) != len(single):
        return f"decode_batch returned {len(together)} texts for {len(single)} documents"
    wrong = [pair for pair in zip(together, single, strict=True) if pair[0] != pair[1]]
    return f"in a batch {wrong[0][0][:60]!r}, alone {wrong[0][1][:60]!r}" if wrong else None


@ConformanceCheck.of(
    "decode_joins_bytes",
    "decode must be the UTF-8 text of token_bytes joined, or leave `decode_joins_bytes` out.",
)
def _decode_joins(tokenizer: Tokenizer, text: str) -> Problem:
    if not getattr(tokenizer, "decode_joins_bytes", False):
        return None
    if not isinstance(tokenizer, TokenByter):
        return "declared, but there is no token_bytes"
    ids = [token for token in ids_of(tokenizer, text) if token not in special_ids(tokenizer)]
    joined = b"".join(map(tokenizer.token_bytes, ids)).decode("utf-8", "replace")
    decoded = tokenizer.decode(ids)
    said = f"the bytes of the tokens make {joined[:60]!r}, decode {decoded[:60]!r}"
    return said if joined != decoded else None


@ConformanceCheck.of(
    "decode_drops_space",
    "decode must be the text of token_bytes joined, without its first space, or leave the attribute out.",
)
def _decode_drops(tokenizer: Tokenizer, text: str) -> Problem:
    if not getattr(tokenizer, "decode_drops_space", False):
        return None
    if not isinstance(tokenizer, TokenByter):
        return "declared, but there is no token_bytes"
    ids = ids_of(tokenizer, text)
    joined = b"".join(map(tokenizer.token_bytes, ids))
    if special_ids(tokenizer) & set(ids) or joined[:1] != b" " or joined[1:2] == b" ":
        return None
    rest, decoded = whole_text(joined[1:]), tokenizer.decode(ids)
    if rest is None or rest == decoded:
        return None
    return f"after a space the tokens make {rest[:60]!r}, decode {decoded[:60]!r}"


@ConformanceCheck.of(
    "token_bytes",
    "token_bytes must give the token's own bytes; joined they are what decode gives, spaces apart.",
)
def _bytes_of_tokens(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, TokenByter):
        return None
    ids = ids_of(tokenizer, text)
    parts = [tokenizer.token_bytes(token) for token in ids]
    if not all(isinstance(part, bytes) for part in parts):
        return "token_bytes returned something that is not bytes"
    joined = b"".join(parts)
    if getattr(tokenizer, "lossless", False):
        return f"the bytes of the tokens make {joined[:60]!r}" if joined != text.encode("utf-8") else None
    if special_ids(tokenizer) & set(ids):  # they have no bytes, and are decoded to something none the less
        return None
    spelled, decoded = joined.decode("utf-8", "replace"), tokenizer.decode(ids)
    if "".join(spelled.split()) == "".join(decoded.split()):  # what spaces become is the decoder's own affair
        return None
    return f"the bytes of the tokens make {spelled[:60]!r}, decode {decoded[:60]!r}"


@ConformanceCheck.of("token_bytes_batch", "token_bytes_batch must give what token_bytes gives for each id.")
def _token_bytes_batch_is_single(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, BatchTokenByter):
        return None
    if not isinstance(tokenizer, TokenByter):
        return "there is token_bytes_batch, and no token_bytes"
    edges = [*range(min(4, tokenizer.vocab_size)), tokenizer.vocab_size - 1, *sorted(special_ids(tokenizer))]
    ids = [*ids_of(tokenizer, text), *edges]
    together, single = [*tokenizer.token_bytes_batch(ids)], [*map(tokenizer.token_bytes, ids)]
    if len(together) != len(ids):
        return f"token_bytes_batch returned {len(together)} tokens' bytes for {len(ids)} ids"
    wrong = [each for each in zip(ids, together, single, strict=True) if each[1] != each[2]]
    return f"the token {wrong[0][0]} is {wrong[0][1]!r} among others, {wrong[0][2]!r} alone" if wrong else None


@ConformanceCheck.of("offsets", "offsets are (start, end) in code points of the text, one row a token.")
def _offsets(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, OffsetEncoder):
        return None
    spans, ids = tokenizer.offsets(text), ids_of(tokenizer, text)
    if getattr(spans, "dtype", None) != "int64":
        return f"offsets returned {type(spans).__name__}, not an array of int64"
    if spans.shape != (len(ids), 2):
        return f"offsets has shape {spans.shape} for {len(ids)} tokens"
    if len(spans) and (spans.min() < 0 or spans.max() > len(text) or (spans[:, 0] > spans[:, 1]).any()):
        return f"offsets {spans.tolist()[:4]} do not lie within 0 … {len(text)}"
    if len(spans) and (spans[1:, 0] < spans[:-1, 0]).any():
        return f"offsets go backwards: {spans.tolist()[:8]}"
    return _elsewhere(tokenizer, text, ids, spans.tolist())


@ConformanceCheck.of("offsets_batch", "offsets_batch must give what offsets gives for each text.")
def _offsets_batch_is_single(tokenizer: Tokenizer, text: str) -> Problem:
    if not (isinstance(tokenizer, BatchOffsetEncoder) and isinstance(tokenizer, OffsetEncoder)):
        return None
    texts = [text, "", text, "a"]
    spans, limits = tokenizer.offsets_batch(texts)
    single = [tokenizer.offsets(part).tolist() for part in texts]
    together = [spans[a:b].tolist() for a, b in pairwise(limits.tolist())]
    return _apart(together, single, "in a batch {}, alone {}")


@ConformanceCheck.of("encode_with_offsets", "encode_with_offsets must give what encode and offsets give.")
def _both_are_each(tokenizer: Tokenizer, text: str) -> Problem:
    if not (isinstance(tokenizer, EncoderWithOffsets) and isinstance(tokenizer, OffsetEncoder)):
        return None
    texts = [text, "", text, "a"]
    tokens, spans = tokenizer.encode_with_offsets(texts)
    ids = [ids_of(tokenizer, part) for part in texts]
    if problem := _apart(tokens.to_lists(), ids, "ids {}, those of encode {}"):
        return problem
    if len(spans) != len(tokens.ids):
        return f"{counted(len(spans), 'span')} for {counted(len(tokens.ids), 'id')}"
    together = [spans[a:b].tolist() for a, b in pairwise(tokens.offsets.tolist())]
    return _apart(together, [tokenizer.offsets(part).tolist() for part in texts], "spans {}, of offsets {}")


def _apart(together: Sequence[list[Any]], single: Sequence[list[Any]], told: str) -> Problem:
    """Where a batch gives other things than its texts alone: both, at the first text of which it does."""
    if len(together) != len(single):
        return f"{counted(len(together), 'document')} for {counted(len(single), 'text')}"
    wrong = [pair for pair in zip(together, single, strict=True) if pair[0] != pair[1]]
    return told.format(wrong[0][0][:8], wrong[0][1][:8]) if wrong else None


def _elsewhere(tokenizer: Tokenizer, text: str, ids: list[int], spans: list[list[int]]) -> Problem:
    """Whether a token of whole characters, in a text that comes back as it is, has another text's span."""
    if not (getattr(tokenizer, "lossless", False) and isinstance(tokenizer, TokenByter)):
        return None
    for token, (start, end) in zip(ids, spans, strict=True):
        own = whole_text(tokenizer.token_bytes(token))  # a part of a character has the span of all of it
        if own is not None and own != text[start:end]:
            return f"the token {own!r} is said to stand at {start}:{end}, which is {text[start:end]!r}"
    return None


@ConformanceCheck.of("sample", "draw segmentations of the text, by the generator that is handed in alone.")
def _sample(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, Sampler):
        return None
    one, two = (list(tokenizer.sample(text, np.random.default_rng(7), 0.1)) for _ in range(2))
    if not all(isinstance(token, Integral) for token in one):
        return f"sample gave {one[:5]}; ids are whole numbers"
    if [int(token) for token in one] != [int(token) for token in two]:
        return "the same seed gave two segmentations"
    wrong = [token for token in one if not 0 <= token < tokenizer.vocab_size]
    if wrong:
        return f"sample gave ids {wrong[:5]} outside the vocabulary"
    if getattr(tokenizer, "lossless", False) and (decoded := tokenizer.decode(one)) != text:
        return f"declared lossless, but a segmentation that sample drew came back as {decoded[:60]!r}"
    return None


@ConformanceCheck.of("trace", "the last step's tokens must be those of encode.")
def _trace(tokenizer: Tokenizer, text: str) -> Problem:
    if not isinstance(tokenizer, Traceable) or not text:
        return None
    steps = list(tokenizer.trace(text))
    count = len(ids_of(tokenizer, text))
    if steps and len(steps[-1].tokens) != count:
        return f"trace ends with {counted(len(steps[-1].tokens), 'token')}, encode gives {count}"
    return None


CAPABILITIES = (
    *(_batch_is_single, _utf8_is_text, _decode_batch_is_single, _decode_joins, _decode_drops),
    *(_bytes_of_tokens, _token_bytes_batch_is_single, _offsets, _offsets_batch_is_single, _both_are_each),
    *(_sample, _trace),
)
