"""Plugins that a suite, an option or Python names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import invoke
from tokbench.errors import PluginError
from tokbench.results import Run
from tokbench.runner.planning.suite import load_suite
from tokbench.runner.run import run_suite

pytestmark = pytest.mark.usefixtures("workers_stay")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "no function in it carries @tokbench.hookimpl"),
        ("import tokbench\n@tokbench.hookimpl\ndef tokbench_aliases(): 1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_wrong_plugin_file_is_blamed_on_where_it_is_named(source: str, message: str, tmp_path: Path) -> None:
    path, plugin = tmp_path / "suite.toml", tmp_path / "mine.py"
    plugin.write_text(source)
    suite = "tokenizers = ['bytes']\ndatasets = ['bundled:prose']\n"
    path.write_text(f"plugins = ['{plugin}']\n{suite}")
    with pytest.raises(PluginError, match=rf"^{path}: plugins: {plugin}: .*{message}"):
        run_suite(path, ["nothing"], output=tmp_path / "out")
    path.write_text(suite)
    with pytest.raises(PluginError, match=rf"^plugins: {plugin}: .*{message}"):
        run_suite(path, ["nothing"], output=tmp_path / "out", plugins=[str(plugin)])
    with pytest.raises(PluginError, match=rf"^--plugin {plugin}: .*{message}"):
        invoke("run", path, "-t", "nothing", "-o", tmp_path / "out", "--plugin", plugin, catch=False)


def test_a_plugin_file_that_fails_in_workers_alone_is_blamed_on_where_it_is_named(tmp_path: Path) -> None:
    plugin, here = tmp_path / "mine.py", tmp_path / "here"
    plugin.write_text(
        "import os, pathlib, tokbench\n"
        f"here = pathlib.Path({str(here)!r})\n"
        "if not here.exists(): here.write_text(str(os.getpid()))\n"
        "assert here.read_text() == str(os.getpid()), 'not here'\n"
        "@tokbench.hookimpl\ndef tokbench_aliases(): return []\n"
    )
    options = ("-t", "bytes", "-d", "bundled:prose", "-o", tmp_path / "out", "--no-speed", "--no-report")
    invoke("run", *options, "--plugin", plugin, catch=False)
    failures = Run.open(tmp_path / "out").failures
    [message] = [failure["message"] for failure in failures if failure["tokenizer"]]
    assert message.startswith(f"--plugin {plugin}: AssertionError: not here")


def test_plugins_that_are_given_are_added_to_the_suites(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        (tmp_path / f"{name}.py").write_text(
            f"import tokbench\n@tokbench.hookimpl\ndef tokbench_aliases():\n    return [('{name}', 'bytes')]\n"
        )
    path, [first, second, third] = (
        tmp_path / "suite.toml",
        [str(each) for each in sorted(tmp_path.glob("*.py"))],
    )
    path.write_text(
        f"tokenizers = ['first']\ndatasets = ['bundled:prose']\nplugins = ['{first}', '{second}']\n"
        "disable_plugins = ['second']\nspeed = false\n"
    )
    given = {"plugins": [third, first], "disable_plugins": "probe"}
    suite = load_suite(path, given)
    assert (suite.plugins, suite.disable_plugins) == ([first, second, third], ["second", "probe"])
    done = run_suite(path, ["first", "third"], output=tmp_path / "out", metrics=["chars_per_token"], **given)
    status = {each["name"]: each["status"] for each in done.manifest["plugins"]}
    assert [status[name] for name in ("first", "second", "third")] == ["loaded", "disabled", "loaded"]
