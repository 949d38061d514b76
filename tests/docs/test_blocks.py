"""Every command and code block of the README and the docs is executed, page by page, in a folder of its own."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tests.docs.blocks import Block, read_blocks
from tokbench.cli.program import app

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
KNOWN = {"console", "python", "toml", "json", "text", "yaml", "bibtex", "mermaid", ""}
SHELL = {"|", "||", "&&", ";", ">", ">>", "<", "2>", "&"}
"""What ends the arguments of a command; a file that output goes to is no call."""


def prepare(folder: Path) -> None:
    """The files that pages may name: some prose, and two aligned languages."""
    prose = sorted((ROOT / "datasets" / "prose").rglob("*.txt"))
    english = [path.read_text(encoding="utf-8") for path in prose if "eng_Latn" in str(path)]
    (folder / "my_text.txt").write_text("\n".join(english)[:40_000], encoding="utf-8")
    (folder / "corpus").mkdir()
    for language in ("eng_Latn", "deu_Latn"):
        shutil.copy(ROOT / "datasets" / "parallel" / f"{language}.txt", folder / "corpus")


def run_console(block: Block, folder: Path) -> None:
    expected = int(block.marked("exit") or 0)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "120"}
    for command in block.commands():
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=280
        )
        assert done.returncode == expected, (
            f"line {block.line}: {command}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
        )


@pytest.mark.long
@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
def test_every_block_runs(page: Path, tmp_path: Path) -> None:
    prepare(tmp_path)
    names: dict[str, object] = {"__name__": f"page_{page.stem}"}
    for block in read_blocks(page):
        assert block.language in KNOWN, f"{page.name} line {block.line}: unknown language {block.language!r}"
        if not block.runs:
            continue
        file = block.marked("file")
        if file:
            (tmp_path / file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            run_console(block, tmp_path)
        elif block.language == "python":
            with contextlib.chdir(tmp_path):
                exec(compile(block.text, f"{page.name}:{block.line}", "exec"), names)
        elif block.language == "toml":
            tomllib.loads(block.text)
            if block.mark == "suite":
                from tokbench.runner.planning.suite import load_suite

                suite = tmp_path / f"suite_{block.line}.toml"
                suite.write_text(block.text, encoding="utf-8")
                load_suite(suite)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    import re

    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_a_block_that_fails_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n\n<!-- exit: 1 -->\n```console\n$ exit 1\n```\n\n```console\n$ exit 3\n```\n")
    expected, unexpected = read_blocks(page)
    run_console(expected, tmp_path)
    with pytest.raises(AssertionError, match="exit 3"):
        run_console(unexpected, tmp_path)


def commands_of(text: str) -> Iterator[list[str]]:
    """The arguments of every call of tokbench in some lines of shell."""
    for line in text.replace("\\\n", " ").splitlines():
        calls: list[list[str]] = [[]]
        for word in shlex.split(line, comments=True):
            if word in SHELL:
                calls.append([])
            else:
                calls[-1].append(word)
        yield from (call[1:] for call in calls if call[:1] == ["tokbench"])


@pytest.fixture(scope="module")
def parse() -> Callable[[list[str]], int]:
    """The command line with commands that do nothing: it gives the exit status of parsing."""

    def silenced(command: Any) -> Any:
        for each in getattr(command, "commands", {}).values():
            silenced(each)
        if command is not None and not hasattr(command, "commands"):
            command.callback = lambda **given: None
        return command

    command = silenced(typer.main.get_command(app))
    brought = command.get_command  # those of plugins are looked for when they are asked for
    command.get_command = lambda context, name: silenced(brought(context, name))

    def status(arguments: list[str]) -> int:
        with pytest.raises(SystemExit) as ended:
            command.main(arguments, prog_name="tokbench")
        return int(ended.value.code or 0)

    return status


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_shown_parses(page: Path, parse: Any, capsys: Any) -> None:
    yaml: Any = pytest.importorskip("yaml")
    for block in read_blocks(page):
        shown = block.commands() if block.language == "console" else []
        if block.language == "yaml":
            content = yaml.safe_load(block.text)
            jobs = content.get("jobs", {}).values()
            steps = [step for job in jobs for step in job["steps"]]
            assert all({"run", "uses"} & set(step) for step in steps), f"{page.name} line {block.line}"
            hooks = [hook for repo in content.get("repos", []) for hook in repo["hooks"]]
            shown = [step["run"] for step in steps if "run" in step] + [hook["entry"] for hook in hooks]
            assert shown, f"{page.name} line {block.line}: neither a workflow nor hooks"
        for arguments in (each for line in shown for each in commands_of(line)):
            assert parse(arguments) == 0, (
                f"{page.name} line {block.line}: {arguments}: {capsys.readouterr().err}"
            )


def test_a_command_that_does_not_parse_is_noticed(parse: Any) -> None:
    for line in ("tokbench lint --no bytes", "x && tokbench run --suite", "tokbench runs nothing a b | cat"):
        (arguments,) = commands_of(line)
        assert parse(arguments) == 2
