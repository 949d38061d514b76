"""Parts of `tokenizer.json` of the wrong type are refused where `tokenizers` refuses them, and nowhere else.

Flags of normalizers and pre-tokenizers may be missing: those have a default, where `tokenizers` has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.files.well_formed import check_parts
from tokbench_subword.pipeline.pre_tokenizers import pre_tokenizer_of
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer
from tokenizers import Tokenizer

import tokbench
from tokbench.errors import TokenizerError

MODEL = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
METASPACE = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "never", "split": True,
             "add_prefix_space": False, "str_rep": "_"}  # fmt: skip
ENDS = {"sep": ["a", 0], "cls": ["b", 1]}
A = {"Sequence": {"id": "A", "type_id": 0}}
PADDING = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
           "pad_type_id": 0, "pad_token": "[PAD]"}  # fmt: skip
GOOD: dict[str, list[dict[str, Any]]] = {
    "normalizer": [
        {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
         "lowercase": True},
        {"type": "Prepend", "prepend": "_"},
        {"type": "Replace", "pattern": {"String": "_"}, "content": " "},
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Sequence", "normalizers": [{"type": "NFC"}]},
    ],
    "pre_tokenizer": [
        BYTE_LEVEL,
        {"type": "CharDelimiterSplit", "delimiter": "_"},
        {"type": "Digits", "individual_digits": True},
        {"type": "FixedLength", "length": 3},
        METASPACE,
        {"type": "Split", "pattern": {"Regex": "_"}, "behavior": "Isolated", "invert": False},
        {"type": "Sequence", "pretokenizers": [METASPACE]},
    ],
    "truncation": [{"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}],
    "padding": [PADDING, {**PADDING, "strategy": {"Fixed": 3}, "direction": "Left", "pad_to_multiple_of": 8}],
    "post_processor": [
        {"type": "BertProcessing", **ENDS},
        {"type": "RobertaProcessing", **ENDS, "trim_offsets": True, "add_prefix_space": True},
        BYTE_LEVEL,
        {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "a", "type_id": 0}}, A],
         "pair": [A, {"Sequence": {"id": "B", "type_id": 1}}],
         "special_tokens": {"a": {"id": "a", "ids": [0], "tokens": ["a"]}}},
        {"type": "Sequence", "processors": [BYTE_LEVEL]},
    ],
    "decoder": [
        {"type": "BPEDecoder", "suffix": "</w>"},
        BYTE_LEVEL,
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        METASPACE,
        {"type": "CTC", "pad_token": "<p>", "word_delimiter_token": "|", "cleanup": True},
        {"type": "Replace", "pattern": {"String": "_"}, "content": " "},
        {"type": "Replace", "pattern": {"Regex": "_"}, "content": " "},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        {"type": "Fuse"},
        {"type": "ByteFallback"},
        {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteFallback"}]},
    ],
}  # fmt: skip
WITH_DEFAULT = {"clean_text", "handle_chinese_chars", "lowercase", "strip_left", "strip_right", "trim_offsets",
                "add_prefix_space", "individual_digits", "invert", "prepend_scheme"}  # fmt: skip
INSTEAD = [None, -1, 3, 2.5, "x", "xy", "", True, [], [1], ["a", 0], {}, {"Fixed": "x"}, {"String": 1}]


def variants() -> Iterator[dict[str, Any]]:
    """Documents in which one part, or one of its fields, is missing or something else."""
    for part, items in GOOD.items():
        yield from ({part: value} for value in INSTEAD)
        for item in items:
            yield {part: item}
            for key in item.keys() - {"type"}:
                has_default = part in ("normalizer", "pre_tokenizer") and key in WITH_DEFAULT
                if not has_default and key != "prepend_scheme":
                    yield {part: without(item, key)}
                yield from ({part: {**item, key: value}} for value in INSTEAD)


def without(item: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != key}


def test_what_tokenizers_refuses_is_refused_with_the_place() -> None:
    refused = 0
    for parts in variants():
        [name] = parts
        try:
            Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], "model": MODEL} | parts))
        except Exception:
            refused += 1
            with pytest.raises(TokenizerError, match=rf"f\.json: {name}"):
                check_parts(parts, "f.json")
        else:
            check_parts(parts, "f.json")
    assert refused > 500


def test_a_post_processor_that_is_not_known_changes_no_ids_whatever_it_has() -> None:
    around = {"type": "Another", "single": [{"Sequence": ["A"]}], "sep": None}
    tokenizer = BpeTokenizer.from_dict({"model": MODEL, "post_processor": around})
    assert tokenizer("ab") == [0, 1]


def test_flags_that_are_missing_have_a_default() -> None:
    for part in ("normalizer", "pre_tokenizer"):
        for item in GOOD[part]:
            for key in item.keys() & WITH_DEFAULT:
                check_parts({part: without(item, key)}, "f.json")


@pytest.mark.parametrize("scheme", [{}, *({"prepend_scheme": name} for name in ("always", "never", "first"))])
@pytest.mark.parametrize("older", [{}, *({"add_prefix_space": value} for value in (None, True, False))])
def test_metaspace_with_the_field_of_older_versions(older: dict[str, Any], scheme: dict[str, Any]) -> None:
    """Which may be null, and says nothing then. Without a scheme it says all, as it did in these versions:
    `tokenizers` now refuses false alone.
    """
    metaspace = {"type": "Metaspace", "replacement": "_", **older, **scheme}
    content = {"version": "1.0", "added_tokens": [], "model": MODEL, "pre_tokenizer": metaspace}
    try:
        theirs = Tokenizer.from_str(json.dumps(content)).pre_tokenizer
    except Exception:
        if not scheme:
            check_parts(content, "f.json")
            assert [piece.text for piece in pre_tokenizer_of(metaspace)(Stretch("a b"))] == ["a", "_b"]
            return
        with pytest.raises(TokenizerError, match=r"f\.json: pre_tokenizer\.add_prefix_space: is false, but"):
            check_parts(content, "f.json")
    else:
        check_parts(content, "f.json")
        pieces = [piece.text for piece in pre_tokenizer_of(metaspace)(Stretch("a b"))]
        assert pieces == [text for text, _ in theirs.pre_tokenize_str("a b")]


MODELS: dict[str, dict[str, Any]] = {
    "bpe": MODEL,
    "wordpiece": {"type": "WordPiece", "vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]",
                  "continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
    "unigram": {"type": "Unigram", "vocab": [["a", -1.0], ["<unk>", -2.0]], "unk_id": 1},
}  # fmt: skip


def _written(folder: Path, family: str, **parts: Any) -> str:
    content = {"version": "1.0", "added_tokens": [], "model": MODELS[family], **parts}
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(content), "utf-8")
    return f"{family}:{path}"


@pytest.mark.parametrize("family", MODELS)
def test_every_family_refuses_such_a_file(family: str, tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: padding\.pad_id: '0'"):
        tokbench.load(_written(tmp_path, family, padding={**PADDING, "pad_id": "0"}))


FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "normalizer": [
        {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
         "lowercase": False},
        {"type": "Strip", "strip_left": True, "strip_right": False},
    ],
    "pre_tokenizer": [
        BYTE_LEVEL,
        {"type": "Digits", "individual_digits": True},
        {"type": "FixedLength", "length": 3},
        {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True},
        {"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated", "invert": False},
    ],
    "added_tokens": [{"id": 2, "content": "c", **FLAGS}],
    "model": [
        {**MODEL, "dropout": None, "unk_token": "a", "continuing_subword_prefix": "",
         "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False},
    ],
}  # fmt: skip


def settings() -> Iterator[dict[str, Any]]:
    """Documents in which one setting is something else."""
    for part, items in SETTINGS.items():
        for item in items:
            for key in item.keys() - {"type", "id", "content", "vocab", "merges", "behavior"}:
                for value in (None, 1, "x", "false", "", True, [], {}, 2.5):
                    if key == "unk_token" and isinstance(value, str):
                        continue  # of the right type, but no token
                    yield {part: [{**item, key: value}] if part == "added_tokens" else {**item, key: value}}
    yield from ({"version": version} for version in (1, "2.0", "", None))


def test_a_setting_of_the_wrong_type_is_refused_by_name_as_tokenizers_refuses_it() -> None:
    """The text "false" was taken for true, and a list for the unknown token ended in a bare TypeError."""
    refused, said = 0, r"not a valid value|not true or|not a |is not '1\.0'|dropout must lie"
    for parts in settings():
        content = {"version": "1.0", "added_tokens": [], "model": MODEL} | parts
        try:
            Tokenizer.from_str(json.dumps(content))
        except Exception:
            refused += 1
            with pytest.raises(TokenizerError, match=said):
                BpeTokenizer.from_dict(content)
        else:
            BpeTokenizer.from_dict(content)
    assert refused > 150


@pytest.mark.parametrize(
    ("family", "setting", "match"),
    [
        (JsonUnigramTokenizer, {"byte_fallback": "false"}, "byte_fallback is 'false', not true or false"),
        (JsonUnigramTokenizer, {"unk_id": True}, "unk_id True is outside"),
        (WordPieceTokenizer, {"unk_token": []}, r"unk_token is \[\]"),
    ],
)
def test_the_models_of_the_others_refuse_them_too(family: Any, setting: dict[str, Any], match: str) -> None:
    kind = "unigram" if family is JsonUnigramTokenizer else "wordpiece"
    with pytest.raises(TokenizerError, match=match):
        family.from_dict({"added_tokens": [], "model": MODELS[kind] | setting})


BPE = {"model": MODEL}
WORDPIECE = {"type": "WordPiece", "unk_token": "a", "vocab": {"a": 0, "b": 1}}
NOTHING = {"type": "Sequence", "normalizers": [None]}
REPLACE = {"type": "Replace", "pattern": {"String": "a"}}


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (BPE | {"normalizer": NOTHING}, r"normalizer\.normalizers\[0\]: is not an object with a type: None"),
        (BPE | {"normalizer": REPLACE}, r"normalizer\.content: is missing; tokenizers refuses"),
        (BPE | {"pre_tokenizer": {"type": "Metaspace"}}, r"pre_tokenizer\.replacement: is missing"),
        (BPE | {"pre_tokenizer": {"type": "Sequence"}}, r"pre_tokenizer\.pretokenizers: is not a list: None"),
        (
            BPE | {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [None]}},
            r"pre_tokenizer\.pretokenizers\[0\]: is not",
        ),
        (
            BPE | {"pre_tokenizer": {"type": "Split", "pattern": {"String": "x"}, "behavior": "x" * 9999}},
            r"pre_tokenizer\.behavior: 'x{50,80} is not a valid value",
        ),
        (
            BPE | {"pre_tokenizer": {"type": "Metaspace", "replacement": "\ud800"}},
            r"half a surrogate pair, \\ud800",
        ),
        (BPE | {"added_tokens": [{"content": "x" * 99_999}]}, r"(?s)^.{,4200}$"),
        (BPE | {"added_tokens": 5}, r"tokenizer\.json: added_tokens: is not a list: 5"),
        ({"model": WORDPIECE | {"continuing_subword_prefix": None}}, "prefix is None and"),
        ({"model": WORDPIECE | {"max_input_chars_per_word": float("nan")}}, "_per_word nan: a WordPiece model"),
        ({"model": WORDPIECE | {"max_input_chars_per_word": 10**30}}, "below 2.63; it is 1000"),
    ],
)
def test_what_nothing_can_be_made_of_is_refused(content: dict[str, Any], match: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"added_tokens": []} | content))
    with pytest.raises(TokenizerError, match=match):
        tokbench.load(f"{content['model']['type'].lower()}:{path}")


@pytest.mark.parametrize(
    "name", ["bpe:tokenizer.json", "unigram:x.model", "bpe:x.tiktoken", "wordpiece:vocab.txt"]
)
def test_a_file_larger_than_any_vocabulary_is_not_read(name: str, tmp_path: Path) -> None:
    family, _, file = name.partition(":")
    begins = {
        "tokenizer.json": b'{"model": {}, "',
        "x.model": b"\n\x0e\n\x05<unk>\x15",
        "x.tiktoken": b"IQ== 0\nIg== 1\n",
    }
    with (tmp_path / file).open("wb") as stream:
        stream.write(begins.get(file, b"[UNK]\na\n##b\n"))
        stream.truncate(200 << 30)  # sparse: it takes no room
    with pytest.raises(TokenizerError, match="larger than 1,073,741,824 bytes"):
        tokbench.load(f"{family}:{tmp_path / file}")


@pytest.mark.parametrize("family", ["bpe", "wordpiece", "unigram"])
def test_json_that_is_nested_without_end_is_refused(family, tmp_path):
    path = tmp_path / "deep.json"
    path.write_text('{"model":' * 100_000)
    with pytest.raises(TokenizerError, match="nested deeper"):
        tokbench.load(f"{family}:{path}")


@pytest.mark.parametrize(
    ("family", "pattern"),
    [
        *(("bpe", pattern) for pattern in ({"String": "aa"}, {"Regex": "a"}, {"Regex": "(a)+?(?<=a)"})),
        *((family, {"String": "a"}) for family in MODELS),
    ],
)
def test_a_normalizer_that_makes_a_letter_fill_the_memory_is_refused(
    family: str, pattern: dict[str, str], tmp_path: Path
) -> None:
    """Forty steps, each of which doubles what there is: it ended in a bare MemoryError after minutes."""
    doubled = {"type": "Replace", "pattern": pattern, "content": 2 * pattern.get("String", "a")}
    spec = _written(tmp_path, family, normalizer={"type": "Sequence", "normalizers": [doubled] * 40})
    for ask, what in (
        ("encode", "aaa"),
        ("encode_batch", ["aaa"] * 40),
        ("offsets", "aaa"),
        ("offsets_batch", ["aaa"] * 40),
    ):
        with pytest.raises(TokenizerError, match=r"has made [\d,]+ characters of \d.* is not done"):
            getattr(tokbench.load(spec), ask)(what)


@pytest.mark.parametrize("family", MODELS)
def test_a_byte_order_mark_is_named(family: str, tmp_path: Path) -> None:
    """`wordpiece` took it for a vocab.txt."""
    spec = _written(tmp_path, family)
    path = tmp_path / "tokenizer.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: begins with a byte order mark"):
        tokbench.load(spec)
    with pytest.raises(Exception, match="expected value at line 1 column 1"):
        Tokenizer.from_file(str(path))


@pytest.mark.parametrize("family", MODELS)
def test_a_number_of_thousands_of_digits_is_named(family: str, tmp_path: Path) -> None:
    spec = _written(tmp_path, family, padding={"pad_id": 77})
    path = tmp_path / "tokenizer.json"
    path.write_text(path.read_text("utf-8").replace("77", "7" * 5000), "utf-8")
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: has a number of too many digits"):
        tokbench.load(spec)
