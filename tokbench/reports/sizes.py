"""N: the amount of text, tokens and independent clusters behind the figures of a table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from tokbench.metrics.measurement import ALL
from tokbench.plots import data
from tokbench.reports.figures import number
from tokbench.results import Run
from tokbench.wording import counted, sentences, span

OF_THESE = (
    " Blocks of one text resemble each other: the intervals hold for these documents, not for similar text."
)


@data.remembered
def counted_on(run: Run, dataset: str, names: Sequence[str] = ()) -> str:
    """A sentence with the documents, bytes, tokens and clusters of a dataset, and the gold words scored on it.

    Tokens are those of the tokenizers `names`, by default of all. Amounts that a run of an earlier version did
    not store are left out.
    """
    rows = run.frame[(run.frame["dataset"] == dataset) & run.frame["value"].notna()]
    rows = rows[rows["tokenizer"].isin(names)] if names else rows
    whole = rows[rows["language"] == ALL]
    if not len(whole):
        return ""
    languages = len(run.languages(dataset))
    said = [counted(int(whole["n_documents"].max()), "document")]
    if languages > 1:
        said[0] += f" in {languages} languages"
    said += _amounts(whole, "text_bytes", "byte of UTF-8", "bytes of UTF-8")
    said += _amounts(whole, "tokens", "token", "tokens")
    consecutive = bool(data.facts_of(run, dataset).get("consecutive"))
    kind = "block of consecutive documents" if consecutive else "independent cluster"
    said += _amounts(whole, "clusters", kind, kind.replace(" ", "s ", 1) if consecutive else f"{kind}s")
    gold = whole if "gold_words" in [*whole["metric"]] else rows  # perhaps only some languages have gold words
    said += _amounts(gold, "gold_words", "gold word", "gold words")
    return f"N: {', '.join(said)}.{OF_THESE if consecutive else ''}"


def _amounts(rows: pd.DataFrame, metric: str, one: str, many: str) -> list[str]:
    """The amount with its noun, or its range over tokenizers or languages; empty if not measured."""
    values = rows.loc[rows["metric"] == metric, "value"]
    if not len(values):
        return []
    low, high = float(values.min()), float(values.max())
    amount = number(low, 0) if low == high else span(low, high, lambda amount: number(amount, 0))
    return [f"{amount} {one if high == 1 else many}"]


def caveat_of(run: Run, dataset: str) -> str:
    """The caveat that a dataset states on comparing its languages, and what it lacks; or an empty string."""
    facts = data.facts_of(run, dataset)
    return sentences(facts.get("caveat", ""), facts.get("lacks", ""))
