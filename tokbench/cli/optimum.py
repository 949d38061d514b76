"""`tokbench optimum`: how many more tokens a tokenizer makes than its vocabulary needs."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tokbench.cli.shared import (
    AllowRemoteCode,
    DisabledPlugins,
    JsonOutput,
    PluginFiles,
    TrainOn,
    documents_done,
    open_registry,
    overwrite,
)
from tokbench.cli.tables import console as plain_console


def optimum(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A tokenizer.", show_default=False)],
    dataset: Annotated[
        str, typer.Option("-d", "--dataset", metavar="DATASET", help="The text.", show_default=False)
    ],
    train_on: TrainOn = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of the bootstrap.")] = 0,
    as_json: JsonOutput = False,
    allow_remote_code: AllowRemoteCode = False,
    plugin: PluginFiles = None,
    disable_plugin: DisabledPlugins = None,
) -> None:
    """Divide a tokenizer's tokens by the fewest of its vocabulary that spell the same pre-tokens.

    1 is the optimum. Intervals are 95 %, by bootstrap over the documents of each language.
    """
    from rich.table import Table

    from tokbench.metrics.optimum import distances
    from tokbench.runner.training import train

    registry = open_registry(plugin, disable_plugin, allow_remote_code=allow_remote_code)
    tokenizer = train(registry, spec, train_on) if train_on else registry.load(spec)
    found = distances(tokenizer, registry.dataset(dataset), seed=seed, progress=documents_done)
    overwrite()
    if as_json:
        rows = [
            {
                "language": each.language,
                "documents": each.documents,
                "tokens": each.tokens,
                "fewest": each.fewest,
                "ratio": each.ratio,
                "interval": each.interval,
            }
            for each in found
        ]
        print(json.dumps({"tokenizer": tokenizer.name, "dataset": dataset, "languages": rows}, indent=2))
        return
    table = Table(box=None, header_style="bold")
    for column in ("language", "tokens", "fewest", "ratio", "95 %"):
        table.add_column(column, justify="left" if column == "language" else "right")
    for each in found:
        ends = "" if each.interval is None else "{:.4f} to {:.4f}".format(*each.interval)
        table.add_row(each.language, f"{each.tokens:,}", f"{each.fewest:,}", f"{each.ratio:.4f}", ends)
    plain_console().print(table)
