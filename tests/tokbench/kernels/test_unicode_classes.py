"""The class table is what tiktoken and tokenizers go by, on every code point."""

from __future__ import annotations

import numpy as np
import pytest
import tiktoken

from tokbench.kernels.unicode_classes import (
    LETTER,
    LOWERISH,
    NUMBER,
    SPACE,
    UPPERISH,
    class_table,
    has_moved,
    moved,
)

EVERY = np.r_[:0xD800, 0xE000:0x110000].astype("<u4").tobytes().decode("utf-32-le")
BYTES = {bytes([byte]): byte for byte in range(256)}
CLASSES = [
    (r"\p{L}", LETTER),
    (r"\p{N}", NUMBER),
    (r"\s", SPACE),
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPERISH),
    (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWERISH),
]


@pytest.mark.parametrize(("pattern", "flag"), CLASSES)
def test_classes_equal_tiktokens_on_every_code_point(pattern, flag):
    encoding = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})
    theirs = set(encoding.decode(encoding.encode_ordinary(EVERY)))
    ours = {chr(point) for point in np.flatnonzero(class_table() & flag).tolist()}
    assert ours == theirs


@pytest.mark.parametrize(("pattern", "flag"), CLASSES[1:3])
def test_classes_equal_those_of_tokenizers(pattern, flag):
    from tokenizers import Regex, pre_tokenizers

    split = pre_tokenizers.Split(Regex(pattern), behavior="removed", invert=True)
    theirs = {character for piece, _ in split.pre_tokenize_str(EVERY) for character in piece}
    assert {chr(point) for point in np.flatnonzero(class_table() & flag).tolist()} == theirs


def test_moved_characters_are_those_regex_puts_elsewhere():
    import regex

    for point, category in list(moved().items())[:: max(1, len(moved()) // 500)]:
        assert not regex.match(rf"\p{{{category}}}", chr(point))
    assert not has_moved().search("plain text, naïve 中文 ١٢")
