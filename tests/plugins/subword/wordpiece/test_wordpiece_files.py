"""WordPiece's files: `vocab.txt`, `tokenizer.json`, and the family that opens them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokbench_subword.wordpiece.family import WORDPIECE
from tokbench_subword.wordpiece.model import WordPieceModel
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

from tests.plugins.subword.wordpiece.small_vocabulary import TOKENS, load
from tokbench.errors import SpecError, TokenizerError
from tokbench.registry import default_context
from tokbench.spec import Spec

FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True}


def write_json(path: Path, **changes: Any) -> Path:
    content: dict[str, Any] = {
        "added_tokens": [{"id": 1, "content": "[UNK]", "special": True}],
        "normalizer": BERT,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "vocab": {token: index for index, token in enumerate(TOKENS)}},
    }
    path.write_text(json.dumps(content | changes), encoding="utf-8")
    return path


def whole_model(tokens: list[str]) -> dict[str, Any]:
    vocabulary = {token: index for index, token in enumerate(tokens)}
    settings = {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    return {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]", **settings}


def test_a_bare_vocabulary_is_lower_cased_unless_told(vocab: Path) -> None:
    assert load(f"wordpiece:{vocab}").tokenize("Café É") == ["caf", "##e", "e"]
    cased = load(f"wordpiece:{vocab},lowercase=false")
    assert cased.tokenize("Café É.") == ["Caf", "##é", "É", "."]
    assert load(f"wordpiece:{vocab},lowercase=false,strip_accents=true").tokenize("Café") == ["Caf", "##e"]
    assert "defaults of BERT" in load(f"wordpiece:{vocab}").facts()["rules_from"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lowercase": "false"},
        {"strip_accents": "false", "clean_text": "false"},
        {"lowercase": "false", "strip_accents": "true", "max_input_chars_per_word": "9"},
        {"handle_chinese_chars": "false", "prefix": "##c", "unk_token": "[PAD]"},
    ],
)
def test_options_that_a_vocabulary_leaves_unsaid_are_those_it_was_opened_with(vocab: Path, options) -> None:
    spec = str(Spec("wordpiece", str(vocab), options))
    assert load(spec).unsaid_in("other.txt") == options
    assert load(spec).unsaid_in("other.json") == {}


def test_a_bare_vocabulary_with_capitals_is_cased(vocab: Path) -> None:
    """Lower-cased, none of those tokens could be met, and every capital would be unknown."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    capitals = [one + other.lower() for one in letters for other in letters][:100]
    vocab.write_text("\n".join([*TOKENS, *capitals]) + "\n", encoding="utf-8")
    found = load(f"wordpiece:{vocab}")
    assert found.tokenize("Café Ab É") == ["Caf", "##é", "Ab", "É"]
    assert "cased, as" in found.facts()["rules_from"]
    assert load(f"wordpiece:{vocab},lowercase=true").tokenize("Café") == ["caf", "##e"]
    vocab.write_text("\n".join([*TOKENS, *capitals[:80]]) + "\n", encoding="utf-8")
    assert load(f"wordpiece:{vocab}").tokenize("Café") == ["caf", "##e"]
    vocab.with_name("tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    assert "cased" not in load(f"wordpiece:{vocab}").facts()["rules_from"]


@pytest.mark.parametrize(
    ("name", "cased"), [("bert-base-uncased", False), ("bert-base-multilingual-cased", True)]
)
def test_real_bare_vocabularies_are_told_apart(test_data: Path, tmp_path: Path, name: str, cased: bool) -> None:
    bare = tmp_path / "vocab.txt"
    bare.write_bytes((test_data / "vocabs" / name / "vocab.txt").read_bytes())
    assert ("lowercase" in load(f"wordpiece:{bare}").facts()["normalizer"]) is not cased


def test_files_beside_a_vocabulary_are_honoured(vocab: Path) -> None:
    vocab.with_name("tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    assert load(f"wordpiece:{vocab}").tokenize("Café") == ["Caf", "##é"]
    assert load(f"wordpiece:{vocab.parent}").facts()["rules_from"] == "tokenizer_config.json"
    assert load(f"wordpiece:{vocab},lowercase=true").tokenize("Café") == ["caf", "##e"]
    write_json(vocab.with_name("tokenizer.json"), normalizer=BERT | {"handle_chinese_chars": False})
    assert load(f"wordpiece:{vocab}").tokenize("北京") == ["北京"]
    assert [path.name for path in WORDPIECE.files(Spec.parse(f"wordpiece:{vocab}"), default_context())] == [  # type: ignore[misc]
        "vocab.txt",
        "tokenizer.json",
        "tokenizer_config.json",
    ]


@pytest.mark.parametrize("lines", [TOKENS[:5], [*TOKENS, "another"]], ids=["fewer", "more"])
def test_added_tokens_beside_a_vocabulary_have_the_ids_behind_it(vocab: Path, lines: list[str]) -> None:
    added = [{"id": len(TOKENS), "content": "<x>", "special": True, **FLAGS}]
    write_json(vocab.with_name("tokenizer.json"), added_tokens=added)
    assert load(f"wordpiece:{vocab}").vocab_size == len(TOKENS) + 1
    vocab.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(TokenizerError, match=r"json, beside vocab\.txt: the added token '<x>' has the id 15;"):
        load(f"wordpiece:{vocab}")


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    [
        (BERT | {"lowercase": False}, {"type": "BertPreTokenizer"}),
        ({"type": "Lowercase"}, {"type": "BertPreTokenizer"}),
        (None, {"type": "Whitespace"}),
        (None, {"type": "WhitespaceSplit"}),
        ({"type": "NFKC"}, {"type": "WhitespaceSplit"}),
        (
            {
                "type": "Sequence",
                "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}],
            },
            {
                "type": "Sequence",
                "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Isolated"}],
            },
        ),
        ({"type": "Sequence", "normalizers": [{"type": "NFC"}, BERT]}, {"type": "BertPreTokenizer"}),
    ],
)
def test_other_pipelines_give_what_tokenizers_gives(
    tmp_path: Path, normalizer: Any, pre_tokenizer: Any
) -> None:
    bert = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}

    def whole(config: Any) -> Any:
        if isinstance(config, dict) and config["type"] == "BertNormalizer":
            return bert | config
        if isinstance(config, dict) and "normalizers" in config:
            return config | {"normalizers": [whole(part) for part in config["normalizers"]]}
        return config

    path = write_json(
        tmp_path / "t.json",
        version="1.0",
        added_tokens=[
            {"id": 1, "content": "[UNK]", "special": True, **FLAGS},
            {"id": 21, "content": "<Aé>", "special": False, **FLAGS, "normalized": True},
        ],
        normalizer=whole(normalizer),
        pre_tokenizer=pre_tokenizer,
        model=whole_model([*TOKENS, "a", "##a", "##.", "##,", ",", "##京"]),
    )
    theirs = Tokenizer.from_file(str(path))
    theirs.encode_special_tokens = True
    ours = load(f"wordpiece:{path}")
    texts = "Café, cafe. É北京a", "aaa.a,a", " \u00a0北 京\u200b a\u0301", "x<Aé>y <aé> <AÉ>", "[UNK] a", ""
    for text in texts:
        expected = theirs.encode(text, add_special_tokens=False)
        assert ours(text) == expected.ids, text
        assert ours.encode_batch([text]).ids.tolist() == expected.ids
        assert len(ours.offsets(text)) == len(expected.ids)
    ours.save(tmp_path / "again.json")
    again = Tokenizer.from_file(str(tmp_path / "again.json"))
    again.encode_special_tokens = True
    assert again.encode("Café a<Aé>", add_special_tokens=False).ids == ours("Café a<Aé>")


@pytest.mark.long
def test_what_is_saved_opens_in_the_libraries_with_the_same_ids(vocab: Path, tmp_path: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    ours = load(f"wordpiece:{vocab},lowercase=false,max_input_chars_per_word=5")
    target = tmp_path / "out" / "tokenizer.json"
    target.parent.mkdir()
    ours.save(target)
    text = "Café e. 北京 CafCafé zzz"
    fast = PreTrainedTokenizerFast(tokenizer_file=str(target))
    assert Tokenizer.from_file(str(target)).encode(text, add_special_tokens=False).ids == ours(text)
    assert fast.encode(text, add_special_tokens=False) == ours(text)
    again = load(f"wordpiece:{target}")
    assert again.to_dict() == ours.to_dict()
    assert WordPieceTokenizer.from_dict(ours.to_dict())(text) == ours(text)
    ours.save(tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_bytes() == vocab.read_bytes()


def test_pretrained_json_and_text_agree(test_data: Path) -> None:
    folder = test_data / "vocabs" / "bert-base-uncased"
    whole, bare = load(f"wordpiece:{folder / 'hf'}"), load(f"wordpiece:{folder / 'vocab.txt'}")
    assert whole.model.vocabulary == bare.model.vocabulary
    template = {"post_processor": None}  # what the bare vocabulary cannot say
    assert whole.to_dict() | template == bare.to_dict() | template
    assert whole.vocab_size == 30522
    assert whole.special_ids == {0, 100, 101, 102, 103}


def test_lines_as_tokenizers_reads_them(tmp_path: Path) -> None:
    from tokbench_subword.files.vocab_txt import read_vocabulary
    from tokenizers.models import WordPiece

    path = tmp_path / "vocab.txt"
    path.write_bytes("[UNK]\r\na\u00a0\n\nb \x1c\na\n\u3000x".encode())
    assert read_vocabulary(path) == WordPiece.read_file(str(path))
    tokenizer = load(f"wordpiece:{path}")
    assert tokenizer.facts()["tokens_listed_twice"] == 1
    assert tokenizer("a") == [4]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no tokens in it"),
        (b"\xff\xfe[UNK]", "not UTF-8 at byte 0"),
        (b"a\nb\n", r"\.txt: the unknown token '\[UNK\]' is not among the 2 tokens"),
    ],
)
def test_damaged_vocabularies_are_said(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    with pytest.raises(TokenizerError, match=message):
        load(f"wordpiece:{path}")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": {"type": "BPE", "vocab": {}}}, "BPE, not WordPiece"),
        ({"model": {"type": "WordPiece"}}, "its model has no vocabulary"),
        ({"model": {"type": "WordPiece", "vocab": {"[UNK]": "0"}}}, "a whole number"),
        ({"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "a": 0}}}, "belongs to '.UNK.' and to 'a'"),
        ({"model": {"type": "WordPiece", "vocab": {"[UNK]": -1}}}, "the id -1"),
        ({"model": {"type": "WordPiece", "vocab": {"[UNK]": 2**26}}}, "id 67108864; ids are 0 to 67108862"),
        ({"normalizer": {"type": "Quantum"}}, "Quantum.*transformers:"),
        ({"pre_tokenizer": {"type": "Quantum"}}, "Quantum.*transformers:"),
        ({"added_tokens": [{"id": 3, "content": "[UNK]"}]}, "has the id 3, and 1 in the vocabulary"),
        ({"added_tokens": [{"content": "[UNK]"}]}, "without its content, a string, and its id"),
    ],
)
def test_contradictory_documents_are_said(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        load(f"wordpiece:{write_json(tmp_path / 't.json', **changes)}")


def test_wrong_requests_are_said(vocab: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text('{"model": {"vo')
    (tmp_path / "empty").mkdir()
    for spec, message in [
        (f"wordpiece:{tmp_path}/none.txt", "there is no file"),
        (f"wordpiece:{tmp_path / 'empty'}", "has no tokenizer.json or vocab.txt; name the file"),
        (f"wordpiece:{tmp_path / 'cut.json'}", "not JSON"),
        (f"wordpiece:{vocab},vocab_size=100", "vocab_size is for training"),
        (f"wordpiece:{vocab},unk_token=<unk>", "'<unk>' is not among"),
        (f"wordpiece:{vocab},max_input_chars_per_word=0", "at least 1"),
    ]:
        with pytest.raises(TokenizerError, match=message):
            load(spec)
    with pytest.raises(SpecError, match="did you mean 'lowercase'"):
        load(f"wordpiece:{vocab},lower_case=true")


@pytest.mark.parametrize("token", ["two lines\n", "a NUL\0"])
def test_a_vocabulary_that_text_cannot_hold_is_not_written_as_text(token: str, tmp_path: Path) -> None:
    tokenizer = WordPieceTokenizer("w", WordPieceModel(vocabulary={"[UNK]": 0, token: 1}))
    with pytest.raises(TokenizerError, match="cannot be a line"):
        tokenizer.save(tmp_path / "x.txt")


@pytest.mark.parametrize(
    "decoder",
    [
        None,
        {"type": "WordPiece", "prefix": "@@", "cleanup": True},
        {"type": "WordPiece", "prefix": "##", "cleanup": False},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    ],
)
def test_the_decoder_and_the_template_of_a_file_are_kept(tmp_path: Path, decoder: Any) -> None:
    template = {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    path = write_json(
        tmp_path / "t.json",
        version="1.0",
        added_tokens=[{"id": 1, "content": "[UNK]", "special": True, **FLAGS}],
        normalizer=None,
        decoder=decoder,
        post_processor=template,
        model=whole_model([*TOKENS, "@@e"]),
    )
    theirs, ours = Tokenizer.from_file(str(path)), load(f"wordpiece:{path}")
    ids = [5, 6, 11, 15, 7, 8, 1]
    assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
    ours.save(tmp_path / "again.json")
    again = Tokenizer.from_file(str(tmp_path / "again.json"))
    assert again.encode("cafe.").ids == theirs.encode("cafe.").ids == [2, 5, 6, 11, 3]
    assert again.decode(ids) == theirs.decode(ids)


def test_a_word_spelled_as_a_special_token_is_that_token_as_in_tokenizers() -> None:
    theirs = Tokenizer(models.WordPiece({"[UNK]": 0, "cls": 1, "c": 2, "##ls": 3}, unk_token="[UNK]"))
    theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    theirs.add_special_tokens(["[UNK]", "cls"])
    theirs.encode_special_tokens = True
    ours = WordPieceTokenizer.from_dict(json.loads(theirs.to_str()))
    for text in ("cls", "cls [UNK] clsls", "cls c"):
        assert ours(text) == theirs.encode(text).ids


@pytest.mark.parametrize("name", ["tokenizer.json", "other.json"])
def test_a_tokenizer_json_is_saved_as_it_is_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    """Under another name it was taken for a conversion, which a special token in text seemed to disprove."""
    theirs = Tokenizer(models.WordPiece({"[UNK]": 0, "é": 1, "##a": 2}, unk_token="[UNK]"))
    theirs.normalizer = normalizers.NFD()
    theirs.add_special_tokens([AddedToken("e", normalized=True)])
    theirs.save(str(tmp_path / name))
    ours = load(f"wordpiece:{tmp_path / name},match_special=true")
    ours.save(tmp_path / "saved.json")
    again = load(f"wordpiece:{tmp_path / 'saved.json'},match_special=true")
    assert list(again.encode("aéa")) == list(ours.encode("aéa")) == theirs.encode("aéa").ids


def test_what_finds_special_tokens_in_text_is_written_in_another_format(vocab: Path) -> None:
    """The text of special tokens seemed to disprove the conversion, as the file is read without the option."""
    ours = load(f"wordpiece:{vocab},match_special=true")
    ours.save(vocab.with_name("t.json"))
    again = load(f"wordpiece:{vocab.with_name('t.json')},match_special=true")
    assert again("[CLS] cafe[SEP]") == ours("[CLS] cafe[SEP]") == [2, 5, 6, 3]
