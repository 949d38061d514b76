"""Batches that are encoded in runs: the same ids, and no more memory than these."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.methods import train_bpe
from tokbench_subword.words import encoder, prepared, runs

TEXTS = [
    "the cat sat on the mat",
    "Ein Käse, zwei Käse ",
    "naïve cafe\u0301 naïve",
    "漢字と仮名",
    "  12 \n\t 345",
]


def _tokenizer(normalizer: str, threads: int) -> BpeTokenizer:
    content = train_bpe(TEXTS * 3, 300).to_dict()
    content["normalizer"] = {"type": normalizer} if normalizer else None
    return BpeTokenizer.from_dict(content, threads=threads)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("normalizer", ["", "NFC"])
@settings(max_examples=30, deadline=None)
@given(parts=st.lists(st.tuples(st.sampled_from(["", *TEXTS]), st.integers(1, 30)), max_size=40))
def test_runs_give_what_each_text_gives(normalizer: str, threads: int, parts: list[tuple[str, int]]) -> None:
    tokenizer, texts = _tokenizer(normalizer, threads), [text * times for text, times in parts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepared, "TEXT_RUN", 50)
        patch.setattr(encoder, "_AT_A_TIME", 20)
        patch.setattr(runs, "_RUNS", 3)
        batch = tokenizer.encode_batch(["x" * 20] * 17 + texts)  # more than are encoded one by one
    assert batch.to_lists()[17:] == [tokenizer(text) for text in texts]


_GROWS = """
import resource
from tokbench_subword.methods import train_bpe
texts = [f"{k % 1000} words, and {k % 977} more of them; " * 5 for k in range(300_000)]
tokenizer = train_bpe(texts[:2000], 2000)
tokenizer.encode_batch(texts[:20000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
batch = tokenizer.encode_batch(texts)
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
print(grown - batch.ids.nbytes - batch.offsets.nbytes, sum(map(len, texts)))
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is told in other units")
def test_a_batch_takes_its_ids_and_little_more() -> None:
    """Where all was done at once, it took nearly twice the text as well."""
    done = subprocess.run([sys.executable, "-c", _GROWS], capture_output=True, text=True, check=True)
    more, size = map(int, done.stdout.split())
    assert more < 1.2 * size
