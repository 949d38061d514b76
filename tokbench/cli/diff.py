"""`tokbench diff`: whether two tokenizers give the same ids, and the first places where they differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli import options as opt
from tokbench.cli.loading import documents_of, load_trained
from tokbench.cli.progress import overwrite
from tokbench.cli.tables import plain_console, show_table
from tokbench.cli.writing import print_json
from tokbench.wording import counted, percent

if TYPE_CHECKING:
    from rich.console import Console

    from tokbench.inspection.diff import TokenizerDiff
    from tokbench.inspection.divergence import Divergence
    from tokbench.registry import Registry


@opt.loads_tokenizers
def diff(
    registry: Registry,
    a: opt.SpecArgument,
    b: Annotated[str, opt.argument("Another.", "SPEC")],
    dataset: Annotated[list[str], opt.dataset_option("What to compare on. Repeatable.")],
    by_bytes: Annotated[
        bool, opt.flag("Compare the bytes of the tokens instead of ids.", "--by-bytes")
    ] = False,
    examples: Annotated[int, opt.option("Divergences shown.", "N", min=0)] = 20,
    documents: opt.Documents = None,
    train_on: opt.TrainOn = None,
    as_json: opt.JsonOutput = False,
) -> None:
    """Compare the ids of two tokenizers document by document; exit status 1 if any differ or there are none."""
    from tokbench.inspection.diff import diff as compare

    one, other = (load_trained(registry, spec, train_on) for spec in (a, b))
    texts = documents_of(registry, dataset, documents)
    found = compare(one, other, texts, by_bytes=by_bytes, examples=examples, progress=_progress)
    found = replace(found, a=str(registry.tokenizer_spec(a)), b=str(registry.tokenizer_spec(b)))
    overwrite()
    if as_json:
        print_json(found.as_json())
    else:
        _show(found)
    if not found.equal or not found.n_documents:
        raise typer.Exit(1)


def _progress(seen: int, differ: int) -> None:
    overwrite(f"{counted(seen, 'document')}, {differ:,} differ")


def _show(found: TokenizerDiff) -> None:
    console = plain_console()
    if not found.n_documents:
        console.print("no documents: nothing was compared")
        return
    console.print(
        f"{found.n_equal:,} of {counted(found.n_documents, 'document')} equal by {found.compared} "
        f"({percent(found.share_equal, 2)}); tokens {found.n_tokens_a:,} and {found.n_tokens_b:,}",
        style="bold",
    )
    if found.equal:
        return
    show_table(("first divergence", "documents"), ((cause, f"{n:,}") for cause, n in found.causes.items()))
    console.print(f"A {found.a}\nB {found.b}")
    for divergence in found.divergences:
        _show_one(console, divergence)


def _show_one(console: Console, divergence: Divergence) -> None:
    from rich.text import Text

    from tokbench.inspection.terminal import colored, render

    console.print(
        f"\n{divergence.document}, character {divergence.start}, token {divergence.position}: "
        f"{divergence.cause}",
        style="bold",
    )
    for side, found, count in (("A", divergence.a, divergence.n_a), ("B", divergence.b, divergence.n_b)):
        line = Text(f"  {side} ")
        line.append_text(render(found, color=colored(console)))
        if len(found) < count:
            line.append(f" … {counted(count, 'token')}")
        console.print(line)
        ids = " ".join(str(piece.id) for piece in found)
        console.print(f"    {ids}", style="dim")
