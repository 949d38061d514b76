"""What changed between two runs: figures beyond chance, versions, files and settings.

If both runs counted the same text, their figures are paired by groups of documents, like those of two
tokenizers of one run; a difference of one per cent can then be certain although the two intervals overlap
widely.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tokbench.errors import ResultsError
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.correction import SURE
from tokbench.metrics.measurement import ALL, CellKey
from tokbench.results.run import Run

if TYPE_CHECKING:
    import pandas as pd

    from tokbench.metrics.metric import Metric
    from tokbench.tally.tally import Tally

Verdict = Literal["same", "better", "worse", "changed", "unsure", "appeared", "vanished"]
KEYS = ("tokenizer", "dataset", "language", "metric")
OTHER_UNIT = " → "
"""The separator of two units, if those of a figure differ between the runs."""


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between the manifests: a dotted name, and both values (None if absent)."""

    name: str
    before: Any
    after: Any


def compare_figures(
    before: Run,
    after: Run,
    *,
    better: Mapping[str, str],
    timed: Collection[str] = (),
    threshold: float = 0.0,
    budgets: Mapping[str, float] | None = None,
    metrics: Sequence[Metric] = (),
) -> pd.DataFrame:
    """Both runs' figures side by side, with a verdict on each.

    The verdicts:

    - ``same``: the figure changed by at most `threshold` (a share of the earlier value; `budgets` has other
      thresholds by metric).
    - ``unsure``: it changed by more, but that may be chance: by the paired test of `metrics` if both runs have
      the same text, or else because the two intervals overlap. Also if it has no interval and the texts differ,
      or the metric is one of `timed`, which differ each time; and if the units differ, such as currencies: then
      there is no `change`.
    - ``better`` or ``worse``, by the metric's direction in `better` (metric name to "higher", "lower",
      "parity", "none"), or ``changed`` if it has none. If the metric has a budget, any change beyond it is
      ``worse``.
    - ``appeared`` and ``vanished``: the figure is in one run only, or measured in one only.

    A figure of a text's only language is left out if the figure of the whole text is the same.

    Columns: `KEYS`, ``before, after, change`` (relative, null if it was 0 before), ``before_low,
    before_high, after_low, after_high``, ``unit, p, verdict``; `p` is that of the paired test, or null.
    """
    one, other = (
        run.frame[[*KEYS, "value", "ci_low", "ci_high", "unit"]].set_axis(
            [*KEYS, name, f"{name}_low", f"{name}_high", f"{name}_unit"], axis=1
        )
        for run, name in ((before, "before"), (after, "after"))
    )
    both = one.merge(other, on=list(KEYS), how="outer")
    units = both["before_unit"].fillna(both["after_unit"]), both["after_unit"].fillna(both["before_unit"])
    apart = units[0] != units[1]
    both["unit"] = units[0].where(~apart, units[0] + OTHER_UNIT + units[1])
    both = both[both["before"].notna() | both["after"].notna()]
    both = both[~_told_twice(both)].reset_index(drop=True)
    change = (both["after"] - both["before"]) / both["before"].abs()
    both["change"] = change.where((change.abs() < math.inf) & ~apart)
    chances = paired(before, after, [metric for metric in metrics if metric.name not in timed])
    both["p"] = [chances.get(key) for key in both[list(KEYS)].itertuples(index=False, name=None)]
    both["p"] = both["p"].astype(float)
    rows = both.assign(
        better=[better.get(name, "none") for name in both["metric"]],
        budget=both["metric"].map(dict(budgets or {})).astype(float),
        timed=both["metric"].isin(timed),
        other_text=both["dataset"].isin(unpaired(before, after)),
    )
    both["verdict"] = [_verdict(row, threshold) for row in rows.itertuples()]
    order = ["before", "after", "change", "before_low", "before_high", "after_low", "after_high", "unit", "p"]
    return both[[*KEYS, *order, "verdict"]]


def _told_twice(figures: pd.DataFrame) -> pd.Series:
    """Which figures are of a text's only language, so that the figure of all languages is the same."""
    single = figures["language"] != ALL
    languages = figures["language"].where(single).groupby(figures["dataset"]).transform("nunique")
    same = [key for key in (*KEYS, "before", "after") if key != "language"]
    return single & (languages == 1) & figures.duplicated(same, keep=False)


def _verdict(row: Any, threshold: float) -> Verdict:
    """The verdict on a figure, from a row with the values of both runs; NaN means not known."""
    held = row.budget == row.budget
    if row.before != row.before:
        return "appeared"
    if row.after != row.after:
        return "vanished"
    if OTHER_UNIT in row.unit:
        return "unsure"
    if abs(row.after - row.before) <= (row.budget if held else threshold) * abs(row.before):
        return "same"
    if row.p == row.p:
        return "unsure" if row.p >= SURE else _direction(row, held=held)
    bounded = not any(end != end for end in (row.before_low, row.before_high, row.after_low, row.after_high))
    if bounded and row.after_low <= row.before_high and row.before_low <= row.after_high:
        return "unsure"
    # another text gives other figures of the same tokenizer; a metric without direction just changed
    moves = row.timed or (row.other_text and row.better != "none" and not held)
    return "unsure" if moves and not bounded else _direction(row, held=held)


def _direction(row: Any, *, held: bool) -> Verdict:
    """The verdict on a figure that certainly changed; `held` if a budget forbids any change."""
    if row.better == "none":
        return "worse" if held else "changed"
    parity = row.better == "parity"
    gain = abs(row.before - 1) - abs(row.after - 1) if parity else row.after - row.before
    if gain == 0:
        return "same"
    return "better" if (gain > 0) == (row.better in ("higher", "parity")) else "worse"


def paired(before: Run, after: Run, metrics: Sequence[Metric]) -> dict[tuple[str, ...], float]:
    """The corrected p-values of changed figures, by `KEYS`, for every tokenizer on text that both runs share.

    Text is the same if its digests are. Figures without an interval, or without a change in any document, are
    left out.
    """
    from tokbench.metrics.differences import differences

    found: dict[tuple[str, ...], float] = {}
    known = {entry["spec"]: entry for entry in after.manifest["datasets"]}
    for entry in before.manifest["datasets"] if metrics else ():
        dataset = entry["spec"]
        if not _same_text(entry, known.get(dataset)):
            continue
        for tokenizer in before.tokenizers:
            cells = {
                CellKey(name, dataset, language): tally
                for name, run in (("before", before), ("after", after))
                for language in entry["languages"]
                if (tally := _tally(run, tokenizer, dataset, language)) is not None
            }
            context = MeasureContext(
                baseline="before",
                parallel={dataset: bool(entry.get("parallel"))},
                kinds={dataset: str(entry.get("kind", "text"))},
            )
            for row in differences(cells, metrics, context=context):
                if row.p_adjusted is not None and row.value:
                    found[tokenizer, dataset, row.language, row.metric] = row.p_adjusted
    return found


def unpaired(before: Run, after: Run) -> list[str]:
    """The datasets that both runs have, but with different text."""
    known = {entry["spec"]: entry for entry in after.manifest["datasets"]}
    both = [entry for entry in before.manifest["datasets"] if entry["spec"] in known]
    return [entry["spec"] for entry in both if not _same_text(entry, known[entry["spec"]])]


def _same_text(entry: Mapping[str, Any], other: Mapping[str, Any] | None) -> bool:
    """Whether two runs' entries of a dataset have the same languages, with the same digests."""
    digests = [
        {code: each.get("sha256") for code, each in run["languages"].items()} for run in (entry, other) if run
    ]
    return len(digests) == 2 and digests[0] == digests[1] and all(digests[0].values())


def _tally(run: Run, tokenizer: str, dataset: str, language: str) -> Tally | None:
    try:
        return run.tally(tokenizer, dataset, language)
    except ResultsError:
        return None


def compare_manifests(before: Run, after: Run) -> list[Change]:
    """The differences in versions, files, text, machine and settings, without times and places.

    Tokenizers and datasets that only one run has appear as a difference of settings; their facts are left out.
    """
    shared = _named(before.manifest) & _named(after.manifest)
    one, other = (dict(_facts(run.manifest, shared)) for run in (before, after))
    names = dict.fromkeys([*one, *other])
    return [Change(name, one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name)]


def _named(manifest: Mapping[str, Any]) -> set[tuple[str, str]]:
    """The tokenizers and datasets of a run, by kind and spec."""
    return {(kind, entry["spec"]) for kind in ("tokenizers", "datasets") for entry in manifest.get(kind, [])}


def _facts(manifest: Mapping[str, Any], shared: Collection[tuple[str, str]]) -> Iterator[tuple[str, Any]]:
    for group in ("suite", "versions", "machine"):
        for name, value in (manifest.get(group) or {}).items():
            if name not in ("jobs", "megahertz", "name", "title"):
                yield f"{group}.{name}", value
    tokenizers, datasets = (
        [entry for entry in manifest.get(kind, []) if (kind, entry["spec"]) in shared]
        for kind in ("tokenizers", "datasets")
    )
    for entry in tokenizers:
        yield f"{entry['spec']}: status", entry.get("status")
        yield f"{entry['spec']}: vocab_size", entry.get("vocab_size")
        digests = [file["sha256"][:16] for file in entry.get("files", [])]
        yield f"{entry['spec']}: files", digests or None
    for entry in datasets:
        for language, known in entry["languages"].items():
            yield f"{entry['spec']}: {language}", (known.get("sha256") or "")[:16] or None
