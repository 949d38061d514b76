"""Decoding by kernel gives what is said about it in so many words: sentencepiece's rules, and the decoders'."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokbench_subword.files.sentencepiece_model import (
    BYTE,
    CONTROL,
    UNKNOWN,
    NormalizerSpec,
    Piece,
    SpmModel,
    TrainerSpec,
)
from tokbench_subword.pipeline.decoders import decoder_of
from tokbench_subword.pipeline.document_decoding import joining_decoder
from tokbench_subword.sentencepiece.rules import charsmap_of
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer

from tokbench.batch import TokenBatch
from tokbench.errors import TokenizerError

from .conftest import BPE_MODELS, UNIGRAM_MODELS, json_pair
from .small_models import BYTES, SMALL, Pair, sentencepiece_of

MARKS = (Piece("▁▁", -4.0), Piece("▁▁a", -4.0), Piece("é▁", -4.0), Piece("日本", -4.0))


def plainly(model: SpmModel, ids: list[int]) -> str:
    """Ids to text by sentencepiece's rules, one piece after the other (what is done in the end apart)."""
    spec = model.normalizer
    strips = spec.add_dummy_prefix or spec.remove_extra_whitespaces
    out: list[str] = []
    pending = bytearray()
    at_start, stripped = True, False
    for piece in [model.pieces[index] for index in ids]:
        if piece.type == BYTE:
            pending.append(int(piece.text[3:5], 16))
            continue
        out.append(characters_of(bytes(pending)))
        pending.clear()
        if at_start and (stripped or any(out)):
            at_start = False
        surface = piece.text.replace("▁", " ")
        if piece.type in (CONTROL, UNKNOWN):
            surface = model.trainer.unk_surface if piece.type == UNKNOWN else ""
            if piece.type == UNKNOWN and at_start and strips and piece.text.startswith("▁"):
                stripped = not spec.remove_extra_whitespaces
        elif at_start and strips and piece.text.startswith("▁"):
            surface, stripped = surface[1:], not spec.remove_extra_whitespaces
        out.append(surface)
    return "".join([*out, characters_of(bytes(pending))])


def characters_of(data: bytes) -> str:
    """`data` as UTF-8, each byte that is not part of a valid character as U+FFFD, one for one."""
    out, position = [], 0
    while position < len(data):
        first = data[position]
        width = 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        try:
            out.append(data[position : position + width].decode())
            position += width
        except UnicodeDecodeError:
            out.append("\ufffd")
            position += 1
    return "".join(out)


def check(tokenizer: Any, documents: list[list[int]], expected: list[str]) -> None:
    assert tokenizer.decode_batch(TokenBatch.of(documents)) == expected
    for ids, text in zip(documents, expected, strict=True):
        assert tokenizer.decode(ids) == text, ids
        assert tokenizer.decode(np.array(ids, np.int32)) == text, ids


@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("escapes", [False, True])
def test_every_short_sequence_of_a_small_vocabulary(fallback: bool, escapes: bool) -> None:
    pieces = (*SMALL.pieces, *MARKS, *(BYTES if fallback else ()))
    n_plain = len(SMALL.pieces) + len(MARKS)
    some = [*range(n_plain), *(n_plain + byte for byte in b"A\xc3\xa9\xf0\xff" if fallback)]
    documents = [list(ids) for n in range(4) for ids in itertools.product(some, repeat=n)]
    for dummy, extra, surface in itertools.product((False, True), (False, True), ("", " ⁇ ")):
        trainer = TrainerSpec(byte_fallback=fallback, unk_surface=surface)
        model = SpmModel(pieces, trainer, NormalizerSpec("", b"", dummy, extra, escapes))
        tokenizer = SpmTokenizer("t", model)
        expected = [plainly(model, ids) for ids in documents]
        assert tokenizer.decode_batch(TokenBatch.of(documents)) == expected
        check(tokenizer, documents[:: len(documents) // 200], expected[:: len(documents) // 200])


def test_any_bytes() -> None:
    """Runs of bytes that are UTF-8, nearly, and not at all."""
    model = SpmModel((*SMALL.pieces, *BYTES), TrainerSpec(byte_fallback=True))
    tokenizer, rng = SpmTokenizer("t", model), random.Random(5)
    edges = ["\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"]
    runs = [text.encode() for text in edges]
    runs += [
        bytes(one) for one in ([0xC0, 0x80], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80])
    ]
    runs += [run[:-1] for run in runs if len(run) > 1]
    runs += [bytes(rng.choices([*range(256), *range(0xC0, 0xF6)], k=rng.randrange(9))) for _ in range(3000)]
    first = len(SMALL.pieces)
    documents = [
        [3, *(first + byte for byte in run), *rng.choices([0, 1, 3], k=rng.randrange(2))] for run in runs
    ]
    documents += [[first + byte for byte in one + two] for one, two in itertools.product(runs[:26], repeat=2)]
    check(tokenizer, documents, [plainly(model, ids) for ids in documents])


@pytest.mark.parametrize("model", [*UNIGRAM_MODELS, *BPE_MODELS])
def test_random_ids_equal_sentencepiece(model: str, pair: Pair) -> None:
    ours, theirs = pair(model)
    rng = random.Random(11)
    documents = [[rng.randrange(ours.vocab_size) for _ in range(rng.randrange(12))] for _ in range(2000)]
    check(ours, documents, [theirs.decode(ids) for ids in documents])


def test_denormalizing_comes_last() -> None:
    back = NormalizerSpec("", charsmap_of("nfkc"), False, False, False)
    pieces = (*SMALL.pieces, Piece("ﬁ", -3.0))
    tokenizer = SpmTokenizer("t", SpmModel(pieces, denormalizer=back))
    check(tokenizer, [[2, len(SMALL.pieces), 3], []], ["fia", ""])


METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
SPACES = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
FUSE, FALLBACK = {"type": "Fuse"}, {"type": "ByteFallback"}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 1}
DECODERS = [
    None,
    METASPACE,
    {**METASPACE, "prepend_scheme": "never"},
    {"type": "Sequence", "decoders": [SPACES, FALLBACK, FUSE, STRIP]},
    {"type": "Sequence", "decoders": [FALLBACK, METASPACE]},
    {"type": "Sequence", "decoders": [METASPACE, FALLBACK]},
    {"type": "Sequence", "decoders": [STRIP, SPACES, FUSE]},
    {"type": "Sequence", "decoders": [FUSE, SPACES]},
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
]
TOKENS = ["<unk>", "▁", "a", "▁a", "▁▁", "a▁ b", "日本", "</s>", "", *("<0x41>", "<0xc3>", "<0xA9>", "<0xFF>")]


def json_tokenizer(decoder: Any) -> JsonUnigramTokenizer:
    vocab = [[token, -1.0] for token in TOKENS]
    added = [{"id": len(TOKENS), "content": "<x>▁", "special": True}]
    content = {"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}, "added_tokens": added}
    return JsonUnigramTokenizer.from_dict({**content, "decoder": decoder})


@pytest.mark.parametrize("decoder", DECODERS)
def test_decoders_of_tokenizer_json(decoder: Any) -> None:
    tokenizer, names = json_tokenizer(decoder), [*TOKENS, "<x>▁"]
    documents = [list(ids) for n in range(4) for ids in itertools.product(range(len(names)), repeat=n)]
    decode = decoder_of(decoder)
    check(tokenizer, documents, ["".join(decode([names[index] for index in ids])) for ids in documents])


def test_what_more_than_joins_is_left_alone() -> None:
    joined = [joining_decoder(decoder, TOKENS) is not None for decoder in DECODERS]
    assert joined == [True, True, True, True, False, True, True, False, True]
    assert joining_decoder(METASPACE, ["a", "\ud800"]) is None


@pytest.mark.parametrize(
    ("first", "tokens"),
    [
        ({"type": "WordPiece", "prefix": "##", "cleanup": False}, ["<0x82>", "do", "<0xE2>"]),
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}, ["▁<0x41>", "do"]),
    ],
)
def test_what_is_a_byte_at_the_beginning_alone_is_not_joined_as_letters(first: Any, tokens: list[str]) -> None:
    decoder = {"type": "Sequence", "decoders": [first, {"type": "ByteFallback"}, {"type": "Fuse"}]}
    content = {"model": {"type": "Unigram", "unk_id": 0, "vocab": [[token, -1.0] for token in tokens]}}
    tokenizer = JsonUnigramTokenizer.from_dict({**content, "decoder": decoder})
    decode = decoder_of(decoder)
    for ids in itertools.product(range(len(tokens)), repeat=3):
        assert tokenizer.decode([*ids]) == "".join(decode([tokens[index] for index in ids]))


@pytest.mark.parametrize("wrong", [-1, -15, -40, -(10**30), 10**4, 2**31, 2**70])
def test_ids_that_are_none_are_named(wrong: int) -> None:
    for tokenizer in (SpmTokenizer("t", SMALL), *map(json_tokenizer, DECODERS)):
        with pytest.raises(TokenizerError, match=str(wrong)):
            tokenizer.decode([1, 2] * 1000 + [wrong])
        for ids in ([wrong], [1, 2, wrong], [1, wrong, 2]):
            with pytest.raises(TokenizerError, match=str(wrong)):
                tokenizer.decode(ids)
        if abs(wrong) < 2**31:
            with pytest.raises(TokenizerError, match=str(wrong)):
                tokenizer.decode_batch(TokenBatch.of([[1], [2, wrong]]))


def test_ids_between_others_may_be_missing() -> None:
    content = json_tokenizer(METASPACE).to_dict()
    assert joining_decoder(METASPACE, ["a", None, "b"]) is not None
    with pytest.raises(IndexError):
        joining_decoder(METASPACE, ["a", None, "b"]).text(np.array([0, 1]))  # type: ignore[union-attr]
    tokenizer = JsonUnigramTokenizer.from_dict(content)
    assert tokenizer.decode([3, tokenizer.add_tokens("new")[0], 3]) == "anew a"


def test_published_vocabularies(test_data: Path) -> None:
    rng = random.Random(2)
    for folder in ("t5-base", "albert-base-v1"):
        ours, theirs = json_pair(folder, test_data)
        documents = [[rng.randrange(ours.vocab_size) for _ in range(rng.randrange(12))] for _ in range(2000)]
        check(ours, documents, theirs.decode_batch(documents, skip_special_tokens=False))


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("surface", ["", "?", " ⁇ "])
def test_an_unknown_piece_that_begins_with_a_space_ends_the_beginning(removes: bool, surface: str) -> None:
    """Whatever it is decoded to, nothing included."""
    pieces = (Piece("▁", 0.0, UNKNOWN), Piece("▁<c>", 0.0, CONTROL), Piece("▁▁a", -1.0), Piece("b", -2.0))
    settings = TrainerSpec(unk_surface=surface, unk_piece="▁", bos_id=-1, eos_id=-1)
    model = SpmModel(pieces, settings, NormalizerSpec(remove_extra_whitespaces=removes))
    ours, theirs = SpmTokenizer("spaced", model), sentencepiece_of(model)
    for ids in itertools.product(range(4), repeat=3):
        assert ours.decode(ids) == theirs.decode(list(ids)) == plainly(model, list(ids))
