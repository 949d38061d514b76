"""What is known and counted of each token: kept in rows, lent to one who counts after another."""

from __future__ import annotations

import numpy as np

from tokbench import Document
from tokbench.tally import prepare
from tokbench.tally.places import Aligner
from tokbench.tally.rows import TokenRows
from tokbench.tally.vocabulary import TokenTable
from tokbench.tokenizer import encode_batch


def aligned(tokenizer, aligner: Aligner, *texts: str) -> None:
    [batch] = prepare(map(Document, texts))
    assert aligner.align(batch, encode_batch(tokenizer, batch.texts)).exact.all()


def counted(aligner: Aligner) -> dict[int, int]:
    seen = aligner.rows.seen()
    return dict(zip(seen.keys.tolist(), seen.counts.tolist(), strict=True))


def test_two_count_apart_with_one_table(stand_ins) -> None:
    tokenizer = stand_ins.Pieces("ab", "a piece of more than sixteen bytes")
    table = TokenTable(tokenizer)
    one, other = Aligner(tokenizer, table), Aligner(tokenizer, table)
    aligned(tokenizer, one, "ab", "abab")
    aligned(tokenizer, other, "a piece of more than sixteen bytes", "ab!")  # knows what the one does not
    aligned(tokenizer, one, "a piece of more than sixteen bytes!")
    assert counted(one) == {256: 3, 257: 1, ord("!"): 1}
    assert counted(other) == {257: 1, 256: 1, ord("!"): 1}


def test_rows_are_used_again_and_begin_at_nothing(stand_ins) -> None:
    tokenizer = stand_ins.Pieces("ab")
    table = TokenTable(tokenizer)
    first = Aligner(tokenizer, table)
    aligned(tokenizer, first, "ab")
    rows = first.rows.rows
    assert counted(first) == {256: 1}
    again = Aligner(tokenizer, table)
    assert again.rows.rows is rows
    assert Aligner(tokenizer, table).rows.rows is not rows
    aligned(tokenizer, again, "x", "ab", "ab")
    assert counted(again) == {256: 2, ord("x"): 1}


def test_no_row_is_in_two_cache_lines(stand_ins) -> None:
    rows = TokenRows(TokenTable(stand_ins.Pieces())).rows
    assert rows.shape == (256, 4)
    assert rows.flags.c_contiguous
    assert rows.ctypes.data % 64 == 0


def test_a_row_says_what_the_table_does(stand_ins) -> None:
    pieces = ["", "é", "12345678", "123456789", "1234567890123456", "12345678901234567"]
    tokenizer = stand_ins.Pieces(*pieces)
    table = TokenTable(tokenizer)
    rows = TokenRows(table)
    rows.know(np.arange(256, 256 + len(pieces), dtype=np.int32))
    for token, piece in enumerate(pieces, 256):
        start, size = piece.encode()[:16], len(piece.encode())
        assert rows.rows[token, :2].tobytes()[: len(start)] == start
        assert rows.rows[token, 2:].tolist() == [size << 8 | int(table.flags[token]), 0]
    assert not rows.rows[:256].any()
