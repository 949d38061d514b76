"""Tables of the report in a real browser: decided anew, sorted, filtered, shaded, hidden, saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.tokbench.reports.tested import SPECS, column
from tokbench.reports.decision import decide
from tokbench.reports.html.page import write

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_other_weights_decide_anew(page: Any) -> None:
    block = page.locator("[data-decision]")
    before, turns = block.locator(".choice").inner_text(), block.locator(".turns").inner_text()
    scores = block.locator("tbody td[data-v]:nth-child(3)").all_inner_texts()
    for name in ("price", "fairness", "context"):
        block.locator(f"input[name={name}]").fill("0")
    block.locator("input[name=speed]").fill("5")
    assert block.locator(".choice").inner_text() != before
    block.get_by_role("button", name="Reset weights").click()
    page.wait_for_function("before => document.querySelector('.choice').textContent === before", arg=before)
    assert block.locator("tbody td[data-v]:nth-child(3)").all_inner_texts() == scores
    assert "speed above" in turns
    assert block.locator(".turns").inner_text() == turns  # the page's sums are those of tokbench
    for name in ("price", "fairness", "context", "speed"):
        block.locator(f"input[name={name}]").fill("0")
    assert "All weights are 0" in block.locator(".choice").inner_text()
    assert set(block.locator("tbody td[data-v]:nth-child(3)").all_inner_texts()) == {"–"}  # no old scores


@pytest.mark.usefixtures("no_figures")
def test_the_page_says_a_tie_as_the_report_does(browser: Any, made_up_run, tmp_path: Path) -> None:
    run = made_up_run(2, 3, specs=["bytes", "chars", "words"])
    run.comparisons = run.comparisons.iloc[:0]
    rows = run.frame[run.frame["tokenizer"] != "chars"]
    run.frame = pd.concat([rows, rows[rows["tokenizer"] == "bytes"].assign(tokenizer="chars")])
    rows = run.frame["tokenizer"].isin(["bytes", "chars"]) & (run.frame["metric"] == "compression_ratio")
    run.frame.loc[rows, ["value", "ci_low", "ci_high"]] *= 100
    write(run, tmp_path / "report.html")
    opened = browser.new_page()
    opened.goto((tmp_path / "report.html").as_uri())
    choice, said = opened.locator(".choice"), "No winner under these weights: bytes and chars are level."
    assert choice.inner_text() == said
    opened.locator("input[name=price]").fill("0")
    opened.locator("input[name=price]").fill("3")  # decides anew, by the page's own sums
    assert choice.inner_text() == said
    opened.close()


@pytest.mark.usefixtures("no_figures")
def test_the_page_names_no_choice_where_most_of_what_weighs_is_unknown(
    browser: Any, made_up_run, tmp_path: Path
) -> None:
    run = made_up_run(2, 3, specs=["bytes", "chars", "words"])
    kept = {"compression_ratio", "lossless_documents", "round_trip"}
    run.frame = run.frame[run.frame["metric"].isin(kept)]
    found = decide(run, {"price": 1, "fairness": 2, "context": 0, "embedding": 0})
    assert found.vague
    run.manifest["suite"]["weights"] = dict(found.weights)
    write(run, tmp_path / "report.html")
    opened = browser.new_page()
    opened.goto((tmp_path / "report.html").as_uri())
    choice = opened.locator(".choice")
    said = "No choice under these weights: most of the weight is on criteria that are not known."
    price = opened.locator("input[name=price]")
    verdicts = opened.locator("[data-decision] tbody td:nth-child(2)")
    assert choice.inner_text() == said
    price.fill("1.5")  # decides anew, by the page's own sums
    assert choice.inner_text() == said
    assert set(verdicts.all_inner_texts()) == {"no choice", "loses text"}
    price.fill("2.5")
    assert choice.inner_text() != said
    opened.close()


def test_tables_sort_both_ways(page: Any) -> None:
    block = "[data-table=headline-bundled-parallel]"
    head = page.locator(f"{block} th[data-key=compression_ratio]")
    head.get_by_role("button").click()
    place = 1 + head.evaluate("head => head.cellIndex")
    values = [float(text) for text in column(page, block, place)]
    assert values == sorted(values, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    head.get_by_role("button").press("Enter")
    assert [float(text) for text in column(page, block, place)] == sorted(values)


def test_the_headline_shows_what_matters_without_scrolling(page: Any) -> None:
    block = page.locator("[data-table=headline-bundled-parallel]")
    for width, shown in ((1280, 6), (420, 3)):
        page.set_viewport_size({"width": width, "height": 900})
        heads = block.locator("thead th")
        right = block.locator(".scroll").evaluate("box => box.getBoundingClientRect().right")
        boxes = [heads.nth(place).bounding_box() for place in range(shown)]
        assert all(box["x"] + box["width"] <= right for box in boxes)
        clipped = "heads => heads.filter(h => h.scrollWidth > h.clientWidth + 1).map(h => h.textContent)"
        assert heads.evaluate_all(clipped) == []


@pytest.mark.parametrize("width", [1200, 1280, 1400])
def test_the_headline_fits_a_screen_and_its_lines_meet(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    box = page.locator("[data-table=headline-bundled-parallel] .scroll")
    assert box.locator("thead th").count() > 9
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    height = "row => row.getBoundingClientRect().height"
    heights = [row.evaluate(height) for row in box.locator("tbody tr").all()]
    assert heights == [round(height) for height in heights]


def test_bold_figures_of_a_heat_map_can_be_read(page: Any) -> None:
    cell = page.locator(".heat td.h8:visible").first
    cell.evaluate("cell => cell.append(document.createElement('b'))")
    around, own = (part.evaluate("each => getComputedStyle(each).color") for part in (cell, cell.locator("b")))
    assert own == around


def test_the_heat_map_sorts_by_script_and_filters(page: Any) -> None:
    block = "#languages .panel:not([hidden])"
    page.locator(f"{block} th[data-key=script] button").click()
    scripts = column(page, block, 3)
    assert scripts == sorted(scripts)
    page.locator(f"{block} input[type=search]").fill("cyrillic")
    assert set(column(page, block, 3)) == {"Cyrillic"}
    assert "of 30 rows" in page.locator(f"{block} .count").inner_text()


def test_heat_maps_are_relative_to_the_baseline(page: Any) -> None:
    block = page.locator("#languages .panel:not([hidden])")
    row = block.locator("tbody tr").first.locator("td[data-v]")
    before = row.all_inner_texts()
    values = [float(row.nth(place).get_attribute("data-v")) for place in range(row.count())]
    page.select_option("#baseline", block.locator("thead th.n").nth(1).get_attribute("data-key"))
    assert row.all_inner_texts() == [f"{value / values[1]:.2f}×" for value in values]
    page.select_option("#baseline", "")
    assert row.all_inner_texts() == before


def test_the_heat_map_can_be_shaded_within_a_language(page: Any) -> None:
    block = page.locator("#languages .panel:not([hidden])")
    block.get_by_label("Shade within each language").check()
    first = block.locator("tbody tr").first.locator("td[data-v]")
    names = [first.nth(place).get_attribute("class") for place in range(first.count())]
    assert {"h0", "h8"} <= set(names)


def test_on_a_phone_the_figures_of_a_heat_map_come_first(browser: Any, file: Path) -> None:
    phone = browser.new_page(viewport={"width": 420, "height": 900})
    phone.goto(file.as_uri())
    block = phone.locator("#languages .panel:not([hidden])")
    assert not block.locator("th[data-key=script]").is_visible()
    box = block.locator("tbody tr").first.locator("td[data-v]").first.bounding_box()
    assert box["x"] + box["width"] < 420
    block.get_by_text("Columns").click()
    block.get_by_label("script").check()
    assert block.locator("th[data-key=script]").is_visible()
    phone.close()


def test_columns_hide(page: Any) -> None:
    block = page.locator("[data-table=headline-bundled-parallel]")
    block.get_by_text("Columns").click()
    block.get_by_label("fertility").uncheck()
    assert not block.locator("th[data-key=fertility]").is_visible()
    assert block.locator("th[data-key=compression_ratio]").is_visible()


def test_tokenizers_that_lose_text_can_leave_the_ranking(page: Any) -> None:
    block = page.locator("[data-table=headline-bundled-parallel]")
    before = block.locator("tbody tr:visible").count()
    block.get_by_label("Hide tokenizers that lose text").check()
    assert block.locator("tbody tr:visible").count() == before - 1


def test_a_table_downloads_as_csv_in_full_precision(page: Any, tmp_path: Path) -> None:
    block = page.locator("[data-table=headline-bundled-parallel]")
    name = block.locator("tbody tr").first.locator("th, td").first
    name.evaluate("cell => { cell.textContent = '=1+1' }")
    with page.expect_download() as waiting:
        block.get_by_text("Download CSV").click()
    waiting.value.save_as(tmp_path / "table.csv")
    frame = pd.read_csv(tmp_path / "table.csv")
    assert waiting.value.suggested_filename == "headline-bundled-parallel.csv"
    assert len(frame) == len(SPECS)
    assert frame["compression_ratio"].dtype == "float64"
    assert (frame["compression_ratio"].round(2) != frame["compression_ratio"]).any()
    assert "wordpiece 8k †" in set(frame["tokenizer"]), "with a common space"
    assert "'=1+1" in set(frame["tokenizer"]), "no spreadsheet runs it"


def test_a_table_that_goes_on_fades_at_its_edge(page: Any) -> None:
    page.set_viewport_size({"width": 700, "height": 800})
    box = page.locator("[data-table=headline-bundled-parallel] .scroll")
    page.wait_for_selector("[data-table=headline-bundled-parallel] .scroll.more")
    box.evaluate("box => box.scrollTo(box.scrollWidth, 0)")
    page.wait_for_selector("[data-table=headline-bundled-parallel] .scroll:not(.more)")
    box = page.locator("#languages .scroll.tall:visible")
    page.wait_for_selector(
        "#languages .scroll.tall.below"
    )  # of thirty rows, no half of one is taken for the last
    assert box.evaluate("box => getComputedStyle(box).maskImage").count("linear-gradient") == 2
    box.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    page.wait_for_selector("#languages .scroll.tall:not(.below)")


@pytest.mark.parametrize("width", [360, 400])
def test_the_decision_fits_a_phone(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    box = page.locator(".decision .scroll")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    places = "row => [...row.cells].slice(2).map(cell => Math.round(cell.getBoundingClientRect().right))"
    head, first, *_ = [row.evaluate(places) for row in box.locator("tr").all()]
    assert len(head) > 3
    assert head == first, "figures stand under their headings"
    clipped = "heads => heads.filter(h => h.scrollWidth > h.clientWidth + 1).map(h => h.textContent)"
    assert box.locator("th").evaluate_all(clipped) == []


def test_names_of_metrics_break_at_underscores_on_a_phone(page: Any) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    name = page.locator("th[scope=row]", has_text="chars_per_token").first
    assert name.evaluate("cell => cell.querySelectorAll('wbr').length") == 2


def test_rows_are_found_by_a_name_and_its_mark(page: Any) -> None:
    block = page.locator("[data-table=headline-bundled-parallel]")
    block.get_by_label("Filter rows").fill("8k †")
    assert block.locator("tbody tr:visible").count() == 1
    against = page.locator("[data-table^=differences] td").all_text_contents()
    assert "wordpiece 8k\u00a0†" in against, "a mark stays with its name"
