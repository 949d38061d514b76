"""What a run compared document by document, as table and as coloured tokens."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tokbench.inspection.divergence import first_divergence
from tokbench.inspection.pieces import TextPiece
from tokbench.reports import markdown
from tokbench.reports.diffs import diff_table
from tokbench.reports.html.page import render
from tokbench.reports.html.passages import divergences

SPECS = ["bytes", "tiktoken:gpt2", "bpe:/home/someone/gpt2", "chars"]
HOSTILE = "<script>window.hurt=1</script>"


def pieces(*tokens: tuple[int, str]) -> list[TextPiece]:
    found, at = [], 0
    for number, (index, text) in enumerate(tokens):
        found.append(TextPiece(index, text.encode(), text, at, at + len(text), True, number))
        at += len(text)
    return found


def parting(number: int) -> dict[str, Any]:
    a = pieces((1, "so"), (2, " "), (3, HOSTILE), (4, "."))
    b = pieces((1, "so"), (2, " "), (5, HOSTILE[:3]), (6, HOSTILE[3:]), (4, "."))
    found = first_divergence(f"text:/home/someone/en.txt deu_Latn {number}", f"so {HOSTILE}.", a, b)
    return found.as_json()


@pytest.fixture
def run(made_up_run) -> Any:
    made = made_up_run(3, 4, specs=SPECS)
    same = {
        "a": SPECS[1], "b": SPECS[0], "compared": "ids", "n_documents": 40, "n_equal": 40, "share_equal": 1.0,
        "n_tokens": [700, 700], "causes": {}, "divergences": [], "named": False,
    }  # fmt: skip
    other = {
        **same, "b": SPECS[2], "compared": "bytes", "n_equal": 30, "share_equal": 0.75, "n_tokens": [700, 720],
        "causes": {"ties": 2, "segmentation": 8}, "divergences": [parting(number) for number in range(1, 6)],
    }  # fmt: skip
    lost = {"a": SPECS[1], "b": SPECS[3], "named": True, "error": "timeout: longer than 1 s"}
    budget = {"documents": 2000, "bytes": 1_000_000, "chars_per_document": 10_000}
    made.diffs = {"budget": budget, "pairs": [same, other, lost]}
    return made


def test_those_that_differ_come_first_and_failures_are_told(run: Any) -> None:
    table = diff_table(run)
    assert [row.key for row in table.rows] == [SPECS[2], SPECS[3], SPECS[0]]
    shown = [table.text(0, column) for column in range(2, 7)]
    assert shown == [
        "40",
        "75.00",
        "720",
        "700",
        "segmentation 8, ties 2 (by bytes: the ids are numbered differently)",
    ]
    assert table.rows[1].cells[-1] == "timeout: longer than 1 s"
    assert table.rows[2].cells[-1] == "nowhere"
    assert table.text(1, 3) == "–"
    assert "2,000 documents or 1 MB" in table.note


def test_both_sides_are_shown_with_the_part_that_differs_marked(run: Any) -> None:
    page = str(divergences(run))
    assert page.count('class="parting"') == 3  # of five of one kind
    assert page.count('class="differs"') == 3 * 3
    marked = []
    for ids, spans in re.findall(r'data-i="([^"]*)"[^>]*>(.*?)</div>', page):
        each = zip(ids.split(), re.findall(r"<span[^>]*>", spans), strict=True)
        marked += [index for index, span in each if "differs" in span]
    assert marked[:3] == ["3", "5", "6"]
    assert "document 1, character 4" in page


@pytest.mark.usefixtures("no_figures")
def test_text_and_paths_stay_what_they_are(run: Any) -> None:
    page = render(run)
    assert "<script>window" not in page
    assert "someone" not in str(divergences(run))
    assert "Who gives the same ids" in page


def test_a_run_without_pairs_says_nothing(run: Any) -> None:
    run.diffs = {}
    assert diff_table(run).rows == ()
    assert divergences(run) == ""
    assert "Who gives the same ids" not in markdown.document(run)


def test_markdown_has_the_table(run: Any) -> None:
    assert "## Who gives the same ids" in markdown.document(run)
