"""Ids equal those of tiktoken and tokenizers, with their vocabularies, on real text and on hard strings.

The everyday run takes a part of each corpus; `pytest -m slow` takes every line, and 100,000 strings.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.ranks import model_of_ranks
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.pipeline.patterns import Pattern
from tokenizers import Tokenizer

from tests.plugins.subword.strings import hard_strings

ENCODINGS = ["gpt2", "r50k_base", "p50k_base", "cl100k_base", "o200k_base"]
DOCUMENTS = ["gpt2", "qwen2", "llama-2"]


@pytest.fixture(scope="module")
def tiktoken_pair(test_data):
    @cache
    def get(name):
        theirs = tiktoken.get_encoding(name)
        pattern = Pattern.of(theirs._pat_str, dialect="rust", keep_gaps=False)
        assert pattern.cutters
        return theirs, BpeEncoder(model_of_ranks(theirs._mergeable_ranks, pattern=pattern))

    return get


@pytest.fixture(scope="module")
def document_pair(test_data):
    @cache
    def get(name):
        path = test_data / "vocabs" / name / "hf" / "tokenizer.json"
        theirs = Tokenizer.from_file(str(path))
        theirs.no_padding()
        theirs.no_truncation()
        theirs.encode_special_tokens = True
        return theirs, BpeTokenizer.from_file(path, name=name)

    return get


@cache
def _lines(test_data: Path, *, every: int) -> list[str]:
    files = sorted(p for p in (test_data / "corpora").rglob("*") if p.suffix in (".txt", ".dev"))
    lines: list[str] = []
    for file in files:
        lines += file.read_text(encoding="utf-8", errors="replace").split("\n")[::every]
    lines += json.loads((test_data / "corpora/naughty-strings/blns.json").read_text())
    return lines


def _check_tiktoken(pair, texts):
    theirs, ours = pair
    for text, ids in zip(texts, ours.encode_batch(texts), strict=True):
        assert ids.tolist() == theirs.encode_ordinary(text), ascii(text)


def _check_document(pair, texts):
    theirs, ours = pair
    batch = ours.encode_batch(texts)
    for text, ids, want in zip(texts, batch, theirs.encode_batch(texts, add_special_tokens=False), strict=True):
        assert ids.tolist() == want.ids, ascii(text)


@pytest.mark.parametrize("name", ENCODINGS)
def test_tiktoken_on_a_part_of_every_corpus(tiktoken_pair, test_data, name):
    texts = _lines(test_data, every=50) + hard_strings(3000)
    _check_tiktoken(tiktoken_pair(name), texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODINGS)
def test_tiktoken_on_every_line_and_100_000_strings(tiktoken_pair, test_data, name):
    _check_tiktoken(tiktoken_pair(name), _lines(test_data, every=1))
    _check_tiktoken(tiktoken_pair(name), hard_strings(100_000, seed=11))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_tokenizers_on_a_part_of_every_corpus(document_pair, test_data, name):
    texts = _lines(test_data, every=200) + hard_strings(2000)
    _check_document(document_pair(name), [text.replace("\x00", "") for text in texts])


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_tokenizers_on_every_line_and_100_000_strings(document_pair, test_data, name):
    _check_document(document_pair(name), _lines(test_data, every=1))
    _check_document(document_pair(name), hard_strings(100_000, seed=13))


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
@settings(max_examples=300)
@given(text=st.text(max_size=80))
def test_tiktoken_on_hypothesis_strings(tiktoken_pair, name, text):
    theirs, ours = tiktoken_pair(name)
    assert ours.encode(text).tolist() == theirs.encode_ordinary(text)


_near = st.text("abcstdRELVM 'ſK0129.,!_-/\n\r\t\u00a0\u3000éßǅʰ\u0301Жя中日あไทย한ع\u200d🏽😀", max_size=40)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_hundred_thousand_strings_of_hypothesis(tiktoken_pair, name):
    pair = tiktoken_pair(name)

    @settings(max_examples=1_700, database=None, suppress_health_check=list(HealthCheck), deadline=None)
    @given(st.lists(_near | st.text(max_size=30), min_size=60, max_size=60))
    def check(texts):
        _check_tiktoken(pair, texts)

    check()


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_every_code_point_at_once_and_alone(tiktoken_pair, name):
    points = [chr(p) for p in range(0x110000) if not 0xD800 <= p < 0xE000]
    blocks = ["".join(points[i : i + 500]) for i in range(0, len(points), 500)]
    _check_tiktoken(tiktoken_pair(name), [*blocks, *points[:: 97 if name != "gpt2" else 31]])


@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", "ab", "中", "é", "aB", "1", "!", "\u0301", "'s", "ไทย", " \n"]
)
def test_long_runs_of_one_thing(tiktoken_pair, unit):
    for name in ("gpt2", "cl100k_base", "o200k_base"):
        for length in (15, 16, 17, 63, 64, 65, 127, 128, 129, 300, 5000):
            _check_tiktoken(tiktoken_pair(name), [unit * length, unit * length + "x", " " + unit * length])


def test_random_letters_without_a_break(tiktoken_pair):
    chosen = np.random.default_rng(3)
    for alphabet in ("abcdefghijklmnopqrstuvwxyz", "的一是不了在人有我他", "абвгд", "ab"):
        text = "".join(chosen.choice(list(alphabet), 20_000))
        for name in ("gpt2", "cl100k_base", "o200k_base"):
            _check_tiktoken(tiktoken_pair(name), [text])


def test_batches_threads_and_single_calls_agree(tiktoken_pair, test_data):
    theirs, _ = tiktoken_pair("gpt2")
    model = model_of_ranks(theirs._mergeable_ranks, pattern=Pattern("gpt2"))
    texts = [*_lines(test_data, every=40), "", "\x00", ""]
    one, four = BpeEncoder(model), BpeEncoder(model, threads=4)
    batch, threaded = one.encode_batch(texts), four.encode_batch(texts)
    assert batch.ids.dtype == np.int32
    assert batch.offsets.dtype == np.int64
    assert np.array_equal(batch.ids, threaded.ids)
    assert np.array_equal(batch.offsets, threaded.offsets)
    for text, ids in list(zip(texts, batch, strict=True))[::17]:
        assert one.encode(text).tolist() == ids.tolist()
    assert len(one.encode_batch([])) == 0


def test_surrogates_as_tiktoken_repairs_them(tiktoken_pair):
    theirs, ours = tiktoken_pair("cl100k_base")
    for text in ("\ud800", "a\udfffb", "\ud83d\ude00", "\ude00\ud83d"):
        assert ours.encode(text).tolist() == theirs.encode_ordinary(text)


def test_a_line_of_ten_megabytes(tiktoken_pair):
    theirs, ours = tiktoken_pair("gpt2")
    text = "The quick brown fox, naïve 中文 12345 jumps.  " * 220_000
    ids = ours.encode(text)
    assert theirs.decode(ids[:1000].tolist()) == text[: len(theirs.decode(ids[:1000].tolist()))]
    unit = theirs.encode_ordinary("The quick brown fox, naïve 中文 12345 jumps.  " * 3)
    assert ids[: len(unit) // 2].tolist() == unit[: len(unit) // 2]


@pytest.mark.parametrize(
    "name", [name if name == "gpt2" else pytest.param(name, marks=pytest.mark.long) for name in DOCUMENTS]
)
def test_decoding_offsets_and_plain_python_agree(document_pair, test_data, name):
    theirs, ours = document_pair(name)
    for text in [*_lines(test_data, every=2500), *hard_strings(150, seed=5)]:
        text = text.replace("\x00", "")
        want = theirs.encode(text, add_special_tokens=False)
        assert ours.decode(want.ids) == theirs.decode(want.ids, skip_special_tokens=False)
        assert ours.sample(text, np.random.default_rng(0), 0.0) == want.ids
        offsets = [tuple(span) for span in ours.offsets(text).tolist()]
        if name != "qwen2":  # NFC: we give whole clusters, tokenizers single characters
            assert offsets == want.offsets
        assert len(offsets) == len(want.ids)
