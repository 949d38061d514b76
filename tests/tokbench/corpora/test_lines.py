"""Blocks of documents are the documents."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokbench.corpora import lines as lines_module
from tokbench.corpora.lines import NotUtf8, line_blocks, lines_of
from tokbench.corpora.text import LineFormat
from tokbench.corpus import Shard, TextBlock
from tokbench.errors import CorpusError

EVERY = np.arange(0x110000, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
EDGES = "\u07ff\u0800\ud7ff\ue000\U00010000\U0010ffff"
BROKEN = [b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf5\x80", b"\xe0\x9f\xbf", b"\xf0\x9f\x99", b"\xe8"]
SPACES = [space for space in re.findall(r"\s", EVERY) if space != "\n"]


def texts(block: TextBlock) -> list[str]:
    assert block.data.count(b"\n", 0) >= len(block)
    return block.texts()


@given(
    st.lists(st.text(st.sampled_from(["a", "é", "「", "語", "😀", "\x7f", *SPACES]), max_size=4)), st.booleans()
)
@example([], False)
def test_lines_are_those_that_are_not_blank(lines: list[str], ended: bool) -> None:
    data = "\n".join(lines) + "\n" * ended
    lines = data.replace("\r\n", "\n").split("\n")
    assert texts(lines_of(data.encode())) == [line for line in lines if line and not line.isspace()]


@pytest.mark.parametrize("space", SPACES, ids=ascii)
def test_every_white_space_makes_a_blank_line(space: str) -> None:
    assert texts(lines_of(f"{space}\n{space}a\n".encode())) == [f"{space}a"]


@given(
    st.lists(
        st.sampled_from([b"a", b"\r", b"\n", b" ", "é".encode(), "\u3000".encode(), b"long" * 40]), max_size=60
    ),
    st.integers(1, 90),
    st.integers(1, 200),
    st.booleans(),
)
def test_lines_are_the_same_however_they_are_read(
    parts: list[bytes], read: int, block: int, marked: bool
) -> None:
    data = b"\xef\xbb\xbf" * marked + b"".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "READ", read)
        patch.setattr(lines_module, "BLOCK", block)
        found = list(line_blocks(io.BytesIO(data + b"more"), 0, len(data)))
    whole = lines_of(data[3 * marked :])
    assert b"".join(some.data for some in found) == whole.data
    assert all(len(some) for some in found)
    assert sum(map(len, found)) == len(whole)


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=4),
            st.sampled_from([b"x" * 63, "é語😀".encode(), *map(str.encode, EDGES), *BROKEN]),
            st.characters(exclude_categories=["Cs"]).map(str.encode),
        ),
        max_size=8,
    )
)
@example([b"\xf0\x8f\xbf\xbf"])
@example([b"\xc1\xbf"])
@example([b"a" * 63, b"\xc3"])
@example([b"\x80"])
def test_what_is_utf8_is_what_python_decodes(parts: list[bytes]) -> None:
    data = b"|" + b"".join(parts).replace(b"\n", b"").replace(b"\r", b"")
    try:
        data.decode()
    except UnicodeDecodeError:
        with pytest.raises(NotUtf8):
            lines_of(data)
    else:
        assert lines_of(data).data == data + b"\n"


@given(st.lists(st.text(max_size=5)))
def test_a_block_of_texts_holds_them(some: list[str]) -> None:
    assert texts(TextBlock.of(some)) == some


@pytest.mark.parametrize(
    "form",
    [
        LineFormat(),
        LineFormat(errors="replace"),
        LineFormat("paragraph"),
        LineFormat(max_document_bytes=16),
    ],
    ids=["lines", "replace", "paragraphs", "limit"],
)
def test_blocks_are_the_documents(tmp_path: Path, form: LineFormat) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(
        "\ufeffone\r\n\u3000\n\ttwo  \r\n\n\n a long line, été \u2028 and more\rof it\nend".encode()
    )
    shard = Shard("und", str(path), stop=path.stat().st_size)
    found = [text for block in form.text_blocks(shard) for text in texts(block)]
    assert found == [document.text for document in form.documents(shard)]


def test_bytes_that_are_no_text_are_refused_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"fine\nn\xff\n")
    shard = Shard("und", str(path), stop=path.stat().st_size)
    with pytest.raises(CorpusError, match="line 2, byte offset 6"):
        list(LineFormat().text_blocks(shard))
    [block] = LineFormat(errors="replace").text_blocks(shard)
    assert texts(block) == ["fine", "n\ufffd"]
