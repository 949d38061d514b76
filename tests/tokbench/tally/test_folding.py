"""What is looked up for many tokens at once, held against the definition read one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokbench.tally.folding import KNOWN, LENGTH_BITS, REFUSED, FoldedTokens, fold
from tokbench.tally.places import DEGREES
from tokbench.tally.vocabulary import SPLIT, TokenTable

LONE = "\ud800".encode("utf-8", "surrogatepass")
ODD = [b"", b" ", b"\n", b"a\n", "▁".encode(), "▁É".encode(), b"\xc3", b"\xa9", b"\xff\xfe", LONE]
ODD += ["ﬁ".encode(), "ﷺ漢".encode(), "\u0301".encode(), "\u200b".encode(), "\u0e34".encode(), LONE + b"\xc3"]
PIECES = st.lists(st.one_of(st.sampled_from(ODD), st.binary(max_size=4), st.text().map(str.encode)), min_size=1)


class Table:
    """What is asked of a tokenizer about its vocabulary: the pieces it is given. Nothing is encoded."""

    name, special_ids = "table", frozenset({1})

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces, self.vocab_size = pieces, len(pieces)

    def token_bytes(self, token_id: int) -> bytes:
        return self.pieces[token_id]


@pytest.mark.parametrize("degree", DEGREES)
@given(PIECES)
@example(ODD)
def test_tokens_fold_character_by_character(degree, pieces: list[bytes]) -> None:
    tokenizer = Table(pieces)  # the table only refers to it
    table = TokenTable(tokenizer)
    ids = np.arange(len(pieces), dtype=np.int32)
    tokens = FoldedTokens(table, degree)
    for some in (ids[::2], ids, ids):  # some, then the others, then none
        table.know(some)
        tokens.know(some)
    for index, piece in enumerate(pieces):
        text = piece.decode("utf-8", "surrogateescape")
        folded = b"".join(fold(character, degree) for character in text)
        entry = int(tokens.entries[index])
        at, length = entry >> LENGTH_BITS + 2, entry >> 2 & (1 << LENGTH_BITS) - 1
        assert tokens.blob[at : at + length].tobytes() == folded
        lost = not folded and any(fold(each, "spaces") for each in text)
        assert entry & 3 == (KNOWN | REFUSED if lost else KNOWN)


@given(PIECES)
@example(ODD)
def test_pieces_that_are_no_whole_characters_are_known(pieces: list[bytes]) -> None:
    tokenizer = Table(pieces)
    table = TokenTable(tokenizer)
    table.know(np.arange(len(pieces), dtype=np.int32))
    for index, piece in enumerate(pieces):
        assert table.bytes_of(index) == piece
        split = bool(table.flags[index] & SPLIT)
        assert split == (index != 1 and not _whole(piece))


def _whole(piece: bytes) -> bool:
    try:
        piece.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True
