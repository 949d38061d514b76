"""What a run prints at its end: every figure, names as in reports, what was decided, skipped or failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tokbench.cli.headline import print_headline
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.weights import DEFAULTS
from tokbench.reports import markdown
from tokbench.reports.decision import decide, undecided
from tokbench.reports.figures import decimals
from tokbench.reports.html.details import decision
from tokbench.reports.reasons import gaps
from tokbench.reports.unmeasured import failures


@pytest.mark.parametrize("beside", [False, True], ids=["usual", "asked for more"])
@pytest.mark.parametrize("columns", [40, 76, 80, 109, 110, 130, 200])
def test_every_figure_is_shown_in_a_terminal_of_any_width(
    columns: int,
    beside: bool,
    made_up_run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    run = made_up_run(
        2, 3, specs=["bytes", "chars", "bpe:a/long/path/to/a/folder/of/vocabularies/tokenizer.json"]
    )
    run.manifest["failures"] = []
    asked = ["tokens_per_line", "chars_per_token", "token_length"] if beside else []
    run.manifest["suite"]["metrics"] = asked
    print_headline(run)
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert "MB/ " not in printed  # a unit is whole
    assert max(map(len, printed.splitlines())) <= columns
    overall = run.frame[(run.frame.language == "all") & (run.frame.dataset == "bundled:parallel")]
    usual = [metric.name for metric in CATALOGUE if "terminal" in metric.shown]
    for metric in [*usual, *asked]:
        rows = overall[overall.metric == metric].dropna(subset=["value"])
        for value, unit in zip(rows.value, rows.unit, strict=True):
            places = decimals(rows.value)
            figure = f"{100 * value:.1f}".removesuffix(".0") if unit == "share" else f"{value:.{places}f}"
            assert figure in printed, metric


def test_a_share_that_is_not_zero_is_not_printed_as_zero(
    made_up_run: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_up_run(2, 2)
    run.frame.loc[run.frame["metric"] == "vocab_utilization", "value"] = 1e-5
    run.manifest["suite"]["metrics"] = ["vocab_utilization"]
    print_headline(run)
    assert "< 0.1 %" in capsys.readouterr().out


def test_a_spec_of_a_metric_heads_its_column_as_it_is_typed(
    made_up_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    run, spec = made_up_run(2, 2), "ngram_bpb:train_on=text:my_text.txt"
    run.frame.loc[run.frame["metric"] == "vocab_utilization", "metric"] = spec
    run.manifest["suite"]["metrics"] = [spec]
    print_headline(run)
    assert "ngram bpb:train_on=text:my_text.txt" in capsys.readouterr().out


def test_no_figure_is_parted_from_its_name_in_a_narrow_terminal(
    made_up_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for columns in range(30, 60):
        monkeypatch.setenv("COLUMNS", str(columns))
        run = made_up_run(2, 2)
        run.frame.loc[run.frame["metric"] == "vocab_utilization", "value"] = 1e-5
        print_headline(run)
        assert "vocab used < 0.1 %" in " ".join(capsys.readouterr().out.split())


def test_the_terminal_says_what_its_headings_are_of(
    made_up_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    run = made_up_run(2, 3)
    other = {"tokens_per_line": "compression_ratio_macro", "chars_per_token": "encode_speed_cold"}
    run.frame["metric"] = run.frame["metric"].replace(other)
    print_headline(run)
    printed = " ".join(capsys.readouterr().out.split())
    assert "mean bytes/token of languages " in printed
    assert "MB/s first is of text that was never met before, again of text that was" in printed


def test_the_terminal_names_tokenizers_as_reports_do(
    made_up_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    specs = ["bytes", "wordpiece:/some/folder/vocab_8k.txt", "bpe:pattern=o200k,vocab_size=32000"]
    run = made_up_run(2, 3, specs=specs)
    run.manifest["tokenizers"][2]["label"] = "ours 32k"
    print_headline(run)
    printed = capsys.readouterr().out
    summary = printed.partition("failed: ")[0]
    assert "\n ours 32k " in printed
    assert "\n wordpiece vocab_8k † " in printed
    assert "\nwordpiece vocab_8k †: " in printed
    assert not any(spec in summary for spec in specs[1:])


def test_the_terminal_tells_the_choice(
    made_up_run: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_up_run(3, 3)
    decision = decide(run)
    assert decision is not None
    print_headline(run)
    assert f"{decision.sentences[0]} Weights: {decision.weighed}" in " ".join(capsys.readouterr().out.split())


def test_the_terminal_tells_what_the_choice_leaves_out(
    made_up_run: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_up_run(1, 3)
    run.frame = run.frame[run.frame["metric"] != "gini"]
    print_headline(run)
    assert "Not known: " not in capsys.readouterr().out  # nobody spoke of weights
    run = made_up_run(1, 3)
    run.frame = run.frame[run.frame["metric"] != "gini"]
    run.manifest["suite"]["weights"] = {"fairness": 5.0}
    print_headline(run)
    printed = " ".join(capsys.readouterr().out.split())
    assert "Not known: fairness (needs gini, of parallel text in several languages)" in printed
    assert "price is taken per token" not in printed  # nobody spoke of prices
    cost = run.frame["metric"] == "compression_ratio"
    priced = run.frame[cost & (run.frame["tokenizer"] != run.tokenizers[0])].assign(metric="cost", unit="USD")
    run.frame = pd.concat([run.frame, priced])
    print_headline(run)
    assert "Left out, since no price was given: " in " ".join(capsys.readouterr().out.split())


def test_weights_of_which_nothing_is_known_are_answered(
    made_up_run: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_up_run(1, 3)
    run.frame = run.frame[run.frame["metric"] != "gini"]
    nothing = {"price": 0.0, "context": 0.0, "embedding": 0.0, "speed": 0.0}
    run.manifest["suite"]["weights"] = {**nothing, "fairness": 1.0}
    print_headline(run)
    said = "No choice under these weights: nothing that weighs is known. Not known: fairness (needs gini"
    assert said in " ".join(capsys.readouterr().out.split())
    assert said in markdown.document(run)
    assert said in str(decision(run))
    run.manifest["suite"]["weights"] = {}
    assert not gaps(run, DEFAULTS, {}, vague=False)
    assert "Not known: " in " ".join(gaps(run, DEFAULTS, {}, vague=True))
    unasked = made_up_run(1, 3)
    unasked.frame = run.frame[run.frame["metric"] == "round_trip"]
    assert not undecided(unasked)


def test_a_tokenizer_that_is_skipped_or_fails_is_named_once(
    made_up_run: Callable[..., Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    run = made_up_run(2, 2)
    run.manifest["skipped"] = [{"spec": "tiktoken:gpt2", "reason": "tiktoken:gpt2: not at hand", "remedy": ""}]
    run.manifest["failures"] = [
        dict(run.failures[0], tokenizer="bpe:x.json", message="bpe:x.json: no such file")
    ]
    print_headline(run)
    printed = capsys.readouterr().out
    assert "skipped: tiktoken:gpt2: not at hand" in printed
    assert printed.count("bpe:x.json") == 1


def test_of_a_message_that_quotes_a_document_the_beginning_is_shown(
    made_up_run: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_up_run(2, 2)
    run.manifest["failures"] = [dict(run.failures[0], tokenizer="bytes", message="no y: " + "y" * 100_000)]
    print_headline(run)
    for shown in (capsys.readouterr().out, markdown.render(failures(run))):
        assert 1990 < shown.count("y") < 2100
        assert "100,006 characters" in " ".join(shown.split())


def test_what_failed_alike_for_all_tokenizers_is_told_once(
    made_up_run: Callable[..., Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    run = made_up_run(2, 3)
    of = {"dataset": "text:blank.txt", "language": "und", "kind": "empty", "message": "no text", "remedy": "x"}
    run.manifest["failures"] = [{**of, "tokenizer": name} for name in run.tokenizers]
    run.manifest["failures"] += [{**of, "tokenizer": name, "language": "eng"} for name in run.tokenizers[:2]]
    print_headline(run)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("failed: ")]
    assert lines[0] == "failed: all 3 tokenizers · text:blank.txt · und: empty: no text (x)"
    assert [line.partition(" · ")[0] for line in lines[1:]] == [
        f"failed: {name}" for name in run.tokenizers[:2]
    ]
