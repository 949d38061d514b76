"""The report in a real browser: what it opens on, its texts, and how it fits a screen, a phone and paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.long]


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


def test_the_contents_are_a_line_on_a_phone(page: Any) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    assert page.locator("nav.contents").bounding_box()["height"] < 70  # pixels: a line and what is around it
    assert page.locator("h1").bounding_box()["y"] < 300
    last = page.locator(".contents a").last
    last.focus()
    assert last.evaluate("link => link.getBoundingClientRect().right <= innerWidth")  # what is cut scrolls in


def test_the_scale_of_a_heat_map_fits_a_phone(page: Any) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    # beside a baseline the scale has more to say
    page.evaluate("baseline.selectedIndex = 1; baseline.dispatchEvent(new Event('change'))")
    legend = page.locator(".legend:visible").first
    parts = legend.evaluate("it => [...it.children].map(each => each.getBoundingClientRect().toJSON())")
    assert all(part["width"] > 5 and part["right"] <= 400 for part in parts), parts


def test_definitions_are_folded_and_open(page: Any) -> None:
    first = page.locator("#definitions details").first
    assert first.locator("summary").is_visible()
    assert not first.locator(".fine").is_visible()
    first.locator("summary").click()
    assert first.locator(".fine").is_visible()


def test_on_a_phone_a_message_is_not_set_a_word_a_line(browser: Any, file: Path) -> None:
    phone = browser.new_page(viewport={"width": 420, "height": 900})
    phone.goto(file.as_uri())
    assert phone.locator("[data-table=failures] tbody td").last.bounding_box()["width"] >= 200
    phone.close()


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
