"""The Python API: what it takes for granted, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

import tokbench
from tokbench.errors import SpecError, UnknownNameError


def test_one_spec_may_stand_by_itself(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat\n" * 5)
    run = tokbench.run(
        "bytes", f"text:{text}", output=tmp_path / "out", speed=False, metrics=["compression_ratio"]
    )
    assert run.tokenizers == ["bytes"]
    assert run.datasets == [f"text:{text}"]


def test_a_list_of_nothing_is_refused() -> None:
    with pytest.raises(SpecError, match="tokenizers: an empty list"):
        tokbench.run([], ["bundled:code"])
    with pytest.raises(SpecError, match="datasets: an empty list"):
        tokbench.run(["bytes"], [])


@pytest.mark.parametrize(
    ("spec", "near"), [("gpt4o", "'gpt-4o'"), ("bert-base-uncasd", "'bert-base-uncased'"), ("byts", "'bytes'")]
)
def test_a_misspelt_model_is_answered_with_models_and_a_misspelt_family_with_families(
    spec: str, near: str
) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean {near}"):
        tokbench.load(spec)
