"""Parts of a text: cut between any two characters of ASCII, and most others, that no token has side by side."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokbench_subword.words.cache import WordCache
from tokbench_subword.words.parts import PartTables, find_parts, part_space, stands_alone
from tokbench_subword.words.safe_cuts import PIECE_SHIFT, SafeCuts, find_byte_cuts, find_cuts

from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import PADDING, pointer
from tokbench.kernels.text import end_to_end
from tokbench.kernels.utf8 import code_point

LETTERS = "ab \u2581é日本𝛼\0"
SOME = st.text(alphabet=LETTERS, min_size=1, max_size=4)


@kernel
def _cut(tables: Any, space: Any, words: Any, text: Any, size: Any, limits: Any) -> Any:
    """Where parts and characters that stand alone end, all through a text; how many."""
    parts = PartTables(
        pointer(tables[0]),
        pointer(tables[1]),
        pointer(tables[2]),
        pointer(tables[3]),
        pointer(space[0]),
        pointer(space[1]),
    )
    data, count, index = pointer(text), 0, np.int64(0)
    while index < size:
        character, width = code_point(data, index)
        if stands_alone(character, parts.characters[character]):
            index += width
            limits[count] = index
            count += 1
            continue
        for k in range(find_parts(parts, pointer(words), data, index, size)):
            index = parts.ends[k]
            limits[count] = index
            count += 1
    return count


def cut(pieces: set[str], text: str) -> list[str]:
    """The parts of a text, for pieces of characters."""
    return cut_by(find_cuts({piece.encode(): index for index, piece in enumerate(sorted(pieces))}), text)


def cut_by(cuts: SafeCuts, text: str) -> list[str]:
    """The parts of a text."""
    data, limits = text.encode(), np.zeros(4 * len(text) + 1, np.int64)
    source = np.frombuffer(data + bytes(PADDING), np.uint8)
    words = WordCache()  # which has the memory that its block tells of
    count = _cut(tuple(cuts.arrays), tuple(part_space()), words.block, source, len(data), limits)
    ends = [0, *limits[:count].tolist()]
    return [data[start:end].decode() for start, end in pairwise(ends)]


@given(pieces=st.sets(SOME, max_size=12), text=st.text(alphabet=LETTERS, max_size=300))
def test_no_piece_goes_across_and_ascii_is_cut_wherever_none_does(pieces: set[str], text: str) -> None:
    joined = {two for piece in pieces for two in map("".join, pairwise(piece))}
    parts = cut(pieces, text)
    assert "".join(parts) == text
    limits = set(accumulate(map(len, parts)))
    for start in range(len(text)):
        for piece in pieces:
            if text.startswith(piece, start):
                assert limits.isdisjoint(range(start + 1, start + len(piece)))
    within = {two for part in parts for two in map("".join, pairwise(part)) if two.isascii()}
    assert within <= joined


@given(text=st.text(alphabet="ab", min_size=300, max_size=600))
def test_more_parts_than_are_found_at_once(text: str) -> None:
    assert (
        cut({"a", "ab"}, text)
        == [part for pair in text.replace("ab", "\0").split("\0") for part in [*pair, "ab"]][:-1]
    )


def test_the_id_of_a_character_stands_beside_whether_longer_pieces_begin_with_it() -> None:
    cuts = find_cuts({b"a": 7, b"bc": 3})
    assert [int(cuts.characters[ord(one)]) for one in "abc"] == [8 << PIECE_SHIFT, 1, 0]
    assert cut({"bc"}, "bcaacb") == ["bc", "a", "a", "c", "b"]


def test_ids_that_an_entry_has_no_room_for_are_refused() -> None:
    most = 2**24 - 2
    assert find_cuts({b"a": most}).characters[ord("a")] >> PIECE_SHIFT == most + 1
    with pytest.raises(TokenizerError, match=f"ids of pieces must lie in 0..{most}"):
        find_cuts({b"a": most + 1})


@st.composite
def tokens_of_bytes(draw: st.DrawFn) -> set[bytes]:
    """Tokens that begin and end anywhere, also within characters, and some that are in no text."""
    written = draw(st.lists(st.text(alphabet=LETTERS, min_size=1, max_size=4), max_size=12))
    tokens = draw(st.sets(st.binary(max_size=5), max_size=3))
    for text in written:
        data = text.encode()
        start = draw(st.integers(0, len(data) - 1))
        tokens.add(data[start : draw(st.integers(start + 1, len(data)))])
    return tokens


@given(tokens=tokens_of_bytes(), text=st.text(alphabet=LETTERS, max_size=200))
def test_no_token_of_bytes_goes_across(tokens: set[bytes], text: str) -> None:
    parts = cut_by(find_byte_cuts(*end_to_end(sorted(tokens), PADDING)), text)
    data, limits = text.encode(), set(accumulate(len(part.encode()) for part in parts))
    assert "".join(parts) == text
    for start in range(len(data)):
        for token in tokens:
            if data.startswith(token, start):
                assert limits.isdisjoint(range(start + 1, start + len(token)))


def test_tokens_that_begin_and_end_within_characters_join_those_they_may_be_of() -> None:
    tokens = ["日".encode() + "本".encode()[:1], "é".encode()[1:] + b"a", "é".encode()[1:] + "𝛼".encode()[:1]]
    cuts = find_byte_cuts(*end_to_end(tokens, PADDING))
    assert cut_by(cuts, "日本日é日a日本a") == ["日本", "日", "é", "日", "a", "日本", "a"]
    assert cut_by(cuts, "éaéb𝛼é𝛼日") == ["éa", "é", "b", "𝛼", "é𝛼", "日"]
