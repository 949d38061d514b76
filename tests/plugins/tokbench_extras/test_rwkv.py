"""RWKV World: the longest match over bytes, from a file that is read and never run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokbench_extras.rwkv import recognises

from tests.plugins.tokbench_extras.loading import check, load
from tokbench import TokenizerError


@pytest.fixture(scope="module")
def rwkv_file(tmp_path_factory):
    tokens = [bytes([byte]) for byte in range(256)] + [b"the ", b"th", "é".encode(), b"\xe4\xbd", b"\n\n"]
    lines = []
    for index, token in enumerate(tokens, start=1):
        try:
            literal = repr(token.decode())
        except UnicodeDecodeError:
            literal = repr(token)
        lines.append(f"{index} {literal} {len(token)}\n")
    path = tmp_path_factory.mktemp("rwkv") / "vocab.txt"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_rwkv_takes_the_longest_match(rwkv_file):
    assert recognises(rwkv_file, rwkv_file.read_bytes())
    assert not recognises(rwkv_file, b"1 a 1\n")
    tokenizer = load(f"rwkv:{rwkv_file}")
    check(tokenizer, ["the th é", ""], [[257, 258, 33, 259], []])
    assert tokenizer.encode("你") == [260, ord("\xa0") + 1]
    assert tokenizer.vocab_size == 262
    assert tokenizer.token_bytes(0) == b""


@given(text=st.text(st.characters(codec=None), max_size=40))
def test_rwkv_loses_nothing(rwkv_file, text):
    tokenizer = load(f"rwkv:{rwkv_file}")
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1 'a' 2", "is 1 bytes"),
        ("1 a", "line 1"),
        ("1 a b 1", "length': invalid syntax$"),
        ("x 'a' 1", "line 1"),
        ("1 'a' 1", "lacks 255"),
    ],
)
def test_rwkv_says_what_is_wrong_with_a_line(line, words, tmp_path):
    (tmp_path / "vocab.txt").write_text(line)
    with pytest.raises(TokenizerError, match=words):
        load(f"rwkv:{tmp_path}/vocab.txt")


def test_rwkv_evaluates_nothing(tmp_path):
    (tmp_path / "vocab.txt").write_text(f"1 open({str(tmp_path / 'ran')!r},'w') 1\n")
    with pytest.raises(TokenizerError, match="line 1"):
        load(f"rwkv:{tmp_path}/vocab.txt")
    assert not (tmp_path / "ran").exists()
