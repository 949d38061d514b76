"""docs/metrics.md is what the catalogue says; price tables; languages."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import tokbench
from tests.tokbench.metrics.measuring import NAMED, one
from tokbench.corpus import Document
from tokbench.errors import SpecError, Undefined
from tokbench.languages import SCRIPTS, languages, lookup
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.cost import PriceTable
from tokbench.metrics.information import zipf_slope
from tokbench.tally.collect import collect

ROOT = Path(__file__).parents[3]
written = runpy.run_path(str(ROOT / "tools" / "metrics_page.py"))["page"]


def test_the_page_is_current() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text("utf-8")
    assert page == written(), "run: python tools/metrics_page.py"


def test_every_metric_has_a_heading() -> None:
    page = written()
    assert all(f"### `{metric.name}`\n" in page for metric in CATALOGUE)


def test_the_page_says_where_a_figure_is() -> None:
    parts = {part.split("`", 1)[0]: part for part in written().split("\n### `")[1:]}
    assert "of each language, and all together, against the baseline tokenizer." in parts["nsl"]
    for name in ("premium", "script_share"):
        assert "; of each language.\n" in parts[name], "there is none for all of them"
    for name in ("gini", "gini_bytes", "cost_ratio", "cost_variation", "gini_scripts", "gini_families"):
        assert "together with unk_rate" in parts[name]


def test_the_page_says_what_few_ids_and_unknown_tokens_do() -> None:
    with pytest.raises(Undefined, match="ten distinct ids"):
        zipf_slope(np.full(9, 5))
    page = written()
    assert "Empty below ten distinct ids." in page
    assert "An unknown token has no bytes and counts as length 0." in page


def test_tibetan_is_cut_into_syllables_as_the_page_says() -> None:
    syllables = "\u0f56\u0f7c\u0f51\u0f0b\u0f66\u0f90\u0f51\u0f0b"
    figure = one(collect(tokbench.load("bytes"), [Document(syllables)]), NAMED["fertility"])
    assert figure.value == 9, "two syllables of nine bytes, not six characters"
    assert "Tibetan into syllables" in written()


def test_price_tables(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('currency = "EUR"\n[prices]\n"bpe" = 1\n"bpe:x.json" = 2.5\n', "utf-8-sig")
    table = PriceTable.open(path)
    assert (table.currency, table.of("bpe:x.json"), table.of("bpe:y.json"), table.of("other")) == (
        "EUR",
        2.5,
        1,
        None,
    )


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("prices = 3", "expected"),
        ("[prices]\na = 'x'", "number from 0 up, not 'x'"),
        ("[prices]\na = -1", "number from 0 up, not -1"),
        ("[price]\na = 1", "found price"),
        ("not toml", "price table"),
        ("[prices]\na = true", "not True"),
        ("currency = 3\n[prices]\na = 1", "`currency` is a text, as in .*, not 3"),
    ],
)
def test_wrong_price_tables_are_refused(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(SpecError, match=match):
        PriceTable.open(path)
    with pytest.raises(SpecError, match=r"missing\.toml"):
        PriceTable.open(tmp_path / "missing.toml")


def test_languages_of_flores_are_all_there() -> None:
    table = languages()
    assert len({language.code for language in table}) == len(table) > 200
    assert all(language.family and language.name for language in table)
    assert {language.script for language in table} <= SCRIPTS.keys()
    assert all(lookup(f"{language.code}_{language.script}") == language for language in table)
    assert np.all([len(language.short) in (0, 2) for language in table])


@pytest.mark.parametrize(
    ("tag", "name", "script"),
    [
        ("tha_Thai", "Thai", "Thai"),
        ("th", "Thai", "Thai"),
        ("zh", "Chinese", "Han (simplified)"),
        ("zh-TW", "Chinese", "Han (traditional)"),
        ("en-GB", "English", "Latin"),
        ("ara", "Arabic", "Arabic"),
    ],
)
def test_tags(tag: str, name: str, script: str) -> None:
    known = lookup(tag)
    assert (known.name, known.script_name) == (name, script)


def test_unknown_tags_are_not_there() -> None:
    assert lookup("xyz") is None
