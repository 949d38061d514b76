"""Measuring in workers: one tokenizer each, from the cells on disk.

Figures of one tokenizer need its own cells and the baseline's, nothing else, so they can be made side by
side; and the linear algebra of the replicates runs on one thread each instead of all on all cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from tokbench.metrics.context import MeasureContext
from tokbench.metrics.metric import CellKey, Measurement, Metric
from tokbench.registry import PluginChoice
from tokbench.results.folder import RunFolder
from tokbench.runner.cells import CellFiles
from tokbench.runner.plan import Plan
from tokbench.runner.pool import call_twice
from tokbench.runner.recipe import open_registry
from tokbench.runner.worker import Emit
from tokbench.tokenizer import LoadContext


def measure_all(
    plan: Plan,
    folder: RunFolder,
    tokenizers: Sequence[str],
    keys: Sequence[CellKey],
    metrics: Sequence[Metric],
    context: MeasureContext,
) -> list[Measurement]:
    """The rows of every tokenizer, in order."""
    names = [metric.name for metric in metrics]

    def one(tokenizer: str) -> list[Measurement]:
        wanted = {tokenizer, context.baseline}
        own = [key for key in keys if key.tokenizer in wanted]
        audits = {name: audit for name, audit in context.audits.items() if name in wanted}
        known = replace(context, audits=audits)
        choice, loading = plan.registry.choice, plan.registry.context
        found: list[Measurement] = call_twice(
            measure_one, choice, loading, folder, tokenizer, own, names, known
        )
        return found

    with ThreadPoolExecutor(plan.jobs) as threads:
        return [row for rows in threads.map(one, tokenizers) for row in rows]


def measure_one(
    emit: Emit,
    plugins: PluginChoice,
    load_context: LoadContext,
    folder: RunFolder,
    tokenizer: str,
    keys: Sequence[CellKey],
    metrics: Sequence[str],
    context: MeasureContext,
) -> list[Measurement]:
    """The rows of one tokenizer; `keys` are its cells and the baseline's."""
    from tokbench.metrics.measure import measure

    registry = open_registry(plugins, load_context)
    chosen = [registry.metrics[name] for name in metrics]
    return measure(CellFiles(folder, keys), chosen, context=context, only={tokenizer})
