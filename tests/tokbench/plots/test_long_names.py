"""Names of tokenizers and datasets, however long: whole lines, apart from each other and from what is drawn."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.tokbench.plots.drawing import check, drawn
from tokbench.plots import PLOTS, style
from tokbench.plots.fitting import in_lines
from tokbench.plots.labels import LONG_TITLE, dataset_name
from tokbench.plots.speed import front_steps, pareto_front
from tokbench.plots.widths import text_width, wrapped


@pytest.mark.parametrize("size", style.SIZES)
def test_rows_are_drawn_however_long_a_name_is(made_up_run, size: str) -> None:
    run = made_up_run(5, 3, specs=["bytes", f"bpe:{'very/long' * 20}.json", "chars"])
    for plot in ("compression", "fairness", "differences"):
        labels = [label.get_text() for label in drawn(plot, run, size).axes[0].get_yticklabels()]
        assert all(len(label) < 60 for label in labels)


def test_names_keep_off_the_steps(made_up_run, monkeypatch: pytest.MonkeyPatch) -> None:
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


UNBROKEN = dataset_name("parallel:pud,files=" + "+".join(["wikipedia_articles"] * 12))
"""As long a label as a dataset has, most of it without a blank."""


@pytest.mark.parametrize("label", ["a long name of much text, odd lines", UNBROKEN])
def test_names_of_datasets_above_panels_keep_apart(
    made_up_run, monkeypatch: pytest.MonkeyPatch, label: str
) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    monkeypatch.setattr("tokbench.plots.compression.dataset_label", lambda run, spec: label)
    for outlines in (True, False):
        with style.house_style("page", outlines=outlines):
            figure = next(plot for plot in PLOTS if plot.name == "compression").draw(made_up_run(3, 6))
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
    made_up_run, monkeypatch: pytest.MonkeyPatch, module: str, name: str, size: str
) -> None:
    monkeypatch.setattr(f"tokbench.plots.{module}.dataset_label", lambda run, spec: UNBROKEN)
    check(next(plot for plot in PLOTS if plot.name == name), made_up_run(3, 6), size)


def test_a_word_wider_than_a_line_is_broken_behind_a_sign() -> None:
    assert len(UNBROKEN) == LONG_TITLE
    with style.house_style("page"):
        assert wrapped("a b", 500, 8) == "a b"
        lines = wrapped(f"of {UNBROKEN}", 200, 8).split("\n")
        assert all(text_width(line, 8) <= 200 for line in lines)
        assert lines[1].endswith(("=", "+", "_"))
        cut = in_lines(UNBROKEN, 200, 8, 2)
    assert cut.count("\n") == 1
    assert cut.endswith("…")
