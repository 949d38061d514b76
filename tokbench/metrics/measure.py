"""Tallies to measurements: every metric asked for, in every cell, with its interval or the reason for none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tokbench.metrics.context import MeasureContext
from tokbench.metrics.definitions import with_orders
from tokbench.metrics.intervals import Interval, binomial_limits, intervals
from tokbench.metrics.languages import Languages, across
from tokbench.metrics.metric import CellKey, Measurement, Metric
from tokbench.metrics.needs import CONDITIONS, Undefined, missing_need
from tokbench.metrics.view import Counts, measurement, one_resample, point, resampled_counts, settings
from tokbench.tally import Tally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALL = "all"


def measure(
    cells: Mapping[CellKey, Tally], metrics: Sequence[Metric], *, context: MeasureContext
) -> list[Measurement]:
    """One row for every metric in every cell, and for all languages of a dataset together.

    `cells` holds the tally of each tokenizer on each language; the rows of language ``"all"`` are of their
    sum. It is read once per tokenizer and dataset, so a mapping that reads from disk keeps little in
    memory. Metrics of level ``speed`` give no rows: the speed pass measures them. Metrics of level
    ``vocabulary`` give one row per tokenizer, with no dataset.

    What a metric raises becomes a row ``failed: …``; what is not defined a row ``undefined: …``.
    """
    metrics = with_orders(metrics, context.renyi_alphas)
    rows: list[Measurement] = []
    datasets: dict[tuple[str, str], list[str]] = {}
    for key in cells:
        if key.language != ALL:
            datasets.setdefault((key.tokenizer, key.dataset), []).append(key.language)
    by_level = {
        level: [metric for metric in metrics if metric.level == level]
        for level in ("cell", "tokenizers", "languages", "vocabulary")
    }
    bases = _Bases(cells, datasets, context)
    for (tokenizer, dataset), languages in datasets.items():
        tallies = {language: cells[CellKey(tokenizer, dataset, language)] for language in languages}
        tallies[ALL] = Tally.sum(tallies.values())
        lossy = tallies[ALL].lossy
        evaluated = {
            language: Cell(CellKey(tokenizer, dataset, language), tallies.pop(language), context)
            for language in [*tallies]
        }
        for language, cell in evaluated.items():
            base = None
            if by_level["tokenizers"]:
                base = cell if tokenizer == context.baseline else bases.of(dataset, language)
            rows += cell.rows(by_level["cell"], by_level["tokenizers"], base)
            cell.keep(Languages.COUNTS)
        if by_level["languages"]:
            rows += across(
                Languages.of(
                    [cell for language, cell in evaluated.items() if language != ALL],
                    parallel=context.parallel.get(dataset, False),
                    context=context,
                ),
                evaluated[ALL],
                by_level["languages"],
            )
        if context.exclude_lossy and lossy:
            rows = [_left_out(row, metrics) if row.tokenizer == tokenizer else row for row in rows]
    for tokenizer in dict.fromkeys(name for name, _ in datasets):
        rows += _vocabulary(tokenizer, by_level["vocabulary"], context)
    return rows


class _Bases:
    """The baseline's cells for the other tokenizers, made when first asked for, let go of after the last."""

    def __init__(
        self,
        cells: Mapping[CellKey, Tally],
        datasets: Mapping[tuple[str, str], list[str]],
        context: MeasureContext,
    ) -> None:
        self._cells, self._datasets, self._context = cells, datasets, context
        self._made: dict[tuple[str, str], Cell] = {}
        self._asking = Counter(
            (dataset, language)
            for (tokenizer, dataset), languages in datasets.items()
            for language in [*languages, ALL]
            if tokenizer != context.baseline
        )

    def of(self, dataset: str, language: str) -> Cell | None:
        """The baseline on one language of a dataset, or None where it was not measured there."""
        spec = self._context.baseline
        languages = self._datasets.get((spec, dataset), []) if spec is not None else []
        if spec is None or language not in [*languages, ALL] or not languages:
            return None
        if (dataset, language) not in self._made:
            chosen = languages if language == ALL else [language]
            tally = Tally.sum(self._cells[CellKey(spec, dataset, each)] for each in chosen)
            self._made[dataset, language] = Cell(CellKey(spec, dataset, language), tally, self._context)
        self._asking[dataset, language] -= 1
        if not self._asking[dataset, language]:
            return self._made.pop((dataset, language))
        return self._made[dataset, language]


class Cell:
    """One tally under evaluation: its counts, and their resamples when first needed."""

    def __init__(self, key: CellKey, tally: Tally, context: MeasureContext) -> None:
        self.key = key
        self.context = context
        self.counts = point(tally, key, context)
        self.n_documents = tally.documents
        self.n_groups = len(tally.groups.rows)
        self._tally: Tally | None = tally
        self._resamples: Counts | None = None

    @property
    def resamples(self) -> Counts | None:
        """The resamples of the counts, or None where the text is too small for them."""
        if self._tally is not None:
            self._resamples = resampled_counts(self._tally, self.key, self.context)
            self._tally = None
        return self._resamples

    def keep(self, names: Sequence[str]) -> None:
        """Let go of n-grams and of the other counters' resamples, which of many languages fill the memory."""
        for each in ("ngrams", "bigrams", "trigrams"):
            vars(self.counts).pop(each, None)
        if self._resamples is not None:
            kept = {name: getattr(self._resamples, name).copy() for name in names}
            self._resamples = Counts(**kept, **settings(self.key, self.context))

    def rows(
        self, metrics: Sequence[Metric], relative: Sequence[Metric], base: Cell | None
    ) -> list[Measurement]:
        """The rows of this cell, for metrics of one tokenizer and for those relative to a baseline's."""
        found: list[Measurement] = []
        again: list[tuple[int, NDArray[np.float64]]] = []
        for metric, arguments in [
            *((metric, (self,)) for metric in metrics),
            *((metric, (self, base)) for metric in relative),
        ]:
            row, figures = evaluate(metric, arguments)
            if figures is not None:
                again.append((len(found), figures))
            found.append(row)
        limits = intervals([figures for _, figures in again], self.context.confidence)
        for (index, _), limit in zip(again, limits, strict=True):
            limit = self._of_all_alike(found[index], limit) if index < len(metrics) else limit
            if limit is not None:
                found[index] = replace(found[index], ci_low=limit[0], ci_high=limit[1])
        return found

    def _of_all_alike(self, row: Measurement, limit: Interval | None) -> Interval | None:
        """The interval; of what never varied here only shares of documents have one."""
        if limit is None or limit[0] < limit[1]:
            return limit
        if row.unit == "share of documents" and row.value in (0, 1):
            return binomial_limits(row.value == 1, self.n_groups, self.context.confidence)
        return None


def evaluate(metric: Metric, cells: Sequence[Cell | None]) -> tuple[Measurement, NDArray[np.float64] | None]:
    """The row of a metric of some cells (one, or one and the baseline's), and it on every resample."""
    cell = cells[0]
    assert cell is not None
    unit = unit_of(metric, cell.counts)
    if any(each is None for each in cells):
        return measurement(cell, metric, unit, None, f"undefined: {CONDITIONS['baseline']}"), None
    missing = missing_need(metric, [each.counts for each in cells if each is not None])
    if missing:
        return measurement(cell, metric, unit, None, missing), None
    value, status = value_of(metric, [each.counts for each in cells if each is not None])
    if value is None:
        return measurement(cell, metric, unit, None, status), None
    row = measurement(cell, metric, unit, value)
    if metric.no_interval:
        return row, None
    again = [each.resamples for each in cells if each is not None]
    if any(each is None for each in again):
        return row, None
    return row, figures_of(metric, [each for each in again if each is not None])


def unit_of(metric: Metric, counts: Counts) -> str:
    """The metric's unit with what it is of: which words, which sample of the text, which currency.

    Example:
        >>> from tokbench.metrics import Metric
        >>> metric = Metric(name="f", unit="tokens/word", better="lower", summary="", compute=len)
        >>> unit_of(metric, Counts(words=10, gold_words=10, unspaced_words=0))
        'tokens/word (gold)'
    """
    unit = metric.unit
    if "ngrams" in metric.needs and counts.ngrams.n_bytes < counts.bytes:
        return f"{unit} (sample of {round(counts.ngrams.n_bytes / 1024)} KiB)"
    if "prices" in metric.needs and counts.currency:
        unit = unit.replace("currency", counts.currency)
    if "word" not in unit:
        return unit
    words, gold = getattr(counts, "words", 0), getattr(counts, "gold_words", 0)
    if words and gold == words:
        return f"{unit} (gold)"
    if words and 2 * counts.unspaced_words > words:
        return f"{unit} (UAX #29: one per character in this script)"
    return f"{unit} (UAX #29)" if not gold else f"{unit} (gold where marked, else UAX #29)"


def value_of(metric: Metric, arguments: Sequence[Any]) -> tuple[float | None, str]:
    """What `compute` gives as a finite number, or None and the status that says why not."""
    try:
        result = metric.compute(*arguments)
    except Undefined as reason:
        return None, f"undefined: {reason}"
    except ZeroDivisionError:
        return None, "undefined: nothing to divide by"
    except Exception as error:  # a plugin's metric may raise anything; the other figures go on
        return None, f"failed: {type(error).__name__}: {error}"
    if result is None:
        return None, "undefined: not defined here"
    try:
        number = float(result)
    except (TypeError, ValueError):
        return None, f"failed: compute returned {type(result).__name__}, not a number"
    return (number, "ok") if math.isfinite(number) else (None, "undefined: not a finite number")


def figures_of(metric: Metric, arguments: Sequence[Counts]) -> NDArray[np.float64] | None:
    """The metric on every resample: on arrays where its code allows that, else one by one."""
    import numpy as np

    n = len(arguments[0].documents)
    with np.errstate(all="ignore"):
        try:
            result = np.asarray(metric.compute(*arguments), np.float64)
            return result if result.shape == (n,) else None
        except (AttributeError, Undefined):
            return None  # it needs what resamples do not have: histograms
        except Exception:  # arrays are no numbers to it
            pass
        values = np.full(n, np.nan)
        for index in range(n):
            value, _ = value_of(metric, [one_resample(each, index) for each in arguments])
            if value is not None:
                values[index] = value
        return values


def _vocabulary(tokenizer: str, metrics: Sequence[Metric], context: MeasureContext) -> list[Measurement]:
    """The rows of a tokenizer's vocabulary: no dataset, no interval."""
    rows = []
    for metric in metrics:
        key = CellKey(tokenizer, "", ALL)
        own = Counts(audit=context.audits.get(tokenizer), vocab_size=context.vocab_sizes.get(tokenizer))
        other = Counts(audit=context.audits.get(context.baseline or ""))
        arguments = [own, other] if "baseline" in metric.needs else [own]
        status = None
        if "baseline" in metric.needs and context.baseline is None:
            status = f"undefined: {CONDITIONS['baseline']}"
        status = status or missing_need(metric, arguments)
        value = None
        if status is None:
            value, status = value_of(metric, arguments)
        rows.append(Measurement(*key, metric.name, value, None, None, metric.unit, 0, status))
    return rows


def _left_out(row: Measurement, metrics: Sequence[Metric]) -> Measurement:
    """A row of a lossy tokenizer without its figure, where losing text could make it look better."""
    better = next((metric.better for metric in metrics if metric.name == row.metric), "none")
    if better == "none" or row.metric in KEEPS_LOSSY or not row.dataset or row.value is None:
        return row
    return replace(
        row,
        value=None,
        ci_low=None,
        ci_high=None,
        status="skipped: the tokenizer loses text here, and lossy tokenizers are left out of rankings",
    )


KEEPS_LOSSY = frozenset({"round_trip", "unk_rate", "cer", "whitespace_fidelity"})
"""Figures that say what is lost, and so stay when lossy tokenizers are left out."""
