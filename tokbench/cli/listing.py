"""`tokbench list`: what can be named in a suite or on the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tokbench.cli.loading import reading
from tokbench.cli.options import JsonOutput, argument, with_registry
from tokbench.cli.tables import show_facts, show_rows
from tokbench.cli.writing import print_json

if TYPE_CHECKING:
    from tokbench.registry import Registry
    from tokbench.spec import Option

T = TypeVar("T")
Names = Annotated[list[str] | None, argument("Only these, with all that is known of them.", "[NAME]...")]

_RUNS = "reports"
"""Where runs go when nothing else is said; that nothing went there yet is no error."""

app = typer.Typer(
    help="What there is, plugins' included: tokenizers, datasets, metrics, plots, suites … and runs.",
    no_args_is_help=True,
)


def _list_families(what: str, kind: str, kinds: str, *more: str) -> None:
    """Add ``tokbench list WHAT`` for families, with `more` facts of each in its JSON."""

    def families(registry: Registry, names: Names = None, as_json: JsonOutput = False) -> None:
        found = _chosen(registry, getattr(registry, what), names, kind)
        rows: list[dict[str, Any]] = [
            {
                **{key: getattr(family, key) for key in ("name", "summary", "variant")},
                "options": [option.name for option in family.options],
                "examples": list(family.examples),
                "plugin": registry.owner(family.name, f"tokbench_{what}"),
                **{key: getattr(family, key) for key in more},
            }
            for family in found
        ]
        if as_json or not names:
            _show(rows, as_json, ("name", "summary", "examples"))
            return
        for family, row in zip(found, rows, strict=True):
            show_facts(family.name, {key: row[key] for key in ("summary", "variant", "examples")})
            _show_options(family.options)

    families.__doc__ = f"List {kinds}; of those named, every option with its default and what it does."
    app.command(what)(with_registry(families))


_list_families("tokenizers", "tokenizer family", "tokenizer families", "trainable")
_list_families("datasets", "dataset family", "dataset families")


@app.command("metrics")
@with_registry
def metrics(registry: Registry, names: Names = None, as_json: JsonOutput = False) -> None:
    """List metrics with unit and direction; of those named, formula, source and caveat too."""
    keys = ("name", "unit", "better", "level", "summary", "formula", "source", "caveat", "no_interval")
    found = _chosen(registry, registry.metrics, names, "metric")
    rows = [{key: getattr(metric, key) for key in keys} for metric in found]
    for row in rows:
        row["plugin"] = registry.owner(row["name"], "tokbench_metrics")
    if names and not as_json:
        for row, metric in zip(rows, found, strict=True):
            row["no interval"] = row.pop("no_interval")
            row["counts itself"] = [f"{name}: {what}" for name, what in metric.counters.items()]
            show_facts(str(row.pop("name")), row)
            _show_options(metric.options)
    else:
        _show(rows, as_json, ("name", "unit", "better", "summary"))


def _list_others(what: str, kind: str, hook: str, *more: str) -> None:
    """Add ``tokbench list WHAT`` for what `hook` gives: things with a summary and `more` facts, or files."""

    def others(registry: Registry, names: Names = None, as_json: JsonOutput = False) -> None:
        things: Mapping[str, Any] = getattr(registry, hook.removeprefix("tokbench_"))
        _chosen(registry, things, names, kind)
        rows = []
        for name in names or things:
            thing = things[name]
            own = {"file": str(thing)} if isinstance(thing, Path) else {"summary": thing.summary}
            own |= {key: getattr(thing, key) for key in more}
            rows.append({"name": name, **own, "plugin": registry.owner(name, hook)})
        if names and not as_json:
            for row in rows:
                show_facts(str(row.pop("name")), row)
        elif rows or as_json:
            shown = [key for key in ("name", "code", "summary", "file") if rows and key in rows[0]]
            _show(rows, as_json, shown)
        else:
            print(f"there is no {kind}; plugins bring them")

    others.__doc__ = f"List {kind}s; of those named, all that is known of them."
    app.command(what)(with_registry(others))


_list_others("plots", "plot", "tokbench_plots", "title", "needs")
_list_others("formats", "report format", "tokbench_report_writers", "suffix")
_list_others("engines", "engine", "tokbench_engines", "shared")
_list_others("checks", "check", "tokbench_checks", "code", "harm")
_list_others("commands", "command", "tokbench_commands")
_list_others("suites", "suite", "tokbench_suites")
_list_others("prices", "price table", "tokbench_prices")


@app.command("aliases")
@with_registry
def aliases(registry: Registry, as_json: JsonOutput = False) -> None:
    """List the model names that stand for specs."""
    rows = [{"alias": alias, "spec": spec} for alias, spec in sorted(registry.aliases.items())]
    _show(rows, as_json, ("alias", "spec"))


@app.command("runs")
def runs(
    folder: Annotated[str, argument("Where the runs are.", "[FOLDER]", show_default=True)] = _RUNS,
    as_json: JsonOutput = False,
) -> None:
    """List runs, oldest first: when, whether finished, on what, how many failures."""
    from datetime import datetime

    from tokbench.errors import ResultsError
    from tokbench.results.run import open_runs

    if folder != _RUNS and not Path(folder).is_dir():
        raise ResultsError(f"{folder}: no such folder; name the one that holds the folders of your runs")
    rows = []
    for run in open_runs(Path(folder)):
        row: dict[str, Any] = {
            "run": str(run.path),
            "made": "?",
            "status": "unreadable",
            "tokenizers": "?",
            "datasets": [],
        }
        with contextlib.suppress(ResultsError), reading(run.path):
            made = datetime.fromtimestamp(run.folder.manifest.stat().st_mtime).isoformat(" ", "minutes")
            row |= {
                "made": made,
                "status": run.manifest.get("status", "?"),
                "tokenizers": len(run.manifest.get("tokenizers", [])),
                "datasets": run.datasets,
                "failures": len(run.failures),
            }
        rows.append({"failures": "?"} | row)
    if not rows and not as_json:
        print(f"no runs in {folder}")
        return
    _show(rows, as_json, ("run", "made", "status", "tokenizers", "datasets", "failures"))


def _chosen(registry: Registry, things: Mapping[str, T], names: list[str] | None, kind: str) -> list[T]:
    """All of `things`, or those that are named; raises `UnknownNameError` with the nearest names."""
    return [registry.pick(things, name, kind) for name in names] if names else list(things.values())


def _show_options(options: Sequence[Option]) -> None:
    rows = [
        {
            "option": option.name,
            "takes": " | ".join(option.choices) or option.type,
            "default": "" if option.default is None else str(option.default),
            "what it does": option.help,
        }
        for option in options
    ]
    if rows:
        show_rows(rows, list(rows[0]))


def _show(rows: Sequence[dict[str, Any]], as_json: bool, columns: Sequence[str]) -> None:
    """Print rows as JSON, or as a table of some of their columns."""
    if as_json:
        print_json(rows)
    else:
        show_rows(rows, columns)
