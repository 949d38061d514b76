"""Makes `measurements` and `comparisons` from the cells on disk; what failed gets a row that says why.

The figures of a tokenizer need only its own cells and the baseline's, so workers make them in parallel, each
with one thread for the linear algebra of its replicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tokbench.metrics.context import CHEAPEST, MeasureContext
from tokbench.metrics.measurement import CellKey, Measurement
from tokbench.metrics.metric import Metric
from tokbench.registry import registry_of
from tokbench.results.cell import CellResult
from tokbench.results.failure import TaskFailure
from tokbench.results.folder import RunFolder
from tokbench.results.frames import measurement_table, table_of, write_measurements, write_table
from tokbench.runner.counting.cells import CellFiles
from tokbench.runner.counting.count import PlannedCell
from tokbench.runner.recipe import let_go
from tokbench.runner.training.candidates import Candidate
from tokbench.runner.unmeasured import failed_cells, failure_rows, whole_totals, without_metric, without_repeats
from tokbench.spec import LoadContext
from tokbench.workers.calls import NO_LIMITS, Emit, Given, T
from tokbench.workers.pool import attempt

if TYPE_CHECKING:
    import pyarrow as pa

    from tokbench.runner.inspecting.stage import Inspections
    from tokbench.runner.planning.plan import Plan  # workers do not need it

TALLIED = ("cell", "languages", "tokenizers", "vocabulary")
"""The levels of metrics computed from tallies and vocabularies; the others come from the speed pass."""

MOST_COMPARED = 500
"""With more pairs of tokenizers times languages, only totals are compared, not each language."""


@dataclass
class Figures:
    """The measurements, the comparisons, and the faults of metrics, which may be code of plugins."""

    rows: list[Measurement]
    compared: pa.Table
    faults: list[TaskFailure] = field(default_factory=list)


def make_figures(
    plan: Plan,
    folder: RunFolder,
    candidates: Sequence[Candidate],
    cells: Sequence[PlannedCell],
    failures: Sequence[CellResult],
    context: MeasureContext,
) -> Figures:
    """Measure and compare what was counted; the rows of a metric that failed say so."""
    metrics = [metric for metric in plan.metrics if metric.level in TALLIED]
    why = failed_cells(plan, candidates, failures)
    keys = [cell.key for cell in cells if cell.key not in why]
    tokenizers = list(dict.fromkeys(key.tokenizer for key in keys))
    measured, faults = measure_all(plan, folder, tokenizers, keys, metrics, context)
    rows = [*without_repeats([*whole_totals(measured, why)]), *failure_rows(why, metrics)]
    languages = {(key.dataset, key.language) for key in keys}
    few = _pairs(keys, context) * len(languages) <= MOST_COMPARED
    compared, more_faults = compare_all(plan, folder, keys, metrics, context, few)
    return Figures(rows, compared, list(dict.fromkeys([*faults, *more_faults])))


def write_figures(
    plan: Plan,
    folder: RunFolder,
    name: str,
    candidates: Sequence[Candidate],
    figures: Figures,
    speeds: Sequence[Measurement],
) -> None:
    """Write ``measurements``, including those of speed, and ``comparisons``."""
    folder.remove_reports()
    rows = _in_order(plan, candidates, [*figures.rows, *speeds])
    estimated = {candidate.entry.key for candidate in candidates if candidate.estimated}
    write_measurements(folder.measurements, measurement_table(name, rows, estimated))
    write_table(folder.comparisons, figures.compared)


def measure_context(plan: Plan, candidates: Sequence[Candidate], inspections: Inspections) -> MeasureContext:
    """What metrics can use in addition to the tallies."""
    suite = plan.suite
    return MeasureContext(
        vocab_sizes={
            each.entry.key: each.about.vocab_size
            for each in candidates
            if each.about is not None and not each.estimated
        },
        estimates={s.entry.key: s.estimated for s in candidates if s.estimated},
        parallel={c.recipe.key: c.parallel for c in plan.corpora},
        kinds={c.recipe.key: c.kind for c in plan.corpora},
        consecutive=frozenset(c.recipe.key for c in plan.corpora if c.about.get("consecutive")),
        reference=None if suite.reference == CHEAPEST else suite.reference,
        baseline=plan.baseline,
        prices=plan.prices,
        context_length=suite.context_length,
        model=suite.shape,
        renyi_alphas=tuple(suite.renyi_alphas),
        seed=suite.seed,
        replicates=suite.replicates,
        confidence=suite.confidence,
        exclude_lossy=suite.exclude_lossy,
        audits=inspections.audits,
        morphology=inspections.morphology,
    )


def _pairs(cells: Iterable[CellKey], context: MeasureContext) -> int:
    """How many pairs of tokenizers are compared."""
    n = len({key.tokenizer for key in cells})
    return n - 1 if context.baseline is not None else n * (n - 1) // 2


def _in_order(plan: Plan, candidates: Sequence[Candidate], rows: Sequence[Measurement]) -> list[Measurement]:
    """Rows in the order of the suite: languages within datasets, the total last, metrics as listed."""
    tokenizers = _places(candidate.entry.key for candidate in candidates)
    datasets = _places(corpus.recipe.key for corpus in plan.corpora)
    languages = _places((corpus.recipe.key, tag) for corpus in plan.corpora for tag in corpus.shards)
    metrics = _places(metric.name for metric in plan.metrics)
    last = 1 << 30
    return sorted(
        rows,
        key=lambda row: (
            tokenizers.get(row.tokenizer, last),
            datasets.get(row.dataset, last),
            languages.get((row.dataset, row.language), last),
            metrics.get(row.metric, last),
        ),
    )


def _places(names: Iterable[T]) -> dict[T, int]:
    """The position of each name in a list."""
    return {name: place for place, name in enumerate(names)}


def measure_all(
    plan: Plan,
    folder: RunFolder,
    tokenizers: Sequence[str],
    keys: Sequence[CellKey],
    metrics: Sequence[Metric],
    context: MeasureContext,
) -> tuple[list[Measurement], list[TaskFailure]]:
    """The rows of every tokenizer, in order, and the faults of plugins' metrics.

    Tokbench's own metrics are measured by one call, and each of a plugin by its own, so that one that fails
    loses only its own rows.
    """
    ours = _ours(plan, metrics)
    groups = [ours, *([metric] for metric in metrics if metric not in ours)]

    def one(tokenizer: str) -> list[Measurement]:
        wanted = {tokenizer, context.baseline}
        own = [key for key in keys if key.tokenizer in wanted]
        audits = {name: audit for name, audit in context.audits.items() if name in wanted}
        known = (plan.registry.context, folder, own, replace(context, audits=audits))
        rows: list[Measurement] = []
        for group in groups:
            task = MeasureTask(*known, [metric.name for metric in group], group is ours)
            found = task.attempt(plan, measure_one, tokenizer)
            if isinstance(found, TaskFailure):
                mine = [key for key in own if key.tokenizer == tokenizer]
                rows += [
                    row for metric in group for row in without_metric(metric, tokenizer, mine, found.status)
                ]
            else:
                rows += found
        return rows

    with ThreadPoolExecutor(plan.jobs) as threads:
        rows = [row for rows in threads.map(one, tokenizers) for row in rows]
    known = {metric.name for metric in metrics}
    failed = {row.metric: row for row in reversed(rows) if row.status.startswith("failed:")}
    return rows, [_fault(plan, name, row.status) for name, row in failed.items() if name in known]


def _ours(plan: Plan, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics that are tokbench's own."""
    return [metric for metric in metrics if plan.registry.in_house(metric.name, "tokbench_metrics")]


def _fault(plan: Plan, metric: str, status: str) -> TaskFailure:
    owner = plan.registry.owner(metric, "tokbench_metrics")
    what = status.removeprefix("failed: ")
    remedy = "leave it out: name the others with -m, or its plugin with --disable-plugin"
    return TaskFailure("metric", f"the metric {metric!r} of the plugin {owner!r}: {what}", remedy)


def compare_all(
    plan: Plan,
    folder: RunFolder,
    keys: Sequence[CellKey],
    metrics: Sequence[Metric],
    context: MeasureContext,
    per_language: bool,
) -> tuple[pa.Table, list[TaskFailure]]:
    """Paired differences in all metrics; if a plugin's metric fails, in tokbench's own, and the fault."""
    ours = _ours(plan, metrics)
    faults: list[TaskFailure] = []
    for chosen in (metrics, ours):
        names = [metric.name for metric in chosen]
        task = MeasureTask(plan.registry.context, folder, keys, context, names, len(chosen) == len(ours))
        found = task.attempt(plan, compare_cells, per_language)
        if not isinstance(found, TaskFailure):
            return found, faults
        others = ", ".join(repr(metric.name) for metric in chosen if metric not in ours) or "ours"
        faults.append(TaskFailure("metric", f"comparing tokenizers by {others}: {found.kind}: {found.message}"))
    return table_of([]), faults


@dataclass(frozen=True, slots=True)
class MeasureTask:
    """Metrics that a worker computes from cells: `ours`, which have no limits, or those of a plugin."""

    home: LoadContext
    folder: RunFolder
    keys: Sequence[CellKey]
    context: MeasureContext
    metrics: Sequence[str]
    ours: bool

    def attempt(
        self, plan: Plan, function: Callable[[Emit, MeasureTask, *Given], T], *more: *Given
    ) -> T | TaskFailure:
        """The result of `function` for this task in a worker, or why there is none."""
        limits = NO_LIMITS if self.ours else plan.limits
        return attempt(function, self, *more, limits=limits, again=self.ours)

    def open(self) -> tuple[CellFiles, list[Metric]]:
        """In the worker: the tallies and the metrics."""
        let_go()
        registry = registry_of(self.home)
        return CellFiles(self.folder, self.keys), [registry.metric(name) for name in self.metrics]


def measure_one(emit: Emit, task: MeasureTask, tokenizer: str) -> list[Measurement]:
    """In a worker: the rows of one tokenizer, from its cells and the baseline's."""
    from tokbench.metrics.measure import measure

    tallies, metrics = task.open()
    rows = measure(tallies, metrics, context=task.context, only={tokenizer})
    for row in rows:
        if not isinstance(row.unit, str):
            raise TypeError(f"its unit is {type(row.unit).__name__}, not str")
    return rows


def compare_cells(emit: Emit, task: MeasureTask, per_language: bool) -> pa.Table:
    """In a worker: ``comparisons``, as a table, which takes far less memory than rows as objects."""
    from tokbench.metrics.differences import differences

    tallies, metrics = task.open()
    return table_of(differences(tallies, metrics, context=task.context, per_language=per_language))
