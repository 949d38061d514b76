"""Whose price is which in a price table, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runs import planned
from tokbench.errors import SpecError
from tokbench.runner.planning.plan import Plan
from tokbench.runner.planning.prices import price_notes

GIVEN = {"tokenizers": ["bytes"], "datasets": ["bundled:prose"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [("bytes = 2", "expected `currency` and a table `prices`"), ("prices", "price table"), (b"\xff", "utf-8")],
)
def test_a_price_table_is_read_before_any_work(content: str | bytes, message: str, tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SpecError, match=message):
        planned({**GIVEN, "prices": str(table)})


def priced(folder: Path, table: str, *tokenizers: str) -> Plan:
    """The plan of a run of `tokenizers` with the price table of these lines."""
    path = folder / "prices.toml"
    path.write_text(f"[prices]\n{table}", encoding="utf-8")
    return planned({**GIVEN, "tokenizers": list(tokenizers), "prices": str(path)})


def test_prices_are_of_the_tokenizers_that_names_in_the_table_mean(tmp_path: Path) -> None:
    table = '"gpt-4o" = 2.5\n"tiktoken" = 9\n"bpe:vocab_size=8k" = 1\n"other-house:model" = 4'
    prices = priced(tmp_path, table, "tiktoken:o200k_base", "tiktoken:gpt2", "bpe:vocab_size=8000").prices
    assert prices is not None
    named = ("tiktoken:o200k_base", "tiktoken:gpt2", "bpe:vocab_size=8000", "other-house:model")
    assert [prices.of(name) for name in named] == [2.5, 9.0, 1.0, 4.0]


TWO = '"gpt-3.5-turbo" = 0.5\n"gpt-4" = 30\n"tiktoken" = 9\n'


@pytest.mark.parametrize(
    ("table", "typed", "price"),
    [
        (TWO, "gpt-4", 30.0),
        (TWO, "gpt-3.5-turbo", 0.5),
        (TWO + '"tiktoken:cl100k_base" = 10', "gpt-4", 30.0),
        (TWO + '"tiktoken:cl100k_base" = 10', "tiktoken:cl100k_base", 10.0),
        ('"gpt-4" = 30\n"gpt-3.5-turbo" = 30', "tiktoken:cl100k_base", 30.0),
    ],
)
def test_the_name_that_was_typed_has_its_own_price(
    table: str, typed: str, price: float, tmp_path: Path
) -> None:
    prices = priced(tmp_path, table, typed).prices
    assert prices is not None
    assert prices.of("tiktoken:cl100k_base") == price


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (
            ("tiktoken:cl100k_base",),
            r"gpt-3.5-turbo \(0.5\) and gpt-4 \(30\) for one tokenizer, tiktoken:cl100k_base: say which is "
            r"meant \(-t gpt-3.5-turbo\), or give tiktoken:cl100k_base a price of its own in the table",
        ),
        (("gpt-4", "gpt-3.5-turbo"), r"gpt-4 \(30\) and gpt-3.5-turbo \(0.5\) for one .* a run of its own"),
    ],
)
def test_two_prices_of_one_tokenizer_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=message):
        priced(tmp_path, TWO, *typed)


def test_names_in_a_price_table_that_mean_nothing_or_another_are_said(tmp_path: Path) -> None:
    table = '"gpt-4" = 30\n"gpt-4o" = 2\n"claude-sonnet" = 3\n"gtp-4o" = 2'
    plan = priced(tmp_path, table, "gpt-3.5-turbo")
    assert price_notes(plan) == [
        f"prices: {plan.suite.prices} names what is no tokenizer here: 'gtp-4o' (did you mean 'gpt-4o'?), "
        "'claude-sonnet'",
        "prices: gpt-3.5-turbo has the price of gpt-4, which is the same tokenizer",
    ]
    assert price_notes(priced(tmp_path, TWO, "gpt-4")) == []
    [note] = price_notes(priced(tmp_path, '"gpt-4" = 30', "tiktoken:cl100k_base"))
    assert note == "prices: tiktoken:cl100k_base has the price of gpt-4, which is the same tokenizer"


def test_tokenizers_without_a_price_are_said_with_the_names_that_the_table_has(tmp_path: Path) -> None:
    plan = planned({**GIVEN, "tokenizers": ["bytes", "chars"]})
    assert price_notes(plan) == []
    for table, tokenizers, said in (
        ("gpt2 = 1", ["bytes", "chars"], "any tokenizer of this run; it names gpt2"),
        ("bytes = 1", ["bytes", "chars"], "chars of this run; it names bytes"),
        ("gpt-4 = 1", ["tiktoken:cl100k_base", "chars"], "chars of this run; it names gpt-4"),
        ("bytes = 1\nchars = 2", ["bytes", "chars"], None),
    ):
        plan = priced(tmp_path, table, *tokenizers)
        notes = [note for note in price_notes(plan) if "no price" in note]
        assert notes == ([] if said is None else [f"prices: {plan.suite.prices} has no price for {said}"])
