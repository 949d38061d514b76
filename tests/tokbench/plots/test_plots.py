"""Every plot at the sizes that break plots: few and many languages and tokenizers, narrow and wide."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.text import Text

from tests.tokbench.plots.drawing import check, drawn
from tokbench.errors import UnknownNameError
from tokbench.extension import Plot
from tokbench.plots import PLOTS, style
from tokbench.plots.files import FORMATS, known_format, print_svg, save, write_plots
from tokbench.plots.labels import printable, run_labels

NAMES = [plot.name for plot in PLOTS]


EVERYDAY = [(3, 2, "page"), (3, 2, "column"), (30, 5, "column"), (30, 5, "slide"), (200, 15, "page")]


THOROUGH = [(n, m, size) for n in (3, 30, 200) for m in (2, 5, 15) for size in style.SIZES]


@pytest.fixture(scope="module")
def runs(made_up_run) -> Callable[[int, int], Any]:
    kept: dict[tuple[int, int], Any] = {}

    def run(languages: int, tokenizers: int) -> Any:
        key = (languages, tokenizers)
        if key not in kept:
            kept[key] = made_up_run(languages, tokenizers)
        return kept[key]

    return run


@pytest.mark.long
@pytest.mark.parametrize("plot", PLOTS, ids=NAMES)
@pytest.mark.parametrize(("languages", "tokenizers", "size"), EVERYDAY)
def test_nothing_is_clipped_or_overlaps(
    runs: Callable[[int, int], Any], plot: Plot, languages: int, tokenizers: int, size: str
) -> None:
    check(plot, runs(languages, tokenizers), size)


@pytest.mark.slow
@pytest.mark.parametrize("plot", PLOTS, ids=NAMES)
@pytest.mark.parametrize(
    ("languages", "tokenizers", "size"), [each for each in THOROUGH if each not in EVERYDAY]
)
def test_nothing_is_clipped_or_overlaps_at_any_size(
    runs: Callable[[int, int], Any], plot: Plot, languages: int, tokenizers: int, size: str
) -> None:
    check(plot, runs(languages, tokenizers), size)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_figure_is_the_same_file_twice(runs: Callable[[int, int], Any], tmp_path: Path, kind: str) -> None:
    written = []
    for name in ("one", "two"):
        with style.house_style("column"):
            figure = PLOTS[0].draw(runs(3, 2))
            assert figure is not None
            save(figure, tmp_path / f"{name}.{kind}")
        written.append((tmp_path / f"{name}.{kind}").read_bytes())
    assert written[0] == written[1]
    assert len(written[0]) > 1000


def test_a_figure_is_the_same_file_whichever_others_are_asked_for(made_up_run: Any, tmp_path: Path) -> None:
    run, plots = made_up_run(6, 5), [plot for plot in PLOTS if plot.name == "chars_per_token"]
    for name, formats in (("alone", ["svg"]), ("after", ["png", "svg"])):
        write_plots(run, plots, tmp_path / name, formats=formats)
    alone, after = ((tmp_path / name / "chars_per_token.svg").read_bytes() for name in ("alone", "after"))
    assert alone == after


def test_a_format_or_size_there_is_not_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="svg"):
        known_format("svgz")
    with pytest.raises(UnknownNameError, match="column"), style.house_style("colum"):
        pass


@pytest.mark.long
def test_no_plot_draws_a_character_its_font_lacks(made_up_run) -> None:
    """Warnings are errors here: matplotlib warns of every glyph it has to draw as an empty box."""
    run = made_up_run(3, 2, specs=["bpe:分かち書き.json", "tiktoken:$x^2$_&", "bytes", "chars"])
    drawn = 0
    for plot in PLOTS:
        with style.house_style("page"), io.BytesIO() as sink:
            figure = plot.draw(run)
            if figure is not None:
                figure.savefig(sink, format="png")
                drawn += 1
    assert drawn > len(PLOTS) / 2


def test_a_name_is_in_its_script_where_a_font_has_it(made_up_run) -> None:
    run = made_up_run(3, 3, specs=["bpe:ქართული.json", "bpe:分かち書き.json", "bpe:עברית.json"])
    assert [*run_labels(run).values()] == ["bpe ქართული", "bpe 分かち書き", "bpe עברית"]
    with style.house_style("page", outlines=False):
        assert "bpe 分かち書き" in run_labels(run).values()
    figure = drawn("compression", run)
    labels = {label.get_text() for label in figure.axes[0].get_yticklabels()}
    note = figure._supxlabel.get_text().replace("\n", " ")
    assert "bpe ქართული" in labels  # DejaVu has it, which comes with matplotlib
    assert "bpe עברית" not in labels
    assert re.search(r"No font here draws .*Hebrew", note)
    assert ("bpe 分かち書き" in labels) != ("Hiragana" in note)


def test_what_no_font_draws_is_named_by_its_script(made_up_run) -> None:
    note = drawn("compression", made_up_run(3, 1, specs=["bpe:𓀀🫠.json"]))._supxlabel.get_text()
    assert "No font here draws Egyptian Hieroglyphs, symbols:" in note.replace("\n", " ")


def test_a_caption_names_no_script_that_the_figure_does_not_show(made_up_run) -> None:
    run = made_up_run(3, 2, specs=["bpe:𓀀.json", "bytes"])
    for plot in PLOTS:
        with style.house_style("page"):
            printable("𐘀")  # of a name that is looked up, and not drawn
            figure = plot.draw(run)
        note = figure and figure.get_label() and figure._supxlabel.get_text()
        if note:
            texts = [text.get_text() for text in figure.findobj(Text) if text is not figure._supxlabel]
            assert "Linear" not in note, plot.name
            assert ("Egyptian" in note) == (r"\U00013000" in " ".join(texts)), plot.name


def test_marks_over_letters_that_no_font_draws_are_escaped_with_them() -> None:
    with style.house_style("page"):
        assert printable("מְתר") == r"\u05de\u05b0\u05ea\u05e8"
        assert printable("e\u0301") == "e\u0301"


def test_a_page_draws_letters_of_its_own_without_a_warning(made_up_run) -> None:
    run = made_up_run(3, 2, specs=["bpe:分かち書き.json", "bytes"])
    with style.house_style("page", outlines=False), io.StringIO() as sink:
        figure = next(plot for plot in PLOTS if plot.name == "compression").draw(run)
        assert figure is not None
        print_svg(figure, sink)
        assert "分かち書き" in sink.getvalue()
