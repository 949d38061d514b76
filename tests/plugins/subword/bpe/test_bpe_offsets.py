"""Spans by kernels, batch by batch, are those of the plain form, which is asked for few texts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.offsets import BpeOffsets
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokenizers import Tokenizer

LETTERS = "ab cx\u00e9"
ADDED = ("<m>", "  ", "<s>", "ax")


def added(*, normalized: bool, **flags: bool) -> list[dict[str, Any]]:
    off = dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), False)
    return [
        {**off, **flags, "id": 100 + index, "content": content, "normalized": normalized and content != "<s>"}
        for index, content in enumerate(ADDED)
    ]


def content(
    vocabulary: str, *, tokens: list[dict[str, Any]], steps: Any = None, **model: Any
) -> dict[str, Any]:
    """A small BPE of some letters, with "ab" and "abc" among its tokens."""
    vocab = {token: index for index, token in enumerate([*vocabulary, "ab", "abc", "<unk>"])}
    merges = [["a", "b"], ["ab", "c"]]
    whole = {"type": "BPE", "vocab": vocab, "merges": merges, **model}
    first = len(vocab) - 100
    return {
        "version": "1.0",
        "normalizer": {"type": "Replace", "pattern": {"String": "x"}, "content": "ab"},
        "pre_tokenizer": steps,
        "model": whole,
        "added_tokens": [{**token, "id": token["id"] + first} for token in tokens],
    }


DROPS = {"type": "WhitespaceSplit"}
SHAPES = {
    "added tokens": content("abc \u00e9", tokens=added(normalized=False)),
    "normalized added tokens": content("abc \u00e9", tokens=added(normalized=True)),
    "white space beside added tokens": content(
        "abc \u00e9", tokens=added(normalized=True, lstrip=True, rstrip=True)
    ),
    "words that leave text out": content("abc\u00e9<m>s", tokens=[], steps=DROPS),
    "both": content("abc\u00e9", tokens=added(normalized=True, lstrip=True), steps=DROPS),
    "unknown characters": content("abc", tokens=[], steps=DROPS, unk_token="<unk>"),
    "a run of them as one": content("abc", tokens=[], steps=DROPS, unk_token="<unk>", fuse_unk=True),
    "not cut": content("abc", tokens=[], unk_token="<unk>", fuse_unk=True),
    "dropped characters": content("abc", tokens=[], steps=DROPS),
    "words as they are written": content(
        "abc \u00e9", tokens=[], steps=DROPS, unk_token="<unk>", ignore_merges=True
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=20, deadline=None)
@given(texts=st.lists(st.lists(st.sampled_from([*LETTERS, *ADDED])).map("".join), max_size=6))
def test_they_are_those_of_the_plain_form_and_of_the_library(shape: str, texts: list[str]) -> None:
    ours = BpeTokenizer.from_dict(SHAPES[shape])
    spans, limits = ours.offsets_batch(texts)
    by_text = [spans[limits[k] : limits[k + 1]].tolist() for k in range(len(texts))]
    assert by_text == [ours._offsets.of(text).tolist() for text in texts]
    if "dropped" not in shape:  # there the library's spans are not those of its tokens
        theirs = Tokenizer.from_str(json.dumps(SHAPES[shape])).encode_batch(texts, add_special_tokens=False)
        assert by_text == [list(map(list, one.offsets)) for one in theirs]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_text_of_letters_is_left_to_the_plain_form(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one, texts take ten to a hundred times as long."""
    ours = BpeTokenizer.from_dict(SHAPES[shape])
    text = "".join(np.random.default_rng(0).choice([*LETTERS, *ADDED], 200))
    expected = ours._offsets.of(text).tolist()
    monkeypatch.setattr(BpeOffsets, "of", None)
    assert ours.offsets(text).tolist() == expected
