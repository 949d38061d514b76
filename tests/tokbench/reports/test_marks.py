"""Bold is what a paired test bears out, of what may be compared."""

from __future__ import annotations

from typing import Any

from tests.tokbench.reports.tested import chances
from tokbench.plots import data
from tokbench.plots.labels import run_labels
from tokbench.reports import marks, tables
from tokbench.reports.speeds import measurements
from tokbench.reports.table import TableCell


def bold(run: Any, values: dict[str, float], better: str = "higher", language: str = "all") -> set[str]:
    return set(marks.best(run, "compression_ratio", "bundled:parallel", better, values, language))


def test_bold_is_the_best_and_what_a_paired_test_cannot_tell_from_it(made_up_run) -> None:
    run = made_up_run(3, 3)
    a, b, c = run.tokenizers
    values = {a: 5.0, b: 4.9, c: 3.0}
    chances(run, (a, b, 0.3), (c, a, 0.001), (b, c, 0.001))
    assert bold(run, values) == {a, b}
    assert bold(run, values, "lower") == {c}
    assert bold(run, values, "none") == set()
    assert bold(run, {a: 5.0, b: 5.0, c: 5.0}) == set()  # of equals, none is best
    # 70.3 tokens a line beside 58.6: intervals that overlap, and a difference that is the same in every line
    chances(run, (a, b, 0.002), (c, a, 0.002), (b, c, 0.002))
    assert bold(run, values) == {a}


def test_nothing_is_bold_where_no_test_was_made(made_up_run) -> None:
    run = made_up_run(3, 3)
    a, b, c = run.tokenizers
    chances(run, (a, b, 0.3))
    assert bold(run, {a: 5.0, b: 4.9, c: 3.0}) == set()
    assert bold(run, {a: 5.0, b: 4.9}) == {a, b}
    chances(run, (a, b, 0.3), (a, c, 0.001))
    assert bold(run, {a: 5.0, b: 4.9, c: 3.0}, language="deu_Latn") == set()
    assert measurements(run).best == frozenset()
    head = tables.headline(run, "bundled:code")
    assert head.best == frozenset()
    assert "Nothing is bold: no two figures here were tested against each other." in head.note


def test_where_only_pairs_with_the_baseline_were_tested_that_is_said(made_up_run) -> None:
    run = made_up_run(3, 3)
    best, middle, base = data.ranked(run, "compression_ratio", "bundled:parallel")["tokenizer"]
    chances(run, (best, base, 0.001), (middle, base, 0.001))
    head = tables.headline(run, "bundled:parallel")
    assert head.best == frozenset()
    assert (
        "Nothing is bold: no column has one best figure, tested against all others. "
        f"Only pairs with {run_labels(run)[base]} were tested." in head.note
    )
    chances(run, (best, base, 0.001), (best, middle, 0.001))
    assert (
        "Nothing is bold if the best was not tested against all others."
        in tables.headline(run, "bundled:parallel").note
    )


def test_tables_by_language_compare_tokenizers_and_never_languages(made_up_run) -> None:
    run = made_up_run(2, 3)
    a, b, c = run.tokenizers
    chances(run, (a, b, 0.001), (a, c, 0.001), (b, c, 0.001))
    run.comparisons["language"] = "deu_Latn"
    made = tables.by_language(run, "compression_ratio", "bundled:parallel")
    [(row, column)] = made.best
    assert made.rows[row].key == "deu_Latn"
    values = [cell.value for cell in made.rows[row].cells[1:] if isinstance(cell, TableCell)]
    assert values[column - 1] == max(values)


def test_what_loses_text_is_never_best(made_up_run) -> None:
    run = made_up_run(3, 5)
    wordpiece = "wordpiece:vocab_size=8000"
    a, b = run.tokenizers[:2]
    chances(run, (a, b, 0.001), (a, wordpiece, 0.001), (b, wordpiece, 0.001))
    assert bold(run, {wordpiece: 9.0, a: 3.0, b: 2.0}) == {a}
