"""The command line put together: every built-in command, and those that plugins bring."""

from __future__ import annotations

import sys
from functools import lru_cache, partial
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from tokbench import __version__
from tokbench.cli import cache, golden, listing, plugins, runs
from tokbench.cli.audit import audit, overlap, show
from tokbench.cli.bits import bpb, ngram
from tokbench.cli.bytes import token_bytes
from tokbench.cli.calibrate import calibrate
from tokbench.cli.convert import convert, prune
from tokbench.cli.diff import diff
from tokbench.cli.encode import compare, decode, encode
from tokbench.cli.lint import injection, lint
from tokbench.cli.optimum import optimum
from tokbench.cli.options import NAMED, flag
from tokbench.cli.progress import overwrite
from tokbench.cli.report import plot, report
from tokbench.cli.run import run
from tokbench.cli.serve import serve
from tokbench.cli.trace import trace
from tokbench.cli.train import count, train
from tokbench.errors import UnknownNameError, nearest
from tokbench.extension import Command
from tokbench.wording import in_paragraphs

if TYPE_CHECKING:
    from tokbench.registry import Registry

_IN_COLUMNS = 80
"""Below this many columns of a terminal, a help in columns would cut off what these cannot hold."""


class Wrapped(TyperCommand):
    """A command whose help is in wrapped lines where the terminal is too narrow for columns.

    An option that names text, tokenizers or metrics, and is taken once, is refused where it stands twice: the
    first would be left out, unseen by those who know it repeatable from other commands.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands behind the command."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for each in self.params:
            times = given.count(each)
            if times > 1 and each.metavar in NAMED and not getattr(each, "multiple", True):
                ctx.fail(f"{each.opts[0]} is given {times} times, and this command takes one {each.metavar}.")
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        columns, mode = get_terminal_size().columns, self.rich_markup_mode
        if columns < _IN_COLUMNS:
            formatter.width, self.rich_markup_mode = columns, None
            formatter.write_dl = partial(formatter.write_dl, col_max=columns // 3)
        try:
            super().format_help(ctx, formatter)
        finally:
            self.rich_markup_mode = mode


class Subcommands(TyperGroup):
    """Commands under a name, as of ``tokbench list``: an unknown one is answered with those that there are."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is meant, with its arguments."""
        if self.get_command(ctx, args[0]) is None:
            ctx.fail(str(UnknownNameError.of("command", args[0], self.list_commands(ctx))))
        return super().resolve_command(ctx, args)


class Commands(TyperGroup):
    """The built-in commands, then those of plugins, which are looked for where no built-in one was meant."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return [*dict.fromkeys([*super().list_commands(ctx), *_registry().commands])]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name."""
        return super().get_command(ctx, cmd_name) or _brought(_registry(), cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the command."""
        if args and args[0].partition("=")[0] in ("--plugin", "--disable-plugin"):
            ctx.fail(f"{args[0]} stands after the command: tokbench COMMAND {' '.join(args[:2])}")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Call the command, and say so where it is interrupted, on a line of its own."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            overwrite()
            print("interrupted", file=sys.stderr)
            raise typer.Exit(130) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is meant, with its arguments; ``--plugin FILE.py`` among them may bring it."""
        name, *rest = args
        if found := self.get_command(ctx, name):
            return name, found, rest
        files, others = _plugin_files(rest)
        registry = _registry(*files)
        found = _brought(registry, name)
        if found is None:
            known = [*registry.commands]
            near = files or nearest(name, known)
            hint = "" if near else f"One that a file brings is called as: tokbench {name} --plugin FILE.py"
            ctx.fail(registry.host.explained(str(UnknownNameError.of("command", name, known, hint=hint))))
        return name, found, others


def _plugin_files(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The files that ``--plugin`` names in arguments, and the other arguments.

    Example:
        >>> _plugin_files(["--plugin", "a.py", "--name", "Ada", "--plugin=b.py"])
        (['a.py', 'b.py'], ['--name', 'Ada'])
    """
    files, others, given = [], [], iter(arguments)
    for each in given:
        option, equals, file = each.partition("=")
        if option == "--plugin":
            files.append(file if equals else next(given, ""))
        else:
            others.append(each)
    return files, others


@lru_cache(maxsize=1)
def _registry(*files: str) -> Registry:
    from tokbench.registry import build_registry

    return build_registry(plugin_files=dict.fromkeys(files, "--plugin"))


def _brought(registry: Registry, name: str) -> Any:
    """A plugin's command."""
    from typer.main import get_command

    found = registry.commands.get(name)
    if found is None:
        return None
    if isinstance(found.run, typer.Typer):
        alone = found.run
    else:
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(name, cls=Wrapped, help=found.run.__doc__ or found.summary)(found.run)
    command = get_command(alone)
    command.name, command.short_help = name, found.summary
    return command


app = typer.Typer(
    name="tokbench",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(listing.app, name="list", cls=Subcommands)
app.add_typer(plugins.app, name="plugins", cls=Subcommands)
app.add_typer(runs.app, name="runs", cls=Subcommands)
app.add_typer(cache.app, name="cache", cls=Subcommands)
app.add_typer(golden.app, name="golden", cls=Subcommands)
for command in (
    *(run, report, plot, serve, encode, decode, compare, audit, overlap, token_bytes, bpb, diff),
    *(lint, injection, show, train, count, prune, optimum, ngram, convert, calibrate, trace),
):
    app.command("bytes" if command is token_bytes else None)(command)
for group in (app, listing.app, plugins.app, runs.app, cache.app, golden.app):
    for registered in group.registered_commands:
        registered.cls, registered.help = Wrapped, in_paragraphs(registered.callback.__doc__ or "")


def _version(asked: bool) -> None:
    if asked:
        print(f"tokbench {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, flag("Print the version.", "--version", callback=_version, is_eager=True)] = False,
) -> None:
    """Compare tokenizers: compression, cost per language, fairness, losslessness, speed."""


def built_in() -> list[Command]:
    """The commands above, as a plugin would offer them."""
    commands = typer.main.get_group(app).commands
    return [
        Command(name=name, summary=each.get_short_help_str(limit=200), run=each)
        for name, each in commands.items()
    ]
