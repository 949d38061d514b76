"""Tallies to measurements: every metric asked for, in every cell, with its interval or the reason for none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from tokbench.metrics.cell import MeasuredCell
from tokbench.metrics.computing import value_of
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.counts import Counts
from tokbench.metrics.definitions import with_orders
from tokbench.metrics.languages import Languages, across
from tokbench.metrics.measurement import ALL, CellKey, Measurement
from tokbench.metrics.metric import Level, Metric
from tokbench.metrics.needs import CONDITIONS
from tokbench.tally.tally import Tally


def measure(
    cells: Mapping[CellKey, Tally],
    metrics: Sequence[Metric],
    *,
    context: MeasureContext,
    only: Collection[str] | None = None,
) -> list[Measurement]:
    """One row for every metric in every cell, and for all languages of a dataset together.

    `cells` holds the tally of each tokenizer on each language; the rows of language ``"all"`` are of their
    sum. It is read once per tokenizer and dataset, the baseline's again for each, so a mapping that reads from
    disk keeps little in memory. Metrics of level ``speed`` give no rows: the speed pass measures them. Metrics
    of level ``vocabulary`` give one row per tokenizer, with no dataset. With `only`, no rows are made but of
    these tokenizers; the others are there to be the baseline.

    What a metric raises becomes a row ``failed: …``; what is not defined a row ``undefined: …``.
    """
    metrics = with_orders(metrics, context.renyi_alphas)
    rows: list[Measurement] = []
    datasets: dict[tuple[str, str], list[str]] = {}
    for key in cells:
        if key.language != ALL:
            datasets.setdefault((key.tokenizer, key.dataset), []).append(key.language)
    wanted = {key: languages for key, languages in datasets.items() if only is None or key[0] in only}
    for (tokenizer, dataset), languages in wanted.items():
        based = datasets.get((context.baseline or "", dataset), [])
        rows += _of_dataset(cells, tokenizer, dataset, languages, based, metrics, context)
    of_vocabulary = _of_level(metrics, "vocabulary")
    for tokenizer in dict.fromkeys(name for name, _ in wanted):
        rows += _vocabulary(tokenizer, of_vocabulary, context)
    return rows


def _of_level(metrics: Sequence[Metric], level: Level) -> list[Metric]:
    return [metric for metric in metrics if metric.level == level]


def _of_dataset(
    cells: Mapping[CellKey, Tally],
    tokenizer: str,
    dataset: str,
    languages: Sequence[str],
    based: Sequence[str],
    metrics: Sequence[Metric],
    context: MeasureContext,
) -> list[Measurement]:
    """The rows of a tokenizer on a dataset: of each of its languages, then of all; `based` has the baseline."""
    alone, relative, together = (_of_level(metrics, level) for level in ("cell", "tokenizers", "languages"))
    tallies = {language: cells[CellKey(tokenizer, dataset, language)] for language in languages}
    tallies[ALL] = Tally.sum(tallies.values())
    lossy = tallies[ALL].lossy and tokenizer not in context.estimates  # of those it is not known
    evaluated: dict[str, MeasuredCell] = {}
    rows: list[Measurement] = []
    for language in [*tallies]:
        own, added = CellKey(tokenizer, dataset, language), languages if language == ALL else [language]
        cell = evaluated[language] = MeasuredCell(own, tallies.pop(language), context, added)
        base, theirs = None, own._replace(tokenizer=context.baseline or "")
        if relative:
            base = cell if tokenizer == context.baseline else MeasuredCell.of(cells, theirs, based, context)
        rows += cell.rows(alone, relative, base)
        cell.keep_only(Languages.COUNTERS.values() if together else ())
    if together:
        single = Languages.of([cell for language, cell in evaluated.items() if language != ALL], context)
        rows += across(single, evaluated[ALL], together)
    if context.exclude_lossy and lossy:
        # those of fidelity say what is lost
        ranked = {metric.name for metric in metrics if metric.better != "none" and metric.group != "fidelity"}
        rows = [_left_out(row) if row.metric in ranked else row for row in rows]
    return rows


def _vocabulary(tokenizer: str, metrics: Sequence[Metric], context: MeasureContext) -> list[Measurement]:
    """The rows of a tokenizer's vocabulary: no dataset, no interval."""
    key, rows = CellKey(tokenizer, "", ALL), []
    own = Counts(
        audit=context.audits.get(tokenizer),
        vocab_size=context.vocab_sizes.get(tokenizer),
        model=context.model,
    )
    other = Counts(audit=context.audits.get(context.baseline or ""))
    for metric in metrics:
        relative = "baseline" in metric.needs
        value, status = None, f"undefined: {CONDITIONS['baseline']}"
        if not relative or context.baseline is not None:
            given = [own, other] if relative else [own]
            value, status = value_of(metric, [each.of_metric(metric) for each in given])
        rows.append(Measurement(*key, metric.name, unit=metric.unit, value=value, status=status))
    return rows


def _left_out(row: Measurement) -> Measurement:
    """A row of a lossy tokenizer without its figure, where losing text could make it look better."""
    if row.value is None:
        return row
    why = "skipped: the tokenizer loses text here, and lossy tokenizers are left out of rankings"
    return replace(row, value=None, ci_low=None, ci_high=None, status=why)
