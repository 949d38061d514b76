"""How cells are cut into tasks."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tokbench.corpus import Shard
from tokbench.metrics.metric import CellKey
from tokbench.runner.plan import LARGEST_TASK, SMALLEST_TASK, Cell, bundles

MEGABYTE = 1_000_000


def make_cells(sizes: list[list[list[int]]]) -> list[Cell]:
    """The cells of some tokenizers, from the bytes of their shards."""
    recipes: list[Any] = [object() for _ in sizes]
    corpus: Any = object()
    return [
        Cell(number, CellKey(f"t{tokenizer}", "d", f"l{language}"), recipes[tokenizer], corpus, shards, "")
        for number, (tokenizer, language, shards) in enumerate(
            (
                tokenizer,
                language,
                tuple(Shard(f"l{language}", "file", index, n_bytes=size) for index, size in enumerate(own)),
            )
            for tokenizer, languages in enumerate(sizes)
            for language, own in enumerate(languages)
        )
    ]


shard_sizes = st.lists(st.integers(0, 12 * MEGABYTE), min_size=1, max_size=12)
some_sizes = st.lists(st.lists(shard_sizes, min_size=1, max_size=5), max_size=3)


@given(some_sizes, st.integers(1, 4))
def test_every_shard_is_in_one_task_and_pieces_are_numbered_in_order(
    sizes: list[list[list[int]]], jobs: int
) -> None:
    cells = make_cells(sizes)
    work = bundles(cells, jobs)
    pieces = [piece for bundle in work for piece in bundle.pieces]
    for cell in cells:
        own = [piece for piece in pieces if piece.cell == cell.index]
        assert [piece.part for piece in own] == list(range(len(own)))
        assert tuple(shard for piece in own for shard in piece.shards) == cell.shards
        assert all(piece.language == cell.key.language and piece.shards for piece in own)
    for bundle in work:
        assert {id(cells[piece.cell].recipe) for piece in bundle.pieces} == {id(bundle.recipe)}
        total = sum(piece.n_bytes for piece in bundle.pieces)
        first = bundle.pieces[0].shards[0].n_bytes
        assert total <= max(LARGEST_TASK, first)
    assert len(work) >= len({id(cell.recipe) for cell in cells})


def test_tasks_become_smaller_towards_the_end_where_there_are_several_workers() -> None:
    cells = make_cells([[[8 * MEGABYTE] * 125]])
    sizes = [sum(piece.n_bytes for piece in bundle.pieces) for bundle in bundles(cells, 2)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 64 * MEGABYTE
    assert sizes[-3:] == [8 * MEGABYTE] * 3
    alone = [sum(piece.n_bytes for piece in bundle.pieces) for bundle in bundles(cells, 1)]
    assert [size for size, _ in groupby(alone)] == [64 * MEGABYTE, 40 * MEGABYTE]


def test_small_languages_share_a_task() -> None:
    [bundle] = bundles(make_cells([[[1000], [2000], [SMALLEST_TASK // 2]]]), 4)
    assert [piece.cell for piece in bundle.pieces] == [0, 1, 2]
