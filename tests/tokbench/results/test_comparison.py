"""What changed between two runs, and what fails a gate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.tokbench.results.made_up import KEY, ROWS, make_run, row
from tokbench.corpus import Document
from tokbench.errors import SpecError
from tokbench.metrics.measurement import Measurement
from tokbench.results import CellResult, Run
from tokbench.results.cell import write_cell
from tokbench.results.comparison import compare_figures, compare_manifests, paired, unpaired


def verdicts(tmp_path: Path, after: list[Measurement], threshold: float = 0.0) -> dict[str, str]:
    before = make_run(tmp_path / "before", ROWS)
    later = make_run(tmp_path / "after", after)
    frame = compare_figures(before, later, better={"compression_ratio": "higher"}, threshold=threshold)
    return {f"{r.tokenizer} {r.language}": r.verdict for r in frame.itertuples()}


def test_what_changed_between_runs(tmp_path: Path) -> None:
    after = [
        row("bytes", "eng_Latn", 0.9),
        row("bytes", "deu_Latn", 1.2, 0.9, 1.6),
        row("chars", "eng_Latn", 1.5),
        row("chars", "deu_Latn", 2.0),
    ]
    assert verdicts(tmp_path, after) == {
        "bytes eng_Latn": "worse",
        "bytes deu_Latn": "unsure",
        "chars eng_Latn": "better",
        "chars deu_Latn": "appeared",
    }


def test_what_is_of_the_only_language_of_a_text_is_told_once(tmp_path: Path) -> None:
    def compared(name: str, *languages: str) -> list[str]:
        before, after = (
            make_run(tmp_path / f"{name} {when}", [row("bytes", language, value) for language in languages])
            for when, value in (("before", 1.0), ("after", 0.9))
        )
        return [*compare_figures(before, after, better={})["language"]]

    assert compared("one", "all", "eng_Latn") == ["all"]
    assert compared("two", "all", "eng_Latn", "deu_Latn") == ["all", "deu_Latn", "eng_Latn"]
    assert compared("single", "eng_Latn") == ["eng_Latn"]


def counted(folder: Path, tokenizer: str, texts: list[str], **manifest: Any) -> Run:
    """A run whose `text:a` was counted with a tokenizer, under the name of bytes."""
    import tokbench
    from tokbench.metrics.catalogue import CATALOGUE
    from tokbench.metrics.context import MeasureContext
    from tokbench.metrics.measure import measure
    from tokbench.tally.collect import collect

    tally = collect(tokbench.load(tokenizer), map(Document, texts))
    ratio = [metric for metric in CATALOGUE if metric.name == "compression_ratio"]
    rows = measure({KEY: tally}, ratio, context=MeasureContext())
    digest = {"eng_Latn": {"sha256": "1" * 64}}
    run = make_run(folder, rows, datasets=[{"spec": "text:a", "languages": digest}], **manifest)
    write_cell(run.folder.cells, CellResult(KEY, "id", tally))
    return run


def test_runs_over_the_same_text_are_paired_document_by_document(tmp_path: Path) -> None:
    """A fifth of the documents gain a little: the intervals overlap nearly whole, and the gain is sure."""
    from tokbench.metrics.catalogue import CATALOGUE

    texts = [f"{'é' if i % 5 == 0 else 'e'}{'x' * (i * 37 % 400)} {i}" for i in range(300)]
    one, two = counted(tmp_path / "one", "bytes", texts), counted(tmp_path / "two", "chars", texts)
    ratio = [metric for metric in CATALOGUE if metric.name == "compression_ratio"]

    def verdict(after: Run, **options: Any) -> str:
        frame = compare_figures(one, after, better={"compression_ratio": "higher"}, **options)
        return str(frame["verdict"].item())

    assert verdict(two, metrics=ratio) == "better"
    assert verdict(two, metrics=ratio, budgets={"compression_ratio": 0.5}) == "same"
    assert verdict(one, metrics=ratio) == "same"
    other = make_run(
        tmp_path / "other", [], datasets=[{"spec": "text:a", "languages": {"eng_Latn": {"sha256": "2"}}}]
    )
    assert paired(one, other, ratio) == {}  # another text
    [(key, p)] = [(key, p) for key, p in paired(one, two, ratio).items() if key[2] == "eng_Latn"]
    assert key == ("bytes", "text:a", "eng_Latn", "compression_ratio")
    assert 1 / 1001 <= p < 0.05


def test_gates_for_machines(tmp_path: Path) -> None:
    from xml.etree import ElementTree

    from tokbench.reports.gates import budgets_of, junit, summary

    one = make_run(tmp_path / "one", [row("bytes", "eng_Latn", 2.0), row("bytes", "deu_Latn", 1.0, 0.5, 1.5)])
    two = make_run(tmp_path / "two", [row("bytes", "eng_Latn", 1.0), row("bytes", "deu_Latn", 1.2, 0.7, 1.7)])
    figures = compare_figures(one, two, better={"compression_ratio": "higher"})
    suite = ElementTree.fromstring(junit(figures))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "1")
    [failure] = suite.iter("failure")
    assert failure.get("message") == "worse: 2 to 1, −50.00 %"
    figures["tokenizer"] = "a\ufffe\x00"
    assert [case.get("classname") for case in ElementTree.fromstring(junit(figures)).iter("testcase")] == [
        "a\ufffd\ufffd on text:a"
    ] * 2
    figures["tokenizer"] = "bytes"
    of_vocabularies = ElementTree.fromstring(junit(figures.assign(dataset="")))
    assert {case.get("classname") for case in of_vocabularies.iter("testcase")} == {"bytes"}
    text = summary(figures)
    assert "1 figure got worse or is gone" in text
    assert "| bytes | text:a | eng\\_Latn | compression\\_ratio | 2 | 1 | −50.00 % | – |" in text
    assert budgets_of(["premium=2%"]) == {"premium": 0.02}
    for wrong, why in (
        (["premium"], "as in premium=1%"),
        (["premium=x"], "--budget premium: 'x' is no share"),
        (["premium=1"], "--budget premium: 1 may mean 1% or 100%; say which, with its %"),
        (["a=1%", "a=2%"], "twice"),
    ):
        with pytest.raises(SpecError, match=why):
            budgets_of(wrong)


def test_a_budget_holds_what_has_no_better_and_units_are_not_mixed(tmp_path: Path) -> None:
    def run(name: str, value: float, unit: str) -> Run:
        rows = [Measurement("bytes", "text:a", "all", "cost", value=value, unit=unit, n_documents=5)]
        return make_run(tmp_path / name, rows)

    euro, less, dollar = run("a", 2.0, "EUR"), run("b", 1.9, "EUR"), run("c", 4.0, "USD")

    def verdict(after: Run, **options: Any) -> dict[str, Any]:
        frame = compare_figures(euro, after, better={"cost": "none"}, **options)
        return frame[frame["metric"] == "cost"].to_dict("records")[0]

    assert verdict(less)["verdict"] == "changed"
    assert verdict(less, budgets={"cost": 0.01})["verdict"] == "worse"
    assert verdict(less, budgets={"cost": 0.1})["verdict"] == "same"
    other = verdict(dollar, budgets={"cost": 0.1})
    assert (other["verdict"], other["unit"]) == ("unsure", "EUR → USD")
    assert other["change"] != other["change"]


@pytest.mark.parametrize("strict", [False, True])
def test_what_is_unsure_fails_a_strict_gate(tmp_path: Path, strict: bool) -> None:
    from xml.etree import ElementTree

    from tokbench.reports.gates import fails, junit, summary

    one = make_run(tmp_path / "one", [row("bytes", "deu_Latn", 1.0, 0.5, 1.5)])
    two = make_run(tmp_path / "two", [row("bytes", "deu_Latn", 0.9, 0.4, 1.7)])
    figures = compare_figures(one, two, better={"compression_ratio": "higher"})
    assert fails(figures, strict=strict).tolist() == [strict]
    suite = ElementTree.fromstring(junit(figures, strict=strict))
    assert (suite.get("failures"), suite.get("skipped")) == (("1", "0") if strict else ("0", "1"))
    assert ("nothing got worse" in summary(figures, strict=strict)) is not strict


def test_another_text_is_not_paired_and_that_is_told(tmp_path: Path) -> None:
    texts = [[{"spec": "text:a", "languages": {"eng_Latn": {"sha256": digest}}}] for digest in ("1", "1", "2")]
    one, two, three = (
        make_run(tmp_path / name, ROWS, datasets=own) for name, own in zip("abc", texts, strict=True)
    )
    assert unpaired(one, two) == []
    assert unpaired(one, three) == ["text:a"]


def test_what_has_no_interval_has_no_verdict_over_another_text(tmp_path: Path) -> None:
    """A vocabulary is used by another share in any other text, and three documents have no interval."""

    def run(name: str, text: str, value: float, metric: str = "compression_ratio") -> Run:
        datasets = [{"spec": "text:a", "languages": {"eng_Latn": {"sha256": text}}}]
        return make_run(
            tmp_path / name, [replace(row("bytes", "eng_Latn", value), metric=metric)], datasets=datasets
        )

    def verdict(one: Run, other: Run, **options: Any) -> str:
        frame = compare_figures(one, other, better={"compression_ratio": "higher"}, **options)
        return str(frame["verdict"].item())

    before, same, other = run("a", "1", 2.0), run("b", "1", 1.9), run("c", "2", 1.9)
    assert verdict(before, same) == "worse"
    assert verdict(before, other) == "unsure"
    assert verdict(before, other, budgets={"compression_ratio": 0.01}) == "worse"
    assert verdict(run("d", "1", 9, "text_bytes"), run("e", "2", 8, "text_bytes")) == "changed"


def test_a_threshold_and_what_is_gone(tmp_path: Path) -> None:
    after = [row("bytes", "eng_Latn", 0.999), row("chars", "eng_Latn", None)]
    found = verdicts(tmp_path, after, threshold=0.01)
    assert found["bytes eng_Latn"] == "same"
    assert found["chars eng_Latn"] == "vanished"
    assert found["bytes deu_Latn"] == "vanished"


def test_what_was_timed_once_has_no_verdict(tmp_path: Path) -> None:
    def run(name: str, seconds: float, low: float | None = None, high: float | None = None) -> Run:
        rows = [Measurement("bytes", "", "all", "load_time", value=seconds, ci_low=low, ci_high=high, unit="s")]
        return make_run(tmp_path / name, rows)

    def verdict(one: Run, other: Run) -> str:
        frame = compare_figures(one, other, better={"load_time": "lower"}, timed={"load_time"})
        return str(frame["verdict"].item())

    assert verdict(run("a", 1.0), run("b", 1.3)) == "unsure"
    assert verdict(run("c", 1.0, 0.9, 1.1), run("d", 1.3)) == "unsure"
    assert verdict(run("e", 1.0, 0.9, 1.1), run("f", 1.3, 1.2, 1.4)) == "worse"


def test_versions_and_files_that_differ(tmp_path: Path) -> None:
    one = make_run(tmp_path / "one", ROWS, versions={"numpy": "2.0"}, machine={"processor": "x"})
    two = make_run(tmp_path / "two", ROWS, versions={"numpy": "2.1"}, machine={"processor": "x"})
    [change] = compare_manifests(one, two)
    assert (change.name, change.before, change.after) == ("versions.numpy", "2.0", "2.1")


def test_facts_are_of_tokenizers_and_texts_that_both_runs_have(tmp_path: Path) -> None:
    def run(name: str, sizes: dict[str, int], texts: dict[str, str]) -> Run:
        tokenizers = [{"spec": spec, "vocab_size": size} for spec, size in sizes.items()]
        datasets = [{"spec": spec, "languages": {"und": {"sha256": sha}}} for spec, sha in texts.items()]
        return make_run(tmp_path / name, ROWS, tokenizers=tokenizers, datasets=datasets)

    one = run("one", {"bytes": 256, "chars": 9}, {"text:a": "a1", "text:b": "b1"})
    two = run("two", {"bytes": 257, "words": 7}, {"text:a": "a2", "text:c": "c1"})
    changes = {(change.name, change.before, change.after) for change in compare_manifests(one, two)}
    assert changes == {("bytes: vocab_size", 256, 257), ("text:a: und", "a1", "a2")}
