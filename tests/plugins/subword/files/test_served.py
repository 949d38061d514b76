"""GGUF and Tekken: what is written is read back with equal ids, and what cannot be said is refused."""

from __future__ import annotations

import json

import pytest
from tokbench_subword.files.recognising import format_of
from tokbench_subword.files.tekken import read_tekken

import tokbench
from tokbench.errors import TokenizerError

BYTES = {"type": "ByteLevel", "trim_offsets": True}
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
            {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}},
            "the space it puts",
        ),
        (
            {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}},
            "llama.cpp has no",
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


def test_gguf_that_is_damaged_or_another_model_is_refused(tmp_path):
    gguf = pytest.importorskip("gguf")
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + bytes(40))
    with pytest.raises(TokenizerError, match=r"damaged GGUF|without a vocabulary"):
        tokbench.load(f"bpe:{damaged}")
    for model, pre, match in (
        ("llama", "default", "model 'llama'"),
        ("gpt2", "falcon", "pre-tokenizer 'falcon'"),
    ):
        path = tmp_path / f"{model}.gguf"
        writer = gguf.GGUFWriter(str(path), "llama")
        writer.add_tokenizer_model(model)
        writer.add_tokenizer_pre(pre)
        writer.add_token_list(["a", "b"])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
        with pytest.raises(TokenizerError, match=match):
            tokbench.load(f"bpe:{path}")


def tekken_file(path, **changed):
    """A file as mistral-common reads it: three special tokens, all bytes and two more."""
    import base64

    tokens = [bytes([byte]) for byte in range(256)] + [b"th", b"the", b"unused"]
    content = {
        "config": {
            "pattern": r"\p{L}+|\p{N}|[^\p{L}\p{N}]",
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": 3 + 258,
            "default_num_special_tokens": 3,
            "version": "v3",
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
    } | changed
    path.write_text(json.dumps(content))
    return path


def test_tekken_ids_are_ranks_behind_the_special_tokens(tmp_path):
    path = tekken_file(tmp_path / "tekken.json")
    assert format_of(path) == "tekken"
    tokenizer = tokbench.load(str(path))
    assert list(tokenizer.encode("the x")) == [3 + 257, 3 + 32, 3 + ord("x")]
    assert tokenizer.vocab_size == 261
    assert tokenizer.special_ids == {0, 1, 2}
    assert tokenizer.facts()["special_tokens"]["<s>"] == 1
    tokenizer.save(tmp_path / "again_tekken.json")
    again = read_tekken(tmp_path / "again_tekken.json")
    assert (again.first, again.ranks[b"the"], again.special_tokens["</s>"]) == (3, 257, 2)
    assert ids(str(tmp_path / "again_tekken.json"), "the x") == [260, 35, 123]


def test_tekken_is_what_mistral_common_gives(tmp_path):
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    path = tekken_file(tmp_path / "tekken.json")
    theirs = tekken.Tekkenizer.from_file(path)
    for text in TEXTS:
        assert ids(f"bpe:{path}", text) == theirs.encode(text, bos=False, eos=False)


@pytest.mark.parametrize(
    ("change", "match"),
    [({"config": {}}, "not a whole tekken.json"), ({"special_tokens": [{"rank": 0, "token_str": "</s>"},
      {"rank": 1, "token_str": "</s>"}, {"rank": 2, "token_str": "b"}]}, "given twice")],
)  # fmt: skip
def test_tekken_that_is_not_whole_is_refused(tmp_path, change, match):
    path = tekken_file(tmp_path / "tekken.json", **change)
    with pytest.raises(TokenizerError, match=match):
        tokbench.load(f"bpe:{path}")
