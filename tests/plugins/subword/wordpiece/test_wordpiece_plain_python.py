"""The kernels of WordPiece and of both trainers run as plain Python where numba is told not to compile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

PROGRAM = """
from tokbench_subword.bpe.trainer import train_bpe
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer
from tokbench_subword.wordpiece.trainer import train_wordpiece
text = "low lower lowest newest \\u5317\\u4eac \\u00c9\\u302e\\u302e, aaaa " * 3
for score in ("likelihood", "frequency"):
    tokenizer = WordPieceTokenizer("t", train_wordpiece([text], vocab_size=45, score=score))
    print(tokenizer.model.vocabulary, tokenizer.encode_batch([text, "zz \\u2001a"]).ids.tolist())
for ties in ("hf", "bytes", "lexicographic", "first_seen"):
    print(train_bpe([text], vocab_size=275, ties=ties).merges.tolist())
many = " ".join(f"{7 ** number:x}" for number in range(120))  # more pairs than there is room for at first
print(train_bpe([many], vocab_size=1500).merges.tolist())
"""


@pytest.mark.long
def test_plain_python_gives_the_same(compiled_and_plain: Callable[[str], tuple[str, str]]) -> None:
    compiled, plain = compiled_and_plain(PROGRAM)
    assert compiled == plain
    assert compiled.count("\n") == 7
