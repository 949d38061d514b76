from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokbench.corpora import blocks
from tokbench.corpora.dataset import FilePiece, pieces_of, shards_of, whole_file
from tokbench.corpora.storage import StoredFile, chunks, stat
from tokbench.corpora.text import LineFormat, WholeFileFormat
from tokbench.errors import CorpusError, SpecError, UnknownNameError
from tokbench.tally import CorpusFacts


def texts(documents):
    return [document.text for document in documents]


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
        (b"a\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"a\n\n \t\nb\n\n", ["a", "b"]),
        (b" a \n\tb\n", [" a ", "\tb"]),
        ("a\u2028b\x0bc\x85d\n".encode(), ["a\u2028b\x0bc\x85d"]),
        (b"a\rb\n", ["a\rb"]),
    ],
)
def test_lines(tmp_path, load, read, data, expected):
    path = write(tmp_path / "x.txt", data)
    assert texts(read(load(f"text:{path}"))) == expected


def test_paragraphs_keep_their_line_ends(tmp_path, load, read):
    path = write(tmp_path / "x.txt", b"\n\none\ntwo\n\n \t\nthree\r\nfour\r\n\r\nfive")
    assert texts(read(load(f"text:{path},unit=paragraph"))) == ["one\ntwo", "three\nfour", "five"]


def test_a_whole_file_is_unchanged_but_for_its_byte_order_mark(tmp_path, load, read):
    path = write(tmp_path / "x.txt", b"\xef\xbb\xbf  a\r\n\n\tb \n")
    assert texts(read(load(f"text:{path},unit=file"))) == ["  a\r\n\n\tb \n"]


def read_piece(form: LineFormat, piece: FilePiece) -> list[str]:
    return [document.text for document in form.documents(piece, "und")]


LINES = st.lists(st.text(st.sampled_from("aé語😀 \t"), max_size=12), max_size=30)


@given(lines=LINES, end=st.sampled_from(["\n", "\r\n"]), last=st.booleans(), target=st.integers(1, 60))
@pytest.mark.parametrize("unit", ["line", "paragraph"])
def test_cutting_changes_no_document(tmp_path_factory, unit, lines, end, last, target):
    path = tmp_path_factory.mktemp("cut") / "x.txt"
    path.write_bytes((end.join(lines) + (end if last else "")).encode())
    form, file = LineFormat(unit), stat(str(path))
    separator = blocks.LINE_END if unit == "line" else blocks.BLANK_LINE
    ranges = blocks.cut(file, separator, target=target)
    assert [start for start, _ in ranges[1:]] == [stop for _, stop in ranges[:-1]]
    assert ranges[0][0] == 0
    assert ranges[-1][1] == file.size or ranges == [(0, -1)]
    pieces = [FilePiece(str(path), "", start, stop) for start, stop in ranges]
    whole = read_piece(form, FilePiece(str(path), "", 0, file.size))
    assert [text for piece in pieces for text in read_piece(form, piece)] == whole
    if unit == "line":
        assert whole == [line for line in lines if line.strip()]


@pytest.mark.parametrize("end", [blocks.LINE_END, blocks.BLANK_LINE])
def test_a_range_ends_where_a_line_does_however_long_that_is(tmp_path, end):
    """Longer than what is read at a time, with a line end just before that or across it."""
    lines = [b"a" * size + b"\n\n" for size in (chunks.__kwdefaults__["room"] - 1, 2_500_000, 5)]
    path = write(tmp_path / "x.txt", b"".join(lines) * 2)
    ends = {0, *(at.end() for at in end.finditer(path.read_bytes()))}
    for target in (1_000, 1_000_000, 2_000_000):
        ranges = blocks.cut(stat(str(path)), end, target=target)
        assert {start for start, _ in ranges} < ends
        assert len(ranges) > 2
        assert [start for start, _ in ranges[1:]] == [stop for _, stop in ranges[:-1]]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("unit", ["line", "paragraph"])
def test_the_size_of_reads_changes_no_document(tmp_path, monkeypatch, unit, size):
    path = write(tmp_path / "x.txt", "á b\n\n語語\n \n\r\n😀 c\nd\n\n\ne".encode())
    piece, form = FilePiece(str(path), "", 0, path.stat().st_size), LineFormat(unit)
    expected = read_piece(form, piece)
    monkeypatch.setitem(chunks.__kwdefaults__, "room", size)
    assert read_piece(form, piece) == expected


def test_large_files_are_cut_into_shards_of_about_8_mb(tmp_path, load):
    path = write(tmp_path / "x.txt", (b"0123456789 abcdefghi" * 10 + b"\n") * 120_000)
    dataset = load(f"text:{path}")
    shards = dataset.shards("und")
    assert [shard.n_bytes for shard in shards] == [shard.stop - shard.start for shard in shards]
    assert len(shards) == 3
    assert sum(shard.n_bytes for shard in shards) == path.stat().st_size
    assert sum(1 for shard in shards for _ in dataset.read(shard)) == 120_000
    assert len({dataset.digest(shard) for shard in shards}) == 3


def test_small_files_share_a_shard(tmp_path, load, read):
    for number in range(300):
        write(tmp_path / f"{number:03}.txt", f"text {number}\n".encode())
    dataset = load(f"text:{tmp_path}")
    assert len(dataset.shards("und")) == 1
    assert texts(read(dataset)) == [f"text {number}" for number in range(300)]


def test_files_of_a_size_that_no_server_tells_share_none():
    known, unknown = (whole_file(StoredFile(name, size, "")) for name, size in (("a.txt", 9), ("b.txt", -1)))
    shards = shards_of([*known, *unknown, *known, *unknown, *unknown], "und")
    assert [len(pieces_of(shard)) for shard in shards] == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("line", [b"a" * 99 + b"\n", b"b" * 2_000_000 + b"\n"], ids=["short", "long"])
def test_memory_does_not_grow_with_the_file(tmp_path, line):
    path = write(tmp_path / "x.txt", line * (24_000_000 // len(line)))
    tracemalloc.start()
    try:
        for _ in LineFormat().documents(FilePiece(str(path), "", 0, -1), "und"):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16_000_000


@pytest.mark.parametrize("unit", ["line", "file"])
def test_a_limit_bounds_documents_and_memory(tmp_path, load, unit):
    path = write(tmp_path / "x.txt", "wörter ohne Ende ".encode() * 500_000)
    dataset = load(f"text:{path},unit={unit},max_document_bytes=100k")
    tracemalloc.start()
    try:
        parts = [len(d.text.encode()) for shard in dataset.shards("und") for d in dataset.read(shard)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert max(parts) <= 100_000
    assert sum(parts) == path.stat().st_size
    assert peak < 8_000_000


@given(text=st.text(st.sampled_from("aé語😀 "), max_size=300), limit=st.integers(16, 40))
@example(text="aéé語 aé語語語😀 ", limit=24)
def test_a_limit_loses_nothing(tmp_path_factory, text, limit):
    path = tmp_path_factory.mktemp("limit") / "x.txt"
    path.write_text(text, "utf-8")
    parts = [d.text for d in WholeFileFormat(limit).documents(FilePiece(str(path), ""), "und")]
    assert "".join(parts) == text or not text.strip()
    assert all(len(part.encode()) <= limit for part in parts)


def test_a_limit_too_small_for_a_character_is_refused(tmp_path, load):
    with pytest.raises(SpecError, match=r"at least 16"):
        load(f"text:{write(tmp_path / 'x.txt', b'a')},max_document_bytes=3")


def test_undecodable_bytes_are_located(tmp_path, load, read):
    path = write(tmp_path / "x.txt", b"fine\n" * 300_000 + b"caf\xe9 au lait\nfine\n")
    with pytest.raises(
        CorpusError, match=r"x.txt, line 300001, byte offset 1500003: byte 0xe9 .*errors=replace"
    ):
        read(load(f"text:{path}"))
    assert texts(read(load(f"text:{path},errors=replace")))[-2] == "caf\ufffd au lait"


@pytest.mark.parametrize("options", ["unit=file", "unit=file,max_document_bytes=20", "unit=paragraph"])
@pytest.mark.parametrize("lines", [3, 300_000])
def test_undecodable_bytes_are_located_in_larger_documents(tmp_path, load, read, options, lines):
    path = write(tmp_path / "x.txt", b"fine\n" * lines + b"caf\xe9 au lait\nfine\n")
    with pytest.raises(CorpusError, match=rf"line {lines + 1}, byte offset {5 * lines + 3}: byte 0xe9 "):
        read(load(f"text:{path},{options}"))


def test_utf16_is_recognised(tmp_path, load, read):
    with pytest.raises(CorpusError, match=r"line 1, byte offset 0.*utf-16"):
        read(load(f"text:{write(tmp_path / 'x.txt', 'abc'.encode('utf-16'))}"))


def compressors():
    import pyarrow as pa

    return {
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "xz": lzma.compress,
        "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    }


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_compressed_files(tmp_path, load, read, kind):
    data = "erste Zeile\nzweite — Zeile\n".encode() * 5000
    plain = load(f"text:{write(tmp_path / 'deu_Latn.txt', data)}")
    packed = load(f"text:{write(tmp_path / f'deu_Latn.txt.{kind}', compressors()[kind](data))}")
    assert packed.languages == plain.languages == ["deu_Latn"]
    assert texts(read(packed)) == texts(read(plain))
    digests = [dataset.digest(dataset.shards("deu_Latn")[0]) for dataset in (plain, packed)]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_a_truncated_archive_is_an_error(tmp_path, load, read, kind):
    data = os.urandom(60_000).hex().encode()
    packed = compressors()[kind](data)
    path = write(tmp_path / f"x.txt.{kind}", packed[: len(packed) // 2])
    with pytest.raises(CorpusError, match=rf"x\.txt.{kind}"):
        read(load(f"text:{path}"))


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_what_is_not_an_archive_is_an_error(tmp_path, load, read, kind):
    with pytest.raises(CorpusError, match=rf"x\.txt\.{kind}: damaged, or no {kind} file .* take \.{kind} off"):
        read(load(f"text:{write(tmp_path / f'x.txt.{kind}', b'plain text')}"))


def test_empty_missing_and_textless(tmp_path, load):
    empty = write(tmp_path / "empty.txt", b"")
    with pytest.raises(CorpusError, match=r"empty\.txt: empty, so there is no text$"):
        load(f"text:{empty}").shards("und")
    with pytest.raises(CorpusError, match=r"missing.txt: no such file"):
        load(f"text:{tmp_path}/missing.txt")
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    with pytest.raises(CorpusError, match=r"loop.txt: a link that leads nowhere \(to loop.txt\)"):
        load(f"text:{tmp_path}/loop.txt")
    with pytest.raises(CorpusError, match=r"matches no file"):
        load(f"text:{tmp_path}/*.nothing")
    (tmp_path / "bare").mkdir()
    write(tmp_path / "bare" / "picture.png", b"\x89PNG")
    with pytest.raises(CorpusError, match=r"holds no \.txt"):
        load(f"text:{tmp_path}/bare")
    with pytest.raises(SpecError, match=r"needs a path"):
        load("text")
    with pytest.raises(UnknownNameError, match=r"did you mean 'paragraph'"):
        load(f"text:{empty},unit=paragraf")


def test_a_file_that_changes_or_vanishes_is_noticed(tmp_path, load):
    path = write(tmp_path / "x.txt", b"one\ntwo\n")
    dataset = load(f"text:{path}")
    (shard,) = dataset.shards("und")
    documents = dataset.read(shard)
    next(documents)
    write(path, b"one\ntwo\nthree\n")
    with pytest.raises(CorpusError, match=r"changed during the run"):
        list(documents)
    with pytest.raises(CorpusError, match=r"changed during the run"):
        next(dataset.read(shard))
    with pytest.raises(CorpusError, match=r"changed during the run"):
        dataset.digest(shard)
    path.unlink()
    with pytest.raises(CorpusError, match=r"no such file.*was there when the run was planned"):
        next(dataset.read(shard))


def test_a_digest_names_content_and_cut_not_place(tmp_path, load):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    def digest(path, options=""):
        dataset = load(f"text:{path}{options}")
        return dataset.digest(dataset.shards(dataset.languages[0])[0])

    first = write(tmp_path / "a" / "x.txt", b"one\ntwo\n")
    second = write(tmp_path / "b" / "y.txt", b"one\ntwo\n")
    assert digest(first) == digest(second)
    distinct = [
        digest(first),
        digest(first, ",unit=paragraph"),
        digest(first, ",errors=replace"),
        digest(first, ",language=eng_Latn"),
        digest(first, ",max_document_bytes=100"),
        digest(write(tmp_path / "b" / "z.txt", b"one\ntwo!\n")),
        digest(tmp_path),
    ]
    assert len(set(distinct)) == len(distinct)


def test_folders_and_globs_are_read_in_order_hidden_files_left_out(tmp_path, load, read):
    for name in ("b/2.txt", "a/9.md", "c.txt", ".git/x.txt", "a/n.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, name.encode())
    assert texts(read(load(f"text:{tmp_path}"))) == ["a/9.md", "b/2.txt", "c.txt"]
    assert texts(read(load(f"text:{tmp_path}/*/*.txt"))) == ["b/2.txt"]
    assert texts(read(load(f"text:{tmp_path}/**/*.bin"))) == ["a/n.bin"]


def test_languages_by_name_by_folder_and_by_option(tmp_path, load):
    for name in ("wiki.deu_Latn.txt", "pt-BR/news.txt", "other.txt", "fra_Latn/x.txt", "src/y.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, b"x")
    assert load(f"text:{tmp_path}").languages == ["deu_Latn", "fra_Latn", "pt-BR", "und"]
    assert load(f"text:{tmp_path},language=eng_Latn").languages == ["eng_Latn"]


def test_code_goes_by_programming_language(tmp_path, load, read):
    write(tmp_path / "a.py", b"x = 1\n\n\ny = 2\n")
    write(tmp_path / "b.rs", b"fn main() {}\n")
    write(tmp_path / "notes.xyz", b"no")
    dataset = load(f"text:{tmp_path},kind=code")
    assert dataset.languages == ["python", "rust"]
    assert dataset.kind == "code"
    assert dataset.code_language("rust") == "rust"
    assert texts(read(dataset, "python")) == ["x = 1\n\n\ny = 2\n"]


def test_remote_files_through_fsspec(load, read):
    import fsspec

    system = fsspec.filesystem("memory")
    for name, text in {"corp/eng_Latn.txt": "one\ntwo\n", "corp/deu_Latn.txt": "eins\n"}.items():
        system.pipe(f"/{name}", text.encode())
    try:
        assert texts(read(load("text:memory://corp"))) == ["eins", "one", "two"]
        assert texts(read(load("text:memory://corp/eng*.txt"))) == ["one", "two"]
        dataset = load("text:memory://corp/eng_Latn.txt")
        (shard,) = dataset.shards("eng_Latn")
        system.pipe("/corp/eng_Latn.txt", b"other")
        with pytest.raises(CorpusError, match=r"changed"):
            list(dataset.read(shard))
        with pytest.raises(CorpusError, match=r"no such file"):
            load("text:memory://corp/missing.txt")
    finally:
        system.rm("/corp", recursive=True)


def test_an_unknown_protocol_is_an_error(load):
    with pytest.raises(CorpusError, match=r"nosuch"):
        load("text:nosuch://x/y.txt")


def test_lines_and_paragraphs_follow_one_another_and_files_do_not(tmp_path, load):
    path = tmp_path / "eng_Latn.txt"
    path.write_text("one\ntwo\n")
    for spec, consecutive in {
        f"text:{path}": True,
        f"text:{path},unit=paragraph": True,
        f"text:{path},unit=file": False,
        f"text:{path},cluster=document": False,
    }.items():
        assert CorpusFacts.of(load(spec), "eng_Latn").consecutive is consecutive
