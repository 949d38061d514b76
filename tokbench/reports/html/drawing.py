"""The figures of a page: each plot drawn once, wide for screens and, where few enough, narrow for phones."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from markupsafe import Markup

from tokbench.extension import Plot
from tokbench.plots import PLOTS, data, style
from tokbench.reports.html.svg import SheetOfFigures
from tokbench.results import Run

# Shown as tables that sort and filter; as pictures they are for papers and slides.
_FOR_PHONES = 24
"""Tokenizers up to which figures are drawn for phones too; of more, phones scroll."""
_AS_TABLES = {"chars_per_token", "compression_by_language", "premium_by_language", "tokens_per_line"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A figure in both widths, with its title and notes; `narrow` is empty where the wide one serves both.

    `narrow_note` is that of the narrow one where it has another.
    """

    title: str
    note: str
    wide: Markup
    narrow: Markup = field(default_factory=Markup)
    narrow_note: str = ""


@dataclass(slots=True)
class Drawings:
    """Draws the plots of a run when asked, keeps them, and collects their styles."""

    run: Run
    plots: dict[str, Plot] = field(default_factory=lambda: {plot.name: plot for plot in PLOTS})
    sheet: SheetOfFigures = field(default_factory=SheetOfFigures)
    drawn: dict[str, Drawn | None] = field(default_factory=dict)

    @property
    def worth(self) -> bool:
        """Whether the run is drawn at all."""
        return data.worth_drawing(self.run)

    def get(self, name: str) -> Drawn | None:
        """The figure of that name; None without such a plot or data for it, or with too little to draw."""
        if name not in self.plots or not self.worth:
            return None
        if name not in self.drawn:
            self.drawn[name] = self._draw(self.plots[name])
        return self.drawn[name]

    def some(self, *names: str) -> list[Drawn]:
        """Those of `names` that can be drawn and were not shown before."""
        return [figure for name in names if name not in self.drawn and (figure := self.get(name))]

    def rest(self) -> list[Drawn]:
        """Every plot not shown yet: those that plugins bring."""
        return self.some(*(name for name in self.plots if name not in _AS_TABLES))

    def brought(self) -> list[Drawn]:
        """The plots that plugins brought, as the run drew them: pictures, since what is in them is not ours."""
        found = []
        for plot in self.run.manifest.get("plots", []):
            file = self.run.folder.plots / f"{plot['name']}.svg"
            if file.is_file():
                picture = base64.b64encode(file.read_bytes()).decode("ascii")
                image = Markup('<img class="brought" alt="{}" src="data:image/svg+xml;base64,{}">')
                drawn = image.format(plot["title"], picture)
                found.append(Drawn(title=plot["title"], note=plot["summary"], wide=drawn))
        return found

    def lacking(self) -> list[Plot]:
        """The plots that were asked for and had no data."""
        return [self.plots[name] for name, figure in self.drawn.items() if figure is None]

    def css(self) -> str:
        """The styles of everything drawn."""
        return self.sheet.css()

    def _draw(self, plot: Plot) -> Drawn | None:
        made, notes = [], []
        few = len(self.run.tokenizers) <= _FOR_PHONES
        for size in ("page", "column") if few else ("page",):
            with style.house_style(size, outlines=False):
                figure = plot.draw(self.run)
                if figure is None:
                    return None
                notes.append(str(figure.get_label() or ""))
                svg = self.sheet.add(figure, name=plot.name, title=plot.title, note=notes[-1] or plot.summary)
                made.append(Markup(svg))
        wide, *narrow = made
        other = notes[-1] if notes[-1] != notes[0] else ""
        return Drawn(
            title=plot.title, note=notes[0], wide=wide, narrow=Markup().join(narrow), narrow_note=other
        )
