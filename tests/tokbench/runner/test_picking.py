"""Text is picked from parts of a dataset in turn, up to a size."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tokbench import CorpusError, Document, Shard
from tokbench.runner.picking import pick

TEXTS = {"a": ["été", "a2", "a3"], "b": ["b1"], "torn": ["t1", CorpusError("the file ends here"), "t3"]}
PARTS = [[Shard("x", "a")], [Shard("x", "b"), Shard("x", "torn")]]


def read(shard: Shard) -> Iterator[Document]:
    for text in TEXTS[shard.source]:
        if isinstance(text, CorpusError):
            raise text
        yield Document(text)


RECIPE: Any = SimpleNamespace(load=lambda: SimpleNamespace(read=read))


def test_parts_take_turns_until_there_is_enough() -> None:
    assert list(pick(RECIPE, PARTS, 7)) == [(0, "été"), (1, "b1")], "seven bytes, of which the first has five"
    assert [text for _, text in pick(RECIPE, PARTS, 9)] == ["été", "b1", "a2"]
    assert list(pick(RECIPE, PARTS, 0)) == []


def test_pieces_of_a_document_count_as_texts() -> None:
    assert [text for _, text in pick(RECIPE, PARTS[:1], cut=list)] == list("étéa2a3")


def test_what_cannot_be_read_raises_or_ends_its_part_alone() -> None:
    with pytest.raises(CorpusError, match="ends here"):
        list(pick(RECIPE, PARTS))
    assert [text for _, text in pick(RECIPE, PARTS, unreadable=True)] == ["été", "b1", "a2", "t1", "a3"]
