"""What commands show on stderr, where somebody watches, of how far they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tokbench.family import Progress
from tokbench.wording import counted, percent


def overwrite(line: str = "") -> None:
    """A line on stderr in place of the last one, where somebody watches; without text the last one goes."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def progress(done: float, word: str) -> None:
    """How far something is, and what it is at."""
    overwrite(f"{percent(done):>5} {word}" if done < 1 else "")


def documents_done(documents: int) -> None:
    """How many documents have been seen."""
    overwrite(counted(documents, "document"))


@contextmanager
def bar(title: str) -> Iterator[Progress]:
    """A progress bar on stderr, which shows what is going on and the time left; in a pipe, nothing."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn("[progress.percentage]{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeLeft(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(escape(title), total=1.0)

        def report(fraction: float, what: str) -> None:
            bars.update(task, completed=fraction, description=escape(f"{title}: {what}"))

        yield report
