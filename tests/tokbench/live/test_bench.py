"""What the page asks of tokenizers, whatever these do: steps, ranks, first calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tokbench.capabilities import Step
from tokbench.errors import TokenizerError
from tokbench.lint.subject import Subject
from tokbench.live.bench import Bench, RequestError, Seat, VisitorLimits


class Stubborn:
    """A tokenizer that can be traced, and fails on a word."""

    name, vocab_size = "stubborn", 300

    def encode(self, text: str) -> list[int]:
        if "boom" in text:
            raise RuntimeError("no booms")
        return list(text.encode())

    def decode(self, ids: Any) -> str:
        return bytes(ids).decode("utf-8", "replace")

    def trace(self, text: str) -> Iterator[Step]:
        for stop in range(1, 1000):
            yield Step(
                "merge", (text.encode()[:stop], b"\xff"), 0, "n", {"score": float("nan"), "raw": b"\xfe"}
            )


@pytest.fixture(scope="module")
def stubborn() -> Bench:
    tokenizer = Stubborn()
    return Bench(
        {"s": Seat("s", "s", tokenizer, Subject("s", tokenizer))}, limits=VisitorLimits(trace_steps=20)
    )


def test_a_tokenizer_that_raises_spoils_nothing(stubborn: Bench) -> None:
    assert stubborn.encode("boom", ["s"])["results"] == [{"spec": "s", "error": "RuntimeError: no booms"}]


def test_what_a_tokenizer_raises_tells_nobody_where_files_are() -> None:
    class Telling(Stubborn):
        def encode(self, text: str) -> list[int]:
            raise TokenizerError(f"{SPEC}: no unknown token, see /home/me/notes.txt")

        def trace(self, text: str) -> Iterator[Step]:
            yield from map(Step, self.encode(text))

    tokenizer = Telling()
    bench = Bench({"its file": Seat("its file", "its file", tokenizer, Subject(SPEC, tokenizer))})
    told = "its file: no unknown token, see notes.txt"
    assert bench.encode("a", ["its file"])["results"] == [{"spec": "its file", "error": told}]
    with pytest.raises(RequestError, match=f"^{told}$"):
        bench.trace("a", "its file")


SPEC = "unigram:../my models/secret/tokenizer.json"


def test_a_tokenizer_that_raises_goes_without_ranks(stubborn: Bench) -> None:
    fine, late = replace(stubborn, texts=["a b", "c"]), replace(stubborn, texts=["a b", "boom"])
    late.count_ranks()
    assert late.seats["s"].ranks == {}
    fine.count_ranks()
    assert set(fine.seats["s"].ranks) == set(b"a bc")


def test_each_is_called_once_before_visitors_come() -> None:
    class Counted(Stubborn):
        calls = 0

        def encode(self, text: str) -> list[int]:
            self.calls += 1
            raise RuntimeError("never")

    one, other = Counted(), Counted()
    Bench(
        {name: Seat(name, name, each, Subject(name, each)) for name, each in (("a", one), ("b", other))}
    ).call_once()
    assert one.calls >= 1
    assert other.calls >= 1


def test_steps_are_ready_for_json_and_limited(stubborn: Bench) -> None:
    answer = stubborn.trace("né", "s")
    assert answer["cut"]
    assert len(answer["steps"]) == 20
    assert answer["steps"][0]["tokens"] == ["n", "⟨FF⟩"]
    assert answer["steps"][1]["tokens"] == ["⟨6E C3⟩", "⟨FF⟩"], "as `tokbench trace` writes them"
    json.dumps(answer, allow_nan=False)
