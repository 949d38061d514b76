"""Tokenizers that claim one vocabulary: whether they give the same ids over the run's text, and where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokbench.plots import data
from tokbench.reports.figures import number
from tokbench.reports.table import Cell, Column, Row, Table

if TYPE_CHECKING:
    from tokbench.results import Run

COLUMNS = (
    Column(key="tokenizer", label="tokenizer", numeric=False),
    Column(key="against", label="against", numeric=False),
    Column(key="documents", label="documents", places=0),
    Column(key="equal", label="equal", unit="share of documents", places=2),
    Column(key="tokens", label="tokens", places=0),
    Column(key="tokens_against", label="tokens against", places=0),
    Column(key="parting", label="where the others first part", numeric=False),
)


def pairs(run: Run) -> list[dict[str, Any]]:
    """The pairs that the run compared, in its order; those that differ first."""
    found: list[dict[str, Any]] = run.diffs.get("pairs", [])
    return sorted(found, key=lambda pair: pair.get("share_equal", -1) == 1)


def diff_table(run: Run) -> Table:
    """Every pair compared: the share of documents with the same tokens, and what the others part on."""
    labels = data.names(run)
    rows = tuple(
        Row((labels.get(pair["b"], pair["b"]), labels.get(pair["a"], pair["a"]), *_found(pair)), key=pair["b"])
        for pair in pairs(run)
    )
    return Table("diffs", "Document by document", COLUMNS, rows, _note(run) if rows else "")


def _found(pair: dict[str, Any]) -> tuple[Cell | str, ...]:
    if "error" in pair:
        return (*(Cell(why=pair["error"]) for _ in range(4)), pair["error"])
    of_a, of_b = pair["n_tokens"]
    counts = (Cell(value=value) for value in (pair["n_documents"], pair["share_equal"], of_b, of_a))
    return (*counts, causes(pair))


def causes(pair: dict[str, Any]) -> str:
    """The kinds of difference with their documents, the most common first.

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
        "Each tokenizer is compared with the first whose vocabulary is the same (95 % of the byte strings "
        "shared), and with what the suite names. Compared are the first documents of every language of every "
        f"dataset in turn, up to {number(budget['documents'], 0)} documents or "
        f"{number(budget['bytes'] / 1e6, 0)} MB, {number(budget['chars_per_document'], 0)} characters of each. "
        "`tokbench diff` compares whole corpora."
    )
