"""Ids equal to sentencepiece's and to those of `tokenizers`: real text, hostile text, every character."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokbench_subword.files.sentencepiece_model import (
    NORMAL,
    USER_DEFINED,
    NormalizerSpec,
    Piece,
    SpmModel,
    TrainerSpec,
)
from tokbench_subword.sentencepiece.spm_bpe import SpmBpe, merge
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.unigram.paths import Node

from .conftest import BPE_MODELS, LONG, UNIGRAM_MODELS, corpus_files, json_pair, lines_of
from .small_models import BYTES, UNK, Pair, sentencepiece_of

HOSTILE = [
    *'ab  ▁▁\u0301\u0300①ﬁ㌀\u3099カハ\u309a \u3000\u200b\x01\n\r\t.가각ᄀ\u1161\u11a8\ufffdßİΣ()"0123',
    "<s>",
    "</s>",
    "<unk>",
    "<0x0A>",
    "🏽",
    "👨\u200d👩",
    "🇩🇪",
    "the",
    " the ",
    "ing",
    "日本",
    "です",
]


def check_ids(ours: SpmTokenizer, theirs: Any, lines: list[str]) -> None:
    expected = theirs.encode(lines, num_threads=1)
    for line, ids, wanted in zip(lines, ours.encode_batch(lines), expected, strict=True):
        assert ids.tolist() == wanted, line


def check_json_ids(ours: JsonUnigramTokenizer, theirs: Any, lines: list[str]) -> None:
    expected = theirs.encode_batch_fast(lines, add_special_tokens=False)
    for line, ids, encoding in zip(lines, ours.encode_batch(lines), expected, strict=True):
        assert ids.tolist() == encoding.ids, line


@pytest.mark.parametrize("model", [*UNIGRAM_MODELS, *BPE_MODELS])
def test_ids_equal_on_corpora(model: str, pair: Pair, test_data: Path) -> None:
    check_corpora(model, pair, test_data, LONG // 4)


@pytest.mark.slow
@pytest.mark.parametrize("model", [*UNIGRAM_MODELS, *BPE_MODELS])
def test_ids_equal_on_whole_corpora(model: str, pair: Pair, test_data: Path) -> None:
    check_corpora(model, pair, test_data, None)


def check_corpora(model: str, pair: Pair, test_data: Path, limit: int | None) -> None:
    for path in corpus_files(test_data):
        check_ids(*pair(model), lines_of(path, limit))


@pytest.mark.parametrize("model", [*UNIGRAM_MODELS[:4], *BPE_MODELS])
def test_every_character(model: str, pair: Pair) -> None:
    ours, theirs = pair(model)
    points = [
        point for point in range(0x110000) if point // 0x800 != 0x1B and (point < 0x30000 or point % 97 == 0)
    ]
    lines = [f"a{chr(point)} b" for point in points if point]
    check_ids(ours, theirs, lines)


@pytest.mark.parametrize("model", [*UNIGRAM_MODELS[:4], *BPE_MODELS])
def test_hostile_text(model: str, pair: Pair) -> None:
    check_ids(*pair(model), hostile_lines(4_000))


@pytest.mark.parametrize("model", UNIGRAM_MODELS[:2])
def test_spaces_at_the_end_of_what_is_copied_at_once(model: str, pair: Pair) -> None:
    sizes = [*range(4), *range(60, 67), *range(125, 131)]
    texts = ["x" * size + " " * spaces + end for size in sizes for spaces in sizes for end in ("", "y", "é")]
    check_ids(*pair(model), texts)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("symbol", [" B", "  B", " ", "  ", "B"])
def test_spaces_that_are_taken_away_before_a_symbol(symbol: str, kind: str) -> None:
    pieces = [UNK, *(Piece(letter, -float(k + 1)) for k, letter in enumerate("abABC\u2581é"))]
    pieces.append(Piece(symbol, 0.0, USER_DEFINED))
    pieces = list({piece.text: piece for piece in pieces}.values())
    model = SpmModel(tuple(pieces), TrainerSpec(model_type=kind, vocab_size=len(pieces)), NormalizerSpec())
    sizes = [*range(5), *range(57, 67), 120, 128]
    texts = ["a" * size + " " * spaces + "Bé" + "c" * 64 for size in sizes for spaces in sizes]
    check_ids(SpmTokenizer("symbols", model), sentencepiece_of(model), texts)


@pytest.mark.parametrize("seed", range(12))
def test_pieces_whose_scores_are_nearly_those_of_their_letters(seed: int) -> None:
    """Which of two paths wins depends on what was added up before: the same words, ever further on."""
    rng, letters = random.Random(seed), "abcdéж"
    size = rng.choice((1.0, 10.0, 100.0, 1000.0))
    score = {letter: -float(np.float32(size * rng.uniform(0.5, 3.0))) for letter in "▁" + letters}
    for length in range(2, 6):
        for _ in range(20):
            text = "".join(rng.choices(letters, k=length))
            total = sum(score[letter] for letter in text)
            score.setdefault(
                text, total * (1.0 + rng.choice((-1, 1)) * rng.choice((0.0, 1e-7, 3e-7, 1e-6, 1e-5)))
            )
    model = SpmModel((UNK, *(Piece(text, value) for text, value in score.items())))
    words = ["".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(60)]
    texts = [" ".join(rng.choices(words, k=count)) for count in (1, 5, 50, 500, 5000)]
    check_ids(SpmTokenizer("ties", model), sentencepiece_of(model), [*texts, *texts])


@pytest.mark.slow
@pytest.mark.parametrize("model", [*UNIGRAM_MODELS, *BPE_MODELS])
def test_hundred_thousand_hostile_lines(model: str, pair: Pair) -> None:
    check_ids(*pair(model), hostile_lines(100_000))


def hostile_lines(count: int) -> list[str]:
    rng = random.Random(7)
    return ["".join(_some(rng) for _ in range(rng.randrange(16))) for _ in range(count)]


def _some(rng: random.Random) -> str:
    return rng.choice(HOSTILE) if rng.random() < 0.85 else chr(rng.randrange(1, 0xD7FF))


@pytest.mark.parametrize("model", [UNIGRAM_MODELS[1], BPE_MODELS[0]])
def test_any_string(model: str, pair: Pair) -> None:
    ours, theirs = pair(model)

    @settings(max_examples=200, database=None)
    @given(st.text())
    def check(text: str) -> None:
        text = text.replace("\0", "")
        check_ids(ours, theirs, [text])

    check()


@pytest.mark.parametrize("seed", range(40))
def test_bpe_models_made_up(seed: int) -> None:
    """Pieces that no training would give, many of them of equal scores, some user-defined."""
    rng = random.Random(seed)
    alphabet = rng.choice(["ab", "abc▁", "ab▁é漢", "abcdefgh▁", "▁aЖж漢字👩", "▁a,.()b"])
    texts = {_word(rng, alphabet, 8) for _ in range(rng.randint(2, 60))}
    pieces = [UNK, *BYTES][: rng.choice([1, 257])]
    pieces += [
        Piece(text, -float(rng.randint(0, rng.choice([2, 100]))), rng.choice([NORMAL] * 12 + [USER_DEFINED]))
        for text in sorted(texts)
    ]
    trainer = TrainerSpec(model_type="bpe", byte_fallback=len(pieces) > 257, vocab_size=len(pieces))
    spaces = NormalizerSpec(
        add_dummy_prefix=rng.random() < 0.5,
        remove_extra_whitespaces=rng.random() < 0.3,
        escape_whitespaces=rng.random() < 0.8,
    )
    ours = SpmTokenizer("made up", SpmModel(tuple(pieces), trainer, spaces))
    lines = [_word(rng, alphabet.replace("▁", " ") + "xé漢 ", 300) for _ in range(20)]
    check_ids(ours, sentencepiece_of(ours.model), lines)
    assert [ours(line) for line in lines] == ours.encode_batch(lines).to_lists()
    assert ours.encode_with_offsets(lines)[0].to_lists() == ours.encode_batch(lines).to_lists()
    algorithm = ours.algorithm
    assert isinstance(algorithm, SpmBpe)
    for line in lines[:5]:
        data = algorithm.normalizer.internal(line)
        drawn = algorithm.sample_rows(data, np.random.default_rng(0), 0.0)
        assert [Node(*row) for row in drawn.tolist()] == merge(algorithm, data)


def _word(rng: random.Random, alphabet: str, most: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(1, most)))


# 60 texts at a time, 300 times: 18,000 strings that hypothesis thought of, in a minute or two for each model.
BATCHES = st.lists(
    st.lists(
        st.sampled_from(HOSTILE) | st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
        max_size=14,
    ).map("".join),
    min_size=60,
    max_size=60,
)
MANY = settings(max_examples=300, database=None, suppress_health_check=list(HealthCheck), deadline=None)


@pytest.mark.slow
@pytest.mark.parametrize("model", [*UNIGRAM_MODELS[:2], UNIGRAM_MODELS[3], BPE_MODELS[0]])
def test_many_strings_of_hypothesis(model: str, pair: Pair) -> None:
    ours, theirs = pair(model)

    @MANY
    @given(BATCHES)
    def check(texts: list[str]) -> None:
        check_ids(ours, theirs, texts)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["t5-base", "albert-base-v1"])
def test_many_strings_of_hypothesis_in_tokenizer_json(folder: str, test_data: Path) -> None:
    ours, theirs = json_pair(folder, test_data)

    @MANY
    @given(BATCHES)
    def check(texts: list[str]) -> None:
        check_json_ids(ours, theirs, texts)

    check()


@pytest.mark.parametrize("model", UNIGRAM_MODELS)
def test_one_long_document(model: str, pair: Pair, test_data: Path) -> None:
    """Sums in float32 over a whole document: rounding, and the reset at 100,000, as sentencepiece has them."""
    ours, theirs = pair(model)
    for name in ("deu_Latn", "rus_Cyrl", "zho_Hans"):
        text = (test_data / f"corpora/novels/{name}.txt").read_text(encoding="utf-8")[:LONG]
        assert ours(text) == theirs.encode(text)
    text = (test_data / "corpora/novels/zho_Hans.txt").read_text(encoding="utf-8")[:LONG].replace("\n", "")
    assert ours(text) == theirs.encode(text)


@pytest.mark.parametrize("model", [UNIGRAM_MODELS[0], *BPE_MODELS])
@pytest.mark.parametrize("unit", ["a", " ", "中", "ab c", "▁", "\u0301", "x\u0301"])
def test_repeated_text(model: str, unit: str, pair: Pair) -> None:
    ours, theirs = pair(model)
    text = unit * (100_000 // len(unit))
    assert ours(text) == theirs.encode(text)


@pytest.mark.parametrize("model", [UNIGRAM_MODELS[0], UNIGRAM_MODELS[3], BPE_MODELS[0]])
def test_decode_normalize_and_offsets_equal(model: str, pair: Pair, test_data: Path) -> None:
    ours, theirs = pair(model)
    lines = [*lines_of(test_data / "corpora/pud/jpn_Jpan.txt", 6000), *hostile_lines(300), "", " ", " a", "a "]
    for line in lines:
        ids = ours(line)
        assert ours.decode(ids) == theirs.decode(ids)
        assert ours.normalize(line) == theirs.normalize(line)
        found = theirs.EncodeAsOffsetMapping(line)
        spans = np.array(found["offsets"], np.int64).reshape(-1, 2)
        mine = ours.offsets(line)
        assert len(mine) == len(ids)
        bytes_ = set(ours.vocabulary.byte_ids.tolist())
        for index, (span, expected) in enumerate(zip(mine.tolist(), spans.tolist(), strict=True)):
            last_byte = index + 1 == len(ids) or ids[index + 1] not in bytes_
            if ids[index] not in bytes_ or last_byte:
                assert span == expected, (line, index)
    rng = random.Random(3)
    for _ in range(300):
        ids = [rng.randrange(ours.vocab_size) for _ in range(rng.randrange(9))]
        if bytes_:
            ids += [*rng.sample(sorted(bytes_), 3), rng.randrange(ours.vocab_size)]
        assert ours.decode(ids) == theirs.decode(ids), ids


@pytest.mark.parametrize("folder", ["t5-base", "albert-base-v1"])
def test_tokenizer_json_equals_tokenizers(folder: str, test_data: Path) -> None:
    ours, theirs = json_pair(folder, test_data)
    lines = hostile_lines(3_000)
    lines += [part * count for part in ("ab", "-", "10", "la", "ha ", "=!") for count in range(15, 120)]
    for file in corpus_files(test_data):
        lines += lines_of(file, 12_000)
    check_json_ids(ours, theirs, lines)
    for line in lines[::100]:
        assert ours.decode(ours.encode(line)) == theirs.decode(ours(line), skip_special_tokens=False)
        assert ours.normalize(line) == theirs.normalizer.normalize_str(line)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["t5-base", "albert-base-v1"])
def test_tokenizer_json_equals_tokenizers_on_whole_corpora(folder: str, test_data: Path) -> None:
    both = json_pair(folder, test_data)
    for file in corpus_files(test_data):
        check_json_ids(*both, lines_of(file, None))
