"""BERT's published vocabularies: ids and offsets equal to `tokenizers` on real and on hard text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokbench_subword.files.vocab_txt import read_vocabulary
from tokbench_subword.pipeline import bert
from tokbench_subword.pipeline.bert import BertRules
from tokbench_subword.pipeline.patterns.regexes import compile_regex
from tokbench_subword.pipeline.pre_tokenizers import cut_at
from tokbench_subword.wordpiece.model import WordPieceModel, bert_document
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer

from tests.plugins.subword.wordpiece.references import hard_texts, reference, reordered


def corpus_lines(folder: Path) -> Iterator[tuple[str, list[str]]]:
    for path in sorted((folder / "corpora").rglob("*")):
        if path.is_file() and path.suffix != ".json" and path.name not in ("SOURCE.txt", "README"):
            yield path.name, path.read_bytes().decode("utf-8", "replace").split("\n")


VOCABULARIES = [("bert-base-uncased", True), ("bert-base-multilingual-cased", False)]


def pretrained(folder: Path, name: str, lowercase: bool) -> tuple[WordPieceTokenizer, Any]:
    vocabulary = read_vocabulary(folder / "vocabs" / name / "vocab.txt")
    rules = BertRules.of(lowercase=lowercase)
    model = WordPieceModel(vocabulary=vocabulary, document=bert_document(rules))
    return WordPieceTokenizer(name, model), reference(vocabulary, rules)


def assert_equal(ours: WordPieceTokenizer, theirs: Any, texts: list[str], where: str) -> None:
    expected = theirs.encode_batch_fast(texts, add_special_tokens=False)
    batch = ours.encode_batch(texts)
    for text, ids, encoding in zip(texts, batch, expected, strict=True):
        assert ids.tolist() == encoding.ids, (where, ascii(text))


@pytest.mark.parametrize(("name", "lowercase"), VOCABULARIES)
def test_pretrained_ids_on_a_sample_of_every_corpus(test_data: Path, name: str, lowercase: bool) -> None:
    ours, theirs = pretrained(test_data, name, lowercase)
    for where, lines in corpus_lines(test_data):
        assert_equal(ours, theirs, lines[: max(40, len(lines) // 200)], where)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lowercase"), VOCABULARIES)
def test_pretrained_ids_on_every_line_of_every_corpus(test_data: Path, name: str, lowercase: bool) -> None:
    ours, theirs = pretrained(test_data, name, lowercase)
    for where, lines in corpus_lines(test_data):
        assert_equal(ours, theirs, lines, where)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lowercase"), VOCABULARIES)
def test_pretrained_ids_on_fuzz(test_data: Path, name: str, lowercase: bool) -> None:
    ours, theirs = pretrained(test_data, name, lowercase)
    pieces = [token.removeprefix("##") for token in list(ours.model.vocabulary)[::3]]
    every = "".join(map(chr, range(0x20000)))
    punctuation = {ord(every[start]) for start, _ in compile_regex(cut_at("Punctuation"), "rust").spans(every)}
    hard = [chr(point) for point in sorted(reordered() | bert.marks() | punctuation)]
    draw = random.Random(11)

    def text() -> str:
        parts = []
        for _ in range(draw.randint(0, 12)):
            kind = draw.random()
            if kind < 0.45:
                parts.append(draw.choice(pieces))
            elif kind < 0.6:
                parts.append(draw.choice(" \t\n\xa0\u3000.,-'"))
            elif kind < 0.8:
                parts.append(draw.choice(hard))
            else:
                point = draw.choice([draw.randrange(0x250), draw.randrange(0x3000), draw.randrange(0x110000)])
                parts.append("" if 0xD800 <= point < 0xE000 else chr(point))
        return "".join(parts)

    assert_equal(ours, theirs, [text() for _ in range(100_000)], "fuzz")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lowercase"), VOCABULARIES)
def test_hundred_thousand_strings_of_hypothesis(test_data: Path, name: str, lowercase: bool) -> None:
    ours, theirs = pretrained(test_data, name, lowercase)

    @settings(max_examples=1_700, database=None, suppress_health_check=list(HealthCheck), deadline=None)
    @given(st.lists(hard_texts, min_size=60, max_size=60))
    def check(texts: list[str]) -> None:
        assert_equal(ours, theirs, texts, "hypothesis")

    check()


def test_offsets_equal_tokenizers(test_data: Path) -> None:
    ours, theirs = pretrained(test_data, *VOCABULARIES[0])
    for name in ("eng_Latn", "fra_Latn", "kor_Hang", "hin_Deva", "zho_Hant", "tha_Thai"):
        for line in (test_data / "corpora" / "pud" / f"{name}.txt").read_text("utf-8").split("\n")[:60]:
            expected = theirs.encode(line, add_special_tokens=False).offsets
            assert [tuple(span) for span in ours.offsets(line).tolist()] == expected, line
