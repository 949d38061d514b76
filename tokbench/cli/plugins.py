"""`tokbench plugins`: what is installed, and whether it works."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.options import JsonOutput, open_registry, with_registry
from tokbench.cli.tables import show_rows
from tokbench.cli.writing import print_json
from tokbench.wording import counted

if TYPE_CHECKING:
    from tokbench.registry import Registry

app = typer.Typer(help="Installed plugins: list, check, make a new one.", no_args_is_help=True)


@app.command("list")
@with_registry
def list_plugins(registry: Registry, as_json: JsonOutput = False) -> None:
    """List plugins with distribution, version, hooks, status and error; exit status 1 where one failed."""
    from dataclasses import asdict

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
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the plugin, as it will stand in specs.")],
    kind: Annotated[
        str, typer.Option(help="tokenizer, trainable, metric, dataset, plot, report or engine.")
    ] = "tokenizer",
    folder: Annotated[
        Path | None,
        typer.Option("--folder", "-o", metavar="DIR", help="Where to write it.", show_default="./NAME"),
    ] = None,
) -> None:
    """Write a complete plugin package: entry point, example, tests, README, CI."""
    from tokbench.errors import SpecError
    from tokbench.scaffold import write_plugin
    from tokbench.testing.kit import checkable

    registry = open_registry()
    taken = {**dict.fromkeys(("tokenizer", "trainable"), registry.tokenizers), **checkable(registry)}
    for own in {name, name.replace("-", "_")} & {*taken.get(kind, ())}:  # a metric has the latter
        what = "tokenizer" if kind == "trainable" else kind
        raise SpecError(f"there is a {what} {own!r} already, and two of one name cannot be told apart")
    if name in registry.host.plugins:
        raise SpecError(f"there is a plugin named {name!r} already; choose another name")
    files = write_plugin(name, kind, folder)
    root = folder or Path(name)
    for file in files:
        print(file)
    print(f"\nNow: cd {root} && pip install -e . && pytest")


@app.command("check")
@with_registry
def check_plugin(
    registry: Registry,
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            help="A tokenizer or dataset by spec; a metric, plot … by name.",
        ),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            help="tokenizer, dataset, metric, plot, report or engine.", show_default="the one of that name"
        ),
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="Texts drawn for each check of a tokenizer.")] = 100,
    train_on: Annotated[
        str, typer.Option(metavar="DATASET", help="What a tokenizer without a file is trained on.")
    ] = "stdlib:docs",
) -> None:
    """Run the conformance kit; exit status 1 when a check fails."""
    from tokbench.errors import UnknownNameError
    from tokbench.testing import failures_of
    from tokbench.testing.kit import checkable, failures_of_other

    offered = checkable(registry)
    name = spec.partition(":")[0].partition(",")[0]
    if kind is None and name not in registry.tokenizers:
        kind = next((kind for kind, known in offered.items() if name in known), None)
    if kind is None:
        _check_known(registry, spec, {each: kind for kind, known in offered.items() for each in known})
    if kind is not None and kind not in ("tokenizer", *offered):
        raise UnknownNameError.of("kind of thing to check", kind, ["tokenizer", *offered])
    if kind in offered:
        failures = failures_of_other(kind, spec, registry)
    else:
        failures = failures_of(spec, examples=examples, registry=registry, train_on=train_on)
    for failure in failures:
        print(f"- {failure}")
    fail = f"{counted(len(failures), 'check')} {'fails' if len(failures) == 1 else 'fail'}"
    print(f"{spec}: {fail if failures else 'conforms'}")
    raise typer.Exit(1 if failures else 0)


def _check_known(registry: Registry, spec: str, others: Mapping[str, str]) -> None:
    """Raise `UnknownNameError` for no tokenizer's name that is nearest to one of `others`, kinds by name."""
    from tokbench.errors import UnknownNameError, nearest

    try:
        registry.tokenizer_spec(spec)
    except UnknownNameError:
        name = spec.partition(":")[0]
        near = nearest(name, [*registry.tokenizers, *others])
        if near and near[0] in others:
            meant = f"the {others[near[0]]} {near[0]!r}"
            raise UnknownNameError(f"unknown name {name!r}; did you mean {meant}?") from None
        raise
