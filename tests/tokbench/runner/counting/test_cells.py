"""How cells are cut into tasks."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.corpus import Shard
from tokbench.metrics.measurement import CellKey
from tokbench.runner.counting.cells import LARGEST_TASK, SMALLEST_TASK, cut_into_tasks, most_workers
from tokbench.runner.counting.count import CountTask, PlannedCell

MEGABYTE = 1_000_000


def make_cells(sizes: list[list[list[int]]]) -> list[PlannedCell]:
    """The cells of some tokenizers, from the bytes of their shards."""
    recipes: list[Any] = [object() for _ in sizes]
    corpus: Any = object()
    return [
        PlannedCell(
            number, CellKey(f"t{tokenizer}", "d", f"l{language}"), recipes[tokenizer], corpus, shards, ""
        )
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
    work = cut_into_tasks(cells, jobs)
    portions = [portion for bundle in work for portion in bundle.portions]
    for cell in cells:
        own = [portion for portion in portions if portion.index == cell.index]
        assert [portion.part for portion in own] == list(range(len(own)))
        assert tuple(shard for portion in own for shard in portion.shards) == cell.shards
        assert all(portion.key == cell.key and portion.shards for portion in own)
    for bundle in work:
        assert len({id(cells[portion.index].recipe) for portion in bundle.portions}) == 1
        assert all(portion.recipe is cells[portion.index].recipe for portion in bundle.portions)
        total = n_bytes(bundle)
        first = bundle.portions[0].shards[0].n_bytes
        assert total <= max(LARGEST_TASK, first)
    assert len(work) >= len({id(cell.recipe) for cell in cells})


def n_bytes(bundle: CountTask) -> int:
    return sum(shard.n_bytes for portion in bundle.portions for shard in portion.shards)


def test_tasks_become_smaller_towards_the_end_where_there_are_several_workers() -> None:
    cells = make_cells([[[8 * MEGABYTE] * 125]])
    sizes = [n_bytes(bundle) for bundle in cut_into_tasks(cells, 2)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 64 * MEGABYTE
    assert sizes[-3:] == [8 * MEGABYTE] * 3
    alone = [n_bytes(bundle) for bundle in cut_into_tasks(cells, 1)]
    assert [size for size, _ in groupby(alone)] == [64 * MEGABYTE, 40 * MEGABYTE]


def test_small_languages_share_a_task() -> None:
    [bundle] = cut_into_tasks(make_cells([[[1000], [2000], [SMALLEST_TASK // 2]]]), 4)
    assert [portion.index for portion in bundle.portions] == [0, 1, 2]


@pytest.mark.parametrize(
    ("tokenizers", "n_bytes", "expected"),
    [(1, 1000, 1), (3, 1000, 3), (9, 1000, 4), (1, 3 * SMALLEST_TASK, 3), (2, 3 * SMALLEST_TASK, 4)],
)
def test_no_more_workers_than_there_is_work_for(tokenizers: int, n_bytes: int, expected: int) -> None:
    assert most_workers(4, tokenizers, n_bytes) == expected


def test_a_shard_joins_a_task_that_it_fills_more_nearly_than_it_overfills() -> None:
    cells = make_cells([[[8 * MEGABYTE] * 12]])
    sizes = [n_bytes(bundle) for bundle in cut_into_tasks(cells, 2)]
    # a third of what is left: 32, 21.3, 14.2, 9.8, …
    assert sizes == [size * MEGABYTE for size in (32, 24, 16, 8, 8, 8)]
