"""`tokbench plugins`: what is installed, and whether it works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tokbench.cli.shared import DisabledPlugins, JsonOutput, PluginFiles, open_registry

app = typer.Typer(help="Installed plugins: list, check, make a new one.", no_args_is_help=True)


@app.command("list")
def list_plugins(
    as_json: JsonOutput = False, plugin: PluginFiles = None, disable_plugin: DisabledPlugins = None
) -> None:
    """List plugins with distribution, version, hooks, status and error."""
    from dataclasses import asdict

    registry = open_registry(plugin, disable_plugin)
    registry.tokenizers  # noqa: B018  (a hook that raises shows only when asked)
    rows = list(registry.host.plugins.values())
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("plugin", "distribution", "version", "status", "hooks", box=None)
    for row in rows:
        hooks = ", ".join(hook.removeprefix("tokbench_") for hook in row.hooks)
        table.add_row(row.name, row.distribution, row.version, row.status, row.error or hooks)
    Console().print(table)


@app.command("new")
def new_plugin(
    name: Annotated[str, typer.Argument(help="Name of the plugin, as it will stand in specs.")],
    kind: Annotated[
        str, typer.Option(help="tokenizer, metric, dataset, plot, report or engine.")
    ] = "tokenizer",
    folder: Annotated[
        Path | None, typer.Option("--folder", "-o", help="Where to write it. [default: ./NAME]")
    ] = None,
) -> None:
    """Write a complete plugin package: entry point, example, tests, README, CI."""
    from tokbench.scaffold import write_plugin

    files = write_plugin(name, kind, folder)
    root = folder or Path(name)
    for file in files:
        print(file)
    print(f"\nNow: cd {root} && pip install -e . && pytest")


@app.command("check")
def check_plugin(
    spec: Annotated[str, typer.Argument(help="Spec of the tokenizer to check.")],
    examples: Annotated[int, typer.Option(help="Texts that hypothesis draws for each check.")] = 100,
    plugin: PluginFiles = None,
    disable_plugin: DisabledPlugins = None,
) -> None:
    """Run the conformance kit on a tokenizer; exit status 1 when a check fails."""
    from tokbench.testing import failures_of

    failures = failures_of(spec, examples=examples, registry=open_registry(plugin, disable_plugin))
    for failure in failures:
        print(f"- {failure}")
    print(f"{spec}: {len(failures)} checks fail" if failures else f"{spec}: conforms")
    raise typer.Exit(1 if failures else 0)
