"""`tokbench plot`: draw the figures of a finished run as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.loading import open_run, reading
from tokbench.cli.options import FigureSize, RunArgument, output_option, with_registry
from tokbench.cli.writing import check_target

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        Path | None,
        output_option("A folder, or the file of one plot (.svg, .png, .pdf).", show_default="RUN/plots"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a file that is no plot of this run.")
    ] = False,
) -> None:
    """Draw plots of a run. Exit status 1 where one that was named has no data."""
    from tokbench.plots.files import write_plots

    opened = open_run(registry, run)
    plots = [registry.pick(registry.plots, name, "plot") for name in dict.fromkeys(names or registry.plots)]
    place = output or opened.folder.plots
    for target in _targets(place, plots, formats or ()):
        check_target(target, force=force or opened.folder.wrote(target))
    missing: list[Plot] = []
    with reading(run, host=registry.host):
        written = write_plots(
            opened, plots, place, formats=formats or ["svg"], size=size, on_missing=missing.append
        )
    opened.folder.remember(written)
    for target in written:
        typer.echo(target)
    for each in missing:
        typer.echo(f"{each.name}: not drawn, the run lacks {each.needs or 'the data'}", err=True)
    if missing and names:
        raise typer.Exit(1)


def _targets(place: Path, plots: Sequence[Plot], formats: Sequence[str]) -> list[Path]:
    """The one file at `place`, or those that are in the folder already and would be overwritten.

    Raises `SpecError` for a file that is to hold several plots, or another format than its ending says.
    """
    from tokbench.errors import SpecError
    from tokbench.plots.files import format_of, known_format

    wanted = {known_format(kind) for kind in formats}
    own = format_of(place)
    if own is None and str(place) != "-":
        files = (place / f"{plot.name}.{kind}" for plot in plots for kind in wanted or ("svg",))
        return [file for file in files if file.exists()]
    if len(plots) > 1:
        raise SpecError(f"{place} is one file, for {len(plots)} plots: name one of them, or a folder for all")
    if wanted - {own}:
        raise SpecError(
            f"{place} is to be {own}, and --format says {', '.join(sorted(wanted))}: give one of both"
        )
    return [place]
