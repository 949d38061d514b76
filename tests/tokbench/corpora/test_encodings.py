"""Text in other encodings than UTF-8: read exactly, in chunks of any size; what is wrong is told, and where."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.corpora import encodings
from tokbench.corpora.encodings import encoding_of
from tokbench.corpora.storage import stat
from tokbench.corpora.text import LineFormat, WholeFileFormat
from tokbench.corpus import Dataset
from tokbench.errors import CorpusError, SpecError
from tokbench.spec import Spec

Load = Callable[[str], Dataset]
WRITTEN_IN = {
    "cp1252": "Crème brûlée, à 3 €\nœuvre\r\n\nfin",
    "latin-1": "Crème brûlée\nfin",
    "koi8-r": "Привет, мир\nвторая строка\n",
    "cp932": "日本語のテキスト\n①②\n",
    "iso2022_jp": "日本語 abc 日本\nおわり\n",
    "gb18030": "中文 😀 字\n二\n",
    "big5": "中文\n二\n",
    "utf-16": "añ😀b\n二\n",
    "utf-16-be": "añ😀b\n二\n",
    "utf-32": "añ😀b\n二\n",
    "cp500": "EBCDIC, too\nend\n",
    "utf-8-sig": "añ😀b\n二\n",
}


def lines(text: str) -> list[str]:
    return [line for line in text.replace("\r\n", "\n").split("\n") if line]


@pytest.mark.parametrize("name", WRITTEN_IN)
def test_lines_of_a_file_in_another_encoding(name: str, tmp_path: Path, load: Load, read: Callable) -> None:
    text = WRITTEN_IN[name]
    (tmp_path / "x.txt").write_bytes(text.encode(name))
    dataset = load(f"text:{tmp_path / 'x.txt'},encoding={name}")
    assert [document.text for document in read(dataset)] == lines(text)
    [shard] = dataset.shards("und")
    assert [
        one for block in dataset.read_blocks(shard) for one in block.data.decode().split("\n")[:-1]
    ] == lines(text)
    whole = load(f"text:{tmp_path / 'x.txt'},encoding={name},unit=file")
    assert [document.text for document in read(whole)] == [text]


def _tar(name: str) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = 6
        archive.addfile(member, io.BytesIO(b"hello\n"))
    return held.getvalue()


def _zip() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("a.txt", "hello")
    return held.getvalue()


PACKED = gzip.compress(b"hello\n" * 100, mtime=0)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.txt", PACKED, "gzip data: end its name in .gz"),
        ("a.txt.gz", gzip.compress(PACKED, mtime=0), "gzip data"),
        ("a.txt", lzma.compress(b"hello"), "xz data"),
        ("a.txt", bz2.compress(b"hello"), "bzip2 data"),
        ("a.tar", _tar("a.txt"), "a tar archive: unpack it"),
        ("a.tar.gz", gzip.compress(_tar("a.txt"), mtime=0), "a tar archive"),
        ("a.zip", _zip(), "a ZIP archive"),
        ("a.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "a PDF document: extract its text"),
        ("a.txt", b"PAR1\x15\x04\x15", "a Parquet file: name it as parquet:"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "an image: name the files of text"),
        ("a.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0", "an image"),
        ("a.gif", b"GIF89a\x01\0\x01\0", "an image"),
        ("a.so", b"\x7fELF\x02\x01\x01\0\0\x03\0>\0", "a compiled program: name the files of text"),
        ("a.exe", b"MZ\x90\0\x03\0\0\0", "a compiled program"),
    ],
    ids=[
        "gzip",
        "twice",
        "xz",
        "bzip2",
        "tar",
        "tar.gz",
        "zip",
        "pdf",
        "parquet",
        "png",
        "jpeg",
        "gif",
        "elf",
        "exe",
    ],
)
@pytest.mark.parametrize("options", ["", ",errors=replace", ",encoding=cp1252", ",unit=file"])
def test_other_kinds_of_files_are_no_text(
    name: str, content: bytes, kind: str, options: str, tmp_path: Path, load: Load
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=rf"{name}: not text but {kind}"):
        load(f"text:{tmp_path / name}{options}").shards("und")


def test_text_may_begin_with_the_letters_of_a_signature(tmp_path: Path, load: Load, read: Callable) -> None:
    for text in ("PAR1, %PDF-1.7 and PK are words: é", "GIF89a is one too", "MZ is no more"):
        (tmp_path / "a.txt").write_text(text, "utf-8")
        assert [document.text for document in read(load(f"text:{tmp_path / 'a.txt'}"))] == [text]


@given(
    data=st.data(),
    name=st.sampled_from(
        ["cp1252", "koi8-r", "cp932", "iso2022_jp", "gb18030", "utf-16", "utf-16-be", "utf-32"]
    ),
    size=st.integers(1, 9),
)
def test_what_was_written_is_read_back_whatever_the_chunks(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, name: str, size: int
) -> None:
    letters = {"cp1252": "aé€\n ", "koi8-r": "aяж\n ", "cp932": "a日ｱ①\n ", "iso2022_jp": "a日本\n "}
    text = data.draw(st.text(st.sampled_from(letters.get(name, "aé語😀\ufeff\n\r ")), max_size=40))
    path = tmp_path_factory.mktemp("text") / "x.txt"
    path.write_bytes(text.encode(name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encodings, "READ", size)
        with encodings.open_text(str(path), encodings.Encoded(encoding=name)) as stream:
            found = stream.read()
    mark = "\ufeff" if name in ("utf-16", "utf-32") else ""  # which is left to whoever reads UTF-8
    assert found.decode("utf-8") == mark + text


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 18])
def test_a_wrong_byte_is_told_with_its_line_and_offset(
    size: int, tmp_path: Path, load: Load, read: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encodings, "READ", size)
    good = "日本語の\nテキスト\n".encode("cp932") * 20
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(good + b"ab\x81\x01" + good))
    (tmp_path / "y.txt.xz").write_bytes(lzma.compress("añ\n".encode("utf-16") + b"x"))
    spec = f"text:{tmp_path / 'x.txt.gz'},encoding=cp932"
    with pytest.raises(
        CorpusError, match=rf"x\.txt\.gz, line 41, byte offset {len(good) + 2}: byte 0x81 is not cp932"
    ):
        load(spec).shards("und")  # before any work
    assert "ab\ufffd\x01日本語の" in [document.text for document in read(load(f"{spec},errors=replace"))]
    with pytest.raises(CorpusError, match=r"y\.txt\.xz, line 2, byte offset 8: byte 0x78 is not utf-16-le"):
        read(load(f"text:{tmp_path / 'y.txt.xz'},encoding=utf-16"))


def test_a_wrong_byte_far_in_is_told_while_it_is_read(tmp_path: Path, load: Load, read: Callable) -> None:
    (tmp_path / "x.txt").write_bytes("fine é\n".encode("cp1252") * 20_000 + b"not \x81\n")
    dataset = load(f"text:{tmp_path / 'x.txt'},encoding=cp1252")
    with pytest.raises(CorpusError, match=r"x\.txt, line 20001, byte offset 140004: byte 0x81 is not cp1252"):
        read(dataset)


def test_every_family_that_reads_text(tmp_path: Path, load: Load, read: Callable) -> None:
    def written(name: str, text: str, encoding: str = "utf-16") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode(encoding))
        return path

    rows = written("x.jsonl", '{"text": "één"}\n{"text": "日"}\n')
    table = written("x.csv", 'id,text\r\n1,"een, één\nregel"\r\n2,twee\r\n', "cp1252")
    tree = written("x.conllu", "# text = één\n1\téén\t_\tNUM\t_\t_\t0\troot\t_\t_\n\n", "latin-1")
    written("both/eng_Latn.txt", "one\n\nthree")
    written("both/fra_Latn.txt", "un\ndéux\ntrois\n")
    found = [document.text for document in read(load(f"jsonl:{rows},encoding=utf-16"))]
    assert found == ["één", "日"]
    assert [document.text for document in read(load(f"csv:{table},encoding=cp1252"))] == [
        "een, één\nregel",
        "twee",
    ]
    [sentence] = read(load(f"conllu:{tree},encoding=latin-1"))
    assert (sentence.text, sentence.words) == ("één", ((0, 3),))
    both = read(load(f"parallel:{tmp_path / 'both'},encoding=utf-16"))
    assert [(document.text, document.line) for document in both] == [
        ("one", 0), ("", 1), ("three", 2), ("un", 0), ("déux", 1), ("trois", 2),
    ]  # fmt: skip
    broken = written("y.jsonl", '{"text": "één"}\n\n{"txt": "日"}\n')
    with pytest.raises(CorpusError, match=r"y\.jsonl, line 3: no field 'text'"):
        read(load(f"jsonl:{broken},encoding=utf-16"))


def test_marks_that_are_missing_or_of_something_else(tmp_path: Path, load: Load) -> None:
    def refused(data: bytes, encoding: str) -> str:
        (tmp_path / "x.txt").write_bytes(data)
        with pytest.raises(CorpusError) as caught:
            load(f"text:{tmp_path / 'x.txt'},encoding={encoding}").shards("und")
        return str(caught.value)

    plain = "plain text of some length\n"
    assert "no byte order mark at its beginning; say encoding=utf-16-be" in refused(
        plain.encode("utf-16-be"), "utf-16"
    )
    assert "say encoding=utf-16-le or utf-16-be" in refused("日本".encode("utf-16-le"), "utf-16")
    assert "is not that of utf-16-be" in refused(b"\xff\xfea\x00", "utf-16be")
    assert "begins with the mark of UTF-8, not cp1252" in refused("é".encode("utf-8-sig"), "cp1252")
    assert "say encoding=cp1252, or convert it (iconv -f cp1252" in refused(
        "crème brûlée\n".encode("cp1252"), "utf8"
    )


@pytest.mark.parametrize(
    ("name", "near"),
    [("rot13", ""), ("base64", ""), ("hex", ""), ("idna", ""), ("unicode_escape", ""), ("utf-7", ""),
     ("cp12522", "cp1252"), ("windwos-1252", "windows-1252"), ("shift-jsi", "shift-jis"), ("é\x00", "")],
)  # fmt: skip
def test_what_is_no_encoding_is_refused(name: str, near: str) -> None:
    with pytest.raises(SpecError, match=r"is no encoding of text files.*as cp1252, latin-1") as caught:
        encoding_of(Spec("text", "x", {"encoding": name}))
    assert near in str(caught.value).partition("It takes")[0].partition("text files")[2]


def test_utf8_is_read_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"line\n" * 3_000_000)
    path = str(tmp_path / "x.txt")
    for name in ("utf8", "UTF-8", "utf-8-sig", "U8"):
        assert encoding_of(Spec("text", path, {"encoding": name})) == "utf-8"
    assert LineFormat().identity() == {"format": "line", "errors": "strict", "max_document_bytes": None}
    assert "encoding" in WholeFileFormat(encoding="cp1252").identity()
    assert len(LineFormat().shards(stat(path), "und")) > 1  # and cut, where another encoding is not
    assert len(LineFormat(encoding="latin-1").shards(stat(path), "und")) == 1
    with encodings.open_text(path, encodings.Encoded(), start=5) as stream:
        assert stream.tell() == 5  # the file itself
