"""Writes docs/cli.md from the commands themselves: ``python tools/cli_page.py``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer.main

from tokbench.cli.program import app

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"

HEAD = """# Command line

Generated from the commands by `python tools/cli_page.py`; a test holds that it is current.

Exit status: 0 all done; 1 something failed, differs or does not conform; 2 the request was wrong, said before
anything ran; 130 interrupted.

Options of many commands, each named below where it can be given:

| | |
|---|---|
"""
COMMON = ("as_json", "train_on", "force", "allow_remote_code", "plugin", "disable_plugin")
"""Parameters that are explained once, wherever they say the same."""


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every command below `command`, depth first, with its full name."""
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
        return
    for child in sorted(children):
        yield from commands(children[child], f"{name} {child}")


def section(called: list[tuple[str, Any]], common: Mapping[str, str]) -> str:
    """The part of the page about a command, or about several of the same arguments and options."""
    name, command = called[0]
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    heading = name if len(called) == 1 else f"{name.rpartition(' ')[0]} WHAT"
    usage = heading + (" [OPTIONS]" if options else "") + "".join(f" {argument_name(one)}" for one in arguments)
    lines = [f"## {heading}", "", f"`{usage}`"]
    if len(called) == 1:
        lines += ["", (command.help or "").strip()]
    else:
        lines += ["", "| WHAT | |", "|---|---|"]
        lines += [f"| `{each.rpartition(' ')[2]}` | {text(other.help)} |" for each, other in called]
    rows = [f"| `{argument_name(one)}` | {text(one.help)} | {'required' * one.required} |" for one in arguments]
    rows += [f"{row(one)} {default(one)} |" for one in options if common.get(one.name) != row(one)]
    if rows:
        lines += ["", "| | | default |", "|---|---|---|", *rows]
    if also := [f"`{one.opts[0]}`" for one in options if common.get(one.name) == row(one)]:
        lines += ["", f"Also {', '.join(also)}."]
    return "\n".join(lines) + "\n"


def row(option: Any) -> str:
    """An option's names and what it does, as the beginning of a row."""
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    return f"| {names} | {text(option.help)} |"


def shared(found: list[tuple[str, Any]]) -> dict[str, str]:
    """What most commands say of each of `COMMON`."""
    said = [(one.name, row(one)) for _, command in found for one in command.params if one.name in COMMON]
    return {
        name: Counter(text for other, text in said if other == name).most_common(1)[0][0] for name in COMMON
    }


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
    found = list(every(typer.main.get_command(app)))
    common = shared(found)
    groups: dict[tuple[str, ...], list[tuple[str, Any]]] = {}
    for name, command in found:
        above, taken = (
            name.rpartition(" ")[0],
            (f"{one.opts}{one.help}{default(one)}" for one in command.params),
        )
        key = (above, *taken) if " " in above else (name,)
        groups.setdefault(key, []).append((name, command))
    sections = (section(group, common) for group in groups.values())
    return "\n".join([HEAD + "".join(f"{one}\n" for one in common.values()), *sections])


def every(root: Any) -> Iterator[tuple[str, Any]]:
    """The program itself with its own options, then each of its commands."""
    yield "tokbench", root
    yield from commands(root, "tokbench")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
