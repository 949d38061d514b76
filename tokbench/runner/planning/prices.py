"""Which price in a table is which tokenizer's of a suite, and what is to be said of the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.errors import SpecError, nearest
from tokbench.metrics.cost import PriceTable
from tokbench.registry import Registry
from tokbench.runner.planning.suite_keys import Suite
from tokbench.runner.recipe import key_of
from tokbench.wording import listed

if TYPE_CHECKING:
    from tokbench.runner.planning.entries import Entry
    from tokbench.runner.planning.plan import Plan


def open_prices(suite: Suite, registry: Registry, entries: Sequence[Entry]) -> PriceTable | None:
    """The suite's price table, its tokenizers named as results name them; raises `SpecError` for a wrong one.

    A tokenizer has the price of the name that the suite has for it, else of its spec, else of what other name
    the table has for it. Names that are no tokenizer's here stay, with a note: a table may serve other runs.
    """
    if suite.prices is None:
        return None
    path = Path(suite.prices)
    table = PriceTable.open(path if path.exists() else registry.prices.get(suite.prices, path))
    meant: defaultdict[str, list[str]] = defaultdict(list)
    unknown: list[str] = []
    for name in table.prices:
        if name not in registry.tokenizers:  # a family's price is that of all its tokenizers
            try:
                meant[key_of(registry.tokenizer_spec(name))].append(name)
            except SpecError:
                unknown.append(name)
    prices, notes = dict(table.prices), _unknown_prices(suite.prices, unknown, registry)
    for entry in entries:
        key, names = entry.key, (entry.typed, *entry.also)
        own = [name for name in names if name in table.prices]
        priced = own or ([key] if key in table.prices else meant[key])
        if not priced:
            continue
        if len({table.prices[name] for name in priced}) > 1:
            each = " and ".join(f"{name} ({table.prices[name]:g})" for name in priced)
            remedy = (
                "it has one row and one price, so name one of them, or each in a run of its own"
                if own
                else f"say which is meant (-t {priced[0]}), or give {key} a price of its own in the table"
            )
            raise SpecError(f"prices: {suite.prices} has {each} for one tokenizer, {key}: {remedy}")
        prices[key] = table.prices[priced[0]]
        notes += [
            f"prices: {name} has the price of {priced[0]}, which is the same tokenizer"
            for name in names
            if name not in priced and key != priced[0]
        ]
    return replace(table, prices=prices, notes=tuple(notes))


def _unknown_prices(table: str, unknown: Sequence[str], registry: Registry) -> list[str]:
    """What to say of names in a price table that mean no tokenizer, those first that are near to one."""
    near = {name: nearest(name, [*registry.aliases, *registry.tokenizers]) for name in unknown}
    shown = [
        repr(name) + (f" (did you mean {near[name][0]!r}?)" if near[name] else "")
        for name in sorted(unknown, key=lambda name: not near[name])
    ]
    more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
    return [f"prices: {table} names what is no tokenizer here: {', '.join(shown[:5])}{more}"] if shown else []


def price_notes(plan: Plan) -> list[str]:
    """What to say of a price table: names that mean nothing or another, tokenizers that it does not price."""
    if plan.prices is None:
        return []
    notes = list(plan.prices.notes)
    without = [entry.key for entry in plan.entries if plan.prices.of(entry.key) is None]
    if not without:
        return notes
    whose = "any tokenizer" if len(without) == len(plan.entries) else listed(without)
    names = listed(list(plan.prices.names)) or "nothing"
    return [*notes, f"prices: {plan.suite.prices} has no price for {whose} of this run; it names {names}"]
