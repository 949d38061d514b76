"""The adapter of sentencepiece: the library's ids, facts read from the file, a deterministic trainer."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from tokbench_sentencepiece.family import SENTENCEPIECE

from tests.plugins.conftest import check_forms, train_on
from tests.plugins.subword.sentencepiece.conftest import BPE_MODELS, UNIGRAM_MODELS
from tokbench import LoadContext, Spec, SpecError, TokenizerError, TrainingCorpus
from tokbench.spec import with_defaults


def load(path: Path | str, threads: int = 1):
    return SENTENCEPIECE.load(
        Spec("sentencepiece", str(path)), LoadContext(Path("unused"), True, False, threads)
    )


@pytest.mark.parametrize("model", [*UNIGRAM_MODELS, *BPE_MODELS])
def test_ids_equal_the_library_called_directly(model, test_data, hard_texts):
    path = test_data / "vocabs" / model
    tokenizer, library = load(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    expected = [library.Encode(text) for text in hard_texts]
    check_forms(tokenizer, hard_texts, expected)
    whole = "\n".join(hard_texts)
    assert tokenizer.encode_batch([whole])[0].tolist() == library.Encode(whole)  # the numpy call
    assert [tokenizer.decode(ids) for ids in tokenizer.encode_batch(hard_texts)] == [
        library.Decode(ids) for ids in expected
    ]


def test_threads_change_nothing(test_data, hard_texts):
    path = test_data / "vocabs" / "t5-base" / "spiece.model"
    one, two = load(path), load(path, threads=2)
    assert np.array_equal(one.encode_batch(hard_texts).ids, two.encode_batch(hard_texts).ids)
    with ThreadPoolExecutor(4) as pool:
        assert [list(ids) for ids in pool.map(one.encode, hard_texts)] == [
            list(one.encode(text)) for text in hard_texts
        ]


def test_facts_are_those_of_the_file(test_data):
    vocabs = test_data / "vocabs"
    llama, t5 = load(vocabs / "llama-2" / "tokenizer.model"), load(vocabs / "t5-base" / "spiece.model")
    assert llama.facts()["algorithm"] == "bpe"
    assert llama.facts()["byte_fallback"] is True
    assert llama.facts()["normalizer"] == "identity"
    assert llama.facts()["remove_extra_whitespaces"] is False
    assert t5.facts()["algorithm"] == "unigram"
    assert "UNK" in t5.facts()["why_not_lossless"]
    assert t5.facts()["special_tokens"] == {"<pad>": 0, "</s>": 1, "<unk>": 2}
    assert (llama.unk_id, t5.unk_id) == (0, 2)


def test_token_bytes_make_up_the_text(test_data):
    tokenizer = load(test_data / "vocabs" / "llama-2" / "tokenizer.model")
    ids = tokenizer.encode("héllo 龘 w")
    assert b"".join(map(tokenizer.token_bytes, ids)) == " héllo 龘 w".encode()
    assert tokenizer.token_bytes(1) == b""


def test_characters_spelled_in_bytes_have_their_span_on_each(test_data):
    tokenizer = load(test_data / "vocabs" / "llama-2" / "tokenizer.model")
    spans = tokenizer.offsets("a龘b")
    assert spans.tolist() == [[0, 1], [1, 2], [1, 2], [1, 2], [2, 3]]


def test_sampling_repeats_with_its_seed_and_varies(test_data):
    tokenizer = load(test_data / "vocabs" / "t5-base" / "spiece.model")
    text = "unbelievable tokenization of internationalisation"

    def draws(seed):
        rng = np.random.default_rng(seed)
        return [tuple(tokenizer.sample(text, rng, 0.1)) for _ in range(5)]

    assert draws(1) == draws(1)
    assert len(set(draws(1))) > 1
    assert {tokenizer.decode(ids) for ids in draws(1)} == {text}


def test_nbest_begins_with_the_best_and_needs_unigram(test_data):
    tokenizer = load(test_data / "vocabs" / "t5-base" / "spiece.model")
    best = tokenizer.nbest("unbelievable", 3)
    assert best[0] == tokenizer.encode("unbelievable")
    assert len({tuple(ids) for ids in best}) == 3
    with pytest.raises(TokenizerError, match="unigram"):
        load(test_data / "vocabs" / "llama-2" / "tokenizer.model").nbest("a", 2)


def test_lone_surrogates_are_named(test_data):
    tokenizer = load(test_data / "vocabs" / "t5-base" / "spiece.model")
    with pytest.raises(TokenizerError, match="text 1 holds a lone surrogate at character 2"):
        tokenizer.encode_batch(["fine", "ab\ud800"])
    with pytest.raises(TokenizerError, match="lone surrogate"):
        tokenizer.encode("\udc00")


def test_ids_out_of_range_are_refused(test_data):
    with pytest.raises(TokenizerError, match="outside"):
        load(test_data / "vocabs" / "t5-base" / "spiece.model").decode([10**6])


@pytest.mark.parametrize("content", [b"", b"{}", b"\x0a\xff\xff\xff\x7f", b"\x80", b"hello world"])
def test_wrong_files_are_named(content, tmp_path):
    path = tmp_path / "wrong.model"
    path.write_bytes(content)
    with pytest.raises(TokenizerError, match=r"wrong\.model"):
        load(path)


def test_absent_files_and_folders(tmp_path):
    with pytest.raises(TokenizerError, match="cannot be read"):
        load(tmp_path / "absent.model")
    with pytest.raises(TokenizerError, match="folder"):
        load(tmp_path)
    with pytest.raises(SpecError, match=r"\.model"):
        SENTENCEPIECE.load(Spec("sentencepiece"), LoadContext(tmp_path))


# --- training ------------------------------------------------------------------------------------------------

NOUNS, VERBS = ("dog", "cat", "ox"), ("jump", "leap")
CORPUS = [f"the {noun} {verb}s over\nthe lazy {noun}" for noun in NOUNS for verb in VERBS]


trained = partial(train_on, SENTENCEPIECE, CORPUS * 3)


@pytest.mark.parametrize(("kind", "size"), [("unigram", 26), ("bpe", 40), ("char", 22), ("word", 11)])
def test_training_gives_the_type_and_size_and_repeats(kind, size, tmp_path, capfd):
    first, second = trained(model_type=kind, vocab_size=size), trained(model_type=kind, vocab_size=size)
    assert first.vocab_size == size
    assert first.model_type == kind
    assert hashlib.sha256(first.model).digest() == hashlib.sha256(second.model).digest()
    assert capfd.readouterr().err == ""
    path = tmp_path / f"saved{SENTENCEPIECE.trained_suffix}"
    first.save(path)
    assert load(path).encode(CORPUS[0]) == first.encode(CORPUS[0])
    assert SENTENCEPIECE.files(Spec("sentencepiece", str(path)), LoadContext(tmp_path)) == [path]


def test_options_reach_the_trainer():
    tokenizer = trained(
        model_type="bpe",
        vocab_size=320,
        byte_fallback=True,
        user_defined_symbols="<x> <y>",
        normalization_rule_name="identity",
        hard_vocab_limit=False,
    )
    assert tokenizer.trainer.byte_fallback
    assert tokenizer.normalizer.name == "identity"
    assert tokenizer.processor.PieceToId("<y>") in tokenizer.encode("a<y>b")


def test_bytes_of_one_character_share_its_span_and_others_do_not():
    asked = {
        "vocab_size": 280,
        "byte_fallback": True,
        "normalization_rule_name": "nfkc",
        "hard_vocab_limit": False,
    }
    tokenizer = train_on(SENTENCEPIECE, ["abc bca ž cab abž"] * 20, **asked)
    first = tokenizer.processor.PieceToId("<0x00>")
    assert [token - first for token in tokenizer.encode("日ǅ")[1:5]] == [0xE6, 0x97, 0xA5, ord("D")]
    assert tokenizer.offsets("日ǅ").tolist() == [[0, 0], [0, 1], [0, 1], [0, 1], [1, 1], [1, 2]]
    assert tokenizer.offsets_batch(["日ǅ"])[0].tolist() == tokenizer.offsets("日ǅ").tolist()


def test_an_interrupt_while_text_is_read_is_one():
    def interrupted(done, doing):
        raise KeyboardInterrupt

    corpus = TrainingCorpus.of_texts(CORPUS)
    with pytest.raises(KeyboardInterrupt):
        SENTENCEPIECE.train(corpus, with_defaults(SENTENCEPIECE.options, {"vocab_size": 26}), interrupted)


def test_impossible_sizes_say_what_is_possible():
    with pytest.raises(TokenizerError, match=r"training failed: .*too high .* <= \d+.*hard_vocab"):
        trained(vocab_size=5000)
