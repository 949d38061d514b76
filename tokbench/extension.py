"""What plugins offer besides tokenizers, datasets and metrics; and checks of what they offer."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from functools import cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.errors import PluginError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tokbench.results import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A figure drawn from a run. `draw` returns None if the run lacks the data that `needs` describes."""

    name: str
    title: str
    summary: str
    draw: Callable[[Run], Figure | None]
    needs: str = ""

    def drawn(self, run: Run) -> Figure | None:
        """The result of `draw`; raises `PluginError` if it is not a figure."""
        from matplotlib.figure import Figure

        found = self.draw(run)
        if found is not None and not isinstance(found, Figure):
            raise PluginError(
                f"the plot {self.name!r} drew {type(found).__name__}; return a Figure of matplotlib, or None "
                "where the run lacks the data"
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportWriter:
    """Writes a run as one file of a format, whose name ends in `suffix` (".txt"): `write(run, path)`.

    `decides`: the file contains the decision, so it depends on the weights.
    """

    name: str
    summary: str
    suffix: str
    write: Callable[[Run, Path], None]
    decides: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\.[^A-Z]+", str(self.suffix)):
            raise PluginError(
                f"report format {self.name!r}: suffix is {self.suffix!r}; "
                "it is how its files end, in lower case, as '.txt'"
            )

    def written(self, run: Run, path: Path) -> None:
        """Write a run; raises `PluginError` if that makes no file.

        Raises `ResultsError` if `path` is a file of the run itself, which is left unchanged.
        """
        run.folder.spare(path)
        self.write(run, path)
        if not path.is_file():
            raise PluginError(f"the report format {self.name!r} wrote no {path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Where cells are computed: `open(jobs, address)` gives a `concurrent.futures.Executor` for the run.

    `shared`: its workers are processes of their own, perhaps on other machines. Then functions and arguments
    must be picklable, files must be visible to the workers, and speed is not timed there. Otherwise tasks run
    in threads of this process, which start worker processes themselves.

    `package` is an optional package that `open` imports; if it is not installed, a run that names the engine is
    refused before any work. `install` is the name for ``pip install``, if that differs.
    """

    name: str
    summary: str
    open: Callable[[int, str | None], AbstractContextManager[Executor]]
    shared: bool = False
    package: str = ""
    install: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command ``tokbench NAME``: `run` is a function with typer's annotations, or a `typer.Typer`."""

    name: str
    summary: str
    run: Callable[..., Any]


def misfit(thing: Any) -> str:
    """Which field of a thing that a plugin offers has a value of the wrong type, and the right type; else
    empty.

    Fields are checked against their declared types, so this works for every kind of thing.
    """
    for each in fields(thing):
        declared, value = str(each.type), getattr(thing, each.name)
        if value is None and declared.endswith("| None"):
            continue
        if "Callable[" in declared:
            fits, wanted = callable(value), "give what can be called"
            if fits and (why := uncallable(each.name, value, _arguments(declared))):
                return why
        elif declared.startswith("tuple["):
            fits = isinstance(value, tuple | list)
            wanted = "give a tuple" + (f", as in ({value!r},)" if isinstance(value, str) else "")
        elif declared == "str":
            fits, wanted = isinstance(value, str), "give text"
        else:
            continue
        if not fits:
            return f"{each.name} is {value!r}; {wanted}"
    return ""


@cache
def _arguments(declared: str) -> tuple[str, ...]:
    """The types of a function's arguments, from its declared type; empty if that does not tell.

    Example:
        >>> _arguments("Callable[[Spec, LoadContext], Tokenizer] | None"), _arguments("Callable[..., Any]")
        (('Spec', 'LoadContext'), ())
    """
    for node in ast.walk(ast.parse(declared, mode="eval")):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Callable":
            given = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else None
            return tuple(map(ast.unparse, given.elts)) if isinstance(given, ast.List) else ()
    return ()


def uncallable(name: str, function: Callable[..., object], arguments: Sequence[str]) -> str:
    """Why a function cannot be called with these arguments; empty if it can, or if that is not known.

    Example:
        >>> uncallable("load", lambda spec: None, ["Spec", "LoadContext"])
        'load is called as load(Spec, LoadContext), which it cannot be: too many positional arguments'
    """
    if not arguments:
        return ""
    try:
        own = signature(function)
    except (TypeError, ValueError):  # written in C
        return ""
    try:
        own.bind(*arguments)
    except TypeError as error:
        return f"{name} is called as {name}({', '.join(arguments)}), which it cannot be: {error}"
    return ""
