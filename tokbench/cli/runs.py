"""`tokbench runs`: compares one run with another, and draws a metric over several."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tokbench.cli import options as opt
from tokbench.cli.loading import reading
from tokbench.cli.tables import plain_console, show_table
from tokbench.cli.writing import check_apart, check_target, put
from tokbench.errors import ResultsError, SpecError, StorageError
from tokbench.wording import counted, listed, printable, reason

if TYPE_CHECKING:
    from tokbench.registry import Registry

app = typer.Typer(help="Compare runs with each other.", no_args_is_help=True)


@app.command("compare")
@opt.with_registry
def compare(
    registry: Registry,
    before: Annotated[str, opt.argument("The folder of the earlier run.", "BEFORE")],
    after: Annotated[str, opt.argument("The folder of the later run.", "AFTER")],
    threshold: Annotated[str, opt.option("Ignore changes up to this share, as in 0.01 or 1%.", "SHARE")] = "0",
    metric: Annotated[
        opt.Several, opt.option("Only this metric. Repeatable.", "METRIC", "-m", "--metric")
    ] = None,
    budget: Annotated[
        opt.Several,
        opt.option(
            "A threshold for this metric only; in both directions if neither is better. Repeatable.",
            "METRIC=SHARE",
        ),
    ] = None,
    strict: Annotated[
        bool, opt.flag("A change beyond its threshold fails even if it may be chance.", "--strict")
    ] = False,
    every_language: Annotated[
        bool, opt.flag("Compare each language, too, or only the totals.", "--every-language/--totals")
    ] = True,
    junit: Annotated[Path | None, opt.option("Also write the verdicts as JUnit XML.", "FILE.xml")] = None,
    summary: Annotated[
        Path | None, opt.option("Add a summary in Markdown to this file, as CI jobs show it.", "FILE.md")
    ] = None,
    page: Annotated[Path | None, opt.option("Also write the comparison as an HTML page.", "FILE.html")] = None,
    as_json: opt.JsonOutput = False,
) -> None:
    """Show what changed between two runs: figures, versions, files.

    A figure has changed if it moved by more than the threshold and more than chance: over the same text by a
    test that pairs the two runs document by document, otherwise if their intervals do not overlap. A figure
    without an interval has no verdict if it was timed, or if the texts differ and it has no budget.

    Exit status: 0 nothing got worse, 1 something did or is no longer measured, 2 a wrong request, such as for
    figures that neither run has.
    """
    from tokbench.reports import gates
    from tokbench.results import Run
    from tokbench.results.atomic import write_bytes
    from tokbench.results.comparison import OTHER_UNIT, compare_figures, compare_manifests, unpaired

    check_apart({"--junit": junit, "--summary": summary, "--page": page})
    share, budgets = gates.share_of(threshold, "--threshold"), gates.budgets_of(budget or ())
    for name in (*budgets, *(metric or ())):
        registry.pick(registry.metrics, name, "metric")
    if metric and (without := [name for name in budgets if name not in metric]):
        raise SpecError(f"--budget {without[0]}: -m leaves this metric out; add -m {without[0]}")
    better = {name: each.better for name, each in registry.metrics.items()}
    one, other = Run.open(before), Run.open(after)
    for target, ending in ((junit, ".xml"), (summary, ""), (page, ".html")):
        if target is None:
            continue
        if target.is_dir():
            raise SpecError(f"{target} is a folder; name a file")
        one.folder.spare(target)
        other.folder.spare(target)
        if target.is_file() and ending not in ("", target.suffix):
            raise SpecError(f"{target} is there, and no {ending} file; name another")
    with reading(before, after, host=registry.host):
        timed = {name for name, each in registry.metrics.items() if each.level == "speed"}
        figures = compare_figures(
            one,
            other,
            better=better,
            timed=timed,
            threshold=share,
            budgets=budgets,
            metrics=[each for name, each in registry.metrics.items() if not metric or name in metric],
        )
        facts = compare_manifests(one, other)
        if metric:
            figures = figures[figures["metric"].isin(metric)]
        measured = {*figures["metric"]}
        if not every_language:
            figures = figures[figures["language"] == "all"]
        for name in [*(metric or ()), *budgets]:
            if name not in {*figures["metric"]}:
                beyond = " but of single languages, and --totals leaves these out" if name in measured else ""
                raise ResultsError(
                    f"neither {before} nor {after} has figures of {name}{beyond}, so there is no verdict"
                )
        apart = figures[figures["metric"].isin([*budgets]) & figures["unit"].str.contains(OTHER_UNIT)]
        for row in apart.itertuples():
            raise ResultsError(f"--budget {row.metric}: the runs have it in two units, {row.unit}")
        if page is not None:
            from tokbench.reports.comparison import write_comparison

            write_comparison(one, other, page, figures=figures, facts=facts)
    if junit is not None:
        write_bytes(junit, gates.junit(figures, strict=strict).encode("utf-8", "backslashreplace"))
    if summary is not None:
        try:
            summary.parent.mkdir(parents=True, exist_ok=True)
            with summary.open("a", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(printable(gates.summary(figures, strict=strict)))
        except OSError as error:
            raise StorageError(f"cannot write {summary}: {reason(error)}") from error
    if as_json:
        rows = figures.astype(object).where(figures.notna(), None).to_dict("records")
        put(json.dumps({"figures": rows, "facts": [asdict(fact) for fact in facts]}, indent=1, default=str))
    else:
        _print(figures, facts, unpaired(one, other))
        if page is not None:
            print(page)
    raise typer.Exit(1 if gates.fails(figures, strict=strict).any() else 0)


@app.command("chart")
@opt.with_registry
def chart(
    registry: Registry,
    runs: Annotated[list[Path], opt.argument("Folders of runs, oldest first.", "RUN RUN...")],
    metric: Annotated[str, opt.option("What is drawn.", "METRIC", "-m", "--metric")] = "compression_ratio",
    dataset: Annotated[str | None, opt.dataset_option("By default, the last run's main one.")] = None,
    output: Annotated[Path, opt.output_option("An .svg, .png or .pdf.")] = Path("runs.svg"),
    size: opt.FigureSize = "page",
    force: Annotated[bool, opt.flag("Overwrite the file.", "--force")] = False,
) -> None:
    """Draw a metric over runs, with a curve for each tokenizer."""
    from tokbench.plots.data import main_dataset, overall
    from tokbench.plots.files import known_format, save
    from tokbench.plots.history import draw_history
    from tokbench.plots.style import house_style
    from tokbench.results import Run

    registry.pick(registry.metrics, metric, "metric")
    check_target(output, force=force)
    known_format(output.suffix.lstrip("."))
    opened = [Run.open(run) for run in {run.resolve(): run for run in runs}.values()]
    if len(opened) < 2:
        raise ResultsError(
            f"a chart over time needs two or more runs, oldest first, and only {runs[0]} was named "
            f"(`tokbench list runs` shows them); to plot a single run: tokbench plot {runs[0]}"
        )
    with reading(*runs, host=registry.host), house_style(size):
        spec = main_dataset(opened[-1]) if dataset is None else str(registry.dataset_spec(dataset))
        figure = draw_history(opened, metric, spec)
        if figure is None:
            found = [run.frame[(run.frame["metric"] == metric) & run.frame["value"].notna()] for run in opened]
            if any(len(rows) for rows in found) and all((rows["language"] != "all").all() for rows in found):
                raise ResultsError(
                    f"{metric} is a figure of single languages, and what is drawn are those of a whole text; "
                    f"tokbench runs compare RUN RUN -m {metric} compares it by language"
                )
            held = ", ".join(f"{len(overall(run, metric, spec))} in {run.path}" for run in opened)
            raise ResultsError(
                f"no tokenizer has {metric} on {spec} in two of these runs ({held}), so there is no curve: "
                "name runs of the same tokenizers, another text (-d) or another metric (-m)"
            )
        save(figure, output)
        without = [run.path.name for run in opened if overall(run, metric, spec).empty]
    typer.echo(output)
    if without:
        typer.echo(f"{metric} on {spec} is not in {listed(without)}, through which no curve goes", err=True)


def _print(figures: Any, facts: Any, unpaired: list[str]) -> None:
    """What moved, a table for each tokenizer on each dataset, the worst first; what is in one run, a line."""
    from tokbench.reports.gates import change, number, worst_first
    from tokbench.results.comparison import OTHER_UNIT

    shown = plain_console()
    for (tokenizer, dataset), group in worst_first(figures).groupby(["tokenizer", "dataset"], sort=False):
        moved = group[group["verdict"] != "same"]
        if moved.empty:
            continue
        name = f"{tokenizer} · {dataset}" if dataset else tokenizer
        [verdict, *others] = moved["verdict"].unique()
        if verdict in _ALONE and not others and len(moved) == len(group):
            shown.print(f"{name}: {_ALONE[verdict]} ({counted(len(group), 'figure')})", soft_wrap=True)
            continue
        shown.print(name, style="bold", soft_wrap=True)
        numbers = ("change", "before", "after")
        rows = []
        for row in moved.itertuples():
            metric = row.metric if row.language == "all" else f"{row.metric}, {row.language}"
            metric += f" ({row.unit})" if OTHER_UNIT in row.unit else ""
            rows.append((metric, row.verdict, change(row.change), number(row.before), number(row.after)))
        show_table(("metric", "verdict", *numbers), rows, right=numbers)
    counts = figures["verdict"].value_counts()
    shown.print(", ".join(f"{n} {verdict}" for verdict, n in counts.items()) or "no figures in common")
    if unpaired:
        texts = f"{listed(unpaired)} {'has' if len(unpaired) == 1 else 'have'} another text"
        shown.print(
            f"Not paired document by document, and so less sure: {texts} in the two runs.", soft_wrap=True
        )
    for fact in facts:
        shown.print(f"{fact.name}: {_difference(fact.before, fact.after)}")


_ALONE = {"vanished": "only in BEFORE", "appeared": "only in AFTER"}


def _difference(before: Any, after: Any) -> str:
    """What changed in a setting; of two lists, what went and what came; of two tables, the keys."""
    from tokbench.reports.gates import setting

    if isinstance(before, dict) and isinstance(after, dict):
        keys = [key for key in before | after if before.get(key) != after.get(key)]
        return ", ".join(f"{key} {_difference(before.get(key), after.get(key))}" for key in keys)
    if isinstance(before, list) and isinstance(after, list):
        gone = [f"- {item}" for item in before if item not in after]
        new = [f"+ {item}" for item in after if item not in before]
        if gone or new:
            return ", ".join([*gone, *new])
    return f"{setting(before)} → {setting(after)}"
