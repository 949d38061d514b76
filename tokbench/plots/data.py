"""The views of a run that figures and reports are made of: small pandas frames, no drawing.

Every function takes anything that has the attributes of `tokbench.results.Run` it uses: `frame` above all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from tokbench.results import Run

OVERALL = "all"


def values(run: Run, metric: str, dataset: str | None = None) -> pd.DataFrame:
    """The measured rows of a metric (`value` is never null), of one dataset or of all."""
    frame = run.frame
    keep = (frame["metric"] == metric) & frame["value"].notna()
    if dataset is not None:
        keep &= frame["dataset"] == dataset
    return frame[keep]


def overall(run: Run, metric: str, dataset: str | None = None) -> pd.DataFrame:
    """The rows of a metric over all languages of a dataset: one per tokenizer (and dataset)."""
    rows = values(run, metric, dataset)
    return rows[rows["language"] == OVERALL]


def by_language(run: Run, metric: str, dataset: str) -> pd.DataFrame:
    """A metric as a table of languages (rows) by tokenizers (columns), in the run's order."""
    rows = values(run, metric, dataset)
    rows = rows[rows["language"] != OVERALL]
    table = rows.pivot_table(index="language", columns="tokenizer", values="value", aggfunc="first")
    order = [language for language in run.languages(dataset) if language in table.index]
    return table.reindex(index=order, columns=[name for name in run.tokenizers if name in table.columns])


def intervals(run: Run, metric: str, dataset: str) -> dict[tuple[str, str], tuple[float, float]]:
    """The 95 % intervals of a metric by (language, tokenizer), where there are any."""
    rows = values(run, metric, dataset)
    rows = rows[rows["ci_low"].notna() & rows["ci_high"].notna()]
    return {
        (str(row.language), str(row.tokenizer)): (float(row.ci_low), float(row.ci_high))
        for row in rows.itertuples()
    }


def speeds(run: Run) -> pd.DataFrame:
    """The rows of `encode_speed`, by tokenizer: timed on the main dataset, else on the first that was."""
    rows = overall(run, "encode_speed")
    order = (rows["dataset"] != main_dataset(run)).sort_values(kind="stable").index
    return rows.loc[order].drop_duplicates("tokenizer").set_index("tokenizer")


def main_dataset(run: Run) -> str:
    """The dataset a report opens on: parallel before others, then the one with most languages."""
    parallel = set(values(run, "premium")["dataset"]) | set(values(run, "gini")["dataset"])
    return max(run.datasets, key=lambda name: (name in parallel, len(run.languages(name))), default="")


def natural_datasets(run: Run) -> list[str]:
    """The datasets to rank on, the main one first; a corpus of hard cases is no sample of anything."""
    main = main_dataset(run)
    hard = {entry["spec"] for entry in run.manifest["datasets"] if entry.get("facts", {}).get("hard_cases")}
    rest = [name for name in run.datasets if name != main and name not in hard]
    return ([main] if main else []) + rest


def known_difference(run: Run, metric: str, dataset: str, one: str, other: str) -> Any:
    """The paired comparison of two tokenizers over a whole dataset, whichever way round; None without one."""
    table = run.comparisons
    if not len(table):
        return None
    rows = table[
        (table["metric"] == metric)
        & (table["dataset"] == dataset)
        & (table["language"] == OVERALL)
        & table["tokenizer"].isin([one, other])
        & table["baseline"].isin([one, other])
    ]
    return None if rows.empty else rows.iloc[0]


def lossy(run: Run) -> dict[str, str]:
    """The tokenizers that did not give some text back, each with what was lost."""
    found: dict[str, list[str]] = {}
    returned = overall(run, "round_trip").groupby("tokenizer", sort=False)["value"].min()
    for name, share in returned[returned < 1].items():
        found.setdefault(str(name), []).append(f"{_percent(1 - share)} of documents changed")
    unknown = overall(run, "unk_rate").groupby("tokenizer", sort=False)["value"].max()
    for name, share in unknown[unknown > 0].items():
        found.setdefault(str(name), []).append(f"{_percent(share)} of characters unknown")
    return {name: "; ".join(losses) for name, losses in found.items()}


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share >= 0.0001 else "< 0.01 %"


def ranked(run: Run, metric: str, dataset: str, *, higher: bool = True) -> pd.DataFrame:
    """The overall rows of a metric, best first."""
    return overall(run, metric, dataset).sort_values("value", ascending=not higher, kind="stable")


def documents(rows: pd.DataFrame) -> int:
    """The number of documents the rows of one dataset were measured on."""
    return int(rows["n_documents"].max()) if len(rows) else 0


def best_first(run: Run, metric: str, dataset: str, *, higher: bool = True) -> list[str]:
    """The tokenizers measured on a dataset, best first; those that lose text after all that do not."""
    order: list[str] = ranked(run, metric, dataset, higher=higher)["tokenizer"].tolist()
    bad = lossy(run)
    return [name for name in order if name not in bad] + [name for name in order if name in bad]


def fairest_first(run: Run, dataset: str) -> list[str]:
    """The tokenizers by their highest premium, lowest first; those that lose text after all that do not."""
    worst = by_language(run, "premium", dataset).max().sort_values(kind="stable")
    bad = lossy(run)
    return sorted(map(str, worst.index), key=lambda name: name in bad)


def names(run: Run, specs: Sequence[str] | None = None) -> dict[str, str]:
    """Short labels of the run's tokenizers, a dagger at those that lose text."""
    from tokbench.plots.labels import tokenizer_labels

    bad = lossy(run)
    labels = tokenizer_labels(run.tokenizers if specs is None else specs, given_names(run))
    return {spec: label + (" †" if spec in bad else "") for spec, label in labels.items()}


def given_names(run: Run) -> dict[str, str]:
    """The names a suite's author gave to tokenizers, by spec."""
    return {entry["spec"]: entry["label"] for entry in run.manifest["tokenizers"] if entry.get("label")}
