"""Patterns for tiktoken cut the same when `tokenizers` is told them, and when a `.tiktoken` file is opened."""

from __future__ import annotations

import base64

import pytest
import tiktoken
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.ranks import model_of_ranks
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.pipeline.patterns.writing import in_ruby
from tokenizers import Regex, Tokenizer
from tokenizers import pre_tokenizers as P

from tokbench.errors import TokenizerError

from ...strings import hard_strings

STRINGS = [text.encode("utf-8", "replace").decode() for text in hard_strings(300, seed=3)]
STRINGS += ["123456 7", "a\n  ", "  a\n b", "x\u200dy \u00b2\u00bd", "\U000173c5123456", "\u0663\u0664\n  "]
PATTERNS = [
    r"\p{N}{1,3}+|[^\r\n\p{L}\p{N}]?+\p{L}++|\s++$|\s+(?!\S)|\s|.",
    r"^\s+|\S+$|.+?",
    r"\b\w+\b|[^\w\s]+|\W",
    r"(?i:'s|the|straße)|[\p{L}&&[^\p{Han}]]+|\p{Han}|[\s\S]",
    r"(?:ab){2}+|(a|b)+?|\x{20}+|.",
    r"(?s:a.)|[\p{L}--[aeiou]]+|[a-m~~h-z]|[^\s\S]|(?<one>\S)|\s\Z|\s",
    r"(?i)a(?-i)b|\p{L}\p{Any}|[^\p{Lu}&&[a-zé]]+|(?i)\p{Lu}|\N|\n",
    r"\p{sc=Thai}+|\p{Script=Cyrillic}{1,3}|[^\p{sc=Arab}\p{isGreek}]|\P{sc=Latn}|\p{gc=Lu}",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_files_of_ranks_with_a_pattern_of_ones_own(pattern, tmp_path):
    words = [b"12", b"23", b"34", b"123", b"234", b"56", b"  ", b"\n ", b" a", b"ab", b"th", b"the"]
    ranks = {bytes([byte]): byte for byte in range(256)} | {word: 256 + i for i, word in enumerate(words)}
    theirs = tiktoken.Encoding(name="own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    model: BpeModel = model_of_ranks(ranks, pattern=Pattern.of(pattern, dialect="rust", keep_gaps=False))
    ours = BpeTokenizer.of_model(model)
    ours.save(tmp_path / "t.json")
    saved, again = Tokenizer.from_file(str(tmp_path / "t.json")), BpeTokenizer.from_file(tmp_path / "t.json")
    for text in STRINGS:
        expected = theirs.encode_ordinary(text)
        assert ours(text) == expected == saved.encode(text).ids == again(text), ascii(text)
    ours.save(tmp_path / "t.tiktoken")
    lines = [b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ranks.items()]
    assert (tmp_path / "t.tiktoken").read_bytes() == b"".join(lines)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_tokenizers_is_told_cuts_as_the_pattern(pattern):
    split = P.Split(Regex(in_ruby(pattern)), "removed", invert=True)
    ours = Pattern.of(pattern, dialect="rust", keep_gaps=False)
    for text in STRINGS:
        assert ours.pieces(text) == [piece for piece, _ in split.pre_tokenize_str(text)], ascii(text)


def test_a_pattern_on_which_tiktoken_panics_is_not_written_for_it(tmp_path):
    """A match of no length has no token there."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    ours = BpeTokenizer.of_model(
        model_of_ranks(ranks, pattern=Pattern.of("a*", dialect="rust", keep_gaps=False))
    )
    with pytest.raises(TokenizerError, match=r"t\.tiktoken: read back, tiktoken gives up on .*range end"):
        ours.save(tmp_path / "t.tiktoken")
    assert not [*tmp_path.iterdir()]
