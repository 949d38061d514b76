"""The extras: the ids of their libraries where they are installed, and what to install where they are not."""

from __future__ import annotations

import hashlib
import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokbench_extras.gigatoken_bpe import GIGATOKEN
from tokbench_extras.mistral import MISTRAL
from tokbench_extras.morphs import MORFESSOR
from tokbench_extras.published import SHA256, cached
from tokbench_extras.quicktok_bpe import QUICKTOK
from tokbench_extras.rwkv import RWKV
from tokbench_extras.wordchipper_bpe import ENCODINGS, WORDCHIPPER

import tokbench
from tokbench import LoadContext, Spec, SpecError, TokenizerError, TrainingCorpus, UnknownNameError
from tokbench.registry import build_registry
from tokbench.spec import validate, with_defaults

FAMILIES = {family.name: family for family in (GIGATOKEN, QUICKTOK, WORDCHIPPER, MISTRAL, MORFESSOR, RWKV)}


def load(text: str, threads: int = 1):
    spec = Spec.parse(text)
    family = FAMILIES[spec.family]
    return family.load(validate(spec, family.options), LoadContext(Path("unused"), True, False, threads))


def hostile(test_data: Path) -> list[str]:
    text = (test_data / "corpora" / "naughty-strings" / "blns.txt").read_text(encoding="utf-8")
    return [*text.split("\n"), "<s> </s> <|endoftext|> x", "  a  b ▁ ", "漢龘龘x ﬁ", ""]


def check(tokenizer, texts, expected):
    assert [list(tokenizer.encode(text)) for text in texts] == expected
    batch = tokenizer.encode_batch(texts)
    assert batch.ids.dtype == np.int32
    assert [ids.tolist() for ids in batch] == expected


VARIANTS = {"quicktok": "qwen3", "wordchipper": "o200k_base"}


@pytest.mark.parametrize("name", ["gigatoken", "quicktok", "wordchipper", "mistral", "morfessor"])
def test_a_missing_extra_is_named_and_the_family_still_listed(name, monkeypatch, tmp_path):
    module = {"mistral": "mistral_common"}.get(name, name)
    monkeypatch.setitem(sys.modules, module, None)
    for loaded in [key for key in sys.modules if key.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    assert name in build_registry().tokenizers
    path = tmp_path / "saved.json"
    path.write_text('{"format": "tokbench-morfessor", "morphs": [], "segmentations": []}')
    with pytest.raises(TokenizerError, match=rf"pip install 'tokbench\[{name}\]'"):
        load(f"{name}:{VARIANTS.get(name, path)}")


# --- gigatoken -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["r50k_base", "cl100k_base", "o200k_base"])
def test_gigatoken_gives_tiktokens_ids(encoding, test_data):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    tokenizer, other = load(f"gigatoken:{encoding}"), tokbench.load(f"tiktoken:{encoding}")
    texts = hostile(test_data)
    check(tokenizer, texts, [list(other.encode(text)) for text in texts])
    for text in texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert np.array_equal(
        load(f"gigatoken:{encoding}", 2).encode_batch(texts).ids, tokenizer.encode_batch(texts).ids
    )
    ids = tokenizer.encode("naïve 龘")
    assert b"".join(map(tokenizer.token_bytes, ids)) == "naïve 龘".encode()


@pytest.mark.parametrize("model", ["gpt2", "qwen2", "llama-2"])
def test_gigatoken_gives_the_ids_of_tokenizers(model, test_data):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    folder, texts = test_data / "vocabs" / model / "hf", hostile(test_data)
    other = tokbench.load(f"transformers:{folder}")
    check(load(f"gigatoken:{folder}"), texts, [list(other.encode(text)) for text in texts])


def test_gigatoken_says_what_it_cannot_load(test_data, tmp_path, monkeypatch):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    (tmp_path / "mine.tiktoken").write_text("IQ== 0\n")
    cases = {
        f"gigatoken:{test_data}/vocabs/t5-base/hf": "Unigram",
        f"gigatoken:{tmp_path}/mine.tiktoken": "pretokenizer=",
        f"gigatoken:{tmp_path}/absent.json": "no file",
        "gigatoken": "name an encoding",
    }
    for spec, words in cases.items():
        with pytest.raises((TokenizerError, SpecError), match=words) as caught:
            load(spec)
        assert "\n" not in str(caught.value)
    with pytest.raises(TokenizerError, match="surrogate at character 1"):
        load("gigatoken:cl100k_base").encode("a\ud800")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(TokenizerError, match="TIKTOKEN_CACHE_DIR"):
        load("gigatoken:cl100k_base")


def test_gigatoken_matches_special_tokens_on_request(test_data):
    pytest.importorskip("gigatoken", reason="needs the extra gigatoken")
    text = "a<|endoftext|>"
    assert 100257 not in load("gigatoken:cl100k_base").encode(text)
    assert load("gigatoken:cl100k_base,special=match").encode(text)[-1] == 100257


# --- quicktok --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base", "o200k_harmony"])
def test_quicktok_gives_tiktokens_ids(encoding, test_data):
    pytest.importorskip("quicktok", reason="needs the extra quicktok")
    tokenizer, other = load(f"quicktok:{encoding}"), tokbench.load(f"tiktoken:{encoding}")
    texts = hostile(test_data)
    check(tokenizer, texts, [list(other.encode(text)) for text in texts])
    for text in texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == text.encode()
    assert (tokenizer.vocab_size, tokenizer.special_ids) == (other.vocab_size, other.special_ids)
    assert np.array_equal(
        load(f"quicktok:{encoding}", 2).encode_batch(texts).ids, tokenizer.encode_batch(texts).ids
    )


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # of the library's, when it imports
@pytest.mark.parametrize("variant", ["qwen3", "{}/vocabs/qwen2/hf"])
def test_quicktok_gives_the_ids_of_tokenizers(variant, test_data, capfd):
    pytest.importorskip("quicktok", reason="needs the extra quicktok")
    texts, other = hostile(test_data), tokbench.load(f"transformers:{test_data}/vocabs/qwen2/hf")
    tokenizer = load(f"quicktok:{variant.format(test_data)}")
    assert capfd.readouterr().out == ""
    check(tokenizer, texts, [list(other.encode(text)) for text in texts])
    assert tokenizer.lossless is False
    assert tokenizer.facts()["normalizer"] == "NFC"


def test_quicktok_matches_special_tokens_on_request(test_data):
    pytest.importorskip("quicktok", reason="needs the extra quicktok")
    text = "a<|endoftext|>"
    assert 100257 not in load("quicktok:cl100k_base").encode(text)
    match = load("quicktok:cl100k_base,special=match")
    assert match.encode(text)[-1] == match.encode_batch([text]).ids[-1] == 100257


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # of the library's, when it imports
def test_quicktok_says_what_it_cannot_load(test_data, tmp_path, monkeypatch):
    quicktok = pytest.importorskip("quicktok", reason="needs the extra quicktok")
    (tmp_path / "wrong.json").write_text("{}")
    cases = {
        f"quicktok:{test_data}/vocabs/gpt2/hf": "unrecognized pretokenizer pattern",
        f"quicktok:{test_data}/vocabs/llama-2/hf": "unsupported normalizer",
        f"quicktok:{tmp_path}/wrong.json": "cannot load",
        f"quicktok:{tmp_path}/absent.json": "no file",
        "quicktok:o200k": "o200k_base",
        "quicktok": "name an encoding",
    }
    for spec, words in cases.items():
        with pytest.raises((TokenizerError, SpecError, UnknownNameError), match=words) as caught:
            load(spec)
        assert "\n" not in str(caught.value)
    with pytest.raises(TokenizerError, match="surrogate at character 1"):
        load("quicktok:cl100k_base").encode_batch(["x", "a\ud800"])
    with pytest.raises(TokenizerError, match="no token"):
        load("quicktok:cl100k_base").decode([99_999_999])
    monkeypatch.delattr(quicktok, "import_tokenizer")
    with pytest.raises(TokenizerError, match="quicktok-v1"):
        load("quicktok:cl100k_base")


# --- wordchipper -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_wordchipper_gives_tiktokens_ids(encoding, test_data, monkeypatch):
    pytest.importorskip("wordchipper", reason="needs the extra wordchipper")
    monkeypatch.setenv("WORDCHIPPER_CACHE_DIR", "mine")
    tokenizer, other = load(f"wordchipper:{encoding}"), tokbench.load(f"tiktoken:{encoding}")
    assert os.environ["WORDCHIPPER_CACHE_DIR"] == "mine"
    texts = hostile(test_data)
    check(tokenizer, texts, [list(other.encode(text)) for text in texts])
    for text in texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == text.encode()
    assert (tokenizer.vocab_size, tokenizer.special_ids) == (other.vocab_size, other.special_ids)
    assert np.array_equal(
        load(f"wordchipper:{encoding}", 2).encode_batch(texts).ids, tokenizer.encode_batch(texts).ids
    )


def test_wordchipper_never_stands_in_with_a_vocabulary_of_bytes(test_data, tmp_path, monkeypatch):
    wordchipper = pytest.importorskip("wordchipper", reason="needs the extra wordchipper")
    file = cached("r50k_base")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(TokenizerError, match="TIKTOKEN_CACHE_DIR"):
        load("wordchipper:r50k_base")
    damaged = b"".join(file.read_bytes().splitlines(keepends=True)[:300])
    cached("r50k_base").write_bytes(damaged)
    for family in ("wordchipper", "gigatoken"):
        with pytest.raises(TokenizerError, match=r"damaged.*Delete it, and load tiktoken:r50k_base") as caught:
            load(f"{family}:r50k_base")
        assert "\n" not in str(caught.value)
    monkeypatch.setattr(wordchipper.Tokenizer, "vocab_size", 256)  # what it makes of the empty file
    monkeypatch.setitem(SHA256, "r50k_base", hashlib.sha256(damaged).hexdigest())
    with pytest.raises(TokenizerError, match="read 256 tokens of the 300"):
        load("wordchipper:r50k_base")
    assert [path.name for path in tmp_path.iterdir()] == [cached("r50k_base").name]


def test_wordchipper_says_what_it_does_not_take(test_data):
    pytest.importorskip("wordchipper", reason="needs the extra wordchipper")
    with pytest.raises(UnknownNameError, match="o200k_base"):
        load("wordchipper:o200k")
    tokenizer = load("wordchipper:cl100k_base")
    with pytest.raises(TokenizerError, match="surrogate at character 1"):
        tokenizer.encode_batch(["x", "a\ud800"])
    with pytest.raises(TokenizerError, match="no token"):
        tokenizer.decode([99_999_999])
    text = "a<|endoftext|>"
    assert 100257 not in tokenizer.encode(text)
    assert load("wordchipper:cl100k_base,special=match").encode(text)[-1] == 100257


# --- mistral ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["tekken_240911", "v3"])
def test_mistral_gives_the_librarys_ids(variant, test_data):
    pytest.importorskip("mistral_common", reason="needs the extra mistral")
    tokenizer, texts = load(f"mistral:{variant}"), hostile(test_data)
    expected = [tokenizer.tokenizer.encode(text, bos=False, eos=False) for text in texts]
    check(tokenizer, texts, expected)
    assert not {*tokenizer.special_ids} & {index for ids in expected for index in ids} - {tokenizer.unk_id}
    (path,) = MISTRAL.files(Spec.parse(f"mistral:{variant}"), LoadContext(Path("unused")))
    assert path.is_file()


def test_tekken_loses_nothing(test_data):
    pytest.importorskip("mistral_common", reason="needs the extra mistral")
    tokenizer = load("mistral:tekken_240911")
    for text in hostile(test_data):
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == text.encode()


def test_mistrals_sentencepiece_gives_text_back(test_data):
    pytest.importorskip("mistral_common", reason="needs the extra mistral")
    tokenizer = load("mistral:v3")
    for text in hostile(test_data):
        assert tokenizer.decode(tokenizer.encode(text)) == text.replace("▁", " ")
    assert tokenizer.unk_id in tokenizer.special_ids
    assert tokenizer.token_bytes(tokenizer.unk_id) == b""


def test_mistral_names_what_there_is(tmp_path):
    pytest.importorskip("mistral_common", reason="needs the extra mistral")
    with pytest.raises(UnknownNameError, match="tekken_240911"):
        load("mistral:tekken_24")
    (tmp_path / "tekken.json").write_text("{}")
    with pytest.raises(TokenizerError, match="cannot load"):
        load(f"mistral:{tmp_path}/tekken.json")
    assert build_registry().tokenizer_spec("mistral-tekken").variant == "tekken_240911"


# --- rwkv ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rwkv_file(tmp_path_factory):
    tokens = [bytes([byte]) for byte in range(256)] + [b"the ", b"th", "é".encode(), b"\xe4\xbd", b"\n\n"]
    lines = []
    for index, token in enumerate(tokens, start=1):
        try:
            literal = repr(token.decode())
        except UnicodeDecodeError:
            literal = repr(token)
        lines.append(f"{index} {literal} {len(token)}\n")
    path = tmp_path_factory.mktemp("rwkv") / "vocab.txt"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_rwkv_takes_the_longest_match(rwkv_file):
    tokenizer = load(f"rwkv:{rwkv_file}")
    check(tokenizer, ["the th é", ""], [[257, 258, 33, 259], []])
    assert tokenizer.encode("你") == [260, ord("\xa0") + 1]
    assert tokenizer.vocab_size == 262
    assert tokenizer.token_bytes(0) == b""


@given(text=st.text(st.characters(codec=None), max_size=40))
def test_rwkv_loses_nothing(rwkv_file, text):
    tokenizer = load(f"rwkv:{rwkv_file}")
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize(
    ("line", "words"),
    [("1 'a' 2", "is 1 bytes"), ("1 a", "line 1"), ("x 'a' 1", "line 1"), ("1 'a' 1", "lacks 255")],
)
def test_rwkv_says_what_is_wrong_with_a_line(line, words, tmp_path):
    (tmp_path / "vocab.txt").write_text(line)
    with pytest.raises(TokenizerError, match=words):
        load(f"rwkv:{tmp_path}/vocab.txt")


def test_rwkv_evaluates_nothing(tmp_path):
    (tmp_path / "vocab.txt").write_text(f"1 open({str(tmp_path / 'ran')!r},'w') 1\n")
    with pytest.raises(TokenizerError, match="line 1"):
        load(f"rwkv:{tmp_path}/vocab.txt")
    assert not (tmp_path / "ran").exists()


# --- morfessor -------------------------------------------------------------------------------------------

STEMS, ENDINGS = ("walk", "talk", "jump", "play", "open", "clean"), ("", "s", "ed", "ing", "er", "ers")
CORPUS = [f"The {stem}{ending}, and {stem}{ending}!" for stem in STEMS for ending in ENDINGS] * 2


def trained(**given):
    options = with_defaults(MORFESSOR.options, given)
    return MORFESSOR.train(TrainingCorpus.of_texts(CORPUS), options, lambda done, word: None)


def test_morfessor_finds_morphs_and_repeats(tmp_path, capfd):
    pytest.importorskip("morfessor", reason="needs the extra morfessor")
    random.seed(7)
    state = random.getstate()
    tokenizer = trained()
    assert random.getstate() == state
    assert capfd.readouterr() == ("", "")
    pieces = [tokenizer.token_bytes(index).decode() for index in tokenizer.encode(" and walking")]
    assert pieces == [" and", " walk", "ing"]
    assert trained().encode(CORPUS[3]) == tokenizer.encode(CORPUS[3])
    tokenizer.save(tmp_path / "saved.json")
    loaded = load(f"morfessor:{tmp_path}/saved.json")
    assert [loaded.encode(text) for text in CORPUS] == [tokenizer.encode(text) for text in CORPUS]


def test_morfessor_loses_nothing(test_data):
    pytest.importorskip("morfessor", reason="needs the extra morfessor")
    tokenizer = trained()
    for text in [*hostile(test_data), "unseen wörds \ud800"]:
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_corpus_weight_changes_how_much_is_split():
    pytest.importorskip("morfessor", reason="needs the extra morfessor")
    whole, split = trained(corpus_weight=30.0), trained(corpus_weight=0.1)
    assert len(whole.encode("the walking talkers")) < len(split.encode("the walking talkers"))


def test_wrong_morfessor_files_are_named(tmp_path):
    (tmp_path / "wrong.json").write_text("[]")
    for name in ("wrong", "absent"):
        with pytest.raises(TokenizerError, match=rf"{name}\.json"):
            load(f"morfessor:{tmp_path}/{name}.json")
