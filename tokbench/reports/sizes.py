"""N: how much text, how many tokens and how many independent parts the figures of a table are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokbench.plots import data
from tokbench.reports.figures import number
from tokbench.wording import counted

if TYPE_CHECKING:
    from tokbench.results import Run


def counted_on(run: Run, dataset: str) -> str:
    """A sentence with the documents, bytes, tokens and clusters of a dataset, and the gold words scored on it.

    What a run of an earlier version did not keep is left out.
    """
    rows = run.frame[(run.frame["dataset"] == dataset) & run.frame["value"].notna()]
    whole = rows[rows["language"] == data.OVERALL]
    if not len(whole):
        return ""
    languages = len(run.languages(dataset))
    said = [counted(data.documents(whole), "document")]
    if languages > 1:
        said[0] += f" in {languages} languages"
    said += _amounts(whole, "text_bytes", "byte of UTF-8", "bytes of UTF-8")
    said += _amounts(whole, "tokens", "token", "tokens")
    said += _amounts(whole, "clusters", "independent cluster", "independent clusters")
    said += _amounts(rows[rows["language"] != data.OVERALL], "gold_words", "gold word", "gold words")
    return f"N: {', '.join(said)}."


def _amounts(rows: Any, metric: str, one: str, many: str) -> list[str]:
    """The amount with its noun, or its range over tokenizers or languages; nothing where not measured."""
    values = rows.loc[rows["metric"] == metric, "value"]
    if not len(values):
        return []
    low, high = float(values.min()), float(values.max())
    amount = number(low, 0) if low == high else f"{number(low, 0)} to {number(high, 0)}"
    return [f"{amount} {one if high == 1 else many}"]


def caveat_of(run: Run, dataset: str) -> str:
    """What the makers of a dataset say of figures that compare its languages; empty where they say nothing."""
    facts = [each.get("facts") or {} for each in run.manifest["datasets"] if each["spec"] == dataset]
    return str(facts[0].get("caveat", "")) if facts else ""
