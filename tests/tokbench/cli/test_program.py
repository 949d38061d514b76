"""What holds for the program as a whole: its version, help, standard input and output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

import tokbench
from tests.command import invoke, output, told
from tests.runs import tokenizer_plugin
from tokbench.cli.program import app
from tokbench.errors import CorpusError, PluginError

COMMAND: Any = typer.main.get_command(app)
PROGRAM = (sys.executable, "-c", "from tokbench.cli import main; main()")


def test_the_version_is_told() -> None:
    assert output("--version") == f"tokbench {tokbench.__version__}\n"


@pytest.mark.parametrize("arguments", [["-h"], ["encode", "-h"], ["list", "metrics", "-h"]])
def test_the_short_way_to_ask_for_help(arguments: list[str]) -> None:
    assert "Usage" in output(*arguments)


def test_an_unknown_command_of_a_group_is_answered_with_those_that_there_are() -> None:
    status, said = told("list", "tokenizer")
    assert status == 2
    assert "did you mean 'tokenizers'?" in said
    assert "datasets" in said


@pytest.mark.parametrize("command", [["encode", "bytes"], ["compare", "bytes", "chars"], ["trace", "bytes"]])
def test_bytes_that_are_no_utf8_are_refused(command: list[str]) -> None:
    with pytest.raises(CorpusError, match="standard input, byte offset 3: byte 0xe9 is not UTF-8"):
        CliRunner().invoke(app, [*command, "-"], input=b"caf\xe9 creme", catch_exceptions=False)
    with pytest.raises(CorpusError, match="the text, byte offset 3: byte 0xe9 is not UTF-8"):
        CliRunner().invoke(app, [*command, os.fsdecode(b"caf\xe9 creme")], catch_exceptions=False)


@pytest.mark.parametrize("command", [["encode", "bytes"], ["compare", "bytes", "chars"], ["decode", "bytes"]])
def test_a_standard_input_that_is_closed_is_told(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # as Python has it after <&-
    with pytest.raises(CorpusError, match="standard input is closed"):
        app([*command, "-"], standalone_mode=False)


def test_line_ends_of_standard_input_are_not_rewritten() -> None:
    result = CliRunner().invoke(app, ["encode", "bytes", "-", "--ids"], input=b"a\r\nb")
    assert result.output == "97 13 10 98\n"


NOISY = """
import tokbench

print("noisy: imported")

class Mine:
    name, vocab_size = "mine", 128
    def encode(self, text):
        print("noisy: encodes")
        return [*text.encode()]
    def decode(self, ids):
        print("noisy: decodes")
        return bytes(ids).decode()

@tokbench.hookimpl
def tokbench_tokenizers():
    print("noisy: asked")
    load = lambda spec, context: print("noisy: loads") or Mine()
    return [tokbench.TokenizerFamily(name="mine", summary="", load=load)]
"""


@pytest.mark.parametrize(
    ("command", "begins"),
    [
        (["encode", "mine", "hi", "--json"], "{"),
        (["encode", "mine", "hi", "--ids"], "104 105"),
        (["decode", "mine", "104", "105"], "hi"),
        (["list", "tokenizers", "mine", "--json"], "["),
        (["lint", "mine", "--format", "sarif", "--only", "TB101"], "{"),
        (["lint", "mine", "--format", "md", "--only", "TB101"], "## mine"),
    ],
)
def test_what_a_plugin_prints_is_not_in_output_for_programs(
    command: list[str], begins: str, tmp_path: Path
) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    done = invoke(*command, "--plugin", tmp_path / "noisy.py")
    assert done.stdout.startswith(begins), done.output
    assert "noisy: " not in done.stdout
    assert "noisy: imported\nnoisy: asked\n" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="the C library has another name there")
def test_what_a_plugin_prints_from_c_is_not_in_output_for_programs(tmp_path: Path) -> None:
    printing = "import ctypes, os\nos.write(1, b'noisy: written\\n')\nctypes.CDLL(None).puts(b'noisy: put')\n"
    (tmp_path / "noisy.py").write_text(printing + NOISY)
    command = ["encode", "mine", "hi", "--ids", "--plugin", str(tmp_path / "noisy.py")]
    done = subprocess.run([*PROGRAM, *command], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "104 105\n")
    assert {"noisy: written", "noisy: put", "noisy: imported"} <= set(done.stderr.splitlines())


@pytest.mark.parametrize("end", ["import sys; sys.exit(0)"])
def test_a_plugin_that_exits_is_at_fault_and_no_success(tmp_path: Path, end: str) -> None:
    pack, plugin = str(tmp_path / "pack"), tmp_path / "leaving.py"
    output("golden", "make", "bytes", "-o", pack, "--mutations", 0)
    tokenizer_plugin(plugin, f"vocab_size = 256\ndef encode(self, text):\n    {end}\ndecode = bytes")
    told = rf"the plugin 'leaving' failed: SystemExit: .*{re.escape(str(plugin))}, line 7"
    for command in (["golden", "check", pack, "leaving"], ["diff", "bytes", "leaving", "-d", "stdlib:docs"]):
        with pytest.raises(PluginError, match=told):
            invoke(*command, "--plugin", plugin, catch=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["list", "plots"], ["encode", "bytes", "hi", "--ids"]])
def test_an_output_that_cannot_be_written_is_told_in_a_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: cannot write the output: No space left on device\n"


def test_an_interrupt_during_the_imports_is_answered() -> None:
    code = (
        "import builtins, signal, tokbench.cli as cli; take = builtins.__import__\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # some shells have it ignored\n"
        "def slow(name, *rest):\n"
        "    if name == 'typer': signal.raise_signal(signal.SIGINT)\n"
        "    return take(name, *rest)\n"
        "builtins.__import__ = slow\n"
        "cli.main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


def test_an_interrupted_command_says_so(tmp_path: Path) -> None:
    (tmp_path / "poor.py").write_text(NOISY.replace('print("noisy: encodes")', "raise KeyboardInterrupt"))
    done = invoke("encode", "mine", "hi", "--ids", "--plugin", tmp_path / "poor.py")
    assert (done.exit_code, done.stdout, done.stderr.splitlines()[-1]) == (130, "", "interrupted")


def every_command() -> Iterator[tuple[str, ...]]:
    """The words of each command, `tokbench` left out."""

    def below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield words
        for name, child in getattr(command, "commands", {}).items():
            yield from below(child, (*words, name))

    return below(COMMAND, ())


@pytest.mark.parametrize("command", list(every_command()), ids=" ".join)
def test_help_says_every_option_and_default_whole(command: tuple[str, ...]) -> None:
    words = " ".join(re.sub(r"[│\n]", " ", output(*command, "--help", columns=80)).split())
    found = COMMAND
    for word in command:
        found = found.commands[word]
    for option in (one for one in found.params if one.param_type_name == "option"):
        assert all(f"{name} " in words for name in (*option.opts, *option.secondary_opts))
        assert not re.search(
            r"\[(?!default)[a-z]", option.help or ""
        )  # rich takes that for a style, shows nothing
        if isinstance(option.show_default, str):
            assert all(part in words for part in option.show_default.split())


@pytest.mark.parametrize("columns", [40, 60])
@pytest.mark.parametrize("command", list(every_command()), ids=" ".join)
def test_help_on_a_narrow_terminal_wraps_and_cuts_nothing_off(command: tuple[str, ...], columns: int) -> None:
    told = output(*command, "--help", columns=columns)
    assert max(map(len, told.splitlines())) <= columns
    found, text = COMMAND, re.sub(r"\s", "", told)
    for word in command:
        found = found.commands[word]
    for option in found.params:
        assert all(name in text for name in (*option.opts, *option.secondary_opts) if name.startswith("-"))
        if not hasattr(found, "commands"):
            assert re.sub(r"\s", "", option.help) in text


@pytest.mark.parametrize("empty", ["", " "])
@pytest.mark.parametrize(
    ("command", "names", "remedy"),
    [
        (["run", "-m"], "'-m' / '--metric'", "`tokbench list metrics` shows"),
        (["run", "-t"], "'-t' / '--tokenizer'", "`tokbench list tokenizers` shows, or a file"),
        (["run", "-d"], "'-d' / '--dataset'", "`tokbench list datasets` shows, or a file"),
        (["run", "--diff", "bytes"], "'--diff'", "two families that"),
        (["lint", "bytes", "--only"], "'--only'", "`tokbench list checks` shows"),
    ],
)
def test_an_option_that_names_nothing_is_refused(
    command: list[str], names: str, remedy: str, empty: str
) -> None:
    done = invoke(*command, empty)
    assert done.exit_code == 2
    told = " ".join(re.sub("[│╭╮╰╯─]", " ", done.stderr).split())
    assert f"Invalid value for {names}: nothing is named. Name " in told
    assert remedy in told


@pytest.mark.parametrize(
    ("arguments", "option", "what"),
    [
        ("optimum bytes -d one.txt --dataset two.txt", "-d", "DATASET"),
        ("ngram bytes --train-on one.txt --train-on two.txt -d one.txt", "--train-on", "DATASET"),
        ("run -t bytes -t chars --baseline bytes --baseline chars", "--baseline", "SPEC"),
        ("runs chart one two -m gini --metric premium", "-m", "METRIC"),
    ],
)
def test_what_a_command_takes_once_is_not_left_out_where_it_is_given_twice(
    arguments: str, option: str, what: str
) -> None:
    done = invoke(*arguments.split())
    assert done.exit_code == 2
    assert f"{option} is given 2 times, and this command takes one {what}." in done.output


def test_what_a_command_takes_more_than_once_may_be_given_twice(tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("some words")
    done = invoke("diff", "bytes", "bytes", "-d", tmp_path / "one.txt", "-d", tmp_path / "two.txt")
    assert "2 of 2 documents equal" in done.output


def test_more_documents_than_can_be_counted_are_all(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a\nb\n")
    most = ("--documents", 10**20)
    assert "2 of 2 documents equal" in output("diff", "bytes", "bytes", "-d", tmp_path / "text.txt", *most)
