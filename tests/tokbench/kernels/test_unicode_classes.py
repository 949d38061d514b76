"""Categories and white space are what tiktoken and tokenizers go by, on every code point."""

from __future__ import annotations

import numpy as np
import pytest
import tiktoken

from tokbench.kernels.unicode_classes import CATEGORIES, general_categories, has_moved, moved, white_space

EVERY = np.r_[:0xD800, 0xE000:0x110000].astype("<u4").tobytes().decode("utf-32-le")
BYTES = {bytes([byte]): byte for byte in range(256)}
CLASSES = [
    (r"\p{L}", "Lu Ll Lt Lm Lo"),
    (r"\p{N}", "Nd Nl No"),
    (r"\s", ""),
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", "Lu Lt Lm Lo Mn Mc Me"),
    (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", "Ll Lm Lo Mn Mc Me"),
]


def of_class(names):
    """The characters of some categories; without any, white space."""
    flags = np.isin(CATEGORIES, names.split())[general_categories()] if names else white_space()
    return {chr(point) for point in np.flatnonzero(flags).tolist()}


@pytest.mark.parametrize(("pattern", "names"), CLASSES)
def test_classes_equal_tiktokens_on_every_code_point(pattern, names):
    encoding = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})
    assert of_class(names) == set(encoding.decode(encoding.encode_ordinary(EVERY)))


@pytest.mark.parametrize(("pattern", "names"), CLASSES[1:3])
def test_classes_equal_those_of_tokenizers(pattern, names):
    from tokenizers import Regex, pre_tokenizers

    split = pre_tokenizers.Split(Regex(pattern), behavior="removed", invert=True)
    assert of_class(names) == {character for piece, _ in split.pre_tokenize_str(EVERY) for character in piece}


def test_moved_characters_are_those_regex_puts_elsewhere():
    import regex

    for point, category in list(moved().items())[:: max(1, len(moved()) // 500)]:
        assert not regex.match(rf"\p{{{category}}}", chr(point))
    assert not has_moved().search("plain text, naïve 中文 ١٢")
