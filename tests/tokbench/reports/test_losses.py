"""What loses text: how that is marked, and whom it may be ranked with."""

from __future__ import annotations

from tests.tokbench.reports.tested import add_metric, lossy_run
from tokbench.plots import data
from tokbench.plots.captions import explained
from tokbench.plots.losses import EXPLAINED, LOSES, REWRITES, comparable, hard_losses, losses
from tokbench.reports import tables
from tokbench.reports.decision import decided
from tokbench.reports.decision import table as decision_table
from tokbench.reports.findings import compression
from tokbench.reports.html import page


def test_the_mark_says_how_much_is_lost_and_of_what_kind(made_up_run) -> None:
    run = lossy_run(made_up_run)
    marked = {name: loss.mark for name, loss in losses(run).items()}
    wordpiece, unigram = "wordpiece:vocab_size=8000", "unigram:vocab_size=8000"
    assert marked == {unigram: "†", wordpiece: "‡", "bytes": "‡"}
    assert str(losses(run)[wordpiece]) == (
        "50 % of documents changed (case, accents or normal form), on bundled:parallel"
    )
    assert str(losses(run)[unigram]) == "1 % of documents changed (text), on bundled:parallel"
    order = [row.key for row in tables.headline(run, "bundled:parallel").rows]
    assert set(order[:2]) == set(run.tokenizers) - {*marked}
    assert order[4] == unigram
    said = compression(run)
    assert "give text back in another form and are ranked separately" in said.sentence
    assert "unigram 8k † loses text and is not ranked" in said.sentence


def test_the_note_of_chosen_rows_is_of_them_alone(made_up_run) -> None:
    run = lossy_run(made_up_run)
    bpe, o200k = (name for name in run.tokenizers if name not in losses(run))
    counted = {bpe: 7.0, o200k: 8.0}
    add_metric(run, "tokens", value=lambda rows: rows["tokenizer"].map(counted).fillna(1000.0))
    run.manifest["tokenizers"][0]["training"] = {"on": "bundled:parallel"}
    every = tables.headline(run, "bundled:parallel").note
    for said in ("Ranked by", "‡ gives", "† loses", "¶ trained", "7–1,000 tokens"):
        assert said in every
    made = tables.headline(run, "bundled:parallel", rows=(o200k, bpe), metrics=("compression_ratio",))
    assert [row.key for row in made.rows] == [o200k, bpe]
    assert {row for row, _ in made.best} <= {0, 1}
    assert "7–8 tokens" in made.note
    assert not [said for said in ("Ranked by", "‡", "†") if said in made.note]
    trained = run.manifest["tokenizers"][0]["spec"]
    assert ("¶ trained" in made.note) == (trained in (bpe, o200k))
    assert "¶" not in tables.headline(run, "bundled:parallel", rows=("bytes",)).note


def test_both_figures_are_of_the_dataset_where_most_is_lost(made_up_run) -> None:
    run = lossy_run(made_up_run)
    frame, spec = run.frame, "unigram:vocab_size=8000"
    for dataset, shares in {
        "bundled:parallel": {"round_trip": 0.3, "lost_text": 0.6, "unk_rate": 0.2},
        "bundled:code": {"round_trip": 0.4, "lost_text": 0.5, "unk_rate": 0.4},
    }.items():
        for metric, value in shares.items():
            own = (frame["dataset"] == dataset) & (frame["metric"] == metric) & (frame["tokenizer"] == spec)
            frame.loc[own, "value"] = value
    assert str(losses(run)[spec]) == (
        "70 % of documents changed (text); 20 % of characters unknown, on bundled:parallel"
    )


def test_what_is_lost_on_other_text_alone_is_said_apart(made_up_run) -> None:
    run = lossy_run(made_up_run)
    frame, spec = run.frame, "wordpiece:vocab_size=8000"
    own = frame["tokenizer"] == spec
    frame.loc[own & (frame["metric"] == "lost_spaces") & (frame["dataset"] == "bundled:code"), "value"] = 0.2
    assert str(losses(run)[spec]) == (
        "50 % of documents changed (case, accents or normal form), on bundled:parallel; elsewhere spaces, too"
    )
    assert losses(run)[spec].likeness == ("case, accents or normal form", "spaces")


def test_a_case_made_to_be_hard_is_no_reason_not_to_rank(made_up_run) -> None:
    run = lossy_run(made_up_run)
    frame, unigram = run.frame, "unigram:vocab_size=8000"
    hard = frame["dataset"] != data.main_dataset(run)
    lost = frame["metric"].isin(["round_trip", "lost_text"]) & (frame["tokenizer"] == unigram)
    run.frame = frame[hard | ~lost]
    assert unigram in losses(run), "the other text is natural too"
    for entry in run.manifest["datasets"]:
        entry["facts"] = {"hard_cases": entry["spec"] != data.main_dataset(run)}
    run.frame = run.frame.copy()
    assert unigram not in losses(run)
    assert unigram in comparable(run)
    assert str(hard_losses(run)[unigram]) == "1 % of documents changed (text)"
    assert "does not give back every hard test case: unigram 8k." in explained(run)


def test_those_that_lose_the_same_are_ranked_where_none_is_lossless(made_up_run) -> None:
    run = lossy_run(made_up_run)
    wordpiece, unigram = "wordpiece:vocab_size=8000", "unigram:vocab_size=8000"
    assert comparable(run, [wordpiece, "bytes", unigram]) == [wordpiece, "bytes"]
    assert comparable(run, [unigram]) == []
    run.frame = run.frame[run.frame["tokenizer"].isin([wordpiece, "bytes", unigram])]
    run.tokenizers = [unigram, wordpiece, "bytes"]
    said = compression(run)
    assert "the most of those that lose the same things" in said.sentence


def test_a_table_explains_the_marks_that_it_shows_and_no_others(made_up_run) -> None:
    run = lossy_run(made_up_run)
    built = page.build(run, {})
    panels = [getattr(panel, "table", panel) for section in built.sections for panel in section.panels]
    seen: set[str] = set()
    for table in [*built.headlines, *panels, decision_table(run, decided(run))]:
        names = [column.label for column in table.columns]
        names += [cell for row in table.rows for cell in row.cells if isinstance(cell, str)]
        marked = {mark for mark in EXPLAINED if any(f" {mark}" in name for name in names)}
        assert marked == {mark for mark, said in EXPLAINED.items() if said in table.note}, table.name
        seen |= {table.name} if marked else set()
    assert len(seen) > 8, seen
    few = tables.headline(run, data.main_dataset(run), rows=["unigram:vocab_size=8000"])
    assert (LOSES in few.note, REWRITES in few.note) == (True, False)
