"""Tables of speeds: a rank if the intervals allow it, and a ratio if the ids were the same.

Two tokenizers are ranked against each other only if their intervals do not overlap. A rank is therefore a
range: ``2–4`` means slower than one other and not distinguishable from two. Ratios compare tokenizers that gave
the same ids for everything timed, relative to the one that the suite names first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from tokbench.plots import data
from tokbench.plots.captions import marks_explained
from tokbench.plots.labels import dataset_label, run_labels
from tokbench.reports.chosen import metric_facts
from tokbench.reports.figures import decimals
from tokbench.reports.table import Cells, Column, Table, TableCell, tokenizer_rows
from tokbench.reports.tables import metric_column
from tokbench.results import Run
from tokbench.wording import sentences

FORMS = (
    ("batch", "cold", "first pass"),
    ("batch", "warm", "batch"),
    ("single", "warm", "single"),
    ("long", "warm", "one long"),
    ("short", "warm", "short"),
    ("lists", "warm", "as lists"),
    ("offsets", "warm", "offsets"),
    ("decode", "warm", "decode"),
)
"""Form, state and heading of the columns for one thread; those not timed are left out."""

_NOTE = (
    "MB of UTF-8 input per second, {clock} on one thread unless a number of threads is given; small or in "
    "parentheses 95 % intervals. First pass: {first}; all others: text met before. Rank: by {rank}; a range "
    "where intervals overlap."
)
_SAME_NOTE = "×: how many times as fast as the tokenizer named, which gave the same ids."
_CLOCKS = {"wall": "wall time", "cpu": "CPU time"}


def measurements(run: Run) -> Table:
    """Every measurement of the speed pass on one text, that of `data.timed_dataset`."""
    facts = metric_facts(run)
    frame = run.frame
    wanted = [name for name, metric in facts.items() if metric.level == "speed"]
    timed = data.timed_dataset(run)
    rows = frame[frame["metric"].isin(wanted) & frame["value"].notna() & frame["dataset"].isin([timed, ""])]
    shown = [name for name in wanted if name in set(rows["metric"])]
    cells = Cells.of(rows, "tokenizer", "metric")
    units = dict(zip(rows["metric"], rows["unit"], strict=True))
    columns = Column.text("tokenizer"), *(metric_column(name, facts, units[name]) for name in shown)
    there = [name for name in run.tokenizers if any((name, metric) in cells for metric in shown)]
    made = tokenizer_rows(run, {name: [cells[name, metric] for metric in shown] for name in there})
    of = f"Speeds and latencies are of {dataset_label(run, timed)}." if (rows["dataset"] == timed).any() else ""
    note = sentences(of, marks_explained(run, there), data.busy(run))
    return Table("speed", "Speed, memory, load time", columns, made, note)


def rank_ranges(intervals: Mapping[str, tuple[float, float]]) -> dict[str, tuple[int, int]]:
    """The best and worst rank that each can have if more is better: from (low, high) to (first, last).

    Example:
        >>> rank_ranges({"a": (9.0, 9.5), "b": (5.0, 6.0), "c": (5.5, 7.0), "d": (1.0, 2.0)})
        {'a': (1, 1), 'b': (2, 3), 'c': (2, 3), 'd': (4, 4)}
    """
    ends = list(intervals.values())
    return {
        name: (1 + sum(other[0] > high for other in ends), len(ends) - sum(other[1] < low for other in ends))
        for name, (low, high) in intervals.items()
    }


def speed_tables(run: Run) -> list[Table]:
    """A table for each dataset that was timed, fastest first; empty if speed was not measured."""
    measured = run.manifest.get("speed") or {}
    summary = measured.get("summary", [])
    timed = dict.fromkeys(row["dataset"] for row in summary)
    found = (_table(run, measured, [row for row in summary if row["dataset"] == name], name) for name in timed)
    return [table for table in found if table.rows]


def _table(run: Run, measured: Mapping[str, Any], summary: Sequence[Mapping[str, Any]], dataset: str) -> Table:
    cells = {
        (row["tokenizer"], row["form"], row["state"], row["threads"]): _speed(row)
        for row in summary
        if row["tokenizer"] in run.tokenizers
    }
    fewest = min((threads for *_, threads in cells), default=1)
    warm, cold = (
        {name: cell for (name, *rest), cell in cells.items() if rest == ["batch", state, fewest]}
        for state in ("warm", "cold")
    )
    ranked, by = (cold, "first pass") if cold.keys() >= warm.keys() else (warm, "warm batches")
    ranks = rank_ranges({name: _bounds(cell) for name, cell in ranked.items()})
    order = sorted(ranked, key=lambda name: -(ranked[name].value or 0.0))
    columns = list(_columns(cells))
    references = _references(run, measured, ranked)
    ratios = {name: _ratio(ranked[name], ranked[reference]) for name, reference in references.items()}
    labels = run_labels(run)
    rows: dict[str, list[TableCell | str]] = {}
    for name in order:
        rows[name] = ["–".join(map(str, dict.fromkeys(ranks[name])))]
        if references:
            rows[name].append(labels.get(references.get(name, ""), ""))
            rows[name].append(ratios.get(name, TableCell(why="no other gave its ids")))
        rows[name] += [cells.get((name, *key), TableCell(why="not timed")) for key, _ in columns]
    same = (
        Column.text("reference", "same ids as"),
        Column(key="ratio", label="times as fast", unit="×", places=_ratio_places(ratios.values())),
    )
    heads = (
        Column.text("tokenizer"),
        Column.text("rank"),
        *(same if references else ()),
        *(Column(key=label, label=label, unit="MB/s") for _, label in columns),
    )
    label = dataset_label(run, dataset)
    first = data.first_pass(run, dataset) or "not timed"
    note = _NOTE.format(clock=_CLOCKS[measured.get("clock", "wall")], first=first, rank=by)
    same_note = _SAME_NOTE if references else ""
    note = sentences(note, same_note, marks_explained(run, order), data.busy(run))
    return Table(f"speeds-{label.replace(' ', '-')}", label, heads, tokenizer_rows(run, rows), note)


def _columns(
    cells: Mapping[tuple[str, str, str, int], TableCell],
) -> Iterator[tuple[tuple[str, str, int], str]]:
    there = {key[1:] for key in cells}
    for form, state, label in FORMS:
        if (form, state, 1) in there:
            yield (form, state, 1), label
    for threads in sorted({threads for _, _, threads in there} - {1}):
        yield ("batch", "warm", threads), f"batch, {threads} threads"


def _references(run: Run, measured: Mapping[str, Any], timed: Mapping[str, TableCell]) -> dict[str, str]:
    """For each tokenizer, the first one that gave the same ids."""
    order = {name: place for place, name in enumerate(run.tokenizers)}
    found: dict[str, str] = {}
    for group in measured.get("same_ids", []):
        there = sorted((name for name in group if name in timed), key=order.__getitem__)
        if len(there) > 1:
            found |= dict.fromkeys(there, there[0])
    return found


def _speed(row: Mapping[str, Any]) -> TableCell:
    size = row["n_bytes"] / 1e6
    if row["low"] is None:
        return TableCell(value=row["mb_per_second"])
    return TableCell(value=row["mb_per_second"], low=size / row["high"], high=size / row["low"])


def _bounds(cell: TableCell) -> tuple[float, float]:
    """The interval; a speed timed once has none and could be any."""
    return (0.0, inf) if cell.low is None or cell.high is None else (cell.low, cell.high)


def _ratio_places(ratios: Iterable[TableCell]) -> int:
    """One decimal place; if a ratio is below a half, enough for two digits of the smallest."""
    least = min((cell.value for cell in ratios if cell.value), default=1.0)
    return 1 if least >= 0.5 else decimals([least], digits=2)


def _ratio(cell: TableCell, reference: TableCell) -> TableCell:
    assert cell.value is not None
    assert reference.value is not None
    if cell is reference:
        return TableCell(value=1.0)
    value = cell.value / reference.value
    if cell.low is None or cell.high is None or reference.low is None or reference.high is None:
        return TableCell(value=value)
    return TableCell(value=value, low=cell.low / reference.high, high=cell.high / reference.low)
