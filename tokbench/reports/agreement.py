"""Which tokenizers give the same ids on the run's passages, and where those that nearly do part ways."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from tokbench.inspection.pieces import visible
from tokbench.plots import data
from tokbench.reports.table import Cell, Column, Row, Table

if TYPE_CHECKING:
    from tokbench.results import Run

COLUMNS = (
    Column(key="tokenizer", label="tokenizer", numeric=False),
    Column(key="other", label="other", numeric=False),
    Column(key="passages", label="passages", places=0),
    Column(key="same_ids", label="same ids", places=0),
    Column(key="same_cuts", label="same cuts", places=0),
    Column(key="first", label="first difference in ids", numeric=False),
)


def agreement_table(run: Run) -> Table:
    """Every two tokenizers that cut at least one passage alike: how many, and the first place they differ."""
    labels = data.names(run)
    views: dict[str, list[list[dict[str, Any]]]] = {}
    for sample in run.samples:
        for view in sample["tokenizations"]:
            views.setdefault(view.get("spec") or view["tokenizer"], []).append(view["pieces"])
    rows = []
    for one, other in combinations(views, 2):
        both = zip(views[one], views[other], strict=False)
        pairs = [(first, second) for first, second in both if first or second]
        ids = sum(_column(first, "id") == _column(second, "id") for first, second in pairs)
        cuts = sum(_column(first, "bytes") == _column(second, "bytes") for first, second in pairs)
        if ids or cuts:
            counts = (Cell(value=len(pairs)), Cell(value=ids), Cell(value=cuts))
            names = labels.get(one, one), labels.get(other, other)
            rows.append(Row((*names, *counts, _first_difference(pairs)), key=one))
    note = "Cuts: the same bytes in the same tokens, whatever their ids."
    return Table("agreement", "The passages shown below", COLUMNS, tuple(rows), note)


def _column(pieces: list[dict[str, Any]], key: str) -> list[Any]:
    return [piece[key] for piece in pieces]


def _first_difference(pairs: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]]) -> str:
    for number, (first, second) in enumerate(pairs, 1):
        for place, (one, other) in enumerate(zip(first, second, strict=False)):
            if one["id"] != other["id"]:
                left, right = visible(one["text"]), visible(other["text"])
                return f"passage {number}, token {place + 1}: {left} ({one['id']}) and {right} ({other['id']})"
        if len(first) != len(second):
            return f"passage {number}: one ends after {min(len(first), len(second))} tokens"
    return "none"
