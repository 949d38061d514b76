"""Round trips told from bytes: the same as decoding everything, and never claimed where they were not shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from tokbench.batch import TokenBatch
from tokbench.corpus import Document
from tokbench.tally import roundtrip
from tokbench.tally.collect import collect

TEXTS = [f"line {number} é 漢" for number in range(200)]


def _joining(stand_ins, *pieces: str):
    class Joining(stand_ins.Pieces):
        decode_joins_bytes = True

        def __init__(self) -> None:
            super().__init__(*pieces)
            self.decoded: list[list[int]] = []

        def decode_batch(self, batch: TokenBatch) -> list[str]:
            self.decoded += batch.to_lists()
            return [self.decode(ids) for ids in batch.to_lists()]

    return Joining()


def test_the_tally_is_that_of_decoding_everything(stand_ins) -> None:
    joining = _joining(stand_ins, "line", "é")
    texts = [*TEXTS, "", "\ud800 lone", "\ud7ff 한"]
    assert collect(joining, map(Document, texts)) == collect(
        stand_ins.Pieces("line", "é"), map(Document, texts)
    )
    assert len(joining.decoded) < 40


def test_a_sixty_fourth_is_decoded_all_the_same(stand_ins) -> None:
    joining = _joining(stand_ins)
    collect(joining, [Document(f"{text} {part}") for text in TEXTS for part in range(10)])
    assert 2000 // 64 <= len(joining.decoded) <= 2000 // 64 + 2
    few = _joining(stand_ins)
    collect(few, map(Document, TEXTS[:5]))
    assert len(few.decoded) == 5


def test_fewer_are_decoded_once_many_were_as_told(stand_ins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roundtrip, "TRUSTED_AFTER", 20)
    monkeypatch.setattr(roundtrip, "TRUSTED_SHARE", 500)
    monkeypatch.setattr(roundtrip, "CHECKED_AT_LEAST", 1)
    joining = _joining(stand_ins)
    texts = [f"{text} {part}" for text in TEXTS for part in range(50)]
    collect(joining, map(Document, texts), batch_bytes=14_000)
    assert 20 + 10_000 // 500 // 2 <= len(joining.decoded) <= 20 + 10_000 // 500 * 2


def test_or_once_much_text_was(stand_ins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roundtrip, "TRUSTED_AFTER_BYTES", 3000)
    joining = _joining(stand_ins)
    collect(joining, [Document(f"{number} long " * 100) for number in range(60)], batch_bytes=1000)
    assert sum(map(len, joining.decoded)) < 6000


def test_who_was_trusted_is_found_out(stand_ins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roundtrip, "TRUSTED_AFTER", 20)
    monkeypatch.setattr(roundtrip, "TRUSTED_SHARE", 4)
    joining = _joining(stand_ins)
    honest = joining.decode
    joining.decode = lambda ids: re.sub(r"line (?=1\d\d)", "LINE ", honest(ids))
    tally = collect(joining, map(Document, TEXTS), batch_bytes=500)
    assert len(joining.decoded) > 100
    assert 100 <= tally.totals["round_trips"] < 150


def test_a_lone_surrogate_is_not_claimed_to_come_back(stand_ins) -> None:
    tally = collect(_joining(stand_ins), map(Document, [*TEXTS, "a\udcff"]))
    assert tally.totals["round_trips"] == 200
    assert [loss.text for loss in tally.losses] == ["a\udcff"]


def test_a_false_declaration_is_found_out_and_everything_decoded(stand_ins) -> None:
    joining = _joining(stand_ins)
    honest = joining.decode
    joining.decode = lambda ids: honest(ids).upper()
    tally = collect(joining, map(Document, TEXTS), batch_bytes=500)
    assert tally.totals["round_trips"] == 0
    assert len(joining.decoded) == 200


def test_special_tokens_have_no_bytes_and_are_decoded(stand_ins) -> None:
    class Beginning(stand_ins.Pieces):
        decode_joins_bytes = True
        special_ids = frozenset({256})

        def __init__(self) -> None:
            super().__init__("<s>")

        def encode(self, text: str) -> Sequence[int]:
            return [256, *text.encode()] if text.endswith("7 é 漢") else list(text.encode())

        def token_bytes(self, token_id: int) -> bytes:
            return b"" if token_id == 256 else bytes([token_id])

        def decode(self, ids: Sequence[int]) -> str:
            return ("<s>" if 256 in ids else "") + bytes(i for i in ids if i < 256).decode()

    tally = collect(Beginning(), map(Document, TEXTS))
    assert tally.totals["round_trips"] == 180


def _prefixing(stand_ins):
    class Prefixing(stand_ins.Pieces):
        """Puts a space before the text, and takes one away."""

        decode_drops_space = True

        def __init__(self) -> None:
            super().__init__(" line", "<s>")
            self.decoded = 0

        def encode(self, text: str) -> Sequence[int]:
            return super().encode(" " + text.replace("  ", " "))

        def decode(self, ids: Sequence[int]) -> str:
            self.decoded += 1
            return super().decode(ids).removeprefix(" ")

    return Prefixing()


def test_a_space_before_the_text_is_dropped(stand_ins) -> None:
    prefixing, plain = _prefixing(stand_ins), _prefixing(stand_ins)
    plain.decode_drops_space = False
    texts = [*TEXTS, "", " ", "  twice", " once", "line", "\ud800"]
    tally = collect(prefixing, map(Document, texts))
    assert tally == collect(plain, map(Document, texts))
    assert tally.totals["round_trips"] == len(texts) - 2
    assert prefixing.decoded < 40 < plain.decoded


def test_a_space_that_is_not_dropped_is_found_out(stand_ins) -> None:
    prefixing = _prefixing(stand_ins)
    prefixing.decode = lambda ids: stand_ins.Pieces.decode(prefixing, ids)
    assert collect(prefixing, map(Document, TEXTS), batch_bytes=500).totals["round_trips"] == 0


@pytest.mark.parametrize(
    "spec",
    [
        "sentencepiece:{}/llama-2/tokenizer.model",
        "sentencepiece:{}/t5-base/spiece.model",
        "transformers:{}/llama-2/hf/tokenizer.json",
        "transformers:{}/t5-base/hf/tokenizer.json",
    ],
)
def test_real_vocabularies_with_a_prefix_agree_with_decoding_everything(spec: str, test_data) -> None:
    import tokbench

    texts = ["", " a", "  a", "a  b", "a ", "\u2581a", "\n", " ", "ﬁn", "<s> </s> <unk>", "<0x41>", "\t x\x00"]
    for path in sorted((test_data / "corpora/pud").glob("*_*.txt")):
        texts += path.read_text("utf-8").split("\n")[:25]
    tokenizer = tokbench.load(spec.format(test_data / "vocabs"))
    assert tokenizer.decode_drops_space
    found = collect(tokenizer, map(Document, texts))
    same = [tokenizer.decode(tokenizer.encode(text)) == text for text in texts]
    assert found.totals["round_trips"] == sum(same) > 100


@pytest.mark.parametrize("name", ["gpt2", "qwen2"])
def test_real_vocabularies_agree_with_decoding_everything(name: str, test_data) -> None:
    import tokbench

    lines = (test_data / "corpora/pud/kor_Hang.txt").read_text("utf-8").split("\n")
    texts = [*lines[:300], "e\u0301 ﬁn", "<|endoftext|>", "a\x00\u2028\ufeff"]
    tokenizer = tokbench.load(f"transformers:{test_data}/vocabs/{name}/hf/tokenizer.json")
    assert tokenizer.decode_joins_bytes
    found = collect(tokenizer, map(Document, texts))
    same = [tokenizer.decode(tokenizer.encode(text)) == text for text in texts]
    assert found.totals["round_trips"] == sum(same)
