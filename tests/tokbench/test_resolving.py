"""What people type is taken for what they meant: a spec, a path, or the nearest name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokbench.errors import SpecError, UnknownNameError
from tokbench.registry import build_registry

RECOGNISING = """
import tokbench

class Mine:
    name = "mine"
    vocab_size = 256
    def __init__(self, path):
        self.path = path
    def encode(self, text):
        return list(text.encode())
    def decode(self, ids):
        return bytes(ids).decode("utf-8", "replace")

def load(spec, context):
    return Mine(spec.variant)

@tokbench.hookimpl
def tokbench_tokenizers():
    family = tokbench.TokenizerFamily
    yield family(name="first", summary="", load=load, recognises=lambda path, head: head == b"MINE")
    yield family(name="fits", summary="", load=load, endings=(".mine",),
                 recognises=lambda path, head: head.startswith(b"MINE"))
    yield family(name="believed", summary="", load=load, endings=(".theirs",))
    yield family(name="raises", summary="", load=load, recognises=lambda path, head: 1 / 0)
    yield family(name="halves", summary="", load=load, endings=(".half",), recognises=halves)

def halves(path, head):
    if path.is_dir():
        return any(each.suffix == ".half" for each in path.iterdir())
    if head == b"HALF":
        raise tokbench.TokenizerError(f"{path}: the other half is missing")
    return False
"""


def test_a_models_name_that_is_a_folders_too_is_told_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plug.py").write_text(
        RECOGNISING + "@tokbench.hookimpl\ndef tokbench_aliases(): return [('known', 'bytes')]\n"
    )
    monkeypatch.chdir(tmp_path)
    registry, notes = build_registry(plugin_files=["plug.py"]), list[str]()
    registry.tell = notes.append
    Path("known").mkdir()
    assert str(registry.tokenizer_spec("known")) == "bytes"
    assert notes == []  # no tokenizer lies in the folder
    Path("known", "one.half").touch()
    assert [str(registry.tokenizer_spec("known")) for _ in range(2)] == ["bytes", "bytes"]
    assert notes == ["known is taken as bytes; what lies here under that name is ./known"]
    assert str(registry.tokenizer_spec("./known")) == "halves:./known"


def test_a_bare_path_is_opened_by_a_family_that_recognises_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "plug.py"
    file.write_text(RECOGNISING)
    monkeypatch.chdir(tmp_path)
    registry = build_registry(plugin_files=[str(file)])
    for name, content in {"a.mine": b"MINE", "a.model": b"MINE", "b.mine": b"none", "c.theirs": b"any"}.items():
        (tmp_path / name).write_bytes(content)
    assert str(registry.tokenizer_spec("a.mine")) == "fits:a.mine"
    assert [family.name for family in registry.recognising("a.mine")] == ["fits", "first"]
    assert str(registry.tokenizer_spec("a.model")) == "first:a.model"
    assert str(registry.tokenizer_spec("c.theirs")) == "believed:c.theirs"
    with pytest.raises(SpecError, match=r"b\.mine: no tokenizer family recognises .* FAMILY:b\.mine"):
        registry.tokenizer_spec("b.mine")
    assert "recognises: ZeroDivisionError" in registry.host.plugins["plug"].error
    (tmp_path / "one.half").write_bytes(b"HALF")
    with pytest.raises(SpecError, match=r"one\.half: no tokenizer family opens it: the other half is missing"):
        registry.tokenizer_spec("one.half")
    for name in ("folder", "other", "first"):
        (tmp_path / name).mkdir()
    (tmp_path / "folder" / "one.half").touch()
    assert str(registry.tokenizer_spec("folder")) == "halves:folder"  # a word, if it is the name of a folder
    (tmp_path / "first" / "one.half").touch()
    assert str(registry.tokenizer_spec("first")) == "first"  # a family, not the folder of its name
    with pytest.raises(SpecError, match="unknown option"):
        registry.tokenizer_spec("first,size=3")
    with pytest.raises(SpecError, match="unknown tokenizer"):
        registry.tokenizer_spec("a" * 300)
    (tmp_path / "other" / "text.txt").touch()
    with pytest.raises(SpecError, match=r"recognises it \(the folder holds text\.txt\)"):
        registry.tokenizer_spec("./other")
    with pytest.raises(SpecError, match="unknown tokenizer family 'other'"):
        registry.tokenizer_spec("other")


def test_a_model_that_is_not_published_is_answered_with_what_can_be_done() -> None:
    registry = build_registry()
    with pytest.raises(UnknownNameError, match=r"'claude-3'.* not published, tokbench calibrate can estimate"):
        registry.tokenizer_spec("claude-3")
    for slip in ("tiktokn:gpt2", "btyes"):  # a family's name, and no model's
        with pytest.raises(UnknownNameError) as told:
            registry.tokenizer_spec(slip)
        assert "tokbench calibrate" not in str(told.value)


def test_published_files_are_opened_by_the_library_they_are_for(test_data: Path) -> None:
    vocabs = test_data / "vocabs"
    registry = build_registry()
    found = {
        "gpt2/hf": "transformers",
        "gpt2/hf/tokenizer.json": "transformers",
        "llama-2/tokenizer.model": "sentencepiece",
        "t5-base/spiece.model": "sentencepiece",
        "t5-base": "sentencepiece",
        "bert-base-uncased": "wordpiece",
        "gpt2": "bpe",
    }
    paths = {name: vocabs / name for name in found if (vocabs / name).exists()}
    assert paths
    assert {name: registry.tokenizer_spec(str(path)).family for name, path in paths.items()} == {
        name: found[name] for name in paths
    }
    ranks = next((vocabs / "tiktoken-cache").iterdir())
    assert registry.tokenizer_spec(str(ranks)).family == "tiktoken"


def test_a_bare_path_that_no_family_opens_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    registry = build_registry()
    for name, content, said in (
        ("vocab.json", b'{"a": 0}', "BPE also needs merges.txt"),
        ("merges.txt", b"#version: 0.2\na b\n", "BPE also needs vocab.json"),
        ("empty.json", b"", "is empty"),
        ("other.bin", b"\xff\xfe\0", "not UTF-8 at byte 0"),
    ):
        (path := tmp_path / name).write_bytes(content)
        with pytest.raises(SpecError, match=said):
            registry.tokenizer_spec(str(path))
        path.unlink()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("o200k_base", "unknown tokenizer 'o200k_base'; did you mean 'tiktoken:o200k_base'"),
        ("o200k_bas", "did you mean 'tiktoken:o200k_base'"),
        ("gpt4", "did you mean 'gpt-4'"),
        ("./x", r"\./x: there is no such file or folder\. A tokenizer is a path or FAMILY:PATH"),
        ("tokenizr.json", "tokenizr.json: there is no such file or folder; did you mean 'tokenizer.json'"),
        ("no/folder/x.json", r"\(nor a folder no/folder\)"),
        ("loop.json", r"loop.json: there is a link that leads nowhere \(to loop.json\)\. A tokenizer"),
    ],
)
def test_names_and_paths_as_people_type_them_are_answered_with_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "loop.json").symlink_to("loop.json")
    with pytest.raises(SpecError, match=said):
        build_registry().tokenizer_spec(typed)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("notes.txt", "notes.txt: there is no such file or folder; did you mean 'note.txt'"),
        ("./x", "A dataset is a path or FAMILY:PATH; `tokbench list datasets` shows the families"),
        ("bundeld", "did you mean 'bundled'"),
        ("https://host/x.txt", "Put the family before a URL, as in text:https://host/x.txt"),
    ],
)
def test_datasets_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.txt").write_text("text")
    with pytest.raises(SpecError, match=said):
        build_registry().dataset_spec(typed)
