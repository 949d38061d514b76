"""Who was trained on what is measured is marked."""

from __future__ import annotations

from tokbench.plots import data
from tokbench.plots.labels import run_labels
from tokbench.reports import tables
from tokbench.reports.findings import compression, fairness
from tokbench.reports.training import trained_beside, trained_on


def test_what_was_trained_on_the_other_half_is_marked(made_up_run) -> None:
    run = made_up_run(3, 3)
    spec = run.tokenizers[0]
    for name in ("frame", "comparisons"):
        frame = getattr(run, name)
        setattr(run, name, frame.replace({"dataset": {"bundled:parallel": "bundled:parallel,lines=odd"}}))
    run.datasets = ["bundled:parallel,lines=odd", "bundled:code"]
    run.manifest["tokenizers"][0]["training"] = {"on": "bundled:parallel,lines=even + stdlib:docs"}
    assert trained_beside(run, run.datasets[0]) == {spec: "bundled:parallel,lines=even"}
    made = tables.headline(run, run.datasets[0])
    assert [row.key for row in made.rows if str(row.cells[0]).endswith(" §")] == [spec]
    assert "§ trained on bundled parallel, even lines" in made.note


def test_the_first_is_not_called_ahead_for_a_training_that_all_have_had(made_up_run) -> None:
    run = made_up_run(3, 3)
    run.frame["dataset"] = run.frame["dataset"].replace("bundled:parallel", "bundled:parallel,lines=odd")
    run.datasets = ["bundled:parallel,lines=odd", "bundled:code"]
    said, learnt = compression(run).sentence, {"on": "bundled:parallel,lines=even"}
    [best] = [spec for spec, label in run_labels(run).items() if f"{label} reaches" in said]
    for entry in run.manifest["tokenizers"]:
        entry["training"] = learnt if entry["spec"] == best else None
    assert "which puts it ahead" in compression(run).sentence
    for entry in run.manifest["tokenizers"]:
        entry["training"] = learnt
    assert "All of these were trained on the other part of this collection." in compression(run).sentence
    assert "ahead" not in compression(run).sentence
    assert "trained" not in compression(run).gist


def test_what_was_trained_on_a_copy_of_the_text_is_marked(made_up_run) -> None:
    run = made_up_run(3, 3)
    spec, dataset = run.tokenizers[0], data.main_dataset(run)
    run.manifest["tokenizers"][0]["training"] = {"on": "text:another-name.txt"}
    [entry] = [each for each in run.manifest["datasets"] if each["spec"] == dataset]
    codes = run.languages(dataset)
    for found, telling in ((1, False), (30, True)):
        entry["in_training"] = {code: {"lines": 30, "found": found * (code == codes[0])} for code in codes}
        assert trained_on(run, dataset) == [spec] * telling
        for made in (tables.headline(run, dataset), tables.fairness(run, dataset)):
            assert [row.key for row in made.rows if str(row.cells[0]).endswith(" ¶")] == [spec] * telling
            said = f"¶ trained on this very text (33.3 % of its lines; those of {codes[0]}), which flatters"
            assert (said in made.note) == telling
    for finding in (compression(run), fairness(run)):
        assert "trained on this very text (33.3 % of its lines" in finding.sentence
