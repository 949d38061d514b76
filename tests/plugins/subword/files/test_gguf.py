"""GGUF: what is written is read back with equal ids, and what cannot be said is refused."""

from __future__ import annotations

import gzip
import json
import random
import struct
import tracemalloc
from dataclasses import replace

import pytest
from tokbench_subword.files.gguf import read_gguf, write_gguf
from tokbench_subword.files.recognising import format_of
from tokbench_subword.files.sentencepiece_model import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED

import tokbench
from tests.plugins.subword.files.gguf_files import written
from tokbench.errors import TokenizerError

TEXTS = ["Hello world's 123 tests,  twice!\n\n  new\tline", "naïve 東京 <|end|> x<extra>y", "", " a"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A small tokenizer with a special token and one that is not."""
    path = tmp_path_factory.mktemp("served") / "small.json"
    tokenizer = tokbench.load(
        "bpe:vocab_size=300,pattern=qwen2,initial_alphabet=",
        train_on=["the cat sat on the mat, hello world"] * 20,
    )
    tokenizer.save(path)
    document = json.loads(path.read_text())
    size = len(document["model"]["vocab"])
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    document["added_tokens"] = [
        {"id": size, "content": "<|end|>", **flags, "special": True},
        {"id": size + 1, "content": "<extra>", **flags, "special": False},
    ]
    path.write_text(json.dumps(document))
    return path


def ids(spec: str, text: str) -> list[int]:
    return list(map(int, tokbench.load(spec).encode(text)))


def test_gguf_there_and_back(trained, tmp_path):
    pytest.importorskip("gguf")
    target = tmp_path / "small.gguf"
    source = tokbench.load(f"bpe:{trained}")
    source.save(target)
    assert format_of(target) == "gguf"
    back = tokbench.load(str(target))  # recognised by its content
    assert [list(back.encode(text)) for text in TEXTS] == [list(source.encode(text)) for text in TEXTS]
    assert back.special_ids == source.special_ids
    assert back.vocab_size == source.vocab_size
    matching = tokbench.load(f"bpe:{target},match_special=true")
    assert source.vocab_size - 2 in matching.encode("a <|end|> b")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"normalizer": {"type": "NFC"}}, "cannot say its normalizer"),
        (
            {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}},
            "the space it puts",
        ),
        (
            {
                "pre_tokenizer": {
                    "type": "ByteLevel",
                    "add_prefix_space": False,
                    "trim_offsets": True,
                    "use_regex": False,
                }
            },
            "such GGUF is read, not written",
        ),
    ],
)
def test_gguf_refuses_what_it_cannot_say(trained, tmp_path, change, match):
    pytest.importorskip("gguf")
    document = json.loads(trained.read_text()) | change
    document["added_tokens"] = []
    source = tmp_path / "other.json"
    source.write_text(json.dumps(document))
    with pytest.raises(TokenizerError, match=match):
        tokbench.load(f"bpe:{source}").save(tmp_path / "other.gguf")
    assert not (tmp_path / "other.gguf").exists()


def test_gguf_of_another_model_is_refused_with_who_reads_it(tmp_path):
    base = {"tokenizer_pre": "default", "token_list": ["a", "b"]}
    for spec, model, pre, match in (
        ("bpe", "t5", "default", "'t5', not 'gpt2'; load it as unigram:"),
        ("unigram", "bert", "default", "'bert', not 't5'; load it as bpe:"),
        ("wordpiece", "gpt2", "default", "'gpt2', not 'bert'; load it as bpe:"),
        ("bpe", "gpt2", "afmoe", "pre-tokenizer 'afmoe'"),
        ("bpe", "llama", "default", "needs scores, and the file has none"),
    ):
        path = written(tmp_path / f"{model}.gguf", base | {"tokenizer_model": model, "tokenizer_pre": pre})
        with pytest.raises(TokenizerError, match=match):
            tokbench.load(f"{spec}:{path}")


def test_gguf_of_gemma_4_is_bpe_of_characters(tmp_path):
    """Its rules, on a small vocabulary; Gemma 4's own gives llama.cpp's ids (build 11549) over 3,153 texts."""
    tokens = ["<unk>", "<end>", "\u2581", "a", "b", "\n", "ab", "\u2581ab", "\n\n"]
    tokens += [f"<0x{byte:02X}>" for byte in range(256)]
    types = [UNKNOWN, CONTROL, *[NORMAL] * 7, *[BYTE] * 256]
    content = {"tokenizer_model": "gemma4", "token_list": tokens, "token_types": types, "unk_token_id": 0}
    merges = {"token_merges": ["a b", "\u2581 ab", "\n \n"]}
    path = written(tmp_path / "g.gguf", content | merges)
    tokenizer = tokbench.load(str(path))
    text = " ab\n\n\nabéa  <end>"
    found = tokenizer.encode(text).tolist()
    raw = [9 + byte for byte in "é<end>".encode()]
    assert found == [7, 8, 5, 6, *raw[:2], 3, 2, 2, *raw[2:]]
    assert tokenizer.decode(found) == text
    assert 1 in tokbench.load(f"bpe:{path},match_special=true").encode("a<end>")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_sentencepiece_models_become_gguf_and_come_back(kind, tmp_path):
    pytest.importorskip("gguf")
    sentencepiece = pytest.importorskip("sentencepiece")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat, hello world naïve 東京"] * 20),
        model_prefix=str(tmp_path / "m"),
        vocab_size=340 if kind == "bpe" else 60,
        model_type=kind,
        byte_fallback=kind == "bpe",
        normalization_rule_name="identity" if kind == "bpe" else "nmt_nfkc",
        remove_extra_whitespaces=kind == "unigram",
        hard_vocab_limit=False,
        minloglevel=9,
    )
    source = tokbench.load(f"{kind}:{tmp_path / 'm.model'}")
    source.save(tmp_path / "m.gguf")
    back = tokbench.load(str(tmp_path / "m.gguf"))
    library = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    for text in [*TEXTS, "  hello   the\u3000mat ", "▁a ▁"]:
        assert list(back.encode(text)) == list(source.encode(text)) == library.EncodeAsIds(text), text


@pytest.mark.parametrize(
    ("kind", "settings", "match"),
    [
        (
            "bpe",
            {"normalization_rule_name": "nfkc", "byte_fallback": True},
            "has no character map for BPE",
        ),
        ("bpe", {"normalization_rule_name": "identity"}, "no BPE without byte fallback"),
        ("unigram", {"byte_fallback": True}, "no Unigram with byte fallback"),
        ("unigram", {"user_defined_symbols": ["<sep>"]}, "no user-defined symbols"),
        ("unigram", {"normalization_rule_name": "identity"}, r"removes U\+2581 at the end"),
    ],
)
def test_sentencepiece_models_that_llama_cpp_reads_otherwise_are_refused(kind, settings, match, tmp_path):
    sentencepiece = pytest.importorskip("sentencepiece")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat, hello world"] * 20),
        model_prefix=str(tmp_path / "m"),
        vocab_size=300,
        model_type=kind,
        hard_vocab_limit=False,
        minloglevel=9,
        **settings,
    )
    with pytest.raises(TokenizerError, match=match):
        tokbench.load(f"{kind}:{tmp_path / 'm.model'}").save(tmp_path / "m.gguf")
    assert not (tmp_path / "m.gguf").exists()


@pytest.mark.long
def test_user_defined_symbols_of_gguf_are_what_llama_cpp_makes_of_them(test_data, tmp_path):
    """The ids are llama.cpp's own (build 11549, Llama-2's vocabulary with five symbols more)."""
    pytest.importorskip("gguf")
    tokbench.load(f"bpe:{test_data / 'vocabs/llama-2/tokenizer.model'}").save(tmp_path / "m.gguf")
    found = read_gguf(tmp_path / "m.gguf", "llama")
    symbols = ["<sep>", "\n\n", "x▁▁", "a b", "naïve"]
    more = {
        "tokens": [*found.tokens, *symbols],
        "types": [*found.types, *[USER_DEFINED] * 5],
        "scores": [*found.scores, *[0.0] * 5],
    }
    write_gguf(replace(found, **more), tmp_path / "more.gguf")
    for text, expected in {
        "a <sep> b": [263, 29871, 32000, 29871, 289],
        "  <sep>  b<sep><sep>c": [1678, 32000, 259, 289, 32000, 32000, 274],
        "x\n\n\ny": [921, 32001, 29871, 13, 29891],
        "ax▁▁x": [263, 32002, 921],
        "x  y": [921, 29871, 343],
        "aa b": [263, 32003],
        "naïve naive": [32004, 29871, 1055, 573],
        "a</s>b": [263, 829, 29879, 29958, 29890],
    }.items():
        assert ids(f"bpe:{tmp_path / 'more.gguf'}", text) == expected, text


def test_bert_in_gguf_marks_the_tokens_that_begin_a_word(tmp_path):
    tokens = ["[PAD]", "[UNK]", "[CLS]", "▁un", "▁,", "do", "able", "▁do", "[unused0]"]
    vocabulary = {"tokenizer_model": "bert", "token_list": tokens, "token_types": [3] * 3 + [1] * 6}
    path = written(tmp_path / "bert.gguf", vocabulary | {"unk_token_id": 1})
    tokenizer = tokbench.load(str(path))
    assert list(tokenizer.encode("Ündoable, do")) == [3, 5, 6, 4, 7]
    assert list(tokenizer.encode("do" * 80)) == [7, *[5] * 79]  # llama.cpp knows no longest word
    assert tokenizer.special_ids == {0, 1, 2}
    assert [tokenizer.token_bytes(index) for index in (6, 7, 8)] == [b"able", b"do", b"[unused0]"]
    assert tokenizer.convert_token_to_id("[unused0]") == 8, "what is in brackets stands whole, as BERT has it"
    tokenizer.save(tmp_path / "bert.json")
    assert ids(f"wordpiece:{tmp_path / 'bert.json'}", "undoable") == [3, 5, 6]
    with pytest.raises(TokenizerError, match="rules of its own"):
        tokenizer.save(tmp_path / "again.gguf")


def test_digits_are_cut_off_first_where_the_name_says_so(trained, tmp_path):
    vocabulary = read_gguf(written_by(trained, tmp_path), "gpt2")
    write_gguf(replace(vocabulary, pre="starcoder"), tmp_path / "digits.gguf")
    parts = tokbench.load(f"bpe:{tmp_path / 'digits.gguf'}").stages("a12 b")["pre-tokenizer"]
    assert parts == ["a", "1", "2", " b"]


def written_by(trained, folder):
    tokbench.load(f"bpe:{trained}").save(folder / "plain.gguf")
    return folder / "plain.gguf"


def test_values_are_those_that_the_package_reads(trained, tmp_path):
    gguf = pytest.importorskip("gguf")
    path = written_by(trained, tmp_path)
    found, theirs = read_gguf(path, "gpt2"), gguf.GGUFReader(str(path))
    for ours, name in ((found.tokens, "tokens"), (found.types, "token_type"), (found.merges, "merges")):
        assert list(ours) == theirs.get_field(f"tokenizer.ggml.{name}").contents()


def test_damaged_gguf_is_an_error_with_the_place(trained, tmp_path):
    data = written_by(trained, tmp_path).read_bytes()
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(gzip.compress(data))
    with pytest.raises(TokenizerError, match="is GGUF, and packed: unpack it first"):
        tokbench.load(f"bpe:{damaged}")
    numbers = random.Random(0)
    for cut in (4, 8, 20, 24, 100, len(data) // 2, len(data) - 40):
        damaged.write_bytes(data[:cut])
        with pytest.raises(TokenizerError, match=r"breaks off or is damaged, at byte \d+"):
            read_gguf(damaged, "gpt2")
    for _ in range(400):
        changed = bytearray(data)
        for _ in range(3):
            changed[numbers.randrange(4, len(data))] = numbers.randrange(256)
        damaged.write_bytes(changed)
        try:
            read_gguf(damaged, "gpt2")
        except TokenizerError as error:
            assert "damaged" in str(error) or "vocabulary" in str(error), error  # noqa: PT017


def gguf_of(**values: bytes) -> bytes:
    """A GGUF file of named values, each with its type before it."""

    def text(content: str) -> bytes:
        return struct.pack("<Q", len(content)) + content.encode()

    named = {"model": struct.pack("<I", 8) + text("gpt2"), "tokens": struct.pack("<IIQ", 9, 8, 1) + text("a")}
    parts = [text(f"tokenizer.ggml.{name}") + value for name, value in (named | values).items()]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(parts)) + b"".join(parts)


def test_an_unknown_token_by_an_id_that_is_none_is_refused_by_name(tmp_path):
    path, name = tmp_path / "m.gguf", "unknown_token_id"
    for number, match in (
        (
            struct.pack("<II", 4, 1),
            rf"gguf: tokenizer\.ggml\.{name} is 1, and the last of its 1 tokens is 0; put",
        ),
        (struct.pack("<Ii", 5, -2), rf"{name} is -2"),
        (struct.pack("<I?", 7, True), rf"damaged: tokenizer\.ggml\.{name} is True, no id"),
    ):
        path.write_bytes(gguf_of(**{name: number}))
        with pytest.raises(TokenizerError, match=match):
            read_gguf(path, "gpt2")
    for number in (struct.pack("<II", 4, 2**32 - 1), struct.pack("<Ii", 5, -1)):  # no such token
        path.write_bytes(gguf_of(**{name: number}))
        assert read_gguf(path, "gpt2").unknown is None
    path.write_bytes(gguf_of(image_token_id=struct.pack("<II", 4, 9)))  # of another part of the model
    assert read_gguf(path, "gpt2").unknown is None


LIES = {
    "a text without end": struct.pack("<IQ", 8, 2**62),
    "the longest text": struct.pack("<IQ", 8, 2**64 - 1),
    "a list of texts without end": struct.pack("<IIQ", 9, 8, 2**61),
    "the longest list": struct.pack("<IIQ", 9, 8, 2**64 - 1),
    "a list of numbers without end": struct.pack("<IIQ", 9, 5, 2**40),
    "lists in lists": struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 50_000,
    "a type that is none": struct.pack("<I", 99),
    "a number for a list": struct.pack("<Ii", 5, -1),
    "types that are none": struct.pack("<IIQi", 9, 5, 1, -5),
    "no tokens": struct.pack("<IIQ", 9, 8, 0),
    "more of them": struct.pack("<IIQff", 9, 6, 2, float("nan"), float("nan")),
}


@pytest.mark.parametrize("name", ["tokens", "token_type", "scores", "merges"])
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_gguf_that_lies_is_refused_without_taking_memory(name, lie, tmp_path):
    path = tmp_path / "lies.gguf"
    path.write_bytes(gguf_of(**{name: lie}))
    tracemalloc.start()
    try:
        if name not in ("merges", "scores") or lie != LIES["no tokens"]:  # of these there may be none
            with pytest.raises(TokenizerError, match=r"lies\.gguf: .*(damaged|vocabulary)"):
                read_gguf(path, "gpt2")
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
