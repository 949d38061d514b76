"""`tokbench show`: the facts of a tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokbench.cli.options import JsonOutput, SpecArgument, loads_tokenizers
from tokbench.cli.tables import show_facts
from tokbench.cli.writing import print_json

if TYPE_CHECKING:
    from tokbench.registry import Registry

SHOWN_TOKENS = 12


@loads_tokenizers
def show(registry: Registry, spec: SpecArgument, as_json: JsonOutput = False) -> None:
    """Show the facts of a tokenizer: algorithm, library, files, normaliser, special tokens, lossless or not."""
    from tokbench.inspection.facts import facts

    parsed = registry.tokenizer_spec(spec)
    tokenizer = registry.load(parsed)
    found = facts(tokenizer, registry.tokenizers[parsed.family], parsed, registry.context)
    if as_json:
        print_json(found)
        return
    shown = {key.replace("_", " "): _cell(value) for key, value in found.items() if value not in (None, [], {})}
    show_facts(shown.pop("name"), shown)


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
