"""What an `SpmTokenizer` and a `JsonUnigramTokenizer` can do besides equal ids."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.unigram.model_file import (
    BYTE,
    CONTROL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    NormalizerSpec,
    Piece,
    SpmModel,
    TrainerSpec,
    read_model,
)
from tokbench_subword.unigram.spm_bpe import SpmBpe, load_spm_bpe, merge
from tokbench_subword.unigram.tokenizer import SpmTokenizer
from tokbench_subword.unigram.vocabulary import byte_piece

from tokbench.errors import TokenizerError
from tokbench.testing import check_tokenizer

from .conftest import BPE_MODELS, UNIGRAM_MODELS

Pair = Callable[[str], tuple[SpmTokenizer, Any]]
UNK = Piece("<unk>", 0.0, UNKNOWN)
SMALL = SpmModel(
    (
        UNK,
        Piece("<s>", 0.0, CONTROL),
        Piece("▁", -2.0),
        Piece("a", -1.0),
        Piece("b", -1.5),
        Piece("ab", -2.0),
        Piece("▁ab", -3.0),
        Piece("ba", -2.25),
    )
)


def small(**changes: Any) -> SpmTokenizer:
    return SpmTokenizer("small", SMALL.with_pieces((*SMALL.pieces, *changes.get("pieces", ()))))


def sentencepiece_of(model: SpmModel) -> Any:
    import sentencepiece
    from tokbench_subword.unigram.model_file import serialize

    return sentencepiece.SentencePieceProcessor(model_proto=serialize(model))


@pytest.mark.parametrize("model", [UNIGRAM_MODELS[0], UNIGRAM_MODELS[3], BPE_MODELS[0]])
def test_conforms(model: str, pair: Pair) -> None:
    check_tokenizer(pair(model)[0])


def test_small_model_conforms() -> None:
    check_tokenizer(small())


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "a\0b", "\ud800", "a\udfffb", "x" * 3, "\U0010ffff", "▁", "a▁"]
)
def test_edges_of_text(text: str) -> None:
    tokenizer = small()
    ids = tokenizer(text)
    assert ids == tokenizer.encode_batch([text])[0].tolist()
    assert len(tokenizer.offsets(text)) == len(ids)
    tokenizer.decode(ids)


def test_surrogates_count_as_the_replacement_character(pair: Pair) -> None:
    ours, _ = pair(BPE_MODELS[0])
    assert ours("a\ud800") == ours("a\ufffd")


def test_unknown_characters_merge_also_across_cuts() -> None:
    tokenizer = small()
    assert tokenizer("xyz") == [2, 0] == sentencepiece_of(SMALL).encode("xyz")
    assert tokenizer.tokenize("axb") == ["▁", "a", "<unk>", "b"]


def test_a_space_without_a_piece_falls_back_to_its_bytes() -> None:
    pieces = (UNK, Piece("a", -1.0), *(Piece(byte_piece(byte), 0.0, BYTE) for byte in range(256)))
    model = SpmModel(pieces, TrainerSpec(byte_fallback=True))
    tokenizer, theirs = SpmTokenizer("bytes", model), sentencepiece_of(model)
    for text in ("a a", "é", "日 a", "  "):
        assert tokenizer(text) == theirs.encode(text)
        assert tokenizer.decode(tokenizer(text)) == theirs.decode(theirs.encode(text))
    assert len(tokenizer.offsets("日 a")) == len(tokenizer("日 a"))


@pytest.mark.parametrize("spec", [
    NormalizerSpec(add_dummy_prefix=False),
    NormalizerSpec(remove_extra_whitespaces=False),
    NormalizerSpec(add_dummy_prefix=False, remove_extra_whitespaces=False),
    NormalizerSpec(escape_whitespaces=False),
    NormalizerSpec(escape_whitespaces=False, remove_extra_whitespaces=False),
])  # fmt: skip
@pytest.mark.parametrize("suffix", [False, True])
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_rules_for_spaces(spec: NormalizerSpec, suffix: bool, kind: str) -> None:
    pieces = (
        *SMALL.pieces, Piece("a▁", -1.1), Piece("▁▁", -2.5), Piece(" ", -1.2), Piece(" a", -0.9),
        Piece("b▁a", -4.0, USER_DEFINED), Piece("bb", -3.0, USER_DEFINED), Piece("a b", 0.0, USER_DEFINED),
    )  # fmt: skip
    model = SpmModel(pieces, TrainerSpec(model_type=kind, treat_whitespace_as_suffix=suffix), spec)
    ours, theirs = SpmTokenizer("spaces", model), sentencepiece_of(model)
    for text in (
        "",
        " ",
        "a",
        " a",
        "a ",
        "  a  b  ",
        "ab▁ab",
        "▁",
        "a b bb abb",
        "bbb",
        "b a",
        "xa b",
        "a\u3000b",
    ):
        assert ours.normalize(text) == theirs.normalize(text), text
        assert ours(text) == theirs.encode(text), text
        assert ours.decode(ours(text)) == theirs.decode(ours(text)), text
    assert ours.decode_joins_bytes == (
        spec.escape_whitespaces and not (spec.add_dummy_prefix or spec.remove_extra_whitespaces)
    )
    check_tokenizer(ours)


def test_unused_pieces_are_taken_apart_again() -> None:
    pieces = (
        UNK, *(Piece(text, -float(i)) for i, text in enumerate(["ab", "abc", "a", "b", "c", "▁", "bc"], 1)),
        Piece("abcabc", -9.0), Piece("▁ab", -0.5, UNUSED),
    )  # fmt: skip
    hidden = tuple(Piece(p.text, p.score, UNUSED if p.text in ("ab", "abcabc") else p.type) for p in pieces)
    model = SpmModel(hidden, TrainerSpec(model_type="bpe"))
    ours, theirs = SpmTokenizer("unused", model), sentencepiece_of(model)
    for text in ("ab", "abc", "abcabc", "ab abc bcab", "xab"):
        assert ours(text) == theirs.encode(text), text


def test_the_kernel_of_bpe_equals_its_plain_form(pair: Pair, test_data: Path) -> None:
    for name in BPE_MODELS:
        ours, _ = pair(name)
        algorithm = ours.algorithm
        assert isinstance(algorithm, SpmBpe)
        for language in ("eng_Latn", "tha_Thai", "kor_Hang"):
            text = (test_data / f"corpora/pud/{language}.txt").read_text(encoding="utf-8")[:3000]
            data = ours.normalize(text).replace("▁", " ").encode()
            assert algorithm.path(data) == merge(algorithm, data)


def test_sampling_follows_the_model() -> None:
    tokenizer = small()
    rng = np.random.default_rng(0)
    alpha, n = 0.7, 20_000
    drawn = Counter(tuple(tokenizer.sample("ab", rng, alpha)) for _ in range(n))
    paths = tokenizer.nbest_scored("ab", 100)
    weights = {tuple(ids): math.exp(alpha * score) for ids, score in paths}
    total = sum(weights.values())
    assert set(drawn) == set(weights)
    for ids, weight in weights.items():
        share = weight / total
        assert drawn[ids] / n == pytest.approx(share, abs=5 * math.sqrt(share / n))
    again = [tokenizer.sample("abab ab", np.random.default_rng(3), 0.1) for _ in range(2)]
    assert again[0] == again[1]
    with pytest.raises(TokenizerError, match="alpha"):
        tokenizer.sample("ab", rng, -1.0)


def test_sampling_words_is_the_same_by_kernels_and_plainly(test_data: Path) -> None:
    path = test_data / "vocabs" / "t5-base" / "hf" / "tokenizer.json"
    by_kernels, plainly = JsonUnigramTokenizer.from_file(path), JsonUnigramTokenizer.from_file(path)
    plainly._words = None
    lines = (test_data / "corpora/pud/deu_Latn.txt").read_text(encoding="utf-8").split("\n")[:40]
    for alpha in (0.0, 0.1, 1.0):
        drawn = [one.sample("\n".join(lines), np.random.default_rng(5), alpha) for one in (by_kernels, plainly)]
        assert drawn[0] == drawn[1]
    for line in ("日本 a", "<unk>b", ""):
        assert by_kernels.sample(line, np.random.default_rng(1), 0.5) == plainly.sample(
            line, np.random.default_rng(1), 0.5
        )


def test_sampling_follows_exact_probabilities_over_several_words() -> None:
    """Each word is drawn by itself: the probability of a text is the product of those of its words."""
    pieces = {"▁": -2.0, "▁a": -1.5, "a": -1.0, "b": -1.2, "ab": -1.7, "▁ab": -3.0, "aba": -4.0}
    content = {
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", -9.0], *map(list, pieces.items())]},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    }
    tokenizer = JsonUnigramTokenizer.from_dict(content)

    def paths(word: str) -> list[tuple[tuple[str, ...], float]]:
        found = [((), 0.0)] if not word else []
        for piece, score in pieces.items():
            if word.startswith(piece):
                found += [((piece, *rest), score + more) for rest, more in paths(word[len(piece) :])]
        return found

    alpha, n = 0.6, 20_000
    exact = Counter[tuple[str, ...]]()
    for (one, first), (two, second) in ((x, y) for x in paths("▁aba") for y in paths("▁ab")):
        exact[one + two] = math.exp(alpha * (first + second))
    rng = np.random.default_rng(0)
    names = {index: tokenizer.convert_id_to_token(index) for index in range(tokenizer.vocab_size)}
    drawn = Counter(tuple(names[index] for index in tokenizer.sample("aba ab", rng, alpha)) for _ in range(n))
    assert set(drawn) <= set(exact)
    for path, weight in exact.items():
        share = weight / exact.total()
        assert drawn[path] / n == pytest.approx(share, abs=5 * math.sqrt(share / n))


@pytest.mark.parametrize("model", BPE_MODELS)
def test_dropout_in_bpe(model: str, pair: Pair) -> None:
    ours, theirs = pair(model)
    rng = np.random.default_rng(0)
    text = "unlikely dropouts"
    assert ours.sample(text, rng, 0.0) == ours(text)
    single = ours.sample(text, rng, 1.0)
    assert all(len(ours.convert_id_to_token(index)) == 1 for index in single)
    mine = Counter(len(ours.sample(text, rng, 0.3)) for _ in range(3000))
    other = Counter(
        len(theirs.encode(text, enable_sampling=True, alpha=0.3, nbest_size=-1)) for _ in range(3000)
    )
    means = [sum(size * count for size, count in one.items()) / 3000 for one in (mine, other)]
    assert means[0] == pytest.approx(means[1], rel=0.03)


def test_n_best_equals_sentencepiece(pair: Pair) -> None:
    for name in UNIGRAM_MODELS[:3]:
        ours, theirs = pair(name)
        for text in ("unbelievable things", "hello", "New York City"):
            assert ours.nbest(text, 5) == theirs.NBestEncodeAsIds(text, 5)
    with pytest.raises(TokenizerError, match="at least 1"):
        ours.nbest("a", 0)
    with pytest.raises(TokenizerError, match="unigram"):
        pair(BPE_MODELS[0])[0].nbest("a", 2)


def test_threads_give_the_same(pair: Pair, test_data: Path) -> None:
    lines = (test_data / "corpora/novels/fra_Latn.txt").read_text(encoding="utf-8")[:400_000].split("\n")
    for name in (UNIGRAM_MODELS[0], BPE_MODELS[0]):
        ours, _ = pair(name)
        one = ours.encode_batch(lines)
        many = SpmTokenizer("many", ours.model, threads=4).encode_batch(lines)
        assert (one.ids == many.ids).all()
        assert (one.offsets == many.offsets).all()


def test_learning_api() -> None:
    tokenizer = small()
    assert tokenizer.pre_tokenize("a b") == ["▁a", "▁b"]
    assert tokenizer.convert_token_to_id("ab") == 5
    assert tokenizer.convert_token_to_id("nothing") == 0
    assert tokenizer.convert_id_to_token(6) == "▁ab"
    assert tokenizer.add_tokens(["<sep>", "é"]) == [8, 9]
    assert tokenizer("a<sep>ab") == [2, 3, 8, 5] == sentencepiece_of(tokenizer.model).encode("a<sep>ab")
    with pytest.raises(TokenizerError, match="already"):
        tokenizer.add_tokens("<sep>")
    again = SpmTokenizer.from_dict(tokenizer.to_dict())
    assert again.model == tokenizer.model
    with pytest.raises(TokenizerError, match="outside"):
        tokenizer.decode([99])
    with pytest.raises(TokenizerError, match="outside"):
        tokenizer.convert_id_to_token(-1)


def test_trace_ends_in_the_encoding() -> None:
    tokenizer = small()
    steps = list(tokenizer.trace("abab"))
    assert [step.kind for step in steps] == ["normalize", *["lattice"] * 5, "best"]
    assert steps[-1].tokens == tuple(tokenizer.token_bytes(index) for index in tokenizer("abab"))
    assert steps[3].detail["candidates"][0] == {"piece": "▁ab", "id": 6, "score": -3.0, "total": -3.0}


def test_saved_model_opens_elsewhere(tmp_path: Path) -> None:
    import sentencepiece
    from tokenizers import Tokenizer

    tokenizer = small()
    tokenizer.save(tmp_path / "small.model")
    tokenizer.save(tmp_path / "small.json")
    spm = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "small.model"))
    hf = Tokenizer.from_file(str(tmp_path / "small.json"))
    mine = JsonUnigramTokenizer.from_file(tmp_path / "small.json")
    for text in ("", "abba", " ab  ab ", "xab", "a b a"):
        expected = tokenizer(text)
        assert spm.encode(text) == expected
        assert hf.encode(text, add_special_tokens=False).ids == expected
        assert mine(text) == expected
        assert hf.decode(expected, skip_special_tokens=True) == spm.decode([i for i in expected if i != 0])
    with pytest.raises(TokenizerError, match="only unigram"):
        SpmTokenizer("b", SpmModel(SMALL.pieces, TrainerSpec(model_type="bpe"))).save(tmp_path / "b.json")


def test_saved_json_of_t5_keeps_ids(pair: Pair, test_data: Path, tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    ours, _ = pair(UNIGRAM_MODELS[0])
    ours.save(tmp_path / "t5.json")
    hf = Tokenizer.from_file(str(tmp_path / "t5.json"))
    for language in ("eng_Latn", "deu_Latn", "jpn_Jpan"):
        for line in (test_data / f"corpora/pud/{language}.txt").read_text(encoding="utf-8").split("\n")[:200]:
            assert hf.encode(line, add_special_tokens=False).ids == ours(line)


def test_tokenizer_json_errors_name_the_component() -> None:
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}
    for part, said in (
        ({"normalizer": {"type": "Surprise"}}, "Surprise"),
        ({"pre_tokenizer": {"type": "Surprise"}}, "Surprise"),
        ({"decoder": {"type": "Surprise"}}, "Surprise"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "!!"}}, "base 64"),
        ({"model": {"type": "BPE", "vocab": {}, "merges": []}}, "not Unigram"),
        ({"model": {**model, "unk_id": 7}}, "unk_id"),
        ({"model": {**model, "vocab": [["a"]]}}, "entry 0"),
        ({"model": {**model, "vocab": [["a", "b"]]}}, "score"),
        ({"model": {**model, "vocab": []}}, "unk_id|empty"),
    ):
        with pytest.raises(TokenizerError, match=said):
            JsonUnigramTokenizer.from_dict({"model": model, **part})


def test_tokenizer_json_added_tokens_and_sampling() -> None:
    content = {
        "model": {
            "type": "Unigram",
            "unk_id": 0,
            "vocab": [["<unk>", 0.0], ["a", -1.0], ["b", -1.0], ["ab", -2.5]],
        },
        "added_tokens": [{"id": 4, "content": "<x>"}, {"id": 5, "content": "<y>", "special": True}],
    }
    tokenizer = JsonUnigramTokenizer.from_dict(content)
    assert tokenizer("a<x>b<y>") == [1, 4, 2, 0]
    assert tokenizer.offsets("a<x>b").tolist() == [[0, 1], [1, 4], [4, 5]]
    assert tokenizer.add_tokens("new") == [6]
    assert tokenizer("anewb") == [1, 6, 2]
    drawn = {tuple(tokenizer.sample("ab", np.random.default_rng(seed), 0.1)) for seed in range(50)}
    assert drawn == {(1, 2), (3,)}
    assert list(tokenizer.trace("ab"))[-1].tokens == (b"a", b"b")
    assert JsonUnigramTokenizer.from_dict(tokenizer.to_dict())("anewb") == [1, 6, 2]


@pytest.mark.parametrize(
    ("decoder", "joins"),
    [
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}, True),
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}, False),
        ({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, True),
        (None, False),
    ],
)
def test_decoding_joins_bytes_where_it_says_so(decoder: Any, joins: bool) -> None:
    content = {
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁", -2.0], ["a", -1.0]]},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"},
        "decoder": decoder,
        "added_tokens": [{"id": 0, "content": "<unk>", "special": True}],
    }
    tokenizer = JsonUnigramTokenizer.from_dict(content)
    assert tokenizer.decode_joins_bytes == joins
    check_tokenizer(tokenizer)
    assert (tokenizer.decode([1, 2, 2]) == " aa") == joins


def test_load_spm_bpe_refuses_other_models(test_data: Path) -> None:
    assert load_spm_bpe(test_data / "vocabs" / BPE_MODELS[0]).vocab_size == 32_000
    with pytest.raises(TokenizerError, match="unigram:"):
        load_spm_bpe(test_data / "vocabs" / UNIGRAM_MODELS[0])
    assert read_model(test_data / "vocabs" / BPE_MODELS[0]).trainer.model_type == "bpe"
