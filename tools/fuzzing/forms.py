"""One tokenizer asked in many ways: whatever the form of the question, the answer is the same."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from tokbench import TokenBatch, TokenizerError
from tokbench.tokenizer import decode_batch

_SURROGATES = ("\ud800", "\udfff", "\udc80\ud800", "\ud83d\ude00")
_MANY = 1500  # ids that lists are decoded in another way from
Compare = Callable[[str, str, object, object], bool]


def compare_forms(compare: Compare, ours: Any, known: dict[str, list[int]], rng: random.Random) -> None:
    """Batches and single texts, with spans and without, lists and arrays, surrogates and what they are."""
    _compare_empty(compare, ours)
    _compare_spans(compare, ours, known)
    _compare_decoded(compare, ours, known, rng)
    for text in list(known)[:10]:
        _compare_surrogates(compare, ours, text, rng)


def ids_of(ours: Any, text: str) -> list[int] | str:
    """The ids as a list, or that the tokenizer refuses the text, or how it failed."""
    try:
        return [int(index) for index in ours.encode(text)]
    except TokenizerError:
        return "refused"
    except Exception:
        return traceback.format_exc()


def _lists(batch: TokenBatch) -> list[list[int]]:
    return [list(map(int, ids)) for ids in batch]


def _compare_empty(compare: Compare, ours: Any) -> None:
    empty = list(map(int, ours.encode("")))
    for texts in ([], [""], ["", ""]):
        compare("batches of nothing", repr(texts), [empty] * len(texts), _lists(ours.encode_batch(texts)))
        spans, limits = ours.offsets_batch(texts)
        expected = ((len(empty) * len(texts), 2), [len(empty) * n for n in range(len(texts) + 1)])
        compare("spans of nothing", repr(texts), expected, (spans.shape, limits.tolist()))
    compare("decoded nothing", "", ([], ""), (decode_batch(ours, ours.encode_batch([])), ours.decode([])))


def _compare_spans(compare: Compare, ours: Any, known: dict[str, list[int]]) -> None:
    texts = list(known)
    spans, limits = ours.offsets_batch(texts)
    for text, start, end in zip(texts, limits[:-1], limits[1:], strict=True):
        compare("spans in a batch", text, ours.offsets(text).tolist(), spans[start:end].tolist())
    if hasattr(ours, "encode_with_offsets"):
        batch, together = ours.encode_with_offsets(texts)
        for text, ids in zip(texts, _lists(batch), strict=True):
            compare("ids with spans", text, known[text], ids)
        compare("spans with ids", "of all texts", spans.tolist(), together.tolist())


def _compare_decoded(compare: Compare, ours: Any, known: dict[str, list[int]], rng: random.Random) -> None:
    many = [rng.randrange(ours.vocab_size) for _ in range(_MANY if ours.vocab_size else 0)]
    documents = [*known.values(), many, many[:1], many[:2]]
    decoded = decode_batch(ours, TokenBatch.of(documents))
    for ids, expected in zip(documents, decoded, strict=True):
        for form in (list(ids), tuple(ids), np.array(ids, np.int32), np.array(ids, np.int64)):
            compare(f"decoded {type(form).__name__}", f"ids {ids[:20]}", expected, ours.decode(form))


def _compare_surrogates(compare: Compare, ours: Any, text: str, rng: random.Random) -> None:
    at = rng.randrange(len(text) + 1)
    broken = text[:at] + rng.choice(_SURROGATES) + text[at:]
    whole = broken.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    expected = ids_of(ours, whole)
    if compare("ids of surrogates", broken, expected, ids_of(ours, broken)) and expected != "refused":
        compare("ids of surrogates in a batch", broken, expected, _lists(ours.encode_batch(["", broken]))[1])
        if len(whole) == len(broken):
            spans = ours.offsets(whole).tolist(), ours.offsets(broken).tolist()
            compare("spans of surrogates", broken, *spans)
