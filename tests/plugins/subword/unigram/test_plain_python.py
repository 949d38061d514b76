"""Unigram's kernels run as plain Python where numba is told not to compile, with the same results."""

from __future__ import annotations

from collections.abc import Callable

import pytest

PROGRAM = """
import numpy as np
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.files.sentencepiece_model import UNKNOWN, NormalizerSpec, Piece, SpmModel, TrainerSpec
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
scores = {"▁": -2.0, "a": -1.0, "b": -1.5, "ab": -2.0, "▁ab": -3.0, "ba": -2.25, "北京": -4.0, "北": -3.0}
pieces = (Piece("<unk>", 0.0, UNKNOWN), *(Piece(text, score) for text, score in scores.items()))
texts = ["abba  ba", "北京北 ab", "京x北é", "", " b" * 9, "a▁ ▁b"]
def spans(tokenizer):
    return [tokenizer.offsets(text).tolist() for text in texts]
for kind in ("unigram", "bpe"):
    tokenizer = SpmTokenizer("t", SpmModel(pieces, TrainerSpec(model_type=kind), NormalizerSpec()))
    print(tokenizer.encode_batch(texts).to_lists(), [tokenizer(text) for text in texts], spans(tokenizer))
    print(tokenizer.sample("abab 北京", np.random.default_rng(1), 0.4))
vocab = [["<unk>", 0.0], *map(list, scores.items())]
for normalizer in ("NFC", "Lowercase"):
    tokenizer = JsonUnigramTokenizer.from_dict({
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab},
        "normalizer": {"type": normalizer},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    })
    print(tokenizer.encode_batch([*texts, "AB e\\u0301"]).to_lists(), spans(tokenizer))
    print(tokenizer.sample("abab 北京", np.random.default_rng(1), 0.4))
"""


@pytest.mark.long
def test_plain_python_gives_the_same(compiled_and_plain: Callable[[str], tuple[str, str]]) -> None:
    compiled, plain = compiled_and_plain(PROGRAM)
    assert compiled == plain
    assert compiled.count("\n") == 8
