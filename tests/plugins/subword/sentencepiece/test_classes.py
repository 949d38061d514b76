"""A folder with a `.model`, and the classes of `transformers` that open it: ids, special tokens, decoding."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import tokbench
from tokbench.errors import TokenizerError
from tokbench.inspection.facts import facts
from tokbench.registry import build_registry

UNIGRAM, BPE = "test_model.model", "test_sentencepiece_bpe.model"
MODELS = {
    "unigram": (
        *("XLMRoberta", "Camembert", "MBart", "MBart50", "XGLM", "T5", "BigBird", "XLNet", "DebertaV2", "FNet"),
        *("TokenizersBackend", "PreTrained"),
    ),
    "bpe": ("Nllb", "Reformer", "Llama", "Gemma", "TokenizersBackend"),
}
TEXTS = [
    *("", " ", "The quick  brown fox, it's\n\n  Ünï ﬁne\t12,000 ", "▁a ▁▁b", "``quote'' 水 \r x", "A<s>b </s>"),
    *(
        "<unk> x<mask> y",
        "  <mask><pad>[MASK] z [CLS]",
        "<extra_id_0> a<extra_id_5>",
        "en_XX hi sl_SI",
        "NUL 😀 é",
    ),
    *("<new>new <madeupword3>", "<0x41> cafe\u0301", "the"),
]
MASK = {"content": "<mask>", "lstrip": True, "normalized": False, "rstrip": False, "single_word": False}


@pytest.fixture
def model(tmp_path: Path, test_data: Path, request: pytest.FixtureRequest) -> Path:
    """The path of a model, alone in its folder."""
    name = getattr(request, "param", UNIGRAM)
    return Path(shutil.copy(test_data / "vocabs" / "spm-test" / name, tmp_path / "tokenizer.model"))


def write(folder: Path, **files: Any) -> None:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def as_theirs(folder: Path, family: str, **files: Any) -> None:
    """Check ids and text, with special tokens and without, for files beside a model."""
    from transformers import AutoTokenizer

    write(folder, **files)
    theirs = AutoTokenizer.from_pretrained(folder)
    for match in (False, True):
        ours: Any = tokbench.load(f"{family}:{folder},match_special={str(match).lower()}")
        assert ours.vocab_size == len(theirs)
        batch = ours.encode_batch(TEXTS).to_lists()
        for text, found in zip(TEXTS, batch, strict=True):
            ids = theirs.encode(text, add_special_tokens=False, split_special_tokens=not match)
            assert found == ids, (match, text)
            assert ours.decode(ids) == theirs.decode(ids)


def named(of_class: str, **config: Any) -> dict[str, Any]:
    return {
        "tokenizer_class": of_class.removesuffix("Tokenizer") + "Tokenizer" * ("Back" not in of_class),
        **config,
    }


@pytest.mark.parametrize(
    ("model", "family", "of_class"),
    [
        (UNIGRAM if family == "unigram" else BPE, family, name)
        for family, names in MODELS.items()
        for name in names
    ],
    indirect=["model"],
)
def test_ids_are_those_of_the_class_that_is_stated(model: Path, family: str, of_class: str) -> None:
    """They were those of sentencepiece, which no model of these classes was trained with."""
    as_theirs(model.parent, family, tokenizer_config=named(of_class))


@pytest.mark.parametrize(("vocabulary", "of_class"), [("albert-base-v1", "Albert"), ("t5-base", "Pegasus")])
def test_of_classes_that_want_pieces_of_their_own(
    tmp_path: Path, test_data: Path, vocabulary: str, of_class: str
) -> None:
    shutil.copy(test_data / "vocabs" / vocabulary / "spiece.model", tmp_path / "spiece.model")
    as_theirs(tmp_path, "unigram", tokenizer_config=named(of_class))


def test_user_defined_symbols_are_added_tokens_of_a_class(tmp_path: Path, test_data: Path) -> None:
    shutil.copy(test_data / "vocabs" / "albert-base-v1" / "spiece.model", tmp_path / "tokenizer.model")
    as_theirs(tmp_path, "bpe", tokenizer_config=named("Reformer"))
    as_theirs(tmp_path, "unigram", tokenizer_config=named("TokenizersBackend"))


@pytest.mark.parametrize(
    ("of_class", "config"),
    [
        ("XLMRoberta", {"additional_special_tokens": ["<new>", "the"], "mask_token": "[M]", "pad_token": None}),
        ("XLMRoberta", {"mask_token": {"__type": "AddedToken", **MASK}, "add_prefix_space": False}),
        ("Camembert", {"pad_token": "<unk>"}),
        ("T5", {"extra_ids": 0}),
        ("T5", {"extra_ids": 2, "additional_special_tokens": ["<extra_id_0>", "<extra_id_1>"]}),
        ("XLNet", {"do_lower_case": True, "keep_accents": True}),
        ("DebertaV2", {"do_lower_case": True, "split_by_punct": True, "add_prefix_space": False}),
        ("MBart", {"src_lang": "de_DE", "additional_special_tokens": ["<new>"]}),
        ("TokenizersBackend", {"legacy": False, "extra_special_tokens": ["<new>"]}),
    ],
)
def test_settings_of_the_configuration_are_followed(model: Path, of_class: str, config: dict[str, Any]) -> None:
    as_theirs(model.parent, "unigram", tokenizer_config=named(of_class, **config))


@pytest.mark.parametrize("model", [BPE], indirect=True)
@pytest.mark.parametrize(
    ("of_class", "config"),
    [
        ("Llama", {"legacy": True}),
        ("Llama", {"add_prefix_space": False}),
        ("Llama", {"add_prefix_space": 1}),
        ("Nllb", {"additional_special_tokens": ["eng_Latn", "<new>"], "src_lang": "eng_Latn"}),
        (
            "TokenizersBackend",
            {"added_tokens_decoder": {"5": {"content": "<five>"}, "0": {"content": "<unk>"}}},
        ),
    ],
)
def test_settings_are_followed_where_a_class_makes_bpe(
    model: Path, of_class: str, config: dict[str, Any]
) -> None:
    as_theirs(model.parent, "bpe", tokenizer_config=named(of_class, **config))


@pytest.mark.parametrize(
    "files",
    [
        {"special_tokens_map": {"additional_special_tokens": ["<new>"], "mask_token": MASK}},
        {"special_tokens_map": {"extra_special_tokens": ["<new>"]}},
        {"added_tokens": {"<new>": 1002}},
    ],
)
def test_other_files_that_name_tokens_are_read(model: Path, files: dict[str, Any]) -> None:
    as_theirs(model.parent, "unigram", tokenizer_config=named("XLMRoberta"), **files)


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("mt5", {"extra_ids": 0}),
        ("xlm-roberta", {}),
        ("nystromformer", named("Albert")),
        ("bert", named("XLMRoberta")),
    ],
)
def test_the_type_of_the_model_may_say_the_class(model: Path, kind: str, config: dict[str, Any]) -> None:
    as_theirs(model.parent, "unigram", config={"model_type": kind}, tokenizer_config=config)


def test_the_file_itself_has_the_ids_of_its_own_and_so_has_a_folder_without_a_class(model: Path) -> None:
    import sentencepiece

    theirs = sentencepiece.SentencePieceProcessor(model_file=str(model)).encode(TEXTS)
    write(model.parent, tokenizer_config={"extra_ids": 0})
    for spec in (f"unigram:{model}", f"unigram:{model.parent}"):
        assert tokbench.load(spec).encode_batch(TEXTS).to_lists() == theirs
    write(model.parent, tokenizer_config=named("XLMRoberta"))
    assert tokbench.load(f"unigram:{model}").encode_batch(TEXTS).to_lists() == theirs


def test_of_a_folder_the_tokenizer_json_goes_first(model: Path) -> None:
    """Of two files the `.model` was taken; `transformers` takes the other."""
    whole = {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}}
    write(model.parent, tokenizer=whole, tokenizer_config=named("XLMRoberta"))
    assert tokbench.load(f"unigram:{model.parent}").vocab_size == 2


def test_the_files_that_state_a_class_belong_to_the_tokenizer(model: Path) -> None:
    write(model.parent, tokenizer_config=named("XLMRoberta"), config={"model_type": "xlm-roberta"})
    registry = build_registry()
    for path, names in ((model.parent, 3), (model, 1)):
        spec = registry.tokenizer_spec(f"unigram:{path}")
        found = facts(registry.load(spec), registry.tokenizers["unigram"], spec, registry.context)["files"]
        assert len(found) == names


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"tokenizer_config": named("PLBart")},
            r"how PLBartTokenizer cuts .* name \S+tokenizer\.model for the",
        ),
        ({"config": {"model_type": "m2m_100"}}, r"of the type 'm2m_100' cuts text is not known"),
        ({"tokenizer_config": named("Llama")}, r"Llama makes BPE of it; load it as 'bpe:"),
        ({"tokenizer_config": named("T5", extra_ids="9")}, r"extra_ids is '9', not a number of tokens"),
        ({"tokenizer_config": named("Pegasus")}, r"unk_id -1 is outside the vocabulary"),
        ({"tokenizer_config": named("XLMRoberta"), "added_tokens": {"<new>": 9}}, "has the id 9"),
    ],
)
def test_what_cannot_be_followed_is_refused(model: Path, files: dict[str, Any], said: str) -> None:
    write(model.parent, **files)
    with pytest.raises(TokenizerError, match=said):
        tokbench.load(f"unigram:{model.parent}")


@pytest.mark.parametrize("model", [BPE], indirect=True)
def test_tokens_that_share_a_place_are_refused(model: Path) -> None:
    write(model.parent, tokenizer_config=named("Nllb", eos_token="<s>"))
    with pytest.raises(TokenizerError, match="one token has two places"):
        tokbench.load(f"bpe:{model.parent}")


def test_what_a_class_makes_is_saved_and_copied_with_it(model: Path, tmp_path: Path) -> None:
    import pickle

    write(model.parent, tokenizer_config=named("XLMRoberta"))
    tokenizer: Any = tokbench.load(f"unigram:{model.parent}")
    tokenizer.save(tmp_path / "saved.json")
    saved = tokbench.load(f"unigram:{tmp_path / 'saved.json'}")
    copied = pickle.loads(pickle.dumps(tokenizer))
    ids = tokenizer.encode_batch(TEXTS).to_lists()
    assert copied.encode_batch(TEXTS).to_lists() == saved.encode_batch(TEXTS).to_lists() == ids
