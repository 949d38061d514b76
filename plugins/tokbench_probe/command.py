"""`tokbench probe`: bits per byte of a tiny transformer over each tokenizer's ids, all at the same compute."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tokbench_probe.ranks import RankRow
    from tokbench_probe.shape import Budget
    from tokbench_probe.streams import ProbeTexts

NO_QUALITY = (
    "A rank at this scale and on this text, and no measure of a tokenizer's quality: nobody has shown that "
    "models so small rank tokenizers as large ones do; the smallest of Lotz et al. 2025 has 350 million "
    "parameters."
)


def probe(
    spec: Annotated[list[str], typer.Argument(metavar="SPEC…", help="Tokenizers.", show_default=False)],
    train_on: Annotated[
        str,
        typer.Option(
            metavar="DATASET",
            help="Text to train the model on, and any tokenizer without a file.",
            show_default=False,
        ),
    ],
    dataset: Annotated[
        str, typer.Option("-d", "--dataset", metavar="DATASET", help="The text to read.", show_default=False)
    ],
    documents: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Read only the first N documents of each language.")
    ] = None,
    runs: Annotated[int, typer.Option(metavar="N", min=3, help="Trainings of each, with different seeds.")] = 3,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The first seed.")] = 0,
    train_bytes: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Bytes to train on; a shorter training text is repeated."),
    ] = 1_000_000,
    operations: Annotated[
        int, typer.Option(metavar="N", min=1, help="Operations for a byte of text in a forward pass.")
    ] = 500_000,
    context: Annotated[int, typer.Option(metavar="N", min=8, help="Bytes seen at once, on average.")] = 256,
    layers: Annotated[int, typer.Option(metavar="N", min=1, help="Layers of each model.")] = 2,
    rate: Annotated[float, typer.Option(metavar="RATE", min=0, max=1e9, help="Highest learning rate.")] = 4e-3,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Trainings at once.  [default: one a core]")
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, max=1e9, help="Limit for all runs of one tokenizer.")
    ] = 3600,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Train a tiny transformer on each tokenizer's ids, several times, and show its bits per byte of text.

    Each model is trained on the same number of bytes in the same number of steps, and is as wide as a fixed
    number of operations for a byte allows, head included. It sees the same number of bytes at once, and it
    predicts every id and the end of each document; the bytes are those of the text. Documents that occur in the
    training text are left out. Ranks are those that all runs agree on. It is no measure of quality.
    Needs the extra `probe`: JAX, on the CPU.
    """
    import tokbench
    from tokbench_probe.ranks import rows_of
    from tokbench_probe.shape import Budget
    from tokbench_probe.shelter import ProbeTask, need_jax, trained_apart
    from tokbench_probe.streams import ProbeTexts

    need_jax()
    corpus = tokbench.TrainingCorpus.of(*map(tokbench.load_dataset, train_on.split(" + ")))
    texts = ProbeTexts.of(corpus, tokbench.load_dataset(dataset), documents)
    budget = Budget(operations, context, layers, train_bytes, rate)
    seeds = range(seed, seed + runs)
    tasks = {
        each: ProbeTask.of(each, tokbench.load(each, train_on=train_on), texts, budget, seeds)
        for each in dict.fromkeys(spec)
    }
    with _bar([*tasks]) as told:
        found = trained_apart(tasks, jobs or os.cpu_count() or 1, timeout, told)
    rows = rows_of(tasks, found, texts)
    failed = {name: why for name, why in found.items() if isinstance(why, str)}
    if as_json:
        figures = [
            asdict(row)
            | {
                "bits_per_byte": row.bits_per_byte,
                "shape": row.shape._asdict(),
                "parameters": row.shape.parameters,
            }
            for row in rows
        ]
        whole = {
            "train_on": train_on,
            "dataset": dataset,
            "budget": budget._asdict(),
            "seeds": [*seeds],
            "training_bytes": texts.train_bytes,
            "bytes": texts.read_bytes,
            "excluded": texts.excluded,
            "figures": figures,
            "failed": failed,
            "note": NO_QUALITY,
        }
        print(json.dumps(whole, ensure_ascii=False, indent=2))
    elif rows:
        _show(rows, texts, budget)
    for name, why in failed.items():
        print(f"{name}: {why}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _show(rows: list[RankRow], texts: ProbeTexts, budget: Budget) -> None:
    from rich.console import Console
    from rich.table import Table

    from tokbench_probe.ranks import not_told_apart, same_order, sound

    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = 120
    passes = budget.course.steps * budget.course.batch * budget.context / texts.train_bytes
    console.print(
        f"trained on {budget.train_bytes:,} bytes ({passes:.3g} passes over {len(texts.train):,} documents), "
        f"at {budget.operations:,} operations a byte; read {texts.read_bytes:,} bytes",
        style="bold",
    )
    if texts.excluded:
        console.print(f"documents left out, as they occur in the training text: {texts.excluded:,}")
    table = Table(box=None, header_style="bold")
    columns = ("tokenizer", "bits/byte", "least", "most", "rank", "width", "context", "parameters", "tokens")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for row in rows:
        rank = "" if row.rank is None else "–".join(map(str, dict.fromkeys(row.rank)))
        bits = (f"{each:.4f}" for each in (row.bits_per_byte, min(row.runs), max(row.runs)))
        sizes = (row.shape.width, row.shape.context, row.shape.parameters, row.tokens)
        table.add_row(row.tokenizer + "†" * (row.lost > 0), *bits, rank, *(f"{each:,}" for each in sizes))
    console.print(table)
    for row in rows:
        if row.lost:
            console.print(
                f"† {row.tokenizer} does not give back {row.lost:,} of {len(texts.read):,} documents: "
                "its bits are of what it keeps, its bytes of all text, so it compares with no other"
            )
    figures = sound(rows)
    if len(figures) > 1:
        alike, runs = same_order(figures)
        console.print(f"the order is the same in {'all' if alike == runs else f'{alike} of'} {runs} runs")
        for one, other in not_told_apart(figures):
            console.print(f"the runs do not tell {one} and {other} apart")
    console.print(NO_QUALITY)


@contextmanager
def _bar(names: list[str]) -> Iterator[Callable[[str, float], None]]:
    """A line for each tokenizer on stderr, with the time left; in a pipe, nothing."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeLeft(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks = {name: bars.add_task(f"{name}: waiting", total=1.0) for name in names}

        def told(name: str, share: float) -> None:
            what = "training" if share else "compiling"
            bars.update(tasks[name], completed=share, description=f"{name}: {what}")

        yield told
