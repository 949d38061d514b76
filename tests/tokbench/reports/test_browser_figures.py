"""Figures of the report in a real browser: read at the pointer, followed, set against the baseline, saved."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tokbench.reports.html.page import write

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_the_baseline_of_the_suite_is_chosen_from_the_start(browser: Any, made_up_run, tmp_path: Path) -> None:
    run = made_up_run(3, 3, specs=["bytes", "chars", "words"])
    run.manifest["baseline"] = "chars"
    write(run, tmp_path / "report.html")
    opened = browser.new_page()
    opened.goto((tmp_path / "report.html").as_uri())
    row = opened.locator("#languages .panel:not([hidden]) tbody tr").first.locator("td[data-v]")
    assert row.all_inner_texts()[1] == "1.00×"
    assert opened.locator(".rule").count() > 0
    opened.close()


def test_figures_are_read_against_the_baseline(page: Any) -> None:
    page.select_option("#baseline", "bytes")
    figure = page.locator(".plot .wide svg").first
    figure.scroll_into_view_if_needed()
    for place in range(figure.locator(".rule").count()):
        line = figure.locator(".rule").nth(place).bounding_box()
        assert line["height"] > 50
    assert (
        figure.locator(".rule").count() == figure.locator("g[data-t=bytes]:not([data-n]):has(use)").count() > 0
    )
    dot = figure.locator("g[data-t=chars]:not([data-n]):has(use)").first.bounding_box()
    page.mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
    assert re.fullmatch(r"chars: [\d.]+ bytes per token .*; [\d.]+× bytes", page.locator(".tip").inner_text())
    grid = page.locator(".plot .wide svg[aria-labelledby^=zipf]")
    panels = grid.locator("g[data-n]").count()
    assert grid.locator(".rule").count() == panels - 1
    caption = page.locator(".plot figcaption").first
    assert caption.inner_text().count("Dashed: bytes, the baseline.") == 1
    page.select_option("#baseline", "")
    assert page.locator(".rule").count() == 0
    assert "Dashed" not in caption.inner_text()


def test_a_figure_says_its_values_at_the_pointer(page: Any) -> None:
    figure = page.locator(".plot .wide svg").first
    figure.scroll_into_view_if_needed()
    dot = figure.locator("g[data-v*='(interval']").first
    box = dot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    told = page.locator(".tip").inner_text()
    assert re.fullmatch(r".+: [\d.]+ bytes per token \(interval [\d.]+–[\d.]+\)", told)
    strokes = figure.locator("g[data-n]").first.bounding_box()
    page.mouse.move(strokes["x"] + strokes["width"], strokes["y"] + 2)
    assert re.fullmatch(r".+: \w+_\w+: [\d.]+ bytes per token", page.locator(".tip").inner_text())
    page.mouse.move(2, 2)
    assert not page.locator(".tip").is_visible()


def test_one_tokenizer_is_followed_through_all_figures(page: Any) -> None:
    figure = page.locator(".plot .wide svg").first
    figure.scroll_into_view_if_needed()
    box = figure.locator("g[data-t=bytes]").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.locator("#follow").input_value() == "bytes"
    for number in range(page.locator(".plot .wide svg").count()):
        marks = page.locator(".plot .wide svg").nth(number).locator("[data-t]")
        faint = marks.evaluate_all("all => all.map(each => [each.dataset.t, each.classList.contains('apart')])")
        assert all(apart == (name != "bytes") for name, apart in faint)
    assert page.locator("[data-table=headline-bundled-parallel] tr.followed").count() == 1
    page.select_option("#follow", "")
    assert page.locator(".apart, .followed").count() == 0


def test_one_language_is_shown_in_figures_and_tables(page: Any) -> None:
    rows = page.locator(".plot .wide g[data-n]").evaluate_all(
        "all => all.filter(({ dataset, ownerSVGElement }) =>"
        "  ownerSVGElement.dataset.names.split('\\n\\n')[dataset.n].split('\\n').includes('deu_Latn')).length"
    )
    page.select_option("#language", "deu_Latn")
    assert page.locator(".plot .wide .spoken").count() == rows > 0
    assert set(page.locator("tr.followed").evaluate_all("all => all.map(row => row.dataset.l)")) == {"deu_Latn"}
    page.select_option("#language", "")
    assert page.locator(".spoken, tr.followed").count() == 0


def test_a_figure_is_saved_by_itself(page: Any, tmp_path: Path) -> None:
    with page.expect_download() as found:
        page.get_by_role("button", name="Save as SVG: Compression by tokenizer").click()
    assert found.value.suggested_filename == "compression_by_tokenizer.svg"
    found.value.save_as(tmp_path / "figure.svg")
    root = ElementTree.parse(tmp_path / "figure.svg").getroot()
    hues = {element.get("fill") for element in root.iter()}
    assert len(hues) > 3
    assert not any("var(" in (hue or "") for hue in hues)
