"""Tables before any format: who is best, how numbers are written, what stands beside them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tests.tokbench.reports.tested import add_metric, lossy_run
from tokbench.plots import data
from tokbench.plots.labels import language_label
from tokbench.reports import differences, latex, markdown, tables, vocabularies
from tokbench.reports.diffs import passages_table
from tokbench.reports.findings import compression, fairness
from tokbench.reports.html import page
from tokbench.reports.html.heat import Heat
from tokbench.reports.sizes import counted_on
from tokbench.reports.table import Column, Row, Table, TableCell
from tokbench.reports.unmeasured import undefined


def table(*cells: TableCell, better: str = "higher", lossy: int = -1) -> Table:
    column = Column(key="x", label="x", better=better)
    rows = tuple(Row((cell,), lossy="loses" if place == lossy else "") for place, cell in enumerate(cells))
    return Table("t", "t", (column,), rows)


def test_languages_say_what_their_words_are_where_these_differ(made_up_run) -> None:
    run = made_up_run(2, 2)
    dataset, metric = "bundled:parallel", "compression_ratio"
    second = run.languages(dataset)[1]
    before = [row.cells[0] for row in tables.by_language(run, metric, dataset).rows]
    run.frame.loc[run.frame["language"] == second, "unit"] = "tokens/word (UAX #29: one per character)"
    after = [row.cells[0] for row in tables.by_language(run, metric, dataset).rows]
    assert after == [f"{name} (one per character)" if second in name else name for name in before]
    run.frame["unit"] = "tokens/word (UAX #29: one per character)"
    assert [row.cells[0] for row in tables.by_language(run, metric, dataset).rows] == before


def test_the_headline_shows_first_what_matters_first(made_up_run) -> None:
    run = lossy_run(made_up_run)
    add_metric(run, "cost", unit="EUR")
    add_metric(run, "unk_rate")
    columns = [column.key for column in tables.headline(run, "bundled:parallel").columns]
    first = ["tokenizer", "round_trip", "unk_rate", "compression_ratio", "cost", "encode_speed"]
    assert columns[: len(first)] == first
    assert columns[-1] == "vocab_size"
    run.manifest["suite"]["metrics"] = ["compression_ratio", "token_length"]
    asked = [column.key for column in tables.headline(run, "bundled:parallel").columns]
    assert asked == [*columns[:-1], "token_length", "vocab_size"], "what is shown anyway is there once"


def test_the_headline_ranks_by_the_mean_of_languages_and_says_so(made_up_run) -> None:
    run = made_up_run(3, 3)
    pooled = run.frame[(run.frame["metric"] == "compression_ratio") & (run.frame["language"] == "all")]
    pooled = pooled[pooled["dataset"] == "bundled:parallel"]
    order = pooled.sort_values("value")["tokenizer"].tolist()  # the other way round
    macro = dict(zip(order, (3.0, 2.0, 1.0), strict=True))
    add_metric(run, "compression_ratio_macro", value=lambda rows: rows["tokenizer"].map(macro))
    made = tables.headline(run, "bundled:parallel")
    assert [row.key for row in made.rows] == order
    assert "Ranked by compression ratio (mean of languages)." in made.note
    labels = [column.label for column in made.columns]
    assert "compression ratio (pooled)" in labels
    said = compression(run)
    assert "3.00 bytes per token" in said.sentence
    assert "Pooled by bytes" in said.sentence


def test_gold_words_are_those_of_all_languages_where_each_has_some(made_up_run) -> None:
    run = made_up_run(3, 3)
    add_metric(run, "gold_words", value=lambda rows: rows["language"].map({"all": 3_000.0}).fillna(1_000.0))
    assert ", 3,000 gold words." in counted_on(run, "bundled:parallel")
    some = made_up_run(3, 3)
    first = some.languages("bundled:parallel")[0]
    add_metric(some, "gold_words", value=lambda rows: rows["language"].map({first: 1_000.0}))
    assert ", 1,000 gold words." in counted_on(some, "bundled:parallel")


def test_every_table_says_of_how_much(made_up_run) -> None:
    run = made_up_run(3, 3)
    for name, value in {"text_bytes": 12_345.0, "tokens": 4_000.0, "clusters": 60.0}.items():
        add_metric(run, name, value=value)
    said = "N: 180 documents in 3 languages, 12,345 bytes of UTF-8, 4,000 tokens, 60 independent clusters."
    for made in (
        tables.headline(run, "bundled:parallel"),
        tables.by_language(run, "compression_ratio", "bundled:parallel"),
        tables.overall_metrics(run, "bundled:parallel"),
        tables.fairness(run, "bundled:parallel"),
        differences.table(run, "compression_ratio", "bundled:parallel"),
    ):
        assert said in made.note, made.name


def test_blocks_of_one_text_are_not_called_independent(made_up_run) -> None:
    run = made_up_run(2, 1)
    add_metric(run, "clusters", value=60.0)
    run.manifest["datasets"] = [{"spec": "bundled:parallel", "facts": {"consecutive": True}, "languages": {}}]
    note = tables.headline(run, "bundled:parallel").note
    assert "60 blocks of consecutive documents. Blocks of one text resemble each other" in note
    assert "independent" not in note


def test_languages_of_code_are_programming_languages(made_up_run) -> None:
    run = made_up_run(3, 2)
    dataset = data.main_dataset(run)
    run.frame = run.frame.replace({"language": {run.languages(dataset)[1]: "lua"}})
    run.spoken[1] = "lua"
    [entry] = [each for each in run.manifest["datasets"] if each["spec"] == dataset]
    for kind, label in (("text", "lua Luba-Kasai"), ("code", "lua")):
        entry["kind"] = kind
        made = tables.by_language(run, "compression_ratio", dataset)
        assert label in {row.cells[0] for row in made.rows}


def test_scripts_are_shares_of_a_vocabulary_and_those_without_a_column_are_added_up(made_up_run) -> None:
    run = made_up_run(2, 2)
    many = {f"Script{number}": 5 for number in range(vocabularies.SCRIPTS)}
    run.audits = {run.tokenizers[0]: {"scripts": {"Latin": 30, **many}}, run.tokenizers[1]: {"scripts": {}}}
    made = vocabularies.script_table(run)
    assert [column.key for column in made.columns][:2] == ["tokenizer", "Latin"]
    first, second = ([cell.value for cell in row.cells[1:] if isinstance(cell, TableCell)] for row in made.rows)
    assert (first[0], first[-1], sum(first)) == (0.3, 0.05, pytest.approx(1))
    assert not any(second)


def test_cells_are_shaded_from_the_lowest_value_to_the_highest() -> None:
    even = Heat.of(table(*(TableCell(value=float(value)) for value in range(4, 13))))
    assert [even.shade(value) for value in (1, 4, 6, 12, 99)] == [0, 0, 2, 8, 8]
    wide = Heat.of(table(*(TableCell(value=10.0**power) for power in range(3))))
    assert [wide.shade(value) for value in (0, 1, 10, 100)] == [0, 0, 4, 8], "by logarithms"


def test_the_fairness_table_names_its_reference(made_up_run) -> None:
    run = made_up_run(3, 2)
    premium = (run.frame["metric"] == "premium") & (run.frame["language"] == "fra_Latn")
    run.frame.loc[premium, "value"] = 1.0
    made = tables.fairness(run, "bundled:parallel")
    assert {row.cells[-1] for row in made.rows} == {"fra_Latn French"}


def test_unmeasured_is_a_dash_and_never_zero() -> None:
    assert table(TableCell(value=None), TableCell(value=1.5)).text(0, 0) == "–"


def test_what_is_not_zero_never_looks_like_zero_nor_most_like_all() -> None:
    column = Column(key="x", label="x", unit="share", places=1)
    made = Table(
        "t",
        "t",
        (column,),
        tuple(Row((TableCell(value=value),)) for value in (0.0, 4e-5, 0.5, 0.99996, 1.0)),
    )
    assert [made.text(row, 0) for row in range(5)] == ["0.0", "< 0.1", "50.0", "> 99.9", "100.0"]
    tex = latex.render(made, caption="c", label="l")
    assert "S[table-format=3.1]" in tex
    assert "{$< 0.1$}" in tex
    assert "{$> 99.9$}" in tex


def test_the_interval_of_a_column_of_zeros_is_not_rounded_to_whole_numbers() -> None:
    """Of five documents none lost anything: up to half of such documents may, not all of them."""
    cells = TableCell(value=0.0, low=0.0, high=0.52), TableCell(value=0.0, low=0.0, high=0.04)
    table = Table("t", "T", (Column(key="lost", label="lost"),), tuple(Row((cell,)) for cell in cells))
    assert [(table.text(row, 0), table.ends(row, 0)) for row in (0, 1)] == [
        ("0", "0.0–0.5"),
        ("0", "0.00–0.04"),
    ]


def test_an_interval_that_says_nothing_is_not_printed() -> None:
    cells = TableCell(value=106.0, low=0.2, high=52_551.9), TableCell(value=106.0, low=20.0, high=560.0)
    table = Table("t", "T", (Column(key="speed", label="speed"),), tuple(Row((cell,)) for cell in cells))
    assert [table.ends(row, 0) for row in (0, 1)] == ["too wide", "20–560"]
    assert "106 (too wide)" in markdown.render(table)


def test_p_values_are_given_as_far_as_resamples_tell_them(made_up_run) -> None:
    run = made_up_run(3, 5)
    frame = run.comparisons
    dataset = frame["dataset"].iloc[0]
    run.comparisons = frame = frame[frame["dataset"] == dataset].copy()
    frame["p_adjusted"] = [1e-300, 0.0006, 0.001, 0.0432, 1.0] * 2
    made = differences.table(run, "compression_ratio", dataset)
    index = [column.key for column in made.columns].index("p_adjusted")
    shown = sorted(made.text(row, index) for row in range(len(made.rows)))
    assert shown == ["0.001"] * 2 + ["0.043"] * 2 + ["1.000"] * 2 + ["< 0.001"] * 4
    assert latex.render(made, caption="c", label="l").count("< 0.001") == 4
    assert "interval is of its pair by itself; p is corrected" in made.note


def test_pairs_that_lose_nothing_come_first_and_of_many_they_are_shown(
    made_up_run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made_up_run(3, 5)
    pairs = differences.table(run, "compression_ratio", "bundled:parallel")
    kept = [row for row in pairs.rows if not row.lossy]
    assert 0 < len(kept) < len(pairs.rows)
    assert list(pairs.rows[: len(kept)]) == kept
    for rows in (kept, pairs.rows[len(kept) :]):
        apart = [abs(cell.value or 0) for row in rows if isinstance(cell := row.cells[2], TableCell)]
        assert apart == sorted(apart, reverse=True)
    monkeypatch.setattr(differences, "MOST_PAIRS", len(kept))
    made = differences.table(run, "compression_ratio", "bundled:parallel")
    assert list(made.rows) == kept
    assert f"{len(kept)} of {len(pairs.rows)} pairs" in made.note
    assert "comparisons.parquet" not in pairs.note


def test_where_nothing_is_lost_the_headline_alone_says_so_and_only_if_asked(made_up_run) -> None:
    run = made_up_run(3, 3, specs=["bytes", "chars", "words"])
    rows = run.frame[
        (run.frame["metric"] == "compression_ratio") & (run.frame["dataset"] == "bundled:parallel")
    ]
    lost = [rows.assign(metric=name, value=value) for name, value in (("round_trip", 1.0), ("lost_text", 0.0))]
    keys = ["tokenizer", "dataset", "language", "metric"]
    run.frame = pd.concat([*lost, run.frame]).drop_duplicates(keys)
    for name in ("round_trip", "lost_text"):
        assert tables.by_language(run, name, "bundled:parallel").rows == ()
    assert [column.key for column in tables.headline(run, "bundled:parallel").columns][1] != "round_trip"
    run.manifest["suite"] = {**run.manifest["suite"], "metrics": ["round_trip", "lost_text", "gini"]}
    made = tables.headline(run, "bundled:parallel")
    assert {"round_trip", "lost_text"} <= {column.key for column in made.columns}
    assert "Ranked by compression ratio." in made.note
    run.frame.loc[(run.frame["metric"] == "round_trip") & (run.frame["language"] != "all"), "value"] = 0.5
    assert len(tables.by_language(run, "round_trip", "bundled:parallel").rows) == 3


def test_the_headline_ranks_what_keeps_text_first(made_up_run) -> None:
    run = made_up_run(5, 5)
    made = tables.headline(run, "bundled:parallel")
    values = [row.cells[2].value for row in made.rows if not row.lossy and isinstance(row.cells[2], TableCell)]
    assert values == sorted(values, reverse=True)
    assert made.rows[-1].lossy
    assert {row.key for row in made.rows} == set(run.tokenizers)


def test_undefined_metrics_are_told_with_their_reason(made_up_run) -> None:
    run = made_up_run(3, 3)
    frame = run.frame.copy()
    frame.loc[frame["metric"] == "gini", ["value", "status"]] = [None, "undefined: one language only"]
    run.frame = frame
    made = undefined(run)
    assert [row.cells for row in made.rows] == [("gini", "one language only")]


def test_who_gives_the_same_ids(made_up_run) -> None:
    def view(name: str, *tokens: tuple[int, str]) -> dict[str, Any]:
        pieces = [
            {"id": index, "bytes": text.encode().hex(), "text": text, "group": 0} for index, text in tokens
        ]
        return {"tokenizer": name, "pieces": pieces}

    run = made_up_run(1, 3)
    first, second, third = run.tokenizers
    views = [view(first, (1, "a"), (2, "b")), view(second, (1, "a"), (9, "b")), view(third, (5, "ab"))]
    run.samples = [{"title": "x", "tokenizations": views}]
    rows = passages_table(run).rows
    assert len(rows) == 1
    assert [cell.value for cell in rows[0].cells[2:5] if isinstance(cell, TableCell)] == [1, 0, 1]
    assert rows[0].cells[5] == "passage 1, token 2: b (2) and b (9)"
    apart = [view(first, (3, "cd")), view(second, (3, "c"), (4, "d")), view(third, (6, "cd"))]
    run.samples = [*run.samples, {"title": "y", "tokenizations": apart}]
    assert not passages_table(run).rows, "one passage that is cut alike, with other ids"


@pytest.mark.usefixtures("no_figures")
def test_a_run_without_compression_has_a_headline_ranked_by_what_was_asked(made_up_run) -> None:
    run = made_up_run(3, 4)
    rows = run.frame[(run.frame["metric"] == "premium") & (run.frame["language"] == "deu_Latn")]
    run.frame = rows.assign(language="all", metric="words_cut", unit="EUR")
    run.manifest["suite"]["metrics"] = ["words_cut"]
    run.manifest["definitions"] = [
        {"name": "words_cut", "unit": "EUR", "better": "lower", "summary": "s", "formula": "f", "level": "cell"}
    ]
    made = tables.headline(run, "bundled:parallel")
    assert [column.key for column in made.columns] == ["tokenizer", "words_cut", "vocab_size"]
    values = [row.cells[1].value for row in made.rows if isinstance(row.cells[1], TableCell)]
    assert values == sorted(values)
    shown = page.render(run)
    assert "words cut" in shown
    assert "Compression, cost, fairness and speed were not measured.</h1>" in shown
    assert "Ranked by words cut." in shown


def test_every_measurement_has_the_digits_of_its_metric_in_all_columns(made_up_run) -> None:
    made = tables.overall_metrics(made_up_run(3, 4), "bundled:parallel")
    texts = {
        row.key: [made.text(place, column) for column in range(2, 6)] for place, row in enumerate(made.rows)
    }
    for name, shown in texts.items():
        assert len({len(text.partition(".")[2]) for text in shown}) == 1, name
    assert all(len(text) >= 5 for text in texts["vocab_utilization"])  # three figures of what is below 1
    assert all("." in text for text in texts["compression_ratio"])


def test_large_figures_are_shown_in_a_unit_that_suits_their_column() -> None:
    from tokbench.reports import markdown
    from tokbench.reports.html.assemble import environment

    columns = (
        Column.text("tokenizer"),
        Column(key="flops", label="train flops", unit="FLOP/byte"),
        Column(key="memory", label="memory", unit="bytes"),
        Column(key="parameters", label="size", unit="parameters"),
        Column(key="tokens", label="tokens", unit="tokens"),
        Column(key="vocab_size", label="vocabulary", unit="ids", places=0),
    )
    figures = (TableCell(value=value) for value in (38_597_376.0, 12_345.0, 2_000_000.0))
    flops = TableCell(value=3_311_046_000.0, low=3_256_000_000.0, high=3_388_000_000.0)
    table = Table("t", "T", columns, (Row(("a", flops, TableCell(value=9_216_000.0), *figures)),))
    shown = [table.text(0, place) for place in range(1, 6)]
    assert shown == ["3.31", "9.22", "38.6", "12,345", "2,000,000"]
    assert table.ends(0, 1) == "3.26–3.39"
    heads = [column.heading for column in table.columns]
    assert heads[1:4] == ["train flops (GFLOP/byte)", "memory (MB)", "size (million parameters)"]
    assert heads[4:] == ["tokens (tokens)", "vocabulary (ids)"]
    assert "| 9.22 |" in markdown.render(table)
    assert "GFLOP/byte" in latex.render(table, caption="", label="t")
    template = environment().from_string('{% from "parts.html" import table %}{{ table(given) }}')
    text = template.render(given=table)
    assert "<small>MB</small>" in text
    assert 'data-v="9216000">9.22</td>' in text, "what sorts and is downloaded stays as it was measured"


def test_one_unit_serves_a_whole_table_by_language_and_each_row_of_all_metrics(made_up_run) -> None:
    run = made_up_run(3, 3)
    costs = run.frame[run.frame["metric"] == "compression_ratio"].assign(metric="train_flops", unit="FLOP/byte")
    costs.loc[:, ["value", "ci_low", "ci_high"]] *= 1e8
    costs.loc[costs["tokenizer"] == run.tokenizers[0], ["value", "ci_low", "ci_high"]] *= 1e4
    run.frame = pd.concat([run.frame, costs])
    languages = tables.by_language(run, "train_flops", "bundled:parallel")
    assert {column.shown_unit for column in languages.columns[1:]} == {"MFLOP/byte"}
    every = tables.overall_metrics(run, "bundled:parallel")
    (row,) = (index for index, row in enumerate(every.rows) if row.key == "train_flops")
    assert every.text(row, 1) == "MFLOP/byte"
    assert float(every.text(row, 3).replace(",", "")) < 1000


def test_programming_languages_of_parallel_code_are_named_by_their_tags(made_up_run) -> None:
    run = made_up_run(3, 2)
    run.manifest["datasets"][0]["kind"] = "code"
    rows = tables.fairness(run, "bundled:parallel").rows
    assert {row.cells[4] for row in rows} <= set(run.spoken)
    said = fairness(run)
    assert not [code for code in run.spoken if language_label(code) in said.sentence]
