"""The `.model` format: round trips, and clear errors for what is damaged or contradicts itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tokbench_subword.files.sentencepiece_model import (
    BYTE,
    UNKNOWN,
    NormalizerSpec,
    Piece,
    SpmModel,
    TrainerSpec,
    parse,
    read_model,
    serialize,
    write_model,
)
from tokbench_subword.sentencepiece.charsmap import compile_normalizer
from tokbench_subword.sentencepiece.rules import charsmap_of
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer

from tokbench.errors import TokenizerError

from .conftest import BPE_MODELS, UNIGRAM_MODELS
from .small_models import UNK


def test_round_trip_keeps_everything() -> None:
    model = SpmModel(
        (UNK, Piece("▁a", -1.5), Piece("b", -2.25)),
        TrainerSpec(vocab_size=3, unk_surface="?", pad_id=-1, eos_id=-1),
        NormalizerSpec("mine", b"\x01\x02", False, False, True),
        NormalizerSpec("back", b""),
        read_from=b"\x12\x03\x98\x06\x07\xc2\x0c\x04more",  # fields that nobody knows
    )
    data = serialize(model)
    assert parse(data) == model
    assert serialize(parse(data)) == data
    assert b"\x98\x06\x07" in data
    assert data.endswith(b"\xc2\x0c\x04more")


@pytest.mark.parametrize("name", [*UNIGRAM_MODELS, *BPE_MODELS])
def test_sentencepiece_opens_what_is_written(name: str, test_data: Path, tmp_path: Path) -> None:
    import sentencepiece

    source = test_data / "vocabs" / name
    write_model(read_model(source), tmp_path / "copy.model")
    before = sentencepiece.SentencePieceProcessor(model_file=str(source))
    after = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "copy.model"))
    text = "Hello  World, 你好 ﬁ a\u0301 ① ドキュメント"
    assert before.encode(text) == after.encode(text)
    assert [before.GetScore(i) for i in range(0, 900, 7)] == [after.GetScore(i) for i in range(0, 900, 7)]


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    data = serialize(SpmModel((UNK, *(Piece(f"p{i}", -float(i)) for i in range(50)))))
    refused = 0
    for size in range(len(data)):
        try:
            model = parse(data[:size], where="cut.model")
        except TokenizerError:
            refused += 1
        else:  # cut between two fields: fewer pieces, but whole ones
            assert len(model.pieces) <= 51
    with pytest.raises(TokenizerError, match=r"cut\.model: .*truncated or damaged behind byte 612 of 621"):
        parse(data[:-3], where="cut.model")
    assert refused > len(data) * 0.8
    with pytest.raises(TokenizerError, match="cannot be read"):
        read_model(tmp_path / "absent.model")


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"\xff" * 20, b"{}", b'{"model": 1}', b"PK\x03\x04abcdef", b"#version: 0.2\n"]
)
def test_what_is_no_model_is_refused(data: bytes) -> None:
    with pytest.raises(TokenizerError):
        parse(data)


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ((UNK, Piece("a", -1.0), Piece("a", -2.0)), "both 'a'"),
        ((UNK, Piece("", -1.0)), "empty"),
        ((UNK, Piece("a\0b", -1.0)), "NUL"),
        ((UNK, Piece("a", float("nan"))), "score"),
        ((UNK, Piece("a", float("-inf"))), "score"),
        ((Piece("a", -1.0),), "unknown"),
        ((UNK, Piece("<u>", 0.0, UNKNOWN), Piece("a", -1.0)), "unknown"),
        ((UNK, Piece("<0x41>", 0.0, BYTE), Piece("a", -1.0)), "byte_fallback is off"),
    ],
)
def test_contradictions_are_named(pieces: tuple[Piece, ...], said: str) -> None:
    with pytest.raises(TokenizerError, match=said):
        SpmTokenizer("demo", SpmModel(pieces))


def test_byte_fallback_needs_all_bytes() -> None:
    pieces = (UNK, Piece("a", -1.0), Piece("<0x41>", 0.0, BYTE))
    with pytest.raises(TokenizerError, match="256"):
        SpmTokenizer("demo", SpmModel(pieces, TrainerSpec(byte_fallback=True)))


@pytest.mark.parametrize("kind", ["word", "char"])
def test_other_types_name_the_family_that_loads_them(kind: str) -> None:
    model = SpmModel((UNK, Piece("a", -1.0)), TrainerSpec(model_type=kind))
    with pytest.raises(TokenizerError, match="sentencepiece"):
        SpmTokenizer("demo", parse(serialize(model)))


@pytest.mark.parametrize("damage", [b"", b"\x00\x00", b"\xff\xff\xff\xff", b"\x08\x00\x00\x00abcd"])
def test_damaged_charsmaps_are_refused_or_harmless(damage: bytes) -> None:
    spec = NormalizerSpec("broken", damage + b"x" if damage else b"")
    if not damage:
        assert compile_normalizer(spec)("a b") == "▁a▁b"
        return
    with pytest.raises(TokenizerError, match="character map"):
        compile_normalizer(spec)


def test_a_scrambled_charsmap_does_not_crash() -> None:
    import random

    rng = random.Random(5)
    good = charsmap_of("nmt_nfkc")
    for _ in range(20):
        bad = bytearray(good)
        for _ in range(2000):
            bad[rng.randrange(4, len(bad) - 1)] = rng.randrange(256)
        try:
            compile_normalizer(NormalizerSpec("bad", bytes(bad)))("Ünïcödé ﬁ ① カ\u3099 text")
        except TokenizerError:
            continue


def test_a_protobuf_that_sentencepiece_cannot_use_is_told_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a.model"
    write_model(SpmModel((UNK, Piece("a", -1.0))), path)
    monkeypatch.delattr("sentencepiece.sentencepiece_model_pb2", raising=False)
    monkeypatch.setitem(sys.modules, "sentencepiece.sentencepiece_model_pb2", None)
    with pytest.raises(TokenizerError, match="pip install -U protobuf"):
        read_model(path)
