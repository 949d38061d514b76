from __future__ import annotations

import pytest

from tests.command import invoke
from tokbench.corpora import blocks
from tokbench.errors import CorpusError, SpecError


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def test_a_file_in_place_of_a_folder_is_refused(tmp_path, load):
    folder = write(tmp_path, {"eng_Latn.txt": "one\n"})
    with pytest.raises(SpecError, match=r"is a file, but parallel takes a folder .*use text:"):
        load(f"parallel:{folder}/eng_Latn.txt")


def test_lines_are_numbered_and_blank_ones_kept(tmp_path, load, read):
    write(
        tmp_path,
        {"eng_Latn.txt": "one\n\nthree", "deu_Latn.txt": "eins\r\nzwei\r\ndrei\r\n", "SOURCE.txt": "x"},
    )
    dataset = load(f"parallel:{tmp_path}")
    assert dataset.parallel
    assert dataset.languages == ["deu_Latn", "eng_Latn"]
    assert [(d.line, d.text) for d in read(dataset, "deu_Latn")] == [(0, "eins"), (1, "zwei"), (2, "drei")]
    assert [(d.line, d.text) for d in read(dataset, "eng_Latn")] == [(0, "one"), (1, ""), (2, "three")]


def test_files_like_those_of_languages_that_are_left_alone_are_told_of(tmp_path, load):
    """One whose name was misspelt was missing from every figure, and nothing said so."""
    folder = write(tmp_path, {"eng_Latn.txt": "one\n", "deu_Latin.txt": "eins\n", "notes.md": "x"})
    said = "deu_Latin.txt is ignored, because the name does not contain a language such as eng_Latn"
    assert load(f"parallel:{folder}").note == f"parallel:{folder}: {said}"
    assert not load(f"parallel:{folder},languages=eng_Latn").note, "nothing else was asked for"
    write(tmp_path, {"french.txt.gz": ""})
    assert "deu_Latin.txt and french.txt are ignored" in load(f"parallel:{folder}").note
    for name in ("deu_Latin.txt", "french.txt.gz"):
        (folder / name).unlink()
    assert not load(f"parallel:{folder}").note
    (folder / "eng_Latn.txt").rename(folder / "eng_Latn.TXT")
    assert not load(f"parallel:{folder}").note


@pytest.mark.parametrize(
    ("eng", "deu", "lines", "told"),
    [
        (
            "one\n\nthree\n",
            "eins\nzwei\n \n",
            "all",
            "Blank in some languages only: 2 lines, such as line 2 in eng_Latn.",
        ),
        (
            "one\n\nthree\n",
            "eins\nzwei\n \n",
            "odd",
            "Blank in some languages only: 1 line, such as line 2 in eng_Latn.",
        ),
        (
            "one\ntwo\n \n",
            "eins\n\ndrei\n",
            "even",
            "Blank in some languages only: 1 line, such as line 3 in eng_Latn.",
        ),
        ("one\n\nthree\n", "eins\r\n\r\ndrei\r\n", "all", ""),
        ("one\ntwo", "eins\nzwei", "all", ""),
    ],
)
def test_lines_that_some_languages_lack_are_told_of_before_a_run_and_in_its_report(
    tmp_path, eng, deu, lines, told
):
    write(tmp_path / "both", {"eng_Latn.txt": eng, "deu_Latn.txt": deu})
    text = f"parallel:{tmp_path}/both,lines={lines}"
    done = invoke("run", "-t", "bytes", "-d", text, "--no-speed", "-o", tmp_path / "r")
    assert done.exit_code == 0, done.output
    report = (tmp_path / "r" / "report.md").read_text("utf-8")
    for said in (done.stderr, report.replace("\\_", "_")):
        assert ("costs no tokens" in said) == bool(told)
        assert told in said


def test_numbers_go_on_across_shards(tmp_path, load, read, monkeypatch):
    lines = [f"line {number} " + "é" * (number % 40) for number in range(1000)]
    write(tmp_path, {"eng_Latn.txt": "\n".join(lines)})
    monkeypatch.setattr(blocks.cut, "__kwdefaults__", {"target": 3000})
    dataset = load(f"parallel:{tmp_path}")
    assert len(dataset.shards("eng_Latn")) > 5
    assert [(d.line, d.text) for d in read(dataset)] == list(enumerate(lines))


def test_unequal_numbers_of_lines_are_an_error(tmp_path, load):
    write(tmp_path, {"deu_Latn.txt": "eins\nzwei\n", "eng_Latn.txt": "one\ntwo\nthree\n"})
    dataset = load(f"parallel:{tmp_path}")
    with pytest.raises(CorpusError, match=r"eng_Latn\.txt has 3 lines, .*deu_Latn\.txt has 2"):
        dataset.shards("eng_Latn")


@pytest.mark.parametrize("separator", ["+", ";"])
def test_languages_are_chosen_in_order(tmp_path, load, separator):
    write(tmp_path, {f"{tag}.txt": "x\n" for tag in ("eng_Latn", "deu_Latn", "tha_Thai")})
    assert load(f"parallel:{tmp_path},languages=tha_Thai{separator}eng_Latn").languages == [
        "tha_Thai",
        "eng_Latn",
    ]
    for name in ("deu_Latm", "DEU_LATN"):
        with pytest.raises(SpecError, match=f"no language '{name}'; did you mean deu_Latn"):
            load(f"parallel:{tmp_path},languages={name}")


def test_two_files_of_one_language_are_refused(tmp_path, load):
    write(tmp_path, {"eng_Latn.txt": "x\n", "more/eng_Latn.txt": "y\n"})
    with pytest.raises(SpecError, match=r"two files for the language eng_Latn"):
        load(f"parallel:{tmp_path}")


def test_flores_layouts(tmp_path, load, read):
    write(
        tmp_path,
        {"dev/eng_Latn.dev": "a\n", "devtest/eng_Latn.devtest": "b\n", "devtest/deu_Latn.devtest": "c\n"},
    )
    assert [d.text for d in read(load(f"flores:{tmp_path}"))] == ["a"]
    assert load(f"flores:{tmp_path}").facts()["split"] == "dev"
    assert load(f"flores:{tmp_path},split=devtest").languages == ["deu_Latn", "eng_Latn"]
    assert [d.text for d in read(load(f"flores:{tmp_path}/devtest"))] == ["c", "b"]
    with pytest.raises(CorpusError, match=r"not a FLORES-200 folder.*parallel:FOLDER"):
        load(f"flores:{write(tmp_path / 'other', {'eng_Latn.txt': 'x'})}")


def test_flores_as_published(test_data, load, read):
    dataset = load(f"flores:{test_data / 'corpora' / 'flores200'}")
    assert len(dataset.languages) == 8
    for language in dataset.languages:
        documents = read(dataset, language)
        assert [document.line for document in documents] == list(range(997))
        assert all(document.text.strip() for document in documents)


def test_pud(test_data, load, read):
    dataset = load(f"parallel:{test_data / 'corpora' / 'pud'}")
    assert len(dataset.languages) == 21
    assert all(len(read(dataset, language)) == 1000 for language in dataset.languages)


def test_even_and_odd_lines_are_the_whole_in_two_halves(load, read):
    even, odd, whole = (load(f"bundled:parallel{half}") for half in (",lines=even", ",lines=odd", ""))
    for language in ("eng_Latn", "tha_Thai"):
        parts = [{d.line: d.text for d in read(dataset, language)} for dataset in (even, odd, whole)]
        assert {line % 2 for line in parts[0]} == {0}
        assert not parts[0].keys() & parts[1].keys()
        assert parts[0] | parts[1] == parts[2]
    digests = {dataset.digest(dataset.shards("eng_Latn")[0]) for dataset in (even, odd, whole)}
    assert len(digests) == 3


def test_halves_are_for_parallel_text(load):
    with pytest.raises(SpecError, match="are for parallel text"):
        load("bundled:code,lines=even")
