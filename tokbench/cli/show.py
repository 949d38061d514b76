"""`tokbench show`: the facts of a tokenizer."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from tokbench.cli.shared import AllowRemoteCode, DisabledPlugins, JsonOutput, PluginFiles, open_registry
from tokbench.cli.tables import console

SHOWN_TOKENS = 12


def show(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A tokenizer.", show_default=False)],
    as_json: JsonOutput = False,
    allow_remote_code: AllowRemoteCode = False,
    plugin: PluginFiles = None,
    disable_plugin: DisabledPlugins = None,
) -> None:
    """Show the facts of a tokenizer: algorithm, library, files, normaliser, special tokens, lossless or not."""
    from tokbench.inspection.facts import facts

    registry = open_registry(plugin, disable_plugin, allow_remote_code=allow_remote_code)
    parsed = registry.tokenizer_spec(spec)
    tokenizer = registry.load(parsed)
    found = facts(tokenizer, registry.tokenizers[parsed.family], parsed, registry.context)
    if as_json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    from rich.table import Table

    table = Table(box=None, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in found.items():
        if value not in (None, [], {}):
            table.add_row(key.replace("_", " "), _cell(value))
    console().print(table)


def _cell(value: Any) -> str:
    from tokbench.inspection.pieces import visible

    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        shown = [f"{key} {item}" if item is not None else key for key, item in value.items()][:SHOWN_TOKENS]
        more = f" … {len(value)} in all" if len(value) > SHOWN_TOKENS else ""
        return visible(", ".join(shown)).replace("·", " ") + more
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "\n".join(f"{item['path']}  {item['bytes']:,} bytes  sha256 {item['sha256']}" for item in value)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return visible(str(value)).replace("·", " ")
