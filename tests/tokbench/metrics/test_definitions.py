"""Metrics of plugins stay explained in runs that are opened without the plugin."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from tokbench.metrics import Metric
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.definitions import defined, described, with_orders
from tokbench.reports.tables import definitions, metric_column, metric_facts

MINE = Metric(
    name="mine", unit="x", better="lower", summary="Mine.", formula="x^2", source="Me 2026", caveat="Beware.",
    needs=("tokens",), compute=lambda t: t.tokens,
)  # fmt: skip


def test_a_definition_survives_json() -> None:
    kept = json.loads(json.dumps(described([*CATALOGUE, MINE])))
    assert [each["name"] for each in kept] == ["mine"]
    again = defined(kept)["mine"]
    for name in ("unit", "better", "summary", "formula", "source", "caveat", "needs", "level"):
        assert getattr(again, name) == getattr(MINE, name)
    with pytest.raises(TypeError, match="load the plugin"):
        again.compute(None)


def test_fields_of_a_later_version_are_left_out() -> None:
    later = described([MINE])[0] | {"colour": "red"}
    assert defined([later])["mine"].unit == "x"


def test_a_heading_says_where_words_are_characters() -> None:
    facts = metric_facts(SimpleNamespace(manifest={}))
    for kind, said in (("", ""), (": one per character", ", one per character")):
        column = metric_column("fertility", facts, f"tokens/word (UAX #29{kind})")
        assert column.heading == f"fertility (tokens/word{said})"


def test_reports_explain_them_like_our_own() -> None:
    run = SimpleNamespace(manifest={"definitions": described(with_orders([*CATALOGUE, MINE], [2.5, 3]))})
    facts = metric_facts(run)
    assert list(facts)[-2:] == ["renyi_efficiency_3", "mine"]
    assert metric_column("mine", facts).help == "Mine. Beware"
    rows = definitions(run, ["mine", "fertility"]).rows
    assert [row.cells[0] for row in rows] == ["mine", "fertility"]
    assert metric_facts(SimpleNamespace(manifest={})).keys() == {metric.name for metric in CATALOGUE}


def test_a_high_order_of_renyi_efficiency_has_a_name() -> None:
    assert {"renyi_efficiency_1e20", "renyi_efficiency_inf"} <= {
        metric.name for metric in with_orders(CATALOGUE, [1e20, float("inf")])
    }


def test_an_order_that_is_asked_for_twice_is_one_metric() -> None:
    names = [metric.name for metric in with_orders(CATALOGUE, [3.0, 2.5, 3.0, 3.00000001])]
    assert len(names) == len({*names}) == len(CATALOGUE) + 1
