"""Words found from 64 bytes at a time: cut as the state machines cut, on all that is near their rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from tokbench_subword.bpe.pretokens import (
    CL100K,
    GPT2,
    LLAMA3,
    O200K,
    QWEN2,
    WHOLE,
    next_pretoken,
    pretoken_ends,
)
from tokbench_subword.bpe.scanning import cut_words

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import PADDING, pointer
from tokbench.kernels.unicode_classes import class_table


@kernel
def _scan(machine, text, begin, end, classes, starts, most):
    return cut_words(machine, pointer(text), begin, end, pointer(classes), pointer(starts), 0, most)


def _cuts(machine: int, data: bytes, begin: int, end: int, most: int) -> list[int]:
    """Where pre-tokens end, found in groups of at most `most`."""
    text, starts, ends = np.frombuffer(data + b"a1\xc3\xa9 '" * PADDING, np.uint8), np.zeros(most, np.int64), []
    while begin < end:
        stop, count = _scan(machine, text, begin, end, class_table(), starts, most)
        ends += [*starts[1:count].tolist(), stop]
        begin = stop
    return ends


_near = st.text("abcdtsRELVM  '''0129.,(!_-/\n\r\t\x0b\x1f\u00a0éßЖя中\u0301“”😀", max_size=150)
_ascii = st.text("abcdtsRELVMa  '0129.,(!_-/\n\r\t", max_size=200)


@pytest.mark.parametrize("machine", [GPT2, CL100K, LLAMA3, QWEN2, O200K, WHOLE])
@settings(max_examples=400, deadline=None)
@given(text=_near | _ascii, most=st.sampled_from([1, 3, 100]))
def test_cut_as_the_state_machine_cuts(machine, text, most):
    data = text.encode()
    ends = np.zeros(len(data), np.int64)
    count = pretoken_ends(machine, np.frombuffer(data, np.uint8), len(data), class_table(), ends)
    assert _cuts(machine, data, 0, len(data), most) == ends[:count].tolist()


@kernel
def _first_difference(machine, pool, size, lead, classes):
    """The number of the first text, of `size` characters from `pool` after a lead, that is cut otherwise."""
    n_texts = len(pool) ** size
    text = np.zeros(len(lead) + size + PADDING, np.uint8)
    text[: len(lead)] = lead
    data, known, starts = pointer(text), pointer(classes), np.zeros(len(text) + 1, np.int64)
    end = len(lead) + size
    for number in range(n_texts):
        rest = number
        for k in range(size):
            text[len(lead) + k] = pool[rest % len(pool)]
            rest //= len(pool)
        i, count = cut_words(machine, data, 0, end, known, pointer(starts), 0, end)
        starts[count] = i
        right, at = i == end, 0
        for k in range(count):
            right = right and starts[k] == at
            at = next_pretoken(machine, data, at, end, known) if at < end else end
        if not right or at != end:
            return number
    return -1


@pytest.mark.skipif(config.DISABLE_JIT, reason="a million texts by plain Python")
@pytest.mark.parametrize("machine", [GPT2, CL100K, LLAMA3, QWEN2, O200K])
@pytest.mark.parametrize("lead", [b"", b" x", b"x" * 58, b"." + b" " * 57, b".\n" + b"\t" * 57])
def test_every_short_text(machine, lead):
    """All texts of six characters of all kinds, at the beginning and across the edge of a window."""
    pool, beginning = np.frombuffer(b"aS1 .'\n/\t", np.uint8), np.frombuffer(lead, np.uint8)
    number = _first_difference(machine, pool, 6, beginning, class_table())
    assert number == -1, bytes(pool[number // len(pool) ** k % len(pool)] for k in range(6))


@pytest.mark.parametrize("machine", [GPT2, CL100K, O200K])
@pytest.mark.parametrize("unit", ["a", " a", "A", "Aa", ".", " .", "a.", "1", " ", "a b ", "'s", "x'"])
def test_runs_across_the_edge_of_a_window(machine, unit):
    for length in (30, 38, 39, 40, 41, 62, 63, 64, 65, 66, 130):
        data = ("x" * (length % 7) + unit * length)[:length].encode()
        ends = np.zeros(length, np.int64)
        count = pretoken_ends(machine, np.frombuffer(data, np.uint8), length, class_table(), ends)
        assert _cuts(machine, data, 0, length, 100) == ends[:count].tolist()
