"""Conversions: the same ids in the library a file is for, or refused with the text that shows it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.files.probes import probes
from tokbench_subword.files.sentencepiece_model import (
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    NormalizerSpec,
    Piece,
    SpmModel,
    TrainerSpec,
    read_model,
)
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.sentencepiece.rules import charsmap_of
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.wordpiece.model import WordPieceModel
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer

import tokbench
from tests.plugins.subword.sentencepiece.small_models import BYTES as BYTE_PIECES
from tests.plugins.subword.sentencepiece.small_models import SMALL, sentencepiece_of
from tokbench.errors import TokenizerError
from tokbench.vocabulary_files import write_ranks


def by_tokenizers(path: Path) -> Any:
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.encode_special_tokens = True
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def lines_of(test_data: Path) -> list[str]:
    found = []
    for name in (
        "eng_Latn",
        "hin_Deva",
        "jpn_Jpan",
        "kor_Hang",
        "rus_Cyrl",
        "tha_Thai",
        "arb_Arab",
        "zho_Hant",
    ):
        found += (test_data / f"corpora/pud/{name}.txt").read_text(encoding="utf-8").split("\n")[:40]
    return [*found, *(f"  {line[:20]}  {line[20:40]} " for line in found)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "prefix", "extra", "symbols"),
    [
        ("unigram", True, True, []),
        ("unigram", False, False, []),
        ("unigram", True, True, ["<sep>", "()", "–"]),
        ("unigram", False, False, ["<sep>", "()"]),
        ("unigram", True, True, ["<a b>", "▁▁▁", "x▁"]),
        ("bpe", True, True, []),
        ("bpe", True, False, []),
        ("bpe", False, False, ["<sep>", "()"]),
        ("bpe", True, True, ["<sep>", "()"]),
        ("bpe", False, False, ["▁▁▁", "x▁"]),
    ],
)
def test_sentencepiece_models_become_a_tokenizer_json_or_are_refused(
    kind: str, prefix: bool, extra: bool, symbols: list[str], test_data: Path, tmp_path: Path
) -> None:
    lines = lines_of(test_data)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_prefix=str(tmp_path / "m"),
        vocab_size=2000,
        model_type=kind,
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=extra,
        byte_fallback=prefix,
        user_defined_symbols=symbols,
        hard_vocab_limit=False,
        minloglevel=9,
    )
    ours = tokbench.load(f"{'bpe' if kind == 'bpe' else 'unigram'}:{tmp_path / 'm.model'}")
    refused = ""
    try:
        ours.save(tmp_path / "m.json")  # type: ignore[attr-defined]
    except TokenizerError as error:
        refused = str(error)
    if refused:
        assert symbols
        assert "which would change ids" in refused or "gives up" in refused
        assert refused.endswith("; save a .model")
        assert not (tmp_path / "m.json").exists()
        return
    library = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    theirs = by_tokenizers(tmp_path / "m.json")
    mixed = [f"{line[:15]}{one} {one}{line[15:30]}  {one}" for one in symbols for line in lines[:40]]
    for text in [*lines, *mixed]:
        assert theirs(text) == library.EncodeAsIds(text) == list(ours.encode(text)), text


def test_a_model_that_no_tokenizer_json_can_say_names_what_to_write(tmp_path: Path) -> None:
    """Grapheme clusters in a character map: what `tokenizers` makes of them is something else."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a\u0300 e\u0301 A\u030a q\u0323\u0307 n\u0303 u", "é ü ñ Å q̣̇ a"] * 40),
        model_prefix=str(tmp_path / "m"),
        vocab_size=60,
        normalization_rule_name="nmt_nfkc_cf",
        hard_vocab_limit=False,
        minloglevel=9,
    )
    tokenizer = tokbench.load(f"unigram:{tmp_path / 'm.model'}")
    with pytest.raises(TokenizerError, match=r"which would change ids: .*; save a \.model$"):
        tokenizer.save(tmp_path / "m.json")  # type: ignore[attr-defined]


@pytest.mark.long
@pytest.mark.parametrize("name", ["llama-2/tokenizer.model", "albert-base-v1/spiece.model"])
def test_published_models_become_a_tokenizer_json(name: str, test_data: Path, tmp_path: Path) -> None:
    """Llama-2's BPE was refused; ALBERT's user-defined symbols lost or gained a space in a quarter of lines."""
    family = "bpe" if "llama" in name else "unigram"
    ours = tokbench.load(f"{family}:{test_data / 'vocabs' / name}")
    ours.save(tmp_path / "m.json")  # type: ignore[attr-defined]
    theirs, again = by_tokenizers(tmp_path / "m.json"), tokbench.load(f"{family}:{tmp_path / 'm.json'}")
    for text in [*lines_of(test_data), '(a) "b" -c- £5.–€', " " * 23 + "x"]:
        expected = list(ours.encode(text))
        assert theirs(text) == expected == list(again.encode(text)), text


def test_what_a_tokenizer_json_cannot_say_is_refused(test_data: Path, tmp_path: Path) -> None:
    model = read_model(test_data / "vocabs/llama-2/tokenizer.model")
    ours = SpmTokenizer("demo", model.with_pieces([*model.pieces, Piece("<sep>", 0.0, USER_DEFINED)]))
    with pytest.raises(TokenizerError, match=r"would change ids: '.*<sep>.*' \(symbols matched whole\) is \["):
        ours.save(tmp_path / "m.json")
    rare = SpmTokenizer("demo", model.with_pieces([*model.pieces, Piece("a𒀀", -5.0, NORMAL)]))
    with pytest.raises(TokenizerError, match="one of its characters is not a piece"):
        rare.save(tmp_path / "m.json")
    flat = replace(model, normalizer=replace(model.normalizer, escape_whitespaces=False))
    with pytest.raises(TokenizerError, match="spaces that are not escaped"):
        SpmTokenizer("demo", flat).save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("surface", [" \u2047 ", "?", "\u2581x"])
@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("pieces", [(), BYTE_PIECES], ids=["", "bytes"])
def test_what_unknown_tokens_are_decoded_to_is_kept(
    surface: str, prefix: bool, pieces: tuple[Piece, ...], tmp_path: Path
) -> None:
    trainer = TrainerSpec(unk_surface=surface, byte_fallback=bool(pieces))
    normalizer = NormalizerSpec(add_dummy_prefix=prefix, remove_extra_whitespaces=prefix)
    unknown = Piece("<-?unk#>", 0.0, UNKNOWN)
    model = SpmModel((unknown, *SMALL.pieces[1:], *pieces), trainer, normalizer)
    SpmTokenizer("demo", model).save(tmp_path / "m.json")
    library, written = sentencepiece_of(model), tokenizers.Tokenizer.from_file(str(tmp_path / "m.json"))
    again = tokbench.load(f"unigram:{tmp_path / 'm.json'}")
    rows = [library.EncodeAsIds(text) for text in ("é ab", "ab éa aéb", "", "éé", "<-?unk#> a", "ab  \0")]
    for ids in [*rows, [0], [0, 0, 3], [6, 0, 2]]:
        text = library.DecodeIds(ids)
        assert written.decode(ids, skip_special_tokens=False) == text == again.decode(ids), ids


@pytest.mark.parametrize(("kind", "word"), [("unigram", "ab"), ("bpe", "aa"), ("unigram", "bc" + "b" * 2998)])
def test_spaces_that_are_no_piece_are_unknown_with_what_is_beside_them(
    kind: str, word: str, tmp_path: Path
) -> None:
    """A vocabulary of one word was refused, as ids would change."""
    pieces = (*SMALL.pieces[:2], Piece(word, -5.0), Piece("a", -1.0))
    model = SpmModel(pieces, TrainerSpec(model_type=kind))
    SpmTokenizer("demo", model).save(tmp_path / "m.json")
    library, written = sentencepiece_of(model), by_tokenizers(tmp_path / "m.json")
    again = tokbench.load(str(tmp_path / "m.json"))
    for text in ("c c", f"{word} c {word}", "a a c  d a"):
        assert written(text) == library.EncodeAsIds(text) == list(again.encode(text)), text


def spelled_by_bytes(surface: str) -> dict[str, Any]:
    return {
        "pieces": (*SMALL.pieces, *BYTE_PIECES),
        "trainer": TrainerSpec(unk_surface=surface, byte_fallback=True),
    }


@pytest.mark.parametrize(
    ("ending", "changes", "said"),
    [
        ("json", {"denormalizer": NormalizerSpec(charsmap=charsmap_of("nfkc"))}, "express denormalizing"),
        ("gguf", {"denormalizer": NormalizerSpec(charsmap=charsmap_of("nfkc"))}, "no denormalizing"),
        ("gguf", {"trainer": TrainerSpec(unk_surface="?")}, "no unk_surface"),
        ("json", {"trainer": TrainerSpec(unk_surface="")}, "an empty unk_surface"),
        ("json", {"pieces": (Piece("▁", 0.0, UNKNOWN), *SMALL.pieces[3:])}, "the unknown token '▁'"),
        ("json", {"pieces": (Piece("b", 0.0, UNKNOWN), Piece("▁b", -1.0))}, "the unknown token 'b'"),
        ("json", {"pieces": (Piece("x", 0.0, UNKNOWN), Piece("xx", -90.0))}, "form the piece 'xx'"),
        ("json", spelled_by_bytes("<0x41>"), "the unk_surface '<0x41>'"),
        ("json", spelled_by_bytes("<0x+a>"), r"the unk_surface '<0x\+a>'"),
    ],
)
def test_what_decoded_text_would_lose_is_refused_by_name(
    ending: str, changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(TokenizerError, match=said):
        SpmTokenizer("demo", replace(SMALL, **changes)).save(tmp_path / f"m.{ending}")
    assert not list(tmp_path.iterdir())


BYTES = {chr(c): c for c in (*range(33, 127), *range(161, 173), *range(174, 256))}


def bpe_json(**changes: Any) -> BpeTokenizer:
    others = (byte for byte in range(256) if chr(byte) not in BYTES)
    vocab = BYTES | {chr(256 + index): byte for index, byte in enumerate(others)} | {"he": 256}
    content: dict[str, Any] = {
        "model": {"type": "BPE", "vocab": vocab, "merges": ["h e"]},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
    }
    return BpeTokenizer.from_dict(content | changes)


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"normalizer": {"type": "NFKC"}}, r"its normalizer \(NFKC\); '"),
        ({"normalizer": {"type": "Lowercase"}}, r"its normalizer \(Lowercase\); .Hello"),
        ({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True}}, "the space it puts before"),
        ({"added_tokens": [{"id": 257, "content": "<x>", "special": False}]}, r"its added tokens \('<x>'\)"),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [
                        {"type": "Digits", "individual_digits": True},
                        {"type": "ByteLevel", "add_prefix_space": False},
                    ],
                }
            },
            "how it cuts text",
        ),
    ],
)
def test_ranks_are_refused_for_what_they_cannot_say(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    tokenizer = bpe_json(**changes)
    with pytest.raises(TokenizerError, match=said) as caught:
        tokenizer.save(tmp_path / "t.tiktoken")
    assert "would change ids" in str(caught.value)
    assert not list(tmp_path.iterdir())
    with pytest.raises(TokenizerError):
        tokenizer.save(tmp_path / "folder")
    bpe_json().save(tmp_path / "t.tiktoken")
    assert tokbench.load(f"tiktoken:{tmp_path / 't.tiktoken'},pattern=r50k_base").encode("he") == [256]


def test_a_bare_vocabulary_is_refused_for_what_it_cannot_say(tmp_path: Path) -> None:
    vocabulary = {"[UNK]": 0, "a": 1, "##b": 2}
    steps = {"normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "Whitespace"}}
    other = WordPieceModel(vocabulary=vocabulary, document=TokenizerJson(model={}, **steps))
    with pytest.raises(TokenizerError, match="prepares text otherwise"):
        WordPieceTokenizer("w", other).save(tmp_path / "vocab.txt")
    added = WordPieceTokenizer("w", WordPieceModel(vocabulary=vocabulary))
    added.add_tokens("<x>")
    with pytest.raises(TokenizerError, match="'<x>' is matched before others"):
        added.save(tmp_path / "vocab.txt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("spec", "written"),
    [
        ("bpe:{0}/gpt2", ("a.json", "a.tiktoken", "pair")),
        pytest.param(
            "bpe:{0}/gpt2/hf/tokenizer.json", ("a.json", "a.tiktoken", "pair"), marks=pytest.mark.long
        ),
        pytest.param("bpe:{0}/qwen2/hf/tokenizer.json", ("a.json",), marks=pytest.mark.long),
        ("bpe:{0}/llama-2/hf/tokenizer.json", ("a.json",)),
        pytest.param(
            "bpe:{0}/tiktoken-cache/9b5ad71b2ce5302211f9c61530b329a4922fc6a4,pattern=cl100k",
            ("a.json", "a.tiktoken"),
            marks=pytest.mark.long,
        ),
        ("wordpiece:{0}/bert-base-uncased/vocab.txt", ("a.json", "a.txt")),
        ("unigram:{0}/t5-base/spiece.model", ("a.json", "a.model")),
        ("unigram:{0}/t5-base/hf/tokenizer.json", ("a.json",)),
        ("unigram:{0}/spm-test/test_model.model", ("a.json", "a.model")),
        ("bpe:{0}/spm-test/test_sentencepiece_bpe.model", ("a.json", "a.model")),
    ],
)
def test_vocabularies_make_the_round_through_their_formats(
    spec: str, written: tuple[str, ...], test_data: Path, tmp_path: Path
) -> None:
    source = tokbench.load(spec.format(test_data / "vocabs"))
    pattern = spec.partition(",pattern=")[2] or "gpt2"
    lines = lines_of(test_data)
    for name in written:
        source.save(tmp_path / name)  # type: ignore[attr-defined]
        option = f",pattern={pattern}" if name.endswith(".tiktoken") else ""
        again = tokbench.load(f"{spec.partition(':')[0]}:{tmp_path / name}{option}")
        for text in lines:
            assert list(again.encode(text)) == list(source.encode(text)), (name, text)


def test_special_tokens_that_are_found_as_ordinary_text_are_refused(tmp_path: Path) -> None:
    """Where ids have a hole, they are in the vocabulary, in which words are looked up."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 257}
    write_ranks(ranks, tmp_path / "holes.tiktoken")
    spec = f"bpe:{tmp_path / 'holes.tiktoken'},special_tokens=<|end|>=260,pattern="
    with pytest.raises(
        TokenizerError, match=r"'<\|end\|>' \(the text of special tokens\) is \[60, 124.*be \[260\]"
    ):
        tokbench.load(rf"{spec}\S+|\s+").save(tmp_path / "holes.json")  # type: ignore[attr-defined]
    ours = tokbench.load(f"{spec}o200k")  # which cuts it
    ours.save(tmp_path / "holes.json")  # type: ignore[attr-defined]
    theirs = by_tokenizers(tmp_path / "holes.json")
    assert theirs("ab <|end|>") == list(ours.encode("ab <|end|>"))


def test_probes_cover_what_is_asked_for() -> None:
    found = probes(["he", " x"], symbols=["<x>"], tied=["a", "aa"], never=["<s>"])
    rules = {probe.rule for probe in found}
    assert {"spaces at the ends", "digits", "control characters", "tokens of one score"} <= rules
    assert not any("<s>" in probe.text for probe in probes(["<s>", "a"], never=["<s>"]))
    assert json.dumps(found)  # all are text that UTF-8 can say
