"""The report in a real browser: opened from a file, offline, with the console silent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

from tokbench.inspection.diff import diff
from tokbench.inspection.pieces import as_json
from tokbench.reports.html import write
from tokbench.spec import Spec

pytestmark = [pytest.mark.browser, pytest.mark.long]

HOSTILE = str(Spec("bpe", "<img src=x onerror='window.hurt=1'>{{7*7}}\u202e.json"))
SPECS = [
    "tiktoken:o200k_base",
    "bytes",
    HOSTILE,
    "unigram:vocab_size=8000",
    "wordpiece:vocab_size=8000",
    "chars",
]


@pytest.fixture(scope="module")
def file(made_up_run: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    import tokbench

    run = made_up_run(30, 6, specs=SPECS)
    text = "né مرحبا 東京 <script>window.hurt=1</script>"
    view = {**as_json(tokbench.load("bytes"), text), "tokenizer": "bytes"}
    passage = {"title": "mixed", "dataset": "d", "language": "und", "text": text, "tokenizations": [view]}
    run.samples = [passage, {**passage, "title": "again"}]
    found = diff(tokbench.load("chars"), tokbench.load("bytes"), [(f"{HOSTILE} und 1", text)])
    budget = {"documents": 1, "bytes": 1000, "chars_per_document": 100}
    run.diffs = {"budget": budget, "pairs": [{**found.as_json(), "a": "chars", "b": HOSTILE, "named": True}]}
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(run, path)
    return path


@pytest.fixture
def page(browser: Any, file: Path) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True, accept_downloads=True)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "request", lambda request: request.url.startswith(("file:", "blob:")) or complaints.append(request.url)
    )
    opened.goto(file.as_uri())
    yield opened
    assert complaints == []
    assert opened.evaluate("window.hurt") is None
    context.close()


def column(page: Any, block: str, number: int) -> list[str]:
    cells = page.locator(f"{block} tbody tr:visible > :nth-child({number})")
    return [text.splitlines()[0] for text in cells.all_inner_texts()]


def test_it_opens_on_the_answer(page: Any) -> None:
    assert "share first place for text per token" in page.locator("h1").inner_text()
    assert page.locator("#answer .finding svg:visible").count() == 3
    assert page.locator("#answer table:visible").count() == 2  # the decision, and the headline


@pytest.mark.parametrize("width", [1280, 1100, 1000, 900, 800, 420])
def test_the_head_names_the_run_at_any_width(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert page.locator(".top .run").evaluate("name => name.clientWidth") >= 80  # pixels: one word of it
    lines = {page.locator(f".follow select >> nth={place}").bounding_box()["y"] for place in range(3)}
    assert len(lines) == 1, "what can be followed is chosen in one line"


def test_other_weights_decide_anew(page: Any) -> None:
    block = page.locator("[data-decision]")
    before, turns = block.locator(".choice").inner_text(), block.locator(".turns").inner_text()
    scores = block.locator("tbody td[data-v]:nth-child(3)").all_inner_texts()
    for name in ("price", "fairness", "context"):
        block.locator(f"input[name={name}]").fill("0")
    block.locator("input[name=speed]").fill("5")
    assert block.locator(".choice").inner_text() != before
    block.get_by_role("button", name="As given").click()
    page.wait_for_function("before => document.querySelector('.choice').textContent === before", arg=before)
    assert block.locator("tbody td[data-v]:nth-child(3)").all_inner_texts() == scores
    assert "speed above" in turns
    assert block.locator(".turns").inner_text() == turns  # the page's sums are those of tokbench
    for name in ("price", "fairness", "context", "speed"):
        block.locator(f"input[name={name}]").fill("0")
    assert "Nothing weighs" in block.locator(".choice").inner_text()


@pytest.mark.usefixtures("no_figures")
def test_the_page_says_a_tie_as_the_report_does(
    browser: Any, made_up_run: Callable[..., Any], tmp_path: Path
) -> None:
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


def test_the_contents_are_a_line_on_a_phone(page: Any) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    assert page.locator("nav.contents").bounding_box()["height"] < 70  # pixels: a line and what is around it
    assert page.locator("h1").bounding_box()["y"] < 300
    last = page.locator(".contents a").last
    last.focus()
    assert last.evaluate("link => link.getBoundingClientRect().right <= innerWidth")  # what is cut scrolls in


def test_definitions_are_folded_and_open(page: Any) -> None:
    first = page.locator("#definitions details").first
    assert first.locator("summary").is_visible()
    assert not first.locator(".fine").is_visible()
    first.locator("summary").click()
    assert first.locator(".fine").is_visible()


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


def test_the_baseline_of_the_suite_is_chosen_from_the_start(
    browser: Any, made_up_run: Callable[..., Any], tmp_path: Path
) -> None:
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
    page.select_option("#baseline", "")
    assert page.locator(".rule").count() == 0


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


def test_on_a_phone_a_message_is_not_set_a_word_a_line(browser: Any, file: Path) -> None:
    phone = browser.new_page(viewport={"width": 420, "height": 900})
    phone.goto(file.as_uri())
    assert phone.locator("[data-table=failures] tbody td").last.bounding_box()["width"] >= 200
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
    import pandas as pd

    block = page.locator("[data-table=headline-bundled-parallel]")
    with page.expect_download() as waiting:
        block.get_by_text("Download CSV").click()
    waiting.value.save_as(tmp_path / "table.csv")
    frame = pd.read_csv(tmp_path / "table.csv")
    assert waiting.value.suggested_filename == "headline-bundled-parallel.csv"
    assert len(frame) == len(SPECS)
    assert frame["compression_ratio"].dtype == "float64"
    assert (frame["compression_ratio"].round(2) != frame["compression_ratio"]).any()
    assert "wordpiece 8k †" in set(frame["tokenizer"]), "with a common space"


def test_rows_are_found_by_a_name_and_its_mark(page: Any) -> None:
    block = page.locator("[data-table=headline-bundled-parallel]")
    block.get_by_label("Filter rows").fill("8k †")
    assert block.locator("tbody tr:visible").count() == 1
    against = page.locator("[data-table^=differences] td").all_text_contents()
    assert "wordpiece 8k\u00a0†" in against, "a mark stays with its name"


def test_the_theme_follows_the_system_and_the_button(page: Any) -> None:
    def paper() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = paper()
    page.emulate_media(color_scheme="dark")
    dark = paper()
    assert light != dark
    button = page.get_by_role("button", name="Theme")
    button.click()
    assert paper() == light
    button.click()
    assert paper() == dark
    page.reload()
    page.emulate_media(color_scheme="light")
    assert paper() == dark


def test_a_token_tells_its_id_and_bytes(page: Any) -> None:
    view = page.locator("#samples .tokens:visible").first
    view.locator("span").nth(1).hover()
    assert "2 tokens for one character: id 195 · bytes c3" in view.locator(".detail").inner_text()
    view.locator(".text").focus()
    page.keyboard.press("Home")
    assert "id 110 · bytes 6e" in view.locator(".detail").inner_text()


def test_where_two_part_both_sides_tell_their_tokens(page: Any) -> None:
    sides = page.locator("#ids .parting .tokens")
    assert sides.count() == 2
    for side, said in ((0, "id 233 · bytes c3 a9"), (1, "2 tokens for one character: id 195 · bytes c3")):
        view = sides.nth(side)
        view.locator(".differs").nth(0).hover()
        assert said in view.locator(".detail").inner_text()


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


def test_another_passage_or_dataset_is_chosen_from_a_list(page: Any) -> None:
    page.locator("#samples select").select_option("again")
    assert page.locator("#samples .panel:visible").count() == 1
    page.locator("#answer select").select_option("bundled code")
    assert page.locator("[data-table=headline-bundled-code]").is_visible()


@pytest.mark.parametrize("width", [360, 768, 1920])
def test_nothing_sticks_out(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_right_to_left_text_runs_right_to_left(page: Any) -> None:
    spans = page.locator("#samples .tokens:visible").first.locator("span")
    letters = {spans.nth(place).inner_text(): place for place in range(spans.count())}
    first, second = (spans.nth(letters[letter]).bounding_box() for letter in ("م", "ر"))
    assert first["x"] > second["x"]


def test_it_prints_every_panel(page: Any) -> None:
    page.set_viewport_size({"width": 600, "height": 800})
    page.wait_for_selector(".scroll.more")
    page.emulate_media(media="print")
    assert page.locator(".tools:visible").count() == 0
    assert page.locator("[data-table=headline-bundled-code] table").is_visible()
    assert page.locator("#answer .panel > h3").nth(1).bounding_box()["height"] > 10  # it says which is which
    assert page.locator(".scroll.more").first.evaluate("box => getComputedStyle(box).maskImage") == "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_serious(page: Any, axe: str, scheme: str, width: int) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate(axe)
    found = page.evaluate("axe.run().then(result => result.violations)")
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"]][:3]) for each in serious] == []
