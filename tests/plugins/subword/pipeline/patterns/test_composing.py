"""Machines made of several: what they have waited for is told together, and has room."""

from __future__ import annotations

import numpy as np
import pytest
from tokbench_subword.pipeline.patterns.cutters import MachineCutter, cutter_of, joined_cutters
from tokbench_subword.pipeline.patterns.cutting import SPARE, cut_some

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import pointer


@kernel
def _most_at_once(machine, text, size, starts, ends, most):
    tables, data, begins, behind = pointer(machine), pointer(text), pointer(starts), pointer(ends)
    i = began = row = highest = none = np.int64(0)
    while i < size or row != 0:
        i, began, row, count = cut_some(tables, data, i, began, row, size, begins, behind, none, most)
        highest = max(highest, count)
    return highest


@pytest.mark.parametrize("size", range(100, 132))
def test_pieces_that_are_told_late_have_room(size: int) -> None:
    """What three cutters in a row have waited for is told at the end of the text, all of it at once."""
    splits = ["[^x]{4}y", "[^y]{3}x", r"[^y]{1,5}\z|[\s\S]"]
    (cutter,) = joined_cutters([cutter_of(split, "oniguruma") for split in splits])
    assert isinstance(cutter, MachineCutter)
    most, room, text = 64, np.zeros((2, 1000), np.int64), "y" * size + "aaxaaayaaxy"
    source, length = np.frombuffer(text.encode() + bytes(64), np.uint8), np.int64(len(text))
    assert _most_at_once(cutter.block, source, length, room[0], room[1], np.int64(most)) <= most + SPARE
