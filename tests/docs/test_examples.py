"""Each example plugin does what its docstring says, loaded as a user would load it."""

from __future__ import annotations

from pathlib import Path

import pytest

import tokbench
from tokbench.registry import build_registry
from tokbench.testing import check_tokenizer

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def example(name: str) -> str:
    return str(EXAMPLES / f"{name}.py")


@pytest.mark.parametrize("spec", ["digit-groups", "digit-groups:width=2"])
def test_the_tokenizer_conforms(spec: str) -> None:
    check_tokenizer(spec, registry=build_registry(plugin_files=[example("digit_groups")]))


def test_the_tokenizer_groups_from_the_right() -> None:
    tokenizer = tokbench.load("digit-groups", plugins=[example("digit_groups")])
    ids = tokenizer.encode("x1234567")
    assert [tokenizer.token_bytes(token) for token in ids] == [b"x", b"1", b"234", b"567"]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def sums_run(tmp_path_factory: pytest.TempPathFactory) -> tokbench.results.Run:  # type: ignore[name-defined]
    return tokbench.run(
        ["bytes", "digit-groups"],
        ["sums:lines=300"],
        metrics=["tokens_per_grapheme", "compression_ratio"],
        plugins=[example(name) for name in ("sums", "digit_groups", "tokens_per_grapheme", "bars")],
        output=tmp_path_factory.mktemp("run") / "sums",
        speed=False,
    )


def test_the_dataset_and_the_metric_are_measured(sums_run: tokbench.results.Run) -> None:  # type: ignore[name-defined]
    frame = sums_run.frame.query("metric == 'tokens_per_grapheme' and language == 'all'").set_index("tokenizer")
    assert frame.loc["bytes", "value"] == 1.0
    assert frame.loc["digit-groups", "ci_low"] < frame.loc["digit-groups", "value"] < 1.0


def test_the_report_writer_draws_bars(sums_run: tokbench.results.Run, tmp_path: Path) -> None:  # type: ignore[name-defined]
    sums_run.report(tmp_path / "bars.txt", format="bars", plugins=[example("bars")])
    title, best, worst = (tmp_path / "bars.txt").read_text().splitlines()
    assert title == "sums:lines=300: bytes per token"
    assert "digit-groups" in best
    assert worst.count("█") < best.count("█")
