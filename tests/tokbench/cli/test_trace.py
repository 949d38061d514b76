"""`tokbench trace`, and its figures."""

from __future__ import annotations

import json
import shlex
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command import output
from tokbench.capabilities import Step
from tokbench.errors import TokbenchError, TokenizerError
from tokbench.inspection.steps import html_page, label, svg_figure

HOSTILE = "<script>alert('x')</script>&\x00\ud800"


run = partial(output, "trace")


@pytest.fixture
def vocab(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text(
        "\n".join(["[UNK]", "un", "##happi", "##ness", "<", ">", "b", "/"]) + "\n", encoding="utf-8"
    )
    return path


def test_each_match_is_a_line(vocab: Path) -> None:
    shown = run(f"wordpiece:{vocab}", "unhappiness x").splitlines()
    assert shown[1].strip() == "unhappiness|x"
    assert "longest match at 2: '##happi'" in shown[5]
    assert shown[6].strip() == "un|[##happi]|ness|x"
    assert shown[7].strip() == "tried ##happiness, ##happines, ##happine, ##happin"
    assert shown[-1].endswith("5 steps, 4 tokens")


def test_no_token_is_cut_at_the_end_of_a_line(vocab: Path) -> None:
    """A line was folded in the midst of a token, and went on at the margin."""
    shown = run(f"wordpiece:{vocab}", " ".join(["unhappiness"] * 9), columns=60).splitlines()
    assert shown[-5:-1] == [
        "      un|##happi|##ness|un|##happi|##ness|un|##happi|##ness|",
        "      un|##happi|##ness|un|##happi|##ness|un|##happi|##ness|",
        "      un|##happi|##ness|un|##happi|##ness|un|##happi|",
        "      [##ness]",
    ]
    at = shown.index("      tried unhappiness, unhappines, unhappine, unhappin, ")
    assert shown[at + 1] == "      unhappi, 4 more"


def test_json_and_standard_input(vocab: Path) -> None:
    steps = json.loads(run(f"wordpiece:{vocab}", "-", "--json", text="unhappiness"))
    assert [bytes.fromhex(token) for token in steps[-1]["tokens"]] == [b"un", b"##happi", b"##ness"]
    assert steps[1]["detail"]["candidates"][-1] == "unh"


def test_the_lattice_shows_the_scores_of_what_was_weighed() -> None:
    step = Step(
        "lattice",
        (b" st",),
        0,
        "2 ways to arrive here",
        {
            "candidates": [
                {"piece": "t", "score": -3.6, "total": -8.5},
                {"piece": "\u2581st", "score": -6.0, "total": -6.0},
            ],
        },
    )
    line = "log p \u2581st \u22126.00, path \u22126.00 · t \u22123.60, path \u22128.50"
    assert line in svg_figure("unigram", "st", [step])
    assert line in html_page("unigram", "st", [step])


def test_figures_are_written_and_escape_the_text(vocab: Path, tmp_path: Path) -> None:
    page, figure = tmp_path / "t.html", tmp_path / "t.svg"
    said = run(f"wordpiece:{vocab}", "<b>unhappiness</b>", "--html", str(page), "--svg", str(figure))
    assert str(page) in said
    root = ElementTree.fromstring(figure.read_text(encoding="utf-8"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "##happi" in texts
    assert "&lt;b&gt;unhappiness&lt;/b&gt;" in page.read_text(encoding="utf-8")


def test_hostile_text_stays_text() -> None:
    steps = [
        Step("<i>", (HOSTILE.encode("utf-8", "surrogatepass"), b"\xe2\x82", b""), 0, HOSTILE, {"a": HOSTILE})
    ]
    figure = svg_figure(HOSTILE, HOSTILE, steps)
    ElementTree.fromstring(figure)
    assert "<script" not in figure
    page = html_page(HOSTILE, HOSTILE, steps)
    assert "<script" not in page
    assert "⟨E2 82⟩" in page
    page.encode("utf-8")
    assert "\N{REPLACEMENT CHARACTER}" in page


def test_long_sequences_wrap_in_the_figure() -> None:
    root = ElementTree.fromstring(svg_figure("t", "x", [Step("s", tuple(b"token" for _ in range(100)), 3)]))
    boxes = [box for box in root.iter("{http://www.w3.org/2000/svg}rect") if "x" in box.attrib]
    assert len(boxes) == 100
    assert max(float(box.attrib["x"]) + float(box.attrib["width"]) for box in boxes) <= float(
        root.attrib["width"]
    )
    assert len({box.attrib["y"] for box in boxes}) > 1
    assert len([box for box in boxes if "new" in box.attrib["class"]]) == 1


def test_labels_show_what_cannot_be_seen() -> None:
    assert [label(token) for token in (b" a\n", b"\xff", b"")] == ["·a↵", "⟨FF⟩", "∅"]


def test_what_cannot_be_traced_is_said() -> None:
    with pytest.raises(TokenizerError, match="does not show how it works; the families bpe, wordpiece and"):
        run("bytes", "x")


def test_what_ranks_do_not_say_is_in_the_spec_that_traces_them(test_data: Path) -> None:
    with pytest.raises(TokenizerError, match="other families open the same file: 'bpe:") as raised:
        run("tiktoken:o200k_base", "x")
    (spec,) = shlex.split(str(raised.value).partition("file: ")[2])
    assert spec.endswith(",pattern=o200k_base,special_tokens=<|endoftext|>=199999 <|endofprompt|>=200018")
    assert "1 token" in run(spec, "x")


def test_too_long_a_text_is_said(vocab: Path) -> None:
    with pytest.raises(TokenizerError, match="too long to trace"):
        run(f"wordpiece:{vocab}", "-", text="a " * 6000)


def test_a_page_is_no_folder_and_may_go_to_a_device(vocab: Path, tmp_path: Path) -> None:
    with pytest.raises(TokbenchError, match="it is a folder; name a file"):
        run(f"wordpiece:{vocab}", "unhappiness", "--html", str(tmp_path))
    if Path("/dev/null").is_char_device():
        assert "/dev/null" in run(f"wordpiece:{vocab}", "unhappiness", "--svg", "/dev/null")


def test_pieces_from_right_to_left_do_not_turn_round_what_is_said_of_them() -> None:
    """Unmarked, a browser draws the arrow of a merge the wrong way round, and a number before its piece."""
    steps = [Step("merge", ("\u05e9\u05dc".encode(),), 0, "merge \u05e9 + \u05dc \u2192 \u05e9\u05dc (rank 7)")]
    said = "merge \u2068\u05e9\u2069 + \u2068\u05dc\u2069 \u2192 \u2068\u05e9\u05dc\u2069 (rank 7)"
    assert said in html_page("demo", "\u05e9\u05dc", steps)
    assert said in svg_figure("demo", "\u05e9\u05dc", steps)
