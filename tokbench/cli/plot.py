"""`tokbench plot`: draw the figures of a finished run as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.loading import open_run, reading
from tokbench.cli.options import FigureSize, RunArgument, output_option, with_registry

if TYPE_CHECKING:
    from tokbench.extension import Plot
    from tokbench.registry import Registry


@with_registry
def plot(
    registry: Registry,
    run: RunArgument,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Plots, as `tokbench list plots` names them; all by default."),
    ] = None,
    formats: Annotated[
        list[str] | None, typer.Option("--format", "-f", metavar="FORMAT", help="svg, png or pdf. Repeatable.")
    ] = None,
    size: FigureSize = "page",
    output: Annotated[
        Path | None, output_option("The folder to write to; by default RUN/plots.", "DIR")
    ] = None,
) -> None:
    """Draw plots of a run. Exit status 1 where one that was named has no data."""
    from tokbench.plots.files import write_plots

    opened = open_run(registry, run)
    plots = [registry.pick(registry.plots, name, "plot") for name in names or registry.plots]
    missing: list[Plot] = []
    folder = output or opened.folder.plots
    with reading(run, host=registry.host):
        written = write_plots(
            opened, plots, folder, formats=formats or ["svg"], size=size, on_missing=missing.append
        )
    opened.folder.remember(written)
    for target in written:
        typer.echo(target)
    for each in missing:
        typer.echo(f"{each.name}: not drawn, the run lacks {each.needs or 'the data'}", err=True)
    if missing and names:
        raise typer.Exit(1)
