"""A run notices which of its tokenizers claim one vocabulary, and where on its text they give other ids."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runs import planned
from tokbench.errors import SpecError
from tokbench.results import Run
from tokbench.runner.inspecting import diffs

pytestmark = pytest.mark.usefixtures("workers_stay")

RunIt = Callable[..., Run]
FIRST = "bytes"


def compared(run: Run) -> dict[tuple[str, str], dict[str, Any]]:
    return {(pair["a"], pair["b"]): pair for pair in run.diffs["pairs"]}


PORTS = ("true", "swapped", "renumbered", "faulty")


@pytest.fixture(scope="module")
def found(run_once: RunIt) -> dict[tuple[str, str], dict[str, Any]]:
    """The pairs of a run of the bytes and of all that claim their vocabulary."""
    return compared(run_once([FIRST, *(f"port:{port}" for port in PORTS)], faulty=["ports"], audit=True))


def test_each_is_compared_with_the_first_of_its_vocabulary(found: dict[tuple[str, str], Any]) -> None:
    assert list(found) == [(FIRST, f"port:{port}") for port in PORTS]
    pair = found[FIRST, "port:true"]
    assert pair["share_equal"] == 1
    assert pair["n_documents"] == 70
    assert pair["named"] is False


def test_two_ids_swapped_are_found_and_shown(found: dict[tuple[str, str], Any]) -> None:
    pair = found[FIRST, "port:swapped"]
    assert pair["compared"] == "ids"
    assert pair["n_equal"] == 50  # twenty of the seventy lines have a w
    assert pair["causes"] == {"numbering": 20}
    first = pair["divergences"][0]
    assert first["document"].endswith("fra_Latn 1")
    assert first["text"] == "w"
    ids = [first[side][first["lead"]]["id"] for side in ("a", "b")]
    assert ids == [ord("w"), ord("z")]


def test_another_numbering_is_compared_by_bytes(found: dict[tuple[str, str], Any]) -> None:
    pair = found[FIRST, "port:renumbered"]
    assert (pair["compared"], pair["share_equal"]) == ("bytes", 1)


def test_text_on_which_one_failed_is_left_out(found: dict[tuple[str, str], Any]) -> None:
    pair = found[FIRST, "port:faulty"]
    assert pair["n_documents"] == 60  # all but the ten German lines
    assert pair["share_equal"] == 1


@pytest.mark.long
def test_other_vocabularies_are_compared_where_they_are_named(corpus: Path, run: RunIt) -> None:
    specs, text = ["bytes", "words:vocab_size=300"], [f"text:{corpus}"]
    alone = run(specs, text, train_on=text)
    assert alone.diffs["pairs"] == []
    named = compared(run(specs, text, train_on=text, force=True, diff=[("words:vocab_size=300", "bytes")]))
    pair = named["words:vocab_size=300", "bytes"]
    assert pair["named"] is True
    assert pair["share_equal"] == 0


def test_a_named_pair_must_be_of_the_run(corpus: Path, run: RunIt) -> None:
    with pytest.raises(SpecError, match="not among the tokenizers"):
        run(["bytes"], [f"text:{corpus}"], diff=[("bytes", "chars")])
    with pytest.raises(SpecError, match="'bytes' and 'bytes' are one tokenizer, so nothing can differ"):
        run(["bytes", "chars"], [f"text:{corpus}"], diff=[("bytes", "bytes")])


def test_a_comparison_that_fails_is_there_with_its_error(
    corpus: Path, run: RunIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diffs, "diff_one", os._exit)  # a worker that is given it is lost
    done = run([FIRST, "port:true"], [f"text:{corpus}"], faulty=["ports"], audit=True)
    pair = compared(done)[FIRST, "port:true"]
    assert pair["error"]
    assert "n_documents" not in pair


def test_the_budget_is_spread_over_languages(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned({"tokenizers": ["bytes"], "datasets": [f"text:{corpus}"]})
    monkeypatch.setattr(diffs, "MOST_DOCUMENTS", 7)
    seven = list(diffs.choose_documents(plan))
    assert [passage.language for passage in seven] == [*(["deu_Latn", "eng_Latn", "fra_Latn"] * 2), "deu_Latn"]
    monkeypatch.setattr(diffs, "MOST_BYTES", 60)
    few = list(diffs.choose_documents(plan))
    assert 0 < sum(len(passage.text.encode()) for passage in few) <= 60
    monkeypatch.setattr(diffs, "MOST_CHARS", 5)
    assert {len(passage.text) for passage in diffs.choose_documents(plan)} == {5}


def test_a_named_pair_of_which_one_vocabulary_is_not_known_is_compared_by_ids() -> None:
    audits: Any = {FIRST: object()}
    [pair] = diffs.pairs_of(audits, (FIRST, "chars"), [(FIRST, "chars")])
    assert (pair.named, pair.by_bytes) == (True, False)
