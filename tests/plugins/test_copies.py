"""In-house tokenizers give the same ids copied, pickled, in processes forked or spawned, fresh and used."""

from __future__ import annotations

import copy
import io
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sentencepiece

import tokbench

TEXTS = ["Hällo wörld", "abab ba", "", "a  b\u3000c", "<s>unhappy 12 中文 😀", "ab" * 200, "aa<sep>b"]
HOW = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda tokenizer: pickle.loads(pickle.dumps(tokenizer)),
}
KINDS = (
    *("byte-level.json", "byte-level.tiktoken", "byte-level", "characters.json", "bpe.model"),
    *("unigram.model", "unigram.json", "wordpiece.json", "wordpiece.txt"),
)


@pytest.fixture(scope="session")
def specs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A small vocabulary of each kind that the in-house families open, as a spec."""
    folder = tmp_path_factory.mktemp("kinds")
    for name, content in (("characters", CHARACTERS), ("wordpiece", WORDPIECE), ("byte-level", byte_level())):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "wordpiece.txt").write_text("\n".join(WORDPIECE["model"]["vocab"]) + "\n", encoding="utf-8")
    whole = tokbench.load(f"bpe:{folder}/byte-level.json")
    whole.save(folder / "byte-level.tiktoken")
    (folder / "byte-level").mkdir()
    (folder / "byte-level" / "vocab.json").write_text(json.dumps(byte_level()["model"]["vocab"]))
    (folder / "byte-level" / "merges.txt").write_text("a b\nab ab\n")
    for kind in ("unigram", "bpe"):
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["ab abba hello world unhappy ba b a", *TEXTS * 20]),
            model_writer=model,
            model_type=kind,
            vocab_size=300,
            byte_fallback=True,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        (folder / f"{kind}.model").write_bytes(model.getvalue())
    tokbench.load(f"unigram:{folder}/unigram.model").save(folder / "unigram.json")
    families = {"unigram": "unigram", "wordpiece": "wordpiece"}
    found = {kind: f"{families.get(kind.partition('.')[0], 'bpe')}:{folder}/{kind}" for kind in KINDS}
    found["byte-level.tiktoken"] += ",pattern=gpt2"
    return found


def byte_level() -> dict:
    spelled = [chr(byte) for byte in [*range(33, 127), *range(161, 173), *range(174, 256)]]
    spelled += [chr(256 + k) for k in range(256 - len(spelled))]
    vocabulary = {text: index for index, text in enumerate([*spelled, "ab", "abab"])}
    return {
        "model": {"type": "BPE", "vocab": vocabulary, "merges": ["a b", "ab ab"]},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
        "added_tokens": [{"id": 258, "content": "<s>", "special": True}],
    }


_LETTERS = ["<unk>", *"abcdehlnoprtuwyä", "a</w>", "b</w>", "d</w>", "ab", "ab</w>"]
CHARACTERS = {
    "model": {
        "type": "BPE",
        "vocab": {text: index for index, text in enumerate(_LETTERS)},
        "merges": ["a b", "a b</w>"],
        "unk_token": "<unk>",
        "end_of_word_suffix": "</w>",
    },
    "normalizer": {"type": "NFC"},
    "pre_tokenizer": {"type": "Whitespace"},
    "decoder": {"type": "BPEDecoder", "suffix": "</w>"},
    "added_tokens": [{"id": len(_LETTERS), "content": "<sep>", "lstrip": True}],
}
_WORDS = ["[UNK]", "un", "##happy", "a", "##b", "##a", "hall", "##o", "<sep>"]
WORDPIECE = {
    "model": {
        "type": "WordPiece",
        "vocab": {text: index for index, text in enumerate(_WORDS)},
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    },
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
}


def answers(tokenizer) -> list:
    """What a tokenizer makes of `TEXTS` by each of its ways, and back."""
    one_by_one = [list(map(int, tokenizer.encode(text))) for text in TEXTS]
    batch = tokenizer.encode_batch(TEXTS)
    spans, limits = tokenizer.offsets_batch(TEXTS)
    back = [tokenizer.decode(ids) for ids in one_by_one]
    assert batch.to_lists() == one_by_one
    return [one_by_one, spans.tolist(), limits.tolist(), back, tokenizer.facts(), tokenizer.special_ids]


@pytest.mark.parametrize("kind", KINDS)
def test_copies_give_the_same(kind, specs):
    expected = answers(tokbench.load(specs[kind]))
    for copied in HOW.values():
        tokenizer = tokbench.load(specs[kind])
        fresh = copied(tokenizer)
        assert answers(tokenizer) == expected
        used = copied(tokenizer)
        del tokenizer  # its tables are freed: nothing may point to them
        assert answers(fresh) == answers(used) == answers(copied(used)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_added_tokens_and_names_go_along(kind, specs):
    tokenizer = tokbench.load(specs[kind])
    tokenizer.add_tokens(["<new>"])
    ids = list(tokenizer.encode("ab<new>ab"))
    for copied in HOW.values():
        other = copied(tokenizer)
        assert list(other.encode("ab<new>ab")) == ids
        assert other.name == tokenizer.name
        other.add_tokens(["<other>"])
        assert list(tokenizer.encode("a<other>")) == list(copied(tokenizer).encode("a<other>"))


def test_a_pickle_holds_no_tables(specs):
    for spec in specs.values():
        tokenizer = tokbench.load(spec)
        before = len(pickle.dumps(tokenizer))
        answers(tokenizer)
        assert before == len(pickle.dumps(tokenizer)) < 1 << 20


def test_what_holds_addresses_stays(specs):
    for spec in specs.values():
        tokenizer = tokbench.load(spec)
        answers(tokenizer)
        for part in ("_encoder", "_engine"):
            holder = getattr(tokenizer, part, None)
            if type(holder).__name__ in ("Encoder", "Engine"):
                with pytest.raises(TypeError, match="addresses of this process"):
                    copy.deepcopy(holder)


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_in_forked_processes(specs):
    tokenizers = [tokbench.load(spec) for spec in specs.values()]
    expected = [answers(tokenizer)[0] for tokenizer in tokenizers]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for tokenizer, ids in zip(tokenizers, expected, strict=True):
            assert [list(map(int, one)) for one in pool.map(tokenizer.encode, TEXTS * 5)] == ids * 5
            assert pool.map(tokenizer, TEXTS) == ids
            assert pool.map(tokenizer.decode, ids) == [tokenizer.decode(one) for one in ids]
            (batch,) = pool.map(tokenizer.encode_batch, [TEXTS])
            assert batch.to_lists() == ids


_IN_A_NEW_PROCESS = """
import pickle, sys
texts, tokenizers, functions = pickle.load(sys.stdin.buffer)
ids = [[list(map(int, tokenizer.encode(text))) for text in texts] for tokenizer in tokenizers]
assert ids == [[list(map(int, encode(text))) for text in texts] for encode in functions]
print(ids)
"""


def test_in_a_process_of_its_own(specs):
    tokenizers = [tokbench.load(spec) for spec in specs.values()]
    expected = [answers(tokenizer)[0] for tokenizer in tokenizers]
    made = pickle.dumps((TEXTS, tokenizers, [tokenizer.encode for tokenizer in tokenizers]))
    command = [sys.executable, "-X", "utf8", "-c", _IN_A_NEW_PROCESS]
    done = subprocess.run(command, input=made, capture_output=True, check=True)
    assert done.stdout.decode().strip() == str(expected)


def test_copies_in_threads(specs):
    for spec in specs.values():
        tokenizer = tokbench.load(spec)
        expected = answers(tokenizer)
        with ThreadPoolExecutor(4) as pool:
            for found in pool.map(lambda one: answers(copy.copy(one)), [tokenizer] * 8):
                assert found == expected


_FORK_WHILE_ANOTHER_THREAD_COMPILES = """
import os, signal, threading, time
import numpy as np
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.tokenizer import BpeTokenizer
model = BpeModel(vocabulary=(*(bytes([b]) for b in range(256)), b"ab"), merges=np.array([[97, 98, 256]]))
tokenizer = BpeTokenizer.of_model(model)
first = threading.Thread(target=tokenizer.decode, args=([97, 98],))
first.start()
time.sleep(0.2)
assert first.is_alive()
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if tokenizer.decode([99, 256]) == "cab" else 1)
first.join()
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_fork_while_another_thread_decodes_for_the_first_time(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", _FORK_WHILE_ANOTHER_THREAD_COMPILES],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "0", done.stderr
