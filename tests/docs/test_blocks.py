"""Every command and code block of the README and the docs is executed, page by page, in a folder of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.blocks import Block, read_blocks

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
EVERYDAY = {"start.md"}
"""The page a newcomer begins with; the others are run with the tests that take long."""
KNOWN = {"console", "python", "toml", "json", "text", "yaml", "bibtex", "mermaid", ""}


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


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[] if page.name in EVERYDAY else [pytest.mark.long])
        for page in PAGES
    ],
)
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
                from tokbench.runner.suite import load_suite

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
