"""`vocab.json`, `merges.txt` and the files beside them are read as `transformers` reads them, or refused."""

from __future__ import annotations

import json

import pytest
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.files.vocab_merges import read_merges
from tokenizers import Tokenizer, models, trainers
from tokenizers import pre_tokenizers as P

import tokbench
from tokbench.errors import TokenizerError

TEXTS = [
    "It's a long way to the hat, he said; 12345 or 99 times.  They'll go.",
    "Der naïve Bär läuft über die Straße – und zurück.",
    "नमस्ते दुनिया, यह एक परीक्षण है। مرحبا بالعالم 今天天气很好",
] * 20


def _pair(folder, **files):
    """A folder as a tokenizer class of `transformers` keeps it, without `tokenizer.json`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = P.ByteLevel(add_prefix_space=False)
    alphabet = P.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.model.save(str(folder))
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return f"bpe:{folder}"


FLAGS = {"single_word": False, "lstrip": False, "rstrip": True, "normalized": False, "special": False}


@pytest.mark.parametrize(
    "config",
    [
        {"tokenizer_class": "GPT2Tokenizer"},
        {"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": True},
        {"tokenizer_class": "Qwen2Tokenizer"},
        {"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": {"400": {"content": "long", **FLAGS}}},
    ],
)
def test_a_pair_is_read_as_the_class_says_that_its_folder_names(tmp_path, config):
    from transformers import AutoTokenizer

    ours = tokbench.load(_pair(tmp_path, tokenizer_config=config, added_tokens={"\u00e4u": 400}))
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    for text in [*TEXTS[:3], "e\u0301 hello", "", " x", "a long  way", "Häuser 12345", "\n\n a"]:
        expected = theirs.encode(text, add_special_tokens=False, split_special_tokens=True)
        assert ours.encode(text).tolist() == expected, ascii(text)
    ours.save(tmp_path / "again.json")
    again = Tokenizer.from_file(str(tmp_path / "again.json"))
    assert again.encode("a long  way").ids == ours("a long  way")


MASK = {**FLAGS, "content": "<mask>", "lstrip": True, "rstrip": False}


@pytest.mark.parametrize(
    "of_class",
    [*("GPT2", "CodeGen", "Whisper", "Roberta", "Bart", "LED", "Blenderbot", "Deberta", "GPTNeoX", "Qwen2")],
)
@pytest.mark.parametrize(
    "files",
    [
        {},
        {
            "special_tokens_map": {
                "pad_token": "long",
                "mask_token": {k: MASK[k] for k in MASK if k != "special"},
            }
        },
        {
            "tokenizer_config": {
                "eos_token": "<mask>",
                "additional_special_tokens": ["long"],
                "added_tokens_decoder": {"400": MASK, "401": {**FLAGS, "content": "ziq"}},
            },
            "special_tokens_map": {"pad_token": "hat"},
        },
        {"tokenizer_config": {"bos_token": "ziq"}, "added_tokens": {"ziq": 400, "zoq": 401}},
    ],
)
def test_a_pair_has_the_special_tokens_of_its_class_and_those_that_files_name(tmp_path, of_class, files):
    """What a class has and the vocabulary lacks is added behind it."""
    from transformers import AutoTokenizer

    config = {"tokenizer_class": f"{of_class}Tokenizer", **files.get("tokenizer_config", {})}
    spec = _pair(tmp_path, **{**files, "tokenizer_config": config})
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    texts = [
        "a long  ziq <mask> to<mask>.ziq zoq",
        "<s>the hat</s> <unk><pad>",
        "[CLS] way [MASK]",
        "<|endoftext|> a\u030a",
    ]
    for match in (False, True):
        ours = tokbench.load(f"{spec},match_special={str(match).lower()}")
        assert ours.vocab_size == len(theirs)
        for text in texts:
            ids = theirs.encode(text, add_special_tokens=False, split_special_tokens=not match)
            assert ours.encode(text).tolist() == ids, (match, text)
            assert ours.decode(ids) == theirs.decode(ids, clean_up_tokenization_spaces=False)


@pytest.mark.parametrize("kind", ["gpt2", "qwen2", "blenderbot", "roberta", "gpt_neox"])
def test_a_pair_is_read_by_the_class_of_the_model_where_none_is_named(tmp_path, kind):
    """All pairs without a `tokenizer_config.json` were once read as GPT-2's."""
    from transformers import AutoTokenizer

    spec = _pair(tmp_path, config={"model_type": kind})
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    for text in (*TEXTS[:3], "e\u0301 12345"):
        expected = theirs.encode(text, add_special_tokens=False, split_special_tokens=True)
        assert tokbench.load(spec).encode(text).tolist() == expected
    (tmp_path / "config.json").write_text('{"model_type": "clip"}')
    with pytest.raises(TokenizerError, match=r"config\.json: how .* of the type 'clip' cuts .*pattern="):
        tokbench.load(spec)


def test_pairs_that_do_not_say_how_text_is_cut_are_refused(tmp_path):
    spec = _pair(tmp_path, tokenizer_config={"tokenizer_class": "XLMTokenizer"})
    with pytest.raises(
        TokenizerError, match=r"tokenizer_config.json: how XLMTokenizer cuts .*pattern=.*transformers:"
    ):
        tokbench.load(spec)
    assert tokbench.load(f"{spec},pattern=cl100k")("it's")
    (tmp_path / "tokenizer_config.json").write_text("[]")
    with pytest.raises(TokenizerError, match="expected an object, found a list"):
        tokbench.load(spec)
    (tmp_path / "tokenizer_config.json").write_text('{"added_tokens_decoder": {"a": {"content": "x"}}}')
    with pytest.raises(TokenizerError, match="lacks its content or id"):
        tokbench.load(spec)
    (tmp_path / "tokenizer_config.json").unlink()
    (tmp_path / "vocab.json").write_text('{"l": 0, "o": 1, "w</w>": 2, "lo": 3, "low</w>": 4}')
    with pytest.raises(TokenizerError, match=r"marked with </w>.*transformers:"):
        tokbench.load(spec)


def test_an_added_token_that_tokenizers_would_number_otherwise_is_refused(tmp_path):
    tokenizer = Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    content = json.loads(tokenizer.to_str())
    token = {"content": "<s>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    for index in (1, 5):
        content["added_tokens"] = [{"id": index, "special": True, **token}]
        assert Tokenizer.from_str(json.dumps(content)).token_to_id("<s>") == 2
        with pytest.raises(TokenizerError, match=rf"'<s>' has the id {index}; .*it has 2: correct"):
            BpeTokenizer.from_dict(content)
    with pytest.raises(TokenizerError, match="has the id 500"):
        tokbench.load(_pair(tmp_path, added_tokens={"x": 500}))


def test_an_id_that_is_no_int32_is_refused_with_its_file(tmp_path):
    spec = _pair(tmp_path)
    ids = json.loads((tmp_path / "vocab.json").read_text())
    (tmp_path / "vocab.json").write_text(json.dumps({**ids, max(ids, key=ids.get): 2**33}))
    with pytest.raises(TokenizerError, match=r"vocab\.json: its highest id is 8589934592, and only"):
        tokbench.load(spec)


def test_special_tokens_with_gaps_between_keep_their_ids_when_saved(tmp_path):
    vocabulary = (*(bytes([byte]) for byte in range(256)), b"ab")
    special = {"<|end|>": 300, "<|other|>": 270}
    ours = BpeTokenizer.of_model(
        BpeModel(vocabulary=vocabulary, merges=[[97, 98, 256]], special_tokens=special)
    )
    ours.save(tmp_path / "t.json")
    theirs = Tokenizer.from_file(str(tmp_path / "t.json"))
    assert {text: theirs.token_to_id(text) for text in special} == special
    again = BpeTokenizer.from_file(tmp_path / "t.json", match_special=True)
    assert again("ab<|end|>c<|other|>") == theirs.encode("ab<|end|>c<|other|>").ids == [256, 300, 99, 270]


@pytest.mark.parametrize("name", ["t.json", "t.tiktoken", "again"])
def test_a_pair_whose_special_tokens_are_found_in_text_is_written_in_another_format(tmp_path, name):
    """The text of special tokens seemed to disprove the conversion, as the file is read without the option."""
    spec = _pair(tmp_path, tokenizer_config={"tokenizer_class": "GPT2Tokenizer", "eos_token": "<end>"})
    ours = tokbench.load(f"{spec},match_special=true")
    ours.save(tmp_path / name)
    options = ",pattern=gpt2" if name.endswith("tiktoken") else ""
    again = tokbench.load(f"bpe:{tmp_path / name}{options}")
    assert again("a long way.") == ours("a long way.")


def test_a_pair_is_only_written_where_it_is_read_with_the_same_ids(tmp_path):
    trained = tokbench.load("bpe:vocab_size=300,pattern=llama3", train_on=TEXTS)
    with pytest.raises(TokenizerError, match=r"do not say how text is prepared.*tokenizer\.json"):
        trained.save(tmp_path / "folder")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"end_of_word_suffix": 7}, "end_of_word_suffix is 7, not a string"),
        ({"vocab": {"a": 10**12}}, "its highest id is 1000000000000, and only 2097152 tokens"),
    ],
)
def test_values_that_cannot_be_meant_are_refused_before_they_cost_anything(part, message):
    content = json.loads(Tokenizer(models.BPE({"a": 0}, [])).to_str())
    content["model"] |= part
    with pytest.raises(TokenizerError, match=message):
        BpeTokenizer.from_dict(content)


def test_an_unknown_token_that_is_none_matters_where_a_character_can_be_unknown():
    trainer = trainers.BpeTrainer(vocab_size=270, initial_alphabet=P.ByteLevel.alphabet(), show_progress=False)
    library = Tokenizer(models.BPE(unk_token="[UNK]"))
    library.pre_tokenizer = P.ByteLevel()
    library.train_from_iterator(["low lower lowest"] * 5, trainer)
    content = json.loads(library.to_str())
    assert BpeTokenizer.from_dict(content)("lowest é") == library.encode("lowest é").ids
    content["pre_tokenizer"] = {"type": "Whitespace"}
    with pytest.raises(
        TokenizerError, match=r"'\[UNK\]' is not in the vocabulary.*name a token of the vocabulary"
    ):
        BpeTokenizer.from_dict(content)


def test_versions_among_merges_are_passed_over(tmp_path):
    content = json.loads(Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])).to_str())
    content["model"]["merges"] = ["#version: 0.2", "a b"]
    assert (
        BpeTokenizer.from_dict(content)("ab") == Tokenizer.from_str(json.dumps(content)).encode("ab").ids == [2]
    )
    (tmp_path / "merges.txt").write_text("a b\n#version: 0.2\n", encoding="utf-8")
    assert read_merges(tmp_path / "merges.txt") == [["a", "b"]]
