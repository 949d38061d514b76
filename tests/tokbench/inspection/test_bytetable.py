"""Byte tables: by hand, against whole documents, and as files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import sentencepiece

import tokbench
from tests.command import invoke, output
from tests.runs import tokenizer_plugin
from tokbench.batch import TokenBatch
from tokbench.errors import SpecError, TokenizerError
from tokbench.inspection.bytetable import UNTOLD, IdKind, byte_table, prove

QUICK = ("tiktoken:gpt2", "sentencepiece:{}/llama-2/tokenizer.model", "unigram:{}/t5-base/spiece.model",
         "transformers:{}/bert-base-uncased/hf")  # fmt: skip
ALL = (
    *QUICK,
    *(f"tiktoken:{name}" for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")),
    *(f"{family}:{{}}/{name}" for family in ("bpe", "transformers") for name in
      ("gpt2/hf/tokenizer.json", "qwen2/hf/tokenizer.json", "llama-2/hf/tokenizer.json")),
    *(f"{family}:{{}}/{name}/spiece.model" for family in ("sentencepiece", "unigram")
      for name in ("t5-base", "albert-base-v1")),
    *(f"transformers:{{}}/{name}/hf" for name in ("t5-base", "albert-base-v1")),
    *(f"wordpiece:{{}}/{name}/vocab.txt" for name in ("bert-base-uncased", "bert-base-multilingual-cased")),
    *(f"sentencepiece:{{}}/spm-test/{name}.model" for name in
      ("test_ja_model", "test_model", "test_sentencepiece", "test_sentencepiece_bpe",
       "test_sentencepiece_no_bos")),
)  # fmt: skip
ODD = [
    "",
    " lead",
    "two  spaces",
    "\n\nx\ty",
    "don't do n't . , !",
    "😀 🇩🇪 x",
    " ",
    "\ufffd a\ufffdb",
    " 😀",
    "中文字",
]


class Marked:
    """Words of one character after a mark; `decode` puts a space between words, and shows special tokens."""

    name, vocab_size, unk_id = "marked", 5, 2
    special_ids = frozenset({0, 2})
    words = ("<s>", "a", "?", "é", "##b")

    def encode(self, text: str) -> list[int]:
        return [1] if text else []

    def decode(self, ids: list[int]) -> str:
        return " ".join(self.words[i] for i in ids).replace(" ##", "").replace("##", "")


def test_by_hand() -> None:
    table = byte_table(Marked())
    assert table.first.tolist() == [0, 1, 1, 2, 1]
    assert table.after.tolist() == [0, 2, 2, 3, 1]
    assert [IdKind(kind).name for kind in table.kind] == ["SPECIAL", "TEXT", "UNKNOWN", "TEXT", "TEXT"]
    # a special token in front leaves the first word the first; each document begins anew; one is empty
    batch = TokenBatch.of([[0, 1, 3, 4], [], [0], [3, 1]])
    assert table.of_tokens(batch).tolist() == [0, 1, 3, 1, 0, 2, 2]
    assert table.of_documents(batch).tolist() == [5, 0, 0, 4]
    with pytest.raises(TokenizerError, match=r"there is no token 5; it is outside 0\.\.4"):
        table.of_tokens(TokenBatch.of([[1, 5]]))


def test_parts_of_characters_are_bytes_and_not_what_they_decode_to() -> None:
    tokenizer = tokbench.load("bytes")
    assert len(tokenizer.decode([0xE9]).encode()) == 3
    table = byte_table(tokenizer)
    assert table.after.tolist() == table.first.tolist() == [1] * 256


def test_what_is_not_told_is_no_number() -> None:
    class Halves:
        name, vocab_size = "halves", 256
        encode = staticmethod(lambda text: list(text.encode()))
        decode = staticmethod(lambda ids: bytes(ids).decode("utf-8", "replace"))

    table = byte_table(Halves())
    assert table.after[65] == 1
    assert table.after[0xE9] == UNTOLD
    assert table.as_json()["bytes"][0xE9] is None
    with pytest.raises(TokenizerError, match="bytes of token 195"):
        table.of_documents(TokenBatch.of([list("é".encode())]))


def _texts(folder: Path, most: int | None) -> list[tuple[str, str]]:
    texts = [("odd", text) for text in ODD]
    for path in sorted((folder / "corpora").rglob("*.txt")):
        if path.name != "utf8_sequence_0x10ffff.txt" or most is None:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[:most]
            texts += [(path.name, line) for line in lines]
    return texts


def _prove(specs: tuple[str, ...], texts: list[tuple[str, str]], vocabs: Path) -> None:
    for spec in specs:
        tokenizer = tokbench.load(spec.format(vocabs))
        proof = prove(byte_table(tokenizer), tokenizer, texts)
        assert proof.examples == [], spec
        assert proof.holds
        assert proof.table == proof.decoded > 0
        if getattr(tokenizer, "lossless", False):
            assert proof.table == proof.text, spec


@pytest.mark.long
def test_real_vocabularies(test_data: Path) -> None:
    _prove(QUICK, _texts(test_data, 12), test_data / "vocabs")


@pytest.mark.slow
def test_every_real_vocabulary_on_every_corpus(test_data: Path) -> None:
    _prove(ALL, _texts(test_data, None), test_data / "vocabs")


def test_a_space_mark_spelled_in_bytes(test_data: Path, tmp_path: Path) -> None:
    """Without the piece ▁, sentencepiece spells it in three bytes and decodes it as such: lossy, and told."""
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString((test_data / "vocabs/llama-2/tokenizer.model").read_bytes())
    for piece in model.pieces:
        piece.piece = "\x01" if piece.piece == "▁" else piece.piece
    (tmp_path / "no_space.model").write_bytes(model.SerializeToString())
    library = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "no_space.model"))
    tokenizer = tokbench.load(f"sentencepiece:{tmp_path}/no_space.model")
    proof = prove(byte_table(tokenizer), tokenizer, [("two spaces", "a  b")])
    assert proof.holds
    assert (proof.text, proof.decoded) == (4, len(library.decode(library.encode("a  b")).encode()))


def test_the_command_writes_three_formats_and_proves(tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("né\ntwo  words\n", encoding="utf-8")
    for ending in ("npy", "json", "parquet"):
        arguments = ["bytes", "bytes", "-o", f"{tmp_path}/t.{ending}", "-d", f"text:{tmp_path}/few.txt"]
        assert "2 of 2 documents exact: decoded 13 bytes" in output(*arguments)
    array = np.load(tmp_path / "t.npy")
    assert (array.dtype, array.shape, int(array.sum())) == (np.int32, (2, 256), 512)
    assert json.loads((tmp_path / "t.json").read_text())["bytes"] == [1] * 256
    rows = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert rows[0xE9] == {"id": 0xE9, "bytes": 1, "bytes_at_start": 1, "kind": "partial"}
    with pytest.raises(SpecError, match=r"t\.npy exists; name another file, or overwrite it with --force"):
        output("bytes", "bytes", "-o", f"{tmp_path}/t.npy")
    with pytest.raises(SpecError, match=r"written as \.npy, \.json, \.parquet"):
        output("bytes", "bytes", "-o", "t.pt")


def test_a_tokenizer_that_was_trained_for_it_is_shown_by_its_spec(tmp_path: Path) -> None:
    text = tmp_path / "few.txt"
    text.write_text("one two  words\n" * 20, encoding="utf-8")
    asked = ("maxmatch:vocab_size=300", "--train-on", text)
    assert output("bytes", *asked).startswith("maxmatch:vocab_size=300: 279 ids\n")
    assert json.loads(output("bytes", *asked, "--json"))["tokenizer"] == "maxmatch:vocab_size=300"
    found = json.loads(invoke("diff", "bytes", *asked, "-d", text, "--json").stdout)
    assert (found["a"], found["b"]) == ("bytes", "maxmatch:vocab_size=300")
    asked = ("optimum", "bpe:vocab_size=300", "--train-on", text, "-d", text, "--json")
    assert json.loads(output(*asked))["tokenizer"] == "bpe:vocab_size=300"


def test_a_table_that_does_not_hold_is_told(tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("one\n", encoding="utf-8")
    plugin = tokenizer_plugin(
        tmp_path / "odd.py",
        "vocab_size = 256\n"
        "encode = staticmethod(lambda text: list(text.encode()))\n"
        "decode = staticmethod(lambda ids: bytes(ids).decode('utf-8', 'replace') + '!' * (len(ids) > 2))",
    )
    arguments = ["bytes", "odd", "--plugin", plugin, "-d", f"text:{tmp_path}/few.txt"]
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert "0 of 1 document exact" in result.output
    assert "decoded 4 bytes, the sum over its ids 3" in result.output
