"""Tekken: what is written is read back with equal ids, and what cannot be said is refused."""

from __future__ import annotations

import json

import pytest
from tokbench_subword.files.recognising import format_of
from tokbench_subword.files.tekken import read_tekken

import tokbench
from tokbench.errors import TokenizerError

TEXTS = ["Hello world's 123 tests,  twice!\n\n  new\tline", "naïve 東京 <|end|> x<extra>y", "", " a"]


def ids(spec: str, text: str) -> list[int]:
    return list(map(int, tokbench.load(spec).encode(text)))


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


def test_a_folder_may_hold_tekken_alone(tmp_path):
    tekken_file(tmp_path / "tekken.json")
    (tmp_path / "params.json").write_text("{}")
    assert (
        list(tokbench.load(str(tmp_path)).encode("the x")) == ids(f"bpe:{tmp_path}", "the x") == [260, 35, 123]
    )


def test_tekken_is_what_mistral_common_gives(tmp_path):
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    named = [{"rank": rank, "token_str": f"<{rank}>", "is_control": True} for rank in range(3)]
    path = tekken_file(tmp_path / "tekken.json", special_tokens=named)
    theirs = tekken.Tekkenizer.from_file(path)
    for text in TEXTS:
        assert ids(f"bpe:{path}", text) == theirs.encode(text, bos=False, eos=False)


def test_ranks_that_do_not_begin_with_the_bytes_are_not_written_as_tekken(tmp_path):
    """mistral-common asserts it; cl100k's ranks have the bytes in another order."""
    import base64

    tokens = [bytes([byte]) for byte in (*range(33, 256), *range(33))] + [b"th"]
    ranks = b"".join(base64.b64encode(token) + f" {rank}\n".encode() for rank, token in enumerate(tokens))
    (tmp_path / "ours.tiktoken").write_bytes(ranks)
    source = tokbench.load(f"bpe:{tmp_path / 'ours.tiktoken'},pattern=o200k")
    with pytest.raises(TokenizerError, match="the bytes in their order"):
        source.save(tmp_path / "tekken.json")
    source = tokbench.load(f"bpe:{tmp_path / 'ours.tiktoken'},pattern=cl100k")
    with pytest.raises(TokenizerError, match="looks up whole pre-tokens first"):
        source.save(tmp_path / "ours.gguf")


MANY = {"pattern": "x", "default_num_special_tokens": 10**9, "default_vocab_size": 10**10}
WHOLE = {"pattern": "x", "default_num_special_tokens": 3, "default_vocab_size": 261}
TWICE = [{"rank": rank, "token_str": text} for rank, text in enumerate(["</s>", "</s>", "b"])]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"config": {}}, "not a whole tekken.json"),
        ({"config": MANY}, "is damaged: default_num_special_tokens"),
        ({"config": WHOLE | {"pattern": 3}}, "its pattern is 3, no text"),
        ({"config": WHOLE | {"default_vocab_size": 261.5}}, "'float' object"),
        ({"special_tokens": TWICE}, "given twice"),
        ({"special_tokens": [*TWICE[1:], TWICE[1] | {"token_str": "c"}]}, "given twice"),
        ({"special_tokens": [{"rank": 3, "token_str": "b"}]}, "'b' has the rank 3, outside those of the 3"),
        ({"special_tokens": [{"rank": -1, "token_str": "b"}]}, "'b' has the rank -1, outside"),
    ],
)
def test_tekken_that_is_not_whole_is_refused(tmp_path, change, match):
    path = tekken_file(tmp_path / "tekken.json", **change)
    with pytest.raises(TokenizerError, match=match):
        tokbench.load(f"bpe:{path}")
