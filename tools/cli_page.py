"""Writes docs/cli.md from the commands themselves: ``python tools/cli_page.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from tokbench.cli.program import app

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"

HEAD = """# Command line

Generated from the commands by `python tools/cli_page.py`; a test holds that it is current.

Exit status: 0 all done; 1 something failed, differs or does not conform; 2 the request was wrong, said before
anything ran; 130 interrupted.
"""


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every command below `command`, depth first, with its full name."""
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
        return
    for child in sorted(children):
        yield from commands(children[child], f"{name} {child}")


def section(name: str, command: Any) -> str:
    """The part of the page about one command."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    usage = f"{name} [OPTIONS]" if options else name
    usage += "".join(f" {argument_name(one)}" for one in arguments)
    lines = [f"## {name}", "", f"```text\n{usage}\n```", "", (command.help or "").strip(), ""]
    if arguments or options:
        lines += ["| | | default |", "|---|---|---|"]
    for one in arguments:
        lines.append(f"| `{argument_name(one)}` | {text(one.help)} | {'required' if one.required else ''} |")
    for one in options:
        names = ", ".join(f"`{opt}`" for opt in [*one.opts, *one.secondary_opts])
        lines.append(f"| {names} | {text(one.help)} | {default(one)} |")
    return "\n".join(lines) + "\n"


def argument_name(argument: Any) -> str:
    """`SPEC`, `[TEXT]` or `SPEC...`, as in a usage line."""
    name = argument.metavar or str(argument.name).upper()
    name += "..." if argument.nargs == -1 and not name.endswith(("...", "…")) else ""
    return name if argument.required or name.startswith("[") else f"[{name}]"


def text(value: str | None) -> str:
    """Help text as a cell of a table."""
    return " ".join((value or "").split()).replace("|", "\\|")


def default(option: Any) -> str:
    """An option's default, where it has one to speak of."""
    value = option.default
    if isinstance(option.show_default, str):  # said in words
        return str(option.show_default)
    if callable(value) or value in (None, False, [], (), ""):
        return ""
    return f"`{value}`"


def page() -> str:
    """The whole page."""
    root = typer.main.get_command(app)
    return "\n".join([HEAD, *(section(name, command) for name, command in every(root))])


def every(root: Any) -> Iterator[tuple[str, Any]]:
    """The program itself with its own options, then each of its commands."""
    yield "tokbench", root
    yield from commands(root, "tokbench")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
