"""What changed between two runs: figures beyond their intervals, versions, files and settings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tokbench.results.run import Run

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["same", "better", "worse", "changed", "unsure", "appeared", "vanished"]
KEYS = ("tokenizer", "dataset", "language", "metric")


@dataclass(frozen=True, slots=True)
class Change:
    """Something of the manifest that differs: a dotted name, and both values (None where absent)."""

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
) -> pd.DataFrame:
    """Both runs' figures side by side, with a verdict on each.

    A figure is ``same`` where it changed by at most `threshold` (a share of the earlier value), ``unsure``
    where it changed by more but the two intervals overlap, or where it is one of the metrics `timed`, which
    come out differently each time, and was timed too seldom for an interval; else ``better`` or ``worse`` by
    the metric's direction in `better` (metric name to "higher", "lower", "parity", "none"), or ``changed``
    where it has none. ``appeared`` and ``vanished`` figures are in one run only, or measured in one only.

    Columns: `KEYS`, ``before, after, change`` (relative), ``before_low, before_high, after_low, after_high``,
    ``unit, verdict``.
    """
    columns = ["value", "ci_low", "ci_high", "unit"]
    both = before.frame[[*KEYS, *columns]].merge(
        after.frame[[*KEYS, *columns]], on=list(KEYS), how="outer", suffixes=("_before", "_after")
    )
    both["unit"] = both["unit_before"].fillna(both["unit_after"])
    both = both.rename(
        columns={
            "value_before": "before",
            "value_after": "after",
            "ci_low_before": "before_low",
            "ci_high_before": "before_high",
            "ci_low_after": "after_low",
            "ci_high_after": "after_high",
        }
    ).drop(columns=["unit_before", "unit_after"])
    both = both[both["before"].notna() | both["after"].notna()].reset_index(drop=True)
    both["change"] = (both["after"] - both["before"]) / both["before"].abs()
    both["verdict"] = [
        _verdict(row, better.get(str(row["metric"]), "none"), threshold, row["metric"] in timed)
        for row in both.to_dict("records")
    ]
    order = ["before", "after", "change", "before_low", "before_high", "after_low", "after_high", "unit"]
    return both[[*KEYS, *order, "verdict"]]


def _verdict(row: Mapping[Any, Any], better: str, threshold: float, timed: bool) -> Verdict:
    before, after = row["before"], row["after"]
    if before != before:
        return "appeared"
    if after != after:
        return "vanished"
    if abs(after - before) <= threshold * abs(before):
        return "same"
    limits = [row[name] for name in ("before_low", "before_high", "after_low", "after_high")]
    bounded = all(limit == limit for limit in limits)
    if (bounded and limits[2] <= limits[1] and limits[0] <= limits[3]) or (timed and not bounded):
        return "unsure"
    if better == "none":
        return "changed"
    gain = abs(before - 1) - abs(after - 1) if better == "parity" else after - before
    if gain == 0:
        return "same"
    return "better" if (gain > 0) == (better in ("higher", "parity")) else "worse"


def compare_manifests(before: Run, after: Run) -> list[Change]:
    """What differs in versions, files, text, machine and settings; times and places are left out."""
    one, other = dict(_facts(before.manifest)), dict(_facts(after.manifest))
    names = dict.fromkeys([*one, *other])
    return [Change(name, one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name)]


def _facts(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for group in ("suite", "versions", "machine"):
        for name, value in (manifest.get(group) or {}).items():
            if name not in ("jobs", "megahertz", "name", "title"):
                yield f"{group}.{name}", value
    for entry in manifest.get("tokenizers", []):
        yield f"{entry['spec']}: status", entry.get("status")
        yield f"{entry['spec']}: vocab_size", entry.get("vocab_size")
        digests = [file["sha256"][:16] for file in entry.get("files", [])]
        yield f"{entry['spec']}: files", digests or None
    for entry in manifest.get("datasets", []):
        for language, known in entry["languages"].items():
            yield f"{entry['spec']}: {language}", (known.get("sha256") or "")[:16] or None
