"""Pointers, hashing and the compiling of kernels; and that the kernels run as plain Python too."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokbench.kernels.compiling import kernel
from tokbench.kernels.hashing import equal_bytes, hash_bytes, hash_spans
from tokbench.kernels.pointers import (
    block,
    copy_ids_8,
    i64_in,
    load_u64,
    padded,
    pointer,
    prefetch_to_read,
    store_u64,
    u8_in,
    u32_in,
)
from tokbench.kernels.utf8 import code_point, encodable, repaired


@kernel
def _load(data, at):
    return load_u64(pointer(data), at)


@kernel
def _write(ids, words, at):
    prefetch_to_read(pointer(words), 1)
    store_u64(pointer(ids), at, words[1])
    copy_ids_8(pointer(ids), at, pointer(ids), at + 8)


@kernel
def _hash(data, start, length):
    return hash_bytes(pointer(data), start, length)


@kernel
def _equal(a, b, length):
    return equal_bytes(pointer(a), 0, pointer(b), 0, length)


@kernel
def _points(data, length):
    text, found, i = pointer(data), [np.int64(0)], 0
    while i < length:
        point, size = code_point(text, i)
        found.append(point)
        i += size
    return found[1:]


@kernel
def _read(arrays):
    return u8_in(arrays, 0)[1], u32_in(arrays, 1)[2], i64_in(arrays, 2)[0]


def _padded(data: bytes) -> np.ndarray:
    return np.frombuffer(data + bytes(32), np.uint8)


@given(st.binary(min_size=1, max_size=40), st.data())
def test_loads(data, draw):
    at = draw.draw(st.integers(0, len(data) - 1))
    assert _load(_padded(data), at) == int.from_bytes(_padded(data)[at : at + 8].tobytes(), "little")


def test_ids_are_written_in_pairs_and_copied_by_eight():
    ids = np.arange(20, dtype=np.uint32)
    _write(ids, np.array([0, (7 << 32) | 9], np.uint64), 3)
    assert ids.tolist() == [0, 1, 2, 9, 7, 5, 6, 7, 8, 9, 10, 9, 7, 5, 6, 7, 8, 9, 10, 19]


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_hashes_and_equality_go_by_the_bytes_alone(a, b):
    length = min(len(a), len(b))
    assert _equal(_padded(a), _padded(b), length) == (a[:length] == b[:length])
    assert _hash(_padded(a), 0, len(a)) == _hash(_padded(b"xyz" + a + b"?"), 3, len(a))


def test_every_byte_counts_in_hashes_and_equality():
    """Of all lengths around the eight and the sixteen bytes that are read together."""
    for length in range(1, 50):
        text = bytes(range(1, length + 1))
        others = [text[:at] + b"\xff" + text[at + 1 :] for at in range(length)]
        assert len({_hash(_padded(each), 0, length) for each in (text, *others)}) == length + 1
        assert not any(_equal(_padded(text), _padded(other), length) for other in others)
        assert _equal(_padded(text), _padded(text), length)
    assert len({_hash(np.zeros(90, np.uint8), 0, length) for length in range(50)}) == 50


@given(st.text(min_size=1, max_size=20).filter(lambda t: not any(0xD800 <= ord(c) < 0xE000 for c in t)))
def test_code_points(text):
    data = text.encode()
    assert list(_points(_padded(data), len(data))) == [ord(c) for c in text]


def test_a_block_gives_back_its_arrays():
    arrays = [np.arange(4, dtype=np.uint8), np.arange(4, dtype=np.uint32) * 7, np.array([-5])]
    assert _read(block(arrays)) == (1, 14, -5)


def test_surrogates_are_repaired():
    assert encodable("a\ud800b") == "a\ufffdb".encode()
    assert repaired("\ud83d\ude00") == "😀"
    assert repaired("plain") == "plain"


PLAIN = """
import warnings; warnings.simplefilter("error", RuntimeWarning)
import numpy as np
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.ranks import model_of_ranks
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.bpe.plain import segment
ranks = {bytes([b]): b for b in range(256)}
for i, token in enumerate([b"ab", b" ab", b"abc", b"\\xe4\\xb8", b"\\xe4\\xb8\\xad"]):
    ranks[token] = 256 + i
model = model_of_ranks(ranks, pattern=Pattern("cl100k"))
encoder = BpeEncoder(model)
text = "abc ab'll 中中国 12345  ab\\n" + "ab" * 40
ids = encoder.encode(text).tolist()
want = [s.id for piece in model.pattern.pieces(text) for s in segment(model, piece)]
assert ids == want, (ids, want)
assert encoder.encode(text).tolist() == want
import tokbench
trained = tokbench.load("bpe:vocab_size=260", train_on=["low lower lowest"] * 3)
assert len(trained.encode("low")) == 1
from tokbench_subword.pipeline.compiled_normalizers import compiled_normalizer_of
from tokbench_subword.pipeline.segments import Segments
from tokbench.kernels.pointers import padded
quoted = compiled_normalizer_of({"type": "Replace", "pattern": {"String": "``"}, "content": '"'})
found = quoted(Segments(padded(b"a``" * 4), np.array([0, 12])))
assert found.data[:found.offsets[-1]].tobytes() == b'a"' * 4
print("same")
"""


def test_the_encoder_runs_as_plain_python_too():
    done = subprocess.run(
        [sys.executable, "-c", PLAIN],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.strip() == "same", done.stderr[-2000:]


def test_the_first_call_says_that_it_compiles_and_the_second_does_not(tmp_path):
    script = (
        "import numpy as np;"
        "from tokbench.kernels.hashing import hash_spans; from tokbench.kernels.pointers import padded;"
        "out = np.zeros(1, np.uint64);"
        "hash_spans(padded(b'one'), np.array([0]), np.array([3]), out); print(*out)"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    runs = [
        subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=300)
        for _ in range(2)
    ]
    here = np.zeros(1, np.uint64)
    hash_spans(padded(b"one"), np.array([0]), np.array([3]), here)
    assert [run.stdout.strip() for run in runs] == [str(here[0])] * 2, runs[0].stderr[-2000:]
    assert runs[0].stderr.count("compiling kernels") == 1
    assert "compiling" not in runs[1].stderr


def test_importing_tokbench_imports_no_numba():
    script = (
        "import sys, tokbench, tokbench_subword; tokbench_subword.tokbench_tokenizers();"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr[-2000:]
