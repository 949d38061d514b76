"""`tokbench plot`: draw the figures of a finished run as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tokbench.cli.shared import DisabledPlugins, PluginFiles, open_registry


def plot(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Plots, as `tokbench list plots` names them; all by default."),
    ] = None,
    formats: Annotated[
        list[str] | None, typer.Option("--format", "-f", help="svg, png or pdf. Repeatable.")
    ] = None,
    size: Annotated[str, typer.Option("--size", help="Where it will stand: column, page or slide.")] = "page",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder to write to; by default RUN/plots.")
    ] = None,
    plugin: PluginFiles = None,
    disable_plugin: DisabledPlugins = None,
) -> None:
    """Draw plots of a run. Exit status 1 where one that was named has no data."""
    from tokbench.plots import style
    from tokbench.results import Run

    registry = open_registry(plugin, disable_plugin)
    plots = [registry.pick(registry.plots, name, "plot") for name in names or registry.plots]
    kinds = [style.known_format(kind) for kind in formats or ["svg"]]
    opened = Run.open(run)
    folder = output or opened.folder.plots
    missing = False
    for each in plots:
        with style.house_style(size):
            figure = each.draw(opened)
            if figure is None:
                missing = missing or bool(names)
                typer.echo(f"{each.name}: not drawn, the run lacks {each.needs or 'the data'}", err=True)
                continue
            for kind in kinds:
                target = folder / f"{each.name}.{kind}"
                style.save(figure, target)
                typer.echo(target)
    if missing:
        raise typer.Exit(1)
