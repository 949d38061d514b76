"""What a suite names beside tokenizers and text, looked at before any work starts."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tokbench.errors import SpecError, UnknownNameError
from tokbench.extension import Engine
from tokbench.metrics.cost import PriceTable
from tokbench.registry import Registry
from tokbench.runner.suite import Suite


def open_prices(suite: Suite, registry: Registry) -> PriceTable | None:
    """The suite's price table, its tokenizers named as results name them; raises `SpecError` for a wrong one.

    Names that are no tokenizer's here stay as they are: a table may serve other runs too.
    """
    if suite.prices is None:
        return None
    table = PriceTable.open(Path(suite.prices))
    prices = dict(table.prices)
    for name, price in table.prices.items():
        if name not in registry.tokenizers:  # a family's price is that of all its tokenizers
            with suppress(SpecError, UnknownNameError):
                prices.setdefault(str(registry.tokenizer_spec(name)), price)
    return replace(table, prices=prices)


def check_gold(suite: Suite) -> None:
    """Read the files of gold words that workers will read; raises `CorpusError` for a wrong one."""
    from tokbench.metrics.gold import read_gold

    for gold in suite.morphology.values():
        read_gold(Path(gold.path), gold.format)


def check_address(suite: Suite, engine: Engine, registry: Registry) -> None:
    """Raise `SpecError` for the address of a scheduler where the engine has none."""
    if suite.address is not None and not engine.shared:
        shared = " or ".join(name for name, other in registry.engines.items() if other.shared)
        raise SpecError(
            f"address {suite.address!r}: the engine {engine.name!r} has no scheduler; "
            f"name one that has ({shared})"
        )


CHEAPEST = "cheapest"
"""As a reference: the cheapest language of each tokenizer, which is also what no reference means."""


def check_reference(suite: Suite, languages: Collection[str]) -> None:
    """Raise `UnknownNameError` for a reference that is not among the `languages` of the datasets."""
    if suite.reference not in (None, CHEAPEST) and suite.reference not in languages:
        hint = f"Name one with --reference LANGUAGE, or --reference {CHEAPEST} for each tokenizer's own"
        raise UnknownNameError.of("language in reference:", suite.reference, languages, hint=hint)
