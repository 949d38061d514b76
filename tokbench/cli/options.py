"""The options that several commands have, and the registry that the plugin options among them lead to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from tokbench.cli.writing import output_for_programs
from tokbench.errors import SpecError, TokbenchError
from tokbench.wording import listed, printable

if TYPE_CHECKING:
    from tokbench.registry import Registry

WEIGHTS_SHOWN = "price=3, fairness=2, context=1, lossless=1, embedding=1, speed=0"
"""The default weights of the decision (`tokbench.metrics.weights`), for `--help`."""


def argument(help: str, metavar: str, *, show_default: bool = False) -> Any:
    """An argument of a command, for `Annotated`."""
    return typer.Argument(metavar=metavar, help=help, show_default=show_default)


def option(help: str, metavar: str | None = None, *names: str, **more: Any) -> Any:
    """An option, for `Annotated`: what it does, what it takes, and its names, where not by its parameter's."""
    if metavar in NAMED:
        more.setdefault("callback", _named)
    return typer.Option(*names, metavar=metavar, help=help, **more)


NAMED = {
    "SPEC": "a family that `tokbench list tokenizers` shows, or a file",
    "SPEC SPEC": "two families that `tokbench list tokenizers` shows, or files",
    "DATASET": "a family that `tokbench list datasets` shows, or a file",
    "METRIC": "a metric that `tokbench list metrics` shows",
    "CODE": "a code that `tokbench list checks` shows",
    "LANGUAGE": "a language",
}
"""What to name, by what an option takes; nothing at all, as of a variable that is not set, is refused."""


def _named(parameter: typer.CallbackParam, value: Any) -> Any:
    given = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(each, str) and not each.strip() for each in given):
        one = NAMED[str(parameter.metavar)]
        raise typer.BadParameter(f"nothing is named. Name {one}, or leave the option out.")
    return value


def flag(help: str, *names: str, **more: Any) -> Any:
    """An option that takes nothing."""
    return typer.Option(*names, help=help, **more)


def dataset_option(help: str, **more: Any) -> Any:
    """``-d DATASET``, with what the text is for."""
    return option(help, "DATASET", "-d", "--dataset", **more)


def output_option(help: str, metavar: str = "FILE", **more: Any) -> Any:
    """``-o FILE``, with what goes there."""
    return option(help, metavar, "-o", "--output", **more)


@dataclass(frozen=True, slots=True)
class OnlyWith:
    """In `Annotated`: the option does nothing without another, named as its parameter, and is refused then."""

    needed: str


Several = list[str] | None
"""What an option gives that may be repeated."""
SpecArgument = Annotated[str, argument("A tokenizer.", "SPEC")]
SpecArguments = Annotated[list[str], argument("Tokenizers.", "SPEC…")]
RunArgument = Annotated[Path, argument("The folder of a run.", "RUN")]
FigureSize = Annotated[str, option("Size of the figure: for a column, a page or a slide.", "SIZE", "--size")]
Seed = Annotated[int, option("Of the bootstrap.", "N", min=0)]
Force = Annotated[bool, flag("Overwrite FILE.", "--force")]
Languages = Annotated[
    Several,
    option("Only this language. Repeatable.", "LANGUAGE", "-l", "--language", show_default="all"),
]
Address = Annotated[str | None, option("The scheduler of a shared engine.", "URL")]
Jobs = Annotated[int | None, option("Worker processes.", "N", min=1, show_default="one per core")]
TextArgument = Annotated[
    str, argument("The text; - reads standard input; put -- before a text that begins with -.", "TEXT")
]
Documents = Annotated[
    int | None, option("Only the first N documents of each language.", "N", min=1), OnlyWith("dataset")
]
TrainOn = Annotated[str | None, option("What a tokenizer without a file is trained on.", "DATASET")]
JsonOutput = Annotated[bool, flag("Print JSON instead of a table.", "--json")]
AllowRemoteCode = Annotated[
    bool, flag("Allow vocabularies from the hub to run their own code.", "--allow-remote-code")
]
PluginFiles = Annotated[
    Several,
    option("Load a plugin from a file, for this call only. Repeatable.", "FILE.py", "--plugin"),
]
DisabledPlugins = Annotated[Several, option("Leave a plugin out. Repeatable.", "NAME", "--disable-plugin")]


def finite(value: float | None) -> float | None:
    """The callback of an option of a number, whose `min` and `max` let nan and infinity pass."""
    if value is not None and not isfinite(value):
        raise typer.BadParameter(f"{value} is no finite number.")
    return value


_PLUGINS = {"plugin": (PluginFiles, None), "disable_plugin": (DisabledPlugins, None)}
"""Options of `open_registry`, each with its type and default."""

Command = Callable[..., None]


def with_registry(command: Command) -> Command:
    """A command whose first parameter is the registry: users give the options of plugins in its place."""
    return _with_options(command, _PLUGINS)


def loads_tokenizers(command: Command) -> Command:
    """As `with_registry`, for a command that loads tokenizers: with --allow-remote-code as well."""
    return _with_options(command, {"allow_remote_code": (AllowRemoteCode, False), **_PLUGINS})


def _with_options(command: Command, options: Mapping[str, tuple[Any, Any]]) -> Command:
    """`command` as typer is to see it: it reads options off a function's signature."""
    hints = get_type_hints(command, localns={"Registry": object}, include_extras=True)
    _, *own = signature(command).parameters.values()
    seen = [each.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[each.name]) for each in own]
    seen.append(Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context))
    for name, (kind, default) in options.items():
        seen.append(Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default))

    only_with = {
        name: each.needed
        for name, hint in hints.items()
        for each in getattr(hint, "__metadata__", ())
        if isinstance(each, OnlyWith)
    }

    def run(context: typer.Context, **given: Any) -> None:
        _check_not_alone(context, only_with)
        with output_for_programs() if _read_by_programs(given) else nullcontext():
            registry = open_registry(**{name: given.pop(name) for name in options})
            try:
                command(registry, **given)
            except (Exception, SystemExit) as error:
                if not isinstance(error, TokbenchError) and (fault := registry.host.at_fault(error)):
                    raise fault from error
                raise

    run.__signature__ = Signature(seen)  # type: ignore[attr-defined]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def _check_not_alone(context: typer.Context, only_with: Mapping[str, str]) -> None:
    """Raise `SpecError` for options that were given without the one that they are nothing without."""
    shown = {str(each.name): each for each in context.command.params}
    for needed in dict.fromkeys(only_with.values()):
        alone = [
            shown[name].opts[0]
            for name, other in only_with.items()
            if other == needed and _is_given(context, name) and not _is_given(context, needed)
        ]
        if alone:
            are, what = "is" if len(alone) == 1 else "are", f"{shown[needed].opts[0]} {shown[needed].metavar}"
            raise SpecError(f"{listed(alone)} {are} of {what}, which is not given")


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _read_by_programs(given: Mapping[str, Any]) -> bool:
    """Whether a command's options ask for what programs read: JSON, ids, a report, a file named ``-``."""
    forms = given.get("as_json") or given.get("ids") or given.get("form", "text") != "text"
    return bool(forms or "-" in {str(given.get(name)) for name in ("output", "html", "svg")})


def open_registry(
    plugin: list[str] | None = None, disable_plugin: list[str] | None = None, allow_remote_code: bool = False
) -> Registry:
    """The registry that a command's plugin options ask for; see `tokbench.manager.build_host`."""
    from tokbench.registry import build_registry, default_context

    registry = build_registry(
        disable=disable_plugin or (),
        plugin_files=dict.fromkeys(plugin or (), "--plugin"),
        context=default_context(allow_remote_code=allow_remote_code),
    )
    registry.tell = lambda note: typer.echo(printable(note), err=True)
    return registry
