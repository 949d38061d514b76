"""Offsets by kernel are those of the plain path, whatever stands in front of the model."""

from __future__ import annotations

import functools
import itertools
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokbench_subword.files.sentencepiece_model import (
    USER_DEFINED,
    NormalizerSpec,
    Piece,
    SpmModel,
    TrainerSpec,
    serialize,
)
from tokbench_subword.sentencepiece.algorithms import spans_of_path
from tokbench_subword.sentencepiece.rules import charsmap_of
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.unigram.path_tokens import byte_piece

from ..strings import hard_strings
from ..word_rules import CHAINS, HARD, config, texts
from .conftest import BPE_MODELS, UNIGRAM_MODELS, corpus_files, json_pair, lines_of
from .small_models import BYTES, SMALL, Pair, small

EDGES = ["", " ", "a ", " a", "  ", "\ud800x", "a\u0301\u0323 \u00e9\u0323", "``x'' ''' ````", "\x00"]
EDGES += ["<unk>", "a<unk>日", "e 日<unk>a <unk>", "<0x41>日 <0x41> \n"]


def check_model(tokenizer: SpmTokenizer, lines: list[str]) -> None:
    def plain(line: str) -> Any:
        return spans_of_path(tokenizer.vocabulary, tokenizer.algorithm, line)

    _check(tokenizer, lines, plain)


def check_json(tokenizer: JsonUnigramTokenizer, lines: list[str]) -> None:
    _check(tokenizer, lines, tokenizer._plain_offsets)


def _check(
    tokenizer: SpmTokenizer | JsonUnigramTokenizer, lines: list[str], plain: Callable[[str], Any]
) -> None:
    """The ids are those of `encode_batch`, and the spans of each line those of the plain form."""
    tokens, spans = tokenizer.encode_with_offsets(lines)
    together = tokenizer.encode_batch(lines)
    assert np.array_equal(tokens.ids, together.ids)
    assert np.array_equal(tokens.offsets, together.offsets)
    for index, line in enumerate(lines):
        mine = spans[tokens.offsets[index] : tokens.offsets[index + 1]]
        assert np.array_equal(mine, plain(line)), line


@functools.cache
def tokenizer_of(chain: str, *, byte_fallback: bool) -> JsonUnigramTokenizer:
    """A few letters and marks behind the rules of a chain; all else is unknown, or bytes."""
    normalizer, pre_tokenizer = CHAINS[chain]
    vocab: list[list[Any]] = [["<unk>", 0.0], ["▁", -2.0], ["a", -1.0], ["e", -1.5], ["▁a", -2.5], ["ae", -2.0]]
    vocab += [["▁▁", -3.5], ["e\u0301", -3.0], ["fi", -2.0]]
    if byte_fallback:
        vocab += [[byte_piece(byte), -9.0] for byte in range(256)]
    return JsonUnigramTokenizer.from_dict(
        {
            "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": byte_fallback},
            "normalizer": config(normalizer),
            "pre_tokenizer": config(pre_tokenizer),
        }
    )


@pytest.mark.long
@pytest.mark.parametrize("model", [*UNIGRAM_MODELS, *BPE_MODELS])
def test_spans_of_a_model_are_those_of_its_path(model: str, pair: Pair, test_data: Path) -> None:
    ours, _ = pair(model)
    lines = EDGES + hard_strings(500)
    for file in corpus_files(test_data):
        lines += lines_of(file, 3_000)
    check_model(ours, [*lines, "\n".join(lines)])


@pytest.mark.long
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("suffix", [False, True])
@pytest.mark.parametrize("escapes", [False, True])
@pytest.mark.parametrize("fallback", [False, True])
def test_unknown_characters_and_rules_for_spaces(
    kind: str, suffix: bool, escapes: bool, fallback: bool
) -> None:
    trainer = TrainerSpec(model_type=kind, byte_fallback=fallback, treat_whitespace_as_suffix=suffix)
    pieces = (*SMALL.pieces, *(BYTES if fallback else ()))
    spaces = ["ab", " ab  ba ", "日本 a日", "▁x▁▁y", "日" * 40 + "a", "x" * 50 + " é"]
    for extra, dummy in itertools.product((False, True), repeat=2):
        spec = NormalizerSpec(
            add_dummy_prefix=dummy, remove_extra_whitespaces=extra, escape_whitespaces=escapes
        )
        check_model(SpmTokenizer("t", SpmModel(pieces, trainer, spec)), [*EDGES, *spaces])


@pytest.mark.parametrize("suffix", [False, True])
@pytest.mark.parametrize("rule", ["identity", "nmt_nfkc"])
def test_spans_are_those_of_sentencepiece(rule: str, suffix: bool) -> None:
    """Its own count bytes. Here much is dropped, replaced or put in, also at the ends of texts."""
    made = ["a", "b", " ", "  ", "\u3000", "▁", "e\u0301", "ﬁ", "½", "\x01", "\u00a8", "日", "x▁", "\n"]
    rng, pieces = random.Random(7), (*SMALL.pieces, Piece("x▁", 0.0, USER_DEFINED))
    lines = ["".join(rng.choices(made, k=rng.choice([0, 1, 2, 3, 4, 6, 10]))) for _ in range(500)]
    for extra, dummy in itertools.product((False, True), repeat=2):
        spec = NormalizerSpec(rule, charsmap_of(rule), add_dummy_prefix=dummy, remove_extra_whitespaces=extra)
        model = SpmModel(pieces, TrainerSpec(treat_whitespace_as_suffix=suffix), spec)
        library = sentencepiece.SentencePieceProcessor(model_proto=serialize(model))
        spans, limits = SpmTokenizer("t", model).offsets_batch(lines)
        for number, line in enumerate(lines):
            sizes = np.array([len(line[:count].encode()) for count in range(len(line) + 1)])
            theirs = library.encode(line, return_type="proto").pieces
            mine = sizes[spans[limits[number] : limits[number + 1]]].tolist()
            assert mine == [[piece.begin, piece.end] for piece in theirs], ascii(line)


def test_room_grows_as_it_must() -> None:
    tokenizer = small()
    check_model(tokenizer, ["ab" * 30_000, "日x" * 3_000, "", "a b " * 9_000])


@pytest.mark.long
@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("chain", CHAINS)
def test_hard_characters_side_by_side(chain: str, fallback: bool) -> None:
    tokenizer = tokenizer_of(chain, byte_fallback=fallback)
    check_json(tokenizer, ["".join(two) for two in itertools.product(HARD, repeat=2)])
    check_json(tokenizer, EDGES + hard_strings(60))


@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("chain", CHAINS)
@settings(max_examples=15)
@given(lines=st.lists(texts, max_size=8))
@example(lines=["\u00af\x08", "\u00af"])  # a first character that goes with the next
def test_any_text(chain: str, fallback: bool, lines: list[str]) -> None:
    check_json(tokenizer_of(chain, byte_fallback=fallback), lines)


@pytest.mark.long
@pytest.mark.parametrize("folder", ["t5-base", "albert-base-v1"])
def test_spans_equal_those_of_tokenizers(folder: str, test_data: Path) -> None:
    """But where several characters become one: there `tokenizers` gives the span of the first or the last.

    Control characters that vanish put it off for the rest of a text.
    """
    ours, theirs = json_pair(folder, test_data)
    lines = [line for file in corpus_files(test_data) for line in lines_of(file, 6_000)]
    check_json(ours, [*EDGES, *lines])
    aside = {"Mn", "Mc", "Me", "Cc", "Cf", "Co", "Cn"}
    clear = [
        line
        for line in lines
        if "``" not in line and "''" not in line and aside.isdisjoint(map(unicodedata.category, line))
    ]
    assert len(clear) > len(lines) / 2
    spans, limits = ours.offsets_batch(clear)
    for index, expected in enumerate(theirs.encode_batch(clear, add_special_tokens=False)):
        mine = spans[limits[index] : limits[index + 1]].tolist()
        assert mine == [list(span) for span in expected.offsets], clear[index]


def with_added(content: str, **flags: bool) -> JsonUnigramTokenizer:
    """A model of two pieces and an added token."""
    return JsonUnigramTokenizer.from_dict(
        {
            "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁a", -1.0], ["b", -1.0]]},
            "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
            "added_tokens": [{"id": 3, "content": content, "special": False, **flags}],
        }
    )


def test_spans_around_added_tokens() -> None:
    tokenizer = with_added("<x>", normalized=False)
    spans, limits = tokenizer.offsets_batch(["ab", "a<x>ab", "", "b a"])
    assert limits.tolist() == [0, 2, 6, 6, 9]
    assert spans[2:6].tolist() == [[0, 1], [1, 4], [4, 5], [5, 6]]
    check_json(tokenizer, ["ab", "a<x>ab", "", "<x>", "b a"])


def test_texts_with_added_tokens_are_not_left_to_the_plain_form(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = with_added("<m>", lstrip=True, normalized=True)
    expected = ours._plain_offsets("ab  <m>a")
    monkeypatch.setattr(type(ours), "_plain_offsets", None)
    ids, spans = ours.encode_with_offsets(["ab  <m>a", ""])
    assert ids.ids.tolist() == [1, 2, 3, 1]
    assert spans.tolist() == expected.tolist() == [[0, 1], [1, 2], [2, 7], [7, 8]]
