"""`tokbench list`: what can be named in a suite or on the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from tokbench.cli.shared import DisabledPlugins, JsonOutput, PluginFiles, open_registry

app = typer.Typer(
    help="What there is: tokenizers, datasets, metrics, plots, aliases, runs.", no_args_is_help=True
)


@app.command("tokenizers")
def tokenizers(
    as_json: JsonOutput = False, plugin: PluginFiles = None, disable_plugin: DisabledPlugins = None
) -> None:
    """List tokenizer families with their options."""
    registry = open_registry(plugin, disable_plugin)
    rows = [
        {
            "name": family.name,
            "plugin": registry.owner(family.name),
            "summary": family.summary,
            "variant": family.variant,
            "trainable": family.trainable,
            "options": [option.name for option in family.options],
            "examples": list(family.examples),
        }
        for family in registry.tokenizers.values()
    ]
    _show(rows, as_json, ("name", "summary", "options", "examples"))


@app.command("datasets")
def datasets(
    as_json: JsonOutput = False, plugin: PluginFiles = None, disable_plugin: DisabledPlugins = None
) -> None:
    """List dataset families with their options."""
    registry = open_registry(plugin, disable_plugin)
    rows = [
        {
            "name": family.name,
            "summary": family.summary,
            "variant": family.variant,
            "options": [option.name for option in family.options],
            "examples": list(family.examples),
        }
        for family in registry.datasets.values()
    ]
    _show(rows, as_json, ("name", "summary", "options", "examples"))


@app.command("metrics")
def metrics(
    as_json: JsonOutput = False, plugin: PluginFiles = None, disable_plugin: DisabledPlugins = None
) -> None:
    """List metrics with unit, direction, formula and source."""
    registry = open_registry(plugin, disable_plugin)
    keys = ("name", "unit", "better", "level", "summary", "formula", "source", "caveat", "no_interval")
    rows = [{key: getattr(metric, key) for key in keys} for metric in registry.metrics.values()]
    _show(rows, as_json, ("name", "unit", "better", "summary", "source"))


@app.command("plots")
def plots(
    as_json: JsonOutput = False, plugin: PluginFiles = None, disable_plugin: DisabledPlugins = None
) -> None:
    """List plots."""
    registry = open_registry(plugin, disable_plugin)
    rows = [
        {"name": plot.name, "title": plot.title, "summary": plot.summary} for plot in registry.plots.values()
    ]
    _show(rows, as_json, ("name", "summary"))


@app.command("aliases")
def aliases(
    as_json: JsonOutput = False, plugin: PluginFiles = None, disable_plugin: DisabledPlugins = None
) -> None:
    """List the model names that stand for specs."""
    registry = open_registry(plugin, disable_plugin)
    rows = [{"alias": alias, "spec": spec} for alias, spec in sorted(registry.aliases.items())]
    _show(rows, as_json, ("alias", "spec"))


@app.command("runs")
def runs(
    folder: Annotated[str, typer.Argument(metavar="[FOLDER]", help="Where the runs are.")] = "reports",
    as_json: JsonOutput = False,
) -> None:
    """List runs, oldest first: when, whether finished, on what, how many failures."""
    from datetime import datetime
    from pathlib import Path

    from tokbench.results.run import open_runs

    rows = [
        {
            "run": str(run.path),
            "made": datetime.fromtimestamp(run.folder.manifest.stat().st_mtime).isoformat(" ", "minutes"),
            "status": run.manifest.get("status", "?"),
            "tokenizers": len(run.manifest.get("tokenizers", [])),
            "datasets": run.datasets,
            "failures": len(run.failures),
        }
        for run in open_runs(Path(folder))
    ]
    _show(rows, as_json, ("run", "made", "status", "tokenizers", "datasets", "failures"))


def _show(rows: Sequence[dict[str, Any]], as_json: bool, columns: Sequence[str]) -> None:
    """Print rows as JSON, or as a table of some of their columns."""
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, box=None)
    for row in rows:
        cells = (row[column] for column in columns)
        table.add_row(*(", ".join(cell) if isinstance(cell, list) else str(cell) for cell in cells))
    Console().print(table)
