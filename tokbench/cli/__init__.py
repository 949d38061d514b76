"""The command line: one module a command, heavy imports inside the functions that need them."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated

import typer

from tokbench import __version__
from tokbench.cli import cache, listing, plugins, runs
from tokbench.cli.audit import audit, overlap
from tokbench.cli.convert import convert
from tokbench.cli.decode import decode
from tokbench.cli.diff import diff
from tokbench.cli.encode import compare, encode
from tokbench.cli.plot import plot
from tokbench.cli.report import report
from tokbench.cli.run import run
from tokbench.cli.serve import serve
from tokbench.cli.show import show
from tokbench.cli.trace import trace
from tokbench.cli.train import train
from tokbench.errors import TokbenchError

app = typer.Typer(
    name="tokbench",
    help="Compare tokenizers: compression, cost per language, fairness, losslessness, speed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(listing.app, name="list")
app.add_typer(plugins.app, name="plugins")
app.add_typer(runs.app, name="runs")
app.add_typer(cache.app, name="cache")
app.command()(run)
app.command()(report)
app.command()(plot)
app.command()(serve)
app.command()(encode)
app.command()(decode)
app.command()(compare)
app.command()(audit)
app.command()(overlap)
app.command()(diff)
app.command()(show)
app.command()(train)
app.command()(convert)
app.command()(trace)


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""What a write to standard output fails with, short of a reader that left (which typer answers)."""


def _version(asked: bool) -> None:
    if asked:
        print(f"tokbench {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Compare tokenizers: compression, cost per language, fairness, losslessness, speed."""


def main() -> None:
    """Run the command line: 0 all done, 1 something failed or differs, 2 a wrong request, 130 interrupted."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, where it can be told that it failed
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        print(f"error: cannot write the output: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would try it again at the end
        sys.exit(1)
    except TokbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BaseException as error:  # what Rust panics with is no Exception
        if type(error).__name__ != "PanicException":
            raise
        print(f"error: a library gave up (a panic in Rust: {error})", file=sys.stderr)
        sys.exit(1)
