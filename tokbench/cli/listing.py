"""`tokbench list`: what can be named in a suite or on the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tokbench.cli.loading import reading
from tokbench.cli.options import JsonOutput, argument, with_registry
from tokbench.cli.tables import show_facts, show_rows
from tokbench.cli.writing import print_json
from tokbench.errors import ResultsError
from tokbench.spec import Option

if TYPE_CHECKING:
    from tokbench.registry import Registry

Names = Annotated[list[str] | None, argument("Only these, with all that is known of them.", "[NAME]...")]

_RUNS = "reports"
"""Where runs go when nothing else is said; that nothing went there yet is no error."""

app = typer.Typer(
    help="What there is, plugins' included: tokenizers, datasets, metrics, plots, suites … and runs.",
    no_args_is_help=True,
)


def _list(
    what: str,
    kind: str,
    hook: str,
    *keys: str,
    shown: Sequence[str] = ("name", "summary"),
    doc: str = "",
    named: Sequence[str] = (),
) -> None:
    """Add ``tokbench list WHAT`` for what `hook` gives: files, or things of which `keys` are facts.

    Of all, the facts `shown` stand in a table; of each that was asked for those `named`, by default every one.
    """

    def things(registry: Registry, names: Names = None, as_json: JsonOutput = False) -> None:
        known: Mapping[str, Any] = getattr(registry, hook.removeprefix("tokbench_"))
        rows: list[dict[str, Any]] = []
        for name in names or known:
            thing = registry.pick(known, name, kind)
            facts = (
                {"file": str(thing)} if isinstance(thing, Path) else {key: _fact(thing, key) for key in keys}
            )
            rows.append({"name": name, **facts, "plugin": registry.owner(name, hook)})
        if as_json or not names:
            if rows or as_json:
                _show(rows, as_json, [key for key in shown if rows and key in rows[0]])
            else:
                print(f"there is no {kind}; plugins bring them")
            return
        for row in rows:
            thing, chosen = known[row["name"]], named or [key for key in row if key != "name"]
            counters = [f"{name}: {what}" for name, what in getattr(thing, "counters", {}).items()]
            facts = {key.replace("_", " "): row[key] for key in chosen}
            show_facts(row["name"], facts | {"counts itself": counters})
            _show_options(getattr(thing, "options", ()))

    things.__doc__ = doc or f"List {kind}s; for those that you name, everything that is known about them."
    app.command(what)(with_registry(things))


for _what in ("tokenizer", "dataset"):
    _list(
        *(f"{_what}s", f"{_what} family", f"tokbench_{_what}s", "summary", "variant", "options", "examples"),
        *(("trainable",) if _what == "tokenizer" else ()),
        shown=("name", "summary", "examples"),
        doc=f"List {_what} families; for those that you name, every option with its default and meaning.",
        named=("summary", "variant", "examples"),
    )
_list(
    *("metrics", "metric", "tokbench_metrics", "unit", "better", "level", "summary", "formula", "source"),
    *("caveat", "no_interval"),
    shown=("name", "unit", "better", "summary"),
    doc="List metrics with unit and direction; for those that you name, also formula, source and caveat.",
)
_list("plots", "plot", "tokbench_plots", "summary", "title", "needs")
_list("formats", "report format", "tokbench_report_writers", "summary", "suffix")
_list("engines", "engine", "tokbench_engines", "summary", "shared", "package", "install")
_list("checks", "check", "tokbench_checks", "summary", "code", "harm", shown=("name", "code", "summary"))
_list("commands", "command", "tokbench_commands", "summary")
_list("suites", "suite", "tokbench_suites", shown=("name", "file"))
_list("prices", "price table", "tokbench_prices", shown=("name", "file"))


@app.command("aliases")
@with_registry
def aliases(registry: Registry, as_json: JsonOutput = False) -> None:
    """List the model names that can be used in place of specs."""
    rows = [{"alias": alias, "spec": spec} for alias, spec in sorted(registry.aliases.items())]
    _show(rows, as_json, ("alias", "spec"))


@app.command("runs")
def runs(
    folder: Annotated[str, argument("Where the runs are.", "[FOLDER]", show_default=True)] = _RUNS,
    as_json: JsonOutput = False,
) -> None:
    """List runs, oldest first: when, whether finished, on what, how many failures."""
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
                "tokenizers": len(run.manifest.get("tokenizers", [])) or "?",  # a run just begun has none yet
                "datasets": run.datasets,
                "failures": len(run.failures),
            }
        rows.append({"failures": "?"} | row)
    if not rows and not as_json:
        print(f"no runs in {folder}")
        return
    _show(rows, as_json, ("run", "made", "status", "tokenizers", "datasets", "failures"))


def _fact(thing: object, key: str) -> Any:
    """A fact in JSON's types; of options, their names."""
    fact = getattr(thing, key)
    return [getattr(each, "name", each) for each in fact] if isinstance(fact, tuple) else fact


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
