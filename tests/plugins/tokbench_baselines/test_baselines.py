"""The baselines: what they give, what they declare, and what they say of wrong input."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokbench_baselines.codepoints import BYTES, CHARS, ByteTokenizer, CharTokenizer
from tokbench_baselines.maxmatch import MAXMATCH, MaxMatchTokenizer
from tokbench_baselines.wordlist import WHITESPACE, WORDS, WordTokenizer, _pattern

from tests.plugins.conftest import train_on
from tokbench import Spec, SpecError, TokenizerError
from tokbench.registry import build_registry

TEXTS = ["the cat sat on the mat, the end", "The cat's hat — über alles", "你好 世界  the the\n\tcat"]
ANY_TEXT = st.text(st.characters(codec=None), max_size=60)


def trained(family, **given):
    return train_on(family, TEXTS, **given)


@given(ANY_TEXT)
@pytest.mark.parametrize("tokenizer", [ByteTokenizer(), CharTokenizer()])
def test_bytes_and_chars_lose_nothing(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.encode_batch([text, "x"])[0].tolist() == list(tokenizer.encode(text))
    assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text))) == text.encode("utf-8", "surrogatepass")
    assert len(tokenizer.offsets(text)) == len(tokenizer.encode(text))


def test_byte_offsets_are_character_spans():
    assert ByteTokenizer().offsets("aé").tolist() == [[0, 1], [1, 2], [1, 2]]


def test_ids_out_of_range_are_refused():
    for tokenizer, ids in [(ByteTokenizer(), [256]), (CharTokenizer(), [0x110000])]:
        with pytest.raises(TokenizerError):
            tokenizer.decode(ids)


@pytest.mark.parametrize("family", [BYTES, CHARS])
def test_no_variants(family):
    with pytest.raises(SpecError, match="no variants"):
        family.load(Spec.parse(f"{family.name}:x"), None)


def test_unicode_words_equal_the_segmenter_of_uniseg(test_data: Path):
    from uniseg.wordbreak import words

    for language in ("eng_Latn", "deu_Latn", "jpn_Jpan", "tha_Thai", "arb_Arab", "kor_Hang"):
        text = (test_data / "corpora" / "pud" / f"{language}.txt").read_text(encoding="utf-8")[:8000]
        assert _pattern("words").findall(text) == [word for word in words(text) if not word[0].isspace()]


def test_words_keep_contractions_and_split_punctuation():
    assert _pattern("words").findall("can't pay $3.14, ok?") == ["can't", "pay", "$", "3.14", ",", "ok", "?"]


@pytest.mark.parametrize("family", [WHITESPACE, WORDS])
def test_word_lists_rank_by_frequency_and_give_unk(family):
    tokenizer = trained(family, vocab_size=4)
    assert tokenizer.vocab_size == 4
    assert tokenizer.vocabulary[0] == "the"
    assert tokenizer.encode("the zebra") == [1, 0]
    assert tokenizer.decode([1, 0]) == "the <unk>"
    assert tokenizer.offsets("the zebra").tolist() == [[0, 3], [4, 9]]
    assert tokenizer.lossless is False


def test_minimum_frequency_leaves_rare_words_out():
    assert set(trained(WHITESPACE, min_frequency=2).vocabulary) == {"the", "cat"}


@given(ANY_TEXT)
def test_maxmatch_loses_nothing(text):
    tokenizer = MaxMatchTokenizer("m", vocabulary=["th", "the", " the", "ca", "你好"])
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_maxmatch_training_reaches_the_size_and_compresses():
    tokenizer = trained(MAXMATCH, vocab_size=300)
    assert tokenizer.vocab_size == 300
    assert len(tokenizer.encode(TEXTS[0])) < len(TEXTS[0].encode()) / 2
    assert len(set(tokenizer.pieces)) == 44


@pytest.mark.parametrize(
    ("family", "size", "says"),
    [(MAXMATCH, 256, "must exceed the 256 bytes"), (WORDS, 1, "at least 2"), (WHITESPACE, 0, "at least 2")],
)
def test_a_size_without_room_is_refused_before_any_training(family, size, says):
    with pytest.raises(SpecError, match=says):
        family.check({"vocab_size": size})


@pytest.mark.parametrize("family", [WHITESPACE, WORDS, MAXMATCH])
def test_saved_and_loaded_gives_the_same_ids(family, tmp_path):
    tokenizer = trained(family, vocab_size=280)
    path = tmp_path / "saved.json"
    tokenizer.save(path)
    spec = Spec(family.name, str(path))
    loaded = family.load(spec, None)
    assert [list(loaded.encode(text)) for text in TEXTS] == [list(tokenizer.encode(text)) for text in TEXTS]
    assert loaded.name == str(spec)
    assert family.files(spec, None) == [path]


@pytest.mark.parametrize("family", [BYTES, CHARS])
def test_a_variant_is_refused_before_any_work(family):
    spec = Spec(family.name, "foo")
    for asked in (family.files_of, family.load):  # a run asks for files first of all
        with pytest.raises(SpecError, match="has no variants"):
            asked(spec, None)
    assert family.files_of(Spec(family.name), None) == []


def test_a_plain_list_serves_maxmatch(tmp_path):
    (tmp_path / "vocab.txt").write_text("ab\nabc\n", encoding="utf-8")
    tokenizer = MAXMATCH.load(Spec("maxmatch", str(tmp_path / "vocab.txt")), None)
    assert tokenizer.encode("abcab") == [257, 256]


@pytest.mark.parametrize("family", [WHITESPACE, WORDS, MAXMATCH])
@pytest.mark.parametrize("content", ["{}", "[1]", '{"format": "else", "split": ""}', "nonsense"])
def test_wrong_files_are_named(family, content, tmp_path):
    path = tmp_path / "wrong.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TokenizerError, match=r"wrong\.json"):
        family.load(Spec(family.name, str(path)), None)
    with pytest.raises(TokenizerError, match="cannot read"):
        family.load(Spec(family.name, str(tmp_path / "absent.json")), None)


def test_every_baseline_is_registered():
    names = {"bytes", "chars", "whitespace", "words", "maxmatch"}
    assert names <= set(build_registry(disable=("core",)).tokenizers)
    assert isinstance(trained(WORDS), WordTokenizer)
