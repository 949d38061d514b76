"""Lanes: looked up and picked as numpy does it, by whichever instructions the processor has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from llvmlite import binding

from tokbench.kernels.compiling import kernel
from tokbench.kernels.lanes import LANES, PART, PARTS, first_lanes, look_up_lanes, pick_lanes, store_lanes
from tokbench.kernels.pointers import pointer


@kernel
def _looked_up(table, index, numbers, out):
    """Look up lanes in one row of a table after another, those that `numbers` name."""
    tables, rows, results = pointer(table), pointer(numbers), pointer(out)
    lanes = first_lanes()
    for k in range(len(numbers)):
        lanes = look_up_lanes(tables, index + LANES * np.int64(rows[k]), lanes)
        store_lanes(results, LANES * k, lanes)


@kernel
def _picked(data, begins, out):
    pick_lanes(pointer(data), (begins[0], begins[1], begins[2], begins[3]), pointer(out), 1)


def _check() -> None:
    rng = np.random.default_rng(7)
    table = rng.integers(0, 256, (256 * LANES + 1,), np.uint8)
    numbers = rng.integers(0, 256, 50, np.uint8)
    out = np.zeros(LANES * len(numbers), np.uint8)
    _looked_up(table, 1, numbers, out)  # at no multiple of 32
    lanes = np.arange(LANES, dtype=np.uint8)
    for k, number in enumerate(numbers.tolist()):
        lanes = table[1 + LANES * number + (lanes & 31).astype(int)]
        assert out[LANES * k : LANES * (k + 1)].tolist() == lanes.tolist()
    begins, picked = np.array([40, 3, 701, 0]), np.full(PARTS * PART + 2, 7, np.uint8)
    _picked(table, begins, picked)
    wanted = [table[begin + LANES * k] for begin in begins for k in range(PART)]
    assert picked.tolist() == [7, *wanted, 7]


def test_lanes_are_looked_up_and_picked() -> None:
    _check()


TEXT = "It's 12  words,\n\n    naïve — 漢字 and\tmore; " * 30
_CUT = f"""
from tokbench.kernels import lanes
from tokbench_subword.pipeline.patterns.cutters import cutter_of
from tokbench_subword.pipeline.patterns import NAMED
for name in ("gpt2", "cl100k"):
    print(cutter_of(NAMED[name], "rust").spans({TEXT!r}.encode()).tolist())
print(lanes.THERE, lanes._PERMUTES)
"""


def _in_a_process(tmp_path: Path, code: str, **settings: str) -> list[str]:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **settings}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.long
@pytest.mark.parametrize("features", ["", "+avx2,+avx,+sse4.2,+ssse3,+bmi,+bmi2,+popcnt"])
def test_with_fewer_instructions_pieces_are_the_same(tmp_path: Path, features: str) -> None:
    """As they are compiled for processors that have no such instruction, and for those of ten years ago."""
    if features and not binding.get_host_cpu_features().get("avx2"):
        pytest.skip("this processor has no AVX2")
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": features or "+sse2"}
    *wanted, _ = _in_a_process(tmp_path, _CUT)
    *found, told = _in_a_process(tmp_path, _CUT, **other)
    assert found == wanted
    assert told == f"{bool(features)} False"
    here = str(Path(__file__).parent)
    code = f"""import sys; sys.path.insert(0, {here!r}); import test_bits, test_lanes, test_text
test_lanes._check()
test_bits.test_the_places_of_bits_are_written()
test_text.test_every_code_point_at_every_width(0x10FFFF)
test_text.test_any_character_at_any_place_of_a_text_of_any_length("я")
"""
    _in_a_process(tmp_path, code, **other)
