"""`diff` finds what was sown: each kind of difference between two tokenizers that ought to be one."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from tokbench_tiktoken.sources import blueprint
from typer.testing import CliRunner

import tokbench
from tokbench.cli import app
from tokbench.inspection.diff import diff
from tokbench.inspection.divergence import CAUSES
from tokbench.inspection.recent import is_recent

TEXTS = [
    "plain words the cat",
    "two  spaces and\n\nlines",
    "the number 1234567",
    "cafe\u0301 and <|endoftext|>",
    "the end of it",
]


def documents(*texts: str):
    return [(str(number), text) for number, text in enumerate(texts or TEXTS, start=1)]


@pytest.fixture
def edited(test_data: Path, tmp_path: Path):
    """A copy of a `tokenizer.json` after an edit of its content."""

    def make(model: str, edit) -> str:
        content = json.loads(
            (test_data / "vocabs" / model / "hf" / "tokenizer.json").read_text(encoding="utf-8")
        )
        edit(content)
        path = tmp_path / f"{model}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return f"transformers:{path}"

    return make


def pattern(regex: str):
    def edit(content):
        split = {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
        level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
        content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, level]}

    return edit


def test_equal_tokenizers_are_equal(test_data):
    found = diff(tokbench.load("gpt-2"), tokbench.load(f"transformers:{test_data}/vocabs/gpt2/hf"), documents())
    assert found.equal
    assert found.share_equal == 1
    assert found.divergences == ()
    assert found.n_tokens_a == found.n_tokens_b > 0


def test_raw_sentencepiece_file_in_transformers(test_data):
    vocabs = test_data / "vocabs"
    raw = tokbench.load(f"transformers:{vocabs}/llama-2,tokenizer_class=LlamaTokenizer")
    found = diff(raw, tokbench.load(f"transformers:{vocabs}/llama-2/hf"), documents())
    assert found.causes == {"white space": 1}
    (one,) = found.divergences
    assert one.document == "2"
    assert TEXTS[1][one.start : one.end] == one.text == "  spaces"
    assert one.a[one.lead].text == "  "


def test_possessive_pattern_pasted_into_tokenizers(test_data, tmp_path, edited):
    ranks = tmp_path / "r50k.tiktoken"
    ranks.symlink_to(blueprint("r50k_base").sources[0].path)
    right = tokbench.load(f"tiktoken:{ranks},pattern=cl100k_base")
    pasted = tokbench.load(edited("gpt2", pattern(blueprint("cl100k_base").pattern)))
    found = diff(right, pasted, documents())
    assert found.causes == {"digits": 1}
    assert "1234567".endswith(found.divergences[0].text)


def test_two_ids_swapped(edited):
    def swap(content):
        vocab = content["model"]["vocab"]
        vocab["Ġthe"], vocab["Ġof"] = vocab["Ġof"], vocab["Ġthe"]

    found = diff(tokbench.load("gpt-2"), tokbench.load(edited("gpt2", swap)), documents())
    assert found.causes == {"numbering": 2}
    assert {divergence.text for divergence in found.divergences} == {" the", " of"}


def test_swapped_ids_are_equal_by_their_bytes(edited):
    def swap(content):
        vocab = content["model"]["vocab"]
        vocab["Ġthe"], vocab["Ġof"] = vocab["Ġof"], vocab["Ġthe"]

    pair = tokbench.load("gpt-2"), tokbench.load(edited("gpt2", swap))
    assert diff(*pair, documents(), by_bytes=True).equal
    assert not diff(tokbench.load("gpt-2"), tokbench.load("gpt-4"), documents(), by_bytes=True).equal


def test_another_version_of_unicode(tmp_path):
    r"""Nag Mundari came with Unicode 15: to an older table its letters are no ``\p{L}``."""
    letter = "\U0001e4d0".encode()
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [letter[:2], letter[:3], letter, b"a" + letter]
    ranks = tmp_path / "made.tiktoken"
    ranks.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens)))
    newer = tokbench.load(f"tiktoken:{ranks},pattern=\\p{{L}}+|[^\\p{{L}}]")
    older = tokbench.load(f"tiktoken:{ranks},pattern=[^\\P{{L}}\\x{{1E4D0}}-\\x{{1E4FF}}]+|.")
    found = diff(newer, older, documents("plain", "a\U0001e4d0b", "end"))
    assert found.causes == {"Unicode class": 1}
    assert found.divergences[0].text == "a\U0001e4d0"
    assert is_recent("\U0001e4d0")
    assert not is_recent("é")


def test_special_tokens(test_data):
    found = diff(tokbench.load("gpt-2"), tokbench.load("tiktoken:gpt2,special=match"), documents())
    assert found.causes == {"special tokens": 1}


def test_normalisation(test_data, edited):
    bare = edited("qwen2", lambda content: content.update(normalizer=None))
    found = diff(tokbench.load(f"transformers:{test_data}/vocabs/qwen2/hf"), tokbench.load(bare), documents())
    assert found.causes == {"normalisation": 1}


def test_unknown_and_segmentation(test_data):
    t5 = tokbench.load(f"sentencepiece:{test_data}/vocabs/t5-base/spiece.model")
    llama = tokbench.load(f"sentencepiece:{test_data}/vocabs/llama-2/tokenizer.model")
    assert diff(t5, llama, documents("龘"), by_bytes=True).causes == {"unknown": 1}
    found = diff(
        tokbench.load("gpt-2"), tokbench.load("gpt-4o"), documents("internationalisation"), by_bytes=True
    )
    assert set(found.causes) <= {"segmentation", "ties"}


def test_json_and_examples_of_each_kind(test_data):
    many = documents(*(f"number {number}1234" for number in range(30)), "two  spaces")
    found = diff(tokbench.load("gpt-2"), tokbench.load("gpt-4"), many, examples=8)
    assert len(found.divergences) <= 8
    content = json.loads(json.dumps(found.as_json()))
    assert sum(content["causes"].values()) == content["n_documents"] - content["n_equal"]
    assert set(content["causes"]) <= set(CAUSES)


def test_no_documents():
    found = diff(tokbench.load("bytes"), tokbench.load("chars"), [])
    assert found.equal
    assert found.as_json()["share_equal"] is None


@pytest.mark.parametrize(("b", "status"), [("bytes", 0), ("chars", 1)])
def test_the_command_exits_as_it_found(b, status, tmp_path):
    (tmp_path / "text.txt").write_text("plain\né\n", encoding="utf-8")
    arguments = ["diff", "bytes", b, "-d", str(tmp_path / "text.txt")]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == status
    assert ("é₂" in result.output) == bool(status)
    content = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert content["n_documents"] == 2
    assert content["n_equal"] == 2 - status
