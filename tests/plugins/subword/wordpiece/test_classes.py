"""What stands beside a `vocab.txt`, and the classes of `transformers`: special tokens, and added ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.subword.wordpiece.small_vocabulary import TOKENS, load
from tokbench.errors import TokenizerError


def test_added_tokens_beside_a_vocabulary_and_classes_that_are_not_berts(vocab: Path) -> None:
    from transformers import AutoTokenizer

    flags = {"lstrip": False, "normalized": True, "rstrip": False, "single_word": False, "special": False}
    beside = vocab.with_name("tokenizer_config.json")
    config = {"tokenizer_class": "BertTokenizer", "added_tokens_decoder": {"15": {"content": "Eca", **flags}}}
    beside.write_text(json.dumps(config))
    ours, theirs = load(f"wordpiece:{vocab}"), AutoTokenizer.from_pretrained(vocab.parent)
    for text in ("caf eca ECAFÉ", "cafe", "x"):
        assert ours(text) == theirs.encode(text, add_special_tokens=False)
    beside.write_text('{"tokenizer_class": "BertJapaneseTokenizer"}')
    with pytest.raises(
        TokenizerError, match=r"how BertJapaneseTokenizer cuts text is not known.*transformers:"
    ):
        load(f"wordpiece:{vocab}")
    beside.unlink()
    vocab.with_name("added_tokens.json").write_text('{"new": 20}')
    with pytest.raises(TokenizerError, match="has the id 20"):
        load(f"wordpiece:{vocab}")


@pytest.mark.parametrize(
    "config",
    [
        {"mask_token": "caf"},
        {"unk_token": {"__type": "AddedToken", "content": "caf"}},
        {"mask_token": {"__type": "AddedToken", "content": "[MASK]", "lstrip": True}},
        {"additional_special_tokens": ["caf", "[MASK]"]},
    ],
)
def test_special_tokens_are_those_that_the_configuration_names(vocab: Path, config: dict[str, Any]) -> None:
    from transformers import AutoTokenizer

    told = json.dumps({"tokenizer_class": "BertTokenizer", **config})
    vocab.with_name("tokenizer_config.json").write_text(told)
    ours, theirs = load(f"wordpiece:{vocab},match_special=true"), AutoTokenizer.from_pretrained(vocab.parent)
    assert ours.special_ids == {*theirs.all_special_ids}
    for text in ("xcafe [MASK]cafe", "[UNK] Caf", "[CLS]e"):
        assert ours(text) == theirs.encode(text, add_special_tokens=False)


@pytest.mark.parametrize("of_class", ["MPNet", "Funnel", "Splinter", "DistilBert", "LayoutLM"])
@pytest.mark.parametrize("config", [{}, {"mask_token": "<mask>"}, {"unk_token": "[UNK]", "cls_token": "caf"}])
def test_special_tokens_are_those_of_the_class_where_the_configuration_names_none(
    vocab: Path, of_class: str, config: dict[str, Any]
) -> None:
    """All classes once had BERT's, and Funnel was refused for want of a token ``[UNK]``."""
    from transformers import AutoTokenizer

    more = ["<unk>", "<s>", "</s>", "<pad>", "<cls>", "<sep>", "<mask>", "[QUESTION]", *"<>s["]
    vocab.write_text("\n".join([*TOKENS, *more]) + "\n", encoding="utf-8")
    told = json.dumps({"tokenizer_class": f"{of_class}Tokenizer", **config})
    vocab.with_name("tokenizer_config.json").write_text(told)
    ours, theirs = load(f"wordpiece:{vocab},match_special=true"), AutoTokenizer.from_pretrained(vocab.parent)
    assert ours.special_ids == {*theirs.all_special_ids}
    for text in ("<s>cafe <mask> cafe</s>", "caf [MASK] x <unk>[UNK]", "[CLS]<cls> [QUESTION]<pad>"):
        assert ours(text) == theirs.encode(text, add_special_tokens=False)


def test_a_vocabulary_without_the_unknown_token_of_its_class_is_refused(vocab: Path) -> None:
    vocab.with_name("tokenizer_config.json").write_text('{"tokenizer_class": "FunnelTokenizer"}')
    with pytest.raises(TokenizerError, match=r"the unknown token '<unk>' is not among .* with unk_token="):
        load(f"wordpiece:{vocab}")
