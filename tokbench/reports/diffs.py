"""Tables of diffs: which tokenizers give the same ids for the run's text, and where they differ."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from tokbench.inspection.pieces import visible
from tokbench.plots.captions import marks_explained
from tokbench.plots.labels import run_labels
from tokbench.reports.figures import number
from tokbench.reports.table import Column, Row, Table, TableCell
from tokbench.results import Run
from tokbench.tokenizer import first_difference
from tokbench.wording import counted, data_size, sentences

COLUMNS = (
    Column.text("tokenizer"),
    Column.text("against"),
    Column.count("documents"),
    Column(key="equal", label="equal", unit="share of documents", places=2),
    Column.count("tokens"),
    Column.count("tokens_against", "tokens against"),
    Column.text("parting", "where the others first part"),
)


def pairs(run: Run) -> list[dict[str, Any]]:
    """The pairs that the run compared, in its order; those that differ first."""
    found: list[dict[str, Any]] = run.diffs.get("pairs", [])
    return sorted(found, key=lambda pair: pair.get("share_equal", -1) == 1)


def diff_table(run: Run) -> Table:
    """Every pair compared: the share of documents with the same tokens, and why the others differ."""
    labels, compared = run_labels(run), pairs(run)
    rows = tuple(
        Row.of(*(labels[pair[side]] for side in "ba"), *_found(pair), key=pair["b"]) for pair in compared
    )
    marks = marks_explained(run, {pair[side] for pair in compared for side in "ab"})
    return Table("diffs", "Document by document", COLUMNS, rows, sentences(_note(run), marks) if rows else "")


def _found(pair: dict[str, Any]) -> tuple[TableCell | float | str, ...]:
    if "error" in pair:
        return *[TableCell(why=pair["error"])] * 4, pair["error"]
    return pair["n_documents"], pair["share_equal"], *reversed(pair["n_tokens"]), causes(pair)


def causes(pair: dict[str, Any]) -> str:
    """The causes of differences with their numbers of documents, the most common first.

    Example:
        >>> causes({"causes": {"ties": 2, "white space": 30}, "compared": "bytes"})
        'white space 30, ties 2 (by bytes: the ids are numbered differently)'
    """
    common = sorted(pair["causes"].items(), key=lambda item: -item[1])
    said = ", ".join(f"{cause} {number(count, 0)}" for cause, count in common) or "nowhere"
    return said + (" (by bytes: the ids are numbered differently)" if pair["compared"] == "bytes" else "")


def _note(run: Run) -> str:
    budget = run.diffs["budget"]
    return (
        "Each tokenizer is compared with the first one that has nearly the same vocabulary (they share 95 % of "
        "their byte strings, so sizes may differ a little), and with those that the suite names. The "
        "comparison takes the first documents of every language and dataset, up to "
        f"{number(budget['documents'], 0)} documents or {data_size(budget['bytes'])}, "
        f"{number(budget['chars_per_document'], 0)} characters of "
        "each. The command tokbench diff compares whole corpora."
    )


PASSAGE_COLUMNS = (
    Column.text("tokenizer"),
    Column.text("other"),
    Column.count("passages"),
    Column.count("same_ids", "same ids"),
    Column.count("same_cuts", "same cuts"),
    Column.text("first", "first difference in ids"),
)


def passages_table(run: Run) -> Table:
    """Pairs of tokenizers that may be the same: how many passages agree, and the first place where they differ.

    Pairs with the same ids for at least one passage, or with the same tokens under other ids for all of them.
    Passages that two vocabularies cut alike by accident, such as short English ones, prove nothing.
    """
    labels = run_labels(run)
    views: dict[str, list[list[dict[str, Any]]]] = {}
    for sample in run.samples:
        for view in sample["tokenizations"]:
            views.setdefault(view.get("spec") or view["tokenizer"], []).append(view["pieces"])
    rows, shown = [], set()
    for one, other in combinations(views, 2):
        both = zip(views[one], views[other], strict=False)
        pairs = [(first, second) for first, second in both if first or second]
        ids = sum(_column(first, "id") == _column(second, "id") for first, second in pairs)
        cuts = sum(_column(first, "bytes") == _column(second, "bytes") for first, second in pairs)
        if pairs and (ids or cuts == len(pairs)):
            names = labels[one], labels[other]
            shown |= {one, other}
            rows.append(Row.of(*names, len(pairs), ids, cuts, _first_difference(pairs), key=one))
    note = "Passages: those shown side by side. Cuts: the same bytes in the same tokens, whatever their ids."
    note = sentences(note, marks_explained(run, shown))
    return Table("agreement", "The passages shown below", PASSAGE_COLUMNS, tuple(rows), note)


def _column(pieces: list[dict[str, Any]], key: str) -> list[Any]:
    return [piece[key] for piece in pieces]


def _first_difference(pairs: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]]) -> str:
    for at, (first, second) in enumerate(pairs, 1):
        place = first_difference(_column(first, "id"), _column(second, "id"))
        if place < min(len(first), len(second)):
            left, right = (f"{visible(each[place]['text'])} ({each[place]['id']})" for each in (first, second))
            return f"passage {at}, token {place + 1}: {left} and {right}"
        if len(first) != len(second):
            return f"passage {at}: one ends after {counted(place, 'token')}"
    return "none"
