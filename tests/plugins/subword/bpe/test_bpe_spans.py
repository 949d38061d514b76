"""Spans of BPE tokens come from kernels, and are those of the general path."""

from __future__ import annotations

import json

import pytest
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.offsets import BpeOffsets
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.files.tokenizer_json import read_document
from tokenizers import Tokenizer, models

from tests.plugins.subword.bpe.makes import INPUTS, MAKES, TEXTS, theirs_and_its_file
from tokbench.kernels.utf8 import repaired


@pytest.mark.long
@pytest.mark.parametrize("make", MAKES, ids=str)
def test_spans_of_many_texts_are_those_of_the_general_path(make, tmp_path):
    _, path = theirs_and_its_file(make, tmp_path)
    ours = BpeTokenizer.from_file(path)
    general = BpeOffsets(ours.model, BpePreparation.of(read_document(path)), BpeEncoder(ours.model))
    spans, limits = ours.offsets_batch(INPUTS)
    assert limits.tolist() == ours.encode_batch(INPUTS).offsets.tolist()
    for index, text in enumerate(INPUTS):
        found = spans[limits[index] : limits[index + 1]].tolist()
        assert found == general.of(repaired(text)).tolist() == ours.offsets(text).tolist(), ascii(text)


def test_spans_of_long_text_do_not_take_the_quadratic_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a token may be of several sizes: whole words that are tokens as they are, suffix and all."""
    tokens = ["a", "b", "b</w>", "ab", "</w>", "<unk>", "aé", "aé</w>"]
    model = models.BPE(
        {token: index for index, token in enumerate(tokens)},
        [("a", "b")],
        unk_token="<unk>",
        end_of_word_suffix="</w>",
        ignore_merges=True,
    )
    theirs = Tokenizer(model)
    ours = BpeTokenizer.from_dict(json.loads(theirs.to_str()))

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the plain form is quadratic in the length of a pre-token")

    monkeypatch.setattr("tokbench_subword.bpe.plain.merges", never)
    for text in ("abxab" * 4000, "aé" * 2000, "ab</w>", "</w>"):
        assert [tuple(span) for span in ours.offsets(text).tolist()] == theirs.encode(text).offsets


@pytest.mark.parametrize("make", ["falcon", "clip"])
def test_spans_of_tokens_of_letters_take_kernels(make, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bytes are spelled as letters before the model, in the midst of cutting or behind it."""
    theirs, path = theirs_and_its_file(make, tmp_path)
    ours = BpeTokenizer.from_file(path)

    def never(*_: object) -> None:
        raise AssertionError("the plain form takes a hundred times as long")

    monkeypatch.setattr(BpeOffsets, "of", never)
    texts = [*TEXTS[:3], "", "the  THE, the"]
    spans, limits = ours.offsets_batch(texts)
    for text, start, end in zip(texts, limits[:-1], limits[1:], strict=True):
        expected = theirs.encode(text, add_special_tokens=False).offsets
        assert [tuple(span) for span in spans[start:end].tolist()] == expected, text
