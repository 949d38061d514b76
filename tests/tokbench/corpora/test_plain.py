from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tokbench.corpora.reading import texts, write
from tokbench.corpora import blocks
from tokbench.corpora.dataset import files_of, grouped, whole_file
from tokbench.corpora.storage import StoredFile, chunks, stat
from tokbench.corpora.text import LineFormat, WholeFileFormat
from tokbench.corpus import Shard
from tokbench.errors import CorpusError, SpecError
from tokbench.tally.counters import CorpusFacts


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


def read_shard(form: LineFormat, shard: Shard) -> list[str]:
    return [document.text for document in form.documents(shard)]


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
    shards = [Shard("und", str(path), start=start, stop=stop) for start, stop in ranges]
    whole = read_shard(form, Shard("und", str(path), stop=file.size))
    assert [text for shard in shards for text in read_shard(form, shard)] == whole
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
    shard, form = Shard("und", str(path), stop=path.stat().st_size), LineFormat(unit)
    expected = read_shard(form, shard)
    monkeypatch.setitem(chunks.__kwdefaults__, "room", size)
    assert read_shard(form, shard) == expected


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
    known, unknown = (
        whole_file(StoredFile(name, size, ""), "und") for name, size in (("a.txt", 9), ("b.txt", -1))
    )
    shards = grouped([*known, *unknown, *known, *unknown, *unknown])
    assert [len(files_of(shard)) for shard in shards] == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("line", [b"a" * 99 + b"\n", b"b" * 2_000_000 + b"\n"], ids=["short", "long"])
def test_memory_does_not_grow_with_the_file(tmp_path, line):
    path = write(tmp_path / "x.txt", line * (24_000_000 // len(line)))
    tracemalloc.start()
    try:
        for _ in LineFormat().documents(Shard("und", str(path))):
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


@pytest.mark.parametrize(
    ("text", "limit", "parts"), [(" \n\t", None, 0), ("\u3000", None, 1), (" " * 40, 16, 3)]
)
def test_a_file_of_white_space_is_a_document_where_it_is_parted(tmp_path, text, limit, parts):
    path = write(tmp_path / "x.txt", text.encode())
    assert len(read_shard(WholeFileFormat(limit), Shard("und", str(path)))) == parts


@given(text=st.text(st.sampled_from("aé語😀 "), max_size=300), limit=st.integers(16, 40))
@example(text="aéé語 aé語語語😀 ", limit=24)
def test_a_limit_loses_nothing(tmp_path_factory, text, limit):
    path = tmp_path_factory.mktemp("limit") / "x.txt"
    path.write_text(text, "utf-8")
    parts = [d.text for d in WholeFileFormat(limit).documents(Shard("und", str(path)))]
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


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "text", ["plain English", "Съешь ещё этих булок", "ภาษาไทย ไม่มี ช่องว่าง", "हिन्दी में लिखा वाक्य"]
)
def test_utf16_and_utf32_without_a_mark_are_recognised_though_they_could_be_utf8(
    tmp_path, load, read, name, text
):
    path = write(tmp_path / "x.txt", f"{text}\n".encode(name) * 3)
    plain = name.replace("-le", "le").replace("-be", "be")
    zeros = rf"x\.txt: bytes are zero where {name[:6].upper()} has zeros\. .*say encoding={plain}, "
    with pytest.raises(CorpusError, match=zeros):
        load(f"text:{path}").shards("und")
    assert [each.text for each in read(load(f"text:{path},encoding={plain}"))] == [text] * 3
    assert "\0" in read(load(f"text:{path},errors=replace"))[0].text


@pytest.mark.parametrize("data", [b"a\0b\nand some letters\n", b"a\tb\tc\td\te\n" * 9, b"\0" * 64 + b"a\n"])
def test_zeros_and_tabs_of_text_are_not_taken_for_another_encoding(tmp_path, load, read, data):
    path = write(tmp_path / "x.txt", data)
    assert read(load(f"text:{path}"))[0].text == data.decode().splitlines()[0]


def test_an_encoding_is_guessed_by_marks_and_zeros_at_the_beginning_alone(tmp_path, load, read):
    path = write(tmp_path / "x.txt", b"fine and dandy\n" * 100_000 + b"bad \xff\xfe here\n")
    with pytest.raises(CorpusError, match="byte 0xff") as raised:
        read(load(f"text:{path}"))
    assert "utf-16" not in str(raised.value)


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_what_is_not_utf8_is_told_from_utf16_and_utf32_at_the_beginning(tmp_path, load, read, name):
    path = write(tmp_path / "x.txt", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία\n".encode(name) * 3)
    with pytest.raises(CorpusError, match=f"is not UTF-8 .*say encoding={name[:6]}{name[7:]}, "):
        read(load(f"text:{path}"))


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
