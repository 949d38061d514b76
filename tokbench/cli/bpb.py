"""`tokbench bpb`: recomputes bits per byte from the losses of a model, with exact numbers of bytes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.options import JsonOutput, Seed, loads_tokenizers
from tokbench.cli.progress import documents_done, overwrite
from tokbench.cli.tables import interval, plain_console, table_of
from tokbench.cli.writing import print_json
from tokbench.wording import counted

if TYPE_CHECKING:
    from tokbench.metrics.bits import BitsAudit
    from tokbench.registry import Registry


@loads_tokenizers
def bpb(
    registry: Registry,
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="The tokenizer whose tokens have losses.", show_default=False)
    ],
    losses: Annotated[
        Path,
        typer.Argument(
            metavar="LOSSES",
            help="A .jsonl or .parquet file, a document a row: nats, and ids or text (or both).",
            show_default=False,
        ),
    ],
    seed: Seed = 0,
    as_json: JsonOutput = False,
) -> None:
    """Recompute bits per byte from losses by token, and say how far off the usual short cuts are.

    nats is a list with a loss for each token, null where there is none; one less than tokens where the first is
    not predicted. Intervals are 95 %, by bootstrap over the documents.
    """
    from tokbench.metrics.bits import audit_bits
    from tokbench.metrics.lossfile import read_losses

    tokenizer = registry.load(spec)
    found = audit_bits(tokenizer, read_losses(losses), seed=seed, progress=documents_done)
    overwrite()
    if as_json:
        print_json(found.as_json())
    else:
        _show(found)


def _show(found: BitsAudit) -> None:
    console = plain_console()
    console.print(
        f"{found.tokenizer}: {counted(found.documents, 'document')}, {counted(found.tokens, 'token')} with a "
        f"loss ({found.special_tokens:,} special), {found.bytes:,} bytes",
        style="bold",
    )
    columns = ("counted by", "bits/byte", "95 %", "off by", "95 %", "")
    table = table_of(*columns, right=("bits/byte", "95 %", "off by"))
    for figure in found.figures:
        off = "" if figure is found.figures[0] or figure.error is None else f"{figure.error:+.2%}"
        ends, off_ends = interval(figure.interval), interval(figure.error_interval, "+.2%")
        table.add_row(figure.name, f"{figure.value:.4f}", ends, off, off_ends, figure.how)
    console.print(table)
    for number, what, told in (
        (found.unscored, "token", "without a loss, whose bytes are left out"),
        (
            found.left_out,
            "document",
            "left out: a token has no loss, and its bytes are not known, for the tokens do not spell the text",
        ),
        (found.from_ids, "document", "without text: the bytes are those of the decoded ids"),
    ):
        if number:
            console.print(f"{counted(number, what)} {told}")
    if found.rewritten:
        print(
            f"warning: {found.rewritten:,} documents decode to other text than theirs: the bytes are those of "
            "the text, and no figure holds where the ids are those of another tokenizer or row",
            file=sys.stderr,
        )
