"""The live page in a real browser: typing, hostile text, links, speed, accessibility."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    with opened(browser, address) as found:
        yield found


@contextmanager
def opened(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    yield page
    assert page.complaints == []
    context.close()


def type_in(page: Any, text: str) -> None:
    page.evaluate("delete document.body.dataset.updated")
    page.fill("#text", text)
    page.wait_for_selector("body[data-updated]")


def tokens(page: Any, view: int) -> list[str]:
    return list(page.locator(".view").nth(view).locator(".text span").all_text_contents())


def test_tokens_appear_as_one_types(page: Any) -> None:
    type_in(page, "né")
    assert tokens(page, 0) == ["n", "é"]
    assert page.locator("#figures tbody tr").nth(0).locator("td").nth(0).inner_text() == "3"
    page.locator(".view .text span").nth(1).hover()
    told = page.locator(".view .detail").nth(0).inner_text()
    assert re.search(r"id 195 · bytes c3 · rank \d+ by frequency; id 169 · bytes a9 · rank \d+", told)


def test_a_slow_answer_is_waited_for_in_words(page: Any) -> None:
    page.route("**/api/encode", lambda route: (page.wait_for_timeout(2500), route.continue_()))
    page.evaluate("delete document.body.dataset.updated")
    page.fill("#text", "ab")
    page.locator("#message", has_text="Waiting for the tokenizers").wait_for(timeout=2400)
    page.wait_for_selector("body[data-updated]")
    assert page.locator("#message").inner_text() == ""
    assert tokens(page, 0) == ["a", "b"]


def test_a_phone_shows_the_cost_without_scrolling(page: Any) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    type_in(page, "New York " * 2000)
    page.locator("#figures td input").first.fill("2.345")
    name = page.locator("#figures tbody th").first
    name.evaluate("head => { head.textContent = 'transformers cl100k_base_of_ours'; }")
    cost = page.locator("#figures tbody tr").first.locator("td").last
    assert cost.inner_text() == "0.0422"
    assert page.locator(".scroll").evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    assert cost.bounding_box()["x"] + cost.bounding_box()["width"] <= 400 - 16  # within the page's margin


def test_fewest_tokens_by_losing_text_are_not_marked_best(page: Any) -> None:
    type_in(page, "né")
    counts = page.locator("#figures tbody tr td:nth-of-type(1)")
    assert (counts.nth(1).inner_text(), counts.nth(1).get_attribute("class")) == ("2", "n best")
    assert not page.locator("#loses").is_visible()

    def lossy(route: Any) -> None:
        answer = route.fetch().json()
        answer["results"][1]["lossless"] = False
        route.fulfill(json=answer)

    page.route("**/api/encode", lossy)
    type_in(page, "né!")
    assert (counts.nth(1).inner_text(), counts.nth(1).get_attribute("class")) == ("3\u00a0†", "n")
    assert page.locator("#loses").is_visible()
    assert "loses text" in page.locator(".view").nth(1).inner_text()


def test_tokens_can_be_walked_by_keyboard(page: Any) -> None:
    type_in(page, "ab")
    page.locator(".view .text").nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "id 98" in page.locator(".view .detail").nth(0).inner_text()


@pytest.mark.parametrize(
    "text",
    ["<script>window.hurt = 1</script><img src=x onerror='window.hurt=1'>", "{{7*7}}", "\u202egnirts\u202c"],
)
def test_hostile_text_stays_text(page: Any, text: str) -> None:
    type_in(page, text)
    assert "".join(tokens(page, 1)).replace("·", " ") == text.replace("\u202e", "\\u202e").replace(
        "\u202c", "\\u202c"
    )
    assert page.evaluate("window.hurt") is None


def test_a_megabyte_is_declined_and_the_page_lives_on(page: Any) -> None:
    page.evaluate("document.getElementById('text').value = 'a'.repeat(1e6)")
    page.dispatch_event("#text", "input")
    page.locator("#message", has_text="at most").wait_for()
    type_in(page, "ab")
    assert tokens(page, 0) == ["a", "b"]
    assert page.locator("#message").inner_text() == ""


def test_a_link_brings_back_text_and_choice(page: Any, address: str) -> None:
    page.locator("#choices input").nth(1).uncheck()
    type_in(page, "a&b #c")
    page.click("#link")
    link = page.evaluate("location.href")
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("body[data-ready]")
    assert page.input_value("#text") == "a&b #c"
    assert page.locator(".view").count() == 1


def test_cost_follows_the_price(page: Any) -> None:
    type_in(page, "abcd")
    page.fill("#figures tbody tr:first-child input", "2.5")
    assert page.locator("#figures tbody tr").nth(0).locator("td").last.inner_text() == "0.00001"


def test_where_they_cut_differently_can_be_marked(page: Any) -> None:
    type_in(page, "né")
    page.check("#differences")
    page.wait_for_selector(".view:nth-child(2) .differs")
    assert page.locator(".view:nth-child(2) .differs").all_text_contents() == ["é"]


def test_nothing_of_an_earlier_text_stands_beside_an_error(page: Any) -> None:
    type_in(page, "abcd")
    page.locator(".view .text span").nth(1).hover()
    page.route("**/api/encode", lambda route: route.fulfill(status=400, json={"error": "no such thing"}))
    page.fill("#text", "ab")
    page.locator("#message", has_text="no such thing").wait_for()
    assert page.locator("#figures tbody tr").nth(0).locator("td").all_inner_texts() == ["–", "–", "", "–"]
    assert page.locator(".view .text span").count() == 0
    assert "".join(page.locator(".view .detail").all_text_contents()) == ""
    assert page.locator("#size").inner_text() == ""
    page.complaints.clear()  # Chromium says that the answer was 400


def _answered(answer: Any, route: Any) -> None:
    if answer is None:
        route.abort()
    else:
        route.fulfill(**answer)


def test_what_is_no_answer_of_ours_is_told_with_a_remedy(page: Any) -> None:
    for answer, said in (
        ({"status": 503, "body": "Service Unavailable"}, "(status 503): try again in a few seconds"),
        ({"status": 200, "body": "<p>Log in"}, "(status 200): try again in a few seconds"),
        ({"status": 503, "json": {"error": "busy; try again"}}, "busy; try again"),
        (None, "Is tokbench serve still running?"),
    ):
        page.route("**/api/encode", partial(_answered, answer))
        page.fill("#text", f"to be answered: {said}")
        page.locator("#message", has_text=said).wait_for()
        page.unroute("**/api/encode")
    page.complaints.clear()  # Chromium tells of each of them


def test_a_tokenizer_of_a_link_that_cannot_be_loaded_is_told(page: Any, address: str, bench: Any) -> None:
    [name, *_] = bench.more
    page.route("**/api/load", lambda route: route.fulfill(status=400, json={"error": f"{name}: it is damaged"}))
    page.goto("about:blank")
    page.goto(f"{address}#{urlencode({'t': name})}")
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#message").inner_text() == f"In the link, but not loaded: {name}: it is damaged"
    page.complaints.clear()


def test_ids_can_be_seen_and_copied(page: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    type_in(page, "né")
    assert not page.locator(".view .ids").first.is_visible()
    page.check("#ids")
    page.locator(".view .ids", has_text="110 195 169").wait_for()
    page.get_by_role("button", name="Copy ids of bytes").click()
    page.locator(".view button", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "[110, 195, 169]"


def load_wordpiece(page: Any) -> None:
    page.select_option("#more", label="wordpiece vocab.txt")
    page.click("#load")
    box = page.locator("#choices label", has_text="wordpiece vocab.txt").locator("input")
    box.wait_for(timeout=120_000)  # kernels may have to be compiled first
    box.check()


def test_the_text_that_is_stepped_through_keeps_its_lines(page: Any) -> None:
    load_wordpiece(page)
    type_in(page, "new\n\tyork")
    page.get_by_role("button", name="Step through").click()
    page.locator("#steps-tokens li").first.wait_for()
    assert page.input_value("#steps-text") == "new\n\tyork"


def test_a_step_is_named_once_and_what_it_has_none_of_is_said(page: Any) -> None:
    load_wordpiece(page)
    detail: dict[str, list[str]] = {"candidates": []}
    step = {"kind": "merge", "note": "merge 'a' + 'b'", "tokens": ["ab"], "changed": 0, "detail": detail}
    page.route("**/api/trace", lambda route: route.fulfill(json={"steps": [step, {**step, "kind": "split"}]}))
    page.get_by_role("button", name="Step through").click()
    page.locator("#steps-tokens li").first.wait_for()
    assert page.locator("#steps-note").inner_text() == "merge 'a' + 'b'"
    page.locator("#forward").click()
    assert page.locator("#steps-note").inner_text() == "split: merge 'a' + 'b'"
    assert page.locator("#steps-detail dd").text_content() == "none"


def test_pieces_from_right_to_left_reorder_nothing_beside_them(page: Any) -> None:
    """A merge was shown with its arrow the wrong way round, and a byte as ``xd7\\``."""
    load_wordpiece(page)
    step = {
        "kind": "merge",
        "note": "merge \u05e9 + \u05dc \u2192 \u05e9\u05dc (rank 7)",
        "tokens": ["\u05e9\u05dc", "\\xd7", "</s>", "\u00b7\u05d4", "("],
        "changed": 0,
        "detail": {"pieces": ["\u05e9", "12", None, "\u05dc"]},
    }
    page.route("**/api/trace", lambda route: route.fulfill(json={"steps": [step]}))
    type_in(page, "\u05e9\u05dc")
    page.get_by_role("button", name="Step through").click()
    pieces = page.locator("#steps-tokens li")
    pieces.first.wait_for()
    ways = [pieces.nth(at).evaluate("each => getComputedStyle(each).direction") for at in range(5)]
    assert ways == ["rtl", "ltr", "ltr", "rtl", "rtl"]  # a bracket runs as the text does
    said = "merge \u2068\u05e9\u2069 + \u2068\u05dc\u2069 \u2192 \u2068\u05e9\u05dc\u2069 (rank 7)"
    assert page.locator("#steps-note").text_content() == said
    assert page.locator("#steps-detail dd").text_content() == "\u2068\u05e9\u2069, 12, none, \u2068\u05dc\u2069"


def test_a_tokenizer_is_loaded_and_marked_where_it_cuts_differently(
    page: Any, browser: Any, address: str
) -> None:
    load_wordpiece(page)
    page.locator("#choices input").nth(0).uncheck()
    type_in(page, "new york, ab")
    page.check("#differences")
    view = page.locator(".view", has_text="wordpiece vocab.txt")
    view.locator(".differs").first.wait_for()
    assert view.locator(".differs").all_text_contents() == ["new", "york"]
    page.select_option("#mode", "special")
    page.locator(".view .error", has_text="matches no special tokens").wait_for()

    with opened(browser, address) as other:  # the next visitor meets the page as it was
        assert other.locator("#choices label").all_text_contents() == ["bytes", "chars", "nonsense:x"]
        assert other.locator("#more option").all_text_contents() == ["wordpiece vocab.txt"]
    page.click("#link")
    with opened(browser, page.evaluate("location.href")) as linked:  # but who has the link
        assert linked.locator(".view h3").all_text_contents() == ["chars", "wordpiece vocab.txt"]


def test_seven_tokenizers_stand_above_the_fold(page: Any) -> None:
    def seven(route: Any) -> None:
        answer = route.fetch().json()
        first = answer["tokenizers"][0]
        answer["tokenizers"] = [
            {**first, "label": f"a tokenizer of a long name {n}", "spec": f"s{n}"} for n in range(7)
        ]
        route.fulfill(json=answer)

    def encoded(route: Any) -> None:
        sent = {**route.request.post_data_json, "tokenizers": ["bytes"]}
        answer = route.fetch(post_data=json.dumps(sent)).json()
        answer["results"] = [{**answer["results"][0], "spec": f"s{n}"} for n in range(7)]
        route.fulfill(json=answer)

    page.route("**/api/tokenizers", seven)
    page.route("**/api/encode", encoded)
    page.reload()
    page.wait_for_selector("body[data-updated]")
    boxes = [page.locator(".view .text").nth(place).bounding_box() for place in range(7)]
    assert all(box["height"] > 10 and box["y"] + box["height"] <= 900 for box in boxes)


def test_nothing_sticks_out_on_a_phone(page: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    type_in(page, "x" * 3000 + " https://example.org/" + "y" * 500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Any, axe: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    type_in(page, "NewYork, 東京 مرحبا")
    page.evaluate(axe)
    found = page.evaluate("axe.run().then(result => result.violations)")
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in serious] == []
