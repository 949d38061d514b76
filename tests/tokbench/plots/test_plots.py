"""Every plot at the sizes that break plots: few and many languages and tokenizers, narrow and wide."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tokbench.errors import UnknownNameError
from tokbench.extension import Plot
from tokbench.plots import PLOTS, data, style
from tokbench.plots.differences import from_one
from tokbench.plots.files import FORMATS, known_format, save
from tokbench.plots.history import draw_history
from tokbench.plots.labels import LONG_TITLE, dataset_name, in_lines, run_labels
from tokbench.plots.losses import best_first, colors, fairest_first, losses
from tokbench.plots.speed import front_steps, pareto_front, speed_points

NAMES = [plot.name for plot in PLOTS]
EVERYDAY = [(3, 2, "page"), (3, 2, "column"), (30, 5, "column"), (30, 5, "slide"), (200, 15, "page")]
THOROUGH = [(n, m, size) for n in (3, 30, 200) for m in (2, 5, 15) for size in style.SIZES]


@pytest.fixture(scope="module")
def runs(made_up_run: Callable[..., Any]) -> Callable[[int, int], Any]:
    kept: dict[tuple[int, int], Any] = {}

    def run(languages: int, tokenizers: int) -> Any:
        key = (languages, tokenizers)
        if key not in kept:
            kept[key] = made_up_run(languages, tokenizers)
        return kept[key]

    return run


def test_curves_over_sizes_have_the_short_names_of_other_figures(made_up_run: Callable[..., Any]) -> None:
    of = "bpe:initial_alphabet=all,pattern={},vocab_size={}"
    specs = [of.format(pattern, size) for pattern in ("gpt2", "cl100k") for size in (1000, 2000)]
    [legend] = drawn("vocab_size", made_up_run(3, 4, specs=specs)).legends
    assert [text.get_text().rstrip(" †") for text in legend.get_texts()] == ["bpe all gpt2", "bpe all cl100k"]


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


def check(plot: Plot, run: Any, size: str) -> None:
    with style.house_style(size):
        figure = plot.draw(run)
        if figure is None:
            assert plot.needs
            return
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        for dpi in (200, 100):  # as `save` writes it, and on a screen
            figure.set_dpi(dpi)
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
            renderer = canvas.get_renderer()
            page = figure.bbox
            for text in texts(figure):
                box = text.get_window_extent(renderer)
                outside = max(page.x0 - box.x0, box.x1 - page.x1, page.y0 - box.y0, box.y1 - page.y1)
                assert outside <= 1.5, f"{text.get_text()!r} sticks out by {outside:.0f} pixels at {dpi} dpi"
        for axis in axes_of(figure):
            labels = [label for label in tick_labels(axis) if label.get_text()]
            boxes = [label.get_window_extent(renderer) for label in labels]
            for (one, first), (other, second) in combinations(zip(labels, boxes, strict=True), 2):
                assert not overlap(first, second), f"{one.get_text()!r} lies over {other.get_text()!r}"


def axes_of(figure: Any) -> Iterator[Any]:
    for axes in figure.axes:
        if axes.get_visible():
            yield from (axes.xaxis, axes.yaxis)


def tick_labels(axis: Any) -> list[Any]:
    """The labels that are drawn: those of ticks within the axis's limits."""
    ticks = axis._update_ticks()
    return [label for tick in ticks for label in (tick.label1, tick.label2) if label.get_visible()]


def texts(figure: Any) -> Iterator[Any]:
    from matplotlib.axis import Tick
    from matplotlib.text import Text

    ticks = {text for tick in figure.findobj(Tick) for text in (tick.label1, tick.label2)}
    drawn = {label for axis in axes_of(figure) for label in tick_labels(axis)}
    for text in figure.findobj(Text):
        shown = text.get_visible() and text.get_text().strip()
        if shown and (text not in ticks or text in drawn) and (text.axes is None or text.axes.get_visible()):
            yield text


def overlap(one: Any, other: Any) -> bool:
    """Whether two boxes share more than a sliver."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(
        width > 1 and height > 1 and min(width, height) > 0.25 * min(one.height, other.height, one.width)
    )


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


def test_a_format_or_size_there_is_not_is_answered_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="svg"):
        known_format("svgz")
    with pytest.raises(UnknownNameError, match="column"), style.house_style("colum"):
        pass


@pytest.mark.long
def test_no_plot_draws_a_character_its_font_lacks(made_up_run: Callable[..., Any]) -> None:
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


def test_a_name_is_in_its_script_where_a_font_has_it(made_up_run: Callable[..., Any]) -> None:
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


def drawn(plot: str, run: Any, size: str = "page") -> Any:
    with style.house_style(size):
        figure = next(each for each in PLOTS if each.name == plot).draw(run)
    assert figure is not None
    return figure


def test_premiums_are_drawn_with_their_intervals(made_up_run: Callable[..., Any]) -> None:
    from matplotlib.collections import PolyCollection

    run = made_up_run(30, 2)
    (axes,) = drawn("fairness", run).axes
    shades = [each for each in axes.collections if isinstance(each, PolyCollection)]
    known = data.intervals(run, "premium", data.main_dataset(run))
    for name, drawn_shades in zip(fairest_first(run, data.main_dataset(run)), shades, strict=True):
        spans = sorted(tuple(path.get_extents().intervalx) for path in drawn_shades.get_paths())
        assert all(one[1] < other[0] for one, other in pairwise(spans)), "one shade, and none over another"
        for low, high in (ends for (_, own), ends in known.items() if own == name):
            assert any(span[0] <= low <= high <= span[1] + 1e-9 for span in spans)
    run.frame = run.frame.copy()
    run.frame.loc[run.frame["metric"] == "premium", ["ci_low", "ci_high"]] = None
    (axes,) = drawn("fairness", run).axes
    assert sum(len(each.get_paths()) for each in axes.collections) == 0


@pytest.mark.parametrize("size", style.SIZES)
def test_rows_are_drawn_however_long_a_name_is(made_up_run: Callable[..., Any], size: str) -> None:
    run = made_up_run(5, 3, specs=["bytes", f"bpe:{'very/long' * 20}.json", "chars"])
    for plot in ("compression", "fairness", "differences"):
        labels = [label.get_text() for label in drawn(plot, run, size).axes[0].get_yticklabels()]
        assert all(len(label) < 60 for label in labels)


@pytest.mark.parametrize("plot", ["compression", "speed"])
def test_what_loses_most_of_a_text_does_not_set_the_scale(made_up_run: Callable[..., Any], plot: str) -> None:
    run = made_up_run(5, 4)
    frame = run.frame
    lossy = (frame["tokenizer"] == "wordpiece:vocab_size=8000") & (frame["metric"] == "compression_ratio")
    frame.loc[lossy, ["value", "ci_low", "ci_high"]] *= 10
    far = frame.loc[lossy & (frame["language"] == "all"), "value"].iloc[0]
    figure = drawn(plot, run)
    axes = figure.axes[0]
    end = axes.get_xlim()[1] if plot == "compression" else axes.get_ylim()[1]
    assert end < far / 2
    assert any(f"{far:.1f}" in text.get_text() for text in axes.texts)


def test_the_caption_explains_arrows_where_there_are_some(made_up_run: Callable[..., Any]) -> None:
    assert "Arrow" not in drawn("compression", made_up_run(5, 4))._supxlabel.get_text()
    run = made_up_run(5, 4)
    frame = run.frame
    lossy = (frame["tokenizer"] == "wordpiece:vocab_size=8000") & (frame["metric"] == "compression_ratio")
    frame.loc[lossy, ["value", "ci_low", "ci_high"]] *= 10
    assert "Arrow: beyond the axis." in drawn("compression", run)._supxlabel.get_text().replace("\n", " ")


@pytest.mark.parametrize("name", ["compression", "fairness", "speed", "premium_by_language"])
def test_a_caption_explains_the_marks_of_names_where_there_are_some(
    made_up_run: Callable[..., Any], name: str
) -> None:
    def said(tokenizers: int) -> str:
        return str(drawn(name, made_up_run(5, tokenizers)).get_label())

    assert "† loses text: its figures are comparable with no others." in said(4)
    assert "†" not in said(2)
    assert "Hollow" not in said(2)


def test_a_scale_that_figures_lie_beyond_ends_in_arrows(made_up_run: Callable[..., Any]) -> None:
    def ends(run: Any) -> str:
        (image,) = [image for axes in drawn("tokens_per_line", run).axes for image in axes.images]
        return str(image.colorbar.extend)

    run = made_up_run(2, 1)
    rows = (run.frame["metric"] == "tokens_per_line") & (run.frame["language"] != "all")
    run.frame.loc[rows, "value"] = 3.0
    assert ends(run) == "neither"
    assert ends(made_up_run(30, 4)) == "both"


def test_the_caption_of_speeds_speaks_of_what_is_drawn(made_up_run: Callable[..., Any]) -> None:
    def said(run: Any) -> str:
        return str(drawn("speed", run).get_label())

    run = made_up_run(3, 4)
    assert "Steps:" in said(run)
    assert "Hollow:" in said(run)
    alone = made_up_run(3, 2)
    best = best_first(alone, "compression_ratio", "bundled:parallel")[0]
    alone.frame = alone.frame.copy()
    fastest = (alone.frame["metric"] == "encode_speed") & (alone.frame["tokenizer"] == best)
    alone.frame.loc[fastest, "value"] = 1000.0
    assert "Steps:" not in said(alone)
    assert "Hollow:" not in said(alone)


def test_intervals_of_speed_and_compression_are_drawn(made_up_run: Callable[..., Any]) -> None:
    run = made_up_run(3, 2)
    timed = run.frame["metric"] == "encode_speed"
    run.frame.loc[timed, "ci_low"] = run.frame.loc[timed, "value"] * 0.5
    run.frame.loc[timed, "ci_high"] = run.frame.loc[timed, "value"] * 2
    points = speed_points(run)

    def across() -> list[tuple[float, float]]:
        (axes,) = drawn("speed", run).axes
        lines = [line.get_xydata() for line in axes.lines if len(line.get_xdata()) == 2]
        return [(start[0], stop[0]) for start, stop in lines if start[1] == stop[1]]

    assert sorted(across()) == sorted((x / 2, x * 2) for x, _ in points.values())
    run.frame = run.frame.copy()
    run.frame.loc[timed, ["ci_low", "ci_high"]] = None
    assert across() == []


def test_names_keep_off_the_steps(made_up_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.transforms import Bbox

    specs = [f"bpe:{name}.json" for name in ("o200k_base", "cl100k_base", "gpt2", "first_of_others", "second")]
    points = dict(zip(specs, ((8, 4.4), (11, 2.1), (13, 1.4), (7.6, 3.9), (8, 2.1)), strict=True))
    monkeypatch.setattr("tokbench.plots.speed.speed_points", lambda run: dict(points))
    monkeypatch.setattr("tokbench.plots.speed.speed_bars", lambda run, points: [])
    figure = drawn("speed", made_up_run(3, 5, specs=specs))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (axes,) = figure.axes
    steps = [
        Bbox.from_extents(*axes.transData.transform([min(step), max(step)]).ravel()).padded(0.5)
        for step in front_steps([points[name] for name in pareto_front(points)])
    ]
    assert len(steps) == 4
    for note in axes.texts:
        if note.get_text():
            box = note.get_window_extent(canvas.get_renderer())
            assert not any(box.overlaps(step) for step in steps), note.get_text()


def test_differences_are_from_the_baseline_where_the_run_compared_with_one(
    made_up_run: Callable[..., Any],
) -> None:
    run = made_up_run(3, 5)
    best, found = from_one(run)
    assert best == best_first(run, "compression_ratio", "bundled:parallel")[0]
    assert len(found) == 3  # one of the five loses text
    baseline = next(name for name in found)
    pairs = run.comparisons
    run.comparisons = pairs[(pairs["tokenizer"] == baseline) | (pairs["baseline"] == baseline)]
    one, others = from_one(run)
    assert (one, len(others)) == (baseline, 3)
    assert others[best][0] == pytest.approx(-found[baseline][0])


def test_a_difference_that_was_not_tested_is_not_called_chance(made_up_run: Callable[..., Any]) -> None:
    def said(run: Any) -> str:
        return str(drawn("differences", run).get_label())

    run = made_up_run(3, 5)
    assert "hollow" not in said(run)
    run.comparisons = run.comparisons.assign(p_adjusted=0.3)
    assert "hollow: may be chance (p ≥ 0.05" in said(run)
    assert "not tested" not in said(run)
    run.comparisons = run.comparisons.assign(p_adjusted=float("nan"), ci_low=float("nan"), ci_high=float("nan"))
    assert "; hollow: not tested, for too few documents or without resamples." in said(run)
    assert "bar:" not in said(run)
    assert "chance" not in said(run)


def test_one_language_is_no_heat_map(made_up_run: Callable[..., Any]) -> None:
    plot = next(each for each in PLOTS if each.name == "compression_by_language")
    assert plot.draw(made_up_run(1, 3)) is None
    assert plot.draw(made_up_run(2, 3)) is not None


def test_figures_of_a_heat_map_are_five_characters_at_the_most_below_a_thousand() -> None:
    from tokbench.plots.heatmap import _write

    _, axes = style.figure(2)
    _write(axes, pd.DataFrame([[1.0, 43.656, 106.12, 99.996]]), lambda value: 0.0, 8)
    assert [text.get_text() for text in axes.texts] == ["1.00", "43.66", "106.1", "100.0"]


def test_the_page_shades_and_colours_as_the_plots_do() -> None:
    from tokbench.reports.html.assemble import asset

    css = asset("base.css")
    for number, shade in enumerate(style.SHADES):
        assert f"--h{number}: light-dark({shade}," in css
    for number, hue in enumerate(style.SERIES[1:], start=1):
        assert f"--series-{number}: light-dark({hue}," in css
    assert f"--accent: light-dark({style.SERIES[0]}," in css


UNBROKEN = dataset_name("parallel:pud,files=" + "+".join(["wikipedia_articles"] * 12))
"""As long a label as a dataset has, most of it without a blank."""


@pytest.mark.parametrize("label", ["a long name of much text, odd lines", UNBROKEN])
def test_names_of_datasets_above_panels_keep_apart(
    made_up_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, label: str
) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    monkeypatch.setattr("tokbench.plots.compression.dataset_label", lambda run, spec: label)
    for outlines in (True, False):
        with style.house_style("page", outlines=outlines):
            figure = next(plot for plot in PLOTS if plot.name == "compression").draw(made_up_run(3, 6))
            assert figure is not None
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
            titles = [axes._left_title.get_window_extent(canvas.get_renderer()) for axes in figure.axes]
        assert len(titles) > 1
        assert all(one.x1 < other.x0 for one, other in pairwise(titles))


@pytest.mark.long
@pytest.mark.parametrize("size", ["page", "column", "slide"])
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("compression", "compression"),
        ("speed", "speed"),
        ("fairness", "fairness"),
        ("differences", "differences"),
        ("heatmap", "compression_by_language"),
    ],
)
def test_a_long_name_of_a_dataset_is_not_clipped(
    made_up_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, module: str, name: str, size: str
) -> None:
    monkeypatch.setattr(f"tokbench.plots.{module}.dataset_label", lambda run, spec: UNBROKEN)
    check(next(plot for plot in PLOTS if plot.name == name), made_up_run(3, 6), size)


def test_a_word_wider_than_a_line_is_broken_behind_a_sign() -> None:
    assert len(UNBROKEN) == LONG_TITLE
    with style.house_style("page"):
        assert style.wrapped("a b", 500, 8) == "a b"
        lines = style.wrapped(f"of {UNBROKEN}", 200, 8).split("\n")
        assert all(style.text_width(line, 8) <= 200 for line in lines)
        assert lines[1].endswith(("=", "+", "_"))
        cut = in_lines(UNBROKEN, 200, 8, 2)
    assert cut.count("\n") == 1
    assert cut.endswith("…")


def test_the_farthest_point_is_drawn_whole(made_up_run: Callable[..., Any]) -> None:
    run = made_up_run(1, 1)
    (dot,) = [line for line in drawn("compression", run).axes[0].lines if line.get_marker() == "o"]
    assert dot.axes.get_xlim()[1] > 1.02 * dot.get_xdata()[0]


def test_a_tokenizer_has_the_colour_that_its_suite_gives(made_up_run: Callable[..., Any]) -> None:
    run = made_up_run(3, 3)
    run.manifest["tokenizers"] = [{**entry, "color": "#123456"} for entry in run.manifest["tokenizers"]]
    lossless = set(run.tokenizers) - set(losses(run))
    assert set(colors(run)) == lossless
    for plot in PLOTS:
        if plot.name in ("compression", "fairness", "speed"):
            with style.house_style("page"):
                figure = plot.draw(run)
            assert figure is not None
            hues = [line.get_color() for axes in figure.axes for line in axes.lines if line.get_marker() == "o"]
            assert hues.count("#123456") >= len(lossless)


def test_a_metric_is_drawn_over_runs(made_up_run: Callable[..., Any]) -> None:
    runs = [made_up_run(3, 3) for _ in range(3)]
    for number, run in enumerate(runs):
        run.path = Path(f"run {number}")
        run.frame.loc[run.frame["metric"] == "compression_ratio", "value"] *= 1 + number / 10
    runs[1].frame = runs[1].frame[runs[1].frame["tokenizer"] != "bytes"]
    with style.house_style("page"):
        figure = draw_history(runs, "compression_ratio")
        assert figure is not None
        figure.draw_without_rendering()
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert set(lines) == set(run_labels(runs[0]).values())
    for spec, label in run_labels(runs[0]).items():
        expected = [
            float(data.overall(run, "compression_ratio").set_index("tokenizer").loc[[spec], "value"].iloc[0])
            for run in runs
            if spec != "bytes" or run is not runs[1]
        ]
        assert list(lines[label].get_ydata()) == expected
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["run 0", "run 1", "run 2"]
    with style.house_style("page"):
        assert draw_history(runs[:1], "compression_ratio") is None


def test_the_caption_of_a_history_says_at_what_level_its_bands_are(made_up_run: Callable[..., Any]) -> None:
    runs = [made_up_run(2, 3) for _ in range(2)]
    for number, run in enumerate(runs):
        run.path, run.level = Path(f"run {number}"), ["99 %", "80 %"][number]

    def said(metric: str) -> str:
        with style.house_style("page"):
            figure = draw_history(runs, metric, "bundled:parallel")
        assert figure is not None
        return str(figure.get_label()).partition(". ")[0]

    assert said("compression_ratio").endswith("; band: 99 % and 80 % interval")
    assert said("encode_speed").endswith("; band: 95 % interval"), "whatever was asked for"
    assert said("vocab_utilization") == "vocab_utilization over bundled parallel", "no interval, no band"
