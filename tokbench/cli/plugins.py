"""`tokbench plugins`: what is installed, and whether it works."""

from __future__ import annotations

import json

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
