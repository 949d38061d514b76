"""The cache of short stretches, and that compiled code follows the numbers it is made of."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import _stamp, kernel
from tokbench.kernels.pointers import PADDING, pointer
from tokbench.kernels.stretch_cache import SLOT_WORDS, cache_lines, holds, slot_of, stretch_key


@kernel
def key_and_slot(data, begin, size, mask, out):  # type: ignore[no-untyped-def]
    """The key of a stretch and its slot, and whether an empty slot claims to hold it."""
    text = pointer(data)
    first, second, third, fourth = stretch_key(text, begin, size)
    out[0], out[1], out[2], out[3] = first, second, third, fourth
    out[4] = np.uint64(slot_of(first, second, third, fourth, size, mask))
    return holds(pointer(np.zeros(SLOT_WORDS, np.uint64)), np.int64(0), first, second, third, fourth, size)


def test_keys_are_the_bytes_and_nothing_behind_them() -> None:
    data = bytes(range(1, 65))
    seen = set()
    for size in range(1, 33):
        keys = []
        for behind in (b"\xff", b"\0"):
            source = np.frombuffer(data[:size] + behind * (32 + PADDING), np.uint8)
            out = np.zeros(5, np.uint64)
            assert not key_and_slot(source, 0, size, 1023, out)
            assert out[:4].tobytes() == data[:size].ljust(32, b"\0")
            assert out[4] < 1024
            keys.append(out.tolist())
        assert keys[0] == keys[1]
        seen.add(keys[0][4])
    assert len(seen) > 24  # they spread


def test_slots_begin_at_cache_lines() -> None:
    for slots in (1, 2, 64):
        cache = cache_lines(slots)
        assert len(cache) == slots * SLOT_WORDS
        assert cache.ctypes.data % 64 == 0
        assert not cache.any()


def test_a_number_from_another_file_renews_compiled_code() -> None:
    from tokbench_subword.words import encoding, layout

    function = getattr(encoding.encode_texts_of, "py_func", encoding.encode_texts_of)
    assert layout.__file__ in [name for name, _, _ in _stamp(function)]
