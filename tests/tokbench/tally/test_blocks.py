"""Text that comes in blocks of bytes is counted as the same documents one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.batch import TokenBatch
from tokbench.corpus import Document, TextBlock
from tokbench.tally.collect import collect
from tokbench.tally.prepare import prepare, resized
from tokbench.tally.tally import Tally

TEXTS = ["It's 1,234", "", "été\nnaïve\n", "\ud800 lone", "東京 Tokyo", "x" * 300, "It's 1,234"] * 40


@pytest.mark.parametrize("size", [1, 100, 1 << 18])
def test_the_tally_is_that_of_the_documents(stand_ins, size: int) -> None:
    tokenizer = stand_ins.Pieces("It", "é", "xxx")
    blocks = [TextBlock.of(TEXTS[:5]), TextBlock.of([]), TextBlock.of(TEXTS[5:])]
    apart = collect(tokenizer, map(Document, TEXTS))
    assert collect(tokenizer, blocks, batch_bytes=size) == apart
    assert apart.documents == len(TEXTS)


def test_no_blocks_are_no_text(stand_ins) -> None:
    assert collect(stand_ins.Pieces(), [TextBlock.of([])]) == Tally.empty()


@given(st.lists(st.lists(st.sampled_from(["", "a", "é\n", "long " * 9]), max_size=9)), st.integers(1, 60))
def test_batches_hold_all_documents_in_order(parts: list[list[str]], size: int) -> None:
    some = list(resized(map(TextBlock.of, parts), size))
    assert b"".join(block.data for block in some) == b"".join(TextBlock.of(part).data for part in parts)
    assert all(len(block.data) <= 2 * size + 46 for block in some)
    for block in some:
        assert int(block.ends[-1]) == len(block.data) - 1
        assert block.data[int(block.ends[0])] == 0x0A


def test_strings_are_made_of_the_bytes() -> None:
    for texts in (["a", "é"], ["a\n", "", "b"], ["\ud800\udc00", "\U00010000"]):
        [batch] = prepare([TextBlock.of(texts)])
        assert [batch.text(i) for i in range(len(batch))] == texts
        assert list(batch.texts) == texts
        assert [batch.text(i) for i in range(len(batch))] == texts


def test_a_tokenizer_of_bytes_gets_bytes(stand_ins) -> None:
    class OfBytes(stand_ins.Pieces):
        calls = 0

        def encode_utf8(self, data: np.ndarray, offsets: np.ndarray) -> TokenBatch:
            self.calls += 1
            assert not data.base[len(data) :].any()
            assert len(data.base) >= len(data) + 64
            return TokenBatch(data.astype(np.int32), offsets)

    tokenizer = OfBytes()
    proper = [text for text in TEXTS if text != "\ud800 lone"]
    assert collect(tokenizer, map(Document, proper)) == collect(stand_ins.Pieces(), map(Document, proper))
    assert tokenizer.calls == 1
    assert collect(tokenizer, map(Document, TEXTS)) == collect(stand_ins.Pieces(), map(Document, TEXTS))
    assert tokenizer.calls == 1, "lone surrogates are no UTF-8"


@pytest.mark.long
@pytest.mark.parametrize("size", [1, 500, 1 << 18])
def test_copies_of_a_lossy_document_are_one_example(stand_ins, size: int) -> None:
    tokenizer = stand_ins.Pieces("a")
    tokenizer.decode = lambda ids: ""
    texts = [f"{number}" for number in range(60) for _ in range(50)]
    tally = collect(tokenizer, map(Document, texts), batch_bytes=size)
    assert tally == collect(tokenizer, map(Document, sorted(texts)), batch_bytes=size)
    assert len({loss.text for loss in tally.losses}) == len(tally.losses) == 32


def test_the_bytes_of_a_tally_are_made_once_wherever_it_goes(stand_ins) -> None:
    tally = collect(stand_ins.Pieces("It"), map(Document, TEXTS))
    packed = tally.to_bytes()
    assert tally.to_bytes() is packed
    read = Tally.from_bytes(packed)
    assert read.to_bytes() is packed
    assert Tally.sum([read]).to_bytes() is packed
    assert Tally.sum([read, Tally.empty()]).to_bytes() == packed
