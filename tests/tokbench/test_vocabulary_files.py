"""Ranks are read alike from every form of their file, and what is wrong is named with its line."""

import pytest

from tokbench.errors import TokenizerError
from tokbench.vocabulary_files import read_ranks, write_ranks

RANKS = {b"a": 0, b"\x00\xff": 5, b"": 7, b"long token": 2**31 - 1}


@pytest.mark.parametrize("empty", [True, False], ids=["with an empty token", "without"])
@pytest.mark.parametrize("form", ["{}", "{}\r\n", "\n{}\n\n", " {}\t", "{}\x0c"], ids=repr)
def test_line_ends_and_spaces_make_no_difference(tmp_path, form, empty):
    ranks = {token: rank for token, rank in RANKS.items() if token or empty}
    path = tmp_path / "x.tiktoken"
    write_ranks(ranks, path)
    assert read_ranks(path) == ranks
    path.write_text("\n".join(form.format(line) for line in path.read_text().splitlines()))
    assert read_ranks(path) == ranks


@pytest.mark.parametrize(
    ("second", "what"),
    [
        ("YQ", "expected a token in base64"),
        ("YQ== 1 2", "expected a token in base64"),
        ("Y=Q= 1", "expected a token in base64"),
        ("YQ== 1+1", "expected a token in base64"),
        ("YQ== -1", "negative"),
        ("YQ== 2147483648", "too large"),
        ("Yg== 1", "given twice"),
        ("YQ== 0", "given twice"),
    ],
)
@pytest.mark.parametrize("end", ["\n", ""], ids=["", "without an end of line"])
def test_what_is_wrong_is_named_with_its_line(tmp_path, second, what, end):
    path = tmp_path / "x.tiktoken"
    path.write_text(f"Yg== 0\n{second}{end}")
    with pytest.raises(TokenizerError, match=f"line 2: .*{what}"):
        read_ranks(path)


def test_a_file_without_tokens_says_so(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_text("\n")
    with pytest.raises(TokenizerError, match="holds no tokens"):
        read_ranks(path)
