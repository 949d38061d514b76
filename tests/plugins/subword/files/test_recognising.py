"""Files recognised by what they hold: the names they are published under, gzip, damage, special tokens."""

from __future__ import annotations

import base64
import gzip
import json
import random
from pathlib import Path

import pytest
import tiktoken
from tokbench_subword.bpe.family import BPE
from tokbench_subword.files.recognising import format_of_bytes, model_type_of
from tokbench_subword.sentencepiece.family import UNIGRAM
from tokbench_subword.wordpiece.family import WORDPIECE
from tokbench_tiktoken.family import TIKTOKEN

import tokbench
from tokbench.errors import SpecError, TokenizerError
from tokbench.vocabulary_files import names_to_train, numbered_tokens

CL100K = "tiktoken-cache/9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
TEXT = "Hello  World, naïve 你好 12345\n\t<|endoftext|> ﬁ 👩‍👩‍👧"


def small_ranks(*more: bytes) -> bytes:
    tokens = [bytes([byte]) for byte in range(256)] + [b"he", b"ll", b"hell", b"hello", *more]
    lines = (b"%s %d" % (base64.b64encode(token) or b"=", rank) for rank, token in enumerate(tokens))
    return b"\n".join(lines) + b"\n"


@pytest.mark.parametrize("name", ["tokenizer.model", "tiktoken.model", "ranks", "0a1b2c3d4e5f", "x.json"])
@pytest.mark.parametrize("packed", [False, True])
def test_ranks_open_under_any_name(name: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(small_ranks()) if packed else small_ranks())
    ours = tokbench.load(f"bpe:{path},pattern=cl100k")
    theirs = tokbench.load(f"tiktoken:{path},pattern=cl100k_base")
    assert list(ours.encode(TEXT)) == list(theirs.encode(TEXT))
    bare = tokbench.load(f"{path},pattern=cl100k_base")
    assert list(bare.encode(TEXT)) == list(ours.encode(TEXT))
    for family, other in (("bpe", "cl100k_base"), ("tiktoken", "cl100k")):  # either's name for it
        assert list(tokbench.load(f"{family}:{path},pattern={other}").encode(TEXT)) == list(ours.encode(TEXT))
        with pytest.raises(SpecError, match="unknown pattern 'cl100'; did you mean 'cl100k"):
            tokbench.load(f"{family}:{path},pattern=cl100")
    with pytest.raises(TokenizerError, match="does not say how text is cut"):
        tokbench.load(f"bpe:{path}")
    with pytest.raises(TokenizerError, match=r"is tiktoken's ranks; expected a sentencepiece model"):
        tokbench.load(f"unigram:{path}")


@pytest.mark.parametrize("name", ["tokenizer.model.v1", "tokenizer.model.v7", "model"])
@pytest.mark.parametrize("packed", [False, True])
def test_sentencepiece_models_open_under_any_name(
    name: str, packed: bool, test_data: Path, tmp_path: Path
) -> None:
    for family, source in (("bpe", "test_sentencepiece_bpe"), ("unigram", "test_model")):
        data = (test_data / "vocabs" / "spm-test" / f"{source}.model").read_bytes()
        folder = tmp_path / family
        folder.mkdir()
        (folder / name).write_bytes(gzip.compress(data) if packed else data)
        ours = tokbench.load(f"{family}:{folder / name}")
        theirs = tokbench.load(f"sentencepiece:{folder / name}")
        assert list(ours.encode(TEXT)) == list(theirs.encode(TEXT))
        if "." in name:
            assert list(tokbench.load(f"{family}:{folder}").encode(TEXT)) == list(theirs.encode(TEXT))


def test_the_files_of_tiktokens_cache_open_by_their_hashed_names(test_data: Path) -> None:
    special = "special_tokens=<|endoftext|>=100257 <|fim_prefix|>=100258 <|endofprompt|>=100276"
    path = test_data / "vocabs" / CL100K
    library = tiktoken.get_encoding("cl100k_base")
    for family, pattern in (("bpe", "cl100k"), ("tiktoken", "cl100k_base")):
        option = "match_special=true" if family == "bpe" else "special=match"
        found = tokbench.load(f"{family}:{path},pattern={pattern},{special},{option}")
        assert found.vocab_size == library.n_vocab == 100277
        assert list(found.encode(TEXT)) == library.encode(TEXT, allowed_special={"<|endoftext|>"})


def test_a_file_with_an_empty_token_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "multilingual.tiktoken"
    path.write_bytes(small_ranks(b""))
    assert b"\n= 260\n" in path.read_bytes()
    special = "special_tokens=<|endoftext|> <|startoftranscript|>"
    ours = tokbench.load(f"bpe:{path},pattern=gpt2,{special}")
    theirs = tokbench.load(f"tiktoken:{path},pattern=gpt2,{special}")
    assert ours.vocab_size == theirs.vocab_size == 263
    assert list(ours.encode("hello hell")) == list(theirs.encode("hello hell"))
    assert ours.decode([104, 260, 105]) == theirs.decode([104, 260, 105]) == "hi"
    ours.save(tmp_path / "again.tiktoken")  # type: ignore[attr-defined]
    assert (tmp_path / "again.tiktoken").read_bytes() == path.read_bytes()
    ours.save(tmp_path / "again.json")  # type: ignore[attr-defined]
    assert tokbench.load(f"bpe:{tmp_path / 'again.json'}").vocab_size == 263


def test_special_tokens_state_ids_in_one_way(tmp_path: Path) -> None:
    assert numbered_tokens("<a>=7 <b> <c>=5 x=y", taken=range(3), where="t") == {
        "<a>": 7,
        "<b>": 8,
        "<c>": 5,
        "x=y": 9,
    }
    path = tmp_path / "r.tiktoken"
    path.write_bytes(small_ranks())
    stated = tmp_path / "special.json"
    stated.write_text(json.dumps({"<|eot|>": 300}))
    for family, name in (("bpe", "gpt2"), ("tiktoken", "r50k_base")):
        for given in ("<|eot|>=300", str(stated)):
            found = tokbench.load(f"{family}:{path},pattern={name},special_tokens={given}")
            assert found.special_ids == {300}  # type: ignore[attr-defined]
        for wrong, said in (("<|eot|>=3", "ordinary"), ("a=300 b=300", "twice"), ("a=300 a=301", "twice")):
            with pytest.raises(SpecError, match=said):
                tokbench.load(f"{family}:{path},pattern={name},special_tokens={wrong}")
    with pytest.raises(SpecError, match="write <s> alone"):
        names_to_train("<pad> <s>=1", where="bpe")


def test_the_recognised_are_recognised(test_data: Path) -> None:
    vocabs = test_data / "vocabs"
    expected = {
        "gpt2/hf/tokenizer.json": (BPE,),
        "gpt2/vocab.json": (BPE,),
        "gpt2/vocab.bpe": (BPE,),
        "gpt2": (BPE,),
        "llama-2/tokenizer.model": (BPE,),
        "t5-base/hf/tokenizer.json": (UNIGRAM,),
        "t5-base": (UNIGRAM,),
        "bert-base-uncased/vocab.txt": (WORDPIECE,),
        "bert-base-uncased/hf/tokenizer.json": (WORDPIECE,),
        CL100K: (BPE, TIKTOKEN),
        "gpt2/SOURCE.txt": (),
        "bert-base-uncased/hf/tokenizer_config.json": (),
    }
    for name, families in expected.items():
        path = vocabs / name
        head = b"" if path.is_dir() else path.read_bytes()[:65536]
        for family in (BPE, UNIGRAM, WORDPIECE, TIKTOKEN):
            assert family.recognises is not None
            assert family.recognises(path, head) == (family in families), (name, family.name)
    assert model_type_of(vocabs / "albert-base-v1/hf/tokenizer.json") == "Unigram"
    for noise in (b"", b"\n\n\n", b"\0" * 50, b"\x89PNG\r\n\x1a\n", b"{}", b'{"a": []}', b"\xff\xfe"):
        assert format_of_bytes(noise) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b'{"model": {', "line 1, column 12: not JSON"),
        (b'{"config": {"x": []}}', "in no format of tokenizers"),
        (b"[1, 2]", "is JSON, but a list"),  # taken for a merges.txt before: two words on a line
        (b'["a", "b"', "line 1, column"),
        (b"\xff\xfe\x00", "not UTF-8 at byte 0"),
        (b"[UNK]\na\0\n", "has a NUL at character 7"),  # called JSON that is not whole before
        (gzip.compress(small_ranks())[:-20], "gzip, and breaks off"),
        (b"\x1f\x8b damaged", "gzip, and damaged"),
    ],
)
def test_what_cannot_be_opened_is_said_with_its_place(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(content)
    for family in ("bpe", "unigram", "wordpiece"):
        with pytest.raises(TokenizerError, match=said) as caught:
            tokbench.load(f"{family}:{path}")
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"YWI= 2147483648", "line 261: token or rank is negative, too large or given twice"),
        (b"YWI= 100000000", "its highest id is 100000000"),  # a list of so many tokens was made before
    ],
)
def test_ranks_that_no_vocabulary_has_are_refused(line: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tiktoken"
    path.write_bytes(small_ranks() + line)
    with pytest.raises(TokenizerError, match=said) as caught:
        tokbench.load(f"bpe:{path},pattern=gpt2")
    assert str(path) in str(caught.value)


def test_a_file_that_lacks_bytes_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.tiktoken"
    path.write_bytes(small_ranks()[20:])
    with pytest.raises(TokenizerError, match=r"a\.tiktoken,pattern=gpt2: the ranks lack"):
        tokbench.load(f"bpe:{path},pattern=gpt2")


@pytest.mark.long
def test_damaged_files_end_in_an_error_or_a_tokenizer(test_data: Path, tmp_path: Path) -> None:
    """Cut short and with bytes changed, small vocabularies of every format raise `TokenizerError` or load."""
    from tokbench_subword.wordpiece.model import WordPieceModel
    from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer

    ranks = tmp_path / "a.tiktoken"
    ranks.write_bytes(small_ranks())
    bpe = tokbench.load(f"bpe:{ranks},pattern=gpt2,special_tokens=<s>")
    bpe.save(tmp_path / "a.json")  # type: ignore[attr-defined]
    words = WordPieceTokenizer("w", WordPieceModel(vocabulary={"[UNK]": 0, "a": 1, "##b": 2, "ab": 3}))
    words.save(tmp_path / "w.json")
    words.save(tmp_path / "w.txt")
    model = test_data / "vocabs" / "spm-test" / "test_model.model"
    rng = random.Random(11)
    for family, options, path in (
        ("bpe", ",pattern=gpt2", ranks),
        ("bpe", "", tmp_path / "a.json"),
        ("wordpiece", "", tmp_path / "w.json"),
        ("wordpiece", "", tmp_path / "w.txt"),
        ("unigram", "", model),
    ):
        whole = path.read_bytes()
        for turn in range(40):
            data = bytearray(whole)
            if turn % 2:
                del data[rng.randrange(len(data)) :]
            for _ in range(turn // 4):
                if data:
                    data[rng.randrange(len(data))] = rng.randrange(256)
            damaged = tmp_path / f"damaged{path.suffix}"
            damaged.write_bytes(data)
            try:
                tokbench.load(f"{family}:{damaged}{options}").encode(TEXT)
            except TokenizerError:
                continue
