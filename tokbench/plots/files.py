"""Draws plots of a run and writes them as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.extension import Plot
from tokbench.plots import style

if TYPE_CHECKING:
    from tokbench.results import Run


def write_plots(
    run: Run,
    plots: Iterable[Plot],
    folder: Path,
    *,
    formats: Sequence[str] = ("svg",),
    size: str = "page",
    on_missing: Callable[[Plot], None] = lambda plot: None,
) -> list[Path]:
    """Draw `plots` into `folder`, a file for each format; `on_missing` is told of those without data."""
    kinds = [style.known_format(kind) for kind in formats]
    written: list[Path] = []
    for plot in plots:
        with style.house_style(size):
            figure = plot.draw(run)
            if figure is None:
                on_missing(plot)
                continue
            for kind in kinds:
                written.append(folder / f"{plot.name}.{kind}")
                style.save(figure, written[-1])
    return written
