"""`tokbench plugins`: what is installed, and whether it works."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli import options as opt
from tokbench.cli.tables import show_rows
from tokbench.cli.writing import print_json
from tokbench.errors import SpecError, UnknownNameError, nearest
from tokbench.wording import counted, printable

if TYPE_CHECKING:
    from tokbench.registry import Registry
    from tokbench.testing import Failure

app = typer.Typer(help="Installed plugins: list, check, make a new one.", no_args_is_help=True)


@app.command("list")
@opt.with_registry
def list_plugins(registry: Registry, as_json: opt.JsonOutput = False) -> None:
    """List plugins with distribution, version, hooks, status and error; exit status 1 if one failed."""
    registry.tokenizers  # noqa: B018  (a hook that raises shows only when asked)
    registry.ask_outsiders()
    rows = list(registry.host.plugins.values())
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        hooks = (", ".join(name.removeprefix("tokbench_") for name in row.hooks) for row in rows)
        shown = [
            asdict(row) | {"plugin": row.name, "hooks": row.error or names}
            for row, names in zip(rows, hooks, strict=True)
        ]
        show_rows(shown, ("plugin", "distribution", "version", "status", "hooks"))
    raise typer.Exit(1 if registry.host.failures() else 0)


@app.command("new")
def new_plugin(
    name: Annotated[str, opt.argument("Name of the plugin, as it will stand in specs.", "NAME")],
    kind: Annotated[
        str, opt.option("tokenizer, trainable, metric, dataset, plot, report or engine.")
    ] = "tokenizer",
    folder: Annotated[
        Path | None, opt.option("Where to write it.", "DIR", "--folder", "-o", show_default="./NAME")
    ] = None,
) -> None:
    """Write a complete plugin package: entry point, example, tests, README, CI."""
    from tokbench.scaffold import write_plugin
    from tokbench.testing.kit import checkable

    registry = opt.open_registry()
    what = "tokenizer" if kind == "trainable" else kind
    for own in {name, name.replace("-", "_")} & {*checkable(registry).get(what, ())}:  # a metric has the latter
        raise SpecError(f"there is already a {what} named {own!r}; choose another name")
    if name in registry.host.plugins:
        raise SpecError(f"there is already a plugin named {name!r}; choose another name")
    files = write_plugin(name, kind, folder)
    root = folder or Path(name)
    for file in files:
        print(file)
    print(f"\nNow: cd {root} && pip install -e . && pytest")


@app.command("check")
@opt.with_registry
def check_plugin(
    registry: Registry,
    spec: Annotated[str, opt.argument("A tokenizer or dataset by spec; a metric, plot … by name.", "SPEC")],
    kind: Annotated[
        str | None,
        opt.option("tokenizer, dataset, metric, plot, report or engine.", show_default="the one of that name"),
    ] = None,
    examples: Annotated[int, opt.option("Texts drawn for each check of a tokenizer.", min=1)] = 100,
    train_on: Annotated[
        str, opt.option("What a tokenizer without a file is trained on.", "DATASET")
    ] = "stdlib:docs",
) -> None:
    """Run the conformance checks; exit status 1 if one fails."""
    from tokbench.testing.apart import failures_apart
    from tokbench.testing.kit import HOOKS
    from tokbench.testing.metrics import no_value

    kind = kind or _kind_of(registry, spec)
    if kind not in HOOKS:
        raise UnknownNameError.of("kind of thing to check", kind, HOOKS)
    failures, printed = failures_apart(_failures, registry, kind, spec, examples, train_on)
    typer.echo(printable(printed), nl=False, err=True)
    for failure in failures:
        print(f"- {failure}")
    if failures:
        print(f"{spec}: {counted(len(failures), 'check')} {'fails' if len(failures) == 1 else 'fail'}")
    elif kind == "metric" and (why := no_value(registry.metric(spec))):
        print(f"{spec}: conforms, but it had no value on the text it was tried on ({why})")
    else:
        print(f"{spec}: conforms")
    raise typer.Exit(1 if failures else 0)


def _failures(registry: Registry, kind: str, spec: str, examples: int, train_on: str) -> list[Failure]:
    from tokbench.testing.kit import failures_of, failures_of_other

    if kind == "tokenizer":
        return failures_of(spec, examples=examples, registry=registry, train_on=train_on)
    return failures_of_other(kind, spec, registry)


def _kind_of(registry: Registry, spec: str) -> str:
    """What is meant by a name: what a plugin brings before what is built in.

    Raises `SpecError` where that is several kinds of thing, `UnknownNameError` for none, with the nearest.
    """
    from tokbench.testing.kit import HOOKS, checkable

    name = spec.partition(":")[0].partition(",")[0]
    known = checkable(registry)
    kinds = [kind for kind, things in known.items() if name in things]
    kinds = [kind for kind in kinds if not registry.in_house(name, HOOKS[kind])] or kinds
    if len(kinds) > 1:
        raise SpecError(f"{name!r} is a {' and a '.join(kinds)}; say which with --kind")
    if kinds:
        return kinds[0]
    try:
        registry.tokenizer_spec(spec)
    except UnknownNameError:
        kind_of = {name: kind for kind, things in reversed(known.items()) for name in things}
        near = nearest(name, kind_of)
        if near and kind_of[near[0]] != "tokenizer":
            meant = f"the {kind_of[near[0]]} {near[0]!r}"
            raise UnknownNameError(f"unknown name {name!r}; did you mean {meant}?") from None
        raise
    return "tokenizer"
