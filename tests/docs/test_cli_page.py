"""docs/cli.md is what the commands say of themselves."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_current() -> None:
    page = runpy.run_path(str(ROOT / "tools" / "cli_page.py"))["page"]()
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == page, "run: python tools/cli_page.py"


def test_every_parameter_has_a_help_text() -> None:
    tools = runpy.run_path(str(ROOT / "tools" / "cli_page.py"))
    import typer.main

    from tokbench.cli.program import app

    for name, command in tools["commands"](typer.main.get_command(app), "tokbench"):
        assert command.help, name
        for parameter in command.params:
            assert parameter.name == "help" or getattr(parameter, "help", None), f"{name}: {parameter.name}"
