"""`tokbench plugins`: what is installed, and whether it works."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tokbench.cli.shared import DisabledPlugins, JsonOutput, PluginFiles, open_registry
from tokbench.cli.tables import show_rows
from tokbench.wording import counted

app = typer.Typer(help="Installed plugins: list, check, make a new one.", no_args_is_help=True)


@app.command("list")
def list_plugins(
    as_json: JsonOutput = False, plugin: PluginFiles = None, disable_plugin: DisabledPlugins = None
) -> None:
    """List plugins with distribution, version, hooks, status and error; exit status 1 where one failed."""
    from dataclasses import asdict

    registry = open_registry(plugin, disable_plugin)
    registry.tokenizers  # noqa: B018  (a hook that raises shows only when asked)
    registry.check_outside()
    rows = list(registry.host.plugins.values())
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        raise typer.Exit(1 if registry.host.failures() else 0)
    columns = ("plugin", "distribution", "version", "status", "hooks")
    cells = [
        (row.name, row.distribution, row.version, row.status, row.error or _hooks(row.hooks)) for row in rows
    ]
    show_rows([dict(zip(columns, row, strict=True)) for row in cells], columns)
    raise typer.Exit(1 if registry.host.failures() else 0)


def _hooks(names: Sequence[str]) -> str:
    return ", ".join(name.removeprefix("tokbench_") for name in names)


@app.command("new")
def new_plugin(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the plugin, as it will stand in specs.")],
    kind: Annotated[
        str, typer.Option(help="tokenizer, metric, dataset, plot, report or engine.")
    ] = "tokenizer",
    folder: Annotated[
        Path | None,
        typer.Option("--folder", "-o", metavar="DIR", help="Where to write it.", show_default="./NAME"),
    ] = None,
) -> None:
    """Write a complete plugin package: entry point, example, tests, README, CI."""
    from tokbench.errors import SpecError
    from tokbench.scaffold import write_plugin

    registry = open_registry(None, None)
    taken = {"tokenizer": registry.tokenizers, "dataset": registry.datasets, "metric": registry.metrics}
    if name in taken.get(kind, ()):
        raise SpecError(f"there is a {kind} {name!r} already, and two of one name cannot be told apart")
    files = write_plugin(name, kind, folder)
    root = folder or Path(name)
    for file in files:
        print(file)
    print(f"\nNow: cd {root} && pip install -e . && pytest")


@app.command("check")
def check_plugin(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="Spec of the tokenizer to check.")],
    examples: Annotated[int, typer.Option(min=1, help="Texts that hypothesis draws for each check.")] = 100,
    plugin: PluginFiles = None,
    disable_plugin: DisabledPlugins = None,
) -> None:
    """Run the conformance kit on a tokenizer; exit status 1 when a check fails."""
    from tokbench.testing import failures_of

    failures = failures_of(spec, examples=examples, registry=open_registry(plugin, disable_plugin))
    for failure in failures:
        print(f"- {failure}")
    fail = f"{counted(len(failures), 'check')} {'fails' if len(failures) == 1 else 'fail'}"
    print(f"{spec}: {fail if failures else 'conforms'}")
    raise typer.Exit(1 if failures else 0)
