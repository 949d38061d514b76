"""The examples of the tutorials, and the class they teach."""

from __future__ import annotations

import copy
import itertools
import json
from collections import Counter

import numpy as np
import pytest
from tokbench_subword.bpe.family import BPE
from tokbench_subword.bpe.greedy import GreedyTokenizer
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.bpe.trainer import train_bpe
from tokbench_subword.pipeline.patterns import Pattern

import tokbench
from tokbench import Spec, TokenizerError, TrainingCorpus
from tokbench.registry import default_context
from tokbench.spec import with_defaults

MINE = "<|myspecialtoken|>"


@pytest.fixture
def changed_gpt2(gpt2):
    """One of the test's own, to add tokens to."""
    return copy.copy(gpt2)


def test_gpt2_with_an_added_token(changed_gpt2):
    text, gpt2 = f"This isn't{MINE} that   simple", changed_gpt2
    gpt2.add_tokens(MINE)
    ids = [1212, 2125, 470, 50257, 326, 220, 220, 2829]
    assert gpt2(text) == ids
    assert gpt2.encode(text).tolist() == ids
    assert gpt2.decode(ids) == text
    assert gpt2.convert_token_to_id(MINE) == 50257
    assert gpt2.convert_id_to_token(50257) == MINE
    assert gpt2.vocab_size == 50258
    assert gpt2.pre_tokenize(text) == ["This", " isn", "'t", MINE, " that", "  ", " simple"]
    with pytest.raises(TokenizerError, match="already"):
        gpt2.add_tokens([MINE])
    with pytest.raises(TokenizerError, match="already"):
        gpt2.add_tokens("Ġthe")


def test_tokens_added_after_the_first_call():
    tokenizer = BpeTokenizer.of_model(train_bpe(["a b c abc"] * 9, vocab_size=260))
    before = tokenizer.encode(f"a{MINE}").tolist()
    tokenizer.add_tokens(MINE)
    ids = tokenizer.encode(f"a{MINE}").tolist()
    assert len(before) > len(ids)
    assert ids == [before[0], tokenizer.vocab_size - 1] == tokenizer(f"a{MINE}")
    assert tokenizer.encode_batch([f"a{MINE}"])[0].tolist() == ids


def test_gpt2_word_by_word(gpt2):
    assert [gpt2.convert_id_to_token(i) for i in gpt2(" wordaaa")] == ["Ġword", "aaa"]
    assert [gpt2.convert_id_to_token(i) for i in gpt2("aaa word")] == ["aaa", "Ġword"]
    steps = list(gpt2.trace(" wordaaa"))
    merges = [step for step in steps if step.kind == "merge"]
    ranks = [step.detail["rank"] for step in merges]
    assert len(merges) == 6
    assert merges[0].tokens[0] == b" w"
    assert "' ' + 'w' → ' w'" in merges[0].note
    assert all(isinstance(rank, int) for rank in ranks)
    assert steps[-1].detail["ids"] == gpt2(" wordaaa")
    json.dumps([dict(step.detail) for step in steps])


def test_to_dict_and_back(changed_gpt2):
    gpt2 = changed_gpt2
    gpt2.add_tokens(MINE)
    again = BpeTokenizer.from_dict(json.loads(json.dumps(gpt2.to_dict())))
    text = f"a{MINE} b, naïve 中文<|endoftext|>"
    assert again(text) == gpt2(text)
    assert again.special_ids == gpt2.special_ids == {50256}


def test_aaabdaaabac_becomes_xdxac():
    model = train_bpe(["aaabdaaabac"], vocab_size=259, pattern="none", ties="first_seen")
    tokenizer = BpeTokenizer.of_model(model)
    ids = tokenizer("aaabdaaabac")
    assert [model.vocabulary[index] for index in ids] == [b"aaab", b"d", b"aaab", b"a", b"c"]


def test_the_cat_the_batat_and_the_hat():
    corpus = "The batat and the cat fought over the hat."
    words = Pattern.of("[^ ]+| ")
    options = {"special_tokens": ["<unk>"], "ties": "first_seen", "level": "char", "pattern": words}
    model = train_bpe([corpus], vocab_size=22, **options)  # 16 letters, the space, <unk>, and four merges
    learned = {model.vocabulary[result].decode() for result in model.merges[:, 2]}
    assert learned == {"at", "he", "The", "the"}
    unk = model.special_tokens["<unk>"]
    from dataclasses import replace

    greedy = GreedyTokenizer.of(BpeTokenizer.of_model(replace(model, unk=unk)))
    ids = greedy.encode("The zebra lost the hat.")
    assert greedy.decode(ids) == "The <unk>ebra <unk>o<unk>t the hat."
    assert greedy.decode(greedy.encode("The cat found the hat.")) == "The cat found the hat."
    assert [step.kind for step in greedy.trace("bat")] == ["match", "match"]
    merging = BpeTokenizer.of_model(replace(model, unk=unk))
    assert list(merging.trace("bat"))[-1].note == f"{len(merging('bat'))} tokens"
    assert list(merging.trace("bat☃"))[-1].note == f"{len(merging('bat☃'))} tokens, of them unknown: 1"
    never = GreedyTokenizer.of(BpeTokenizer.of_model(replace(model, unk=None)))
    assert never.decode(never.encode("The cat found the hat.")) == "The cat found the hat."
    for encode in (never.encode, never, lambda text: never.encode_batch(["the", text])):
        with pytest.raises(TokenizerError, match=r"no token matches the beginning of b'zebr'"):
            encode("The zebra lost the hat.")


@pytest.mark.parametrize("family", ["bpe", "wordpiece", "unigram"])
def test_what_a_file_does_not_hold_is_told_again_when_what_was_trained_is_loaded(family):
    """``encoding=greedy`` was lost on the way through the file: the tokenizer was plain BPE."""
    texts = ["the hat and the bat, that hat"] * 20
    options = {"bpe": ",encoding=greedy", "wordpiece": ",match_special=true,special_tokens=[UNK] [X]"}
    spec = f"{family}:vocab_size={270 if family == 'bpe' else 30},cache=2MB{options.get(family, '')}"
    for _ in range(2):  # trained, then found
        tokenizer = tokbench.load(spec, train_on=texts)
        assert tokenizer.facts()["word_cache_bytes"] == 2 << 20
        if family == "bpe":
            assert tokenizer.facts()["algorithm"].startswith("greedy")
        if family == "wordpiece":
            assert tokenizer.encode("the [X]")[-1] == 1


def _naive(data: bytes, merges: int) -> list[int]:
    """Byte-level BPE of one piece, as minbpe does it: the most frequent pair, of equals the first seen."""
    ids = list(data)
    for step in range(merges):
        counts = Counter(itertools.pairwise(ids))  # in the order in which pairs are first seen
        best = max(counts, key=counts.__getitem__)
        new, i = [], 0
        while i < len(ids):
            if ids[i] == best[0] and ids[i + 1 : i + 2] == [best[1]]:
                new.append(256 + step)
                i += 2
            else:
                new.append(ids[i])
                i += 1
        ids = new
    return ids


@pytest.mark.slow
def test_romeo_and_juliet_compresses_as_the_textbook_says(test_data):
    text = (test_data / "corpora/english-misc/romeo-and-juliet.txt").read_text(encoding="utf-8")
    model = train_bpe([text], vocab_size=5000, pattern="none", ties="first_seen")
    ids = BpeTokenizer.of_model(model).encode(text)
    ratio = len(text.encode()) / len(ids)
    assert 4.3 < ratio < 4.7  # 4.49 in the textbook, on another edition
    assert len(ids) == len(_naive(text.encode(), 5000 - 256))


def test_a_short_text_compresses_as_the_plain_implementation_does():
    text = "the theatre there: then the other, neither here nor there, gathers the leather together. " * 4
    model = train_bpe([text], vocab_size=300, pattern="none", ties="first_seen")
    assert len(BpeTokenizer.of_model(model).encode(text)) == len(_naive(text.encode(), 44))


# --- sampling -------------------------------------------------------------------------------------------


def test_dropout_is_seeded_and_keeps_the_text(gpt2):
    text = "unbelievable internationalisation of tokenizers"
    samples = [gpt2.sample(text, np.random.default_rng(5), 0.3) for _ in range(2)]
    assert samples[0] == samples[1]
    assert samples[0] != gpt2(text)
    assert gpt2.decode(samples[0]) == text
    assert gpt2.sample(text, np.random.default_rng(5), 0.0) == gpt2(text)
    letters = gpt2.sample(text, np.random.default_rng(5), 1.0)
    assert [gpt2.token_bytes(i) for i in letters] == [bytes([b]) for b in text.encode()]
    with pytest.raises(TokenizerError, match="between 0 and 1"):
        gpt2.sample(text, np.random.default_rng(5), 1.5)


# --- the family -----------------------------------------------------------------------------------------


def _load(text):
    from tokbench.spec import validate

    return BPE.load(validate(Spec.parse(text), BPE.options), default_context())


def _train(texts, **options):
    given = {**with_defaults(BPE.options, options)}
    return BPE.train(TrainingCorpus.of_texts(texts), given, lambda fraction, what: None)


CORPUS = ["the cat sat on the mat, the rat sat on the hat", "naïve 中文 and the 12345 others"] * 20


@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 300},
        {"vocab_size": 300, "pattern": "o200k"},
        {"vocab_size": 300, "pattern": "cl100k"},
        {"vocab_size": 300, "pattern": "whitespace"},
        {"vocab_size": 300, "pattern": "none"},
        {"vocab_size": 300, "pattern": r"\w+|\W"},
        {"vocab_size": 60, "level": "char", "special_tokens": "<unk>"},
        {"vocab_size": 80, "end_of_word": "</w>", "special_tokens": "<unk> <s>"},
    ],
    ids=str,
)
def test_what_is_trained_opens_again_here_and_in_both_libraries(options, tmp_path):
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    trained = _train(CORPUS, **options)
    path = tmp_path / "mine.json"
    trained.save(path)
    again = _load(f"bpe:{path}")
    theirs = Tokenizer.from_file(str(path))
    fast = PreTrainedTokenizerFast(tokenizer_file=str(path))
    for text in [*CORPUS[:2], "a new   text, isn't it? 99\n\n", "zebra  ", ""]:
        ids = trained.encode(text).tolist()
        assert again.encode(text).tolist() == ids
        assert theirs.encode(text, add_special_tokens=False).ids == ids, text
        assert fast.encode(text, add_special_tokens=False) == ids
        if trained.lossless:
            assert trained.decode(ids) == text


def test_vocab_json_and_tiktoken_files_go_both_ways(tmp_path, test_data):
    import tiktoken

    trained = _train(CORPUS, vocab_size=300)
    trained.save(tmp_path / "pair")
    trained.save(tmp_path / "mine.tiktoken")
    pair = _load(f"bpe:{tmp_path / 'pair'}")
    ranks = _load(f"bpe:{tmp_path / 'mine.tiktoken'},pattern=gpt2")
    from tokbench.vocabulary_files import read_ranks

    theirs = tiktoken.Encoding(
        "mine",
        pat_str=tiktoken.get_encoding("gpt2")._pat_str,
        mergeable_ranks=read_ranks(tmp_path / "mine.tiktoken"),
        special_tokens={},
    )
    for text in [*CORPUS[:2], "another, longer text that isn't in there"]:
        ids = trained.encode(text).tolist()
        assert pair.encode(text).tolist() == ids
        assert ranks.encode(text).tolist() == ids
        assert theirs.encode_ordinary(text) == ids


def test_gpt2_from_each_of_its_forms(test_data):
    folder = test_data / "vocabs/gpt2"
    forms = [
        _load(f"bpe:{folder}/hf/tokenizer.json"),
        _load(f"bpe:{folder}/vocab.json"),
        _load(f"bpe:{folder}/vocab.bpe"),
    ]
    text = "Hello world, it's   GPT-2! naïve 中文 <|endoftext|>"
    assert len({tuple(form.encode(text).tolist()) for form in forms}) == 1
    assert {form.vocab_size for form in forms} == {50257}
    assert all(50256 in form.special_ids for form in forms)


def test_a_sentencepiece_model_opens_in_house_with_the_ids_of_its_library(test_data):
    import sentencepiece

    path = test_data / "vocabs/llama-2/tokenizer.model"
    ours = _load(f"bpe:{path}")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
    assert ours.name == f"bpe:{path}"
    assert ours.vocab_size == theirs.get_piece_size() == 32000
    for text in [
        "Hello world, it's   me",
        "naïve 中文 \U0001f9d1\u200d\U0001f680 12345",
        " a\n\tb ",
        "ಕನ್ನಡ",
        "",
    ]:
        ids = ours.encode(text).tolist()
        assert ids == theirs.encode(text), text
        assert ours.decode(ids) == theirs.decode(ids)
    with pytest.raises(TokenizerError, match="dropout does not apply to a sentencepiece model"):
        _load(f"bpe:{path},dropout=0.1")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bpe:no/such/file.json", "no file"),
        ("bpe:{dir}", "has no tokenizer.json"),
        ("bpe:{dir}/x.tiktoken", "does not say how text is cut"),
        ("bpe:{dir}/x.tiktoken,pattern=gpt2", "line 2: expected a token in base64"),
        ("bpe:{dir}/x.tiktoken,vocab_size=5", "is for training"),
        ("bpe:{dir}/vocab.json", "BPE also needs merges.txt"),
        ("bpe:{dir}/t.json", "not JSON"),
        ("bpe:{dir}/x.model", "x.model"),
        ("bpe:{dir}/y.tiktoken,pattern=gpt2", "lack 255 single bytes"),
        ("bpe:{dir}/y.tiktoken,pattern=(", "not a regular expression"),
    ],
)
def test_wrong_requests_say_what_is_wrong(spec, message, tmp_path):
    (tmp_path / "x.tiktoken").write_text("YQ== 0\n!! 1\n")
    (tmp_path / "y.tiktoken").write_text("YQ== 0\n")
    (tmp_path / "t.json").write_text('{"model"')
    (tmp_path / "x.model").write_bytes(b"not a model")
    folder = tmp_path / "only-vocab"
    folder.mkdir()
    (folder / "vocab.json").write_text('{"a": 0}')
    where = folder if "vocab.json" in spec else tmp_path
    with pytest.raises(TokenizerError, match=message):
        _load(spec.replace("{dir}", str(where)))


def test_the_conformance_kit_is_content():
    from tokbench.testing import check_tokenizer

    check_tokenizer(_train(CORPUS, vocab_size=300), examples=20)
