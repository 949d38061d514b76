"""What a suite names beside tokenizers and text, looked at before any work starts."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tokbench.errors import SpecError, UnknownNameError
from tokbench.extension import Engine
from tokbench.metrics.cost import PriceTable
from tokbench.registry import Registry
from tokbench.runner.suite import Suite


def open_prices(suite: Suite) -> PriceTable | None:
    """The suite's price table; raises `SpecError` for one that cannot be read."""
    return None if suite.prices is None else PriceTable.open(Path(suite.prices))


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


def check_reference(suite: Suite, languages: Collection[str]) -> None:
    """Raise `UnknownNameError` for a reference that is not among the `languages` of the datasets."""
    if suite.reference is not None and suite.reference not in languages:
        raise UnknownNameError.of("language in reference:", suite.reference, languages)
