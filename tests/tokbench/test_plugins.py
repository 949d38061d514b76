"""Plugins: found, validated, blocked, loaded from a file; a broken one breaks nothing else."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tokbench
from tokbench import manager
from tokbench.errors import PluginError, TokenizerError, UnknownNameError
from tokbench.manager import build_host
from tokbench.registry import Registry, build_registry

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


@pytest.fixture
def plugged(tmp_path: Path) -> Callable[[str], Registry]:
    """Gives the registry with a plugin file ``mine.py`` of some source."""

    def plugged(source: str) -> Registry:
        file = tmp_path / "mine.py"
        file.write_text(source.replace("NAME", "mine"))
        return build_registry(plugin_files=[str(file)])

    return plugged


REFUSES = """
import tokbench

class NoSuchWord(tokbench.TokenizerError):
    def __init__(self, word, line):
        super().__init__(f"line {line}: no word {word}")

def load(spec, context):
    raise NoSuchWord("and", line=7)

@tokbench.hookimpl
def tokbench_tokenizers():
    return [tokbench.TokenizerFamily(name="mine", summary="bytes", load=load, variant="FILE")]
"""


def test_an_error_of_a_plugins_own_is_told_with_the_file(install: Install) -> None:
    install("mine", REFUSES)
    with pytest.raises(TokenizerError, match=r"^mine:words\.txt: line 7: no word and$") as caught:
        build_registry().load("mine:words.txt")
    assert type(caught.value).__name__ == "NoSuchWord"


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
    with pytest.raises(UnknownNameError, match=r"^the plugin 'broken' failed: ") as told:
        registry.tokenizer_spec("brokn")
    assert says.removeprefix("plugin 'broken': ") in str(told.value)
    assert "perhaps for that reason: unknown tokenizer family 'brokn'. There are: bpe, " in str(told.value)


def test_a_hook_that_gives_no_answer_is_told_before_the_name_that_is_unknown(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("slow", "import time, tokbench\n@tokbench.hookimpl\ndef tokbench_tokenizers(): time.sleep(60)")
    monkeypatch.setattr(manager, "PATIENCE", 0.2)
    said = "the plugin 'slow' failed: tokbench_tokenizers: TimeoutError: no answer within 0.2 s "
    with pytest.raises(UnknownNameError, match=f"^{said}"):
        build_registry().tokenizer_spec("slow")
    with pytest.raises(UnknownNameError, match=f"; did you mean '?gpt-4o.*{said}"):
        build_registry().tokenizer_spec("gpt-4oo")


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
    assert {each.name for each in host.plugins.values() if each.status == "disabled"} == {"mine", "tiktoken"}


def test_a_plugin_file_can_be_left_out_too_and_a_name_that_no_plugin_has_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("1 / 0")
    assert build_registry(disable=["mine"], plugin_files=[str(file)]).host.plugins["mine"].status == "disabled"
    with pytest.raises(UnknownNameError, match="unknown plugin 'subwrd'; did you mean 'subword'"):
        tokbench.load("bytes", disable=["subwrd"])


def test_a_plugin_file_is_loaded_for_one_call(plugged) -> None:
    assert plugged(TOKENIZER).load("mine").name == "mine"
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
    [("1 / 0", "ZeroDivisionError"), ("x = 1", "no function in it carries @tokbench.hookimpl")],
)
def test_a_plugin_file_that_the_user_named_must_work(plugged, source: str, says: str) -> None:
    with pytest.raises(PluginError, match=says):
        plugged(source)


def test_a_plugin_file_that_the_user_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="no such file"):
        build_registry(plugin_files=[str(tmp_path / "mine.py")])


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("def decode", "def decod", "it lacks decode"),
        ("Mine()", "Mine", "what the plugin loaded is the class Mine; return an object of it"),
        ("encode(self, text)", "encode(self)", r"encode is called as encode\(text\), which it cannot be"),
        ("decode(self, ids)", "decode(self, ids, more)", "decode is called as .*: missing .* 'more'"),
        ("Mine()", "spec.options['n']", r"mine: KeyError: 'n' \(.*mine.py, line 14\)"),
    ],
)
def test_what_a_load_gives_is_looked_at(plugged, before: str, after: str, said: str) -> None:
    with pytest.raises(TokenizerError, match=said):
        plugged(TOKENIZER.replace(before, after)).load("mine")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ("vocab_size = 10**12", "vocab_size: 1000000000000 is no whole number from 0 to"),
        ("vocab_size = -5", "vocab_size: -5"),
        ("vocab_size = 256.0", "vocab_size: 256.0"),
        ("unk_id = 'zero'", "unk_id: 'zero' is no id"),
        ("unk_id = 256", "unk_id: 256 is outside the vocabulary of 256 ids"),
        ("unk_id = -1", "unk_id: -1 is outside the vocabulary"),
        ("special_ids = 'abc'", "special_ids: 'a' is no id"),
        ("lossless = 'no'", "lossless: 'no' is neither True nor False"),
        ("decode_joins_bytes = 1", "decode_joins_bytes: 1 is neither True nor False"),
    ],
)
def test_facts_of_the_wrong_kind_are_named(plugged, facts: str, said: str) -> None:
    size = "    vocab_size = 256\n"
    with pytest.raises(TokenizerError, match=said):
        plugged(TOKENIZER.replace(size, f"{size}    {facts}\n")).load("mine")


def test_a_spec_that_must_be_trained_says_how() -> None:
    with pytest.raises(TokenizerError, match=r"must be trained first: .* train_on="):
        build_registry().load("bpe:vocab_size=8k")


def test_every_in_house_plugin_loads() -> None:
    registry = build_registry()
    assert {"bpe", "wordpiece", "unigram", "bytes", "tiktoken", "sentencepiece", "transformers"} <= set(
        registry.tokenizers
    )
    assert registry.host.failures() == []
