"""Tables before any format: who is best, how numbers are written, what a lossy tokenizer may claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tokbench.plots import data
from tokbench.reports import differences, latex, tables
from tokbench.reports.agreement import agreement_table
from tokbench.reports.findings import apart, compression, cost, fairness, findings
from tokbench.reports.html import page
from tokbench.reports.table import Cell, Column, Row, Table
from tokbench.reports.training import shares_text, trained_on
from tokbench.spec import Spec


def table(*cells: Cell, better: str = "higher", lossy: int = -1) -> Table:
    column = Column(key="x", label="x", better=better)
    rows = tuple(Row((cell,), lossy="loses" if place == lossy else "") for place, cell in enumerate(cells))
    return Table("t", "t", (column,), rows)


def test_the_best_and_all_its_interval_meets() -> None:
    made = table(
        Cell(value=5, low=4.8, high=5.2), Cell(value=4.9, low=4.7, high=5.1), Cell(value=3, low=2, high=4)
    )
    assert made.best == {(0, 0), (1, 0)}


def test_lower_is_better_where_the_metric_says_so() -> None:
    assert table(Cell(value=5), Cell(value=3), better="lower").best == {(1, 0)}


def test_what_loses_text_is_never_best() -> None:
    assert table(Cell(value=9), Cell(value=3), Cell(value=2), lossy=0).best == {(1, 0)}


def test_a_column_of_equals_has_no_best() -> None:
    assert table(Cell(value=1), Cell(value=1)).best == frozenset()


def test_unmeasured_is_a_dash_and_never_zero() -> None:
    assert table(Cell(value=None), Cell(value=1.5)).text(0, 0) == "–"


def test_what_is_not_zero_never_looks_like_zero_nor_most_like_all() -> None:
    column = Column(key="x", label="x", unit="share", places=1)
    made = Table(
        "t", "t", (column,), tuple(Row((Cell(value=value),)) for value in (0.0, 4e-5, 0.5, 0.99996, 1.0))
    )
    assert [made.text(row, 0) for row in range(5)] == ["0.0", "< 0.1", "50.0", "> 99.9", "100.0"]
    tex = latex.render(made, caption="c", label="l")
    assert "S[table-format=3.1]" in tex
    assert "{$< 0.1$}" in tex
    assert "{$> 99.9$}" in tex


def test_p_values_are_given_as_far_as_resamples_tell_them(made_up_run: Callable[..., Any]) -> None:
    run = made_up_run(3, 5)
    frame = run.comparisons
    dataset = frame["dataset"].iloc[0]
    run.comparisons = frame = frame[frame["dataset"] == dataset].copy()
    frame["p_holm"] = [1e-300, 0.0006, 0.001, 0.0432, 1.0] * 2
    made = differences.table(run, "compression_ratio", dataset)
    index = [column.key for column in made.columns].index("p_holm")
    shown = sorted(made.text(row, index) for row in range(len(made.rows)))
    assert shown == ["0.001"] * 2 + ["0.043"] * 2 + ["1.000"] * 2 + ["< 0.001"] * 4
    assert latex.render(made, caption="c", label="l").count("< 0.001") == 4


def test_the_headline_ranks_what_keeps_text_first(made_up_run: Callable[..., Any]) -> None:
    run = made_up_run(5, 5)
    made = tables.headline(run, "bundled:parallel")
    values = [row.cells[2].value for row in made.rows if not row.lossy and isinstance(row.cells[2], Cell)]
    assert values == sorted(values, reverse=True)
    assert made.rows[-1].lossy
    assert {row.key for row in made.rows} == set(run.tokenizers)


def test_undefined_metrics_are_told_with_their_reason(made_up_run: Callable[..., Any]) -> None:
    run = made_up_run(3, 3)
    frame = run.frame.copy()
    frame.loc[frame["metric"] == "gini", ["value", "status"]] = [None, "undefined: one language only"]
    run.frame = frame
    made = tables.undefined(run)
    assert [row.cells for row in made.rows] == [("gini", "one language only")]


def test_a_sentence_claims_no_more_than_the_intervals(made_up_run: Callable[..., Any]) -> None:
    run = made_up_run(4, 2)
    run.comparisons = run.comparisons.iloc[:0]  # without paired comparisons, the intervals decide
    rows = run.frame
    first, second = data.best_first(run, "compression_ratio", "bundled:parallel")
    here = (rows["metric"] == "compression_ratio") & (rows["language"] == "all")
    rows.loc[here & (rows["tokenizer"] == first), ["value", "ci_low", "ci_high"]] = [4.0, 3.8, 4.2]
    rows.loc[here & (rows["tokenizer"] == second), ["value", "ci_low", "ci_high"]] = [3.9, 3.7, 4.1]
    assert not apart(run, "bundled:parallel", first, second)
    found = compression(run)
    assert found is not None
    assert "cannot be told apart" in found.sentence
    assert "95 % interval 3.80–4.20" in found.sentence
    rows.loc[here & (rows["tokenizer"] == second), ["value", "ci_low", "ci_high"]] = [3.0, 2.9, 3.1]
    assert "cannot" not in (compression(run) or found).sentence


def test_the_dearest_premium_is_told_with_its_interval(made_up_run: Callable[..., Any]) -> None:
    run = made_up_run(10, 3)
    table = tables.fairness(run, "bundled:parallel")
    cell = table.rows[0].cells[3]
    assert isinstance(cell, Cell)
    assert cell.value is not None
    assert (cell.low, cell.high) == (0.97 * cell.value, 1.03 * cell.value)
    said = fairness(run)
    assert said is not None
    assert f"takes {cell.value:.2f} times (95 % interval {cell.low:.2f}–{cell.high:.2f})" in said.sentence


def test_there_are_three_findings_with_figures(made_up_run: Callable[..., Any]) -> None:
    assert [finding.plot for finding in findings(made_up_run(10, 5))] == ["compression", "fairness", "speed"]


def test_who_gives_the_same_ids(made_up_run: Callable[..., Any]) -> None:
    def view(name: str, *tokens: tuple[int, str]) -> dict[str, Any]:
        pieces = [
            {"id": index, "bytes": text.encode().hex(), "text": text, "group": 0} for index, text in tokens
        ]
        return {"tokenizer": name, "pieces": pieces}

    run = made_up_run(1, 3)
    first, second, third = run.tokenizers
    views = [view(first, (1, "a"), (2, "b")), view(second, (1, "a"), (9, "b")), view(third, (5, "ab"))]
    run.samples = [{"title": "x", "tokenizations": views}]
    rows = agreement_table(run).rows
    assert len(rows) == 1
    assert [cell.value for cell in rows[0].cells[2:5] if isinstance(cell, Cell)] == [1, 0, 1]
    assert rows[0].cells[5] == "passage 1, token 2: b (2) and b (9)"


def test_a_tokenizer_measured_on_what_it_was_trained_on_is_named(made_up_run: Callable[..., Any]) -> None:
    run = made_up_run(10, 5)
    dataset = data.main_dataset(run)
    fair = compression(run)
    assert fair is not None
    assert "trained on" not in fair.sentence + fair.gist
    best = data.ranked(run, "compression_ratio", dataset).iloc[0]["tokenizer"]
    trained = {"spec": best, "training": {"on": f"{dataset},lines=even + stdlib:docs"}}
    run.manifest["tokenizers"] = [
        trained if entry["spec"] == best else entry for entry in run.manifest["tokenizers"]
    ]
    assert trained_on(run, dataset) == [best]
    flattered = compression(run)
    assert flattered is not None
    assert f"{data.names(run)[best]} was trained on this very text, which flatters it." in flattered.sentence
    assert flattered.gist.endswith(("which it was trained on.", "which some were trained on."))


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("text:a.txt", "text:a.txt", True),
        ("text:a.txt", "text:b.txt", False),
        ("text:a.txt", "jsonl:a.txt", False),
        ("bundled:parallel,lines=even", "bundled:parallel,lines=odd", False),
        ("bundled:parallel,lines=even", "bundled:parallel", True),
        ("bundled:parallel,lines=even", "bundled:parallel,lines=all", True),
        ("flores:f,split=dev", "flores:f,split=devtest", False),
        ("bundled:prose,languages=eng_Latn", "bundled:prose,languages=deu_Latn;fra_Latn", False),
        ("bundled:prose,languages=eng_Latn", "bundled:prose,languages=deu_Latn+eng_Latn", True),
        ("bundled:prose,languages=eng_Latn", "bundled:prose", True),
        ("csv:t.csv,field=a", "csv:t.csv,field=b", False),
    ],
)
def test_which_datasets_share_text(one: str, other: str, shared: bool) -> None:
    assert shares_text(Spec.parse(one), Spec.parse(other)) is shared
    assert shares_text(Spec.parse(other), Spec.parse(one)) is shared


def test_a_run_without_compression_has_a_headline_ranked_by_what_was_asked(
    made_up_run: Callable[..., Any],
) -> None:
    run = made_up_run(3, 4)
    rows = run.frame[(run.frame["metric"] == "premium") & (run.frame["language"] == "deu_Latn")]
    run.frame = rows.assign(language="all", metric="words_cut", unit="EUR")
    run.manifest["suite"]["metrics"] = ["words_cut"]
    run.manifest["definitions"] = [
        {"name": "words_cut", "unit": "EUR", "better": "lower", "summary": "s", "formula": "f", "level": "cell"}
    ]
    made = tables.headline(run, "bundled:parallel")
    assert [column.key for column in made.columns] == ["tokenizer", "vocab_size", "words_cut"]
    values = [row.cells[2].value for row in made.rows if isinstance(row.cells[2], Cell)]
    assert values == sorted(values)
    assert "words cut" in page.render(run)


def test_the_cheapest_is_found_where_there_are_prices(made_up_run: Callable[..., Any]) -> None:
    run = made_up_run(3, 3)
    prices = run.frame[run.frame["metric"] == "compression_ratio"]
    first, second, third = run.tokenizers
    costs = prices.assign(metric="cost", unit="EUR", value=prices["tokenizer"].map({first: 0.25, second: 0.5}))
    run.frame = pd.concat([run.frame, costs])
    found = cost(run)
    assert found is not None
    assert found.sentence == (
        "At the prices given, bundled parallel costs least with bpe 8k: 0.250 EUR; "
        f"most with tiktoken o200k_base: 0.500 EUR. No price was given for {data.names(run)[third]}."
    )
    assert found.sentence in page.render(run)  # though it has no figure


def test_every_measurement_has_the_digits_of_its_metric_in_all_columns(made_up_run: Callable[..., Any]) -> None:
    made = tables.overall_metrics(made_up_run(3, 4), "bundled:parallel")
    texts = {
        row.key: [made.text(place, column) for column in range(2, 6)] for place, row in enumerate(made.rows)
    }
    for name, shown in texts.items():
        assert len({len(text.partition(".")[2]) for text in shown}) == 1, name
    assert all(len(text) >= 5 for text in texts["vocab_utilization"])  # three figures of what is below 1
    assert all("." in text for text in texts["compression_ratio"])
