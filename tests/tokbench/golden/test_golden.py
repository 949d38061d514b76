"""`tokbench golden`: packs hold what a tokenizer does, tell changed ones from it, and name where they part."""

from __future__ import annotations

import errno
import gzip
import json
import sys
from pathlib import Path

import pytest

from tests.command import invoke, told
from tests.tokbench.lint.broken import sound, write
from tokbench.cli import golden
from tokbench.errors import DiskFullError, SpecError, TokenizerError
from tokbench.golden import checking, pack
from tokbench.golden.changes import _alternatives, mutants
from tokbench.registry import Registry, build_registry


@pytest.fixture(scope="module")
def registry() -> Registry:
    return build_registry()


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, Path, str]:
    """A small vocabulary, the pack of it, and what was printed."""
    base = tmp_path_factory.mktemp("golden")
    folder = write(base / "v", sound())
    status, shown = told("golden", "make", f"bpe:{folder}", "-o", str(base / "pack"), "--mutations", "2")
    assert status == 0
    return folder, base / "pack", shown


def test_a_pack_is_small_says_what_it_is_and_is_good(made):
    _, place, shown = made
    found = pack.read(place)
    assert sum(file.stat().st_size for file in place.iterdir()) <= pack.MOST_BYTES
    assert found.manifest["stages"] == ["added tokens", "normalizer", "pre-tokenizer"]
    score = found.manifest["mutations"]
    assert score["tried"] >= 10
    assert score["score"] >= 0.95, score["missed"]
    assert "mutation score" in shown
    one = next(case for case in found.cases if case.text == "a\r\nb\r\n")
    assert b"".join(one.bytes) == one.text.encode()
    assert one.spans[0] == (0, 1)
    assert one.stages["pre-tokenizer"] == ["a", "\r\n", "b", "\r\n"]
    # every token that can be had occurs: all but the bytes that UTF-8 has not, and special tokens
    assert found.manifest["tokens_covered"] == 263 - 13


def test_the_tokenizer_itself_and_another_library_agree(made):
    folder, place, _ = made
    for spec in (f"bpe:{folder}", f"transformers:{folder}/tokenizer.json"):
        status, shown = told("golden", "check", str(place), spec)
        assert (status, "all of" in shown) == (0, True), shown


def test_one_text_is_told_of_as_one(capsys):
    golden._show([], 1, 8)
    golden._show([checking.Departure("every token", "a", "model", 0, [1], [2])], 1, 8)
    shown = capsys.readouterr().out
    assert shown.startswith("the one text gets the ids of the pack\n1 of 1 text gets other ids; ")


CHANGES = {
    "normalizer": lambda document: document.update(normalizer=None),
    "pre-tokenizer": lambda document: document["pre_tokenizer"]["pretokenizers"][0]["pattern"].update(
        Regex=r"\p{L}+|[^\p{L}]"
    ),
    "model": lambda document: document["model"]["merges"].pop(1),
    "added tokens": lambda document: document["added_tokens"].append(
        {**document["added_tokens"][0], "id": 266, "content": "word", "special": False}
    ),
}


@pytest.mark.parametrize("stage", CHANGES)
def test_the_first_stage_that_departs_is_named(made, tmp_path, stage):
    _, place, _ = made
    files = sound()
    CHANGES[stage](files["tokenizer.json"])
    folder = write(tmp_path / "v", files)
    status, found = told("golden", "check", str(place), f"bpe:{folder}", "--json")
    assert status == 1
    stages = {one["stage"] for one in json.loads(found)["departures"]}
    assert stages == {stage}


def program(tmp_path: Path, body: str) -> str:
    """The command that runs a program of ours."""
    file = tmp_path / "program.py"
    file.write_text(f"import json, sys\nfor line in sys.stdin:\n    text = json.loads(line)\n    {body}\n")
    return f"{sys.executable} {file}"


def test_a_program_is_checked_by_what_it_prints(tmp_path):
    place = tmp_path / "pack"
    assert told("golden", "make", "bytes", "-o", str(place))[0] == 0
    assert "no tokenizer.json" in json.loads((place / "manifest.json").read_text())["mutations"]
    right = program(tmp_path, "print(*text.encode())")
    assert told("golden", "check", str(place), "--command", right)[0] == 0
    found = told("golden", "check", str(place), "--command", right, "--json")[1]
    assert found.splitlines()[-1] == "}"  # laid out as all JSON for people and programs
    wrong = program(tmp_path, "print(json.dumps({'ids': list(text.lower().encode())}))")
    status, shown = told("golden", "check", str(place), "--command", wrong)
    assert status == 1
    assert "unknown (only ids are given)" in shown
    with pytest.raises(TokenizerError, match="expected ids, found 'no'"):
        told("golden", "check", str(place), "--command", program(tmp_path, "print('no')"))
    with pytest.raises(TokenizerError, match="ended with status 1"):
        told("golden", "check", str(place), "--command", program(tmp_path, "raise SystemExit(1)"))
    with pytest.raises(TokenizerError, match=r"\d+ lines? came back for \d+ texts; print one for each"):
        told("golden", "check", str(place), "--command", program(tmp_path, "pass"))
    with pytest.raises(SpecError, match=r"cannot be run \(No such file or directory\)"):
        told("golden", "check", str(place), "--command", "/no/such/program")
    for seconds in ("nan", "inf", "1e300"):
        done = invoke("golden", "check", place, "--command", right, "--timeout", seconds)
        assert (done.exit_code, "Invalid value for '--timeout'" in done.stderr) == (2, True)


def test_a_pack_that_cannot_be_measured_leaves_the_folder_as_it_was(made, tmp_path, monkeypatch):
    folder, place, _ = made
    before = {file.name: file.read_bytes() for file in place.iterdir()}

    def fails(*given, **named):
        raise TokenizerError("out of luck")

    monkeypatch.setattr("tokbench.golden.mutations.score", fails)
    for target in (place, tmp_path / "new"):
        with pytest.raises(TokenizerError, match="out of luck"):
            told("golden", "make", f"bpe:{folder}", "-o", str(target), "--force")
    assert {file.name: file.read_bytes() for file in place.iterdir()} == before
    assert not (tmp_path / "new").exists()


def test_a_full_disk_is_told_with_the_file_that_it_left_out(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tokbench.results.atomic.os.fsync", full)
    with pytest.raises(DiskFullError, match=r"cannot write .*cases\.jsonl: the disk is full"):
        pack.write(tmp_path / "new", {}, b"{}\n", b"")
    assert not [*(tmp_path / "new").iterdir()]


def test_what_is_no_pack_or_was_changed_is_refused(made, tmp_path, monkeypatch):
    with pytest.raises(SpecError, match="no golden pack"):
        pack.read(tmp_path)
    _, place, _ = made
    for file in place.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / pack.CASES).write_text("{}\n")
    with pytest.raises(SpecError, match="is not what the manifest says"):
        pack.read(tmp_path)
    with pytest.raises(SpecError, match="holds a pack"):
        told("golden", "make", "bytes", "-o", str(place))
    with pytest.raises(SpecError, match="is a file, and a pack is a folder"):
        told("golden", "make", "bytes", "-o", str(tmp_path / pack.CASES))
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)  # root may write anywhere
    with pytest.raises(SpecError, match="new cannot be written"):
        told("golden", "make", "bytes", "-o", str(tmp_path / "new"))
    with pytest.raises(SpecError, match="a SPEC, or a program"):
        told("golden", "check", str(place))


def packed(data: bytes) -> bytes:
    """Compressed without the time of day, which would name the tests otherwise in each process."""
    return gzip.compress(data, mtime=0)


@pytest.mark.parametrize(
    ("cases", "rows", "match"),
    [
        (b"\xff\xfe\n", packed(b""), r"cases.jsonl, line 1: is no entry"),
        (b"", packed(b"\xff"), r"vocabulary.jsonl.gz, line 1: is no entry"),
        (b"", packed(b'{"text": 5, "n": 1, "crc32": 2}'), "line 1: is no entry"),
        (b'{"rule": "a", "text": "b"}', packed(b""), "line 1: is no entry"),
        (b"[" * 100_000, packed(b""), "line 1: is no entry"),
        (b"", b"PK", "is no gzip file"),
        (b"", packed(b"{}\n" * 1000)[:-12], "is no gzip file, or damaged"),
    ],
)
def test_a_damaged_pack_is_refused_with_the_line(tmp_path, cases, rows, match):
    pack.write(tmp_path, {}, cases, rows)
    with pytest.raises(SpecError, match=match):
        pack.read(tmp_path)
    (tmp_path / pack.MANIFEST).write_text('{"format": "tokbench-golden", "version": 1, "files": []}')
    with pytest.raises(SpecError, match="not what the manifest says"):
        pack.read(tmp_path)


def test_changes_are_of_every_kind_and_leave_the_content_alone():
    content = sound()["tokenizer.json"]
    before = json.dumps(content)
    names = [name for name, _ in mutants(content, drawn=2)]
    assert json.dumps(content) == before
    for kind in ("normalizer 1 (NFC) left out", "pattern", "behavior", "merge", "exchanged", "ignore_merges"):
        assert any(kind in name for name in names), kind
    own_pattern = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    names = [name for name, _ in mutants({**content, "pre_tokenizer": own_pattern}, drawn=2)]
    assert len(set(names)) == len(names), "a pattern is named in full, so that what was changed can be seen"
    assert _alternatives(r"a(b|c)|[|]|\|d") == ["a(b|c)", "[|]", r"\|d"]


def test_where_only_tokens_are_known_the_stage_is_inferred():
    case = pack.Golden("r", "ab c", (1, 2), (b"ab", b" c"), None, {"pre-tokenizer": ["ab", " c"]})
    answers = [
        checking.Answer([3, 4], None, [b"a", b"b c"]),
        checking.Answer([5, 6, 2], None, [b"a", b"b", b" c"]),
        checking.Answer([7], None, [b"AB C"]),
    ]
    found = checking.check(pack.Pack({}, [case] * 3), lambda texts: iter(answers[: len(texts)]))
    stages = [departure.stage for departure in found]
    assert stages[:2] == ["pre-tokenizer", "model"]
    assert stages[2].startswith("normalizer")
