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


TEXTS = ["[CLS] cafe  [MASK] x<new> <mask>.<s>", "new [UNK]<new>new cafe</s>", "Caf É [QUESTION] [SEP]"]
MASK = {"content": "<mask>", "lstrip": True, "normalized": False, "rstrip": False, "single_word": False}


def as_theirs(vocab: Path, files: dict[str, Any]) -> None:
    """Check ids and text, with special tokens and without, for files beside `vocab`."""
    from transformers import AutoTokenizer

    for name, content in files.items():
        vocab.with_name(f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    theirs = AutoTokenizer.from_pretrained(vocab.parent)
    for match in (False, True):
        ours = load(f"wordpiece:{vocab},match_special={str(match).lower()}")
        assert ours.vocab_size == len(theirs)
        for text in TEXTS:
            ids = theirs.encode(text, add_special_tokens=False, split_special_tokens=not match)
            assert ours(text) == ids, (match, text)
            assert ours.decode(ids) == theirs.decode(ids)


@pytest.mark.parametrize("of_class", ["Bert", "MPNet", "Splinter"])
@pytest.mark.parametrize(
    "files",
    [
        {},
        {"special_tokens_map": {"mask_token": "<mask>", "cls_token": "<s>"}},
        {"special_tokens_map": {"mask_token": MASK, "pad_token": None}},
        {"special_tokens_map": {"additional_special_tokens": ["<new>", "new"]}},
        {"special_tokens_map": {"extra_special_tokens": [MASK, "<new>"]}},
        {"special_tokens_map": {"mask_token": MASK}, "added_tokens": {"<new>": 15, "<mask>": 16}},
        {"special_tokens_map": {"additional_special_tokens": ["new"]}, "added_tokens": {"new": 15}},
    ],
)
def test_special_tokens_map_is_read(vocab: Path, of_class: str, files: dict[str, Any]) -> None:
    """What a class has and the vocabulary lacks is added behind it."""
    as_theirs(vocab, {"tokenizer_config": {"tokenizer_class": f"{of_class}Tokenizer"}, **files})


@pytest.mark.parametrize(
    "config",
    [
        {"added_tokens_decoder": {}},
        {"added_tokens_decoder": {"15": MASK, "4": {**MASK, "content": "[MASK]", "special": True}}},
        {"additional_special_tokens": ["<new>"]},
        {"additional_special_tokens": []},
        {"additional_special_tokens": [{"__type": "AddedToken", "content": "<new>", "rstrip": True}]},
        {"extra_special_tokens": {"new_token": "<new>", "other": "x"}},
        {"new_token": "<new>", "mask_token": None, "add_bos_token": True},
        {"mask_token": {"__type": "AddedToken", **MASK, "normalized": True}},
    ],
)
def test_what_the_configuration_says_goes_before_special_tokens_map(
    vocab: Path, config: dict[str, Any]
) -> None:
    others = {"special_tokens_map": {"additional_special_tokens": ["caf"]}, "added_tokens": {"new": 15}}
    as_theirs(vocab, {"tokenizer_config": {"tokenizer_class": "BertTokenizer", **config}, **others})


@pytest.mark.parametrize(
    "files",
    [
        {"config": {"model_type": "mpnet"}},
        {"config": {"model_type": "distilbert"}, "tokenizer_config": {"do_lower_case": False}},
        {"config": {"model_type": "bert", "tokenizer_class": "MPNetTokenizer"}},
        {"config": {"model_type": "mpnet"}, "tokenizer_config": {"tokenizer_class": "BertTokenizerFast"}},
    ],
)
def test_the_class_is_that_of_the_model_where_none_is_named(vocab: Path, files: dict[str, Any]) -> None:
    as_theirs(vocab, files)


@pytest.mark.parametrize(
    "config",
    [
        {"new_token": "<new>", "extra_special_tokens": {"other": "new"}},
        {"added_tokens_decoder": {"4": {"content": "[MASK]", "lstrip": True}}},
        {"additional_special_tokens": [{"__type": "AddedToken", "content": "[MASK]", "rstrip": True}]},
        {"pad_token": {"__type": "AddedToken", "content": "[CLS]", "single_word": True}},
        {"bos_token": "[MASK]", "sep_token": {"__type": "AddedToken", **MASK, "content": "[MASK]"}},
    ],
)
def test_of_a_token_that_is_named_in_several_ways(vocab: Path, config: dict[str, Any]) -> None:
    others = {"special_tokens_map": {"new_token": "x", "additional_special_tokens": ["caf"]}}
    as_theirs(vocab, {"tokenizer_config": {"tokenizer_class": "BertTokenizer", **config}, **others})


def test_a_cased_vocabulary_of_a_class_is_lower_cased_as_the_class_has_it(vocab: Path) -> None:
    capitals = [one + other.lower() for one in "ABCDEFGHIJ" for other in "ABCDEFGHIJKLMNO"]
    vocab.write_text("\n".join([*TOKENS, *capitals]) + "\n", encoding="utf-8")
    assert load(f"wordpiece:{vocab}").tokenize("Ab") == ["Ab"]
    as_theirs(vocab, {"config": {"model_type": "bert"}})
    assert load(f"wordpiece:{vocab}").tokenize("Ab") == ["[UNK]"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"config": {"model_type": "tapas"}},
            r"config\.json: how .* of the type 'tapas' cuts text is not known",
        ),
        ({"special_tokens_map": {"mask_token": ["x"]}}, r"special_tokens_map\.json.* lacks its content"),
        ({"special_tokens_map": ["x"]}, r"special_tokens_map\.json: expected an object, found a list"),
        (
            {"tokenizer_config": {"additional_special_tokens": "x"}},
            "further special tokens are 'x', not a list",
        ),
        ({"tokenizer_config": {"added_tokens_decoder": {"1": "x"}}}, "a token in it lacks its content or id"),
        ({"tokenizer_config": {"mask_token": 3}}, "a special token in .* is 3, neither a text nor an object"),
    ],
)
def test_files_beside_a_vocabulary_that_cannot_be_meant_are_refused(
    vocab: Path, files: dict[str, Any], message: str
) -> None:
    for name, content in files.items():
        vocab.with_name(f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(TokenizerError, match=message):
        load(f"wordpiece:{vocab}")


@pytest.mark.parametrize("of_class", ["DPRContextEncoder", "DPRQuestionEncoder", "DPRReader"])
@pytest.mark.parametrize("lower", [True, False])
def test_dpr_lower_cases_whatever_it_is_told(vocab: Path, of_class: str, lower: bool) -> None:
    as_theirs(vocab, {"tokenizer_config": {"tokenizer_class": f"{of_class}Tokenizer", "do_lower_case": lower}})
