"""Metrics that are named and lack what they need are refused before any work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runs import planned
from tokbench.errors import SpecError

GIVEN = {"tokenizers": ["bytes"], "datasets": ["bundled:prose"], "train_on": "bundled:tricky"}
"""Text that is opened at once."""


@pytest.mark.parametrize(
    ("metric", "given", "message"),
    [
        ("cost", {"prices": "prices.toml"}, "cost needs prices: name a table of them with --prices FILE"),
        ("nsl", {"baseline": "bytes"}, "nsl needs a baseline: name a tokenizer with --baseline SPEC"),
        (
            "context_words",
            {"context_length": 8000},
            "context_words needs a length of context: --context-length N",
        ),
        ("train_flops", {"model": "gpt2"}, "train_flops needs a model: name one with --model PRESET"),
        (
            "morph_f1",
            {"morphology": {"deu_Latn": {"path": "gold.csv"}}},
            r"morph_f1 needs gold segmentations of words: name a file in the suite's \[morphology",
        ),
        (
            "unreachable_tokens",
            {},
            "unreachable_tokens needs vocabularies that are looked through, .* audit = false",
        ),
    ],
)
def test_a_metric_that_lacks_a_setting_is_found_before_any_work(
    metric: str, given: dict[str, object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prices.toml").write_text("[prices]\nbytes = 1\n")
    Path("gold.csv").write_text("full_word,pt1,rest\n")
    asked = {**GIVEN, "metrics": [metric], "audit": metric != "unreachable_tokens"}
    with pytest.raises(SpecError, match=message):
        planned(asked)
    planned({**asked, **given, "audit": True})
    planned({**GIVEN, "audit": False})  # what nobody named is left out


def test_a_table_without_a_price_for_any_tokenizer_is_none_for_cost(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text("[prices]\nchars = 1\n")
    asked = {**GIVEN, "metrics": ["cost"], "prices": str(table)}
    with pytest.raises(
        SpecError, match=f"cost needs a price, and {table} has none for any tokenizer of this run"
    ):
        planned(asked)
    planned({**asked, "tokenizers": ["bytes", "chars"]})
    planned({**asked, "metrics": ["tokens"]})
