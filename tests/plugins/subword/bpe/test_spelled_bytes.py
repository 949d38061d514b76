"""Models that work on letters of the byte alphabet, with affixes (CLIP), do so on the bytes themselves."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import segment
from tokbench_subword.pipeline.byte_alphabet import CHARACTER_OF, spelled

from tokbench.kernels.pointers import PADDING

WORDS = [
    "a",
    "the",
    "there",
    "né",
    "日本",
    "e",
    " th",
    "er er",
    "\n",
    "ththth",
    "x" * 20,
    "the日" * 90,
    "<w",
    "</w>",
]


def _model(prefix: str, suffix: str, left_out: str = "", **options: object) -> BpeModel:
    letters = [letter for letter in CHARACTER_OF.values() if letter not in left_out]
    forms = dict.fromkeys(head + c + tail for head in ("", prefix) for tail in ("", suffix) for c in letters)
    tokens = ["<unk>", *forms]
    pairs = [
        ("t", prefix + "h"),
        ("th", prefix + "e"),
        (prefix + "e", prefix + "r"),
        ("Ã", prefix + "©" + suffix),
    ]
    pairs += [(prefix + "e", prefix + "r" + suffix), ("th", prefix + "er" + suffix), ("x", prefix + "x")]
    merges = []
    for left, right in pairs:
        made = left + right.removeprefix(prefix)
        if {left, right} <= set(tokens):
            if made not in tokens:
                tokens.append(made)
            merges.append([tokens.index(left), tokens.index(right), tokens.index(made)])
    vocabulary = tuple(token.encode() for token in tokens)
    return BpeModel(
        vocabulary=vocabulary,
        merges=np.array(merges, np.int32),
        level="char",
        continuing_prefix=prefix,
        end_of_word=suffix,
        **options,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("affixes", [("", "</w>"), ("##", ""), ("@", "</w>"), ("", "")])
@pytest.mark.parametrize("whole_tokens", [False, True])
@pytest.mark.parametrize(
    ("left_out", "unknown"),
    [("", {}), ("Ãxæ", {}), ("Ãxæ", {"unk": 0}), ("Ãxæ", {"unk": 0, "fuse_unk": True})],
)
def test_the_ids_are_those_of_the_letters(affixes, whole_tokens, left_out, unknown) -> None:
    model = _model(*affixes, left_out, whole_tokens=whole_tokens, **unknown)
    rng = random.Random(1)
    words = [*WORDS, *("".join(rng.choices("the rnéxx日", k=rng.randint(1, 40))) for _ in range(300))]
    data = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, data)])
    text = np.frombuffer(b"".join(data) + bytes(PADDING), np.uint8)
    encoder = BpeEncoder(model, spelled=True)
    expected = [[symbol.id for symbol in segment(model, spelled(word))] for word in data]
    for _ in range(2):
        batch = encoder.encode_pretokens(text, np.stack([ends[:-1], ends[1:]], axis=1))
        assert batch.to_lists() == expected
