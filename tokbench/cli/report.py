"""`tokbench report`: write a finished run in one of the formats there are."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.shared import DisabledPlugins, PluginFiles, open_registry

if TYPE_CHECKING:
    from tokbench.extension import ReportWriter
    from tokbench.results import Run


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="html, md, latex, card, csv, json, parquet or xlsx. Repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where it goes, - for stdout; by default, the run's folder.",
        ),
    ] = None,
    plugin: PluginFiles = None,
    disable_plugin: DisabledPlugins = None,
) -> None:
    """Write a report of a run, in the format that --output's ending says, else html."""
    from tokbench.errors import TokbenchError
    from tokbench.results import Run
    from tokbench.results.run import format_of

    registry = open_registry(plugin, disable_plugin)
    wanted = formats or [format_of(output, registry.report_writers)]
    writers = [registry.pick(registry.report_writers, name, "report format") for name in wanted]
    if output is not None and len(writers) > 1:
        raise TokbenchError("--output names one file: give it with one --format, or leave it out")
    opened = Run.open(run)
    if str(output) == "-":
        _print(opened, writers[0])
        return
    for writer in writers:
        target = output or opened.path / f"report{writer.suffix}"
        writer.write(opened, target)
        opened.folder.remember([target])
        typer.echo(target)


def _print(run: Run, writer: ReportWriter) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"report{writer.suffix}"
        writer.write(run, path)
        sys.stdout.buffer.write(path.read_bytes())
