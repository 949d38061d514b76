"""The figures of a page: each plot drawn wide for screens and, for few tokenizers, narrow for phones."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from markupsafe import Markup

from tokbench.extension import Plot
from tokbench.plots import PLOTS, data, style
from tokbench.reports.html.svg import SheetOfFigures
from tokbench.results import Run

_FOR_PHONES = 24
"""With more tokenizers, no narrow figures are drawn, and phones scroll."""
_AS_TABLES = {"chars_per_token", "compression_by_language", "premium_by_language", "tokens_per_line"}
"""Plots that a page shows as tables instead, which can be sorted and filtered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A figure in both widths, with its title and notes; `narrow` is empty if the wide one serves for both.

    `narrow_note` is the note of the narrow figure if it differs.
    """

    title: str
    note: str
    wide: Markup
    narrow: Markup = field(default_factory=Markup)
    narrow_note: str = ""


def figures_of(run: Run, sheet: SheetOfFigures) -> dict[str, Drawn | None]:
    """The figures of a run by plot, None without data; empty for a run that is not worth drawing."""
    plots = PLOTS if data.worth_drawing(run) else ()
    return {plot.name: draw(run, plot, sheet) for plot in plots if plot.name not in _AS_TABLES}


def draw(run: Run, plot: Plot, sheet: SheetOfFigures) -> Drawn | None:
    """A plot of a run, its styles added to those of the page; None if the run lacks the data."""
    made, notes = [], []
    few = len(run.tokenizers) <= _FOR_PHONES
    for size in ("page", "column") if few else ("page",):
        with style.house_style(size, outlines=False):
            figure = plot.draw(run)
            if figure is None:
                return None
            notes.append(str(figure.get_label() or ""))
            svg = sheet.add(figure, name=plot.name, title=plot.title, note=notes[-1] or plot.summary)
            made.append(Markup(svg))
    wide, *narrow = made
    other = notes[-1] if notes[-1] != notes[0] else ""
    return Drawn(title=plot.title, note=notes[0], wide=wide, narrow=Markup().join(narrow), narrow_note=other)


def brought(run: Run) -> list[Drawn]:
    """The plots of plugins as images, as the run drew them, because their content is not under our control."""
    found = []
    for plot in run.manifest.get("plots", []):
        file = run.folder.plots / f"{plot['name']}.svg"
        if file.is_file():
            picture = base64.b64encode(file.read_bytes()).decode("ascii")
            image = Markup('<img class="brought" alt="{}" src="data:image/svg+xml;base64,{}">')
            drawn = image.format(plot["title"], picture)
            found.append(Drawn(title=plot["title"], note=plot["summary"], wide=drawn))
    return found
