"""`tokbench report` and `plot`: a finished run written in one of the formats there are, its figures drawn."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli import options as opt
from tokbench.cli.loading import open_run, reading
from tokbench.cli.writing import check_apart, check_target, put
from tokbench.errors import SpecError, TokbenchError
from tokbench.extension import Plot, ReportWriter
from tokbench.wording import listed

if TYPE_CHECKING:
    from tokbench.registry import Registry
    from tokbench.results import Run


@opt.with_registry
def report(
    registry: Registry,
    run: opt.RunArgument,
    formats: Annotated[
        opt.Several,
        opt.option(
            "html, md, latex, card, csv, spreadsheet, json, parquet or xlsx. Repeatable.",
            "FORMAT",
            "--format",
            "-f",
        ),
    ] = None,
    output: Annotated[
        Path | None, opt.output_option("Where it goes, - for stdout; by default, the run's folder.")
    ] = None,
    dataset: Annotated[
        opt.Several, opt.dataset_option("latex: a dataset, if not all are wanted. Repeatable.")
    ] = None,
    metric: Annotated[
        opt.Several, opt.option("latex: a column of the table. Repeatable.", "METRIC", "-m", "--metric")
    ] = None,
    row: Annotated[
        opt.Several, opt.option("latex: a tokenizer of the table. Repeatable.", "SPEC", "--row")
    ] = None,
    label: Annotated[
        opt.Several,
        opt.option("latex: a tokenizer's or metric's name. Repeatable.", "NAME=LABEL", "--label"),
    ] = None,
    caption: Annotated[str, opt.option("latex: the caption of the table.", "TEXT")] = "",
    force: Annotated[bool, opt.flag("Overwrite a file that is not a report of this run.", "--force")] = False,
    weights: Annotated[
        str | None, opt.option("html, md: weights of the decision.", "NAME=W,…", show_default=opt.WEIGHTS_SHOWN)
    ] = None,
) -> None:
    """Write a report of a run, in the format of the ending of --output, or else as HTML."""
    from tokbench.api import check_ending, format_of

    opened = open_run(registry, run)
    wanted = formats or [format_of(output, registry)]
    writers = [registry.pick(registry.report_writers, name, "report format") for name in wanted]
    if output is not None and len(writers) > 1:
        raise TokbenchError("--output names one file: give it with one --format, or leave it out")
    if output is not None:
        check_ending(output, writers[0], registry)
    if weights is not None:
        opened = _weighted(opened, weights, writers, registry)
    if dataset or metric or row or label or caption:
        datasets = tuple(str(registry.dataset_spec(each)) for each in dataset or ())
        chosen = tuple(metric or ()), tuple(row or ()), label or ()
        writers = [_latex(writer, datasets, *chosen, caption) for writer in writers]
    if str(output) == "-":
        with reading(run, host=registry.host):
            _print(opened, writers[0])
        return
    targets = [output or opened.path / f"report{writer.suffix}" for writer in writers]
    check_apart({f"--format {writer.name}": target for writer, target in zip(writers, targets, strict=True)})
    for target in targets:
        check_target(target, force=force or opened.folder.wrote(target))
    for writer, target in zip(writers, targets, strict=True):
        with reading(run, host=registry.host):
            writer.written(opened, target)
        opened.folder.remember([target])
        typer.echo(target)


def _weighted(run: Run, weights: str, writers: Sequence[ReportWriter], registry: Registry) -> Run:
    """The run as if its suite had asked for these weights.

    Raises `SpecError` for a format that shows no decision, and where none can be made.
    """
    from tokbench.metrics.weights import weights_of
    from tokbench.reports.criteria import known_criteria
    from tokbench.reports.decision import decide

    for writer in writers:
        if not writer.decides:
            deciding = listed([each.name for each in registry.report_writers.values() if each.decides])
            raise SpecError(f"--weights is for the formats with a decision, {deciding}, not {writer.name}")
    chosen = weights_of(weights)
    suite = {**run.manifest.get("suite", {}), "weights": chosen}
    weighted = replace(run, manifest={**run.manifest, "suite": suite})
    if decide(weighted) is None:
        known = list(known_criteria(weighted))
        why = "it takes two tokenizers that lose nothing, with figures of all that weighs"
        if not any(chosen[name] for name in known):
            why = f"the run has figures of {', '.join(known) or 'no criterion'}, which weigh nothing here"
        raise SpecError(f"--weights {weights}: no decision can be made: {why}")
    return weighted


def _latex(
    writer: ReportWriter,
    datasets: tuple[str, ...],
    metrics: tuple[str, ...],
    rows: tuple[str, ...],
    labels: Sequence[str],
    caption: str,
) -> ReportWriter:
    """The LaTeX writer with what was chosen for it."""
    from tokbench.reports import latex

    if writer.name != "latex":
        of_latex = "--dataset, --metric, --row, --label and --caption"
        raise SpecError(f"{of_latex} are for --format latex, not {writer.name}")
    named = dict(each.rpartition("=")[::2] for each in labels)
    if "" in named:
        raise SpecError("--label takes NAME=LABEL, as in bytes='UTF-8 bytes'")
    choice = latex.Choice(datasets=datasets, metrics=metrics, rows=rows, labels=named, caption=caption)
    return replace(writer, write=lambda run, path: latex.write(run, path, choice))


def _print(run: Run, writer: ReportWriter) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"report{writer.suffix}"
        writer.written(run, path)
        put(path.read_bytes())


@opt.with_registry
def plot(
    registry: Registry,
    run: opt.RunArgument,
    names: Annotated[
        opt.Several,
        opt.argument("Plots, as `tokbench list plots` names them; all by default.", "[NAME]..."),
    ] = None,
    formats: Annotated[
        opt.Several, opt.option("svg, png or pdf. Repeatable.", "FORMAT", "--format", "-f")
    ] = None,
    size: opt.FigureSize = "page",
    output: Annotated[
        Path | None,
        opt.output_option("A folder, or the file of one plot (.svg, .png, .pdf).", show_default="RUN/plots"),
    ] = None,
    force: Annotated[bool, opt.flag("Overwrite a file that is not a plot of this run.", "--force")] = False,
) -> None:
    """Draw plots of a run. Exit status 1 if one that was named has no data."""
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
        typer.echo(f"{each.name}: not drawn; it needs {each.needs or 'data that the run lacks'}", err=True)
    if missing and names:
        raise typer.Exit(1)


def _targets(place: Path, plots: Sequence[Plot], formats: Sequence[str]) -> list[Path]:
    """The one file at `place`, or those that are in the folder already and would be overwritten.

    Raises `SpecError` for a file that is to hold several plots, or another format than its ending says.
    """
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
