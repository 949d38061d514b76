"""What a run prints at its end: every figure, names as in reports, what was decided, skipped or failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tokbench.cli.headline import print_headline
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.speed import METRICS
from tokbench.metrics.weights import DEFAULTS
from tokbench.reports import markdown
from tokbench.reports.decision import decide, undecided
from tokbench.reports.figures import decimals
from tokbench.reports.html.details import decision
from tokbench.reports.reasons import gaps
from tokbench.reports.unmeasured import failures

MakeRun, Shown = Callable[..., Any], Callable[..., str]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    """What the terminal shows of a run, in so many columns."""

    def printed(run: Any, columns: int = 200) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        print_headline(run)
        return capsys.readouterr().out

    return printed


@pytest.mark.parametrize("beside", [False, True], ids=["usual", "asked for more"])
@pytest.mark.parametrize("columns", [40, 76, 80, 109, 110, 130, 200])
def test_every_figure_is_shown_in_a_terminal_of_any_width(
    columns: int, beside: bool, made_up_run: MakeRun, shown: Shown
) -> None:
    run = made_up_run(
        2, 3, specs=["bytes", "chars", "bpe:a/long/path/to/a/folder/of/vocabularies/tokenizer.json"]
    )
    run.manifest["failures"] = []
    asked = ["tokens_per_line", "chars_per_token", "token_length"] if beside else []
    run.manifest["suite"]["metrics"] = asked
    printed = shown(run, columns)
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


def test_a_share_that_is_not_zero_is_not_printed_as_zero(made_up_run: MakeRun, shown: Shown) -> None:
    run = made_up_run(2, 2)
    run.frame.loc[run.frame["metric"] == "vocab_utilization", "value"] = 1e-5
    run.manifest["suite"]["metrics"] = ["vocab_utilization"]
    assert "< 0.1 %" in shown(run)


def test_a_spec_of_a_metric_heads_its_column_as_it_is_typed(made_up_run: MakeRun, shown: Shown) -> None:
    run, spec = made_up_run(2, 2), "ngram_bpb:train_on=text:my_text.txt"
    run.frame.loc[run.frame["metric"] == "vocab_utilization", "metric"] = spec
    run.manifest["suite"]["metrics"] = [spec]
    assert "ngram bpb:train_on=text:my_text.txt" in shown(run)


def test_no_figure_is_parted_from_its_name_in_a_narrow_terminal(made_up_run: MakeRun, shown: Shown) -> None:
    for columns in range(30, 60):
        run = made_up_run(2, 2)
        run.frame.loc[run.frame["metric"] == "vocab_utilization", "value"] = 1e-5
        assert "vocab used < 0.1 %" in " ".join(shown(run, columns).split())


def test_the_terminal_says_what_its_headings_are_of(made_up_run: MakeRun, shown: Shown) -> None:
    run = made_up_run(2, 3)
    other = {"tokens_per_line": "compression_ratio_macro", "chars_per_token": "encode_speed_cold"}
    run.frame["metric"] = run.frame["metric"].replace(other)
    printed = " ".join(shown(run).split())
    assert "mean bytes/token of languages " in printed
    assert "MB/s first is of text that was never met before, again of text that was" in printed


def test_what_is_timed_is_headed_by_its_unit() -> None:
    assert all(metric.unit in metric.heading for metric in METRICS)


def test_the_terminal_names_tokenizers_as_reports_do(made_up_run: MakeRun, shown: Shown) -> None:
    specs = ["bytes", "wordpiece:/some/folder/vocab_8k.txt", "bpe:pattern=o200k,vocab_size=32000"]
    run = made_up_run(2, 3, specs=specs)
    run.manifest["tokenizers"][2]["label"] = "ours 32k"
    printed = shown(run)
    summary = printed.partition("failed: ")[0]
    assert "\n ours 32k " in printed
    assert "\n wordpiece vocab_8k † " in printed
    assert "\nwordpiece vocab_8k †: " in printed
    assert not any(spec in summary for spec in specs[1:])


def test_the_terminal_tells_the_choice(made_up_run: MakeRun, shown: Shown) -> None:
    run = made_up_run(3, 3)
    decision = decide(run)
    assert decision is not None
    assert f"{decision.sentences[0]} Weights: {decision.weighed}" in " ".join(shown(run).split())


def test_the_terminal_tells_what_the_choice_leaves_out(made_up_run: MakeRun, shown: Shown) -> None:
    run = made_up_run(1, 3)
    run.frame = run.frame[run.frame["metric"] != "gini"]
    assert "Not known: " not in shown(run)  # nobody spoke of weights
    run = made_up_run(1, 3)
    run.frame = run.frame[run.frame["metric"] != "gini"]
    run.manifest["suite"]["weights"] = {"fairness": 5.0}
    printed = " ".join(shown(run).split())
    assert "Not known: fairness (needs gini, of parallel text in several languages)" in printed
    assert "price is taken per token" not in printed  # nobody spoke of prices
    cost = run.frame["metric"] == "compression_ratio"
    priced = run.frame[cost & (run.frame["tokenizer"] != run.tokenizers[0])].assign(metric="cost", unit="USD")
    run.frame = pd.concat([run.frame, priced])
    assert "Left out, because no price was given: " in " ".join(shown(run).split())


def test_weights_of_which_nothing_is_known_are_answered(made_up_run: MakeRun, shown: Shown) -> None:
    run = made_up_run(1, 3)
    run.frame = run.frame[run.frame["metric"] != "gini"]
    nothing = {"price": 0.0, "context": 0.0, "embedding": 0.0, "speed": 0.0}
    run.manifest["suite"]["weights"] = {**nothing, "fairness": 1.0}
    said = "No choice under these weights: no criterion with a weight is known. Not known: fairness (needs gini"
    assert said in " ".join(shown(run).split())
    assert said in markdown.document(run)
    assert said in str(decision(run))
    run.manifest["suite"]["weights"] = {}
    assert not gaps(run, DEFAULTS, {}, vague=False)
    assert "Not known: " in " ".join(gaps(run, DEFAULTS, {}, vague=True))
    unasked = made_up_run(1, 3)
    unasked.frame = run.frame[run.frame["metric"] == "round_trip"]
    assert not undecided(unasked)


def test_a_tokenizer_that_is_skipped_or_fails_is_named_once(made_up_run: MakeRun, shown: Shown) -> None:
    run = made_up_run(2, 2)
    run.manifest["skipped"] = [{"spec": "tiktoken:gpt2", "reason": "tiktoken:gpt2: not at hand", "remedy": ""}]
    run.manifest["failures"] = [
        dict(run.failures[0], tokenizer="bpe:x.json", message="bpe:x.json: no such file")
    ]
    printed = shown(run)
    assert "skipped: tiktoken:gpt2: not at hand" in printed
    assert printed.count("bpe:x.json") == 1


def test_of_a_message_that_quotes_a_document_the_beginning_is_shown(made_up_run: MakeRun, shown: Shown) -> None:
    run = made_up_run(2, 2)
    run.manifest["failures"] = [dict(run.failures[0], tokenizer="bytes", message="no y: " + "y" * 100_000)]
    for said in (shown(run), markdown.render(failures(run))):
        assert 1990 < said.count("y") < 2100
        assert "100,006 characters" in " ".join(said.split())


def test_what_failed_alike_for_all_tokenizers_is_told_once(made_up_run: MakeRun, shown: Shown) -> None:
    run = made_up_run(2, 3)
    of = {"dataset": "text:blank.txt", "language": "und", "kind": "empty", "message": "no text", "remedy": "x"}
    run.manifest["failures"] = [{**of, "tokenizer": name} for name in run.tokenizers]
    run.manifest["failures"] += [{**of, "tokenizer": name, "language": "eng"} for name in run.tokenizers[:2]]
    lines = [line for line in shown(run).splitlines() if line.startswith("failed: ")]
    assert lines[0] == "failed: all 3 tokenizers · text:blank.txt · und: empty: no text (x)"
    assert [line.partition(" · ")[0] for line in lines[1:]] == [
        f"failed: {name}" for name in run.tokenizers[:2]
    ]
