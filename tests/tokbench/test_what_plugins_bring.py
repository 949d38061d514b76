"""Commands, suites, prices and plots of plugins appear where built-in ones do; the order of hooks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command import invoke
from tokbench.errors import PluginError, SpecError
from tokbench.hookspecs import HOOKS_VERSION
from tokbench.registry import build_registry

BRINGS = '''
from pathlib import Path
import tokbench

def greet(name: str = "you", loud: bool = False) -> None:
    """Say hello."""
    print(f"HELLO {name}" if loud else f"hello {name}")

@tokbench.hookimpl
def tokbench_commands():
    return [tokbench.Command(name="greet", summary="Say hello.", run=greet)]

HERE = Path(__file__).parent

@tokbench.hookimpl
def tokbench_suites():
    return [("house", HERE / "house.toml")]

@tokbench.hookimpl
def tokbench_prices():
    return [("list-prices", HERE / "prices.toml")]

def draw(run):
    from matplotlib.figure import Figure
    figure = Figure()
    figure.subplots().bar(run.tokenizers, [1] * len(run.tokenizers))
    return figure

@tokbench.hookimpl
def tokbench_plots():
    return [tokbench.Plot(name="mine", title="My <bars>", summary="One each.", draw=draw)]
'''


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    (tmp_path / "brings.py").write_text(BRINGS)
    text = tmp_path / "text.txt"
    text.write_text("one line\nand another\n")
    (tmp_path / "house.toml").write_text(f'tokenizers = ["bytes"]\ndatasets = ["text:{text}"]\nspeed = false\n')
    (tmp_path / "prices.toml").write_text('currency = "EUR"\n[prices]\nbytes = 2.0\n')
    return str(tmp_path / "brings.py")


@pytest.mark.long
def test_a_suite_prices_and_a_plot_appear_where_built_in_ones_do(plugin: str, tmp_path: Path) -> None:
    from tokbench.runner.run import run_suite

    with pytest.raises(SpecError, match="did you mean 'house'"):
        run_suite("hous", plugins=[plugin], output=tmp_path / "out")
    options: dict[str, Any] = {"plugins": [plugin], "prices": "list-prices", "report": True, "jobs": 1}
    run = run_suite("house", output=tmp_path / "out", **options)
    cost = run.frame.query("metric == 'cost' and language == 'all'").iloc[0]
    assert (cost["value"], cost["unit"]) == (pytest.approx(19 * 2e-6), "EUR")
    page = (run.path / "report.html").read_text()
    assert "My &lt;bars&gt;" in page
    assert 'src="data:image/svg+xml;base64,' in page
    assert run.manifest["plots"] == [{"name": "mine", "title": "My <bars>", "summary": "One each."}]


def test_a_command_is_in_the_help_and_runs(plugin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokbench.cli import program

    monkeypatch.setattr(program, "_registry", lambda: build_registry(plugin_files=[plugin]))
    assert "greet" in invoke("--help").output
    assert invoke("greet", "--name", "Ada", "--loud").output == "HELLO Ada\n"
    assert "--loud" in invoke("greet", "--help").output


def test_a_file_brings_a_command_for_one_call(plugin: str) -> None:
    assert invoke("greet", "--name", "Ada", "--plugin", plugin).output == "hello Ada\n"
    assert invoke("greet", f"--plugin={plugin}", "--loud").output == "HELLO you\n"
    for arguments, said in (
        (["greet"], "One that a file brings is called as: tokbench greet --plugin FILE.py"),
        (["greez", "--plugin", plugin], "unknown command 'greez'; did you mean 'greet'"),
        (["--plugin", plugin, "greet"], "--plugin stands after the command: tokbench COMMAND --plugin"),
    ):
        result = invoke(*arguments, columns=400)
        assert (result.exit_code, said in result.output) == (2, True), result.output


MARKED = """
import tokbench
{before}
@tokbench.hookimpl({how})
def tokbench_aliases():
    {body}
"""

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, how: str = "", body: str = "", before: str = "") -> str:
        path = tmp_path / f"{name}.py"
        body = body or f"return [('who-is-first', '{name}')]"
        path.write_text(MARKED.format(how=how, body=body, before=before))
        return str(path)

    return write


def test_plugins_are_asked_in_the_order_that_is_documented(write: Write) -> None:
    files = [write("late", "trylast=True"), write("one"), write("two"), write("early", "tryfirst=True")]
    host = build_registry(plugin_files=files).host
    asked = [each.plugin_name for each in host.implementations("tokbench_aliases")]
    assert asked[-4:] == ["early", "one", "two", "late"]
    assert all(host.plugins[name].distribution == "tokbench" for name in asked[:-4])


def test_no_plugin_takes_the_name_of_what_is_built_in(tmp_path: Path) -> None:
    file = tmp_path / "takes.py"
    file.write_text(
        "import tokbench\n@tokbench.hookimpl\ndef tokbench_tokenizers():\n"
        "    return [tokbench.TokenizerFamily(name='bytes', summary='mine', load=lambda spec, context: None)]\n"
    )
    with pytest.raises(PluginError, match="'baselines' offers the tokenizer family 'bytes' already"):
        build_registry(plugin_files=[str(file)]).load("bytes")
    for name in ("run", "list"):
        file.write_text(BRINGS.replace('name="greet"', f"name={name!r}"))
        with pytest.raises(PluginError, match=f"'core' offers the command '{name}' already, which stays"):
            assert build_registry(plugin_files=[str(file)]).commands


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"how": "wrapper=True", "body": "return (yield)"}, "tokbench_aliases is a hook wrapper"),
        ({"how": "hookwrapper=True", "body": "yield"}, "tokbench_aliases is a hook wrapper"),
        ({"before": "TOKBENCH_HOOKS_VERSION = 99"}, "version 99 of the hooks; .* upgrade tokbench"),
        ({"before": "TOKBENCH_HOOKS_VERSION = 0"}, "version 0 of the hooks; .* upgrade the plugin"),
    ],
)
def test_wrappers_and_other_contracts_are_refused(write: Write, parts: dict[str, str], said: str) -> None:
    with pytest.raises(PluginError, match=said):
        build_registry(plugin_files=[write("other", **parts)])
    assert build_registry(plugin_files=[write("same", before=f"TOKBENCH_HOOKS_VERSION = {HOOKS_VERSION}")])


def test_the_command_line_starts_without_loading_plugins() -> None:
    code = "import json, sys; from tokbench.cli.program import app; "
    code += "app(['list', 'plots', '--help'], standalone_mode=False); "
    code += "json.dump(['tokbench.registry' in sys.modules], sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert json.loads(done.stderr) == [False]
