"""`tokbench bpb`: somebody's bits per byte, counted again with exact denominators."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.shared import (
    AllowRemoteCode,
    DisabledPlugins,
    JsonOutput,
    PluginFiles,
    documents_done,
    open_registry,
    overwrite,
)
from tokbench.cli.tables import console as plain_console

if TYPE_CHECKING:
    from tokbench.metrics.bits import BitsAudit


def bpb(
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
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of the bootstrap.")] = 0,
    as_json: JsonOutput = False,
    allow_remote_code: AllowRemoteCode = False,
    plugin: PluginFiles = None,
    disable_plugin: DisabledPlugins = None,
) -> None:
    """Recompute bits per byte from losses by token, and say how far off the usual short cuts are.

    nats is a list with a loss for each token, null where there is none; one less than tokens where the first is
    not predicted. Intervals are 95 %, by bootstrap over the documents.
    """
    from tokbench.metrics.bits import audit_bits
    from tokbench.metrics.lossfile import read_losses

    tokenizer = open_registry(plugin, disable_plugin, allow_remote_code=allow_remote_code).load(spec)
    found = audit_bits(tokenizer, read_losses(losses), seed=seed, progress=documents_done)
    overwrite()
    if as_json:
        print(json.dumps(found.as_json(), ensure_ascii=False, indent=2))
    else:
        _show(found)


def _show(found: BitsAudit) -> None:
    from rich.table import Table

    console = plain_console()
    console.print(
        f"{found.tokenizer}: {found.documents:,} documents, {found.tokens:,} tokens with a loss "
        f"({found.special_tokens:,} special), {found.bytes:,} bytes",
        style="bold",
    )
    table = Table(box=None, header_style="bold")
    for number, column in enumerate(("counted by", "bits/byte", "95 %", "off by", "95 %", "")):
        table.add_column(column, justify="left" if number in (0, 5) else "right", overflow="fold")
    for figure in found.figures:
        low_high = "" if figure.interval is None else "{:.4f} to {:.4f}".format(*figure.interval)
        off = "" if figure is found.figures[0] or figure.error is None else f"{figure.error:+.2%}"
        ends = "" if figure.error_interval is None else "{:+.2%} to {:+.2%}".format(*figure.error_interval)
        table.add_row(figure.name, f"{figure.value:.4f}", low_high, off, ends, figure.how)
    console.print(table)
    for count, what in (
        (found.unscored, "tokens have no loss: their bytes are left out"),
        (found.left_out, "documents left out: some tokens have no loss, and what they add is not exact there"),
        (found.from_ids, "documents have no text: the bytes are those of their decoded ids"),
    ):
        if count:
            console.print(f"{count:,} {what}")
    if found.rewritten:
        print(
            f"warning: {found.rewritten:,} documents decode to other text than theirs: the bytes are those of "
            "the text, and no figure holds where the ids are those of another tokenizer or row",
            file=sys.stderr,
        )
