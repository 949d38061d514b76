"""Added tokens as `tokenizers` has them: decoded, listed twice, refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokbench_subword.pipeline.added_tokens import AddedToken, AddedTokens, new_tokens
from tokenizers import AddedToken as TheirToken
from tokenizers import Tokenizer, models

import tokbench
from tokbench.errors import TokenizerError


def test_tokens_of_white_space_and_characters_unassigned_in_unicode_16():
    theirs = Tokenizer(models.BPE({c: i for i, c in enumerate("ab \U00012588\U0001dff7")}, []))
    flags = {"\n": {"lstrip": True, "rstrip": True}, "  ": {"single_word": True, "lstrip": True}}
    theirs.add_tokens([TheirToken(text, normalized=False, **one) for text, one in flags.items()])
    ours = AddedTokens(AddedToken(text, theirs.token_to_id(text), **one) for text, one in flags.items())
    for text in ("\n\n \n", "a\n\n\nb", "\U00012588  a", "b  \U0001dff7", "a      \n", "\U00012588      a"):
        found = [piece.token.id for piece in ours.split(text, match_special=True) if piece.token]
        assert found == [index for index in theirs.encode(text).ids if index > 4], ascii(text)


def test_a_token_that_is_there_cannot_be_added():
    with pytest.raises(TokenizerError, match="'x' is in the vocabulary already"):
        new_tokens(["y", "x"], {"x"}, 0)
    with pytest.raises(TokenizerError, match="empty"):
        new_tokens([""], {}, 0)
    with pytest.raises(TokenizerError, match="'y'"):
        new_tokens(["y", "y"], {}, 0)


NORMALIZERS: dict[str, Any] = {
    "lowercase": {"type": "Lowercase"},
    "Llama's": {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "bytes": {"type": "ByteLevel"},
    "none": None,
}  # fmt: skip
DECODERS: list[Any] = [
    None,
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
        {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
]  # fmt: skip
LETTERS = {letter: index for index, letter in enumerate(["<unk>", *"abcx ▁<>", "Ġ", "ß", "Ã"])}
MODELS: dict[str, dict[str, Any]] = {
    "bpe": {"type": "BPE", "vocab": LETTERS, "merges": []},
    "wordpiece": {"type": "WordPiece", "vocab": LETTERS, "unk_token": "<unk>",
                  "continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
    "unigram": {"type": "Unigram", "vocab": [[letter, -1.0] for letter in LETTERS], "unk_id": 0},
}  # fmt: skip


def _entry(content: str, index: int, **flags: bool) -> dict[str, Any]:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), False)
    return {"id": len(LETTERS) + index, "content": content, "normalized": True, **plain, **flags}


def _opened(family: str, added: list[dict[str, Any]], folder: Path, **parts: Any) -> tuple[Any, Tokenizer]:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "added_tokens": added, "model": MODELS[family], **parts}))
    theirs = Tokenizer.from_file(str(path))
    theirs.encode_special_tokens = True
    return tokbench.load(f"{family}:{path}"), theirs


@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_added_tokens_are_decoded_as_they_are_looked_for(family: str, normalizer: str, tmp_path: Path) -> None:
    """As `tokenizers` does since 0.23: ``<X>`` behind a normalizer that lowers case is decoded ``<x>``."""
    added = [_entry("<X>", 0), _entry(" Ab", 1), _entry("ßß", 2), _entry("<Raw>", 3, normalized=False)]
    first = len(LETTERS)
    for decoder in DECODERS:
        ours, theirs = _opened(family, added, tmp_path, normalizer=NORMALIZERS[normalizer], decoder=decoder)
        for ids in (
            [first],
            [first, first],
            [1, first + 1, 2],
            [first + 2, first + 3, first + 2],
            [first + 3, 6],
        ):
            assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False), (decoder, ids)
        for text in ("a<X>b <X> Ab ßß<Raw>", "<x> ab"):
            assert list(ours.encode(text)) == theirs.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("family", MODELS)
def test_entries_that_are_empty_or_listed_twice_are_taken_as_tokenizers_takes_them(
    family: str, tmp_path: Path
) -> None:
    for added in (
        [_entry("", 0)],
        [_entry("", 0), _entry("<x>", 0)],
        [_entry("<x>", 0), _entry("<x>", 0, special=True)],
        [_entry("<x>", 0, special=True), _entry("<x>", 0, lstrip=True), _entry("<y>", 1)],
        [_entry("<x>", 0, lstrip=True), _entry("<x>", 0), _entry("<y>", 1, rstrip=True)],
    ):
        ours, theirs = _opened(family, added, tmp_path)
        assert ours.vocab_size == theirs.get_vocab_size()
        for text in ("a <x> b", "<y> <x>", "<y>"):
            assert list(ours.encode(text)) == theirs.encode(text, add_special_tokens=False).ids, (added, text)


@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize(
    ("added", "match"),
    [
        ([_entry("<X>", 0), _entry("<x>", 1)], r"makes '<x>' of the added tokens '<X>' and '<x>'"),
        ([_entry("¨", 0)], r"leaves nothing of the added token '¨'.*\"normalized\": false"),
        ([_entry("<x>", 0), _entry("<x>", 1)], r"'<x>' has the ids 12 and 13; keep one"),
        ([_entry("<x>", 0), _entry("<y>", 0)], r"'<x>' and '<y>' share the id 12"),
    ],
)
def test_added_tokens_that_tokenizers_takes_otherwise_each_time_are_refused(
    family: str, added: list[dict[str, Any]], match: str, tmp_path: Path
) -> None:
    strip = {"type": "Replace", "pattern": {"String": "¨"}, "content": ""}
    steps = {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, strip]}
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: .*" + match):
        _opened(family, added, tmp_path, normalizer=steps)
