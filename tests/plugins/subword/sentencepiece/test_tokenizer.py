"""What an `SpmTokenizer` can do besides equal ids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tokbench_subword.files.sentencepiece_model import (
    UNUSED,
    USER_DEFINED,
    NormalizerSpec,
    Piece,
    SpmModel,
    TrainerSpec,
    read_model,
)
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.sentencepiece.algorithms import spans_of_path
from tokbench_subword.sentencepiece.charsmap import Normalizer
from tokbench_subword.sentencepiece.spm_bpe import SpmBpe, merge
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.unigram.paths import Node

from tokbench.errors import TokenizerError
from tokbench.kernels.pointers import PADDING
from tokbench.testing import check_tokenizer

from .conftest import BPE_MODELS, UNIGRAM_MODELS
from .small_models import BYTES, SMALL, UNK, Pair, sentencepiece_of, small, trained_there


@pytest.mark.long
@pytest.mark.parametrize("model", [UNIGRAM_MODELS[0], UNIGRAM_MODELS[3], BPE_MODELS[0]])
def test_conforms(model: str, pair: Pair) -> None:
    check_tokenizer(pair(model)[0])


def test_small_model_conforms() -> None:
    check_tokenizer(small(), examples=20)


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "a\0b", "\ud800", "a\udfffb", "x" * 3, "\U0010ffff", "▁", "a▁"]
)
def test_edges_of_text(text: str) -> None:
    tokenizer = small()
    ids = tokenizer(text)
    assert ids == tokenizer.encode_batch([text])[0].tolist()
    assert len(tokenizer.offsets(text)) == len(ids)
    tokenizer.decode(ids)


def test_ends_of_texts_that_lie_one_behind_the_other() -> None:
    """The normalizer looks at 64 bytes at once: what is behind a text is of the next, and changes nothing."""
    model = trained_there(["plain words of a text"] * 9, vocab_size=19, normalization_rule_name="nmt_nfkc")
    ours, theirs = SpmTokenizer("ends", model), sentencepiece_of(model)
    for tail in ("", " ", "  a", "e\u0301", "\ufb01", "e", "\t"):
        for head in ("\u0301", "\u3099x", "  x"):
            texts = [text for size in range(130) for text in ("x" * size + tail, head + "a" * (size % 3))]
            assert [part.tolist() for part in ours.encode_batch(texts)] == theirs.encode(texts)
            assert [ours.normalize(text) for text in texts] == [theirs.normalize(text) for text in texts]


def test_surrogates_count_as_the_replacement_character(pair: Pair) -> None:
    ours, _ = pair(BPE_MODELS[0])
    assert ours("a\ud800") == ours("a\ufffd")


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_long_texts_of_more_ids_than_bytes_behind_short_ones(kind: str) -> None:
    """A space is spelled in the three bytes of U+2581, and each text takes more room than those before."""
    pieces = (UNK, *BYTES, Piece("a", -1.0), Piece("ab", -2.0))
    spaces = NormalizerSpec(add_dummy_prefix=False, remove_extra_whitespaces=False)
    trainer = TrainerSpec(model_type=kind, byte_fallback=True, vocab_size=len(pieces))
    tokenizer = SpmTokenizer("spaces", SpmModel(pieces, trainer, spaces))
    texts = ["ab" * 65_000] * 6 + [" " * (130_000 + 20_000 * k) for k in range(6)]
    batch = tokenizer.encode_batch(texts)
    assert batch.lengths().tolist() == [65_000] * 6 + [3 * len(text) for text in texts[6:]]
    space = [1 + byte for byte in "\u2581".encode()]
    assert (batch.ids[6 * 65_000 :].reshape(-1, 3) == space).all()
    assert np.array_equal(tokenizer.encode_with_offsets(texts)[0].ids, batch.ids)


def test_unknown_characters_merge_also_across_cuts() -> None:
    tokenizer = small()
    assert tokenizer("xyz") == [2, 0] == sentencepiece_of(SMALL).encode("xyz")
    assert tokenizer.tokenize("axb") == ["▁", "a", "<unk>", "b"]


def test_a_space_without_a_piece_falls_back_to_its_bytes() -> None:
    pieces = (UNK, Piece("a", -1.0), *BYTES)
    model = SpmModel(pieces, TrainerSpec(byte_fallback=True))
    tokenizer, theirs = SpmTokenizer("bytes", model), sentencepiece_of(model)
    for text in ("a a", "é", "日 a", "  "):
        assert tokenizer(text) == theirs.encode(text)
        assert tokenizer.decode(tokenizer(text)) == theirs.decode(theirs.encode(text))
    assert len(tokenizer.offsets("日 a")) == len(tokenizer("日 a"))


@pytest.mark.long
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
            drawn = algorithm.sample_rows(data, np.random.default_rng(0), 0.0)
            assert [Node(*row) for row in drawn.tolist()] == merge(algorithm, data)


def test_threads_give_the_same(pair: Pair, test_data: Path) -> None:
    lines = (test_data / "corpora/novels/fra_Latn.txt").read_text(encoding="utf-8")[:400_000].split("\n")
    for name in (UNIGRAM_MODELS[0], BPE_MODELS[0]):
        ours, _ = pair(name)
        threaded = SpmTokenizer("many", ours.model, threads=4)
        (one, spans), many = ours.encode_with_offsets(lines), threaded.encode_batch(lines)
        assert (one.ids == many.ids).all()
        assert (one.offsets == many.offsets).all()
        assert (spans == threaded.encode_with_offsets(lines)[1]).all()


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
        tokenizer.decode([tokenizer.vocab_size])
    with pytest.raises(TokenizerError, match="outside"):
        tokenizer.convert_id_to_token(-1)


def test_ties_are_broken_by_the_rounding_of_all_that_was_added_up_before() -> None:
    pieces = (UNK, Piece("▁", -2.1), Piece("a", -1.3), Piece("0", -3.7), Piece("00", -5.9))
    tokenizer, texts = SpmTokenizer("ties", SpmModel(pieces)), ["a" * length + " 000" for length in range(99)]
    theirs = sentencepiece_of(tokenizer.model).encode([*texts, " ".join(texts)])
    assert tokenizer.encode_batch([*texts, " ".join(texts)]).to_lists() == theirs
    assert [tokenizer(text) for text in texts] == theirs[:-1]
    assert {tuple(ids[-2:]) for ids in theirs} == {(3, 4), (4, 3)}


def test_trace_ends_in_the_encoding() -> None:
    tokenizer = small()
    steps = list(tokenizer.trace("abab"))
    assert [step.kind for step in steps] == ["normalize", *["lattice"] * 5, "best"]
    assert steps[-1].tokens == tuple(tokenizer.token_bytes(index) for index in tokenizer("abab"))
    assert steps[3].detail["candidates"][0] == {"piece": "▁ab", "id": 6, "score": -3.0, "total": -3.0}
    for step in steps[1:-1]:
        assert step.detail["total"] == max(each["total"] for each in step.detail["candidates"])
    assert steps[-1].note == f"the best path; tokens: {len(steps[-1].tokens)}"
    assert list(tokenizer.trace("ab??"))[-1].note == "the best path; tokens: 2, of them unknown: 1"


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
    bpe = SpmTokenizer("b", SpmModel(SMALL.pieces, TrainerSpec(model_type="bpe")))
    bpe.save(tmp_path / "b.json")
    theirs = Tokenizer.from_file(str(tmp_path / "b.json"))
    for text in ("", "abba", " ab  ab ", "xab", "a b a"):
        assert theirs.encode(text, add_special_tokens=False).ids == bpe(text)


def test_from_file_refuses_other_models(test_data: Path) -> None:
    assert SpmTokenizer.from_file(test_data / "vocabs" / BPE_MODELS[0], "bpe").vocab_size == 32_000
    with pytest.raises(TokenizerError, match="unigram:"):
        SpmTokenizer.from_file(test_data / "vocabs" / UNIGRAM_MODELS[0], "bpe")
    assert read_model(test_data / "vocabs" / BPE_MODELS[0]).trainer.model_type == "bpe"


def test_saved_json_of_t5_keeps_ids(pair: Pair, test_data: Path, tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    ours, _ = pair(UNIGRAM_MODELS[0])
    ours.save(tmp_path / "t5.json")
    hf = Tokenizer.from_file(str(tmp_path / "t5.json"))
    for language in ("eng_Latn", "deu_Latn", "jpn_Jpan"):
        for line in (test_data / f"corpora/pud/{language}.txt").read_text(encoding="utf-8").split("\n")[:200]:
            assert hf.encode(line, add_special_tokens=False).ids == ours(line)


def test_kernels_may_read_behind_a_text_normalized_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Segments] = []
    segments = Normalizer.segments

    def noting(self: Normalizer, texts: Segments) -> Segments:
        given.append(texts)
        return segments(self, texts)

    monkeypatch.setattr(Normalizer, "segments", noting)
    tokenizer = small()
    assert tokenizer.normalize("ab") == "▁ab"
    spans_of_path(tokenizer.vocabulary, tokenizer.algorithm, "ab")
    assert len(given) == 2
    for texts in given:
        whole = texts.data.base
        assert whole is not None
        assert whole.nbytes >= texts.offsets[-1] + PADDING
