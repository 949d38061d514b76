"""`tokbench report`: write a finished run in one of the formats there are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tokbench.cli.shared import DisabledPlugins, PluginFiles, open_registry


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", "-f", help="html, md, latex, card, csv, json, parquet or xlsx. Repeatable."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; by default, in the run's folder.")
    ] = None,
    plugin: PluginFiles = None,
    disable_plugin: DisabledPlugins = None,
) -> None:
    """Write a report of a run: html by default."""
    from tokbench.errors import TokbenchError
    from tokbench.results import Run

    registry = open_registry(plugin, disable_plugin)
    wanted = formats or ["html"]
    writers = [registry.pick(registry.report_writers, name, "report format") for name in wanted]
    if output is not None and len(writers) > 1:
        raise TokbenchError("--output names one file: give it with one --format, or leave it out")
    opened = Run.open(run)
    for writer in writers:
        target = output or opened.path / f"report{writer.suffix}"
        writer.write(opened, target)
        typer.echo(target)
