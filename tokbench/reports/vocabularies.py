"""Tables of vocabularies: the audit, the scripts of their tokens, and the overlap of two of them."""

from __future__ import annotations

from collections import Counter

from tokbench.inspection.audit import VocabularyAudit
from tokbench.inspection.overlap import overlap_matrix
from tokbench.plots.captions import marks_explained
from tokbench.plots.labels import run_labels
from tokbench.reports.table import Column, Row, Table, tokenizer_rows
from tokbench.results import Run
from tokbench.wording import sentences

SCRIPTS = 14
"""How many scripts have their own column; the others are added up."""

_FIRST = Column.text("tokenizer")


def audit_table(run: Run) -> Table:
    """The ids of each vocabulary by status."""
    kinds = list(dict.fromkeys(kind for audit in run.audits.values() for kind in audit["counts"]))
    columns = _FIRST, Column.count("vocab_size", "ids"), *(Column.count(kind, kind.lower()) for kind in kinds)
    counts = {
        name: [audit["vocab_size"], *(audit["counts"].get(kind, 0) for kind in kinds)]
        for name, audit in run.audits.items()
    }
    rows = tokenizer_rows(run, counts, ranked=False)
    return Table("audit", "Audit: what becomes of each id", columns, rows, marks_explained(run, run.audits))


def injection_table(run: Run) -> Table:
    """Control strings that a user's plain text can turn into control ids, by tokenizer and entry."""
    columns = (
        _FIRST,
        Column.text("entry"),
        Column.count("controls", "control strings"),
        Column.count("exact", "as they are"),
        Column.count("within", "inside text"),
        Column.count("altered", "in other writing"),
        Column.text("which"),
    )
    labels = run_labels(run)
    rows = []
    for name, entries in run.injections.items():
        for found in entries:
            became = list(dict.fromkeys([*found["exact"], *found["within"], *found["altered"]]))
            which = " ".join(became[:_NAMED]) + (" …" if len(became) > _NAMED else "")
            counts = found["controls"], *(len(found[kind]) for kind in ("exact", "within", "altered"))
            rows.append(Row.of(labels[name], found["entry"], *counts, which, key=name))
    without = [labels[name] for name, entries in run.injections.items() if not entries]
    note = (
        "How many of a vocabulary's control strings, typed by a user, become control ids: as they are, inside "
        "other text, or split, in another case or form. 0 is what an entry for plain text should have."
    )
    note += f" Without control strings: {', '.join(without)}." if without else ""
    note = sentences(note, marks_explained(run, run.injections))
    return Table("injection", "Control strings in plain text", columns, tuple(rows), note)


_NAMED = 4
"""How many control strings a row names."""


def script_table(run: Run) -> Table:
    """Share of each vocabulary by script, the most common scripts first."""
    total: Counter[str] = Counter()
    shares: dict[str, dict[str, float]] = {}
    for name, audit in run.audits.items():
        size = sum(audit["scripts"].values()) or 1
        shares[name] = {script: count / size for script, count in audit["scripts"].items()}
        total.update(shares[name])
    shown = [script for script, _ in total.most_common(SCRIPTS)]
    columns = (Column(key=name, label=name, unit="share", places=1) for name in (*shown, "other"))
    figures = {
        name: [
            *(held.get(script, 0.0) for script in shown),
            sum(share for script, share in held.items() if script not in shown),
        ]
        for name, held in shares.items()
    }
    rows = tokenizer_rows(run, figures, ranked=False)
    note = marks_explained(run, shares)
    return Table("scripts", "Scripts: share of the vocabulary", (_FIRST, *columns), rows, note)


def overlap_table(run: Run) -> Table:
    """Jaccard index of the byte strings of every two vocabularies."""
    if len(run.audits) < 2:
        return Table("overlap", "Overlap", (), ())
    names = list(run.audits)
    matrix = overlap_matrix([VocabularyAudit.from_json(run.audits[name]) for name in names])
    labels = run_labels(run)
    columns = _FIRST, *(Column(key=name, label=labels[name], places=3) for name in names)
    rows = tokenizer_rows(run, dict(zip(names, matrix.tolist(), strict=True)), ranked=False)
    note = "Jaccard index of the vocabularies' byte strings; 1 is the same vocabulary."
    note = sentences(note, marks_explained(run, names))
    return Table("overlap", "Overlap of every two vocabularies", columns, rows, note)
