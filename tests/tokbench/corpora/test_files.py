"""Files as they are found and opened: in folders, packed, far away, changed meanwhile; and whose language."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os

import pytest

from tests.tokbench.corpora.reading import texts, write
from tokbench.errors import CorpusError, SpecError, UnknownNameError


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
