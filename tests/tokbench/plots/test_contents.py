"""What plots show of a run: intervals, colours, scales, captions; nothing where there is nothing to draw."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.tokbench.plots.drawing import drawn
from tokbench.plots import PLOTS, data, style
from tokbench.plots.differences import from_one
from tokbench.plots.history import draw_history
from tokbench.plots.labels import run_labels
from tokbench.plots.losses import best_first, colors, fairest_first, losses
from tokbench.plots.speed import speed_points


def test_curves_over_sizes_have_the_short_names_of_other_figures(made_up_run) -> None:
    of = "bpe:initial_alphabet=all,pattern={},vocab_size={}"
    specs = [of.format(pattern, size) for pattern in ("gpt2", "cl100k") for size in (1000, 2000)]
    [legend] = drawn("vocab_size", made_up_run(3, 4, specs=specs)).legends
    assert [text.get_text().rstrip(" †") for text in legend.get_texts()] == ["bpe all gpt2", "bpe all cl100k"]


def test_premiums_are_drawn_with_their_intervals(made_up_run) -> None:
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


def test_no_line_runs_through_the_names_of_the_most_expensive(made_up_run) -> None:
    from matplotlib.colors import to_hex

    (axes,) = drawn("fairness", made_up_run(30, 4)).axes
    boxes = [text.get_bbox_patch() for text in axes.texts]
    assert [to_hex(box.get_facecolor()) for box in boxes] == [style.PAPER] * 4


@pytest.mark.parametrize("plot", ["compression", "speed"])
def test_a_caption_tells_of_intervals_where_there_are_any(made_up_run, plot: str) -> None:
    run = made_up_run(3, 4)
    assert "interval" in drawn(plot, run).get_label()
    run.frame = run.frame.assign(ci_low=None, ci_high=None)
    assert "interval" not in drawn(plot, run).get_label()


@pytest.mark.parametrize("plot", ["compression", "fairness", "speed"])
def test_a_caption_names_the_tokenizers_that_were_not_measured(made_up_run, plot: str) -> None:
    run = made_up_run(3, 4, specs=["bytes", "chars", "words", "maxmatch:vocab_size=8000"])
    assert "Not measured" not in drawn(plot, run).get_label()
    run.frame = run.frame.assign(value=run.frame["value"].where(run.frame["tokenizer"] != "chars"))
    assert " Not measured: chars." in drawn(plot, run).get_label()


@pytest.mark.parametrize("plot", ["compression", "fairness", "speed"])
def test_a_caption_says_of_those_left_out_that_they_lose_text(made_up_run, plot: str) -> None:
    run = made_up_run(3, 4)
    lossy_ones = [*losses(run)]
    assert "Hollow: " in drawn(plot, run).get_label()
    run.manifest["suite"]["exclude_lossy"] = True
    ranked = run.frame["tokenizer"].isin(lossy_ones) & ~run.frame["metric"].isin(["round_trip", "unk_rate"])
    run.frame = run.frame.assign(value=run.frame["value"].mask(ranked))
    said = drawn(plot, run).get_label()
    assert f"Left out, because decoding changes the text: {run_labels(run)[lossy_ones[0]]}" in said
    assert "Not measured" not in said
    assert "Hollow" not in said
    assert "† loses text" in said  # names in the caption have marks


def test_sentences_of_a_caption_stand_one_blank_apart(made_up_run) -> None:
    run = made_up_run(3, 3, specs=["bytes", "chars", "bpe:עברית.json"])
    run.frame = run.frame[run.frame["metric"] != "round_trip"]
    for plot in PLOTS:
        with style.house_style("page"):
            figure = plot.draw(run)
        if figure is not None and figure._supxlabel is not None:
            assert "  " not in figure._supxlabel.get_text(), plot.name


@pytest.mark.parametrize("plot", ["compression", "speed"])
def test_what_loses_most_of_a_text_does_not_set_the_scale(made_up_run, plot: str) -> None:
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


def test_the_caption_says_where_datasets_are_left_out(made_up_run) -> None:
    run = made_up_run(3, 2)
    assert "datasets" not in drawn("compression", run)._supxlabel.get_text()
    assert "The first of 2 datasets." in drawn("compression", run, "column")._supxlabel.get_text()


def test_the_caption_explains_arrows_where_there_are_some(made_up_run) -> None:
    assert "Arrow" not in drawn("compression", made_up_run(5, 4))._supxlabel.get_text()
    run = made_up_run(5, 4)
    frame = run.frame
    lossy = (frame["tokenizer"] == "wordpiece:vocab_size=8000") & (frame["metric"] == "compression_ratio")
    frame.loc[lossy, ["value", "ci_low", "ci_high"]] *= 10
    assert "Arrow: beyond the axis." in drawn("compression", run)._supxlabel.get_text().replace("\n", " ")


def test_intervals_of_speed_and_compression_are_drawn(made_up_run) -> None:
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


def test_differences_are_from_the_baseline_where_the_run_compared_with_one(made_up_run) -> None:
    run = made_up_run(3, 5)
    best, found = from_one(run)
    assert best == best_first(run, "compression_ratio", "bundled:parallel")[0]
    assert len(found) == 3  # one of the five loses text
    baseline = next(name for name in found)
    run.manifest["baseline"] = baseline
    one, others = from_one(run)
    assert (one, len(others)) == (baseline, 3)
    assert others[best][0] == pytest.approx(-found[baseline][0])
    pairs = run.comparisons
    two = [best, baseline]
    run.comparisons = pairs[pairs["tokenizer"].isin(two) & pairs["baseline"].isin(two)]
    assert (one, list(from_one(run)[1])) == (baseline, [best])  # also when only one other can be compared


def test_one_language_is_no_heat_map(made_up_run) -> None:
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


def test_the_farthest_point_is_drawn_whole(made_up_run) -> None:
    run = made_up_run(1, 1)
    (dot,) = [line for line in drawn("compression", run).axes[0].lines if line.get_marker() == "o"]
    assert dot.axes.get_xlim()[1] > 1.02 * dot.get_xdata()[0]


def test_a_tokenizer_has_the_colour_that_its_suite_gives(made_up_run) -> None:
    run = made_up_run(3, 3)
    run.manifest["tokenizers"] = [{**entry, "color": "#123456"} for entry in run.manifest["tokenizers"]]
    lossless = set(run.tokenizers) - set(losses(run))
    assert set(colors(run)) == lossless
    for plot in ("compression", "fairness", "speed"):
        lines = [line for axes in drawn(plot, run).axes for line in axes.lines if line.get_marker() == "o"]
        assert [line.get_color() for line in lines].count("#123456") >= len(lossless)


def test_a_metric_is_drawn_over_runs(made_up_run) -> None:
    runs = [made_up_run(3, 3) for _ in range(3)]
    for number, run in enumerate(runs):
        run.path = Path(f"run {number}")
        run.frame.loc[run.frame["metric"] == "compression_ratio", "value"] *= 1 + number / 10
    runs[1].frame = runs[1].frame[runs[1].frame["tokenizer"] != "bytes"]
    with style.house_style("page"):
        figure = draw_history(runs, "compression_ratio")
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


@pytest.mark.parametrize("name", ["compression", "fairness", "speed", "premium_by_language"])
def test_a_caption_explains_the_marks_of_names_where_there_are_some(made_up_run, name: str) -> None:
    def said(tokenizers: int) -> str:
        return str(drawn(name, made_up_run(5, tokenizers)).get_label())

    assert "† loses text: its figures cannot be compared with any others." in said(4)
    assert "†" not in said(2)
    assert "Hollow" not in said(2)


def test_a_scale_that_figures_lie_beyond_ends_in_arrows(made_up_run) -> None:
    def ends(run: Any) -> str:
        images = [image for axes in drawn("tokens_per_line", run).axes for image in axes.images]
        return str(images[-1].colorbar.extend)

    run = made_up_run(2, 1)
    rows = (run.frame["metric"] == "tokens_per_line") & (run.frame["language"] != "all")
    run.frame.loc[rows, "value"] = 3.0
    assert ends(run) == "neither"
    assert ends(made_up_run(20, 3)) == "neither"  # a hundredth of them is none
    assert ends(made_up_run(120, 3)) == "both"


def test_an_interval_of_speed_that_says_nothing_does_not_stretch_the_axis(made_up_run) -> None:
    run = made_up_run(5, 6)
    run.frame = run.frame.copy()
    of = run.frame.index[
        (run.frame["metric"] == "encode_speed") & (run.frame["tokenizer"] == run.tokenizers[0])
    ]
    run.frame.loc[of, ["ci_low", "ci_high"]] = 0.2, 52_551.9
    figure = drawn("speed", run)
    left, right = figure.axes[0].get_xlim()
    assert right / left < 1000
    assert f"Interval of speed too wide to draw: {run_labels(run)[run.tokenizers[0]]}." in figure.get_label()


def test_the_caption_of_speeds_speaks_of_what_is_drawn(made_up_run) -> None:
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


def test_a_difference_that_was_not_tested_is_not_called_chance(made_up_run) -> None:
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


def test_the_caption_of_a_history_says_at_what_level_its_bands_are(made_up_run) -> None:
    runs = [made_up_run(2, 3) for _ in range(2)]
    for number, run in enumerate(runs):
        run.path, run.level = Path(f"run {number}"), ["99 %", "80 %"][number]

    def said(metric: str) -> str:
        with style.house_style("page"):
            figure = draw_history(runs, metric, "bundled:parallel")
        return str(figure.get_label()).partition(". ")[0]

    assert said("compression_ratio").endswith("; band: 99 % and 80 % interval")
    assert said("encode_speed").endswith("; band: 95 % interval"), "whatever was asked for"
    assert said("vocab_utilization") == "vocab_utilization over bundled parallel", "no interval, no band"
