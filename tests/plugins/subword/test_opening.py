"""What the three families that open a `tokenizer.json` do alike with the options of a spec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tokbench
from tokbench.errors import TokenizerError, UnknownNameError
from tokbench.inspection.facts import facts
from tokbench.registry import build_registry

MODELS: dict[str, dict[str, Any]] = {
    "bpe": {"type": "BPE", "vocab": {"[UNK]": 0, "a": 1, "b": 2}, "merges": [], "unk_token": "[UNK]"},
    "wordpiece": {
        "type": "WordPiece",
        "vocab": {"[UNK]": 0, "a": 1, "b": 2},
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    },
    "unigram": {"type": "Unigram", "vocab": [["[UNK]", 0.0], ["a", -1.0], ["b", -2.0]], "unk_id": 0},
}


@pytest.fixture(params=MODELS)
def spec(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The spec of a tokenizer that has a special token, <mark>."""
    mark = {"id": 3, "content": "<mark>", "special": True, "single_word": False}
    mark |= {"lstrip": False, "rstrip": False, "normalized": False}
    content = {
        "version": "1.0",
        "added_tokens": [mark],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": MODELS[request.param],
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    return f"{request.param}:{tmp_path / 'tokenizer.json'}"


def test_stages_find_special_tokens_where_encoding_does(spec: str) -> None:
    stages: Any = tokbench.load(spec)
    assert stages.stages("a<mark>b")["added tokens"] == ["a<mark>b"]
    stages = tokbench.load(f"{spec},match_special=true")
    assert stages.stages("a<mark>b")["added tokens"] == ["a", "<mark>", "b"]
    assert 3 in stages.encode("a<mark>b")


def test_what_encoding_was_prepared_for_cannot_be_set_afterwards(spec: str) -> None:
    """A copy in another process would be prepared for it, and give other ids."""
    tokenizer: Any = tokbench.load(spec)
    with pytest.raises(AttributeError):
        tokenizer.match_special = True
    with pytest.raises(AttributeError):
        tokenizer.vocab_size = 9
    assert tokenizer.changed(match_special=True).match_special


@pytest.mark.parametrize("option", ["end_of_word=</w>", "vocab_size=9"])
def test_options_of_training_are_refused_for_what_is_trained(spec: str, option: str) -> None:
    """`end_of_word` was accepted by BPE, and did nothing; the other families have no such option."""
    with pytest.raises((TokenizerError, UnknownNameError), match=option.partition("=")[0]):
        tokbench.load(f"{spec},{option}")


def test_facts_list_all_files_that_are_read_with_their_sizes(tmp_path: Path) -> None:
    """Families of our own named one file alone, and nothing of its size."""
    texts = {
        "vocab.json": json.dumps({"a": 0, "b": 1, "ab": 2}),
        "merges.txt": "#version: 0.2\na b\n",
        "tokenizer_config.json": '{"tokenizer_class": "GPT2Tokenizer"}',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    registry = build_registry()
    spec = registry.tokenizer_spec(f"bpe:{tmp_path}")
    found = facts(registry.load(spec), registry.tokenizers["bpe"], spec, registry.context)["files"]
    assert {Path(file["path"]).name: file["bytes"] for file in found} == {
        name: len(text) for name, text in texts.items()
    }
