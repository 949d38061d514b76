"""The page as a file: complete in itself, closed to the outside, everything escaped, not too large."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from tokbench.extension import Plot
from tokbench.plots import style
from tokbench.reports.html import passages
from tokbench.reports.html.assemble import environment
from tokbench.reports.html.details import provenance
from tokbench.reports.html.drawing import draw
from tokbench.reports.html.formula import UnknownFormula, mathml
from tokbench.reports.html.page import render
from tokbench.reports.html.svg import SheetOfFigures
from tokbench.reports.markdown import document
from tokbench.spec import Spec

HOSTILE = str(Spec("bpe", "<script>alert(1)</script>{{7*7}}\u202e\"'&,.json"))
VOID = {"meta", "link", "input", "br", "img", "hr", "wbr"}


class Outline(HTMLParser):
    """Collects ids, links and open elements; fails on elements closed in the wrong order."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.inline_styles = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.stack.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href", "action", "data"):
                self.addresses.append(value or "")
            self.inline_styles += name == "style"
            assert not name.startswith("on"), f"an inline handler: {name}"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.stack, f"</{tag}> closes nothing"
        assert self.stack.pop() == tag, f"</{tag}> closes another element"


@pytest.fixture(scope="module")
def page(made_up_run) -> str:
    run = made_up_run(6, 5, specs=["bytes", HOSTILE, "unigram:vocab_size=8000", "wordpiece:x", "chars"])
    run.samples = [sample(HOSTILE), sample("bytes")]
    return render(run)


def test_the_provenance_has_no_nothing_and_no_figure_of_a_table(made_up_run) -> None:
    run = made_up_run(2, 2)
    run.manifest |= {"baseline": None, "seconds": 0, "revision": "abc"}
    run.manifest["speed"] = {"forms": ["batch"], "summary": ["told in the tables"]}
    told = provenance(run)
    assert '"forms"' in told
    assert "told in the tables" not in told
    assert "<dt>baseline</dt>" not in told
    assert "<dt>seconds</dt><dd>0</dd>" in told
    assert "<dt>revision</dt><dd>abc</dd>" in told


def test_a_caption_says_what_the_figure_of_its_width_shows(page: str) -> None:
    """On a screen there are two panels, on a phone one, of the first dataset."""
    caption = page.partition("<b>Compression by tokenizer.</b>")[2].partition("</figcaption>")[0]
    wide, narrow = re.findall(r'<span class="(?:wide|narrow)">([^<]*)</span>', caption)
    assert narrow == f"The first of 2 datasets. {wide}"


def test_beside_one_that_loses_text_the_other_has_not_its_colour(page: str) -> None:
    pairs = page.partition('data-table="differences-')[2].partition("</table>")[0]
    heads = re.findall(r'<tr[^>]* class="lossy">\s*<th([^>]*)>([^<]*)</th>', pairs)
    assert {"†" in label for _, label in heads} == {True, False}
    assert all(('class="sound"' in attributes) != ("†" in label) for attributes, label in heads)


@pytest.mark.usefixtures("no_figures")
def test_the_page_is_called_as_the_suite_and_opens_on_its_baseline(made_up_run) -> None:
    run = made_up_run(3, 3, specs=["bytes", "chars", "words"])
    assert "<title>r1 · tokbench</title>" in render(run)
    run.manifest |= {"suite": {**run.manifest["suite"], "title": "Letters & words"}, "baseline": "chars"}
    page = render(run)
    assert "<title>Letters &amp; words · tokbench</title>" in page
    assert '<p class="lead"><bdi>Letters &amp; words</bdi>: 3 tokenizers, ' in page
    assert document(run).startswith("# tokbench report: Letters \\& words\n")
    assert re.findall(r'<option value="([^"]*)" selected>', page) == ["chars"]


@pytest.mark.usefixtures("no_figures")
def test_names_from_right_to_left_do_not_reorder_a_sentence(made_up_run) -> None:
    """Of two in a list each is isolated, of a name with several words all together."""
    run = made_up_run(3, 3, specs=["bpe:מודל_א", "chars", "bpe:نموذج"])
    page = render(run)
    assert "bpe <bdi>מודל_א</bdi>" in page.partition("</h1>")[0].partition("<h1")[2]
    sentences = " ".join(found for _, found in re.findall(r"<(p|li|h1)\b[^>]*>(.*?)</\1>", page, re.DOTALL))
    assert sentences.count("<bdi>") > 4
    assert not re.search("[א-ي]", re.sub("<bdi>.*?</bdi>", "", sentences))
    isolated = environment().filters["isolated"]
    assert isolated("<א ב>, שָׁ: 3.2") == "&lt;<bdi>א ב</bdi>&gt;, <bdi>שָׁ</bdi>: 3.2"


def sample(name: str) -> dict[str, Any]:
    pieces = [
        {"id": 1, "bytes": "3c7363726970743e", "text": "<script>", "group": 0, "kind": "token"},
        {"id": 2, "bytes": "e4b8", "text": "中", "group": 1, "kind": "token"},
        {"id": 3, "bytes": "ad", "text": "中", "group": 1, "kind": "token"},
    ]
    views = [{"tokenizer": name, "pieces": pieces, "n_tokens": 3}]
    return {"title": "hard {{7*7}}", "dataset": "d", "language": "zho", "text": "x", "tokenizations": views}


def test_it_is_well_formed_and_asks_nothing_of_the_network(page: str) -> None:
    outline = Outline()
    outline.feed(page)
    assert outline.stack == []
    assert len(outline.ids) == len(set(outline.ids))
    assert all(address.startswith(("#", "data:")) for address in outline.addresses)
    assert outline.inline_styles == 0
    assert "@import" not in page
    assert "url(http" not in page


def test_every_link_within_it_leads_somewhere(page: str) -> None:
    outline = Outline()
    outline.feed(page)
    targets = {address[1:] for address in outline.addresses if address.startswith("#")}
    assert targets <= set(outline.ids)
    assert len(targets) > 8


def test_its_policy_names_its_own_style_and_script_and_nothing_else(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    given = policy[1].replace("&#39;", "'")
    assert given.startswith("default-src 'none';")
    assert "unsafe" not in given
    for tag in ("style", "script"):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in given


def test_text_of_a_run_is_text(page: str) -> None:
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "alert(1)</script>49" not in page
    assert "{{7*7}}" in page


def test_a_character_of_several_tokens_stands_whole(page: str) -> None:
    both = r'<span>[^<]*</span><span class="many" data-b="e4b8 ad">中</span>'
    assert re.search(rf'data-i="1 2\+3"[^>]*>{both}', page)


def test_tokenizers_that_take_a_passage_apart_alike_are_shown_together(page: str) -> None:
    assert page.count("&lt;script&gt;</span><span") == 2  # in two passages, each of one tokenizer
    views = sample("bytes")["tokenizations"] + sample("chars")["tokenizations"]
    shown = list(passages._alike({"tokenizations": views}))
    assert [names for names, _ in shown] == [["bytes", "chars"]]
    views[1]["pieces"] = views[1]["pieces"][:1]
    assert len(list(passages._alike({"tokenizations": views}))) == 2


def test_what_many_panels_draw_alike_is_there_once() -> None:
    places = list(range(30))
    squares = [x * x for x in places]
    figure = Figure(figsize=(4, 4))
    with style.house_style("page", outlines=False):
        for axes in figure.subplots(2, 2).flat:
            axes.fill_between(places, squares, [2 * y for y in squares], color=style.FAINT, alpha=0.5, lw=0)
            (curve,) = axes.plot(places, places)
            style.tell(curve, "bytes", "", [(f"place {x}", f"{x} tokens") for x in places])
        style.tell(curve, "chars", "", [("place 0", "1 token"), ("place 1", "2 tokens")])
        svg = SheetOfFigures().add(figure, name="many", title="Many")
    ElementTree.fromstring(svg)
    ranges = re.findall(r'<path id="([^"]+)" d="M0 0L[^"]{300,}"', svg)
    assert [svg.count(f'<use href="#{name}"') for name in ranges] == [4]
    assert svg.count("place 7&#10;") == 1
    assert (
        len(re.findall(r'data-v="0&#10;1&#10;[^"]*" data-u="tokens"|data-u="tokens" data-v="0&#10;1', svg)) == 3
    )
    assert 'data-v="1 token&#10;2 tokens"' in svg


@pytest.mark.parametrize(("tokenizers", "sizes"), [(24, 2), (25, 1)])
def test_figures_of_many_tokenizers_are_drawn_for_screens_alone(tokenizers: int, sizes: int) -> None:
    plot = Plot(name="own", title="Own", summary="Mine.", draw=lambda run: Figure())
    run: Any = SimpleNamespace(tokenizers=["bytes"] * tokenizers)
    figure = draw(run, plot, SheetOfFigures())
    assert [bool(figure.wide), bool(figure.narrow)].count(True) == sizes


@pytest.mark.long
def test_a_report_does_not_tell_where_files_lie(made_up_run) -> None:
    run = made_up_run(2, 1)
    run.manifest["tokenizers"][0]["files"] = [{"path": "/home/someone/secret/vocab.json", "sha256": "0" * 64}]
    text = render(run)
    assert "vocab.json" in text
    assert "someone" not in text


def test_formulas_outside_the_subset_are_left_alone() -> None:
    with pytest.raises(UnknownFormula):
        mathml(r"\href{javascript:alert(1)}{x}")
    with pytest.raises(UnknownFormula):
        mathml(r"\frac{a}{b")


def test_every_formula_of_the_catalogue_can_be_set() -> None:
    from tokbench.metrics.catalogue import CATALOGUE

    parts = {"msub": 2, "msup": 2, "mfrac": 2, "mover": 2, "msubsup": 3}
    for metric in CATALOGUE:
        if metric.formula:
            for element in ElementTree.fromstring(mathml(metric.formula)).iter():
                assert len(element) == parts.get(element.tag, len(element)), metric.name


def test_a_function_keeps_its_subscript_and_stands_off_from_its_neighbours() -> None:
    space = '<mspace width="0.17em"></mspace>'
    logarithm = f"<msub><mi>log</mi><mn>2</mn></msub>{space}<mi>V</mi>"
    assert str(mathml(r"\log_2 V")) == f'<math displaystyle="true"><mrow>{logarithm}</mrow></math>'
    assert f"<mi>p</mi>{space}{logarithm}" in mathml(r"p \log_2 V")
    assert f"</mo>{logarithm}" in mathml(r"-\log_2 V")


def test_an_empty_run_still_gives_a_page(made_up_run) -> None:
    run = made_up_run(2, 1)
    run.frame = run.frame.iloc[:0]
    assert "Nothing was measured.</h1>" in render(run)


LARGE = """
import sys, time
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from conftest import build
from tokbench.reports.html.page import write
from tokbench.workers.memory import peak_memory

run, begun = build(200, 10), time.process_time()
write(run, Path(sys.argv[2]))
print(time.process_time() - begun, peak_memory())
"""


@pytest.mark.slow
def test_a_large_run_builds_in_time_and_memory(tmp_path: Path) -> None:
    """In a process of its own: the peak of this one is that of all tests before."""
    here, report = str(Path(__file__).parents[1]), str(tmp_path / "report.html")
    done = subprocess.run(
        [sys.executable, "-c", LARGE, here, report], capture_output=True, text=True, check=True
    )
    seconds, peak = map(float, done.stdout.split())
    assert seconds < 20
    assert peak < 1_000_000_000
    assert Path(report).stat().st_size < 4_000_000


@pytest.mark.usefixtures("no_figures")
def test_no_line_breaks_within_the_code_of_a_language(made_up_run) -> None:
    """On a phone one read rus_ in one line, Cyrl Russian in the next."""
    cells = re.findall(r"<td[^>]*>(eng_.*?)</td>", render(made_up_run(3, 3)))
    assert set(cells) == {"eng_Latn English"}


@pytest.mark.usefixtures("no_figures")
def test_no_line_breaks_between_a_name_and_its_mark(made_up_run) -> None:
    run = made_up_run(3, 3)
    spec = run.tokenizers[0]
    run.frame.loc[(run.frame["tokenizer"] == spec) & (run.frame["metric"] == "round_trip"), "value"] = 0.5
    page = re.sub(r"<(svg|script|style|select|p class=\"note\").*?</\1>", "", render(run), flags=re.S)
    texts = [text for text in re.findall(r">([^<>]*†[^<>]*)<", page) if not text.startswith("† ")]
    assert len(texts) > 3
    assert [text for text in texts if " †" in text and "† loses" not in text] == []
    assert environment().filters["kept"]("a ¶, 95 % of it") == "a\u00a0¶, 95\u00a0% of it"
