"""What is said of a plugin when it is loaded or asked what it offers, before any work."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tokbench import manager
from tokbench.errors import PluginError, UnknownNameError
from tokbench.registry import build_registry
from tokbench.results import Run

RunIt = Callable[..., Run]
Write = Callable[[str, str], str]


@pytest.mark.parametrize(
    "source",
    [
        "raise SystemExit(3)",
        "@tokbench.hookimpl\ndef tokbench_metrics():\n    return None",
        "@tokbench.hookimpl\ndef tokbench_metrics():\n    return [1]",
        "@tokbench.hookimpl\ndef tokbench_tokenizers():\n    raise SystemExit(3)",
        "import time; time.sleep(60)",
    ],
)
def test_a_plugin_that_was_named_and_fails_ends_the_command(
    source: str, text: Path, run: RunIt, plugin: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager, "PATIENCE", 1)
    with pytest.raises(PluginError, match=r"^plugins: "):
        run(["bytes"], [f"text:{text}"], plugins=[plugin("poor", source)])
    assert not (tmp_path / "out").exists()


def test_an_alias_hook_at_fault_disturbs_nobody(plugin: Write) -> None:
    path = plugin("poor", "@tokbench.hookimpl\ndef tokbench_resolve_alias(name):\n    raise SystemExit(3)")
    registry = build_registry(plugin_files=[path])
    assert str(registry.tokenizer_spec("gpt-4o")) == "tiktoken:o200k_base"  # ours are asked first
    with pytest.raises(PluginError, match="SystemExit: 3"):
        registry.tokenizer_spec("a-name-that-ours-do-not-know")
    registry.host.plugins["poor"].named = False  # as if it were installed
    assert str(registry.tokenizer_spec("gpt-4o")) == "tiktoken:o200k_base"
    assert "tokbench_resolve_alias: SystemExit: 3" in registry.host.plugins["poor"].error


def test_the_list_of_plugins_says_which_hook_is_broken(plugin: Write, tmp_path: Path) -> None:
    broken = tmp_path / "site"
    broken.mkdir()
    (broken / "outside.py").write_text(
        "import tokbench\n@tokbench.hookimpl\ndef tokbench_metrics():\n    raise OSError('gone')\n"
    )
    info = broken / "outside-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tokbench]\noutside = outside\n")
    code = f"import sys; sys.path.insert(0, {str(broken)!r}); from tokbench.cli import main; main()"
    command = [sys.executable, "-c", code, "plugins", "list", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    [row] = [row for row in json.loads(done.stdout) if row["name"] == "outside"]
    assert row["status"] == "failed"
    assert "OSError: gone" in row["error"]


OFFERS = """
@tokbench.hookimpl
def tokbench_tokenizers():
    return [tokbench.TokenizerFamily(summary="", load=print, {}) for _ in range({})]
"""


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (OFFERS.format("name='3gram'", 1), "'3gram' is no name for a tokenizer family"),
        (OFFERS.format("name='my:tok'", 1), "begins with a letter"),
        (
            OFFERS.format("name='x'", 2),
            "it offers the tokenizer family 'x' already",
        ),
        (
            OFFERS.format("name='x', train=print, saved_as=('.model',)", 1),
            "x: what is trained cannot be written as 'FILE.json'; name FILE.model, of its saved_as",
        ),
        (
            OFFERS.format("name='x', options={'n': 3}", 1),
            "options must be tokbench.Option",
        ),
        ("tokbench.Option('n', 'integer', 3)", r"'integer' is no type of .*poor.py, line 2"),
        ("tokbench.Option('n', 'int', 'three')", "the default 'three' is not a whole number"),
    ],
)
def test_what_no_spec_can_name_is_refused(source: str, says: str, plugin: Write) -> None:
    with pytest.raises(PluginError, match=says):
        _ = build_registry(plugin_files=[plugin("poor", source)]).tokenizers


PLOT = "tokbench.Plot(name='pp', title='', summary='', draw={})"


@pytest.mark.parametrize(
    ("hook", "given", "says"),
    [
        ("plots", PLOT.format("print"), "tokbench_plots: returned Plot; return a list, even for one"),
        ("plots", "{'pp': 1}", "tokbench_plots: returned dict; return a list"),
        ("aliases", "'zed'", "tokbench_aliases: returned str; return a list"),
        ("plots", f"[{PLOT.format(None)}]", "the plot 'pp': draw is None; give what can be called"),
        (
            "tokenizers",
            "[tokbench.TokenizerFamily(name='wl', summary='', load=print, endings='.wl')]",
            r"the tokenizer family 'wl': endings is '.wl'; give a tuple, as in \('.wl',\)",
        ),
        (
            "tokenizers",
            "[tokbench.TokenizerFamily(name='wl', summary=None, load=print)]",
            "summary is None; give text",
        ),
        ("tokenizers", "[tokbench.TokenizerFamily(name='wl', summary='', load=None)]", "'wl': load is None"),
        (
            "report_writers",
            "[tokbench.ReportWriter(name='rr', summary='', suffix='rr', write=print)]",
            r"report format 'rr': suffix is 'rr'; it is how its files end.*as '.txt' \(.*poor.py, line 4\)",
        ),
        (
            "metrics",
            "[tokbench.Metric(name='mm', summary='', compute=len)]",
            "arguments: 'unit' and 'better' .*poor.py, line 4",
        ),
        (
            "metrics",
            "[tokbench.Metric(name='m', unit='', better='none', summary='', compute=len, needs='words')]",
            r"needs is 'words'; give a tuple, as in \('words',\)",
        ),
        (
            "tokenizers",
            "[tokbench.TokenizerFamily(name='wl', summary='', load=lambda spec: None)]",
            r"'wl': load is called as load\(Spec, LoadContext\), which it cannot be: too many positional",
        ),
        (
            "tokenizers",
            "[tokbench.TokenizerFamily(name='bytes', summary='', load=print)]",
            "the plugin 'baselines' offers the tokenizer family 'bytes' already, which stays; rename one",
        ),
        ("suites", "[('s', __file__), ('s', __file__)]", "it offers the suite 's' already"),
        ("suites", "[('s', 'no.toml')]", "the suite 's': no file no.toml; name one beside the plugin by"),
        (
            "checks",
            "[tokbench.Check(code='TB101', name='mine', summary='', harm='', look=lambda of, bounds: None)]",
            "the check 'mine' has the code TB101 of 'pattern-never-matches'; give it another",
        ),
        ("prices", "['ab']", "tokbench_prices: 'ab' is no pair of name and file"),
    ],
)
def test_what_a_hook_gives_is_looked_at_when_it_is_asked(
    hook: str, given: str, says: str, plugin: Write
) -> None:
    source = f"@tokbench.hookimpl\ndef tokbench_{hook}():\n    return {given}"
    with pytest.raises(PluginError, match=says):
        build_registry(plugin_files=[plugin("poor", source)]).ask_outsiders()


def test_an_alias_that_is_listed_is_resolved_and_what_lies_beside_is_imported(
    plugin: Write, tmp_path: Path
) -> None:
    (tmp_path / "lies_beside.py").write_text("SPEC = 'bytes'\n")
    path = plugin(
        "names",
        "from lies_beside import SPEC\n@tokbench.hookimpl\ndef tokbench_aliases():\n    return [('zed', SPEC)]",
    )
    assert str(build_registry(plugin_files=[path]).tokenizer_spec("zed")) == "bytes"


def test_what_a_plugin_left_out_may_offer_is_said() -> None:
    with pytest.raises(UnknownNameError, match="Left out were the plugins baselines"):
        build_registry(disable=["baselines"]).tokenizer_spec("bytes")


def test_a_plugin_may_offer_a_class_of_its_own(plugin: Write) -> None:
    path = plugin(
        "own",
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True, slots=True, kw_only=True)\n"
        "class Own(tokbench.TokenizerFamily):\n    more: str = ''\n"
        "@tokbench.hookimpl\ndef tokbench_tokenizers():\n"
        "    return [Own(name='own', summary='', load=lambda spec, context: None)]",
    )
    registry = build_registry(plugin_files=[path])
    registry.ask_outsiders()
    assert registry.host.plugins["own"].status == "loaded"
    assert registry.owner("own") == "own"
