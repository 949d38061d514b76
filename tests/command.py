"""A command of tokbench as its tests call it: in this process, its output kept."""

from __future__ import annotations

from functools import cache

import pytest
import typer.testing
from typer.testing import CliRunner, Result

from tokbench.cli.program import app

if hasattr(typer.testing, "_get_command"):
    # All commands are made out of their functions for each call, which takes as long as most calls themselves.
    typer.testing._get_command = cache(typer.testing._get_command)


def invoke(
    *arguments: object, text: str | None = None, columns: int | None = 160, catch: bool = True
) -> Result:
    """What came of ``tokbench ARGUMENTS``: output, exit status, and an exception, if there is one to `catch`.

    `text` is what the command reads from stdin, `columns` the width of its terminal; None for a pipe.
    """
    width = {"COLUMNS": None if columns is None else str(columns)}
    return CliRunner().invoke(app, [*map(str, arguments)], input=text, env=width, catch_exceptions=catch)


def output(*arguments: object, text: str | None = None, columns: int | None = 160) -> str:
    """What ``tokbench ARGUMENTS`` writes to standard output where all goes well; what it raises is raised."""
    result = invoke(*arguments, text=text, columns=columns, catch=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(by: type[Exception], *arguments: object) -> str:
    """What the error says by which ``tokbench ARGUMENTS`` is refused."""
    with pytest.raises(by) as error:
        invoke(*arguments, catch=False)
    return str(error.value)


def told(*arguments: object) -> tuple[int, str]:
    """The exit status and all output of ``tokbench ARGUMENTS`` on a wide terminal; what it raises is raised."""
    result = invoke(*arguments, columns=200, catch=False)
    return result.exit_code, result.output
