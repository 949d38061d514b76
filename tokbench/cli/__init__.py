"""The command line: a module for commands of one subject, heavy imports inside the functions that need them."""

from __future__ import annotations

import codecs
import errno
import gc
import io
import os
import sys

from tokbench.errors import PluginError, SpecError, StorageError, TokbenchError
from tokbench.wording import printable

COLLECTED_AFTER = 50_000
"""Objects made between two collections of garbage. Imports make 130,000 that stay; looking through them as
often as Python does by default took a tenth of a small run."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""Errors of a write to standard output: the disk is full, say. That the reader left is answered by typer."""


def main() -> None:
    """Run the command line: 0 all done, 1 something failed or differs, 2 a wrong request, 130 interrupted."""
    gc.set_threshold(COLLECTED_AFTER)
    for name in ("stdout", "stderr"):  # Python has None for those that were closed (>&-)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    if isinstance(sys.stdout, io.TextIOWrapper) and codecs.lookup(sys.stdout.encoding).name != "utf-8":
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr has it: what it cannot write is spelt out
    try:
        try:
            from tokbench.cli.program import app  # here, where an interrupt is answered: it takes a while

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
        print(f"error: {printable(str(error))}", file=sys.stderr)
        failed = isinstance(error, PluginError | StorageError) and not isinstance(error, SpecError)
        sys.exit(1 if failed else 2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BaseException as error:  # what Rust panics with is no Exception
        if type(error).__name__ != "PanicException":
            raise
        print(f"error: a library gave up (a panic in Rust: {printable(str(error))})", file=sys.stderr)
        sys.exit(1)
