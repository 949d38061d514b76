"""Plugins: found, validated, blocked, loaded from a file; a broken one breaks nothing else."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import tokbench
from tokbench.errors import PluginError, SpecError, TokenizerError, UnknownNameError
from tokbench.manager import build_host
from tokbench.metrics.cost import PriceTable
from tokbench.registry import build_registry

TOKENIZER = """
import tokbench

class Mine:
    name = "mine"
    vocab_size = 256
    def encode(self, text):
        return list(text.encode())
    def decode(self, ids):
        return bytes(ids).decode("utf-8", "replace")

@tokbench.hookimpl
def tokbench_tokenizers():
    return [tokbench.TokenizerFamily(name="NAME", summary="bytes", load=lambda spec, context: Mine())]
"""

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a plugin distribution: a module and its metadata on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(name: str, source: str) -> None:
        (tmp_path / f"outside_{name}.py").write_text(source)
        info = tmp_path / f"outside_{name}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: outside-{name}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[tokbench]\n{name} = outside_{name}\n")
        monkeypatch.delitem(sys.modules, f"outside_{name}", raising=False)

    return install


def test_an_installed_plugin_is_found(install: Install) -> None:
    install("mine", TOKENIZER.replace("NAME", "mine"))
    registry = build_registry()
    status = registry.host.plugins["mine"]
    assert (status.distribution, status.version, status.status) == ("outside-mine", "1.2", "loaded")
    assert status.hooks == ("tokbench_tokenizers",)
    assert registry.load("mine").encode("hi") == [104, 105]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("1 / 0", "ZeroDivisionError"),
        (
            "import tokbench\n@tokbench.hookimpl\ndef tokbench_tokenisers(): ...",
            "plugin 'broken': unknown hook 'tokbench_tokenisers'; did you mean 'tokbench_tokenizers'?",
        ),
        (
            "import tokbench\n@tokbench.hookimpl\ndef tokbench_tokenizers(spec): ...",
            "should be tokbench_tokenizers() ->",
        ),
        (
            "import tokbench\n@tokbench.hookimpl\ndef tokbench_tokenizers(): raise OSError('gone')",
            "OSError: gone",
        ),
        ("import tokbench\n@tokbench.hookimpl\ndef tokbench_tokenizers(): return [1]", "returned int"),
    ],
)
def test_a_broken_plugin_is_a_row_and_the_rest_goes_on(install: Install, source: str, says: str) -> None:
    install("broken", source)
    registry = build_registry()
    assert registry.load("bytes").vocab_size == 256
    status = registry.host.plugins["broken"]
    assert status.status == "failed"
    assert says in status.error
    with pytest.raises(UnknownNameError, match="Plugins that failed to load: broken"):
        registry.tokenizer_spec("brokn")


def test_of_two_plugins_with_one_name_the_second_fails_and_names_both(install: Install) -> None:
    install("first", TOKENIZER.replace("NAME", "same"))
    install("second", TOKENIZER.replace("NAME", "same"))
    registry = build_registry()
    assert registry.load("same").name == "mine"
    [failed] = registry.host.failures()
    assert re.search(r"'(first|second)' offers the tokenizer family 'same' already", failed.error)
    assert failed.name not in failed.error
    assert build_registry(disable=["second"]).host.failures() == []


def test_plugins_can_be_left_out(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("mine", TOKENIZER.replace("NAME", "mine"))
    assert build_host(disable=["mine"]).plugins["mine"].status == "disabled"
    monkeypatch.setenv("TOKBENCH_DISABLE_PLUGINS", "tiktoken, mine")
    host = build_host()
    assert {name for name, plugin in host.plugins.items() if plugin.status == "disabled"} == {
        "mine",
        "tiktoken",
    }


def test_a_plugin_file_can_be_left_out_too_and_a_name_that_no_plugin_has_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("1 / 0")
    assert build_registry(disable=["mine"], plugin_files=[str(file)]).host.plugins["mine"].status == "disabled"
    with pytest.raises(UnknownNameError, match="unknown plugin 'subwrd'; did you mean 'subword'"):
        tokbench.load("bytes", disable=["subwrd"])


def test_a_plugin_file_is_loaded_for_one_call(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(TOKENIZER.replace("NAME", "mine"))
    assert build_registry(plugin_files=[str(file)]).load("mine").name == "mine"
    assert "mine" not in build_registry().tokenizers


def test_a_package_that_is_not_installed_is_loaded_by_its_init_and_has_its_name(tmp_path: Path) -> None:
    package = tmp_path / "tokbench_mine"
    package.mkdir()
    (package / "inside.py").write_text("NAME = 'mine'")
    source = TOKENIZER.replace('"NAME"', "NAME").replace(
        "import tokbench\n", "import tokbench\nfrom .inside import NAME\n"
    )
    (package / "__init__.py").write_text(source)
    registry = build_registry(plugin_files=[str(package / "__init__.py")])
    assert (registry.load("mine").name, registry.owner("mine")) == ("mine", "tokbench_mine")
    with pytest.raises(PluginError, match="a folder; name a file, or install the package"):
        build_registry(plugin_files=[str(package)])


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (None, "no such file"),
        ("1 / 0", "ZeroDivisionError"),
        ("x = 1", "no function in it carries @tokbench.hookimpl"),
    ],
)
def test_a_plugin_file_that_the_user_named_must_work(tmp_path: Path, source: str | None, says: str) -> None:
    file = tmp_path / "mine.py"
    if source is not None:
        file.write_text(source)
    with pytest.raises(PluginError, match=says):
        build_registry(plugin_files=[str(file)])


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
        ("vocab.json", b'{"a": 0}', "BPE needs merges.txt beside it"),
        ("merges.txt", b"#version: 0.2\na b\n", "BPE needs vocab.json beside it"),
        ("empty.json", b"", "is empty"),
        ("other.bin", b"\xff\xfe\0", "not UTF-8 at byte 0"),
    ):
        (path := tmp_path / name).write_bytes(content)
        with pytest.raises(SpecError, match=said):
            registry.tokenizer_spec(str(path))
        path.unlink()


def test_what_is_no_tokenizer_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(TOKENIZER.replace("NAME", "mine").replace("def decode", "def decod"))
    with pytest.raises(TokenizerError, match="it lacks decode"):
        build_registry(plugin_files=[str(file)]).load("mine")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("Mine()", "Mine", "what the plugin loaded is the class Mine; return an object of it"),
        (
            "encode(self, text)",
            "encode(self)",
            r"encode is called as encode\(text\), which it cannot be",
        ),
        ("decode(self, ids)", "decode(self, ids, more)", "decode is called as .*: missing .* 'more'"),
        ("Mine()", "spec.options['n']", r"mine: KeyError: 'n' \(.*mine.py, line 14\)"),
    ],
)
def test_what_a_load_gives_is_looked_at(tmp_path: Path, before: str, after: str, said: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(TOKENIZER.replace("NAME", "mine").replace(before, after))
    with pytest.raises(TokenizerError, match=said):
        build_registry(plugin_files=[str(file)]).load("mine")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ("vocab_size = 10**12", "vocab_size: 1000000000000 is no whole number from 0 to"),
        ("vocab_size = -5", "vocab_size: -5"),
        ("vocab_size = 256.0", "vocab_size: 256.0"),
        ("unk_id = 'zero'", "unk_id: 'zero' is no id"),
        ("special_ids = 'abc'", "special_ids: 'a' is no id"),
    ],
)
def test_facts_of_the_wrong_kind_are_named(tmp_path: Path, facts: str, said: str) -> None:
    file = tmp_path / "mine.py"
    size = "    vocab_size = 256\n"
    file.write_text(TOKENIZER.replace("NAME", "mine").replace(size, f"{size}    {facts}\n"))
    with pytest.raises(TokenizerError, match=said):
        build_registry(plugin_files=[str(file)]).load("mine")


def test_a_spec_that_must_be_trained_says_how() -> None:
    with pytest.raises(TokenizerError, match="must be trained first"):
        build_registry().load("bpe:vocab_size=8k")


def test_every_in_house_plugin_loads() -> None:
    registry = build_registry()
    assert {"bpe", "wordpiece", "unigram", "bytes", "tiktoken", "sentencepiece", "transformers"} <= set(
        registry.tokenizers
    )
    assert registry.host.failures() == []


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
    ],
)
def test_datasets_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.txt").write_text("text")
    with pytest.raises(SpecError, match=said):
        build_registry().dataset_spec(typed)


def test_a_price_table_that_prices_nothing_is_said() -> None:
    from tokbench.runner.plan import make_plan
    from tokbench.runner.prices import price_notes
    from tokbench.runner.suite import load_suite

    registry = build_registry()
    given = {"tokenizers": ["bytes", "chars"], "datasets": ["bundled:prose"]}
    plan = make_plan(load_suite(None, given), registry)
    assert price_notes(plan) == []
    for prices, said in (
        ({"gpt2": 1.0}, "prices no tokenizer of this run; it names gpt2"),
        ({"bytes": 1.0}, "prices not chars of this run; it names bytes"),
    ):
        [note] = price_notes(replace(plan, prices=PriceTable("EUR", prices)))
        assert said in note
    assert price_notes(replace(plan, prices=PriceTable("EUR", {"bytes": 1.0, "chars": 2.0}))) == []
